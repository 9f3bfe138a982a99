//! Errors of the files around sandboxes.

use std::io;
use std::path::PathBuf;

use filetx::io_code;

/// Why a folder tool failed. The cause, where the system gave one, is the `source`.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The disk refused a call.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// The call, as a verb.
        action: &'static str,
        /// The file or folder concerned.
        path: PathBuf,
        /// The answer of the system.
        source: io::Error,
    },
    /// Something is at a path that must be free.
    #[error("`{}` exists already", path.display())]
    Exists {
        /// The path.
        path: PathBuf,
    },
    /// A named limit would be exceeded.
    #[error("{what} would pass the limit of {limit}")]
    TooLarge {
        /// The quantity that is limited.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// The caller asked for an end. Everything done before stays.
    #[error("cancelled while about to {action} `{}`", path.display())]
    Cancelled {
        /// The call, as a verb.
        action: &'static str,
        /// The path reached.
        path: PathBuf,
    },
}

impl FileError {
    /// An answer of the system about a path.
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>, source: impl Into<io::Error>) -> Self {
        Self::Io { action, path: path.into(), source: source.into() }
    }

    /// Stable name of the error, for scripts.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io { source, .. } => io_code(source),
            Self::Exists { .. } => "exists",
            Self::TooLarge { .. } | Self::Cancelled { .. } => "files",
        }
    }
}

/// The result of the folder tools.
pub type FileResult<T> = Result<T, FileError>;
