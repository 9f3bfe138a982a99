//! Errors of the command line, with their exit codes, stable codes and hints.

use std::path::PathBuf;
use std::process::ExitStatus;
use std::{fmt, io};

use api::{Kind, Problem};

/// The reason why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Api(#[from] api::Error),
    #[error("cannot create a temporary folder")]
    TemporaryFolder { source: io::Error },
    #[error("cannot {act} `{}`", path.display())]
    File { act: &'static str, path: PathBuf, source: io::Error },
    #[error("cannot start this program again as a child process")]
    StartChild { source: io::Error },
    #[error("cannot end the child process")]
    EndChild { source: io::Error },
    #[error("the child process {did} before it was killed")]
    Child { did: &'static str },
    #[error("none of {tries} kills interrupted the apply")]
    KillMissed { tries: u32 },
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
    #[error("`{}` is not a text file", path.display())]
    FileNotUtf8 { path: PathBuf },
    /// Arguments that do not go together.
    #[error("{reason}")]
    Usage { reason: &'static str },
    #[error("not a terminal: no editor was started")]
    NoTerminal,
    #[error("cannot start the editor `{editor}`")]
    StartEditor { editor: String, source: io::Error },
    #[error("the editor `{editor}` ended with {status}; nothing was changed")]
    Editor { editor: String, status: ExitStatus },
    /// The edit was not saved, for a reason outside of it.
    #[error("the edit was not written; it is saved in `{}`", copy.display())]
    EditNotSaved { copy: PathBuf, source: Box<Error> },
    #[error("unknown command `{command}`")]
    UnknownCommand { command: String },
    #[error("no schema has the name `{name}`")]
    NoSchema { name: String },
    /// A person has to confirm, and there is no terminal to ask on.
    #[error("not a terminal: add --yes to {action}")]
    NeedsYes { action: String },
    #[error("nothing was changed")]
    Declined,
    /// An option or argument has an invalid value.
    #[error("`{value}` is not {expected}")]
    InvalidValue { value: String, expected: &'static str },
    #[error("nothing to run")]
    NothingToRun,
    #[error("interrupted")]
    Interrupted,
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

/// Exit status of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    Ok,
    Error,
    Usage,
    NotFound,
    Refused,
    /// Another process held a lock until the timeout.
    Busy,
    /// The commit may or may not be durable; the next open decides.
    OutcomeUnknown,
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
            Exit::Refused => 4,
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

    /// The `data` of the envelope: what the text lists, for programs.
    pub(crate) fn data(&self) -> serde_json::Value {
        match self {
            Error::Api(error) => {
                serde_json::to_value(error.data()).expect("data is made of text, numbers and lists")
            }
            _ => serde_json::Value::Null,
        }
    }

    /// The message: a stable code, the text, its causes and a hint.
    pub(crate) fn problem(&self) -> Problem {
        let own = |code| Problem::new(Kind::Error, code, self);
        match self {
            Error::Api(error) => Problem::hinted(error, Some(crate::hints::hints)),
            Error::TemporaryFolder { .. } => {
                hinted(own("temporary-folder"), "set TMPDIR to a writable folder")
            }
            Error::File { .. } => own("io"),
            Error::FileNotUtf8 { .. } => own("not-utf8"),
            Error::StartChild { .. } | Error::EndChild { .. } | Error::Child { .. } => own("child"),
            Error::KillMissed { .. } => {
                hinted(own("inconclusive"), "agents demo  # try again; the machine may be busy")
            }
            Error::Listen { .. } => own("signal"),
            Error::Print { .. } => own("print"),
            Error::Stdin { .. } | Error::StdinTooLong { .. } | Error::StdinNotUtf8 => own("stdin"),
            Error::Usage { .. } => {
                let problem = Problem::new(Kind::Usage, "usage", self);
                hinted(problem, "agents config set KEY VALUE\nagents config set KEY=VALUE…")
            }
            Error::StartEditor { .. } | Error::Editor { .. } | Error::NoTerminal => {
                let hint = "set VISUAL or EDITOR to an editor, or use agents config set";
                hinted(own("editor"), hint)
            }
            Error::EditNotSaved { source, .. } => {
                let Problem { kind, code, hint, .. } = source.problem();
                Problem { hint, ..Problem::new(kind, &code, self) }
            }
            Error::UnknownCommand { .. } => {
                hinted(Problem::new(Kind::NotFound, "unknown-command", self), "agents help")
            }
            Error::NoSchema { .. } => {
                hinted(Problem::new(Kind::NotFound, "unknown-schema", self), "agents schema")
            }
            Error::NeedsYes { .. } => Problem::new(Kind::Usage, "needs-yes", self),
            Error::Declined => own("declined"),
            Error::NothingToRun => {
                let problem = Problem::new(Kind::Usage, "usage", self);
                hinted(problem, "agents run PLAN_FILE\nagents run -- COMMAND…\nagents run --resume ID")
            }
            Error::InvalidValue { .. } => Problem::new(Kind::Usage, "invalid-value", self),
            Error::Interrupted => own("interrupted"),
        }
    }
}

fn hinted(problem: Problem, hint: &str) -> Problem {
    Problem { hint: hint.lines().map(str::to_owned).collect(), ..problem }
}

impl From<Kind> for Exit {
    fn from(kind: Kind) -> Exit {
        match kind {
            Kind::Error => Exit::Error,
            Kind::Usage => Exit::Usage,
            Kind::NotFound => Exit::NotFound,
            Kind::Conflict => Exit::Refused,
            Kind::Busy => Exit::Busy,
            Kind::OutcomeUnknown => Exit::OutcomeUnknown,
            Kind::Bug => Exit::Bug,
        }
    }
}

impl fmt::Display for Exit {
    /// The `status` of the envelope.
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
    fn causes_are_not_part_of_the_text() {
        let source = io::Error::other("the disk is gone");
        let error = Error::File { act: "read", path: "a".into(), source };
        let problem = error.problem();
        assert_eq!(problem.message, "cannot read `a`");
        assert_eq!(problem.causes, ["the disk is gone"]);
        assert_eq!((error.exit().code(), problem.code.as_str()), (1, "io"));
    }

    #[test]
    fn file_errors_keep_their_kind() {
        let source = io::Error::from(io::ErrorKind::NotFound);
        let error = Error::from(api::Error::File { action: "read", path: "a".into(), source });
        assert_eq!(error.exit(), Exit::NotFound);
        assert_eq!(Error::Interrupted.exit().code(), 130);
    }
}
