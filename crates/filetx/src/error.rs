//! Errors, by what a caller can do about them, and the outcome of a failed commit.

use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use crate::disk::FileKind;
use crate::{Holder, Step};

/// Reason of a failed call. The `source` is the cause that the system gave, if any.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The path cannot name anything below a root.
    #[error("`{}` is not a path below a root: {reason}", path.display())]
    BadPath {
        /// The path as the caller gave it.
        path: PathBuf,
        /// The rule it breaks.
        reason: &'static str,
    },
    /// The disk refused a call.
    #[error("cannot {step} `{}`", path.display())]
    Io {
        /// The step of the protocol.
        step: Step,
        /// The file or folder of the call.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Another holder kept the lock until the timeout.
    #[error("lock `{}` is still held{} after {:.1} s", lock.display(), by(holder), waited.as_secs_f64())]
    Busy {
        /// The lock file.
        lock: PathBuf,
        /// The process that holds the lock, if known.
        holder: Option<Holder>,
        /// Duration of the wait.
        waited: Duration,
    },
    /// This thread already holds the lock: waiting would never end.
    #[error("lock `{}` is already held by this thread, acquired at {at}", lock.display())]
    AlreadyHeld {
        /// The lock file.
        lock: PathBuf,
        /// The call that acquired it.
        at: &'static Location<'static>,
    },
    /// Another program removed or replaced the lock file while the lock was held, so it protects
    /// nothing.
    #[error("lock file `{}` was removed or replaced while it was held", lock.display())]
    LockFileReplaced {
        /// The lock file.
        lock: PathBuf,
    },
    /// Another process moved, removed or replaced the folder after it was opened, so another lock
    /// protects it.
    #[error("folder `{}` was moved or removed after it was opened", folder.display())]
    FolderMoved {
        /// The path that was opened.
        folder: PathBuf,
    },
    /// Locks are unreliable on this file system.
    #[error("`{}` is on a network file system ({kind}), where locks are unreliable", path.display())]
    NetworkFileSystem {
        /// The lock file.
        path: PathBuf,
        /// Name of the file system.
        kind: &'static str,
    },
    /// Another program changed a file of an own folder: its length or its tail is not the recorded
    /// one.
    #[error("another program modified `{}`: {reason}", path.display())]
    ModifiedExternally {
        /// The file.
        path: PathBuf,
        /// The difference.
        reason: String,
    },
    /// The path must exist and does not.
    #[error("`{}` does not exist", path.display())]
    NotFound {
        /// The path.
        path: PathBuf,
    },
    /// The path must be free and is not.
    #[error("`{}` already exists", path.display())]
    Exists {
        /// The path.
        path: PathBuf,
    },
    /// The path names another kind of file than the operation needs.
    #[error("`{}` is {}, not {expected}", path.display(), kind_name(*found))]
    WrongFileKind {
        /// The path.
        path: PathBuf,
        /// The kind at the path.
        found: FileKind,
        /// The kind that the operation needs.
        expected: &'static str,
    },
    /// A folder to remove or to replace by a file is not empty.
    #[error("folder `{}` is not empty", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// The path is on another mount than the transaction folder of its root, so no rename can reach
    /// it.
    #[error("`{}` is on another mount than its root", path.display())]
    CrossMount {
        /// The path.
        path: PathBuf,
    },
    /// This process cannot replace, remove or change the path. Found before the commit point.
    #[error("cannot replace `{}`: {obstacle}", path.display())]
    CannotReplace {
        /// The path.
        path: PathBuf,
        /// The reason.
        obstacle: Obstacle,
    },
    /// The transaction folder of a root, or a folder above it in the root, belongs to another user.
    /// Nothing was read from it or created.
    #[error("`{}` belongs to user {owner}, and a root belongs to one user", path.display())]
    OtherUser {
        /// The folder.
        path: PathBuf,
        /// User id of the owner.
        owner: u32,
    },
    /// The path is inside the transaction folder.
    #[error("`{}` is inside the transaction folder", path.display())]
    ReservedPath {
        /// The path.
        path: PathBuf,
    },
    /// A journal that was complete cannot be read. Recovery changed nothing.
    #[error("journal `{}` is corrupt: {reason}", path.display())]
    CorruptJournal {
        /// The journal.
        path: PathBuf,
        /// The check that failed.
        reason: &'static str,
    },
    /// A newer program wrote this journal. Recovery changed nothing.
    #[error("journal `{}` has format version {found}; this program supports version {known}", path.display())]
    UnsupportedVersion {
        /// The journal.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest version that this program reads.
        known: u32,
    },
    /// The caller does not vouch for an unfinished transaction. Recovery changed nothing.
    #[error("journal `{}` is not trusted: {reason}; nothing was touched", path.display())]
    UntrustedJournal {
        /// The journal, or the pointer to it.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The caller cannot find out now whether an unfinished transaction is its own. Recovery
    /// changed nothing.
    #[error("cannot tell now whether journal `{}` is ours; nothing was touched", path.display())]
    CannotVouch {
        /// The journal, or the pointer to it.
        path: PathBuf,
        /// The error of the caller.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A root of an unfinished transaction is missing or was replaced.
    #[error("root `{}` of an unfinished transaction is unavailable: {reason}", path.display())]
    RootUnavailable {
        /// The root.
        path: PathBuf,
        /// State of the root.
        reason: &'static str,
    },
    /// The call exceeds a named limit.
    #[error("{what} would exceed the limit of {limit}")]
    LimitExceeded {
        /// The limited quantity.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// A commit that this one was staged on failed, so this one was not written.
    #[error("a commit that this one builds on failed")]
    Superseded,
    /// The thread that led the group commit panicked.
    #[error("the thread that led this group commit panicked")]
    Panicked,
    /// The group commit that included this commit failed.
    #[error("the group commit that included this commit failed")]
    GroupCommit {
        /// The error, shared by all commits of the group.
        source: Arc<Error>,
    },
}

/// Reason why a path cannot be replaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Obstacle {
    /// The path has the immutable attribute.
    #[error("it is immutable")]
    Immutable,
    /// The path has the append-only attribute.
    #[error("it is append-only")]
    AppendOnly,
    /// The folder of the path has the append-only attribute.
    #[error("its folder is append-only")]
    FolderAppendOnly,
    /// Another user owns the path and its sticky folder.
    #[error("it belongs to user {owner}, in a sticky folder")]
    StickyFolder {
        /// User id of the owner of the path.
        owner: u32,
    },
    /// Another user owns the path, so its mode cannot change.
    #[error("it belongs to user {owner}, who alone can change its mode")]
    OtherOwner {
        /// User id of the owner.
        owner: u32,
    },
}

/// Result of the calls of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// The class of an error, by what its caller can do: the exit code of a command, the status of a
/// response.
#[derive(Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// An error without a class of its own.
    Error,
    /// The call was wrong.
    Usage,
    /// The named object does not exist.
    NotFound,
    /// Another object stands in the way, or another writer changed it.
    Conflict,
    /// Another holder kept the lock: try again.
    Busy,
    /// The next open decides whether the commit took effect.
    OutcomeUnknown,
    /// A bug of this program.
    Bug,
}

impl Error {
    /// Adds the step and the path to an error of the disk.
    pub(crate) fn io(step: Step, path: &Path) -> impl Fn(io::Error) -> Self + Copy {
        move |source| Self::Io { step, path: path.to_owned(), source }
    }

    fn classify(&self) -> (ErrorKind, &'static str) {
        match self {
            Self::BadPath { .. } => (ErrorKind::Usage, "bad-path"),
            Self::ReservedPath { .. } => (ErrorKind::Usage, "reserved-path"),
            Self::NotFound { .. } => (ErrorKind::NotFound, "not-found"),
            Self::Busy { .. } => (ErrorKind::Busy, "busy"),
            Self::ModifiedExternally { .. } => (ErrorKind::Conflict, "modified-externally"),
            Self::Exists { .. } => (ErrorKind::Conflict, "exists"),
            Self::NotEmpty { .. } => (ErrorKind::Conflict, "not-empty"),
            Self::AlreadyHeld { .. } => (ErrorKind::Bug, "already-held"),
            Self::GroupCommit { source } => source.classify(),
            Self::Io { source, .. } => (ErrorKind::Error, io_code(source)),
            Self::LockFileReplaced { .. } => (ErrorKind::Error, "lock-file-replaced"),
            Self::FolderMoved { .. } => (ErrorKind::NotFound, "folder-moved"),
            Self::NetworkFileSystem { .. } => (ErrorKind::Error, "network-file-system"),
            Self::CorruptJournal { .. } => (ErrorKind::Error, "corrupt-journal"),
            Self::UnsupportedVersion { .. } => (ErrorKind::Error, "unsupported-journal-version"),
            Self::UntrustedJournal { .. } => (ErrorKind::Conflict, "untrusted-journal"),
            Self::CannotVouch { .. } => (ErrorKind::Busy, "cannot-vouch"),
            Self::RootUnavailable { .. } => (ErrorKind::Error, "root-unavailable"),
            Self::WrongFileKind { .. } => (ErrorKind::Error, "wrong-file-kind"),
            Self::CrossMount { .. } => (ErrorKind::Error, "cross-mount"),
            Self::OtherUser { .. } => (ErrorKind::Error, "other-user"),
            Self::CannotReplace { .. } => (ErrorKind::Error, "cannot-replace"),
            Self::LimitExceeded { .. } => (ErrorKind::Error, "limit-exceeded"),
            Self::Superseded => (ErrorKind::Error, "superseded"),
            Self::Panicked => (ErrorKind::Error, "panicked"),
        }
    }
}

/// Implements `kind` and `code` for an error type with a `classify` method that returns both.
#[macro_export]
macro_rules! impl_kind_and_code {
    ($error:ty) => {
        impl $error {
            /// Class of the error.
            pub fn kind(&self) -> $crate::ErrorKind {
                self.classify().0
            }

            /// Stable name of the error, for scripts.
            pub fn code(&self) -> &'static str {
                self.classify().1
            }
        }
    };
}

