//! Review of a plan: its diff, and its conflicts with their resolutions.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use plan::{
    Actor, Choice, Conflict, FileDiff, OverlaySource, PathKey, Plan, PlanId, Selection, Status, StoredBlobs,
};

use crate::plans::root_path::{Below, below};
use crate::{Error, Plans};

/// Resolution of a conflict.
#[derive(Clone, Debug)]
pub enum Resolution {
    /// Take the version of this actor.
    Take(Actor),
    /// Take the content of this file.
    File(PathBuf),
    /// Delete the path.
    Delete,
}

/// Diff of a plan.
#[derive(Clone, Debug, schemars::JsonSchema, serde::Serialize)]
pub struct Difference {
    /// The plan.
    pub plan: Plan,
    /// Files that differ, sorted by path.
    pub files: Vec<FileDiff>,
    /// Conflicts, which the diff leaves out.
    pub conflicts: Vec<Conflict>,
    /// Number of open changesets, which the diff leaves out.
    pub open: usize,
}

impl Plans {
    /// Diffs a plan, or a selection of it.
    pub fn diff(&self, plan: &Plan, selection: &Selection) -> Result<Difference, Error> {
        let paths = selection.path_filter()?;
        let changesets = self.inner.changesets(plan.id)?;
        check_actors(plan.id, &selection.actors, &changesets)?;
        let combined = self.inner.combine(plan.id, selection, self.strategy_of(plan))?;
        let stored = StoredBlobs(self.inner.store().as_ref());
        let contents = OverlaySource { overlay: &combined.unstored, base: &stored };
        let mut files = Vec::new();
        for shown in combined.diff_entries() {
            let from = shown.renamed_from.clone().map(|path| PathKey { root: shown.key.root.clone(), path });
            if paths.matches(&shown.key) || from.is_some_and(|from| paths.matches(&from)) {
                files.extend(plan::diffs(&shown, &contents)?);
            }
        }
        let conflicts = combined.conflicts().filter(|conflict| paths.matches(&conflict.key)).cloned();
        let open = changesets.iter().filter(|changeset| changeset.status == Status::Open).count();
        Ok(Difference { plan: plan.clone(), files, conflicts: conflicts.collect(), open })
    }

    /// Conflicts of a plan.
    pub fn conflicts(&self, plan: &Plan) -> Result<Vec<Conflict>, Error> {
        let combined = self.inner.combine(plan.id, &Selection::default(), self.strategy_of(plan))?;
        Ok(combined.conflicts().cloned().collect())
    }

    /// Resolves a conflict. A later resolution replaces an earlier one.
    pub fn resolve(
        &self,
        plan: &Plan,
        path: &str,
        root: Option<&Path>,
        resolution: &Resolution,
    ) -> Result<Plan, Error> {
        let root = root.map(|root| self.inner.context(plan.id)?.root(&self.agents.absolute(root)));
        let root = root.transpose()?;
        let no_conflict = || plan::Error::NoConflict { plan: plan.id, path: path.to_owned() };
        let Below { root, path: at } = below(&plan.roots, root.as_ref(), path)?;
        let mut found = self.inner.resolvable(plan.id, &at, self.strategy_of(plan))?;
        found.retain(|conflict| root.as_ref().is_none_or(|root| *root == conflict.key.root));
        let conflict = match found.as_slice() {
            [] => return Err(no_conflict().into()),
            [only] => only,
            _ => return Err(Error::AmbiguousRoot { plan: plan.id, path: path.to_owned() }),
        };
        let choice = match resolution {
            Resolution::Take(actor) => Choice::Take(actor.clone()),
            Resolution::Delete => Choice::Content(None),
            Resolution::File(file) => {
                let sides = conflict.sides.iter().rev().filter_map(|side| side.after.as_ref());
                let mode = conflict.base.as_ref().or_else(|| sides.clone().next()).map(|found| found.mode);
                Choice::Content(Some(self.piece(file, mode.unwrap_or(0o644))?))
            }
        };
        let key = conflict.key.clone();
        Ok(self.inner.resolve(plan, &key, &choice, self.strategy_of(plan), &self.who)?)
    }
}

/// Refuses an actor without a changeset in the plan: the diff would be empty.
fn check_actors(plan: PlanId, named: &[Actor], changesets: &[store::Changeset]) -> Result<(), Error> {
    let known: BTreeSet<&Actor> = changesets.iter().map(|changeset| &changeset.actor).collect();
    match named.iter().find(|actor| !known.contains(actor)) {
        None => Ok(()),
        Some(actor) => {
            let actors = known.into_iter().cloned().collect();
            Err(Error::NoSuchActor { plan, actor: actor.clone(), actors })
        }
    }
}
