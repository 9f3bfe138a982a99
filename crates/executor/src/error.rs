//! What can go wrong, by what a caller may do about it.

use std::io;
use std::path::PathBuf;

use crate::Problem;

/// Why a call failed. The cause, where the system gave one, is the `source`.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A plan file cannot be read.
    #[error("cannot read plan file `{}`", file.display())]
    ReadPlanFile {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A plan file says something that does not make sense. Nothing was run.
    #[error("plan file `{}` has {}", file.display(), listed(problems))]
    PlanFile {
        /// The file.
        file: PathBuf,
        /// All that is wrong, in the order of the file.
        problems: Vec<Problem>,
    },
    /// A pattern of paths cannot be read.
    #[error("`{pattern}` is not a pattern of paths: {reason}")]
    BadPattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// The result of this crate's calls.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::ReadPlanFile { .. } => Some("name an existing TOML file: `agents run PLAN.toml`"),
            Self::PlanFile { .. } => {
                Some("correct the file; `agents run --dry-run PLAN.toml` checks it and runs nothing")
            }
            Self::BadPattern { .. } => {
                Some("`*` and `?` are within a name, `**` is over folders, `[…]` and `{a,b}` are choices")
            }
        }
    }
}

/// One problem as it is; several one per line.
fn listed(problems: &[Problem]) -> String {
    match problems {
        [only] => format!("a problem at {only}"),
        several => {
            let lines: String = several.iter().map(|problem| format!("\n  {problem}")).collect();
            format!("{} problems:{lines}", several.len())
        }
    }
}
