//! What can go wrong, by what a caller may do about it, and what a failed commit leaves.

use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use crate::disk::Kind;
use crate::{Holder, Step};

/// Why a call failed. The cause, where the system gave one, is the `source`.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The path cannot name anything below a root.
    #[error("`{}` is not a path below a root: {reason}", path.display())]
    BadPath {
        /// As it was given.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The disk refused a call.
    #[error("cannot {step} `{}`", path.display())]
    Io {
        /// What we were doing.
        step: Step,
        /// The file or folder concerned.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A lock stayed taken until the timeout.
    #[error("lock `{}` is still held{} after {:.1} s", lock.display(), by(holder), waited.as_secs_f64())]
    Busy {
        /// The lock file.
        lock: PathBuf,
        /// Who holds it, when that is known.
        holder: Option<Holder>,
        /// How long we waited.
        waited: Duration,
    },
    /// This thread holds the lock already: waiting would never end.
    #[error("lock `{}` is already held by this thread, taken at {at}", lock.display())]
    AlreadyHeld {
        /// The lock file.
        lock: PathBuf,
        /// Where in the source it was taken.
        at: &'static Location<'static>,
    },
    /// The lock file was removed or replaced while it was held, so it protects nothing any more.
    #[error("lock file `{}` was removed or replaced while it was held", lock.display())]
    LockGone {
        /// The lock file.
        lock: PathBuf,
    },
    /// A folder was moved, removed or replaced after it was opened, so its lock is not this one any more.
    #[error("folder `{}` was moved or removed since it was opened", folder.display())]
    FolderGone {
        /// The folder, where it was.
        folder: PathBuf,
    },
    /// Locks are not reliable on this file system.
    #[error("`{}` is on a network file system ({kind}), where locks are not sure", path.display())]
    NetworkFileSystem {
        /// What was to be locked.
        path: PathBuf,
        /// The file system's name.
        kind: &'static str,
    },
    /// A file that this program alone appends to has another length or end than it was left with.
    #[error("`{}` was changed by someone else: {reason}", path.display())]
    Drifted {
        /// The file.
        path: PathBuf,
        /// How we can tell.
        reason: String,
    },
    /// Nothing is at a path that must exist.
    #[error("`{}` does not exist", path.display())]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// Something is at a path that must be free.
    #[error("`{}` exists already", path.display())]
    Exists {
        /// The path.
        path: PathBuf,
    },
    /// A path names another kind of thing than the operation needs.
    #[error("`{}` is {}, not {expected}", path.display(), kind_name(*found))]
    WrongKind {
        /// The path.
        path: PathBuf,
        /// What is there.
        found: Kind,
        /// What the operation needs.
        expected: &'static str,
    },
    /// A folder that is to go, or to become a file, is not empty.
    #[error("folder `{}` is not empty", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// A path is on another mount than its root's transaction folder, so a file cannot be moved there atomically.
    #[error("`{}` is on another mount than its root", path.display())]
    OtherMount {
        /// The path.
        path: PathBuf,
    },
    /// A path is inside the folder that holds the transaction itself.
    #[error("`{}` is inside the transaction folder", path.display())]
    Reserved {
        /// The path.
        path: PathBuf,
    },
    /// A journal that was written whole does not read back. Nothing was touched.
    #[error("journal `{}` is damaged: {reason}", path.display())]
    Damaged {
        /// The journal.
        path: PathBuf,
        /// What does not fit.
        reason: &'static str,
    },
    /// A newer program wrote this journal. Nothing was touched.
    #[error("journal `{}` has format version {found}; this program knows version {known}", path.display())]
    UnknownVersion {
        /// The journal.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest this program reads.
        known: u32,
    },
    /// A transaction over several roots waits to be finished, and one of its roots is not what it was.
    #[error("root `{}` of an unfinished transaction cannot be used: {reason}", path.display())]
    RootGone {
        /// The root.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A named limit would be passed.
    #[error("{what} would pass the limit of {limit}")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much is allowed.
        limit: u64,
    },
    /// A commit that this one was staged on failed, so this one was not begun.
    #[error("a commit that this one builds on failed")]
    Superseded,
    /// The thread that wrote a group of commits panicked.
    #[error("the thread that wrote this commit with others panicked")]
    Panicked,
    /// The commits of several threads were written together, and that failed.
    #[error("the group of commits that this one was in failed")]
    Group {
        /// Why, for all of them.
        source: Arc<Error>,
    },
}

/// The result of this crate's calls.
pub type Result<T> = std::result::Result<T, Error>;

/// The class of an error, by what its caller can do: the exit code of a command, the status of a response.
#[derive(Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// Something failed.
    Error,
    /// The call was wrong.
    Usage,
    /// The named object does not exist.
    NotFound,
    /// Another object stands in the way, or another writer changed it.
    Conflict,
    /// A lock stayed taken: try again.
    Busy,
    /// The next open finds out whether the commit took effect.
    OutcomeUnknown,
    /// A bug of this program.
    Bug,
}

