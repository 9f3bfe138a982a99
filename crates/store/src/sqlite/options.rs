//! Opening a store in SQLite.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::engine::{Clock, Engine};
use crate::{Result, Time, WriterCounts, limits};

/// A store in one SQLite file.
///
/// Cheap to clone; any number of threads may share it. All stores that a process opens on one file
/// share syncs. A forked child must open the store again: its calls are refused.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    pub(super) engine: Arc<Engine>,
}

/// Options for opening a store.
#[derive(Clone)]
pub struct SqliteOptions {
    timeout: Duration,
    clock: Clock,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { timeout: limits::TIMEOUT, clock: Arc::new(Time::now) }
    }
}

impl fmt::Debug for SqliteOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteOptions").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

impl SqliteOptions {
    /// Sets how long a call waits for other processes.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Sets the clock. Tests use this; the default is the clock of the machine.
    #[must_use]
    pub fn clock(self, clock: impl Fn() -> Time + Send + Sync + 'static) -> Self {
        Self { clock: Arc::new(clock), ..self }
    }

    /// Opens the store, and creates it if it does not exist (folder 0700, file 0600). Migrates
    /// tables of an older version. Refuses those of a newer version, and files that are not a
    /// store, without touching them. A file that this process already has open is shared, with the
    /// options of the first call.
    pub fn open(self, path: &Path) -> Result<SqliteStore> {
        Ok(SqliteStore { engine: Engine::open(path, self.timeout, self.clock)? })
    }
}

impl SqliteStore {
    /// Opens the store with default options.
    pub fn open(path: &Path) -> Result<Self> {
        SqliteOptions::default().open(path)
    }

    /// Returns the canonical path of the file.
    pub fn path(&self) -> &Path {
        self.engine.path()
    }

    /// Returns the number of transactions that this process has written to the file, and of writes
    /// in them.
    pub fn writer_counts(&self) -> WriterCounts {
        self.engine.counts()
    }
}
