//! What comes back about plans and changesets.

use plan::{
    Clash, Conflict, ConflictHunk, Credit, FileChange, FileOutcome, FileReport, ModifiedBy, ModifiedFile,
    PathKey, Plan, PruneReport, Recovery, State,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{ChangeEntry, Changeset};

use crate::RunSettings;
use crate::problem::text;

/// A plan with its changesets.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct PlanDetail {
    /// The plan.
    #[serde(flatten)]
    pub plan: Plan,
    /// In the order in which they were started.
    pub changesets: Vec<Changeset>,
    /// How its actors are run, of a plan that is run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunSettings>,
}

/// A changeset with its entries.
#[derive(Clone, PartialEq, Eq, JsonSchema, Serialize, Debug)]
pub struct ChangesetDetail {
    /// The changeset.
    #[serde(flatten)]
    pub changeset: Changeset,
    /// Entries, in the order in which they were recorded.
    #[serde(rename = "changes")]
    pub entries: Vec<ChangeEntry>,
}

/// A changeset that was sealed or abandoned.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Closed {
    /// The changeset.
    #[serde(flatten)]
    pub changeset: Changeset,
    /// State of its plan after that.
    pub plan_state: State,
}

/// Where a change was recorded.
#[derive(Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize, Debug)]
pub struct RecordedEntry {
    /// The changeset.
    pub changeset: String,
    /// Its place in it, from 1.
    pub sequence: u64,
}

/// What an apply or undo did, or would do.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct Applied {
    /// The plan as it is now; of an undo, the plan that undoes.
    pub plan: Plan,
    /// File by file, in order.
    pub files: Vec<FileState>,
    /// How many paths of the plan are still to be applied.
    pub left: usize,
    /// Whether nothing was done, only looked at.
    pub dry_run: bool,
    /// Applies in the same folders that were cut off, and were finished first.
    #[serde(skip)]
    pub recovered: Vec<Recovery>,
}

impl Applied {
    /// Whether a file was left as somebody else had made it.
    pub fn is_kept(&self) -> bool {
        self.files.iter().any(|file| file.outcome == "kept")
    }

    /// Whether a file was written and held something else afterwards.
    pub fn is_mismatched(&self) -> bool {
        self.files.iter().any(|file| file.outcome == "mismatch")
    }
}

/// What became of one file.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct FileState {
    /// The root.
    pub root: String,
    /// The path below it.
    pub path: String,
    /// The path that it had, of a rename.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// `create`, `modify`, `delete`, `rename` or `mode`.
    pub change: &'static str,
    /// `done`, `restored`, `untouched`, `kept` or `mismatch`.
    pub outcome: &'static str,
    /// Where ours was put, when somebody else had changed the file meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aside: Option<String>,
    /// Whose change it is.
    pub actors: Vec<String>,
}

/// A path before a rename and the one after it.
pub(crate) type Rename = (PathKey, PathKey);

/// The files of a report; a rename, whose two halves the report has apart, is told once.
pub(crate) fn files(reports: &[FileReport], renames: &[Rename]) -> Vec<FileState> {
    let old_of = |new: &FileReport| {
        let (from, _) = renames.iter().find(|(_, to)| *to == new.key)?;
        reports.iter().find(|old| {
            old.key == *from && old.change == FileChange::Delete && outcome(old).0 == outcome(new).0
        })
    };
    let is_new = |report: &&FileReport| report.change == FileChange::Create;
    let olds: Vec<&PathKey> = reports.iter().filter(is_new).filter_map(old_of).map(|old| &old.key).collect();
    let told = reports.iter().filter(|report| !olds.contains(&&report.key));
    told.map(|report| {
        let old = Some(report).filter(is_new).and_then(old_of);
        file(report, old)
    })
    .collect()
}

