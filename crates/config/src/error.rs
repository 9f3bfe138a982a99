//! Errors of configuration, one variant per remedy.
//!
//! No error holds a secret: values are shown through [`Value::show`](crate::Value::show), and the
//! source line of a syntax error is hidden if it belongs to a secret key.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use filetx::{ErrorKind, io_code};

use crate::{Key, Origin, Scope};

/// Error of a call. Its `source` is the cause, if the system gave one.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The text is not a key.
    #[error("`{key}` is not a key: {reason}")]
    InvalidKey {
        /// Text as given, shortened.
        key: String,
        /// Rule that it breaks.
        reason: &'static str,
    },
    /// No key has this name.
    #[error("unknown key `{key}`{}", at(origin))]
    UnknownKey {
        /// Unknown key.
        key: Key,
        /// Most similar known key.
        suggestion: Option<Key>,
        /// Position, unless the key is an argument.
        origin: Option<Box<Origin>>,
    },
    /// The value is not of the key's type.
    #[error("`{key}` must be {expected}, not `{actual}`{}", at(origin))]
    WrongType {
        /// Key with the error.
        key: Key,
        /// The type, and its valid values.
        expected: String,
        /// The value; redacted if secret.
        actual: String,
        /// Position, unless the value is an argument.
        origin: Option<Box<Origin>>,
    },
    /// The value is of the key's type, but not valid.
    #[error("`{key}` must be {expected}; `{actual}` is not allowed{}", at(origin))]
    OutOfRange {
        /// Key with the error.
        key: Key,
        /// Valid values.
        expected: String,
        /// The value; redacted if secret.
        actual: String,
        /// Position, unless the value is an argument.
        origin: Option<Box<Origin>>,
    },
    /// The key cannot be set in this scope.
    #[error("`{key}` cannot be set in the {scope} scope, only in: {}", names(allowed))]
    NotInScope {
        /// Key with the error.
        key: Key,
        /// Scope of the attempt.
        scope: Scope,
        /// Scopes in which the key can be set.
        allowed: &'static [Scope],
    },
    /// The key is a table, and the call needs a single value.
    #[error("`{key}` is a table, not a value")]
    IsTable {
        /// Key with the error.
        key: Key,
    },
    /// A `KEY=VALUE` argument has no `=`.
    #[error("`{argument}` is not of the form KEY=VALUE")]
    InvalidAssignment {
        /// Argument up to the first space: the rest may be a secret.
        argument: String,
    },
    /// The file is not valid TOML. It is never replaced.
    #[error("cannot parse `{}`, line {}, column {}: {}", .0.file.display(), .0.line, .0.column, .0.message)]
    Parse(Box<SyntaxError>),
    /// The file is not UTF-8. It is never replaced.
    #[error("`{}` is not UTF-8 text: bad byte at offset {offset}, line {line}", file.display())]
    NotUtf8 {
        /// Path of the file.
        file: PathBuf,
        /// First byte that is not UTF-8, counted from 0.
        offset: usize,
        /// Line of that byte, counted from 1.
        line: usize,
    },
    /// The environment variable is not UTF-8.
    #[error("environment variable `{variable}` is not UTF-8 text")]
    VariableNotUtf8 {
        /// Name of the variable.
        variable: String,
    },
    /// The file is, or would become, larger than the limit.
    #[error("`{}` has more than {limit} bytes", file.display())]
    TooLarge {
        /// Path of the file.
        file: PathBuf,
        /// Limit in bytes.
        limit: u64,
    },
    /// The key would be a table and a value at once.
    #[error("cannot set `{key}`: `{other}` is {actual} in `{}`, line {line}", file.display())]
    TableAndValue {
        /// Key to set.
        key: Key,
        /// Key or part of it that is of the other kind.
        other: Key,
        /// Kind of `other`: a table, a list of tables or a value.
        actual: &'static str,
        /// Path of the file.
        file: PathBuf,
        /// Line of `other`, counted from 1.
        line: usize,
        /// Scope of the file, if known.
        scope: Option<Scope>,
    },
    /// The layout of the file allows no change of this key without changing others.
    #[error("cannot change `{key}` in `{}` without changing other keys", file.display())]
    CannotInsertKey {
        /// Key with the error.
        key: Key,
        /// Path of the file.
        file: PathBuf,
        /// Scope of the file, if known.
        scope: Option<Scope>,
    },
    /// A reference `${…}` in a value cannot be expanded.
    #[error("`{key}`: `${{{variable}}}` {reason}{}", at(origin))]
    Interpolation {
        /// Key with the error.
        key: Key,
        /// Text between the braces, without the default.
        variable: String,
        /// Rule that the reference breaks.
        reason: &'static str,
        /// Position, unless the value is an argument.
        origin: Option<Box<Origin>>,
    },
    /// A project file refers to a variable that may hold a secret. Project files are not trusted.
    #[error("`{key}`: a project file may not use `${{{variable}}}`, which may hold a secret{}", at(origin))]
    SecretVariable {
        /// Key with the error.
        key: Key,
        /// Name of the variable.
        variable: String,
        /// Position, unless the value is an argument.
        origin: Option<Box<Origin>>,
    },
    /// A project file refers to a variable that the global key `core.interpolate` does not list.
    #[error(
        "`{key}`: a project file may not use `${{{variable}}}`: `core.interpolate` does not list it{}",
        at(origin)
    )]
    VariableNotListed {
        /// Key with the error.
        key: Key,
        /// Name of the variable.
        variable: String,
        /// Variables that the key lists now.
        listed: Vec<String>,
        /// Position, unless the value is an argument.
        origin: Option<Box<Origin>>,
    },
    /// A project file is a symlink to a path outside of the project.
    #[error("`{}` is a symlink out of the project, to `{}`", file.display(), target.display())]
    EscapesProject {
        /// Path of the file.
        file: PathBuf,
        /// Target of the symlink.
        target: PathBuf,
    },
    /// The path is not a regular file.
    #[error("`{}` is not a regular file", file.display())]
    NotAFile {
        /// Path that was found.
        file: PathBuf,
    },
    /// A file or its folder is write-protected.
    #[error("`{}` is read-only", path.display())]
    ReadOnly {
        /// Path of the file or folder.
        path: PathBuf,
    },
    /// The parent of the home folder does not exist.
    #[error("cannot create the home folder: there is no folder `{}`", parent.display())]
    NoHome {
        /// Path of the missing parent.
        parent: PathBuf,
    },
    /// The scope needs a project, and there is none.
    #[error("the {scope} scope needs a project, and there is none here")]
    NoProject {
        /// Scope of the attempt.
        scope: Scope,
    },
    /// Reading a file failed.
    #[error("cannot read `{}`", file.display())]
    Read {
        /// Path of the file.
        file: PathBuf,
        /// Error of the system.
        source: Arc<io::Error>,
    },
    /// Creating or opening a folder failed. Nothing was changed.
    #[error("cannot create or open folder `{}`", folder.display())]
    Folder {
        /// Path of the folder.
        folder: PathBuf,
        /// Error of the system.
        source: Arc<io::Error>,
    },
    /// Another writer held the lock until the timeout. Nothing was changed.
    #[error("`{}` is locked by another writer", file.display())]
    Busy {
        /// Path of the file.
        file: PathBuf,
        /// The lock and its holder.
        source: Arc<filetx::Error>,
    },
    /// This thread already holds the lock of the file: use its transaction. Nothing was changed.
    #[error("this thread already has a transaction on `{}`; use that one", file.display())]
    Nested {
        /// Path of the file.
        file: PathBuf,
        /// Code location that took the lock.
        source: Arc<filetx::Error>,
    },
    /// Locking the file failed. Nothing was changed.
    #[error("cannot prepare to write `{}`", file.display())]
    Prepare {
        /// Path of the file.
        file: PathBuf,
        /// Error of the lock.
        source: Arc<filetx::Error>,
    },
    /// Replacing the file failed. The source tells an unchanged file from an unknown outcome.
    #[error("cannot write `{}`", file.display())]
    Write {
        /// Path of the file.
        file: PathBuf,
        /// Outcome and cause.
        source: Arc<filetx::Failure>,
    },
    /// The edit was rejected. The file is unchanged, and the edit is saved beside it.
    #[error("the edit of `{}` was rejected; it is saved in `{}`", file.display(), saved_at.display())]
    EditRejected {
        /// Path of the file.
        file: PathBuf,
        /// Path of the saved edit.
        saved_at: PathBuf,
        /// Reason of the rejection.
        source: Box<Error>,
    },
    /// Watching files failed.
    #[error("cannot watch the files")]
    Watch {
        /// Error of the watcher.
        source: Arc<notify::Error>,
    },
    /// The file changed during the edit, in the same lines.
    #[error("`{}` changed during the edit, in the same lines", file.display())]
    Conflict {
        /// Path of the file.
        file: PathBuf,
    },
}

