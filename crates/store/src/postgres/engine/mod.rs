//! Transactions with retries, and the recorder.

pub(super) mod connection;
pub(super) mod failure;
pub(super) mod fast_path;
pub(super) mod hosts;
pub(super) mod migrate;
pub(super) mod password;
pub(super) mod pool;
pub(super) mod recorder;
pub(super) mod tls;
pub(super) mod transaction;
pub(super) mod url;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use self::connection::Connection;
use self::failure::{EngineResult, Failure, NoAnswer, RetryDecision};
use self::pool::Pool;
use self::recorder::Recorder;
use self::transaction::{Access, Transaction, begin_sql};
use self::url::ServerUrl;
use crate::{Error, Outcome, Result};

/// Each pause between attempts is longer by this much.
const STEP: Duration = Duration::from_millis(5);
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_millis(250);
/// Time limit of the fast path.
const STATEMENT_MAX: Duration = Duration::from_secs(5);
/// Retries of a call that lost a race.
const RACES_MAX: u32 = 100;
/// Time limit of a migration, which may build an index of a large table.
const MIGRATION_MAX: Duration = Duration::from_secs(60 * 60);
/// Time in which a server that is only busy accepts another session.
const PROBE: Duration = Duration::from_secs(2);

pub(crate) struct Engine {
    pool: Pool,
    pub(crate) recorder: Recorder,
    /// Time for which a call waits for other clients.
    timeout: Duration,
    /// Time for which a call waits for a server that is not reachable.
    wait: Duration,
    begin: [String; 2],
    /// A forked child has the memory of its parent, but must not use its connections.
    process: u32,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("pool", &self.pool).finish_non_exhaustive()
    }
}

impl Engine {
    /// Opens the store and migrates its tables.
    pub(crate) fn open(
        server: ServerUrl,
        sessions_max: usize,
        timeout: Duration,
        wait: Duration,
    ) -> Result<Self> {
        let engine = Self {
            pool: Pool::new(server, sessions_max),
            recorder: Recorder::default(),
            timeout,
            wait,
            begin: [Access::Read, Access::Write].map(|access| begin_sql(access, timeout)),
            process: std::process::id(),
        };
        let is_current = engine.write("open the store", async |transaction| {
            migrate::is_current(transaction, migrate::MIGRATIONS, engine.location()).await
        })?;
        if !is_current {
            engine.transact(
                Access::Write,
                "migrate the store",
                MIGRATION_MAX,
                false,
                async |transaction| {
                    migrate::migrate(transaction, migrate::MIGRATIONS, engine.location()).await
                },
            )?;
        }
        Ok(engine)
    }

    /// Returns the URL without its password.
    pub(crate) fn location(&self) -> &Path {
        &self.pool.server().location
    }

