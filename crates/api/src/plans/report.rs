//! Results of calls about plans and changesets.

use plan::{
    Attribution, ChangeKind, Conflict, ConflictHunk, ConflictKind, FileOutcome, FileReport, ModifiedBy,
    ModifiedFile, PathBytes, Plan, PruneReport, Recovery, State,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{ChangeEntry, Changeset, JsonBytes};

use crate::RunSettings;
use crate::problem::text;

/// A plan with its changesets.
#[derive(Clone, PartialEq, JsonSchema, Serialize, Debug)]
pub struct PlanDetail {
    /// The plan.
    #[serde(flatten)]
    pub plan: Plan,
    /// Changesets, in the order of their start.
    pub changesets: Vec<Changeset>,
    /// Settings of its run, if it has one.
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
#[derive(Clone, PartialEq, Eq, JsonSchema, Serialize, Debug)]
pub struct Closed {
    /// The changeset.
    #[serde(flatten)]
    pub changeset: Changeset,
    /// State of its plan after that.
    pub plan_state: State,
}

/// An entry that was recorded.
#[derive(Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize, Debug)]
pub struct RecordedEntry {
    /// Id of the changeset.
    pub changeset: String,
    /// Position in the changeset, from 1.
    pub sequence: u64,
}

/// Result of an apply or undo, or of its dry run.
#[derive(Clone, PartialEq, JsonSchema, Serialize, Debug)]
pub struct Applied {
    /// The plan after it; of an undo, the plan that undoes.
    pub plan: Plan,
    /// Files, sorted by path.
    pub files: Vec<FileState>,
    /// Number of paths of the plan that are still to be applied.
    pub remaining: usize,
    /// Nothing was written.
    pub dry_run: bool,
    /// Interrupted applies in the same roots that were finished first.
    #[serde(skip)]
    pub recovered: Vec<Recovery>,
}

impl Applied {
    pub(crate) fn of(report: plan::Report) -> Self {
        let plan::Report { plan, files, remaining, dry_run, recovered } = report;
        Self { plan, files: files.iter().map(FileState::of).collect(), remaining, dry_run, recovered }
    }

    /// Returns whether a file stayed as another process had changed it.
    pub fn has_drifted(&self) -> bool {
        self.files.iter().any(|file| file.outcome == "drifted")
    }

    /// Returns whether a file was written and held another content afterwards.
    pub fn has_verify_failed(&self) -> bool {
        self.files.iter().any(|file| file.outcome == "verify-failed")
    }
}

/// Outcomes of a file.
const OUTCOMES: [&str; 5] = ["applied", "restored", "unchanged", "drifted", "verify-failed"];

/// Result for one file.
#[derive(Clone, PartialEq, Eq, JsonSchema, Serialize, Debug)]
pub struct FileState {
    /// The root.
    #[serde(serialize_with = "JsonBytes::serialize_bytes")]
    #[schemars(with = "JsonBytes")]
    pub root: PathBytes,
    /// The path below it.
    #[serde(serialize_with = "JsonBytes::serialize_bytes")]
    #[schemars(with = "JsonBytes")]
    pub path: PathBytes,
    /// Old path of a rename.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "JsonBytes::serialize_option")]
    #[schemars(with = "Option<JsonBytes>")]
    pub from: Option<PathBytes>,
    /// Kind of the change.
    pub change: ChangeKind,
    /// Permission bits after the change, in octal, if they include setuid, setgid or the sticky bit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// `applied`, `restored`, `unchanged`, `drifted` or `verify-failed`.
    #[schemars(extend("enum" = OUTCOMES))]
    pub outcome: &'static str,
    /// File with the content of the plan, if another process changed the path during the apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preserved_at: Option<String>,
    /// Authors of the change.
    pub actors: Vec<String>,
}

impl FileState {
    fn of(report: &FileReport) -> Self {
        let (outcome, preserved_at) = outcome(report);
        let mut actors: Vec<String> = Vec::new();
        for author in &report.authors {
            let actor = author.actor.to_string();
            if !actors.contains(&actor) {
                actors.push(actor);
            }
        }
        Self {
            root: report.key.root.clone(),
            path: report.key.path.clone(),
            from: report.renamed_from.clone(),
            change: report.change,
            mode: report.after.as_ref().and_then(|after| special_mode(after.mode)),
            outcome,
            preserved_at,
            actors,
        }
    }
}

/// Permission bits in octal, if they include setuid, setgid or the sticky bit.
pub fn special_mode(mode: u32) -> Option<String> {
    (mode & 0o7000 != 0).then(|| format!("{mode:04o}"))
}

fn outcome(report: &FileReport) -> (&'static str, Option<String>) {
    match &report.outcome {
        FileOutcome::Applied => ("applied", None),
        FileOutcome::Restored => ("restored", None),
        FileOutcome::Unchanged => ("unchanged", None),
        FileOutcome::Drifted { preserved_at } => ("drifted", preserved_at.as_deref().map(text)),
        FileOutcome::VerifyFailed => ("verify-failed", None),
    }
}

/// Result of a prune, or of its dry run.
#[derive(Clone, PartialEq, JsonSchema, Serialize, Debug)]
pub struct Cleaning {
    /// The plans.
    #[serde(flatten)]
    pub plans: PruneReport,
    /// Nothing was written.
    pub dry_run: bool,
}

/// Describes a conflict in one line.
pub fn conflict_line(conflict: &Conflict) -> String {
    // Of a conflict in lines, only the authors of these lines.
    let is_part = |author: &Attribution| {
        let sides = |hunk: &ConflictHunk| hunk.ours_by.contains(author) || hunk.theirs_by.contains(author);
        conflict.kind != ConflictKind::Lines || conflict.hunks.iter().any(sides)
    };
    let authors = conflict.sides.iter().map(|side| &side.attribution).filter(|author| is_part(author));
    let mut actors: Vec<&str> = authors.map(|author| author.actor.as_str()).collect();
    actors.dedup();
    let clash = serde_json::to_value(conflict.kind).ok();
    let clash = clash.as_ref().and_then(|word| word.as_str()).unwrap_or_default().to_owned();
    let mut lines: Vec<String> = conflict.hunks.iter().map(|hunk| hunk.line.to_string()).collect();
    lines.dedup();
    let at = if lines.is_empty() { String::new() } else { format!(" at line {}", lines.join(", ")) };
    let by = if actors.is_empty() { String::new() } else { format!(", by {}", actors.join(" and ")) };
    format!("`{}`: {clash}{at}{by}", conflict.key.path.show())
}

/// Describes who modified a file since, in one line.
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
    use plan::PathKey;

    #[test]
    fn each_outcome_has_a_word() {
        let report = |outcome| FileReport {
            key: PathKey {
                root: PathBytes::parse("/srv").expect("a path"),
                path: PathBytes::parse("a").expect("a path"),
            },
            renamed_from: None,
            change: ChangeKind::Modify,
            outcome,
            before: None,
            after: None,
            authors: Vec::new(),
        };
        let words = [
            (FileOutcome::Applied, "applied"),
            (FileOutcome::Restored, "restored"),
            (FileOutcome::Unchanged, "unchanged"),
            (FileOutcome::Drifted { preserved_at: None }, "drifted"),
            (FileOutcome::VerifyFailed, "verify-failed"),
        ];
        for (outcome, word) in words {
            assert_eq!(FileState::of(&report(outcome)).outcome, word);
        }
    }
}
