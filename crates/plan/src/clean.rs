//! Clean-up: plans that are done are removed; work that was not applied never is, unless its plan is named and that is asked for.

use serde::Serialize;
use store::{Actor, Held, PlanId, PlanRemoval, RequestId, Status};

use crate::{Error, Plan, Plans, Result, State};

/// What cleaning up came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cleaned {
    /// Plans that were removed. Their audit chains stay.
    pub removed: Vec<PlanId>,
    /// Plans that hold work that was not applied, and stay.
    pub kept: Vec<PlanId>,
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
    /// Removes all plans that are done: applied, undone, or without any change for a day. Their contents are collected later.
    pub fn clean(&self, who: &Actor) -> Result<Cleaned> {
        let mut cleaned = Cleaned::default();
        // An undo behind the plan that it undoes, which tells by it what is left.
        for plan in self.list(&[], None)?.into_iter().rev() {
            if plan.is_new() {
                cleaned.kept.push(plan.id);
                continue;
            }
            match self.remove(&plan, Force::No, who) {
                Ok(()) => cleaned.removed.push(plan.id),
                Err(
                    Error::Unapplied { .. }
                    | Error::StillNeeded { .. }
                    | Error::Store(store::Error::Conflict { .. }),
                ) => {
                    cleaned.kept.push(plan.id);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(cleaned)
    }

    /// Removes one plan. One that is being applied is never removed, nor an undo of a part as long as the plan it undoes is there; one with work
    /// that was not applied only by force.
    pub fn remove(&self, plan: &Plan, force: Force, who: &Actor) -> Result<()> {
        let changesets = self.changesets(plan.id)?;
        let work = self.work(&changesets)?;
        let unapplied = |changesets| Error::Unapplied { plan: plan.id, state: plan.state, changesets };
        if !is_done(plan, work) && (force == Force::No || plan.state == State::Applying) {
            return Err(unapplied(work));
        }
        if let Some(by) = self.needed_by(plan)? {
            return Err(Error::StillNeeded { plan: plan.id, by });
        }
        let held = Held::of(changesets.iter().map(|changeset| changeset.entries));
        let removal = PlanRemoval {
            plan: plan.id,
            request: RequestId::new(),
            version: plan.version,
            // What came in meanwhile was not looked at, and goes by force only.
            held: Some(held).filter(|_| force == Force::No),
            who: who.clone(),
        };
        match self.store().remove_plan(&removal) {
            Err(store::Error::Grown { plan }) => Err(unapplied(self.work(&self.changesets(plan)?)?)),
            removed => Ok(removed?),
        }
    }

    /// Whether a plan holds no work that was not applied, and is not being applied.
    pub fn is_done(&self, plan: &Plan) -> Result<bool> {
        Ok(is_done(plan, self.work(&self.changesets(plan.id)?)?))
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

fn is_done(plan: &Plan, work: usize) -> bool {
    matches!(plan.state, State::Applied | State::Undone) || work == 0 && plan.state != State::Applying
}
