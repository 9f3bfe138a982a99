//! Writing for all who wait in [`Line`]: what many threads want to write is done in one transaction, and waits for the disk once.
//!
//! One that is refused leaves nothing and harms no other ([`Care`] says how). When the commit fails, all of the group fail with what is
//! known of the outcome.

use std::time::Duration;

use rusqlite::Connection;

use super::busy;
use super::failure::{Attempt, Failure};
use super::job::{self, Care, Job};
use super::record_cache::Known;
use crate::WriterCounts;
use crate::group_commit::{Limits, Line};

/// What is written in one transaction.
const LIMITS: Limits = Limits { pieces: 1024, bytes: 32 << 20 };

/// The line of those who want to write, and what it takes.
pub(crate) struct Writer {
    line: Line<Box<dyn Job>, (), Desk>,
}

/// What the leader has.
struct Desk {
    connect: Box<dyn Fn() -> Attempt<Connection> + Send>,
    guard: Box<dyn Fn() -> Attempt<()> + Send>,
    wait: Duration,
    open: Option<Open>,
}

/// The connection, and what is known of the file as long as nobody else writes.
struct Open {
    connection: Connection,
    known: Known,
}

impl Writer {
    /// `connect` opens the connection, again after a failure that leaves the old one in doubt; `guard` is asked before each commit.
    /// `wait` is how long a group waits for other processes.
    pub(crate) fn new(
        connect: impl Fn() -> Attempt<Connection> + Send + 'static,
        guard: impl Fn() -> Attempt<()> + Send + 'static,
        wait: Duration,
    ) -> Self {
        let desk = Desk { connect: Box::new(connect), guard: Box::new(guard), wait, open: None };
        Self { line: Line::new(LIMITS, desk) }
    }

    /// Does a piece of work in a transaction, with others', and returns when it is durable.
    pub(crate) fn write<T: Send + 'static>(
        &self,
        bytes: usize,
        care: Care,
        work: impl FnOnce(&Connection, &mut Known) -> Attempt<T> + Send + 'static,
    ) -> Attempt<T> {
        let (job, slot) = job::new(care, work);
        self.line.join(job, bytes, |desk, group| {
            if desk.write(group) {
                self.line.count(group.len());
            }
            vec![(); group.len()]
        });
        slot.take()
    }

    pub(crate) fn counts(&self) -> WriterCounts {
        self.line.counts()
    }
}

impl Desk {
    /// Writes a group and leaves its answers. Whether it is committed.
    fn write(&mut self, group: &mut [Box<dyn Job>]) -> bool {
        // Away while it is in use: a piece of work that panics, which only a bug makes it do, takes it along.
        let mut open = self.open.take();
        let outcome = busy::within(self.wait, || self.commit(&mut open, group));
        // After a failed sync this connection's view of the file proves nothing.
        self.open = open.filter(|_| outcome.is_ok());
        for job in group {
            job.answer(&outcome);
        }
        outcome.is_ok()
    }

