//! What a plan comes to before it is applied: its diff, and conflicts with how they are resolved.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use plan::{
    Actor, Choice, Conflict, FileDiff, OverlaySource, PathKey, Plan, PlanId, Selection, Status, StoredBlobs,
};

use crate::plans::root_path::{Below, below};
use crate::{Error, Plans};

/// How a conflict is resolved.
#[derive(Clone, Debug)]
pub enum Resolution {
    /// What this actor made of the file.
    Take(Actor),
    /// The content of this file.
    File(PathBuf),
    /// The file goes.
    Delete,
}

/// What a plan changes, file by file.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Difference {
    /// The plan.
    pub plan: Plan,
    /// The files that differ.
    pub files: Vec<FileDiff>,
    /// What cannot be shown since actors clash there.
    pub conflicts: Vec<Conflict>,
    /// Changesets that are open, and do not count yet.
    pub open: usize,
}

impl Plans {
    /// What a plan changes, or a part of it.
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

    /// Where actors of a plan clash.
    pub fn conflicts(&self, plan: &Plan) -> Result<Vec<Conflict>, Error> {
        let combined = self.inner.combine(plan.id, &Selection::default(), self.strategy_of(plan))?;
        Ok(combined.conflicts().cloned().collect())
    }

    /// Resolves a conflict, or anew one that was.
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

/// Refuses an actor who has no changeset: what they changed would be nothing, whatever the plan changes.
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
