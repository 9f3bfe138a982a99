//! Clean-up: plans that are done are removed; work that was not applied never is, unless its plan is named and that is asked for.

use std::collections::BTreeSet;

use serde::Serialize;
use store::{Actor, Held, PlanId, PlanRemoval, RequestId, Status};

use crate::{Error, Plan, Plans, Result, State};

/// The plans that a clean-up removed and kept, newest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cleaned {
    /// Plans that were removed. Their audit chains stay.
    pub removed: Vec<Plan>,
    /// Plans that stay: with work that was not applied, in use, or changed by someone else during the clean-up.
    pub kept: Vec<Plan>,
    /// Plans that someone else removed during the clean-up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<Plan>,
}

/// Whether work that was not applied may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Force {
    /// It stays.
    No,
    /// It goes, since the plan was named.
    Yes,
}

impl Plans {
    /// Removes all plans that are done: applied, undone, or without any change for a day. A dry run decides the same and removes nothing.
    /// Contents are collected later.
    ///
    /// A plan that is being run is kept, and so is one that someone else changes meanwhile. `on_removed` is called after each removal.
    pub fn clean<E: From<Error>>(
        &self,
        who: &Actor,
        dry_run: bool,
        on_removed: impl Fn(PlanId) -> Result<(), E>,
    ) -> Result<Cleaned, E> {
        let mut cleaned = Cleaned::default();
        let mut gone = BTreeSet::new();
        // A plan before the undos that its ledger needs.
        for plan in self.list(&[], None)?.into_iter().rev() {
            if plan.is_new() || self.live_lease(plan.id)?.is_some() {
                cleaned.kept.push(plan);
                continue;
            }
            let removal = self.removal(&plan, Force::No, &gone, who);
            let removed = if dry_run { removal.map(drop) } else { removal.and_then(|it| self.take_out(&it)) };
            match removed {
                Ok(()) => {
                    gone.insert(plan.id);
                    if !dry_run {
                        on_removed(plan.id)?;
                    }
                    cleaned.removed.push(plan);
                }
                Err(Error::Store(store::Error::NotFound { .. })) => cleaned.gone.push(plan),
                Err(
                    Error::Unapplied { .. }
                    | Error::StillNeeded { .. }
                    | Error::Store(store::Error::Conflict { .. }),
                ) => cleaned.kept.push(plan),
                Err(error) => return Err(error.into()),
            }
        }
        for plans in [&mut cleaned.removed, &mut cleaned.kept, &mut cleaned.gone] {
            plans.reverse();
        }
        Ok(cleaned)
    }

    /// Removes one plan. One that is being applied is never removed, nor an undo of a part as long as the plan it undoes is there; one with work
    /// that was not applied only by force.
    pub fn remove(&self, plan: &Plan, force: Force, who: &Actor) -> Result<()> {
        self.take_out(&self.removal(plan, force, &BTreeSet::new(), who)?)
    }

    /// Fails as [`remove`](Self::remove) would, and removes nothing.
    pub fn check_removal(&self, plan: &Plan, force: Force, who: &Actor) -> Result<()> {
        self.removal(plan, force, &BTreeSet::new(), who).map(drop)
    }

    /// The removal of a plan, if it may be removed once those that are `gone` are.
    fn removal(
        &self,
        plan: &Plan,
        force: Force,
        gone: &BTreeSet<PlanId>,
        who: &Actor,
    ) -> Result<PlanRemoval> {
        let changesets = self.changesets(plan.id)?;
        let work = self.work(&changesets)?;
        let is_done = matches!(plan.state, State::Applied | State::Undone)
            || work == 0 && plan.state != State::Applying;
        if !is_done && (force == Force::No || plan.state == State::Applying) {
            return Err(Error::Unapplied { plan: plan.id, state: plan.state, changesets: work });
        }
        if let Some(by) = self.needed_by(plan, gone)? {
            return Err(Error::StillNeeded { plan: plan.id, by });
        }
        let held = Held::of(changesets.iter().map(|changeset| changeset.entries));
        Ok(PlanRemoval {
            plan: plan.id,
            request: RequestId::new(),
            version: plan.version,
            // What came in meanwhile was not looked at, and goes by force only.
            held: Some(held).filter(|_| force == Force::No),
            who: who.clone(),
        })
    }

    fn take_out(&self, removal: &PlanRemoval) -> Result<()> {
        match self.store().remove_plan(removal) {
            Err(store::Error::Grown { plan }) => {
                let (state, changesets) = (self.get(plan)?.state, self.work(&self.changesets(plan)?)?);
                Err(Error::Unapplied { plan, state, changesets })
            }
            removed => Ok(removed?),
        }
    }

    /// How many changesets hold what actors recorded, or may still get something. Abandoned ones do as well: it was said that their changes
    /// are not to be applied, by their actor or by whoever cancelled the plan, and not that they may be deleted.
    fn work(&self, changesets: &[store::Changeset]) -> Result<usize> {
        let mut work = 0;
        for changeset in changesets {
            let holds = match changeset.status {
                Status::Open => true,
                Status::Sealed => changeset.entries > 0,
                Status::Abandoned => changeset.entries > 0 && !self.is_written_down(changeset)?,
            };
            work += usize::from(holds);
        }
        Ok(work)
    }
}
