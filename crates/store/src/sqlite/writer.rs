//! Writing for all who wait: what many threads want to write is done in one transaction, and waits for the disk once.
//!
//! There is no thread for it. Whoever comes while nobody writes leads: it takes all that wait, writes and answers; then one of those who came
//! meanwhile leads. A thread that is alone writes its own and hands nothing over.
//!
//! One that is refused leaves nothing and harms no other ([`Care`] says how). When the commit fails, all of the group fail with what is
//! known of the outcome.
//!
//! Threads that have just got their answer are about to ask again. When the last group had several, the next waits a moment for as
//! many: a fraction of what the last commit took, so waiting costs little when they do not come.
//!
//! Locks: `desk` is held by the one who leads, and `line` for moments only, also by who holds `desk`. Never the other way round.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::busy;
use super::failure::{Attempt, Failure};
use super::job::{self, Care, Job, Turn};

/// Pieces of work in one transaction. How many wait has no limit of its own: a thread waits with one.
const GROUP_MAX: usize = 1024;
/// Bytes of content in one transaction, beyond which no more is taken in.
const GROUP_BYTES_MAX: usize = 32 << 20;
/// What part of the last commit's time a group waits for those who were in the last.
const GATHER_DIVISOR: u32 = 2;
/// No group waits longer.
const GATHER_MAX: Duration = Duration::from_millis(2);

/// How many groups were written, and how many pieces of work were in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriterCounts {
    /// Transactions that were committed, each with one sync.
    pub groups: u64,
    /// Pieces of work in them.
    pub writes: u64,
}

/// The line of those who want to write, and what it takes.
pub(super) struct Writer {
    line: Mutex<Line>,
    /// As many wait as the leader waits for.
    arrived: Condvar,
    desk: Mutex<Desk>,
    wait: Duration,
    groups: AtomicU64,
    writes: AtomicU64,
}

#[derive(Default)]
struct Line {
    jobs: VecDeque<Box<dyn Job>>,
    /// Somebody leads, or was told to.
    led: bool,
    /// How many the leader waits for; 0 while it does not.
    awaited: usize,
}

/// What the leader has.
struct Desk {
    connect: Box<dyn Fn() -> Attempt<Connection> + Send>,
    guard: Box<dyn Fn() -> Attempt<()> + Send>,
    connection: Option<Connection>,
    /// Size of the last group, and how long it took.
    last: (usize, Duration),
}

impl Writer {
    /// `connect` opens the connection, again after a failure that leaves the old one in doubt; `guard` is asked before each commit.
    /// `wait` is how long a group waits for other processes.
    pub(super) fn new(
        connect: impl Fn() -> Attempt<Connection> + Send + 'static,
        guard: impl Fn() -> Attempt<()> + Send + 'static,
        wait: Duration,
    ) -> Self {
        let desk = Desk {
            connect: Box::new(connect),
            guard: Box::new(guard),
            connection: None,
            last: (1, Duration::ZERO),
        };
        Self {
            line: Mutex::default(),
            arrived: Condvar::new(),
            desk: Mutex::new(desk),
            wait,
            groups: AtomicU64::new(0),
            writes: AtomicU64::new(0),
        }
    }

