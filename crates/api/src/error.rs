//! What can go wrong, in the words that every door shares: a kind, a stable code, a hint.

use std::io;
use std::path::PathBuf;

use config::{Key, Origin};

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Configuration refused or failed.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// A conversation refused or failed.
    #[error(transparent)]
    Context(#[from] context::Error),
    /// A text is not JSON.
    #[error("the value cannot be read")]
    NotJson(#[from] context::NotJson),
    /// A JSON Pointer leads nowhere.
    #[error("there is nothing at `{pointer}` in context `{name}`")]
    NoValue {
        /// The context.
        name: String,
        /// The pointer.
        pointer: String,
    },
    /// The file transaction refused or failed.
    #[error(transparent)]
    Files(#[from] filetx::Error),
    /// A commit failed.
    #[error(transparent)]
    Commit(#[from] filetx::Failure),
    /// A key has no value, and no default either.
    #[error("`{key}` is not set")]
    NotSet {
        /// The key.
        key: Key,
    },
    /// Nobody said where the home folder is.
    #[error("there is no home folder: neither CLEVERAGENTS_HOME nor the user's own is known")]
    NoHome,
    /// The variable names a home folder that depends on where one is.
    #[error("CLEVERAGENTS_HOME is `{}`, which is not an absolute path", home.display())]
    BadHome {
        /// As it was given.
        home: PathBuf,
    },
    /// A project was named that is no folder.
    #[error("there is no folder `{}` to be the project", project.display())]
    NoSuchProject {
        /// The project.
        project: PathBuf,
    },
    /// A folder was named as the project whose `.cleveragents` is the home folder: one file would be two scopes.
    #[error("`{}` cannot be a project: its `.cleveragents` is the home folder", project.display())]
    HomeAsProject {
        /// The folder.
        project: PathBuf,
    },
    /// A relative path was given, and the current folder is unknown.
    #[error("`{}` is relative, and the current folder is gone", path.display())]
    NoCurrentFolder {
        /// The path.
        path: PathBuf,
    },
    /// A secret was given where others can see it.
    #[error("`{key}` is secret and must not stand in arguments, which others can see")]
    SecretArgument {
        /// The key.
        key: Key,
    },
    /// A secret was given as a flag, where others can see it.
    #[error("`{key}` is secret and must not stand in arguments, which others can see")]
    SecretFlag {
        /// The key.
        key: String,
        /// The variable that may be used instead.
        variable: String,
    },
}

/// What sort of failure it is: the exit code of a command, the status of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Something failed.
    Error,
    /// The call was wrong.
    Usage,
    /// What was named does not exist.
    NotFound,
    /// Something else stands in the way, or was changed meanwhile.
    Conflict,
    /// A lock stayed taken: try again.
    Busy,
    /// The next open finds out what became of a commit.
    OutcomeUnknown,
    /// A bug of this program.
    Bug,
}

impl Error {
    /// What sort of failure it is.
    pub fn kind(&self) -> Kind {
        self.nature().0
    }

    /// A name that scripts may rely on.
    pub fn code(&self) -> &'static str {
        self.nature().1
    }

    /// What a person may do about it; names a command where one helps.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Config(error) => return error.hint().or_else(|| system_hint(error)),
            Self::Context(error) => return error.hint(),
            Self::NotJson(_) => "a text needs quotes in JSON: '\"text\"'".to_owned(),
            Self::NoValue { .. } => "a pointer is like `/a/b`, or `/list/0`".to_owned(),
            Self::Files(error) => return files_hint(error),
            Self::Commit(failure) => return files_hint(&failure.error),
            Self::NotSet { key } => format!("set it with `agents config set {key} VALUE`"),
            Self::NoHome | Self::BadHome { .. } => {
                "name a folder by its whole path, with `--home DIR` or CLEVERAGENTS_HOME".to_owned()
            }
            Self::NoSuchProject { .. } => {
                "make the folder, or leave `--project` away to use the project around the current folder"
                    .to_owned()
            }
            Self::HomeAsProject { .. } => {
                "use `--scope global`, or name another home folder with `--home DIR`".to_owned()
            }
            Self::NoCurrentFolder { .. } => "go to a folder that exists: `cd`".to_owned(),
            Self::SecretArgument { key } => {
                format!("let it be read from standard input: `agents config set {key} --stdin`")
            }
            Self::SecretFlag { key, variable } => {
                format!("use the variable {variable}, or store it with `agents config set {key} --stdin`")
            }
        })
    }

    /// Whether it says that an edit was not taken, and where it is kept.
    pub fn is_kept(&self) -> bool {
        matches!(self, Self::Config(config::Error::NotTaken { .. }))
    }

    /// The same error once more. Only for those that opening keeps for later.
    pub(crate) fn again(&self) -> Error {
        match self {
            Self::BadHome { home } => Self::BadHome { home: home.clone() },
            _ => Self::NoHome,
        }
    }

    fn nature(&self) -> (Kind, &'static str) {
        match self {
            Self::Config(error) => config_nature(error),
            Self::Context(error) => context_nature(error),
            Self::NotJson(_) => (Kind::Usage, "not-json"),
            Self::NoValue { .. } => (Kind::NotFound, "no-value"),
            Self::Files(error) => files_nature(error),
            Self::Commit(failure) => failure_nature(failure),
            Self::NotSet { .. } => (Kind::NotFound, "not-set"),
            Self::NoHome => (Kind::NotFound, "no-home"),
            Self::BadHome { .. } => (Kind::Usage, "bad-home"),
            Self::NoSuchProject { .. } => (Kind::NotFound, "no-project"),
            Self::HomeAsProject { .. } => (Kind::Usage, "home-as-project"),
            Self::NoCurrentFolder { .. } => (Kind::NotFound, "no-current-folder"),
            Self::SecretArgument { .. } | Self::SecretFlag { .. } => (Kind::Usage, "secret-argument"),
        }
    }
}

