//! What can go wrong at the command line: which exit code it has, what it is called, and what may help.

use std::path::PathBuf;
use std::{fmt, io};

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The file transaction refused or failed.
    #[error(transparent)]
    Files(#[from] filetx::Error),
    /// A commit failed.
    #[error(transparent)]
    Commit(#[from] filetx::Failure),
    #[error("cannot make a folder for temporary files")]
    TemporaryFolder { source: io::Error },
    #[error("cannot {act} `{}`", path.display())]
    File { act: &'static str, path: PathBuf, source: io::Error },
    #[error("cannot start this program again as a child process")]
    StartChild { source: io::Error },
    #[error("cannot end the child process")]
    EndChild { source: io::Error },
    #[error("the child process {did} before it was killed")]
    Child { did: &'static str },
    #[error("no kill of {tries} came in the middle of the commit")]
    NeverInTheMiddle { tries: u32 },
    #[error("cannot listen for Ctrl-C")]
    Listen { source: ctrlc::Error },
    #[error("cannot print")]
    Print { source: io::Error },
    #[error("interrupted")]
    Interrupted,
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

/// How the program ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    Ok,
    Error,
    Usage,
    NotFound,
    Conflict,
    /// A lock stayed taken: try again.
    Busy,
    /// The next open finds out what became of a commit.
    OutcomeUnknown,
    /// A bug of this program.
    Bug,
    Interrupted,
}

impl Exit {
    pub(crate) fn code(self) -> u8 {
        match self {
            Exit::Ok => 0,
            Exit::Error => 1,
            Exit::Usage => 2,
            Exit::NotFound => 3,
            Exit::Conflict => 4,
            Exit::Busy => 5,
            Exit::OutcomeUnknown => 6,
            Exit::Bug => 70,
            Exit::Interrupted => 130,
        }
    }
}

impl Error {
    pub(crate) fn exit(&self) -> Exit {
        self.nature().0
    }

    /// A name that scripts may rely on.
    pub(crate) fn code(&self) -> &'static str {
        self.nature().1
    }

    /// What a person may do about it.
    pub(crate) fn hint(&self) -> Option<&'static str> {
        match self {
            Error::TemporaryFolder { .. } => Some("set TMPDIR to a folder that you may write to"),
            Error::NeverInTheMiddle { .. } => Some("the machine may be busy: run `agents demo` again"),
            Error::Files(error) => files_hint(error),
            Error::Commit(failure) => files_hint(&failure.error),
            _ => None,
        }
    }

    fn nature(&self) -> (Exit, &'static str) {
        match self {
            Error::Files(error) => files_nature(error),
            Error::Commit(failure) if failure.left == filetx::Left::Unknown => {
                (Exit::OutcomeUnknown, "outcome-unknown")
            }
            Error::Commit(failure) => files_nature(&failure.error),
            Error::TemporaryFolder { .. } => (Exit::Error, "temporary-folder"),
            Error::File { .. } => (Exit::Error, "io"),
            Error::StartChild { .. } | Error::EndChild { .. } | Error::Child { .. } => (Exit::Error, "child"),
            Error::NeverInTheMiddle { .. } => (Exit::Error, "inconclusive"),
            Error::Listen { .. } => (Exit::Error, "signal"),
            Error::Print { .. } => (Exit::Error, "print"),
            Error::Interrupted => (Exit::Interrupted, "interrupted"),
        }
    }
}

fn files_nature(error: &filetx::Error) -> (Exit, &'static str) {
    use filetx::Error as E;
    match error {
        E::BadPath { .. } => (Exit::Usage, "bad-path"),
        E::Reserved { .. } => (Exit::Usage, "reserved-path"),
        E::Missing { .. } => (Exit::NotFound, "not-found"),
        E::Busy { .. } => (Exit::Busy, "busy"),
        E::Conflict { .. } => (Exit::Conflict, "conflict"),
        E::Drifted { .. } => (Exit::Conflict, "drifted"),
        E::Exists { .. } => (Exit::Conflict, "exists"),
        E::NotEmpty { .. } => (Exit::Conflict, "not-empty"),
        E::AlreadyHeld { .. } => (Exit::Bug, "already-held"),
        E::Group { source } => files_nature(source),
        E::Io { .. } => (Exit::Error, "io"),
        E::LockGone { .. } => (Exit::Error, "lock-gone"),
        E::FolderGone { .. } => (Exit::NotFound, "folder-gone"),
        E::NetworkFileSystem { .. } => (Exit::Error, "network-file-system"),
        E::Damaged { .. } => (Exit::Error, "damaged-journal"),
        E::UnknownVersion { .. } => (Exit::Error, "newer-journal"),
        E::RootGone { .. } => (Exit::Error, "root-gone"),
        _ => (Exit::Error, "files"),
    }
}

fn files_hint(error: &filetx::Error) -> Option<&'static str> {
    use filetx::Error as E;
    match error {
        E::Busy { .. } => Some("try again when the other process is done"),
        E::NetworkFileSystem { .. } => Some("use a folder on a local disk; for temporary files, set TMPDIR"),
        E::UnknownVersion { .. } => Some("use the newer program that wrote it"),
        _ => None,
    }
}

/// The causes of an error, nearest first.
pub(crate) fn causes(error: &dyn std::error::Error) -> Vec<String> {
    std::iter::successors(error.source(), |cause| cause.source()).map(ToString::to_string).collect()
}

impl fmt::Display for Exit {
    /// The status of a JSON envelope.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Exit::Ok => "ok",
            Exit::Interrupted => "interrupted",
            _ => "error",
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::*;

    fn check(error: Error, exit: Exit, code: &str) {
        assert_eq!((error.exit(), error.code()), (exit, code), "{error}");
    }

    #[test]
    fn errors_of_files_have_their_own_exit_codes() {
        let path = || Path::new("a").to_owned();
        let busy = || filetx::Error::Busy { lock: path(), holder: None, waited: Duration::ZERO };
        check(filetx::RelPath::new("../a").unwrap_err().into(), Exit::Usage, "bad-path");
        check(filetx::Error::Missing { path: path() }.into(), Exit::NotFound, "not-found");
        check(filetx::Error::Exists { path: path() }.into(), Exit::Conflict, "exists");
        check(busy().into(), Exit::Busy, "busy");
        check(filetx::Error::Group { source: busy().into() }.into(), Exit::Busy, "busy");
    }

    #[test]
    fn what_a_failed_commit_left_decides_its_exit_code() {
        let failure = |left| filetx::Failure { left, error: filetx::Error::Missing { path: "a".into() } };
        check(failure(filetx::Left::Nothing).into(), Exit::NotFound, "not-found");
        check(failure(filetx::Left::Unknown).into(), Exit::OutcomeUnknown, "outcome-unknown");
    }

    #[test]
    fn causes_are_apart_from_the_text() {
        let source = io::Error::other("the disk is gone");
        let error = Error::File { act: "read", path: "a".into(), source };
        assert_eq!(error.to_string(), "cannot read `a`");
        assert_eq!(causes(&error), ["the disk is gone"]);
    }
}
