//! What can go wrong in a command, one variant per thing a person would do next.

use std::io;

pub(crate) type Result<T> = std::result::Result<T, Error>;

#[derive(thiserror::Error, Debug)]
pub(crate) enum Error {
    #[error("{0}\nhint: cargo xtask help")]
    Usage(String),
    #[error("step `{step}` failed; to run it alone:\n  {alone}")]
    Step { step: String, alone: String },
    #[error("cannot {doing}")]
    Io { doing: String, source: io::Error },
    #[error("`{command}` printed something unexpected: {problem}")]
    Output { command: String, problem: String },
    #[error("{} skipped but not in {}: {}", .names.len(), crate::notes::ALLOWED_SKIPS, .names.join(", "))]
    Skips { names: Vec<String> },
    #[error("line {line} of {file} has no reason after the name")]
    AllowedSkip { file: &'static str, line: usize },
    #[error("line coverage is {percent:.2} %, below {minimum} %; to see the lines:\n  cargo xtask coverage")]
    Coverage { percent: f64, minimum: f64 },
    #[error("cannot do `{step}` on this machine: {reason}")]
    Tool { step: &'static str, reason: String },
}

impl Error {
    pub(crate) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        let doing = doing.into();
        |source| Error::Io { doing, source }
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Error::Usage(_) => 2,
            _ => 1,
        }
    }
}
