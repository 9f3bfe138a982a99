//! What can go wrong, by what a caller may do about it, and what a failed call left.

use std::io;
use std::path::PathBuf;

use filetx::ErrorKind;

use crate::{MessageId, Name, NotAMessage, NotJson, Revision};

/// Why a call failed. The cause, where there is one, is the `source`. What a failed call left on the disk: [`Error::left`].
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text cannot name a context. Nothing was looked up.
    #[error("`{name}` cannot be the name of a context: {reason}")]
    BadName {
        /// As it was given, shortened.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// There is no context of this name.
    #[error("there is no context `{name}`")]
    NotFound {
        /// The name.
        name: Name,
    },
    /// There is a context of this name already.
    #[error("there is a context `{name}` already")]
    Exists {
        /// The name.
        name: Name,
    },
    /// Somebody else changed the context since the caller read it, and the caller asked to be told.
    #[error("context `{name}` is at revision {current}, not {expected}")]
    Stale {
        /// The context.
        name: Name,
        /// What the caller expected.
        expected: Revision,
        /// What it is.
        current: Revision,
    },
    /// A new message is not one.
    #[error("message {number} cannot be appended")]
    Message {
        /// Which of those that were given, counted from 1.
        number: u64,
        /// What is wrong with it.
        source: NotAMessage,
    },
    /// A new message brings an id that is not greater than those before it.
    #[error("message id {id} does not come after {last}")]
    IdNotRising {
        /// The id that was given.
        id: MessageId,
        /// The last one of the context.
        last: MessageId,
    },
    /// A file cannot be read as what it should be. It is left as it is.
    #[error("`{}`{} is damaged", file.display(), at(*line, *column))]
    Damaged {
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: Option<u64>,
        /// The column, counted from 1.
        column: Option<u64>,
        /// What is wrong with it.
        source: Box<Damage>,
    },
    /// The messages are not as this program left them: somebody else added, removed or changed lines. They are left as they are.
    #[error("`{}` was changed by someone else: {recorded}, {found}", file.display())]
    Edited {
        /// The file.
        file: PathBuf,
        /// What the metadata say.
        recorded: String,
        /// What is there.
        found: String,
    },
    /// Messages of an older tool and of this one stand side by side.
    #[error("`{}` has messages of two layouts, messages.json and messages.jsonl", folder.display())]
    BothLayouts {
        /// The folder.
        folder: PathBuf,
    },
    /// A newer program wrote this context. Nothing was touched.
    #[error("`{}` has format {found}; this program knows format {known}", file.display())]
    Newer {
        /// The file that says so.
        file: PathBuf,
        /// Its format.
        found: u64,
        /// The newest that this program knows.
        known: u64,
    },
    /// There are fewer messages than that.
    #[error("context `{name}` has {count} messages, not {asked}")]
    OutOfRange {
        /// The context.
        name: Name,
        /// The number that was asked for.
        asked: u64,
        /// How many there are.
        count: u64,
    },
    /// Messages were cut or replaced while they were read.
    #[error("context `{name}` was rewound or replaced while it was read")]
    Rewritten {
        /// The context.
        name: Name,
    },
    /// State and global context are objects.
    #[error("{what} must be a JSON object")]
    NotAnObject {
        /// Which of the two.
        what: &'static str,
    },
    /// A named limit would be passed.
    #[error("{what} would pass the limit of {limit} bytes")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much is allowed.
        limit: u64,
    },
    /// What is to be imported cannot be. Nothing was changed.
    #[error("cannot import `{}`", from.display())]
    Import {
        /// The file or folder.
        from: PathBuf,
        /// Why not.
        source: Box<ImportProblem>,
    },
    /// An export could not be written. The context is not changed by it.
    #[error("cannot write the export")]
    Export {
        /// What the system said.
        source: io::Error,
    },
    /// The folder of contexts, or one in it, cannot be used. Nothing was changed.
    #[error("cannot {doing} `{}`", path.display())]
    Folder {
        /// What we were doing.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A context could not be read, or a change not be prepared. Nothing was changed.
    #[error("cannot {doing} context `{name}`")]
    Files {
        /// What we were doing.
        doing: &'static str,
        /// The context.
        name: Name,
        /// Why.
        source: Box<filetx::Error>,
    },
    /// A commit failed. The source says what it left, and so does [`Error::left`].
    #[error("cannot {doing} context `{name}`")]
    Commit {
        /// What we were doing.
        doing: &'static str,
        /// The context.
        name: Name,
        /// Why, and what it left.
        source: Box<filetx::Failure>,
    },
    /// A folder was moved, and the move may be lost in a power cut.
    #[error("context `{name}` was moved, but a power cut may undo that")]
    Unsynced {
        /// The context.
        name: Name,
        /// What the system said.
        source: io::Error,
    },
}

/// What a failed call left on the disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Left {
    /// *Aborted*: everything is as it was before.
    Nothing,
    /// *Unknown until the next open*, which finds all of the change or nothing of it.
    Unknown,
}