    /// Does a piece of work in a transaction, with others', and returns when it is durable.
    pub(super) fn write<T: Send + 'static>(
        &self,
        bytes: usize,
        care: Care,
        work: impl FnOnce(&Connection) -> Attempt<T> + Send + 'static,
    ) -> Attempt<T> {
        let (job, waiter) = job::new(bytes, care, work);
        if self.join(job) {
            self.lead();
        }
        loop {
            match waiter.wait() {
                Turn::Lead => self.lead(),
                Turn::Answered(answer) => return answer,
            }
        }
    }

    pub(super) fn counts(&self) -> WriterCounts {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        WriterCounts { groups: count(&self.groups), writes: count(&self.writes) }
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stands in line. Whether to lead, as nobody does.
    fn join(&self, job: Box<dyn Job>) -> bool {
        let mut line = self.line();
        line.jobs.push_back(job);
        if line.jobs.len() == line.awaited {
            self.arrived.notify_one();
        }
        !std::mem::replace(&mut line.led, true)
    }

    /// Writes a group, and gives the lead to another who waits.
    fn lead(&self) {
        self.write_group();
        let mut line = self.line();
        match line.jobs.front() {
            None => line.led = false,
            Some(next) => next.lead(),
        }
    }

    fn write_group(&self) {
        let mut desk = self.desk.lock().unwrap_or_else(PoisonError::into_inner);
        let (last, took) = desk.last;
        let mut group = self.gather(last, (took / GATHER_DIVISOR).min(GATHER_MAX));
        let started = Instant::now();
        // A piece of work that panics, which only a bug makes it do, is not to end a thread that wrote it for another.
        let commit = AssertUnwindSafe(|| busy::within(self.wait, || desk.commit(&mut group)));
        let outcome = catch_unwind(commit).unwrap_or(Err(Failure::Stopped));
        desk.last = (group.len(), started.elapsed());
        if outcome.is_ok() {
            self.groups.fetch_add(1, Ordering::Relaxed);
            self.writes.fetch_add(group.len() as u64, Ordering::Relaxed);
        } else {
            // After a failed sync this connection's view of the file proves nothing.
            desk.connection = None;
        }
        drop(desk);
        for job in group {
            job.answer(&outcome);
        }
    }

    /// The first, all that wait, and those who are expected in a moment.
    fn gather(&self, expected: usize, patience: Duration) -> Vec<Box<dyn Job>> {
        let mut line = self.line();
        if line.jobs.len() < expected {
            line.awaited = expected;
            let few = |line: &mut Line| line.jobs.len() < expected;
            (line, _) =
                self.arrived.wait_timeout_while(line, patience, few).unwrap_or_else(PoisonError::into_inner);
            line.awaited = 0;
        }
        let mut bytes = 0;
        let fits = line.jobs.iter().take(GROUP_MAX).take_while(|job| {
            let room = bytes < GROUP_BYTES_MAX;
            bytes += job.bytes();
            room
        });
        let count = fits.count();
        line.jobs.drain(..count).collect()
    }
}

impl Desk {
    fn commit(&mut self, group: &mut [Box<dyn Job>]) -> Attempt<()> {
        let connection = match &self.connection {
            Some(connection) => connection,
            None => self.connection.insert((self.connect)()?),
        };
        let execute = |sql| connection.prepare_cached(sql)?.execute([]);
        execute("BEGIN IMMEDIATE")?;
        for job in group {
            let savepoint = job.care() == Care::Savepoint;
            if savepoint {
                execute("SAVEPOINT piece")?;
            }
            if let Err(failure) = job.run(connection) {
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
        writer.write(1, Care::Savepoint, move |connection| {
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
                writer.write(0, Care::Savepoint, move |_| {
                    enter.send(()).unwrap();
                    left.recv().unwrap();
                    Ok(())
                })
            });
            entered.recv().unwrap();
            let mut threads = Vec::new();
            for (place, &(table, values)) in work.iter().enumerate() {
                threads.push(scope.spawn(move || {
                    writer.write(1, care, move |connection| {
                        let inserted =
                            connection.execute(&format!("INSERT INTO {table} VALUES ({values})"), []);
                        inserted.map_err(|error| match care {
                            Care::Savepoint => Failure::from(error),
                            Care::ChecksFirst => Failure::from(error).half_done(),
                        })
                    })
                }));
                while writer.line().jobs.len() <= place {
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
        let result = writer.write(0, Care::Savepoint, |connection| {
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
        let result = writer.write(0, Care::Savepoint, |_| -> Attempt<()> { panic!("a bug, for the test") });
        assert!(matches!(result, Err(Failure::Stopped)));
        insert(&writer, "parents", "1").unwrap();
    }

    #[test]
    fn a_group_has_a_limit_in_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let writer = Writer::new(database(folder.path()), || Ok(()), Duration::from_secs(30));
        (0..5).for_each(|_| {
            writer.join(job::new(GROUP_BYTES_MAX / 2, Care::Savepoint, |_| Ok(())).0);
        });
        assert_eq!(writer.gather(1, Duration::ZERO).len(), 2);
        assert_eq!(writer.gather(8, Duration::ZERO).len(), 2);
        assert_eq!(writer.gather(8, Duration::from_millis(1)).len(), 1);
    }

    #[test]
    fn a_leader_waits_for_those_who_are_expected() {
        let folder = tempfile::tempdir().unwrap();
        let writer = Writer::new(database(folder.path()), || Ok(()), Duration::from_secs(30));
        assert!(writer.join(job::new(0, Care::Savepoint, |_| Ok(())).0));
        let group = thread::scope(|scope| {
            let leader = scope.spawn(|| writer.gather(2, Duration::from_secs(600)));
            while writer.line().awaited == 0 {
                thread::yield_now();
            }
            assert!(!writer.join(job::new(0, Care::Savepoint, |_| Ok(())).0));
            leader.join().unwrap()
        });
        assert_eq!(group.len(), 2);
    }
}
