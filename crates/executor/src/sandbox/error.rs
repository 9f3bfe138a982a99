//! Errors of the folder tools.

use std::io;
use std::path::PathBuf;

use filetx::io_code;

/// The cause of a failed folder tool. The system's error, if there is one, is the `source`.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// A system call failed.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// The action, as a verb.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A path that must be free exists.
    #[error("`{}` already exists", path.display())]
    Exists {
        /// The path.
        path: PathBuf,
    },
    /// A limit would be exceeded.
    #[error("{what} would exceed the limit of {limit}")]
    TooLarge {
        /// The limited quantity.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// A file is longer than the limit.
    #[error("`{}` has {bytes} bytes; `sandbox.max-file-size` allows {limit}", path.display())]
    FileTooLarge {
        /// The file.
        path: PathBuf,
        /// Its length.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// A folder is nested too deeply.
    #[error("`{}` is nested deeper than {limit} folders", path.display())]
    TooDeep {
        /// The folder.
        path: PathBuf,
        /// The limit.
        limit: usize,
    },
    /// The call took longer than its caller allows. Changes made so far stay.
    #[error("timed out before it could {action} `{}`", path.display())]
    TimedOut {
        /// The action, as a verb.
        action: &'static str,
        /// The path at which it stopped.
        path: PathBuf,
    },
    /// The caller cancelled the call. Changes made so far stay.
    #[error("cancelled before it could {action} `{}`", path.display())]
    Cancelled {
        /// The action, as a verb.
        action: &'static str,
        /// The path at which it stopped.
        path: PathBuf,
    },
}

impl FileError {
    /// A failed system call on a path.
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>, source: impl Into<io::Error>) -> Self {
        Self::Io { action, path: path.into(), source: source.into() }
    }

    /// Stable name of the error, for scripts.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io { source, .. } => io_code(source),
            Self::Exists { .. } => "exists",
            Self::FileTooLarge { .. } => "file-too-large",
            Self::TooLarge { .. } | Self::TooDeep { .. } | Self::TimedOut { .. } | Self::Cancelled { .. } => {
                "files"
            }
        }
    }
}

/// The result of the folder tools.
pub type FileResult<T> = Result<T, FileError>;
