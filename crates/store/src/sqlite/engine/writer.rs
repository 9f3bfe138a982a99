//! The writer: runs the jobs of many threads in one transaction, with one sync ([`GroupCommit`]).
//!
//! A refused job leaves nothing behind and does not affect the others; see [`Isolation`]. When the
//! commit fails, all jobs of the group fail with its outcome.

use std::time::Duration;

use rusqlite::Connection;

use super::busy;
use super::failure::{EngineResult, Failure};
use super::job::{self, Isolation, Job};
use super::record_cache::RecordCache;
use crate::WriterCounts;
use crate::group_commit::{GroupCommit, Limits};

/// The size of one transaction.
const LIMITS: Limits = Limits { jobs: 1024, bytes: 32 << 20 };

/// Commits writes in groups.
pub(crate) struct Writer {
    commits: GroupCommit<Box<dyn Job>, (), Session>,
}

/// The resources of a leader.
struct Session {
    connect: Box<dyn Fn() -> EngineResult<Connection> + Send>,
    guard: Box<dyn Fn() -> EngineResult<()> + Send>,
    timeout: Duration,
    open: Option<Open>,
}

/// An open connection and its cache.
struct Open {
    connection: Connection,
    cache: RecordCache,
}

impl Writer {
    /// `connect` opens the connection, and a new one after a failure. `guard` runs before each commit.
    /// `timeout` limits how long a group waits for other processes.
    pub(crate) fn new(
        connect: impl Fn() -> EngineResult<Connection> + Send + 'static,
        guard: impl Fn() -> EngineResult<()> + Send + 'static,
        timeout: Duration,
    ) -> Self {
        let session = Session { connect: Box::new(connect), guard: Box::new(guard), timeout, open: None };
        Self { commits: GroupCommit::new(LIMITS, session) }
    }

    /// Runs a job in a transaction with others, and returns when it is durable.
    pub(crate) fn write<T: Send + 'static>(
        &self,
        bytes: usize,
        isolation: Isolation,
        work: impl FnOnce(&Connection, &mut RecordCache) -> EngineResult<T> + Send + 'static,
    ) -> EngineResult<T> {
        let (job, slot) = job::new(isolation, work);
        self.commits.join(job, bytes, |session, group| {
            if session.write(group) {
                self.commits.count(group.len());
            }
            vec![(); group.len()]
        });
        slot.take()
    }

    pub(crate) fn counts(&self) -> WriterCounts {
        self.commits.counts()
    }
}

impl Session {
    /// Writes a group and fills its slots. Returns true if it is committed.
    fn write(&mut self, group: &mut [Box<dyn Job>]) -> bool {
        // Taken out while in use, so that a panicking job discards it.
        let mut open = self.open.take();
        let outcome = busy::within(self.timeout, || self.commit(&mut open, group));
        // After a failed sync, this connection's view of the file is not reliable.
        self.open = open.filter(|_| outcome.is_ok());
        for job in group {
            job.answer(&outcome);
        }
        outcome.is_ok()
    }

    fn commit(&self, open: &mut Option<Open>, group: &mut [Box<dyn Job>]) -> EngineResult<()> {
        let Open { connection, cache } = match open {
            Some(open) => open,
            None => open.insert(Open { connection: (self.connect)()?, cache: RecordCache::default() }),
        };
        let execute = |sql| connection.prepare_cached(sql)?.execute([]);
        execute("BEGIN IMMEDIATE")?;
        cache.begin(connection)?;
        for job in group {
            let savepoint = job.isolation() == Isolation::Savepoint;
            if savepoint {
                cache.clear();
                execute("SAVEPOINT job")?;
            }
            if let Err(failure) = job.run(connection, cache) {
                // SQLite rolled back everything because the disk is full or failing, or the writes of
                // this job cannot be rolled back alone.
                if connection.is_autocommit() || matches!(failure, Failure::PartialWrite(_)) {
                    return Err(failure);
                }
                if savepoint {
                    execute("ROLLBACK TO job")?;
                }
            }
            if savepoint {
                execute("RELEASE job")?;
            }
        }
        (self.guard)()?;
        execute("COMMIT").map_err(Failure::of_commit)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, Outcome};
    use std::path::Path;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::mpsc::sync_channel;
    use std::thread;

    fn database(folder: &Path) -> impl Fn() -> EngineResult<Connection> + Send + use<> {
        let path = folder.join("test.db");
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch(
                "CREATE TABLE parents (id INTEGER PRIMARY KEY);
                 CREATE TABLE children (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED);",
            )
            .unwrap();
        move || {
            let connection = Connection::open(&path)?;
            connection.pragma_update(None, "foreign_keys", true)?;
            Ok(connection)
        }
    }

    fn insert(writer: &Writer, table: &'static str, values: &'static str) -> EngineResult<usize> {
        writer.write(1, Isolation::Savepoint, move |connection, _| {
            Ok(connection.execute(&format!("INSERT INTO {table} VALUES ({values})"), [])?)
        })
    }

    fn count(folder: &Path) -> i64 {
        let connection = Connection::open(folder.join("test.db")).unwrap();
        connection
            .query_row("SELECT (SELECT count(*) FROM parents) + (SELECT count(*) FROM children)", [], |row| {
                row.get(0)
            })
            .unwrap()
    }

