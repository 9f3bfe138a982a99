//! Failures inside the engine, before they are reported with the caller's action.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::ErrorCode;

use crate::{Error, Outcome};

/// A failed job or transaction.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// A rule of the store refused it.
    Refused(Error),
    /// SQLite failed. Nothing of the job remains, unless the outcome is unknown.
    Sqlite(Arc<rusqlite::Error>, Outcome),
    /// SQLite failed after the job had written without a savepoint: its whole group has to be
    /// rolled back.
    PartialWrite(Arc<rusqlite::Error>),
    /// The leader panicked, or this process is a forked child.
    Stopped,
}

pub(crate) type EngineResult<T> = Result<T, Failure>;

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
    /// Classifies a failed commit. If SQLite could not write all of it, the commit frame, which
    /// comes last, is missing. If the sync failed, the commit may or may not survive a crash.
    pub(crate) fn of_commit(error: rusqlite::Error) -> Self {
        let outcome = match error.sqlite_error_code() {
            Some(ErrorCode::SystemIoFailure) => Outcome::Unknown,
            _ => Outcome::Aborted,
        };
        Self::Sqlite(Arc::new(error), outcome)
    }

    /// Marks a failure of a job that had already written.
    pub(crate) fn after_write(self) -> Self {
        match self {
            Self::Sqlite(source, _) => Self::PartialWrite(source),
            other => other,
        }
    }

    /// Reports the failure to the caller, who never sees a locked database.
    pub(crate) fn into_error(self, path: &Path, action: &'static str, waited: Duration) -> Error {
        let (source, outcome) = match self {
            Self::Refused(error) => return error,
            Self::Stopped => return Error::Stopped { path: path.to_owned() },
            Self::PartialWrite(source) => (source, Outcome::Aborted),
            Self::Sqlite(source, outcome) => (source, outcome),
        };
        let source = without_statement(source);
        tracing::warn!(action, code = ?source.sqlite_error_code(), ?outcome, "store failed");
        let path = path.to_owned();
        if is_unreadable(&source) {
            return Error::Damaged { path, action, source };
        }
        match source.sqlite_error_code() {
            Some(
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed,
            ) => Error::Busy { path, action, waited },
            Some(ErrorCode::NotADatabase) => {
                Error::NotAStore { path, reason: "it is not an SQLite database, or its header is damaged" }
            }
            Some(ErrorCode::DatabaseCorrupt) => Error::Damaged { path, action, source },
            Some(ErrorCode::Unknown) if has_wrong_tables(&source) => Error::Damaged { path, action, source },
            Some(ErrorCode::DiskFull) => Error::Full { path, action, source },
            Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                Error::Unwritable { path, action, source }
            }
            _ => Error::Engine { path, action, outcome, source },
        }
    }
}

/// Tells whether a table, column or index is missing, or is there although it should not be.
fn has_wrong_tables(error: &rusqlite::Error) -> bool {
    let text = error.to_string();
    ["no such table", "no such column", "no such index", "already exists", "duplicate column"]
        .iter()
        .any(|part| text.contains(part))
}

/// Leaves the statement out of an error: a migration has thousands of characters.
fn without_statement(error: Arc<rusqlite::Error>) -> Arc<rusqlite::Error> {
    match &*error {
        rusqlite::Error::SqlInputError { error, msg, .. } => {
            Arc::new(rusqlite::Error::SqliteFailure(*error, Some(msg.clone())))
        }
        _ => error,
    }
}

/// Tells whether a row has values that this program does not write.
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
    fn a_failed_sync_has_an_unknown_outcome_and_a_full_disk_does_not() {
        let outcome = |code| error(Failure::of_commit(sqlite(code))).outcome();
        assert_eq!(outcome(ffi::SQLITE_IOERR_FSYNC), Outcome::Unknown);
        assert_eq!(outcome(ffi::SQLITE_IOERR_WRITE), Outcome::Unknown);
        assert_eq!(outcome(ffi::SQLITE_FULL), Outcome::Aborted);
        assert_eq!(outcome(ffi::SQLITE_BUSY), Outcome::Aborted);
    }

    #[test]
    fn no_error_mentions_a_locked_database() {
        for code in
            [ffi::SQLITE_BUSY, ffi::SQLITE_BUSY_RECOVERY, ffi::SQLITE_BUSY_SNAPSHOT, ffi::SQLITE_LOCKED]
        {
            let error = error(sqlite(code).into());
            assert_eq!(error.code(), "store-busy");
            let shown = format!("{error} {error:?}");
            assert!(!shown.contains("locked"), "{shown}");
            assert!(shown.contains("to seal a changeset"), "{shown}");
        }
    }

    #[test]
    fn each_sqlite_code_maps_to_an_error() {
        let code = |code| error(sqlite(code).into()).code();
        assert_eq!(code(ffi::SQLITE_NOTADB), "not-a-store");
        assert_eq!(code(ffi::SQLITE_CORRUPT), "store-damaged");
        assert_eq!(code(ffi::SQLITE_FULL), "store-full");
        assert_eq!(code(ffi::SQLITE_CANTOPEN), "store-unwritable");
        assert_eq!(code(ffi::SQLITE_READONLY_DIRECTORY), "store-unwritable");
        assert_eq!(code(ffi::SQLITE_IOERR_READ), "store-engine");
        assert_eq!(code(ffi::SQLITE_PROTOCOL), "store-busy");
        assert_eq!(code(ffi::SQLITE_ERROR), "store-engine");
        assert_eq!(error(Failure::Stopped).code(), "store-stopped");
        assert_eq!(error(rusqlite::Error::IntegralValueOutOfRange(0, -1).into()).code(), "store-damaged");
    }
}
