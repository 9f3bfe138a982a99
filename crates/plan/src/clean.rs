//! Clean-up: plans that are done are removed; work that was not applied never is, unless its plan is named and that is asked for.

use serde::Serialize;
use store::{Actor, PlanId, RequestId, Status};

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
    /// Removes all plans that are done: applied, undone, or without any change. Their contents are collected later.
    pub fn clean(&self, who: &Actor) -> Result<Cleaned> {
        let mut cleaned = Cleaned::default();
        for plan in self.list(&[], None)? {
            match self.remove(&plan, Force::No, who) {
                Ok(()) => cleaned.removed.push(plan.id),
                Err(Error::Unapplied { .. } | Error::Store(store::Error::Conflict { .. })) => {
                    cleaned.kept.push(plan.id);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(cleaned)
    }

    /// Removes one plan. One that is being applied is never removed; one with work that was not applied only by force.
    pub fn remove(&self, plan: &Plan, force: Force, who: &Actor) -> Result<()> {
        let work = self
            .changesets(plan.id)?
            .iter()
            .filter(|changeset| {
                changeset.status != Status::Abandoned
                    && (changeset.entries > 0 || changeset.status == Status::Open)
            })
            .count();
        let is_done = matches!(plan.state, State::Applied | State::Undone)
            || work == 0 && plan.state != State::Applying;
        if !is_done && (force == Force::No || plan.state == State::Applying) {
            return Err(Error::Unapplied { plan: plan.id, state: plan.state, changesets: work });
        }
        Ok(self.store().remove_plan(plan.id, plan.version, RequestId::new(), who)?)
    }
}
