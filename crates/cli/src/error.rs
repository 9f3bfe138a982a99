//! What can go wrong at the command line: which exit code it has, what it is called, and what may help.

use std::path::PathBuf;
use std::process::ExitStatus;
use std::{fmt, io};

use api::{Kind, Problem};

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// A service refused or failed.
    #[error(transparent)]
    Api(#[from] api::Error),
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
    #[error("cannot read standard input")]
    Stdin { source: io::Error },
    #[error("standard input has more than {limit_bytes} bytes")]
    StdinTooLong { limit_bytes: u64 },
    #[error("standard input is not UTF-8 text")]
    StdinNotUtf8,
    /// Words that parse one by one, but not together.
    #[error("{reason}")]
    Words { reason: &'static str },
    #[error("cannot start the editor `{editor}`")]
    StartEditor { editor: String, source: io::Error },
    #[error("the editor `{editor}` ended with {status}; nothing was changed")]
    Editor { editor: String, status: ExitStatus },
    /// The edit was not taken, for a reason that is not in it.
    #[error("the edit was not written; it is saved in `{}`", copy.display())]
    EditLeft { copy: PathBuf, source: Box<Error> },
    #[error("there is no command `{command}`, so it has no page")]
    NoPage { command: String },
    /// Something would be deleted, and nobody can be asked.
    #[error("{what} needs `--yes` where nobody can be asked")]
    NeedsYes { what: String },
    #[error("nothing was changed")]
    Declined,
    /// A value on the command line is not what it must be.
    #[error("`{value}` is not {expected}")]
    Value { value: String, expected: &'static str },
    #[error("nothing to run was named")]
    NothingToRun,
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
        match self {
            Error::Interrupted => Exit::Interrupted,
            error => error.problem().kind.into(),
        }
    }

    /// What it is about, for programs.
    pub(crate) fn data(&self) -> serde_json::Value {
        match self {
            Error::Api(error) => error.data(),
            _ => serde_json::Value::Null,
        }
    }

    /// What to tell about it: a code that scripts may rely on, the causes, and a hint.
    pub(crate) fn problem(&self) -> Problem {
        let own = |code| Problem::new(Kind::Error, code, self);
        match self {
            Error::Api(error) => Problem::hinted(error, Some(crate::hints::hints)),
            Error::TemporaryFolder { .. } => {
                hinted(own("temporary-folder"), "set TMPDIR to a folder that you may write to")
            }
            Error::File { .. } => own("io"),
            Error::StartChild { .. } | Error::EndChild { .. } | Error::Child { .. } => own("child"),
            Error::NeverInTheMiddle { .. } => {
                hinted(own("inconclusive"), "the machine may be busy: run `agents demo` again")
            }
            Error::Listen { .. } => own("signal"),
            Error::Print { .. } => own("print"),
            Error::Stdin { .. } | Error::StdinTooLong { .. } | Error::StdinNotUtf8 => own("stdin"),
            Error::Words { .. } => {
                let problem = Problem::new(Kind::Usage, "usage", self);
                hinted(problem, "`agents config set KEY VALUE`, `agents config set KEY=VALUE…`")
            }
            Error::StartEditor { .. } | Error::Editor { .. } => {
                let hint = "name an editor with VISUAL or EDITOR, or use `agents config set`";
                hinted(own("editor"), hint)
            }
            Error::EditLeft { source, .. } => {
                let Problem { kind, code, hint, .. } = source.problem();
                Problem { hint, ..Problem::new(kind, &code, self) }
            }
            Error::NoPage { .. } => {
                hinted(Problem::new(Kind::NotFound, "no-page", self), "`agents help` lists the commands")
            }
            Error::NeedsYes { .. } => {
                hinted(Problem::new(Kind::Usage, "needs-yes", self), "add `--yes` if you are sure")
            }
            Error::Declined => own("declined"),
            Error::NothingToRun => {
                let problem = Problem::new(Kind::Usage, "usage", self);
                hinted(problem, "`agents run PLAN_FILE`, `agents run -- CMD…`, `agents run --resume PLAN`")
            }
            Error::Value { .. } => Problem::new(Kind::Usage, "bad-value", self),
            Error::Interrupted => own("interrupted"),
        }
    }
}

fn hinted(problem: Problem, hint: &str) -> Problem {
    Problem { hint: vec![hint.to_owned()], ..problem }
}

impl From<Kind> for Exit {
    fn from(kind: Kind) -> Exit {
        match kind {
            Kind::Error => Exit::Error,
            Kind::Usage => Exit::Usage,
            Kind::NotFound => Exit::NotFound,
            Kind::Conflict => Exit::Conflict,
            Kind::Busy => Exit::Busy,
            Kind::OutcomeUnknown => Exit::OutcomeUnknown,
            Kind::Bug => Exit::Bug,
        }
    }
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
    use super::*;

    #[test]
    fn causes_are_apart_from_the_text() {
        let source = io::Error::other("the disk is gone");
        let error = Error::File { act: "read", path: "a".into(), source };
        let problem = error.problem();
        assert_eq!(problem.message, "cannot read `a`");
        assert_eq!(problem.causes, ["the disk is gone"]);
        assert_eq!((error.exit().code(), problem.code.as_str()), (1, "io"));
    }

    #[test]
    fn errors_of_files_keep_their_kind() {
        let source = io::Error::from(io::ErrorKind::NotFound);
        let error = Error::from(api::Error::File { action: "read", path: "a".into(), source });
        assert_eq!(error.exit(), Exit::NotFound);
        assert_eq!(Error::Interrupted.exit().code(), 130);
    }
}
