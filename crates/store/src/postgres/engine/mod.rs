//! Transactions that are tried again when that may help, and the line of those who record.

pub(super) mod connection;
pub(super) mod failure;
pub(super) mod fast_path;
pub(super) mod migrate;
pub(super) mod password;
pub(super) mod pool;
pub(super) mod recorder;
pub(super) mod tls;
pub(super) mod transaction;
pub(super) mod url;

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use self::connection::Connection;
use self::failure::{Attempt, Failure, Prospect};
use self::pool::Pool;
use self::recorder::Recorder;
use self::transaction::{Access, Transaction, begin_sql};
use self::url::Target;
use crate::{Error, Outcome, Result};

/// Pauses between attempts grow by this much.
const STEP: Duration = Duration::from_millis(5);
/// No pause is longer.
const PAUSE_MAX: Duration = Duration::from_millis(250);
/// How long one statement may take before the usual way is taken.
const STATEMENT_MAX: Duration = Duration::from_secs(5);
/// How often a call is made anew because somebody was faster.
const RACES_MAX: u32 = 100;

pub(crate) struct Engine {
    pool: Pool,
    pub(crate) recorder: Recorder,
    wait: Duration,
    begin: [String; 2],
    /// The server was there once, so that it may come back.
    known: AtomicBool,
    /// A forked child has the memory of its parent, but must not speak on its connections.
    process: u32,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("pool", &self.pool).finish_non_exhaustive()
    }
}

impl Engine {
    /// Opens the store, and brings its tables up to date.
    pub(crate) fn open(target: Target, sessions_max: usize, wait: Duration) -> Result<Self> {
        let engine = Self {
            pool: Pool::new(target, sessions_max),
            recorder: Recorder::default(),
            wait,
            begin: [Access::Read, Access::Write].map(|access| begin_sql(access, wait)),
            known: AtomicBool::new(false),
            process: std::process::id(),
        };
        engine.transact(Access::Write, "open it", false, async |transaction| {
            migrate::migrate(transaction, migrate::MIGRATIONS, engine.place()).await
        })?;
        Ok(engine)
    }

    /// The URL without its password.
    pub(crate) fn place(&self) -> &Path {
        &self.pool.target().place
    }

    /// Writes, and returns when it is durable.
    pub(crate) fn write<T>(
        &self,
        doing: &'static str,
        work: impl AsyncFn(&Transaction<'_>) -> Attempt<T>,
    ) -> Result<T> {
        self.transact(Access::Write, doing, false, work)
    }

    /// The same; `in_doubt` when it may have happened already.
    pub(crate) fn write_again<T>(
        &self,
        doing: &'static str,
        in_doubt: bool,
        work: impl AsyncFn(&Transaction<'_>) -> Attempt<T>,
    ) -> Result<T> {
        self.transact(Access::Write, doing, in_doubt, work)
    }

    /// Tries once to do something in one statement that is a transaction of its own.
    pub(crate) fn state<T>(&self, work: impl AsyncFnOnce(&Transaction<'_>) -> Attempt<T>) -> Attempt<T> {
        if self.process != std::process::id() {
            return Err(Failure::Silent(Outcome::Aborted));
        }
        let deadline = Instant::now() + STATEMENT_MAX.min(self.wait / 2);
        self.with_session(deadline, |connection| connection.state(deadline, work))
    }

    /// Reads from one state of the store.
    pub(crate) fn read<T>(
        &self,
        doing: &'static str,
        work: impl AsyncFn(&Transaction<'_>) -> Attempt<T>,
    ) -> Result<T> {
        self.transact(Access::Read, doing, false, work)
    }

    /// Does it in a transaction, anew when that may help: each call of the store happens once for its id, however often it is asked for.
    fn transact<T>(
        &self,
        access: Access,
        doing: &'static str,
        mut in_doubt: bool,
        work: impl AsyncFn(&Transaction<'_>) -> Attempt<T>,
    ) -> Result<T> {
        if self.process != std::process::id() {
            return Err(Error::Stopped { path: self.place().to_owned() });
        }
        let started = Instant::now();
        let deadline = started + self.wait;
        let mut cause = None;
        let mut tries = 0;
        loop {
            let begin = &self.begin[access as usize];
            let attempt =
                self.with_session(deadline, |connection| connection.transact(begin, deadline, &work));
            let failure = match attempt {
                Ok(value) => return Ok(value),
                Err(failure) => failure,
            };
            in_doubt |= failure.outcome() == Outcome::Unknown;
            tries += 1;
            let again = match failure.prospect() {
                Prospect::Now => tries < RACES_MAX,
                Prospect::Later => self.known.load(Ordering::Relaxed),
                // A commit that nobody answered: asking again tells.
                Prospect::None => failure.outcome() == Outcome::Unknown,
            };
            let pause = (STEP * tries).min(PAUSE_MAX) + jitter();
            if !again || Instant::now() + pause >= deadline {
                // That the time was over in the next attempt says less than why there was one.
                let failure = cause.filter(|_| matches!(failure, Failure::Silent(_))).unwrap_or(failure);
                let error = failure.into_error(self.place(), doing, started.elapsed());
                tracing::warn!(doing, tries, outcome = ?error.outcome(), "store failed");
                return Err(if in_doubt { doubtful(error, doing) } else { error });
            }
            tracing::debug!(doing, tries, "retrying a transaction of the store");
            cause = Some(failure);
            if tries > 1 {
                thread::sleep(pause);
            }
        }
    }

    /// Does something with a session, which is kept unless it is in doubt afterwards.
    fn with_session<T>(&self, deadline: Instant, work: impl FnOnce(&Connection) -> Attempt<T>) -> Attempt<T> {
        let connection = self.pool.take(deadline)?;
        self.known.store(true, Ordering::Relaxed);
        let result = work(&connection);
        let failure = result.as_ref().err();
        if failure.is_none_or(Failure::keeps_session) && !connection.is_closed() {
            self.pool.give(connection);
        } else {
            drop(connection);
            self.pool.lost();
            self.pool.clear();
        }
        result
    }
}

/// Keeps two that wait from doing it in step.
fn jitter() -> Duration {
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.subsec_nanos());
    Duration::from_micros(u64::from(nanos % 4096))
}

/// An attempt before this failure may have been committed.
fn doubtful(error: Error, doing: &'static str) -> Error {
    match error {
        Error::Unreachable { path, source }
        | Error::ReadOnly { path, source }
        | Error::Denied { path, source } => Error::Engine { path, doing, outcome: Outcome::Unknown, source },
        Error::Engine { path, source, .. } => {
            Error::Engine { path, doing, outcome: Outcome::Unknown, source }
        }
        Error::Busy { path, .. } => Error::Stopped { path },
        // A rule of the store answers for the first attempt, too: it looks for the id.
        other => other,
    }
}
