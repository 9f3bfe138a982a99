//! Plain SQLite with the pragmas of the store: one commit per record, and one commit for all
//! waiting records.
//!
//! Neither has rules: no changesets, owners, sequence numbers, idempotency, digests or
//! deduplication.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::{Connection, params};
use testkit::bench::Result;

/// Busy timeout.
const BUSY: Duration = Duration::from_secs(60);

/// The data of one record: the entry, and its blobs.
pub(crate) type Bytes = (Vec<u8>, Option<Vec<u8>>);

fn open(path: &Path) -> Result<Connection> {
    let connection = Connection::open(path)?;
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.busy_timeout(BUSY)?;
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS records (id INTEGER PRIMARY KEY, entry BLOB NOT NULL, content BLOB)",
    )?;
    Ok(connection)
}

fn insert(connection: &Connection, (entry, content): &Bytes) -> Result<()> {
    connection
        .prepare_cached("INSERT INTO records (entry, content) VALUES (?1, ?2)")?
        .execute(params![entry, content])?;
    Ok(())
}

/// One commit per record, on a shared connection.
pub(crate) struct OneByOne(Mutex<Connection>);

impl OneByOne {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Ok(Self(Mutex::new(open(path)?)))
    }

    pub(crate) fn record(&self, bytes: &Bytes) -> Result<()> {
        insert(&self.0.lock().unwrap_or_else(PoisonError::into_inner), bytes)
    }
}

/// One commit per record, with a connection per thread and SQLite's busy handler.
pub(crate) struct Connections(Vec<OneByOne>);

impl Connections {
    pub(crate) fn open(path: &Path, count: usize) -> Result<Self> {
        (0..count).map(|_| OneByOne::open(path)).collect::<Result<_>>().map(Self)
    }

    pub(crate) fn record(&self, thread: usize, bytes: &Bytes) -> Result<()> {
        self.0[thread].record(bytes)
    }
}

/// One writer thread, which commits all waiting records at once.
pub(crate) struct Group {
    queue: Option<Sender<(Bytes, SyncSender<()>)>>,
    thread: Option<JoinHandle<Result<u64>>>,
}

/// A client of the writer thread.
pub(crate) struct Caller {
    queue: Sender<(Bytes, SyncSender<()>)>,
    answer: SyncSender<()>,
    answers: Receiver<()>,
}

impl Group {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let connection = open(path)?;
        let (queue, inbox) = channel();
        let thread = thread::spawn(move || serve(&connection, &inbox));
        Ok(Self { queue: Some(queue), thread: Some(thread) })
    }

    pub(crate) fn caller(&self) -> Caller {
        let (answer, answers) = sync_channel(1);
        Caller { queue: self.queue.clone().expect("it is open"), answer, answers }
    }

    /// Ends the thread, and returns the number of commits.
    pub(crate) fn close(mut self) -> Result<u64> {
        self.queue = None;
        let thread = self.thread.take().expect("it is closed once");
        thread.join().map_err(|_| "the writer panicked")?
    }
}

impl Caller {
    pub(crate) fn record(&self, bytes: Bytes) -> Result<()> {
        self.queue.send((bytes, self.answer.clone()))?;
        Ok(self.answers.recv()?)
    }
}

fn serve(connection: &Connection, inbox: &Receiver<(Bytes, SyncSender<()>)>) -> Result<u64> {
    let execute = |sql: &str| connection.prepare_cached(sql)?.execute([]);
    let mut commits = 0;
    while let Ok(first) = inbox.recv() {
        let group: Vec<_> = std::iter::once(first).chain(inbox.try_iter()).collect();
        execute("BEGIN IMMEDIATE")?;
        for (bytes, _) in &group {
            insert(connection, bytes)?;
        }
        execute("COMMIT")?;
        commits += 1;
        for (_, answer) in group {
            answer.send(())?;
        }
    }
    Ok(commits)
}
