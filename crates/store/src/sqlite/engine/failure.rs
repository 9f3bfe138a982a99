//! What goes wrong inside the engine, until it is known what the caller was doing.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::ErrorCode;

use crate::{Error, Outcome};

/// Why a piece of work failed.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// A rule of the store refuses it.
    Refused(Error),
    /// SQLite does. Nothing of this piece of work is left, unless the outcome says otherwise.
    Sqlite(Arc<rusqlite::Error>, Outcome),
    /// The same, in the middle of writing without a savepoint: nothing is left of it when its whole group goes.
    HalfDone(Arc<rusqlite::Error>),
    /// Whoever wrote for all was cut off by a bug, or is in the process that this one was forked from.
    Stopped,
}

pub(crate) type Attempt<T> = Result<T, Failure>;

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(Arc::new(error), Outcome::Aborted)
    }
}

impl Failure {
    /// A commit that failed. When SQLite could not write all of it, the mark that makes it count, which comes last, is not there. When
    /// it was written and the sync failed, nobody knows whether it will be there after a crash.
    pub(crate) fn of_commit(error: rusqlite::Error) -> Self {
        let outcome = match error.sqlite_error_code() {
            Some(ErrorCode::SystemIoFailure) => Outcome::Unknown,
            _ => Outcome::Aborted,
        };
        Self::Sqlite(Arc::new(error), outcome)
    }

    /// Says that the piece of work has written before it failed.
    pub(crate) fn half_done(self) -> Self {
        match self {
            Self::Sqlite(source, _) => Self::HalfDone(source),
            other => other,
        }
    }

    /// For the caller. No caller ever sees that a database is locked.
    pub(crate) fn into_error(self, path: &Path, doing: &'static str, waited: Duration) -> Error {
        let (source, outcome) = match self {
            Self::Refused(error) => return error,
            Self::Stopped => return Error::Stopped { path: path.to_owned() },
            Self::HalfDone(source) => (source, Outcome::Aborted),
            Self::Sqlite(source, outcome) => (source, outcome),
        };
        tracing::warn!(doing, code = ?source.sqlite_error_code(), ?outcome, "store failed");
        let path = path.to_owned();
        if is_unreadable(&source) {
            return Error::Damaged { path, doing, source };
        }
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Busy { path, doing, waited },
            Some(ErrorCode::NotADatabase) => {
                Error::NotAStore { path, reason: "it is no SQLite database, or its beginning is damaged" }
            }
            Some(ErrorCode::DatabaseCorrupt) => Error::Damaged { path, doing, source },
            Some(ErrorCode::DiskFull) => Error::Full { path, doing, source },
            Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                Error::Unwritable { path, doing, source }
            }
            _ => Error::Engine { path, doing, outcome, source },
        }
    }
}

/// Whether a row holds what this program does not write.
pub(crate) fn is_unreadable(error: &rusqlite::Error) -> bool {
    use rusqlite::Error as E;
    matches!(
        error,
        E::FromSqlConversionFailure(..)
            | E::IntegralValueOutOfRange(..)
            | E::InvalidColumnType(..)
            | E::Utf8Error(..)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::ffi;

    fn sqlite(code: i32) -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)
    }

    fn error(failure: Failure) -> Error {
        failure.into_error(Path::new("state.db"), "seal a changeset", Duration::from_secs(30))
    }

    #[test]
    fn a_failed_sync_of_a_commit_is_unknown_and_a_full_disk_is_not() {
        let outcome = |code| error(Failure::of_commit(sqlite(code))).outcome();
        assert_eq!(outcome(ffi::SQLITE_IOERR_FSYNC), Outcome::Unknown);
        assert_eq!(outcome(ffi::SQLITE_IOERR_WRITE), Outcome::Unknown);
        assert_eq!(outcome(ffi::SQLITE_FULL), Outcome::Aborted);
        assert_eq!(outcome(ffi::SQLITE_BUSY), Outcome::Aborted);
    }

    #[test]
    fn nobody_sees_a_locked_database() {
        for code in
            [ffi::SQLITE_BUSY, ffi::SQLITE_BUSY_RECOVERY, ffi::SQLITE_BUSY_SNAPSHOT, ffi::SQLITE_LOCKED]
        {
            let error = error(sqlite(code).into());
            assert_eq!(error.code(), "store-busy");
            let shown = format!("{error} {error:?}");
            assert!(!shown.contains("locked"), "{shown}");
            assert!(shown.contains("waiting to seal a changeset"), "{shown}");
        }
    }

    #[test]
    fn each_kind_of_failure_has_its_own_error() {
        let code = |code| error(sqlite(code).into()).code();
        assert_eq!(code(ffi::SQLITE_NOTADB), "not-a-store");
        assert_eq!(code(ffi::SQLITE_CORRUPT), "store-damaged");
        assert_eq!(code(ffi::SQLITE_FULL), "store-full");
        assert_eq!(code(ffi::SQLITE_CANTOPEN), "store-unwritable");
        assert_eq!(code(ffi::SQLITE_READONLY_DIRECTORY), "store-unwritable");
        assert_eq!(code(ffi::SQLITE_IOERR_READ), "store-engine");
        assert_eq!(error(Failure::Stopped).code(), "store-stopped");
        assert_eq!(error(rusqlite::Error::IntegralValueOutOfRange(0, -1).into()).code(), "store-damaged");
    }
}
