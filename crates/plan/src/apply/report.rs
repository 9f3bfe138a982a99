//! Reports of applies and undos, file by file.

use std::collections::BTreeMap;
use std::fmt;
use std::mem::discriminant;
use std::path::PathBuf;

use serde::Serialize;
use store::{Actor, Content, PathBytes, PlanId};

use crate::apply::drift::Target;
use crate::merge::delta::distinct;
use crate::{Attribution, ChangeKind, PathKey, Plan};

/// The result of an apply or undo.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[must_use = "files may have drifted, and stayed as they were"]
pub struct Report {
    /// The plan afterwards; of an undo, the plan that undoes.
    pub plan: Plan,
    /// The files, sorted by path.
    pub files: Vec<FileReport>,
    /// The number of paths of the plan that are still to be applied.
    pub remaining: usize,
    /// Interrupted applies that were finished first.
    pub recovered: Vec<Recovery>,
    /// True if nothing was written.
    pub dry_run: bool,
}

impl Report {
    /// Returns the files that stayed as another process had changed them.
    pub fn drifted(&self) -> impl Iterator<Item = &FileReport> {
        self.files.iter().filter(|file| matches!(file.outcome, FileOutcome::Drifted { .. }))
    }

    /// Returns the files that were written and held another content afterwards.
    pub fn verify_failed(&self) -> impl Iterator<Item = &FileReport> {
        self.files.iter().filter(|file| file.outcome == FileOutcome::VerifyFailed)
    }
}

/// One file of a report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FileReport {
    /// The path.
    #[serde(flatten)]
    pub key: PathKey,
    /// The old path of a renamed file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<PathBytes>,
    /// The kind of the change.
    pub change: ChangeKind,
    /// The outcome of the change.
    pub outcome: FileOutcome,
    /// The content before the change.
    pub before: Option<Content>,
    /// The content after the change, whatever the outcome.
    pub after: Option<Content>,
    /// The authors of the change.
    pub authors: Vec<Attribution>,
}

impl FileReport {
    pub(crate) fn new(key: &PathKey, target: &Target, outcome: FileOutcome) -> Self {
        Self {
            key: key.clone(),
            renamed_from: target.renamed_from.clone(),
            change: ChangeKind::of(target.before.as_ref(), target.after.as_ref()),
            outcome,
            before: target.before.clone(),
            after: target.after.clone(),
            authors: target.authors.clone(),
        }
    }
}

/// Joins the two paths of each rename that have the same outcome, and sorts by path.
pub(crate) fn join_renames(files: Vec<FileReport>) -> Vec<FileReport> {
    let mut files: BTreeMap<PathKey, FileReport> =
        files.into_iter().map(|file| (file.key.clone(), file)).collect();
    let old_path = |file: &FileReport| Some(file.key.with_path(file.renamed_from.as_ref()?));
    let renames: Vec<(PathKey, PathKey)> =
        files.values().filter_map(|file| Some((file.key.clone(), old_path(file)?))).collect();
    for (new, old) in renames {
        let is_rename = files[&new].change == ChangeKind::Create
            && files.get(&old).is_some_and(|old| {
                old.change == ChangeKind::Delete
                    && discriminant(&old.outcome) == discriminant(&files[&new].outcome)
            });
        let old = if is_rename { files.remove(&old) } else { None };
        let Some(file) = files.get_mut(&new) else { continue };
        match old {
            Some(old) => {
                file.change = ChangeKind::Rename;
                file.before = old.before;
                file.authors = distinct(file.authors.drain(..).chain(old.authors));
            }
            None => file.renamed_from = None,
        }
    }
    files.into_values().collect()
}

/// The outcome of the change of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum FileOutcome {
    /// The file holds the content of the plan.
    Applied,
    /// The file holds its content from before the undone plan.
    Restored,
    /// The file held the content already.
    Unchanged,
    /// Another process changed the file during the apply, and its content stayed.
    Drifted {
        /// The file that has the content of the plan, if it had been written.
        preserved_at: Option<PathBuf>,
    },
    /// The file was written, and held another content when it was verified.
    VerifyFailed,
}

impl FileOutcome {
    /// Returns whether the file does not hold the content of the plan.
    pub(crate) fn is_failure(&self) -> bool {
        matches!(self, Self::Drifted { .. } | Self::VerifyFailed)
    }
}

/// An interrupted apply that was finished or rolled back.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recovery {
    /// The plan.
    pub plan: PlanId,
    /// The actor who started the apply.
    pub started_by: Actor,
    /// The outcome.
    pub outcome: RecoveryOutcome,
    /// The files that another process had changed.
    pub drifted: Vec<PathKey>,
}

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plan, started_by, outcome, drifted } = self;
        write!(f, "an apply of plan {plan}, started by {started_by}, was interrupted; ")?;
        match outcome {
            RecoveryOutcome::RolledBack => f.write_str("it had changed no files and was rolled back"),
            RecoveryOutcome::Finished => f.write_str("it is finished now"),
            RecoveryOutcome::Conflict => {
                let names: Vec<_> = drifted.iter().map(|key| key.path.show()).collect();
                write!(f, "it is finished now, except for files that have changed: {}", names.join(", "))
            }
        }
    }
}

/// The outcome of a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecoveryOutcome {
    /// No file had changed: the plan is in its previous state.
    RolledBack,
    /// All changes are applied.
    Finished,
    /// All changes are applied, except to files that another process had changed.
    Conflict,
}
