//! Opening a store in PostgreSQL.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::engine::Engine;
use super::engine::password::PasswordFile;
use super::engine::url::ServerUrl;
use crate::{Result, WriterCounts, limits};

/// Default number of sessions of one store.
const SESSIONS_MAX: usize = 8;

/// A store in one PostgreSQL database, shared by any number of machines.
///
/// Cheap to clone; any number of threads may share it. A forked child must open the store again:
/// its calls are refused.
#[derive(Clone, Debug)]
pub struct PostgresStore {
    pub(super) engine: Arc<Engine>,
}

/// Options for opening a store.
#[derive(Clone)]
pub struct PostgresOptions {
    timeout: Duration,
    wait: Duration,
    sessions_max: usize,
    password: Option<String>,
    passfile: Option<PathBuf>,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        let (timeout, wait) = (limits::TIMEOUT, limits::WAIT);
        Self { timeout, wait, sessions_max: SESSIONS_MAX, password: None, passfile: None }
    }
}

impl fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresOptions")
            .field("timeout", &self.timeout)
            .field("wait", &self.wait)
            .field("sessions_max", &self.sessions_max)
            .field("passfile", &self.passfile)
            .finish_non_exhaustive()
    }
}

impl PostgresOptions {
    /// Sets how long a call waits for other clients.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Sets how long a call waits for a server that is restarting, full or replaced, opening the
    /// store included.
    #[must_use]
    pub fn wait(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// Sets the maximum number of sessions with the server.
    #[must_use]
    pub fn sessions_max(self, sessions_max: usize) -> Self {
        Self { sessions_max, ..self }
    }

    /// Sets the password for a URL that has none.
    #[must_use]
    pub fn password(self, password: Option<String>) -> Self {
        Self { password, ..self }
    }

    /// Sets a password file in the format of `psql`, used when there is no other password.
    #[must_use]
    pub fn passfile(self, passfile: Option<PathBuf>) -> Self {
        Self { passfile, ..self }
    }

    /// Opens the store, and creates its tables in the schema `agents` if they do not exist.
    /// Migrates tables of an older version. Refuses those of a newer version without touching them.
    /// Fails at once if the name of the server is unknown or access is denied.
    pub fn open(self, url: &str) -> Result<PostgresStore> {
        let passfile = self.passfile.map(PasswordFile);
        let server = ServerUrl::parse(url, self.password.as_deref(), passfile.as_ref())?;
        Ok(PostgresStore {
            engine: Arc::new(Engine::open(server, self.sessions_max, self.timeout, self.wait)?),
        })
    }
}

impl PostgresStore {
    /// Opens the store with default options.
    pub fn open(url: &str) -> Result<Self> {
        PostgresOptions::default().open(url)
    }

    /// Returns the number of transactions that this store has recorded with, and of recordings in
    /// them.
    pub fn writer_counts(&self) -> WriterCounts {
        self.engine.recorder.counts()
    }
}
