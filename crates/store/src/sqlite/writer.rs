//! The one thread that writes: it takes what many threads want to write, does it in one transaction and waits for the disk once.
//!
//! Each piece of work runs in a savepoint, so one that is refused leaves nothing and harms no other. When the commit fails, all of the
//! group fail with what is known of the outcome.
//!
//! Threads that have just got their answer are about to ask again. When the last group had several, the next waits a moment for as
//! many: a fraction of what the last commit took, so waiting costs little when they do not come.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use std::{io, thread};

use rusqlite::Connection;

use super::busy;
use super::failure::{Attempt, Failure};

/// Pieces of work that wait for the writer; whoever comes then waits to be let in.
const QUEUE_MAX: usize = 1024;
/// Pieces of work in one transaction.
const GROUP_MAX: usize = 1024;
/// Bytes of content in one transaction, beyond which no more is taken in.
const GROUP_BYTES_MAX: usize = 32 << 20;
/// What part of the last commit's time a group waits for those who were in the last.
const GATHER_DIVISOR: u32 = 4;
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

/// The thread and its queue. Dropping it ends the thread when the queue is empty.
#[derive(Debug)]
pub(super) struct Writer {
    queue: Option<SyncSender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
    process: u32,
    counts: Arc<(AtomicU64, AtomicU64)>,
}

impl Writer {
    /// Starts the thread. `connect` opens its connection, again after a failure that leaves the old one in doubt; `guard` is asked
    /// before each commit.
    pub(super) fn start(
        connect: impl Fn() -> Attempt<Connection> + Send + 'static,
        guard: impl Fn() -> Attempt<()> + Send + 'static,
        wait: Duration,
    ) -> io::Result<Self> {
        let (queue, inbox) = sync_channel(QUEUE_MAX);
        let counts = Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
        let (connect, guard) = (Box::new(connect), Box::new(guard));
        let desk = Desk { connect, guard, connection: None, wait, counts: Arc::clone(&counts) };
        let thread =
            thread::Builder::new().name("store-writer".to_owned()).spawn(move || desk.serve(&inbox))?;
        Ok(Self { queue: Some(queue), thread: Some(thread), process: std::process::id(), counts })
    }

    /// Does a piece of work in a transaction, with others', and returns when it is durable.
    pub(super) fn write<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce(&Connection) -> Attempt<T> + Send + 'static,
    ) -> Attempt<T> {
        let (answer, answers) = sync_channel(1);
        let job = Box::new(Work { bytes, work: Some(work), result: None, answer });
        let queue = self.queue.as_ref().ok_or(Failure::Stopped)?;
        queue.send(job).map_err(|_| Failure::Stopped)?;
        answers.recv().unwrap_or(Err(Failure::Stopped))
    }

    pub(super) fn counts(&self) -> WriterCounts {
        let (groups, writes) = &*self.counts;
        WriterCounts { groups: groups.load(Ordering::Relaxed), writes: writes.load(Ordering::Relaxed) }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        // In a forked child there is no such thread to wait for.
        if let Some(thread) = self.thread.take()
            && self.process == std::process::id()
        {
            // Its panic was reported when it happened, and everyone who waited got an error.
            let _ = thread.join();
        }
    }
}

/// A piece of work, its type hidden.
trait Job: Send {
    fn bytes(&self) -> usize;
    /// Runs it, and says whether to keep what it did.
    fn run(&mut self, connection: &Connection) -> Attempt<()>;
    /// Gives the answer: its own, or that the group failed.
    fn answer(self: Box<Self>, group: &Attempt<()>);
}

struct Work<T, F> {
    bytes: usize,
    work: Option<F>,
    result: Option<Attempt<T>>,
    answer: SyncSender<Attempt<T>>,
}

impl<T: Send, F: FnOnce(&Connection) -> Attempt<T> + Send> Job for Work<T, F> {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn run(&mut self, connection: &Connection) -> Attempt<()> {
        let work = self.work.take().expect("a piece of work runs once");
        self.result.insert(work(connection)).as_ref().map(drop).map_err(Failure::clone)
    }