    /// Runs a write, and returns when it is durable.
    pub(crate) fn write<T>(
        &self,
        action: &'static str,
        work: impl AsyncFn(&Transaction<'_>) -> EngineResult<T>,
    ) -> Result<T> {
        self.transact(Access::Write, action, self.timeout, false, work)
    }

    /// Runs a write that may already have taken effect if `in_doubt`.
    pub(crate) fn write_again<T>(
        &self,
        action: &'static str,
        in_doubt: bool,
        work: impl AsyncFn(&Transaction<'_>) -> EngineResult<T>,
    ) -> Result<T> {
        self.transact(Access::Write, action, self.timeout, in_doubt, work)
    }

    /// Runs one statement as its own transaction, without retries.
    pub(crate) fn run_statement<T>(
        &self,
        work: impl AsyncFnOnce(&Transaction<'_>) -> EngineResult<T>,
    ) -> EngineResult<T> {
        if self.process != std::process::id() {
            return Err(Failure::TimedOut(Outcome::Aborted));
        }
        let deadline = Instant::now() + STATEMENT_MAX.min(self.timeout / 2);
        self.with_session(deadline, deadline, |connection| connection.run_statement(deadline, work))
    }

    /// Runs a read in one snapshot.
    pub(crate) fn read<T>(
        &self,
        action: &'static str,
        work: impl AsyncFn(&Transaction<'_>) -> EngineResult<T>,
    ) -> Result<T> {
        self.transact(Access::Read, action, self.timeout, false, work)
    }

    /// Runs a transaction, with retries where they may help: every call is idempotent by its id. It
    /// has `limit` to wait for other clients, each time that a server was reached.
    fn transact<T>(
        &self,
        access: Access,
        action: &'static str,
        limit: Duration,
        mut in_doubt: bool,
        work: impl AsyncFn(&Transaction<'_>) -> EngineResult<T>,
    ) -> Result<T> {
        if self.process != std::process::id() {
            return Err(Error::Stopped { path: self.location().to_owned() });
        }
        let started = Instant::now();
        let (busy_until, lost_until) = (started + limit, started + self.wait);
        let mut cause = None;
        let mut tries = 0;
        loop {
            let begin = &self.begin[access as usize];
            let attempt = self.with_session(busy_until, busy_until.max(lost_until), |connection| {
                connection.transact(begin, Instant::now() + limit, &work)
            });
            let failure = match attempt {
                Ok(value) => return Ok(value),
                Err(failure) => failure,
            };
            in_doubt |= failure.outcome() == Outcome::Unknown;
            tries += 1;
            let (again, until) = match failure.retry_decision() {
                RetryDecision::Now => (tries < RACES_MAX, busy_until),
                RetryDecision::Later => (true, lost_until),
                // A commit without an answer: a retry resolves the outcome.
                RetryDecision::Never => (failure.outcome() == Outcome::Unknown, lost_until),
            };
            let pause = (STEP * tries).min(PAUSE_MAX) + jitter();
            if !again || Instant::now() + pause >= until {
                // A timeout of the last attempt says less than the cause of the retries.
                let failure = cause.filter(|_| matches!(failure, Failure::TimedOut(_))).unwrap_or(failure);
                let failure = self.probed(failure);
                let error = failure.into_error(self.location(), action, started.elapsed());
                tracing::warn!(action, tries, outcome = ?error.outcome(), "store failed");
                return Err(if in_doubt { with_unknown_outcome(error, action) } else { error });
            }
            tracing::debug!(action, tries, "retrying a transaction of the store");
            cause = Some(failure);
            if tries > 1 {
                thread::sleep(pause);
            }
        }
    }

    /// Distinguishes a server that does not answer from one that is busy.
    fn probed(&self, failure: Failure) -> Failure {
        if !matches!(failure, Failure::TimedOut(Outcome::Aborted)) {
            return failure;
        }
        match Connection::open(self.pool.server(), Instant::now() + PROBE) {
            Err(Failure::ConnectFailed(errors)) if errors.is_silent() => Failure::ConnectFailed(errors),
            _ => failure,
        }
    }

    /// Runs something with a session, and returns the session to the pool unless it is broken.
    fn with_session<T>(
        &self,
        deadline: Instant,
        connect_by: Instant,
        work: impl FnOnce(&Connection) -> EngineResult<T>,
    ) -> EngineResult<T> {
        let connection = self.pool.take(deadline, connect_by)?;
        let result = work(&connection);
        let failure = result.as_ref().err();
        if failure.is_none_or(Failure::keeps_session) && !connection.is_closed() {
            self.pool.put_back(connection);
        } else {
            drop(connection);
            self.pool.forget();
            self.pool.clear();
        }
        result
    }
}

/// Keeps two waiting clients from retrying in step.
fn jitter() -> Duration {
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.subsec_nanos());
    Duration::from_micros(u64::from(nanos % 4096))
}

/// Marks an error after an attempt that may have been committed.
fn with_unknown_outcome(error: Error, action: &'static str) -> Error {
    match error {
        Error::Unreachable { path, source }
        | Error::ReadOnly { path, source }
        | Error::Denied { path, source } => Error::Engine { path, action, outcome: Outcome::Unknown, source },
        Error::Engine { path, source, .. } => {
            Error::Engine { path, action, outcome: Outcome::Unknown, source }
        }
        Error::Busy { path, waited, .. } => {
            Error::Engine { path, action, outcome: Outcome::Unknown, source: Arc::new(NoAnswer(waited)) }
        }
        // A rule of the store also answers for the first attempt: it looks for the id.
        other => other,
    }
}