/// Position and reason of a syntax error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyntaxError {
    /// Path of the file.
    pub file: PathBuf,
    /// Bytes before the error.
    pub offset: usize,
    /// Counted from 1.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
    /// Source line, for a caret below it. Redacted if it belongs to a secret.
    pub source_line: String,
    /// Message of the parser.
    pub message: String,
    /// Scope of the file, if known.
    pub scope: Option<Scope>,
}

filetx::impl_kind_and_code!(Error);

impl Error {
    /// An invalid value is an error of usage, unless it is in a file.
    fn classify(&self) -> (ErrorKind, &'static str) {
        let value = match self.origin() {
            Some(Origin::File { .. }) => ErrorKind::Error,
            _ => ErrorKind::Usage,
        };
        match self {
            Self::InvalidKey { .. } => (ErrorKind::Usage, "invalid-key"),
            Self::UnknownKey { .. } => (value, "unknown-key"),
            Self::WrongType { .. } => (value, "wrong-type"),
            Self::OutOfRange { .. } => (value, "out-of-range"),
            Self::NotInScope { .. } => (ErrorKind::Usage, "not-in-scope"),
            Self::IsTable { .. } => (ErrorKind::Usage, "is-table"),
            Self::InvalidAssignment { .. } => (ErrorKind::Usage, "invalid-assignment"),
            Self::Parse(_) => (ErrorKind::Error, "unparsable"),
            Self::NotUtf8 { .. } => (ErrorKind::Error, "not-utf8"),
            Self::VariableNotUtf8 { .. } => (ErrorKind::Usage, "variable-not-utf8"),
            Self::TooLarge { .. } => (ErrorKind::Error, "too-large"),
            Self::TableAndValue { .. } => (ErrorKind::Conflict, "table-and-value"),
            Self::CannotInsertKey { .. } => (ErrorKind::Error, "cannot-insert-key"),
            Self::Interpolation { .. } => (value, "interpolation"),
            Self::SecretVariable { .. } => (value, "secret-variable"),
            Self::VariableNotListed { .. } => (value, "variable-not-listed"),
            Self::EscapesProject { .. } => (ErrorKind::Error, "escapes-project"),
            Self::NotAFile { .. } => (ErrorKind::Error, "not-a-file"),
            Self::ReadOnly { .. } => (ErrorKind::Error, "read-only"),
            Self::NoHome { .. } => (ErrorKind::NotFound, "no-home"),
            Self::NoProject { .. } => (ErrorKind::NotFound, "no-project"),
            Self::Read { source, .. } | Self::Folder { source, .. } => (ErrorKind::Error, io_code(source)),
            Self::Busy { .. } => (ErrorKind::Busy, "busy"),
            Self::Nested { .. } => (ErrorKind::Bug, "already-held"),
            Self::Prepare { source, .. } => (source.kind(), source.code()),
            Self::Write { source, .. } => (source.kind(), source.code()),
            Self::EditRejected { source, .. } => match source.classify() {
                // The edit is a file, so an invalid value in it is not an error of usage.
                (ErrorKind::Usage, code) => (ErrorKind::Error, code),
                class => class,
            },
            Self::Conflict { .. } => (ErrorKind::Conflict, "conflict"),
            Self::Watch { .. } => (ErrorKind::Error, "watch"),
        }
    }

    /// Position of the invalid value; none for an argument, or for an error that is not about a
    /// value.
    pub fn origin(&self) -> Option<&Origin> {
        match self {
            Self::UnknownKey { origin, .. }
            | Self::WrongType { origin, .. }
            | Self::OutOfRange { origin, .. }
            | Self::Interpolation { origin, .. }
            | Self::SecretVariable { origin, .. }
            | Self::VariableNotListed { origin, .. } => origin.as_deref(),
            _ => None,
        }
    }

    /// Key that the error leaves without a value.
    pub(crate) fn key(&self) -> Option<&Key> {
        match self {
            Self::WrongType { key, .. }
            | Self::OutOfRange { key, .. }
            | Self::Interpolation { key, .. }
            | Self::SecretVariable { key, .. }
            | Self::VariableNotListed { key, .. } => Some(key),
            _ => None,
        }
    }

    /// Adds the scope of the file.
    pub(crate) fn in_scope(mut self, known: Scope) -> Error {
        match &mut self {
            Self::Parse(error) => error.scope = Some(known),
            Self::CannotInsertKey { scope, .. } | Self::TableAndValue { scope, .. } => *scope = Some(known),
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
