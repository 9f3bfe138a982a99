//! What can go wrong, by what a caller may do about it.
//!
//! No error holds a secret: values are shown through [`Value::show`](crate::Value::show), and the source line of a file that does not
//! parse is hidden where it belongs to a secret key.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use filetx::{ErrorKind, io_code};

use crate::{Key, Origin, Scope};

/// Why a call failed. The cause, where the system gave one, is the `source`.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The text is no key.
    #[error("`{key}` is not a key: {reason}")]
    BadKey {
        /// As it was given.
        key: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// No key has this name.
    #[error("unknown key `{key}`{}", at(origin))]
    UnknownKey {
        /// The key.
        key: Key,
        /// The key that was most likely meant.
        nearest: Option<Key>,
        /// Where it stands, unless it was an argument.
        origin: Option<Box<Origin>>,
    },
    /// A value is of another type than its key.
    #[error("`{key}` must be {expected}, not `{found}`{}", at(origin))]
    WrongType {
        /// The key.
        key: Key,
        /// The type, and what is allowed.
        expected: String,
        /// The value, unless it is secret.
        found: String,
        /// Where it stands, unless it was an argument.
        origin: Option<Box<Origin>>,
    },
    /// A value is of the right type but not among what is allowed.
    #[error("`{key}` must be {expected}; `{found}` is not allowed{}", at(origin))]
    OutOfRange {
        /// The key.
        key: Key,
        /// What is allowed.
        expected: String,
        /// The value, unless it is secret.
        found: String,
        /// Where it stands, unless it was an argument.
        origin: Option<Box<Origin>>,
    },
    /// A key may not be set in this scope.
    #[error("`{key}` may not be set in the {scope} scope, only in: {}", names(allowed))]
    NotInScope {
        /// The key.
        key: Key,
        /// The scope.
        scope: Scope,
        /// Where it may be set.
        allowed: &'static [Scope],
    },
    /// The key names a table, and a single value was asked for.
    #[error("`{key}` is a table, not a value")]
    IsTable {
        /// The key.
        key: Key,
    },
    /// A `K=V` argument has no `=`.
    #[error("`{argument}` is not of the form KEY=VALUE")]
    BadAssignment {
        /// As it was given, up to where a value could begin.
        argument: String,
    },
    /// A file is not TOML. It is never replaced.
    #[error("cannot parse `{}`, line {}, column {}: {}", .0.file.display(), .0.line, .0.column, .0.message)]
    Parse(Box<Unparsable>),
    /// A file is not UTF-8. It is never replaced.
    #[error("`{}` is not UTF-8 text: bad byte at offset {offset}, line {line}", file.display())]
    NotUtf8 {
        /// The file.
        file: PathBuf,
        /// The first byte that is not UTF-8, counted from 0.
        offset: usize,
        /// Its line, counted from 1.
        line: usize,
    },
    /// An environment variable is not UTF-8.
    #[error("environment variable `{variable}` is not UTF-8 text")]
    VariableNotUtf8 {
        /// The variable.
        variable: String,
    },
    /// A file is, or would become, larger than is read.
    #[error("`{}` has more than {limit} bytes", file.display())]
    TooLarge {
        /// The file.
        file: PathBuf,
        /// How much is allowed.
        limit: u64,
    },
    /// A key would be a table and a value at once.
    #[error("cannot set `{key}`: `{other}` is {found} in `{}`, line {line}", file.display())]
    TableAndValue {
        /// The key.
        key: Key,
        /// The key that is in the way.
        other: Key,
        /// What it is.
        found: &'static str,
        /// The file.
        file: PathBuf,
        /// The line of `other`, counted from 1.
        line: usize,
        /// The scope of the file, where it is known.
        scope: Option<Scope>,
    },
    /// The way a file is written leaves no place where this key could be changed without touching others.
    #[error("cannot change `{key}` in `{}` without touching other lines", file.display())]
    NoPlace {
        /// The key.
        key: Key,
        /// The file.
        file: PathBuf,
        /// The scope of the file, where it is known.
        scope: Option<Scope>,
    },
    /// `${…}` in a value cannot be filled in.
    #[error("`{key}`: `${{{variable}}}` {reason}{}", at(origin))]
    Interpolation {
        /// The key.
        key: Key,
        /// What stands between the braces, up to a default.
        variable: String,
        /// What is wrong.
        reason: &'static str,
        /// Where it stands, unless it was an argument.
        origin: Option<Box<Origin>>,
    },
    /// A file of a project refers to a variable that may hold a secret. Projects come from elsewhere.
    #[error("`{key}`: a project's file may not use `${{{variable}}}`, which may hold a secret{}", at(origin))]
    SecretVariable {
        /// The key.
        key: Key,
        /// The variable.
        variable: String,
        /// Where it stands, unless it was an argument.
        origin: Option<Box<Origin>>,
    },
    /// A project's file is a symlink to somewhere outside of the project.
    #[error("`{}` leads out of the project, to `{}`", file.display(), target.display())]
    LeadsOut {
        /// The file.
        file: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },
    /// Something other than a plain file is where a file should be.
    #[error("`{}` is not a plain file", file.display())]
    NotAFile {
        /// The path.
        file: PathBuf,
    },
    /// A file or its folder is write-protected.
    #[error("`{}` is read-only", path.display())]
    ReadOnly {
        /// The file or folder.
        path: PathBuf,
    },
    /// The home folder can be neither found nor made.
    #[error("there is no folder `{}` to make the home folder in", parent.display())]
    NoHome {
        /// Where it should be.
        parent: PathBuf,
    },
    /// A scope of a project was asked for outside of any.
    #[error("there is no project here, so there is no {scope} scope")]
    NoProject {
        /// The scope.
        scope: Scope,
    },
    /// A file cannot be read.
    #[error("cannot read `{}`", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// A folder cannot be made or opened. Nothing was changed.
    #[error("cannot make or open folder `{}`", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// Somebody else kept writing until the timeout. Nothing was changed.
    #[error("`{}` is being written by someone else", file.display())]
    Busy {
        /// The file.
        file: PathBuf,
        /// The lock and its holder.
        source: Arc<filetx::Error>,
    },
    /// This thread is writing this file already: use the transaction that it has. Nothing was changed.
    #[error("this thread is writing `{}` already; use that transaction", file.display())]
    Nested {
        /// The file.
        file: PathBuf,
        /// Where the lock was taken.
        source: Arc<filetx::Error>,
    },
    /// A file cannot be locked or prepared. Nothing was changed.
    #[error("cannot prepare to write `{}`", file.display())]
    Prepare {
        /// The file.
        file: PathBuf,
        /// Why.
        source: Arc<filetx::Error>,
    },
    /// A file cannot be replaced. The source says whether nothing was changed or that is not known.
    #[error("cannot write `{}`", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// What it left, and why.
        source: Arc<filetx::Failure>,
    },
    /// An edited file was not taken. The file is as it was; the edit is beside it.
    #[error("the edit of `{}` was not taken; it is in `{}`", file.display(), kept.display())]
    NotTaken {
        /// The file.
        file: PathBuf,
        /// Where the edit is now.
        kept: PathBuf,
        /// Why.
        source: Box<Error>,
    },
    /// The system cannot tell about changes of files.
    #[error("cannot watch the files")]
    Watch {
        /// What it said.
        source: Arc<notify::Error>,
    },
    /// The file was changed while it was being edited, in the same lines.
    #[error("`{}` was changed meanwhile, in the same lines", file.display())]
    Conflict {
        /// The file.
        file: PathBuf,
    },
}