fn file(report: &FileReport, old: Option<&FileReport>) -> FileState {
    let (outcome, aside) = outcome(report);
    let credits = report.credits.iter().chain(old.iter().flat_map(|old| &old.credits));
    let mut actors: Vec<String> = Vec::new();
    for credit in credits {
        let actor = credit.actor.to_string();
        if !actors.contains(&actor) {
            actors.push(actor);
        }
    }
    FileState {
        root: report.key.root.show().into_owned(),
        path: report.key.path.show().into_owned(),
        from: old.map(|old| old.key.path.show().into_owned()),
        change: match report.change {
            _ if old.is_some() => "rename",
            FileChange::Create => "create",
            FileChange::Modify => "modify",
            FileChange::Delete => "delete",
            FileChange::Mode => "mode",
        },
        outcome,
        aside,
        actors,
    }
}

fn outcome(report: &FileReport) -> (&'static str, Option<String>) {
    match &report.outcome {
        FileOutcome::Done => ("done", None),
        FileOutcome::Restored => ("restored", None),
        FileOutcome::Untouched => ("untouched", None),
        FileOutcome::Kept { aside } => ("kept", aside.as_deref().map(text)),
        FileOutcome::Mismatch => ("mismatch", None),
    }
}

/// What cleaning up came to, or would come to.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct Cleaning {
    /// The plans.
    #[serde(flatten)]
    pub plans: PruneReport,
    /// Whether nothing was done, only looked at.
    pub dry_run: bool,
}

/// A conflict in a line.
pub fn conflict_line(conflict: &Conflict) -> String {
    // Of lines that clash, those who changed them; somebody else may have changed others.
    let is_part = |credit: &Credit| {
        let sides = |hunk: &ConflictHunk| hunk.ours_by.contains(credit) || hunk.theirs_by.contains(credit);
        conflict.clash != Clash::Lines || conflict.hunks.iter().any(sides)
    };
    let credits = conflict.sides.iter().map(|side| &side.credit).filter(|credit| is_part(credit));
    let mut actors: Vec<&str> = credits.map(|credit| credit.actor.as_str()).collect();
    actors.dedup();
    let clash = serde_json::to_value(conflict.clash).ok();
    let clash = clash.as_ref().and_then(|word| word.as_str()).unwrap_or_default().to_owned();
    let mut lines: Vec<String> = conflict.hunks.iter().map(|hunk| hunk.line.to_string()).collect();
    lines.dedup();
    let at = if lines.is_empty() { String::new() } else { format!(" at line {}", lines.join(", ")) };
    let by = if actors.is_empty() { String::new() } else { format!(", by {}", actors.join(" and ")) };
    format!("`{}`: {clash}{at}{by}", conflict.key.path.show())
}

/// Who changed a file since, in a line.
pub(crate) fn changed_line(changed: &ModifiedFile) -> String {
    let by = changed.by.iter().map(|changer| match changer {
        ModifiedBy::Plan { plan, actors } => {
            let actors: Vec<&str> = actors.iter().map(plan::Actor::as_str).collect();
            format!("by plan {plan} ({})", actors.join(", "))
        }
        ModifiedBy::Outside => "outside of any plan".to_owned(),
        ModifiedBy::Pruned { plans } => {
            let plans: Vec<String> = plans.iter().map(ToString::to_string).collect();
            format!("outside of any plan, or by one that was cleaned up ({})", plans.join(", "))
        }
    });
    let by: Vec<String> = by.collect();
    format!("`{}` was changed {}", changed.drift.key.path.show(), by.join(", then "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_outcome_has_a_word() {
        let report = |outcome| FileReport {
            key: PathKey {
                root: plan::PathBytes::parse("/srv").expect("a path"),
                path: plan::PathBytes::parse("a").expect("a path"),
            },
            change: FileChange::Modify,
            outcome,
            before: None,
            after: None,
            credits: Vec::new(),
        };
        let words = [
            (FileOutcome::Done, "done"),
            (FileOutcome::Restored, "restored"),
            (FileOutcome::Untouched, "untouched"),
            (FileOutcome::Kept { aside: None }, "kept"),
            (FileOutcome::Mismatch, "mismatch"),
        ];
        for (outcome, word) in words {
            assert_eq!(files(&[report(outcome)], &[])[0].outcome, word);
        }
    }
}