/// What is wrong with a file of a context.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    /// It does not parse.
    #[error(transparent)]
    Json(#[from] NotJson),
    /// A line is no message.
    #[error(transparent)]
    Message(#[from] NotAMessage),
    /// It is JSON of another kind.
    #[error("it must hold {expected}")]
    Kind {
        /// What it must hold.
        expected: &'static str,
    },
    /// It is too large to be read.
    #[error("it has more than {limit} bytes")]
    TooLarge {
        /// How much is read.
        limit: u64,
    },
}

/// What is wrong with something that is to be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportProblem {
    /// It could not be read.
    #[error("it cannot be read")]
    Read(#[source] io::Error),
    /// Its content is none of the known forms.
    #[error("it is neither an archive, nor a list of chat messages, nor a folder with messages.json")]
    UnknownForm,
    /// A newer program wrote it.
    #[error("it is an archive of version {found}; this program knows version {known}")]
    Newer {
        /// Its version.
        found: u64,
        /// The newest that this program knows.
        known: u64,
    },
    /// It ends before its last line.
    #[error("it is cut off after line {line}")]
    Truncated {
        /// The last line that is there.
        line: u64,
    },
    /// It is not what its checksum was made for.
    #[error("its checksum is {found}, not {recorded}")]
    Checksum {
        /// What it says.
        recorded: String,
        /// What it comes to.
        found: String,
    },
    /// A line or an element is wrong.
    #[error("line {line} is wrong")]
    Line {
        /// Its number, counted from 1.
        line: u64,
        /// What is wrong with it.
        source: Damage,
    },
    /// A message of a list is wrong.
    #[error("message {number} is wrong")]
    Element {
        /// Its number, counted from 1.
        number: u64,
        /// What is wrong with it.
        source: Damage,
    },
    /// A line is of a kind that does not belong there.
    #[error("line {line} does not belong there: {reason}")]
    Order {
        /// Its number, counted from 1.
        line: u64,
        /// Why not.
        reason: &'static str,
    },
    /// A file of a folder is wrong.
    #[error("its `{file}` is wrong")]
    File {
        /// Its name.
        file: &'static str,
        /// What is wrong with it.
        source: Damage,
    },
}

impl Error {
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
            Self::BadName { .. } => (ErrorKind::Usage, "bad-name"),
            Self::NotFound { .. } => (ErrorKind::NotFound, "no-context"),
            Self::Exists { .. } => (ErrorKind::Conflict, "exists"),
            Self::Stale { .. } => (ErrorKind::Conflict, "stale"),
            Self::Message { .. } => (ErrorKind::Usage, "bad-message"),
            Self::IdNotRising { .. } => (ErrorKind::Conflict, "id-not-rising"),
            Self::Damaged { .. } => (ErrorKind::Error, "damaged"),
            Self::Edited { .. } => (ErrorKind::Conflict, "edited"),
            Self::BothLayouts { .. } => (ErrorKind::Conflict, "two-layouts"),
            Self::Newer { .. } => (ErrorKind::Error, "newer-format"),
            Self::OutOfRange { .. } => (ErrorKind::Usage, "out-of-range"),
            Self::Rewritten { .. } => (ErrorKind::Conflict, "rewritten"),
            Self::NotAnObject { .. } => (ErrorKind::Usage, "not-an-object"),
            Self::TooLarge { .. } => (ErrorKind::Usage, "too-large"),
            Self::Import { source, .. } => match &**source {
                ImportProblem::Read(cause) if cause.kind() == io::ErrorKind::NotFound => {
                    (ErrorKind::NotFound, "no-file")
                }
                _ => (ErrorKind::Error, "bad-import"),
            },
            Self::Export { .. } => (ErrorKind::Error, "export"),
            Self::Folder { .. } => (ErrorKind::Error, "io"),
            Self::Files { source, .. } => (source.kind(), source.code()),
            Self::Commit { source, .. } => (source.kind(), source.code()),
            Self::Unsynced { .. } => (ErrorKind::OutcomeUnknown, "outcome-unknown"),
        }
    }

    pub(crate) fn files(doing: &'static str, name: &Name, source: filetx::Error) -> Error {
        Error::Files { doing, name: name.clone(), source: Box::new(source) }
    }

    /// A folder that another process removed or moved is no context.
    pub(crate) fn not_begun(doing: &'static str, name: &Name, source: filetx::Error) -> Error {
        match source {
            filetx::Error::FolderGone { .. } => Error::NotFound { name: name.clone() },
            source => Error::files(doing, name, source),
        }
    }

    pub(crate) fn commit(doing: &'static str, name: &Name, source: filetx::Failure) -> Error {
        Error::Commit { doing, name: name.clone(), source: Box::new(source) }
    }

    /// What the failed call left: *aborted*, unless it says that the outcome is *unknown until the next open*. The third outcome,
    /// *committed, publishing will finish at the next open*, is a success: see [`Saved::pending`](crate::Saved::pending).
    pub fn left(&self) -> Left {
        match self {
            Error::Commit { source, .. } if source.left == filetx::Left::Unknown => Left::Unknown,
            Error::Unsynced { .. } => Left::Unknown,
            _ => Left::Nothing,
        }
    }
}

fn at(line: Option<u64>, column: Option<u64>) -> String {
    let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
    line + &column.map(|column| format!(", column {column}")).unwrap_or_default()
}