impl Error {
    /// Says what was being done to which path when the disk refused.
    pub(crate) fn io(step: Step, path: &Path) -> impl Fn(io::Error) -> Self + Copy {
        move |source| Self::Io { step, path: path.to_owned(), source }
    }

    /// Class of the error.
    pub fn kind(&self) -> ErrorKind {
        self.classify().0
    }

    /// Stable name of the error, for scripts.
    pub fn code(&self) -> &'static str {
        self.classify().1
    }

    fn classify(&self) -> (ErrorKind, &'static str) {
        match self {
            Self::BadPath { .. } => (ErrorKind::Usage, "bad-path"),
            Self::Reserved { .. } => (ErrorKind::Usage, "reserved-path"),
            Self::Missing { .. } => (ErrorKind::NotFound, "not-found"),
            Self::Busy { .. } => (ErrorKind::Busy, "busy"),
            Self::Drifted { .. } => (ErrorKind::Conflict, "drifted"),
            Self::Exists { .. } => (ErrorKind::Conflict, "exists"),
            Self::NotEmpty { .. } => (ErrorKind::Conflict, "not-empty"),
            Self::AlreadyHeld { .. } => (ErrorKind::Bug, "already-held"),
            Self::Group { source } => source.classify(),
            Self::Io { source, .. } => (ErrorKind::Error, io_code(source)),
            Self::LockGone { .. } => (ErrorKind::Error, "lock-gone"),
            Self::FolderGone { .. } => (ErrorKind::NotFound, "folder-gone"),
            Self::NetworkFileSystem { .. } => (ErrorKind::Error, "network-file-system"),
            Self::Damaged { .. } => (ErrorKind::Error, "damaged-journal"),
            Self::UnknownVersion { .. } => (ErrorKind::Error, "newer-journal"),
            Self::RootGone { .. } => (ErrorKind::Error, "root-gone"),
            Self::WrongKind { .. }
            | Self::OtherMount { .. }
            | Self::TooLarge { .. }
            | Self::Superseded
            | Self::Panicked => (ErrorKind::Error, "files"),
        }
    }
}

/// Code of an error of the system; those that a person can do something about have one of their own.
pub fn io_code(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "permission-denied",
        io::ErrorKind::ReadOnlyFilesystem => "read-only",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "disk-full",
        _ => "io",
    }
}

/// The causes of an error, nearest first.
pub fn causes<'a>(
    error: &'a dyn std::error::Error,
) -> impl Iterator<Item = &'a (dyn std::error::Error + 'static)> {
    std::iter::successors(error.source(), |cause| cause.source())
}

/// An error with its causes, in one line.
pub fn error_chain(error: &dyn std::error::Error) -> String {
    causes(error).fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// A commit that did not succeed, and what it left.
#[derive(Debug)]
pub struct Failure {
    /// What is on the disk now.
    pub left: Left,
    /// Why.
    pub error: Error,
}

/// What a failed commit left on the disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Left {
    /// *Aborted*: everything is as it was before.
    Nothing,
    /// *Unknown until the next open*, which finds all of the change or nothing of it.
    Unknown,
}

impl Failure {
    /// Class of the failure.
    pub fn kind(&self) -> ErrorKind {
        match self.left {
            Left::Unknown => ErrorKind::OutcomeUnknown,
            Left::Nothing => self.error.kind(),
        }
    }

    /// Stable name of the failure, for scripts.
    pub fn code(&self) -> &'static str {
        match self.left {
            Left::Unknown => "outcome-unknown",
            Left::Nothing => self.error.code(),
        }
    }

    pub(crate) fn aborted(error: Error) -> Self {
        Self { left: Left::Nothing, error }
    }

    pub(crate) fn unknown(error: Error) -> Self {
        Self { left: Left::Unknown, error }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.left {
            Left::Nothing => "nothing was changed",
            Left::Unknown => "whether the change was made is known at the next open",
        })
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl From<Error> for Failure {
    /// An error before the commit began changed nothing.
    fn from(error: Error) -> Self {
        Self::aborted(error)
    }
}

fn by(holder: &Option<Holder>) -> String {
    holder.as_ref().map(|holder| format!(" by {holder}")).unwrap_or_default()
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "a file",
        Kind::Folder => "a folder",
        Kind::Symlink => "a symlink",
        Kind::Other => "a FIFO, socket or device",
    }
}