    fn answer(self: Box<Self>, group: &Attempt<()>) {
        let answer = match (self.result, group) {
            // It was refused, whatever became of the others.
            (Some(Err(failure)), _) => Err(failure),
            (_, Err(failure)) => Err(failure.clone()),
            (Some(Ok(value)), Ok(())) => Ok(value),
            (None, Ok(())) => Err(Failure::Stopped),
        };
        // Whoever asked waits for it; only a thread that was ended does not.
        let _ = self.answer.send(answer);
    }
}

/// What the thread has.
struct Desk {
    connect: Box<dyn Fn() -> Attempt<Connection> + Send>,
    guard: Box<dyn Fn() -> Attempt<()> + Send>,
    connection: Option<Connection>,
    wait: Duration,
    counts: Arc<(AtomicU64, AtomicU64)>,
}

impl Desk {
    fn serve(mut self, inbox: &Receiver<Box<dyn Job>>) {
        let (mut last, mut took) = (1, Duration::ZERO);
        while let Ok(first) = inbox.recv() {
            let mut group = gather(first, inbox, last, (took / GATHER_DIVISOR).min(GATHER_MAX));
            let started = Instant::now();
            let outcome = busy::within(self.wait, || self.commit(&mut group));
            (last, took) = (group.len(), started.elapsed());
            if outcome.is_ok() {
                self.counts.0.fetch_add(1, Ordering::Relaxed);
                self.counts.1.fetch_add(group.len() as u64, Ordering::Relaxed);
            } else {
                // After a failed sync this connection's view of the file proves nothing.
                self.connection = None;
            }
            for job in group {
                job.answer(&outcome);
            }
        }
    }

    fn commit(&mut self, group: &mut [Box<dyn Job>]) -> Attempt<()> {
        let connection = match &self.connection {
            Some(connection) => connection,
            None => self.connection.insert((self.connect)()?),
        };
        let execute = |sql| connection.prepare_cached(sql)?.execute([]);
        execute("BEGIN IMMEDIATE")?;
        for job in group {
            execute("SAVEPOINT piece")?;
            if let Err(failure) = job.run(connection) {
                if connection.is_autocommit() {
                    // A full or failing disk made SQLite roll back everything, what ran before included.
                    return Err(failure);
                }
                execute("ROLLBACK TO piece")?;
            }
            execute("RELEASE piece")?;
        }
        (self.guard)()?;
        execute("COMMIT").map_err(Failure::of_commit)?;
        Ok(())
    }
}

