//! Errors of contexts, one variant per remedy, and the outcome of a failed call.

use std::io;
use std::path::PathBuf;

use filetx::ErrorKind;

use crate::{JsonError, MessageError, MessageId, Name, Revision};

/// Error of a call. Its `source` is the cause, if there is one. [`Error::outcome`] tells the state
/// on disk.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is not a valid name. Nothing was looked up.
    #[error("`{name}` is not a valid context name: {reason}")]
    InvalidName {
        /// Name as given, shortened.
        name: String,
        /// Rule that it breaks.
        reason: &'static str,
    },
    /// No context has this name.
    #[error("there is no context `{name}`")]
    NotFound {
        /// Name as given.
        name: Name,
    },
    /// A context of this name already exists.
    #[error("context `{name}` already exists")]
    Exists {
        /// Name of the existing context.
        name: Name,
    },
    /// The context changed since the revision that the caller expects.
    #[error("context `{name}` is at revision {current}, not {expected}; nothing was changed")]
    Stale {
        /// Name of the context.
        name: Name,
        /// Revision that the caller expects.
        expected: Revision,
        /// Revision of the context.
        current: Revision,
    },
    /// A new message is invalid.
    #[error("message {number} cannot be appended")]
    Message {
        /// Number among the given messages, counted from 1.
        number: u64,
        /// Error of the message.
        source: MessageError,
    },
    /// The id of a new message is not greater than those before it.
    #[error("message id {id} is not greater than {last}")]
    IdNotIncreasing {
        /// Id of the new message.
        id: MessageId,
        /// Last id of the context.
        last: MessageId,
    },
    /// The content of a file is invalid. The file is left as it is.
    #[error("`{}`{} is damaged", file.display(), at(*line, *column))]
    Damaged {
        /// Path of the file.
        file: PathBuf,
        /// Line, counted from 1.
        line: Option<u64>,
        /// Column, counted from 1.
        column: Option<u64>,
        /// Error of the content.
        source: Box<Damage>,
    },
    /// Another program added, removed or changed messages. They are left as they are.
    #[error("`{}` was modified by another program: {recorded}, {actual}", file.display())]
    ModifiedExternally {
        /// Path of the file.
        file: PathBuf,
        /// State that the metadata record.
        recorded: String,
        /// State of the file.
        actual: String,
    },
    /// The context has messages of an older tool and of this one.
    #[error("`{}` has both messages.json and messages.jsonl", folder.display())]
    AmbiguousLayout {
        /// Path of the folder.
        folder: PathBuf,
    },
    /// A newer program wrote this context. Nothing was changed.
    #[error("`{}` has format {version}; this program supports format {supported}", file.display())]
    Newer {
        /// File that has the format.
        file: PathBuf,
        /// Format of the context.
        version: u64,
        /// Newest format that this program supports.
        supported: u64,
    },
    /// The context has fewer messages than requested.
    #[error("context `{name}` has {}, fewer than {requested}", messages(*count))]
    OutOfRange {
        /// Name of the context.
        name: Name,
        /// Requested number of messages.
        requested: u64,
        /// Number of messages of the context.
        count: u64,
    },
    /// Messages were removed or replaced during a read.
    #[error("context `{name}` was rewound or replaced during the read")]
    Rewritten {
        /// Name of the context.
        name: Name,
    },
    /// The state or the global context is not a JSON object.
    #[error("{what} must be a JSON object")]
    NotAnObject {
        /// Document that is not an object.
        what: &'static str,
    },
    /// A limit would be exceeded.
    #[error("{what} would exceed the limit of {limit} bytes")]
    TooLarge {
        /// Object that is too large.
        what: &'static str,
        /// Limit in bytes.
        limit: u64,
    },
    /// The import failed. Nothing was changed.
    #[error("cannot import `{}`", from.display())]
    Import {
        /// File or folder to import.
        from: PathBuf,
        /// Error of its content.
        source: Box<ImportError>,
    },
    /// Writing the export failed. The context is unchanged.
    #[error("cannot write the export")]
    Export {
        /// Error of the system.
        source: io::Error,
    },
    /// The folder of contexts, or one in it, is unusable. Nothing was changed.
    #[error("cannot {action} `{}`", path.display())]
    Folder {
        /// Action that failed.
        action: &'static str,
        /// File or folder.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// Reading a context or preparing a change failed. Nothing was changed.
    #[error("cannot {action} context `{name}`")]
    Files {
        /// Action that failed.
        action: &'static str,
        /// Name of the context.
        name: Name,
        /// Cause.
        source: Box<filetx::Error>,
    },
    /// A commit failed. The source and [`Error::outcome`] tell the state on disk.
    #[error("cannot {action} context `{name}`")]
    Commit {
        /// Action that failed.
        action: &'static str,
        /// Name of the context.
        name: Name,
        /// Cause and outcome.
        source: Box<filetx::Failure>,
    },
    /// A folder was moved, and a power cut may revert the move.
    #[error("context `{name}` was moved, but a power cut may revert that")]
    Unsynced {
        /// Name of the context.
        name: Name,
        /// Error of the system.
        source: io::Error,
    },
}

/// State on disk after a failed call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// *Aborted*: nothing was changed.
    Aborted,
    /// *Unknown until the next open*, which finds all of the change or nothing of it.
    Unknown,
}