    fn commit(&self, open: &mut Option<Open>, group: &mut [Box<dyn Job>]) -> Attempt<()> {
        let Open { connection, known } = match open {
            Some(open) => open,
            None => open.insert(Open { connection: (self.connect)()?, known: Known::default() }),
        };
        let execute = |sql| connection.prepare_cached(sql)?.execute([]);
        execute("BEGIN IMMEDIATE")?;
        known.begin(connection)?;
        for job in group {
            let savepoint = job.care() == Care::Savepoint;
            if savepoint {
                known.forget();
                execute("SAVEPOINT piece")?;
            }
            if let Err(failure) = job.run(connection, known) {
                // A full or failing disk made SQLite roll back everything, or what this one has written cannot be taken back alone.
                if connection.is_autocommit() || matches!(failure, Failure::HalfDone(_)) {
                    return Err(failure);
                }
                if savepoint {
                    execute("ROLLBACK TO piece")?;
                }
            }
            if savepoint {
                execute("RELEASE piece")?;
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

    fn database(folder: &Path) -> impl Fn() -> Attempt<Connection> + Send + use<> {
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

    fn insert(writer: &Writer, table: &'static str, values: &'static str) -> Attempt<usize> {
        writer.write(1, Care::Savepoint, move |connection, _| {
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

    /// Runs pieces of work that are in one group: the first one keeps the lead until all others stand in line.
    fn in_one_group(
        writer: &Writer,
        care: Care,
        work: &[(&'static str, &'static str)],
    ) -> Vec<Attempt<usize>> {
        let (enter, entered) = sync_channel::<()>(0);
        let (leave, left) = sync_channel::<()>(0);
        thread::scope(|scope| {
            let gate = scope.spawn(move || {
                writer.write(0, Care::Savepoint, move |_, _| {
                    enter.send(()).unwrap();
                    left.recv().unwrap();
                    Ok(())
                })
            });
            entered.recv().unwrap();
            let mut threads = Vec::new();
            for (place, &(table, values)) in work.iter().enumerate() {
                threads.push(scope.spawn(move || {
                    writer.write(1, care, move |connection, _| {
                        let inserted =
                            connection.execute(&format!("INSERT INTO {table} VALUES ({values})"), []);
                        inserted.map_err(|error| match care {
                            Care::Savepoint => Failure::from(error),
                            Care::ChecksFirst => Failure::from(error).half_done(),
                        })
                    })
                }));
                while writer.line.waiting() <= place {
                    thread::yield_now();
                }
            }
            leave.send(()).unwrap();
            gate.join().unwrap().unwrap();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    #[test]
    fn one_that_fails_leaves_nothing_and_harms_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let writer = Writer::new(database(folder.path()), || Ok(()), Duration::from_secs(30));
        let results = in_one_group(
            &writer,
            Care::Savepoint,
            &[("parents", "1"), ("parents", "1"), ("nowhere", "1"), ("parents", "2"), ("children", "1, 1")],
        );
        assert_eq!(results.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, false, true, true]);
        assert_eq!(count(folder.path()), 3);
        assert_eq!(writer.counts(), WriterCounts { groups: 2, writes: 6 });
    }

    #[test]
    fn a_commit_that_fails_fails_all_of_its_group_and_none_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let writer = Writer::new(database(folder.path()), || Ok(()), Duration::from_secs(30));
        let results = in_one_group(
            &writer,
            Care::Savepoint,
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
    fn when_everything_was_rolled_back_the_group_fails_with_the_cause() {
        let folder = tempfile::tempdir().unwrap();
        let writer = Writer::new(database(folder.path()), || Ok(()), Duration::from_secs(30));
        for result in in_one_group(&writer, Care::Savepoint, &[("parents", "1"), ("parents", "2")]) {
            result.unwrap();
        }
        // `OR ROLLBACK` does what SQLite does when the disk is full: it ends the transaction.
        let result = writer.write(0, Care::Savepoint, |connection, _| {
            Ok(connection.execute("INSERT OR ROLLBACK INTO parents VALUES (1)", [])?)
        });
        let error = result.unwrap_err().into_error(folder.path(), "insert", Duration::ZERO);
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(cause.contains("UNIQUE constraint failed"), "{cause}");
        insert(&writer, "parents", "3").unwrap();
        assert_eq!(count(folder.path()), 3);
    }

    #[test]
    fn a_connection_that_cannot_be_opened_is_tried_again() {
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
    fn one_that_cannot_be_taken_back_alone_takes_its_group_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let writer = Writer::new(database(folder.path()), || Ok(()), Duration::from_secs(30));
        let results =
            in_one_group(&writer, Care::ChecksFirst, &[("parents", "1"), ("parents", "1"), ("parents", "2")]);
        for result in results {
            let error = result.unwrap_err().into_error(folder.path(), "insert", Duration::ZERO);
            assert_eq!(error.outcome(), Outcome::Aborted, "{error}");
        }
        assert_eq!(count(folder.path()), 0);
        insert(&writer, "parents", "1").unwrap();
    }

    #[test]
    fn a_bug_in_one_piece_of_work_ends_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let writer = Writer::new(database(folder.path()), || Ok(()), Duration::from_secs(30));
        let result =
            writer.write(0, Care::Savepoint, |_, _| -> Attempt<()> { panic!("a bug, for the test") });
        assert!(matches!(result, Err(Failure::Stopped)));
        insert(&writer, "parents", "1").unwrap();
    }
}