/// The first, all that wait, and those who are expected in a moment.
fn gather(
    first: Box<dyn Job>,
    inbox: &Receiver<Box<dyn Job>>,
    expected: usize,
    patience: Duration,
) -> Vec<Box<dyn Job>> {
    let deadline = Instant::now() + patience;
    let mut bytes = first.bytes();
    let mut group = vec![first];
    while group.len() < GROUP_MAX && bytes < GROUP_BYTES_MAX {
        let next = match inbox.try_recv() {
            Err(TryRecvError::Empty) if group.len() < expected => {
                inbox.recv_timeout(deadline.saturating_duration_since(Instant::now()))
            }
            Err(TryRecvError::Empty) => Err(RecvTimeoutError::Timeout),
            Err(TryRecvError::Disconnected) => Err(RecvTimeoutError::Disconnected),
            Ok(job) => Ok(job),
        };
        let Ok(job) = next else { break };
        bytes += job.bytes();
        group.push(job);
    }
    group
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, Outcome};
    use std::path::Path;

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
        writer.write(1, move |connection| {
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

    /// Runs pieces of work that are in one group: the first one waits in the writer until all others are in the queue.
    fn in_one_group(writer: &Writer, work: &[(&'static str, &'static str)]) -> Vec<Attempt<usize>> {
        let (enter, entered) = sync_channel::<()>(0);
        let (leave, left) = sync_channel::<()>(0);
        thread::scope(|scope| {
            let gate = scope.spawn(move || {
                writer.write(0, move |_| {
                    enter.send(()).unwrap();
                    left.recv().unwrap();
                    Ok(())
                })
            });
            entered.recv().unwrap();
            let answers: Vec<_> = work
                .iter()
                .map(|&(table, values)| {
                    let (answer, answers) = sync_channel(1);
                    let job = move |connection: &Connection| -> Attempt<usize> {
                        Ok(connection.execute(&format!("INSERT INTO {table} VALUES ({values})"), [])?)
                    };
                    let job = Work { bytes: 1, work: Some(job), result: None, answer };
                    writer.queue.as_ref().unwrap().send(Box::new(job)).unwrap();
                    answers
                })
                .collect();
            leave.send(()).unwrap();
            gate.join().unwrap().unwrap();
            answers.into_iter().map(|answers| answers.recv().unwrap()).collect()
        })
    }

    #[test]
    fn one_that_fails_leaves_nothing_and_harms_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let writer = Writer::start(database(folder.path()), || Ok(()), Duration::from_secs(30)).unwrap();
        let results = in_one_group(
            &writer,
            &[("parents", "1"), ("parents", "1"), ("nowhere", "1"), ("parents", "2"), ("children", "1, 1")],
        );
        assert_eq!(results.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, false, true, true]);
        assert_eq!(count(folder.path()), 3);
        assert_eq!(writer.counts(), WriterCounts { groups: 2, writes: 6 });
    }

    #[test]
    fn a_commit_that_fails_fails_all_of_its_group_and_none_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let writer = Writer::start(database(folder.path()), || Ok(()), Duration::from_secs(30)).unwrap();
        let results = in_one_group(&writer, &[("parents", "1"), ("children", "1, 99"), ("nowhere", "1")]);
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
        let writer = Writer::start(database(folder.path()), || Ok(()), Duration::from_secs(30)).unwrap();
        for result in in_one_group(&writer, &[("parents", "1"), ("parents", "2")]) {
            result.unwrap();
        }
        // `OR ROLLBACK` does what SQLite does when the disk is full: it ends the transaction.
        let result = writer
            .write(0, |connection| Ok(connection.execute("INSERT OR ROLLBACK INTO parents VALUES (1)", [])?));
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
        let writer = Writer::start(connect, || Ok(()), Duration::from_secs(30)).unwrap();
        assert!(insert(&writer, "parents", "1").is_err());
        insert(&writer, "parents", "1").unwrap();
    }

    #[test]
    fn nobody_waits_for_a_writer_that_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let writer = Writer::start(database(folder.path()), || Ok(()), Duration::from_secs(30)).unwrap();
        let result = writer.write(0, |_| -> Attempt<()> { panic!("a bug, for the test") });
        assert!(matches!(result, Err(Failure::Stopped)));
        assert!(matches!(insert(&writer, "parents", "1"), Err(Failure::Stopped)));
    }

    #[test]
    fn a_group_has_a_limit_in_bytes() {
        let (queue, inbox) = sync_channel(8);
        let job = || -> Box<dyn Job> {
            let work = |_: &Connection| Ok(());
            Box::new(Work {
                bytes: GROUP_BYTES_MAX / 2,
                work: Some(work),
                result: None,
                answer: sync_channel(1).0,
            })
        };
        (0..5).for_each(|_| queue.send(job()).unwrap());
        assert_eq!(gather(job(), &inbox, 1, Duration::ZERO).len(), 2);
        assert_eq!(gather(job(), &inbox, 8, Duration::ZERO).len(), 2);
        drop(queue);
        inbox.recv().unwrap();
        inbox.recv().unwrap();
        inbox.recv().unwrap();
        assert_eq!(gather(job(), &inbox, 8, Duration::from_secs(60)).len(), 1);
    }
}