/// Error of the content of a context's file.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    /// The file is not valid JSON.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// A line is not a message.
    #[error(transparent)]
    Message(#[from] MessageError),
    /// The JSON value has the wrong type.
    #[error("it must hold {expected}")]
    WrongType {
        /// Expected content.
        expected: &'static str,
    },
    /// The file is too large to read.
    #[error("it has more than {limit} bytes")]
    TooLarge {
        /// Limit in bytes.
        limit: u64,
    },
}

/// Error of the content of an import.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// Reading failed.
    #[error("reading it failed")]
    Read(#[source] io::Error),
    /// The format is unknown.
    #[error("it is not an archive, a list of chat messages, or a folder with messages.json")]
    UnknownFormat,
    /// A newer program wrote it.
    #[error("it is an archive of version {version}; this program supports version {supported}")]
    Newer {
        /// Version of the archive.
        version: u64,
        /// Newest version that this program supports.
        supported: u64,
    },
    /// The archive has no last line.
    #[error("it ends after line {line}")]
    Truncated {
        /// Last line of the archive.
        line: u64,
    },
    /// The content does not match the checksum.
    #[error("its checksum is {actual}, not {recorded}")]
    Checksum {
        /// Checksum in the archive.
        recorded: String,
        /// Checksum of the content.
        actual: String,
    },
    /// A line is invalid.
    #[error("line {line} is invalid")]
    Line {
        /// Line, counted from 1.
        line: u64,
        /// Error of the line.
        source: Damage,
    },
    /// A message of a list is invalid.
    #[error("message {number} is invalid")]
    Element {
        /// Number of the message, counted from 1.
        number: u64,
        /// Error of the message.
        source: Damage,
    },
    /// A line is out of order.
    #[error("line {line} is out of order: {reason}")]
    Order {
        /// Line, counted from 1.
        line: u64,
        /// Rule that it breaks.
        reason: &'static str,
    },
    /// A file of a folder is invalid.
    #[error("its `{file}` is invalid")]
    File {
        /// Name of the file.
        file: &'static str,
        /// Error of the file.
        source: Damage,
    },
}

filetx::impl_kind_and_code!(Error);

impl Error {
    fn classify(&self) -> (ErrorKind, &'static str) {
        match self {
            Self::InvalidName { .. } => (ErrorKind::Usage, "invalid-name"),
            Self::NotFound { .. } => (ErrorKind::NotFound, "no-context"),
            Self::Exists { .. } => (ErrorKind::Conflict, "exists"),
            Self::Stale { .. } => (ErrorKind::Conflict, "stale"),
            Self::Message { .. } => (ErrorKind::Usage, "invalid-message"),
            Self::IdNotIncreasing { .. } => (ErrorKind::Conflict, "id-not-increasing"),
            Self::Damaged { .. } => (ErrorKind::Error, "damaged"),
            Self::ModifiedExternally { .. } => (ErrorKind::Conflict, "modified-externally"),
            Self::AmbiguousLayout { .. } => (ErrorKind::Conflict, "ambiguous-layout"),
            Self::Newer { .. } => (ErrorKind::Error, "newer-format"),
            Self::OutOfRange { .. } => (ErrorKind::Usage, "out-of-range"),
            Self::Rewritten { .. } => (ErrorKind::Conflict, "rewritten"),
            Self::NotAnObject { .. } => (ErrorKind::Usage, "not-an-object"),
            Self::TooLarge { .. } => (ErrorKind::Usage, "too-large"),
            Self::Import { source, .. } => match &**source {
                ImportError::Read(cause) if cause.kind() == io::ErrorKind::NotFound => {
                    (ErrorKind::NotFound, "no-file")
                }
                _ => (ErrorKind::Error, "invalid-import"),
            },
            Self::Export { .. } => (ErrorKind::Error, "export"),
            Self::Folder { .. } => (ErrorKind::Error, "io"),
            Self::Files { source, .. } => (source.kind(), source.code()),
            Self::Commit { source, .. } => (source.kind(), source.code()),
            Self::Unsynced { .. } => (ErrorKind::OutcomeUnknown, "outcome-unknown"),
        }
    }

    pub(crate) fn files(action: &'static str, name: &Name, source: filetx::Error) -> Error {
        Error::Files { action, name: name.clone(), source: Box::new(source) }
    }

    /// A folder that another process removed or moved is not a context.
    pub(crate) fn begin(action: &'static str, name: &Name, source: filetx::Error) -> Error {
        match source {
            filetx::Error::FolderMoved { .. } => Error::NotFound { name: name.clone() },
            source => Error::files(action, name, source),
        }
    }

    pub(crate) fn commit(action: &'static str, name: &Name, source: filetx::Failure) -> Error {
        Error::Commit { action, name: name.clone(), source: Box::new(source) }
    }

    /// State on disk after the failed call: *aborted*, or *unknown until the next open*. The third
    /// outcome, *committed, publishing will finish at the next open*, is a success: see
    /// [`SaveSummary::pending`](crate::SaveSummary::pending).
    pub fn outcome(&self) -> Outcome {
        match self {
            Error::Commit { source, .. } if source.outcome == filetx::FailureOutcome::Unknown => {
                Outcome::Unknown
            }
            Error::Unsynced { .. } => Outcome::Unknown,
            _ => Outcome::Aborted,
        }
    }
}

/// `1 message`, `2 messages`.
fn messages(count: u64) -> String {
    format!("{count} message{}", if count == 1 { "" } else { "s" })
}

fn at(line: Option<u64>, column: Option<u64>) -> String {
    let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
    line + &column.map(|column| format!(", column {column}")).unwrap_or_default()
}
