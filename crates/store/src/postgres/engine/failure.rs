//! What goes wrong inside the engine, until it is known what the caller was doing; and what may be tried again.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::error::{Severity, SqlState};

use crate::{Cause, Error, Outcome};

/// Why a transaction failed.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// A rule of the store refuses it.
    Refused(Error),
    /// Somebody else was faster where only looking again tells what that means.
    Again,
    /// The server does, or the connection to it.
    Server(Arc<tokio_postgres::Error>, Outcome),
    /// A row holds what this program does not write.
    Unreadable(Cause),
    /// No session could be had.
    NoSession(Arc<tokio_postgres::Error>),
    /// No answer came in time.
    Silent(Outcome),
}

pub(crate) type Attempt<T> = Result<T, Failure>;

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
    /// A commit that failed. When the server refuses it, it is undone; when the session ended, nobody knows.
    pub(crate) fn of_commit(error: tokio_postgres::Error) -> Self {
        Self::from(error).in_commit()
    }

    /// The same for a statement that is a transaction of its own.
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
            Self::Server(_, outcome) | Self::Silent(outcome) => *outcome,
            _ => Outcome::Aborted,
        }
    }

    /// Whether the session can be used again after it.
    pub(crate) fn keeps_session(&self) -> bool {
        match self {
            Self::Refused(_) | Self::Again | Self::Unreadable(_) => true,
            Self::Server(error, outcome) => {
                let said = error.as_db_error();
                *outcome == Outcome::Aborted
                    && is_refusal(error)
                    && said.map(|said| said.code()) != Some(&SqlState::READ_ONLY_SQL_TRANSACTION)
            }
            Self::NoSession(_) | Self::Silent(_) => false,
        }
    }

    /// What trying again may bring.
    pub(crate) fn prospect(&self) -> Prospect {
        match self {
            Self::Again => Prospect::Now,
            Self::Server(error, _) | Self::NoSession(error) => match error.as_db_error() {
                Some(said) => prospect(said.code()),
                None => Prospect::Later,
            },
            Self::Refused(_) | Self::Unreadable(_) | Self::Silent(_) => Prospect::None,
        }
    }

    /// For the caller. `place` is the URL without its password.
    pub(crate) fn into_error(self, place: &Path, doing: &'static str, waited: Duration) -> Error {
        let path = place.to_owned();
        match self {
            Self::Refused(error) => error,
            Self::Unreadable(source) => Error::Damaged { path, doing, source },
            Self::Again | Self::Silent(Outcome::Aborted) => Error::Busy { path, doing, waited },
            Self::Silent(Outcome::Unknown) => Error::Stopped { path },
            Self::NoSession(source) => no_session(place, source),
            Self::Server(source, outcome) => match source.as_db_error().map(|said| said.code()) {
                Some(code) if is_wait(code) && outcome == Outcome::Aborted => {
                    Error::Busy { path, doing, waited }
                }
                Some(code) if *code == SqlState::READ_ONLY_SQL_TRANSACTION => {
                    Error::ReadOnly { path, source }
                }
                Some(code) if *code == SqlState::INSUFFICIENT_PRIVILEGE => Error::Denied { path, source },
                _ => Error::Engine { path, doing, outcome, source },
            },
        }
    }
}

/// Whether the server refuses, and the session goes on.
fn is_refusal(error: &tokio_postgres::Error) -> bool {
    error.as_db_error().is_some_and(|said| said.parsed_severity() == Some(Severity::Error))
}

/// What trying again may bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prospect {
    /// The same.
    None,
    /// An answer.
    Now,
    /// An answer when the server is back, or another has taken its place.
    Later,
}

fn prospect(code: &SqlState) -> Prospect {
    const NOW: &[SqlState] = &[
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::T_R_SERIALIZATION_FAILURE,
        // Two made the same thing: the second, when it looks again, finds that of the first.
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
        // What a pooler says when it lost the server.
        SqlState::CONNECTION_EXCEPTION,
        SqlState::CONNECTION_FAILURE,
        SqlState::CONNECTION_DOES_NOT_EXIST,
        SqlState::SQLSERVER_REJECTED_ESTABLISHMENT_OF_SQLCONNECTION,
        SqlState::PROTOCOL_VIOLATION,
    ];
    if NOW.contains(code) {
        Prospect::Now
    } else if LATER.contains(code) {
        Prospect::Later
    } else {
        Prospect::None
    }
}

/// Whether the server gave up waiting for others.
fn is_wait(code: &SqlState) -> bool {
    [SqlState::LOCK_NOT_AVAILABLE, SqlState::QUERY_CANCELED, SqlState::T_R_DEADLOCK_DETECTED].contains(code)
}

/// Why no session could be had.
fn no_session(place: &Path, source: Arc<tokio_postgres::Error>) -> Error {
    let path = place.to_owned();
    let Some(said) = source.as_db_error() else {
        return match () {
            () if is_read_only(&source) => Error::ReadOnly { path, source },
            // The server wants a password, and there is none.
            () if source.to_string().starts_with("invalid configuration") => Error::Denied { path, source },
            () => Error::Unreachable { path, source },
        };
    };
    if prospect(said.code()) == Prospect::Later {
        Error::Unreachable { path, source }
    } else {
        Error::Denied { path, source }
    }
}

/// The driver has no code for a server that allows no writes, only this cause.
fn is_read_only(error: &tokio_postgres::Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = std::error::Error::source(error);
    while let Some(found) = cause {
        if let Some(found) = found.downcast_ref::<std::io::Error>() {
            return found.to_string().contains("does not allow writes");
        }
        cause = found.source();
    }
    false
}
