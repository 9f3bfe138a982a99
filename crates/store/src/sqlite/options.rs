//! Opening a store in SQLite.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::engine::{Clock, Engine};
use crate::{Result, Time, WriterCounts, limits};

/// A store in one SQLite file.
///
/// Cheap to clone; any number of threads share it. All stores that a process opens on one file share syncs. A child that
/// was forked while it was open must open it again: its calls are refused.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    pub(super) engine: Arc<Engine>,
}

/// How to open a store.
#[derive(Clone)]
pub struct SqliteOptions {
    wait: Duration,
    clock: Clock,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { wait: limits::WAIT, clock: Arc::new(Time::now) }
    }
}

impl fmt::Debug for SqliteOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteOptions").field("wait", &self.wait).finish_non_exhaustive()
    }
}

impl SqliteOptions {
    /// How long a call waits for other processes.
    #[must_use]
    pub fn wait(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// What gives the time; the machine's clock unless a test has another.
    #[must_use]
    pub fn clock(self, clock: impl Fn() -> Time + Send + Sync + 'static) -> Self {
        Self { clock: Arc::new(clock), ..self }
    }

    /// Opens the store, and makes it where there is none: folder 0700, file 0600. Brings tables of an older program up to date; refuses
    /// those of a newer one, and files that are not a store, without touching them. Who opens a file that this process has open
    /// already shares it with the options of the first.
    pub fn open(self, path: &Path) -> Result<SqliteStore> {
        Ok(SqliteStore { engine: Engine::open(path, self.wait, self.clock)? })
    }
}

impl SqliteStore {
    /// Opens the store with the usual options.
    pub fn open(path: &Path) -> Result<Self> {
        SqliteOptions::default().open(path)
    }

    /// Where the file really is.
    pub fn path(&self) -> &Path {
        self.engine.path()
    }

    /// How many transactions this process has written to the file, and how many writes were in them.
    pub fn writer_counts(&self) -> WriterCounts {
        self.engine.counts()
    }
}