    /// Runs jobs in one group: another job leads until all of them are queued.
    fn in_one_group(
        writer: &Writer,
        isolation: Isolation,
        work: &[(&'static str, &'static str)],
    ) -> Vec<EngineResult<usize>> {
        let (enter, entered) = sync_channel::<()>(0);
        let (leave, left) = sync_channel::<()>(0);
        thread::scope(|scope| {
            let gate = scope.spawn(move || {
                writer.write(0, Isolation::Savepoint, move |_, _| {
                    enter.send(()).unwrap();
                    left.recv().unwrap();
                    Ok(())
                })
            });
            entered.recv().unwrap();
            let mut threads = Vec::new();
            for (index, &(table, values)) in work.iter().enumerate() {
                threads.push(scope.spawn(move || {
                    writer.write(1, isolation, move |connection, _| {
                        let inserted =
                            connection.execute(&format!("INSERT INTO {table} VALUES ({values})"), []);
                        inserted.map_err(|error| match isolation {
                            Isolation::Savepoint => Failure::from(error),
                            Isolation::ValidatesFirst => Failure::from(error).after_write(),
                        })
                    })
                }));
                while writer.commits.waiting() <= index {
                    thread::yield_now();
                }
            }
            leave.send(()).unwrap();
            gate.join().unwrap().unwrap();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    #[test]
    fn a_failed_job_leaves_nothing_and_does_not_affect_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let writer = Writer::new(database(folder.path()), || Ok(()), Duration::from_secs(30));
        let results = in_one_group(
            &writer,
            Isolation::Savepoint,
            &[("parents", "1"), ("parents", "1"), ("nowhere", "1"), ("parents", "2"), ("children", "1, 1")],
        );
        assert_eq!(results.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, false, true, true]);
        assert_eq!(count(folder.path()), 3);
        assert_eq!(writer.counts(), WriterCounts { groups: 2, writes: 6 });
    }

    #[test]
    fn a_failed_commit_fails_its_whole_group_and_no_later_one() {
        let folder = tempfile::tempdir().unwrap();
        let writer = Writer::new(database(folder.path()), || Ok(()), Duration::from_secs(30));
        let results = in_one_group(
            &writer,
            Isolation::Savepoint,
            &[("parents", "1"), ("children", "1, 99"), ("nowhere", "1")],
        );
        for result in results {
            let error = result.unwrap_err().into_error(folder.path(), "insert", Duration::ZERO);
            assert_eq!(error.outcome(), Outcome::Aborted, "{error}");
        }
        assert_eq!(count(folder.path()), 0);
        insert(&writer, "parents", "1").unwrap();
        assert_eq!(count(folder.path()), 1);
    }

    #[test]
    fn a_rollback_by_sqlite_fails_the_group_with_its_cause() {
        let folder = tempfile::tempdir().unwrap();
        let writer = Writer::new(database(folder.path()), || Ok(()), Duration::from_secs(30));
        for result in in_one_group(&writer, Isolation::Savepoint, &[("parents", "1"), ("parents", "2")]) {
            result.unwrap();
        }
        // `OR ROLLBACK` ends the transaction, as SQLite does when the disk is full.
        let result = writer.write(0, Isolation::Savepoint, |connection, _| {
            Ok(connection.execute("INSERT OR ROLLBACK INTO parents VALUES (1)", [])?)
        });
        let error = result.unwrap_err().into_error(folder.path(), "insert", Duration::ZERO);
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(cause.contains("UNIQUE constraint failed"), "{cause}");
        insert(&writer, "parents", "3").unwrap();
        assert_eq!(count(folder.path()), 3);
    }

    #[test]
    fn a_failed_connection_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let connect = database(folder.path());
        let fails = AtomicU64::new(1);
        let connect = move || {
            if fails.swap(0, Ordering::Relaxed) == 1 {
                return Err(Failure::Refused(Error::Limit { what: "tests", limit: 1 }));
            }
            connect()
        };
        let writer = Writer::new(connect, || Ok(()), Duration::from_secs(30));
        assert!(insert(&writer, "parents", "1").is_err());
        insert(&writer, "parents", "1").unwrap();
    }

    #[test]
    fn a_partial_write_rolls_back_its_group() {
        let folder = tempfile::tempdir().unwrap();
        let writer = Writer::new(database(folder.path()), || Ok(()), Duration::from_secs(30));
        let results = in_one_group(
            &writer,
            Isolation::ValidatesFirst,
            &[("parents", "1"), ("parents", "1"), ("parents", "2")],
        );
        for result in results {
            let error = result.unwrap_err().into_error(folder.path(), "insert", Duration::ZERO);
            assert_eq!(error.outcome(), Outcome::Aborted, "{error}");
        }
        assert_eq!(count(folder.path()), 0);
        insert(&writer, "parents", "1").unwrap();
    }

    #[test]
    fn a_panicking_job_does_not_stop_the_writer() {
        let folder = tempfile::tempdir().unwrap();
        let writer = Writer::new(database(folder.path()), || Ok(()), Duration::from_secs(30));
        let result = writer
            .write(0, Isolation::Savepoint, |_, _| -> EngineResult<()> { panic!("a bug, for the test") });
        assert!(matches!(result, Err(Failure::Stopped)));
        insert(&writer, "parents", "1").unwrap();
    }
}
