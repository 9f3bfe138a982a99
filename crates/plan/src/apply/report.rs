//! What an apply or undo did, or would do, file by file.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use store::{Actor, Content, PlanId};

use crate::{Credit, PathKey, Plan};

/// What an apply or undo came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[must_use = "files may have been kept from being changed"]
pub struct Report {
    /// The plan as it is now.
    pub plan: Plan,
    /// File by file, in order.
    pub files: Vec<FileReport>,
    /// How many paths of the plan are still to be applied.
    pub left: usize,
    /// Interrupted applies that were finished on the way.
    pub recovered: Vec<Recovery>,
    /// Whether nothing was done, only looked at.
    pub dry_run: bool,
}

impl Report {
    /// The files that somebody else had changed meanwhile: theirs stayed.
    pub fn kept(&self) -> impl Iterator<Item = &FileReport> {
        self.files.iter().filter(|file| matches!(file.outcome, FileOutcome::Kept { .. }))
    }

    /// The files that were written and did not hold it when they were looked at.
    pub fn mismatched(&self) -> impl Iterator<Item = &FileReport> {
        self.files.iter().filter(|file| file.outcome == FileOutcome::Mismatch)
    }
}

/// What became of one file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FileReport {
    /// Where.
    #[serde(flatten)]
    pub key: PathKey,
    /// What was done to it.
    pub change: FileChange,
    /// How that ended.
    pub outcome: FileOutcome,
    /// What it held.
    pub before: Option<Content>,
    /// What it holds, or was to hold.
    pub after: Option<Content>,
    /// Whose change it is.
    pub credits: Vec<Credit>,
}

/// What is done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileChange {
    /// It is made.
    Create,
    /// It gets another content.
    Modify,
    /// It goes.
    Delete,
    /// It gets other permission bits.
    Mode,
}

impl FileChange {
    pub(crate) fn of(before: Option<&Content>, after: Option<&Content>) -> Self {
        match (before, after) {
            (_, None) => Self::Delete,
            (None, _) => Self::Create,
            (Some(before), Some(after)) if before.blob == after.blob && before.kind == after.kind => {
                Self::Mode
            }
            _ => Self::Modify,
        }
    }
}

/// How a file's change ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum FileOutcome {
    /// It is as declared.
    Done,
    /// It is as it was before the plan that is undone.
    Restored,
    /// It is as it was found.
    Untouched,
    /// Somebody else changed it meanwhile, and theirs stayed.
    Kept {
        /// Where ours was put, when it had been on its way.
        aside: Option<PathBuf>,
    },
    /// It was written, and held something else when it was looked at afterwards.
    Mismatch,
}

impl FileOutcome {
    /// Whether the file is not what the plan declares.
    pub(crate) fn is_left(&self) -> bool {
        matches!(self, Self::Kept { .. } | Self::Mismatch)
    }
}

/// An interrupted apply that was finished.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recovery {
    /// The plan.
    pub plan: PlanId,
    /// Who had begun to apply it.
    pub started_by: Actor,
    /// What it came to.
    pub end: RecoveryEnd,
    /// The files that somebody else had changed meanwhile.
    pub kept: Vec<PathKey>,
}

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plan, started_by, end, kept } = self;
        write!(f, "an apply of plan {plan}, started by {started_by}, had been cut off; ")?;
        match end {
            RecoveryEnd::Untouched => f.write_str("it had touched nothing, and the plan is as before"),
            RecoveryEnd::Finished => f.write_str("it is finished now"),
            RecoveryEnd::Conflict => {
                let names: Vec<_> = kept.iter().map(|key| key.path.show()).collect();
                let names = names.join(", ");
                write!(f, "it is finished now, but for files that somebody changed meanwhile: {names}")
            }
        }
    }
}

/// How an interrupted apply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RecoveryEnd {
    /// Nothing had been touched: the plan is as before.
    Untouched,
    /// All of it is there.
    Finished,
    /// All of it is there, but for files that somebody else had changed meanwhile.
    Conflict,
}
