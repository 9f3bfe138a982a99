//! One engine per file and process: a writer that commits groups, and connections for readers.

pub(super) mod busy;
pub(super) mod connect;
pub(super) mod db_file;
pub(super) mod failure;
pub(super) mod job;
pub(super) mod record_cache;
pub(super) mod room;
pub(super) mod writer;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use self::db_file::Identity;
use self::failure::{EngineResult, Failure};
use self::job::Isolation;
use self::record_cache::RecordCache;
use self::writer::Writer;
use crate::{Error, Result, Time, WriterCounts};

/// Idle reader connections that are kept open. More threads may read at the same time.
const READERS_KEPT: usize = 8;

/// Time for which a check of the room on the disk counts.
const ROOM_CHECKED: Duration = Duration::from_millis(100);

/// Returns the time.
pub(crate) type Clock = Arc<dyn Fn() -> Time + Send + Sync>;

pub(crate) struct Engine {
    path: PathBuf,
    /// Identity of the file when it was opened.
    identity: Identity,
    timeout: Duration,
    clock: Clock,
    /// A forked child has the memory of its parent, but neither its threads nor its locks.
    process: u32,
    writer: Writer,
    readers: Mutex<Vec<Connection>>,
}

/// The engines of this process: all stores on one file share an engine.
static ENGINES: Mutex<Vec<(PathBuf, Weak<Engine>)>> = Mutex::new(Vec::new());

impl Engine {
    /// Opens a file, or returns the engine that has it open in this process, with its options.
    pub(crate) fn open(path: &Path, timeout: Duration, clock: Clock) -> Result<Arc<Self>> {
        let real = db_file::prepare(path)?;
        // Locked until the end, so that two threads do not start two engines.
        let mut engines = ENGINES.lock().unwrap_or_else(PoisonError::into_inner);
        engines.retain(|(_, engine)| engine.strong_count() > 0);
        let process = std::process::id();
        let existing =
            engines.iter().filter(|(path, _)| *path == real).find_map(|(_, engine)| engine.upgrade());
        let identity = db_file::identity(&real)?;
        if let Some(engine) =
            existing.filter(|engine| engine.process == process && engine.identity == identity)
        {
            return Ok(engine);
        }
        db_file::check_room(&real, "open the store")?;
        let started = Instant::now();
        busy::within(timeout, || connect::migrate(&real, connect::MIGRATIONS))
            .map_err(|failure| failure.into_error(&real, "open the store", started.elapsed()))?;
        let writer = Self::writer(&real, identity, timeout);
        let readers = Mutex::default();
        let engine =
            Arc::new(Self { path: real.clone(), identity, timeout, clock, process, writer, readers });
        engines.push((real, Arc::downgrade(&engine)));
        Ok(engine)
    }

    fn writer(path: &Path, identity: Identity, timeout: Duration) -> Writer {
        let (of_connection, of_guard) = (path.to_owned(), path.to_owned());
        let connect = move || connect::connect_writer(&of_connection);
        // Data written to an unlinked file is lost when it is closed.
        let last_check = Mutex::new(Instant::now());
        let guard = move || match db_file::identity(&of_guard) {
            Ok(found) if found == identity => check_room_again(&of_guard, &last_check),
            _ => Err(Error::Removed { path: of_guard.clone() }.into()),
        };
        Writer::new(connect, guard, timeout)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn counts(&self) -> WriterCounts {
        self.writer.counts()
    }

    /// Runs a write, and returns when it is durable. `bytes` is its approximate size.
    pub(crate) fn write<T: Send + 'static>(
        &self,
        action: &'static str,
        bytes: usize,
        work: impl FnOnce(&Connection, Time) -> EngineResult<T> + Send + 'static,
    ) -> Result<T> {
        self.write_with(Isolation::Savepoint, action, bytes, |connection, _, now| work(connection, now))
    }

    /// Runs a recording, which is refused only before it writes.
    pub(crate) fn record<T: Send + 'static>(
        &self,
        action: &'static str,
        bytes: usize,
        work: impl FnOnce(&Connection, &mut RecordCache, Time) -> EngineResult<T> + Send + 'static,
    ) -> Result<T> {
        self.write_with(Isolation::ValidatesFirst, action, bytes, work)
    }

    fn write_with<T: Send + 'static>(
        &self,
        isolation: Isolation,
        action: &'static str,
        bytes: usize,
        work: impl FnOnce(&Connection, &mut RecordCache, Time) -> EngineResult<T> + Send + 'static,
    ) -> Result<T> {
        let started = Instant::now();
        let clock = Arc::clone(&self.clock);
        self.check_process()
            .and_then(|()| {
                self.writer.write(bytes, isolation, move |connection, cache| work(connection, cache, clock()))
            })
            .map_err(|failure| failure.into_error(&self.path, action, started.elapsed()))
    }

    /// Runs a read in one snapshot.
    pub(crate) fn read<T>(
        &self,
        action: &'static str,
        work: impl FnOnce(&Connection, Time) -> EngineResult<T>,
    ) -> Result<T> {
        let started = Instant::now();
        self.check_process()
            .and_then(|()| busy::within(self.timeout, || self.read_with_connection(work)))
            .map_err(|failure| failure.into_error(&self.path, action, started.elapsed()))
    }

    /// A connection must not be used on both sides of a fork, and no leader runs in the child.
    fn check_process(&self) -> EngineResult<()> {
        if self.process == std::process::id() { Ok(()) } else { Err(Failure::Stopped) }
    }

    fn read_with_connection<T>(
        &self,
        work: impl FnOnce(&Connection, Time) -> EngineResult<T>,
    ) -> EngineResult<T> {
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

/// Checks the room for the next group, unless it was checked just before.
fn check_room_again(path: &Path, last: &Mutex<Instant>) -> EngineResult<()> {
    let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
    if last.elapsed() >= ROOM_CHECKED {
        db_file::check_room(path, "write")?;
        *last = Instant::now();
    }
    Ok(())
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("path", &self.path)
            .field("counts", &self.counts())
            .finish_non_exhaustive()
    }
}
