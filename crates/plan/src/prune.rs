//! Prune: removes finished plans. A plan with unapplied work is removed only by name and by force.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;
use store::{Actor, PlanId, PlanRemoval, PlanSize, RequestId, Status};

use crate::{Error, Plan, Plans, Result, State};

/// The plans that a prune removed and kept, newest first.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct PruneReport {
    /// Removed plans. Their audit chains are kept.
    pub removed: Vec<Plan>,
    /// Plans with unapplied work, in use, or changed by another process during the prune.
    pub kept: Vec<Plan>,
    /// Plans that another process removed during the prune.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub already_removed: Vec<Plan>,
}

/// The treatment of unapplied work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Force {
    /// Keep plans with unapplied work.
    No,
    /// Remove the plan with its unapplied work.
    Yes,
}

impl Plans {
    /// Removes all finished plans: applied, undone, or without recorded changes and unchanged for a
    /// day. An undo that changed no file has no changes of actors. A dry run decides the same and removes nothing. Garbage collection of contents is
    /// separate.
    ///
    /// Keeps plans that run, and plans that another process changes concurrently. Calls
    /// `on_removed` after each removal.
    pub fn prune<E: From<Error>>(
        &self,
        actor: &Actor,
        dry_run: bool,
        on_removed: impl Fn(PlanId) -> Result<(), E>,
    ) -> Result<PruneReport, E> {
        let mut report = PruneReport::default();
        let mut removed_ids = BTreeSet::new();
        // Oldest first: a plan before the undos that its ledger refers to.
        for plan in self.list(&[], None)?.into_iter().rev() {
            if plan.is_recent() || self.live_lease(plan.id)?.is_some() {
                report.kept.push(plan);
                continue;
            }
            let removal = self.removal(&plan, Force::No, &removed_ids, actor);
            let removed =
                if dry_run { removal.map(drop) } else { removal.and_then(|it| self.remove_stored(&it)) };
            match removed {
                Ok(()) => {
                    removed_ids.insert(plan.id);
                    if !dry_run {
                        on_removed(plan.id)?;
                    }
                    report.removed.push(plan);
                }
                Err(Error::Store(store::Error::NotFound { .. })) => report.already_removed.push(plan),
                Err(
                    Error::Unapplied { .. }
                    | Error::HasDependents { .. }
                    | Error::BeingUndone { .. }
                    | Error::Store(store::Error::Conflict { .. }),
                ) => report.kept.push(plan),
                Err(error) => return Err(error.into()),
            }
        }
        for plans in [&mut report.removed, &mut report.kept, &mut report.already_removed] {
            plans.reverse();
        }
        Ok(report)
    }

    /// Removes one plan. A plan that is *applying* is never removed, nor a plan while an undo of it
    /// is *applying*, nor a partial undo while the plan that it undoes exists. A plan with unapplied work is removed only by force.
    pub fn remove(&self, plan: &Plan, force: Force, actor: &Actor) -> Result<()> {
        self.remove_stored(&self.removal(plan, force, &BTreeSet::new(), actor)?)
    }

    /// Fails as [`remove`](Self::remove) would, but removes nothing.
    pub fn check_removal(&self, plan: &Plan, force: Force, actor: &Actor) -> Result<()> {
        self.removal(plan, force, &BTreeSet::new(), actor).map(drop)
    }

    /// Returns the removal of a plan, if it may be removed after the plans `removed`.
    fn removal(
        &self,
        plan: &Plan,
        force: Force,
        removed: &BTreeSet<PlanId>,
        actor: &Actor,
    ) -> Result<PlanRemoval> {
        let changesets = self.changesets(plan.id)?;
        let work = self.count_work(&changesets)?;
        let is_finished = matches!(plan.state, State::Applied | State::Undone)
            || plan.is_unfinished_undo()
            || work == 0 && plan.state != State::Applying;
        if !is_finished && (force == Force::No || plan.state == State::Applying) {
            return Err(Error::Unapplied { plan: plan.id, state: plan.state, changesets: work });
        }
        if let Some(by) = self.undo_in_progress(plan)? {
            return Err(Error::BeingUndone { plan: plan.id, by });
        }
        if let Some(by) = self.dependent_of(plan, removed)? {
            return Err(Error::HasDependents { plan: plan.id, by });
        }
        let held = PlanSize::of(changesets.iter().map(|changeset| changeset.entries));
        Ok(PlanRemoval {
            plan: plan.id,
            request: RequestId::new(),
            version: plan.version,
            // Later changes were not checked: remove them only by force.
            size: Some(held).filter(|_| force == Force::No),
            actor: actor.clone(),
        })
    }

    fn remove_stored(&self, removal: &PlanRemoval) -> Result<()> {
        match self.store().remove_plan(removal) {
            Err(store::Error::PlanChanged { plan }) => {
                let (state, changesets) = (self.get(plan)?.state, self.count_work(&self.changesets(plan)?)?);
                Err(Error::Unapplied { plan, state, changesets })
            }
            removed => Ok(removed?),
        }
    }

    /// Counts changesets that hold work of actors, or may still receive some. An abandoned
    /// changeset counts: abandoning means not to apply its changes, not to delete them.
    fn count_work(&self, changesets: &[store::Changeset]) -> Result<usize> {
        let mut work = 0;
        for changeset in changesets {
            let holds_work = match changeset.status {
                Status::Open => true,
                Status::Sealed => changeset.entries > 0,
                Status::Abandoned => changeset.entries > 0 && !self.is_target_log(changeset)?,
            };
            work += usize::from(holds_work);
        }
        Ok(work)
    }
}
