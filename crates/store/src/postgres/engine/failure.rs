//! Failures inside the engine, before they are reported with the caller's action, and the decision
//! to retry.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::error::{Severity, SqlState};

use super::hosts::{ConnectFault, HostErrors};
use crate::{Cause, Error, Outcome};

/// A failed transaction.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// A rule of the store refused it.
    Refused(Error),
    /// A concurrent transaction was faster; only a retry shows the consequence.
    LostRace,
    /// The server failed, or the connection to it.
    Server(Arc<tokio_postgres::Error>, Outcome),
    /// A row has values that this program does not write.
    Unreadable(Cause),
    /// No session could be opened.
    ConnectFailed(Arc<HostErrors>),
    /// No answer came in time.
    TimedOut(Outcome),
}

pub(crate) type EngineResult<T> = Result<T, Failure>;

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Server(Arc::new(error), Outcome::Aborted)
    }
}

impl Failure {
    /// Classifies a failed commit: rolled back if the server refused it, unknown if the session
    /// ended.
    pub(crate) fn of_commit(error: tokio_postgres::Error) -> Self {
        Self::from(error).in_commit()
    }

    /// Classifies a failed statement that is its own transaction, in the same way.
    pub(crate) fn in_commit(self) -> Self {
        match self {
            Self::Server(error, Outcome::Aborted) if !is_refusal(&error) => {
                Self::Server(error, Outcome::Unknown)
            }
            other => other,
        }
    }

    pub(crate) fn outcome(&self) -> Outcome {
        match self {
            Self::Server(_, outcome) | Self::TimedOut(outcome) => *outcome,
            _ => Outcome::Aborted,
        }
    }

    /// Tells whether the session can be used after the failure.
    pub(crate) fn keeps_session(&self) -> bool {
        match self {
            Self::Refused(_) | Self::LostRace | Self::Unreadable(_) => true,
            Self::Server(error, outcome) => {
                let db_error = error.as_db_error();
                *outcome == Outcome::Aborted
                    && is_refusal(error)
                    && db_error.map(|error| error.code()) != Some(&SqlState::READ_ONLY_SQL_TRANSACTION)
            }
            Self::ConnectFailed(_) | Self::TimedOut(_) => false,
        }
    }

    /// Decides whether to retry.
    pub(crate) fn retry_decision(&self) -> RetryDecision {
        match self {
            Self::LostRace => RetryDecision::Now,
            Self::Server(error, _) => match error.as_db_error() {
                Some(error) => retry_decision(error.code()),
                None => RetryDecision::Later,
            },
            Self::ConnectFailed(errors) => errors.retry_decision(),
            Self::Refused(_) | Self::Unreadable(_) | Self::TimedOut(_) => RetryDecision::Never,
        }
    }

    /// Reports the failure to the caller. `location` is the URL without its password.
    pub(crate) fn into_error(self, location: &Path, action: &'static str, waited: Duration) -> Error {
        let path = location.to_owned();
        match self {
            Self::Refused(error) => error,
            Self::Unreadable(source) => Error::Damaged { path, action, source },
            Self::LostRace | Self::TimedOut(Outcome::Aborted) => Error::Busy { path, action, waited },
            Self::TimedOut(outcome @ Outcome::Unknown) => {
                Error::Engine { path, action, outcome, source: Arc::new(NoAnswer(waited)) }
            }
            Self::ConnectFailed(source) => connect_error(location, source),
            Self::Server(source, outcome) => match source.as_db_error().map(|error| error.code()) {
                Some(code) if is_wait(code) && outcome == Outcome::Aborted => {
                    Error::Busy { path, action, waited }
                }
                Some(code) if *code == SqlState::READ_ONLY_SQL_TRANSACTION => {
                    Error::ReadOnly { path, source }
                }
                Some(code) if *code == SqlState::INSUFFICIENT_PRIVILEGE => Error::Denied { path, source },
                _ => Error::Engine { path, action, outcome, source },
            },
        }
    }
}

/// Tells whether the server refused a statement and kept the session.
fn is_refusal(error: &tokio_postgres::Error) -> bool {
    error.as_db_error().is_some_and(|error| error.parsed_severity() == Some(Severity::Error))
}

/// The decision to retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetryDecision {
    /// Report the failure: a retry would fail again.
    Never,
    /// Retry at once.
    Now,
    /// Retry until the server is back, or another has replaced it.
    Later,
}

pub(crate) fn retry_decision(code: &SqlState) -> RetryDecision {
    const NOW: &[SqlState] = &[
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::T_R_SERIALIZATION_FAILURE,
        // Two transactions created the same thing: the retried one finds it.
        SqlState::UNIQUE_VIOLATION,
        SqlState::FOREIGN_KEY_VIOLATION,
        SqlState::DUPLICATE_TABLE,
        SqlState::DUPLICATE_SCHEMA,
    ];
    const LATER: &[SqlState] = &[
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::TOO_MANY_CONNECTIONS,
        SqlState::READ_ONLY_SQL_TRANSACTION,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        // Codes of a pooler that lost its server.
        SqlState::CONNECTION_EXCEPTION,
        SqlState::CONNECTION_FAILURE,
        SqlState::CONNECTION_DOES_NOT_EXIST,
        SqlState::SQLSERVER_REJECTED_ESTABLISHMENT_OF_SQLCONNECTION,
        SqlState::PROTOCOL_VIOLATION,
    ];
    if NOW.contains(code) {
        RetryDecision::Now
    } else if LATER.contains(code) {
        RetryDecision::Later
    } else {
        RetryDecision::Never
    }
}

/// Tells whether the server gave up waiting for a lock.
fn is_wait(code: &SqlState) -> bool {
    [SqlState::LOCK_NOT_AVAILABLE, SqlState::QUERY_CANCELED, SqlState::T_R_DEADLOCK_DETECTED].contains(code)
}

/// Reports a failure to open a session.
fn connect_error(location: &Path, source: Arc<HostErrors>) -> Error {
    let path = location.to_owned();
    match source.fault() {
        ConnectFault::Unreachable => Error::Unreachable { path, source },
        ConnectFault::Denied => Error::Denied { path, source },
        ConnectFault::ReadOnly => Error::ReadOnly { path, source },
    }
}

/// Tells whether the cause of an error is a lost server.
pub(crate) fn is_lost_server(cause: &Cause) -> bool {
    let cause: &(dyn std::error::Error + 'static) = &**cause;
    let is_lost = |error: &tokio_postgres::Error| {
        error.as_db_error().is_none_or(|error| retry_decision(error.code()) == RetryDecision::Later)
    };
    cause.is::<NoAnswer>()
        || cause.is::<HostErrors>()
        || cause.downcast_ref::<tokio_postgres::Error>().is_some_and(is_lost)
}

/// The server did not answer in time.
#[derive(Debug, thiserror::Error)]
#[error("the server does not answer (waited {:.1} s)", .0.as_secs_f64())]
pub(crate) struct NoAnswer(pub(crate) Duration);
