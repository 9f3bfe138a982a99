//! Errors of the commands, one variant per remedy.

use std::io;

pub(crate) type Result<T> = std::result::Result<T, Error>;

#[derive(thiserror::Error, Debug)]
pub(crate) enum Error {
    #[error("{0}\nhint: cargo xtask help")]
    Usage(String),
    #[error("step `{step}` failed; to run it alone:\n  {alone}")]
    Step { step: String, alone: String },
    #[error("cannot {action}")]
    Io { action: String, source: io::Error },
    #[error("unexpected output of `{command}`: {problem}")]
    Output { command: String, problem: String },
    #[error("{} skipped without an entry in {}: {}", .names.len(), crate::notes::ALLOWED_SKIPS, .names.join(", "))]
    Skips { names: Vec<String> },
    #[error("line {line} of {file} has no reason after the name")]
    AllowedSkip { file: &'static str, line: usize },
    #[error("line coverage is {percent:.2} %, below {minimum} %; to see the lines:\n  cargo xtask coverage")]
    Coverage { percent: f64, minimum: f64 },
    #[error("cannot run `{step}` on this machine: {reason}")]
    Tool { step: &'static str, reason: String },
}

impl Error {
    pub(crate) fn io(action: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        let action = action.into();
        |source| Error::Io { action, source }
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Error::Usage(_) => 2,
            _ => 1,
        }
    }
}