/// Where and why a file is not TOML.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unparsable {
    /// The file.
    pub file: PathBuf,
    /// Bytes before the spot.
    pub offset: usize,
    /// Counted from 1.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
    /// The line, to set a caret under. Hidden where it belongs to a secret.
    pub source_line: String,
    /// What is wrong.
    pub message: String,
    /// The scope of the file, where it is known.
    pub scope: Option<Scope>,
}

impl Error {
    /// Class of the error. A wrong value is the caller's mistake, unless it stands in a file.
    pub fn kind(&self) -> ErrorKind {
        self.classify().0
    }

    /// Stable name of the error, for scripts.
    pub fn code(&self) -> &'static str {
        self.classify().1
    }

    fn classify(&self) -> (ErrorKind, &'static str) {
        let value = match self.origin() {
            Some(Origin::File { .. }) => ErrorKind::Error,
            _ => ErrorKind::Usage,
        };
        match self {
            Self::BadKey { .. } => (ErrorKind::Usage, "bad-key"),
            Self::UnknownKey { .. } => (value, "unknown-key"),
            Self::WrongType { .. } => (value, "wrong-type"),
            Self::OutOfRange { .. } => (value, "out-of-range"),
            Self::NotInScope { .. } => (ErrorKind::Usage, "not-in-scope"),
            Self::IsTable { .. } => (ErrorKind::Usage, "is-table"),
            Self::BadAssignment { .. } => (ErrorKind::Usage, "bad-assignment"),
            Self::Parse(_) => (ErrorKind::Error, "unparsable"),
            Self::NotUtf8 { .. } => (ErrorKind::Error, "not-utf8"),
            Self::VariableNotUtf8 { .. } => (ErrorKind::Usage, "variable-not-utf8"),
            Self::TooLarge { .. } => (ErrorKind::Error, "too-large"),
            Self::TableAndValue { .. } => (ErrorKind::Conflict, "table-and-value"),
            Self::NoPlace { .. } => (ErrorKind::Error, "no-place"),
            Self::Interpolation { .. } => (value, "interpolation"),
            Self::SecretVariable { .. } => (value, "secret-variable"),
            Self::LeadsOut { .. } => (ErrorKind::Error, "leads-out"),
            Self::NotAFile { .. } => (ErrorKind::Error, "not-a-file"),
            Self::ReadOnly { .. } => (ErrorKind::Error, "read-only"),
            Self::NoHome { .. } => (ErrorKind::NotFound, "no-home"),
            Self::NoProject { .. } => (ErrorKind::NotFound, "no-project"),
            Self::Read { source, .. } | Self::Folder { source, .. } => (ErrorKind::Error, io_code(source)),
            Self::Busy { .. } => (ErrorKind::Busy, "busy"),
            Self::Nested { .. } => (ErrorKind::Bug, "already-held"),
            Self::Prepare { source, .. } => (source.kind(), source.code()),
            Self::Write { source, .. } => (source.kind(), source.code()),
            Self::NotTaken { source, .. } => match source.classify() {
                // The edit is a file, whatever is wrong with it.
                (ErrorKind::Usage, code) => (ErrorKind::Error, code),
                class => class,
            },
            Self::Conflict { .. } => (ErrorKind::Conflict, "conflict"),
            Self::Watch { .. } => (ErrorKind::Error, "watch"),
        }
    }

    /// Where what is wrong stands, unless it was an argument or is not about a value.
    pub fn origin(&self) -> Option<&Origin> {
        match self {
            Self::UnknownKey { origin, .. }
            | Self::WrongType { origin, .. }
            | Self::OutOfRange { origin, .. }
            | Self::Interpolation { origin, .. }
            | Self::SecretVariable { origin, .. } => origin.as_deref(),
            _ => None,
        }
    }

    /// The key that has no usable value because of it.
    pub(crate) fn key(&self) -> Option<&Key> {
        match self {
            Self::WrongType { key, .. }
            | Self::OutOfRange { key, .. }
            | Self::Interpolation { key, .. }
            | Self::SecretVariable { key, .. } => Some(key),
            _ => None,
        }
    }

    /// With the scope of the file that it is about.
    pub(crate) fn in_scope(mut self, known: Scope) -> Error {
        match &mut self {
            Self::Parse(found) => found.scope = Some(known),
            Self::NoPlace { scope, .. } | Self::TableAndValue { scope, .. } => *scope = Some(known),
            _ => {}
        }
        self
    }
}

fn at(origin: &Option<Box<Origin>>) -> String {
    origin.as_ref().map(|origin| format!(" ({origin})")).unwrap_or_default()
}

fn names(scopes: &[Scope]) -> String {
    scopes.iter().map(Scope::to_string).collect::<Vec<_>>().join(", ")
}