/// A wrong value is the caller's mistake, unless it stands in a file.
fn given_by_caller(origin: Option<&Origin>) -> Kind {
    match origin {
        Some(Origin::File { .. }) => Kind::Error,
        _ => Kind::Usage,
    }
}

fn config_nature(error: &config::Error) -> (Kind, &'static str) {
    use config::Error as E;
    let given = given_by_caller(error.origin());
    match error {
        E::BadKey { .. } => (Kind::Usage, "bad-key"),
        E::UnknownKey { .. } => (given, "unknown-key"),
        E::WrongType { .. } => (given, "wrong-type"),
        E::OutOfRange { .. } => (given, "out-of-range"),
        E::NotInScope { .. } => (Kind::Usage, "not-in-scope"),
        E::IsTable { .. } => (Kind::Usage, "is-table"),
        E::BadAssignment { .. } => (Kind::Usage, "bad-assignment"),
        E::Parse(_) => (Kind::Error, "unparsable"),
        E::NotUtf8 { .. } => (Kind::Error, "not-utf8"),
        E::VariableNotUtf8 { .. } => (Kind::Usage, "variable-not-utf8"),
        E::TooLarge { .. } => (Kind::Error, "too-large"),
        E::TableAndValue { .. } => (Kind::Conflict, "table-and-value"),
        E::NoPlace { .. } => (Kind::Error, "no-place"),
        E::Interpolation { .. } => (given, "interpolation"),
        E::SecretVariable { .. } => (given, "secret-variable"),
        E::LeadsOut { .. } => (Kind::Error, "leads-out"),
        E::NotAFile { .. } => (Kind::Error, "not-a-file"),
        E::ReadOnly { .. } => (Kind::Error, "read-only"),
        E::NoHome { .. } => (Kind::NotFound, "no-home"),
        E::NoProject { .. } => (Kind::NotFound, "no-project"),
        E::Read { source, .. } | E::Folder { source, .. } => (Kind::Error, system_code(source)),
        E::Busy { .. } => (Kind::Busy, "busy"),
        E::Nested { .. } => (Kind::Bug, "already-held"),
        E::Prepare { source, .. } => files_nature(source),
        E::Write { source, .. } => failure_nature(source),
        E::NotTaken { source, .. } => match config_nature(source) {
            // What was edited is a file, whatever is wrong with it.
            (Kind::Usage, code) => (Kind::Error, code),
            nature => nature,
        },
        E::Conflict { .. } => (Kind::Conflict, "conflict"),
        E::Watch { .. } => (Kind::Error, "watch"),
    }
}