impl_kind_and_code!(Error);
impl_kind_and_code!(Failure);

/// Code of an error of the system. Errors that a person can resolve have a code of their own.
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

/// A failed commit.
#[derive(Debug)]
pub struct Failure {
    /// State of the disk after the failure.
    pub outcome: FailureOutcome,
    /// Reason of the failure.
    pub error: Error,
}

/// State of the disk after a failed commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FailureOutcome {
    /// The commit changed nothing.
    Aborted,
    /// The next open finds the whole change or nothing of it.
    Unknown,
}

impl Failure {
    fn classify(&self) -> (ErrorKind, &'static str) {
        match self.outcome {
            FailureOutcome::Unknown => (ErrorKind::OutcomeUnknown, "outcome-unknown"),
            FailureOutcome::Aborted => self.error.classify(),
        }
    }

    pub(crate) fn aborted(error: Error) -> Self {
        Self { outcome: FailureOutcome::Aborted, error }
    }

    pub(crate) fn unknown(error: Error) -> Self {
        Self { outcome: FailureOutcome::Unknown, error }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.outcome {
            FailureOutcome::Aborted => "nothing was changed",
            FailureOutcome::Unknown => "the next open decides whether the change was made",
        })
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl From<Error> for Failure {
    /// An error before the commit point changed nothing.
    fn from(error: Error) -> Self {
        Self::aborted(error)
    }
}

fn by(holder: &Option<Holder>) -> String {
    holder.as_ref().map(|holder| format!(" by {holder}")).unwrap_or_default()
}

fn kind_name(kind: FileKind) -> &'static str {
    match kind {
        FileKind::File => "a file",
        FileKind::Folder => "a folder",
        FileKind::Symlink => "a symlink",
        FileKind::Other => "a FIFO, socket or device",
    }
}
