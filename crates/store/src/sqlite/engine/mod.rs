//! One engine per file and process: those who write, in groups, and connections to read with.

pub(super) mod busy;
pub(super) mod connect;
pub(super) mod db_file;
pub(super) mod failure;
pub(super) mod job;
pub(super) mod record_cache;
pub(super) mod writer;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use self::db_file::Identity;
use self::failure::{Attempt, Failure};
use self::job::Care;
use self::record_cache::Known;
use self::writer::Writer;
use crate::{Error, Result, Time, WriterCounts};

/// Connections that are kept open for readers. More threads may read at the same time; theirs are closed again.
const READERS_KEPT: usize = 8;

/// Gives the time.
pub(crate) type Clock = Arc<dyn Fn() -> Time + Send + Sync>;

pub(crate) struct Engine {
    path: PathBuf,
    /// Which file the path named when it was opened.
    identity: Identity,
    wait: Duration,
    clock: Clock,
    /// A forked child has the memory of its parent, but neither its threads nor its locks.
    process: u32,
    writer: Writer,
    readers: Mutex<Vec<Connection>>,
}

/// The engines of this process, so that all who open one file share its writer.
static ENGINES: Mutex<Vec<(PathBuf, Weak<Engine>)>> = Mutex::new(Vec::new());

impl Engine {
    /// Opens a file, or joins who has it open in this process. The clock is that of the first.
    pub(crate) fn open(path: &Path, wait: Duration, clock: Clock) -> Result<Arc<Self>> {
        let real = db_file::prepare(path)?;
        // Held to the end, so that two threads start one engine.
        let mut engines = ENGINES.lock().unwrap_or_else(PoisonError::into_inner);
        engines.retain(|(_, engine)| engine.strong_count() > 0);
        let process = std::process::id();
        let known =
            engines.iter().filter(|(known, _)| *known == real).find_map(|(_, engine)| engine.upgrade());
        let identity = db_file::identity(&real)?;
        if let Some(engine) = known.filter(|engine| engine.process == process && engine.identity == identity)
        {
            return Ok(engine);
        }
        let started = Instant::now();
        busy::within(wait, || connect::migrate(&real, connect::MIGRATIONS))
            .map_err(|failure| failure.into_error(&real, "open it", started.elapsed()))?;
        let writer = Self::writer(&real, identity, wait);
        let readers = Mutex::default();
        let engine = Arc::new(Self { path: real.clone(), identity, wait, clock, process, writer, readers });
        engines.push((real, Arc::downgrade(&engine)));
        Ok(engine)
    }

    fn writer(path: &Path, identity: Identity, wait: Duration) -> Writer {
        let (of_connection, of_guard) = (path.to_owned(), path.to_owned());
        let connect = move || connect::connect_writer(&of_connection);
        // What is written to a file that has no name any more is gone when it is closed.
        let guard = move || match db_file::identity(&of_guard) {
            Ok(found) if found == identity => Ok(()),
            _ => Err(Error::Gone { path: of_guard.clone() }.into()),
        };
        Writer::new(connect, guard, wait)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn counts(&self) -> WriterCounts {
        self.writer.counts()
    }

    /// Writes, and returns when it is durable. `bytes` is about how much.
    pub(crate) fn write<T: Send + 'static>(
        &self,
        doing: &'static str,
        bytes: usize,
        work: impl FnOnce(&Connection, Time) -> Attempt<T> + Send + 'static,
    ) -> Result<T> {
        self.write_with(Care::Savepoint, doing, bytes, |connection, _, now| work(connection, now))
    }

    /// The same for recording, which is refused before it writes, or not at all.
    pub(crate) fn record<T: Send + 'static>(
        &self,
        doing: &'static str,
        bytes: usize,
        work: impl FnOnce(&Connection, &mut Known, Time) -> Attempt<T> + Send + 'static,
    ) -> Result<T> {
        self.write_with(Care::ChecksFirst, doing, bytes, work)
    }

    fn write_with<T: Send + 'static>(
        &self,
        care: Care,
        doing: &'static str,
        bytes: usize,
        work: impl FnOnce(&Connection, &mut Known, Time) -> Attempt<T> + Send + 'static,
    ) -> Result<T> {
        let started = Instant::now();
        let clock = Arc::clone(&self.clock);
        self.own_process()
            .and_then(|()| {
                self.writer.write(bytes, care, move |connection, known| work(connection, known, clock()))
            })
            .map_err(|failure| failure.into_error(&self.path, doing, started.elapsed()))
    }

    /// Reads from one state of the store.
    pub(crate) fn read<T>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&Connection, Time) -> Attempt<T>,
    ) -> Result<T> {
        let started = Instant::now();
        self.own_process()
            .and_then(|()| busy::within(self.wait, || self.read_with_connection(work)))
            .map_err(|failure| failure.into_error(&self.path, doing, started.elapsed()))
    }

    /// A connection must not be used on both sides of a fork, and in the child nobody answers.
    fn own_process(&self) -> Attempt<()> {
        if self.process == std::process::id() { Ok(()) } else { Err(Failure::Stopped) }
    }

    fn read_with_connection<T>(&self, work: impl FnOnce(&Connection, Time) -> Attempt<T>) -> Attempt<T> {
        let kept = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match kept {
            Some(connection) => connection,
            None => connect::connect_reader(&self.path)?,
        };
        let execute = |sql| connection.prepare_cached(sql)?.execute([]);
        execute("BEGIN")?;
        let result = work(&connection, (self.clock)());
        // A connection that cannot end its transaction is closed.
        if execute("COMMIT").is_ok() {
            let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
            if readers.len() < READERS_KEPT {
                readers.push(connection);
            }
        }
        result
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("path", &self.path)
            .field("counts", &self.counts())
            .finish_non_exhaustive()
    }
}