fn context_nature(error: &context::Error) -> (Kind, &'static str) {
    use context::Error as E;
    match error {
        E::BadName { .. } => (Kind::Usage, "bad-name"),
        E::NotFound { .. } => (Kind::NotFound, "no-context"),
        E::Exists { .. } => (Kind::Conflict, "exists"),
        E::Stale { .. } => (Kind::Conflict, "stale"),
        E::Message { .. } => (Kind::Usage, "bad-message"),
        E::IdNotRising { .. } => (Kind::Conflict, "id-not-rising"),
        E::Damaged { .. } => (Kind::Error, "damaged"),
        E::Edited { .. } => (Kind::Conflict, "edited"),
        E::BothLayouts { .. } => (Kind::Conflict, "two-layouts"),
        E::Newer { .. } => (Kind::Error, "newer-format"),
        E::OutOfRange { .. } => (Kind::Usage, "out-of-range"),
        E::Rewritten { .. } => (Kind::Conflict, "rewritten"),
        E::NotAnObject { .. } => (Kind::Usage, "not-an-object"),
        E::TooLarge { .. } => (Kind::Usage, "too-large"),
        E::Import { source, .. } => match &**source {
            context::ImportProblem::Read(cause) if cause.kind() == ErrorKind::NotFound => {
                (Kind::NotFound, "no-file")
            }
            _ => (Kind::Error, "bad-import"),
        },
        E::Export { .. } => (Kind::Error, "export"),
        E::Folder { .. } => (Kind::Error, "io"),
        E::Files { source, .. } => files_nature(source),
        E::Commit { source, .. } => failure_nature(source),
        E::Unsynced { .. } => (Kind::OutcomeUnknown, "outcome-unknown"),
    }
}

fn failure_nature(failure: &filetx::Failure) -> (Kind, &'static str) {
    match failure.left {
        filetx::Left::Unknown => (Kind::OutcomeUnknown, "outcome-unknown"),
        _ => files_nature(&failure.error),
    }
}

fn files_nature(error: &filetx::Error) -> (Kind, &'static str) {
    use filetx::Error as E;
    match error {
        E::BadPath { .. } => (Kind::Usage, "bad-path"),
        E::Reserved { .. } => (Kind::Usage, "reserved-path"),
        E::Missing { .. } => (Kind::NotFound, "not-found"),
        E::Busy { .. } => (Kind::Busy, "busy"),
        E::Conflict { .. } => (Kind::Conflict, "conflict"),
        E::Drifted { .. } => (Kind::Conflict, "drifted"),
        E::Exists { .. } => (Kind::Conflict, "exists"),
        E::NotEmpty { .. } => (Kind::Conflict, "not-empty"),
        E::AlreadyHeld { .. } => (Kind::Bug, "already-held"),
        E::Group { source } => files_nature(source),
        E::Io { source, .. } => (Kind::Error, system_code(source)),
        E::LockGone { .. } => (Kind::Error, "lock-gone"),
        E::FolderGone { .. } => (Kind::NotFound, "folder-gone"),
        E::NetworkFileSystem { .. } => (Kind::Error, "network-file-system"),
        E::Damaged { .. } => (Kind::Error, "damaged-journal"),
        E::UnknownVersion { .. } => (Kind::Error, "newer-journal"),
        E::RootGone { .. } => (Kind::Error, "root-gone"),
        _ => (Kind::Error, "files"),
    }
}

