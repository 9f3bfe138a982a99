//! Opening a store in PostgreSQL.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::engine::Engine;
use super::engine::password::PasswordFile;
use super::engine::url::Target;
use crate::{Result, WriterCounts, limits};

/// Sessions that one store keeps with the server, unless the caller says otherwise.
const SESSIONS_MAX: usize = 8;

/// A store in one PostgreSQL database, shared by any number of machines.
///
/// Cheap to clone; any number of threads share it. A child that was forked while it was open must open it again: its calls are refused.
#[derive(Clone, Debug)]
pub struct PostgresStore {
    pub(super) engine: Arc<Engine>,
}

/// How to open a store.
#[derive(Clone)]
pub struct PostgresOptions {
    wait: Duration,
    sessions_max: usize,
    password: Option<String>,
    passfile: Option<PathBuf>,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self { wait: limits::WAIT, sessions_max: SESSIONS_MAX, password: None, passfile: None }
    }
}

impl fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresOptions")
            .field("wait", &self.wait)
            .field("sessions_max", &self.sessions_max)
            .field("passfile", &self.passfile)
            .finish_non_exhaustive()
    }
}

impl PostgresOptions {
    /// How long a call waits for others, and for a server that went away to come back.
    #[must_use]
    pub fn wait(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// How many sessions this store has with the server at most.
    #[must_use]
    pub fn sessions_max(self, sessions_max: usize) -> Self {
        Self { sessions_max, ..self }
    }

    /// The password, when the URL has none.
    #[must_use]
    pub fn password(self, password: Option<String>) -> Self {
        Self { password, ..self }
    }

    /// A file of passwords as `psql` keeps them, for when there is no other.
    #[must_use]
    pub fn passfile(self, passfile: Option<PathBuf>) -> Self {
        Self { passfile, ..self }
    }

    /// Opens the store, and makes its tables where there are none, in the schema `agents`. Brings tables of an older program up to date;
    /// refuses those of a newer one without touching them. A server that cannot be reached now is an error at once.
    pub fn open(self, url: &str) -> Result<PostgresStore> {
        let passfile = self.passfile.map(PasswordFile);
        let target = Target::parse(url, self.password.as_deref(), passfile.as_ref())?;
        Ok(PostgresStore { engine: Arc::new(Engine::open(target, self.sessions_max, self.wait)?) })
    }
}

impl PostgresStore {
    /// Opens the store with the usual options.
    pub fn open(url: &str) -> Result<Self> {
        PostgresOptions::default().open(url)
    }

    /// How many transactions this store has recorded with, and how many recordings were in them.
    pub fn writer_counts(&self) -> WriterCounts {
        self.engine.recorder.counts()
    }
}