/// What the system refused, where a person can do something about it.
fn system_code(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "permission-denied",
        io::ErrorKind::ReadOnlyFilesystem => "read-only",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "disk-full",
        _ => "io",
    }
}

fn system_hint(error: &config::Error) -> Option<String> {
    use config::Error as E;
    let place = match error {
        E::Read { file: place, .. }
        | E::Prepare { file: place, .. }
        | E::Write { file: place, .. }
        | E::Folder { folder: place, .. } => place.display(),
        _ => return None,
    };
    Some(match config_nature(error).1 {
        "permission-denied" => {
            format!("`ls -ld {place}` shows who may; or use another home folder with `--home DIR`")
        }
        "read-only" => "it is on a file system that is mounted read-only; use `--home DIR`".to_owned(),
        "disk-full" => format!("make room on the disk: `df -h {place}`"),
        "outcome-unknown" => "`agents config list` shows what the file says now".to_owned(),
        "lock-gone" => "run the command again".to_owned(),
        _ => return None,
    })
}

fn files_hint(error: &filetx::Error) -> Option<String> {
    use filetx::Error as E;
    let hint = match error {
        E::Busy { .. } => "try again when the other process is done",
        E::NetworkFileSystem { .. } => "use a folder on a local disk; for temporary files, set TMPDIR",
        E::UnknownVersion { .. } => "use the newer program that wrote it",
        _ => return None,
    };
    Some(hint.to_owned())
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;

    fn check(error: impl Into<Error>, kind: Kind, code: &str) {
        let error = error.into();
        assert_eq!((error.kind(), error.code()), (kind, code), "{error}");
    }

    #[test]
    fn errors_of_files_have_their_own_kinds() {
        let path = || Path::new("a").to_owned();
        let busy = || filetx::Error::Busy { lock: path(), holder: None, waited: Duration::ZERO };
        check(filetx::RelPath::new("../a").unwrap_err(), Kind::Usage, "bad-path");
        check(filetx::Error::Missing { path: path() }, Kind::NotFound, "not-found");
        check(filetx::Error::Exists { path: path() }, Kind::Conflict, "exists");
        check(busy(), Kind::Busy, "busy");
        check(filetx::Error::Group { source: busy().into() }, Kind::Busy, "busy");
    }

    #[test]
    fn what_the_system_refuses_has_a_code_and_a_hint() {
        let refused =
            |kind: io::ErrorKind| config::Error::Read { file: "f".into(), source: Arc::new(kind.into()) };
        let hint = |kind| Error::from(refused(kind)).hint();
        check(refused(io::ErrorKind::PermissionDenied), Kind::Error, "permission-denied");
        check(refused(io::ErrorKind::ReadOnlyFilesystem), Kind::Error, "read-only");
        check(refused(io::ErrorKind::StorageFull), Kind::Error, "disk-full");
        check(refused(io::ErrorKind::Other), Kind::Error, "io");
        assert!(hint(io::ErrorKind::PermissionDenied).is_some_and(|hint| hint.contains("`ls -ld f`")));
        assert!(hint(io::ErrorKind::ReadOnlyFilesystem).is_some_and(|hint| hint.contains("--home")));
        assert!(hint(io::ErrorKind::StorageFull).is_some_and(|hint| hint.contains("`df -h f`")));
        assert_eq!(hint(io::ErrorKind::Other), None);
    }

    #[test]
    fn what_a_failed_commit_left_decides_its_kind() {
        let failure = |left| filetx::Failure { left, error: filetx::Error::Missing { path: "a".into() } };
        check(failure(filetx::Left::Nothing), Kind::NotFound, "not-found");
        check(failure(filetx::Left::Unknown), Kind::OutcomeUnknown, "outcome-unknown");
    }
}
