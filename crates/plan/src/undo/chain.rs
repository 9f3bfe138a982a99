//! The chain of an undo: the plan that it undoes, and while that is an undo too, the plan below.
//!
//! Before a file changes, each plan of the chain names the undo. When the undo has ended, it is
//! recorded in the ledger of each; a plan of which nothing is applied becomes *undone*. The next
//! call that names a plan completes undos that it still names, wherever they were interrupted.

use std::collections::BTreeSet;

use serde_json::json;
use store::{Actor, PlanId};

use crate::apply::intent::{Reverts, events, reverts, undoing, with_events, with_undoing, without_events};
use crate::apply::kind;
use crate::apply::ledger::LedgerEvent;
use crate::{Error, Plan, Plans, Purpose, Result, State, Step};

/// A plan of the chain.
struct Link {
    plan: Plan,
    /// The changesets that are reverted or applied again.
    changesets: Reverts,
    direction: Direction,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Revert,
    /// The undo of an undo applies again what the first reverted.
    Reapply,
}

impl Plans {
    /// Names an undo in the plans of its chain.
    pub(crate) fn mark_undo(&self, undo: &Plan, actor: &Actor) -> Result<()> {
        for link in self.undo_chain(undo)? {
            self.update_plan(link.plan, |plan| {
                let mut undos = undoing(plan)?;
                if undos.contains(&undo.id) {
                    return Ok(None);
                }
                undos.push(undo.id);
                let step =
                    Step::to(plan.state, actor).kind(kind("plan.undoing")).note(json!({ "by": undo.id }));
                Ok(Some(step.detail(with_undoing(plan.detail.clone(), &undos))))
            })?;
        }
        Ok(())
    }

    /// Reconciles the plans of an undo's chain.
    pub(crate) fn complete_undo(&self, undo: &Plan, actor: &Actor) -> Result<()> {
        let mut chain = self.undo_chain(undo)?.into_iter();
        chain.try_for_each(|link| self.reconcile_undos(link.plan, actor).map(drop))
    }

    /// Records undos that have ended in the ledger of a plan that names them, and returns the plan.
    /// Reads the store only if the plan names an undo.
    pub fn reconcile_undos(&self, plan: Plan, actor: &Actor) -> Result<Plan> {
        self.update_plan(plan, |plan| {
            let undos = undoing(plan)?;
            let (mut in_progress, mut new) = (Vec::new(), Vec::new());
            for undo in &undos {
                match self.try_get(*undo)? {
                    Some(undo) if undo.state == State::Applying => in_progress.push(undo.id),
                    Some(undo) => new.extend(self.undo_events(&undo, plan)?),
                    None => {}
                }
            }
            if in_progress.len() == undos.len() {
                return Ok(None);
            }
            let by: Vec<PlanId> = new.iter().filter_map(|event| event.undo_plan).collect();
            let mut detail = with_undoing(with_events(plan, new)?, &in_progress);
            let ledger = self.ledger(&Plan { detail: detail.clone(), ..plan.clone() })?;
            let is_reverted = ledger.is_reverted();
            if is_reverted && !ledger.has_overwritten() {
                detail = without_events(detail);
            }
            let to = match plan.state {
                State::Applied if is_reverted => State::Undone,
                State::Undone if !is_reverted => State::Applied,
                state => state,
            };
            let step = Step::to(to, actor).kind(kind("plan.undone")).note(json!({ "by": by }));
            Ok(Some(step.detail(detail)))
        })
    }

    /// Returns an undo of a plan that is *applying*.
    pub(crate) fn undo_in_progress(&self, plan: &Plan) -> Result<Option<PlanId>> {
        for undo in undoing(plan)? {
            if self.try_get(undo)?.is_some_and(|undo| undo.state == State::Applying) {
                return Ok(Some(undo));
            }
        }
        Ok(None)
    }

    /// Returns a plan whose ledger needs the events of an undo. Plans in `removed` do not count.
    pub(crate) fn dependent_of(&self, undo: &Plan, removed: &BTreeSet<PlanId>) -> Result<Option<PlanId>> {
        for Link { plan, .. } in self.undo_chain(undo)? {
            if !removed.contains(&plan.id)
                && events(&plan)?.iter().any(|event| event.undo_plan == Some(undo.id))
            {
                return Ok(Some(plan.id));
            }
        }
        Ok(None)
    }

    /// Returns the events of an undo that the ledger of a plan does not have.
    fn undo_events(&self, undo: &Plan, plan: &Plan) -> Result<Vec<LedgerEvent>> {
        let known: Vec<_> = events(plan)?.into_iter().filter_map(|event| event.target_log).collect();
        let chain = self.undo_chain(undo)?;
        let Some(link) = chain.iter().find(|link| link.plan.id == plan.id) else { return Ok(Vec::new()) };
        let own = events(undo)?.into_iter().filter(|event| event.undo_plan.is_none());
        let new = own.filter(|event| event.target_log.is_some_and(|id| !known.contains(&id)));
        let (mut applied, mut reverted) = (Vec::new(), link.changesets.changesets.clone());
        if link.direction == Direction::Reapply {
            std::mem::swap(&mut applied, &mut reverted);
        }
        let event = |own: LedgerEvent| LedgerEvent {
            applied: applied.clone(),
            carried: Vec::new(),
            reverted: reverted.clone(),
            overrides: link.changesets.overrides.clone(),
            undo_plan: Some(undo.id),
            ..own
        };
        Ok(new.map(event).collect())
    }

    /// Returns the chain of an undo, the plan that it undoes first. A removed plan ends the chain.
    fn undo_chain(&self, undo: &Plan) -> Result<Vec<Link>> {
        let mut chain: Vec<Link> = Vec::new();
        let mut above = undo.clone();
        while let Purpose::Undo { of } = above.purpose {
            let Some(plan) = self.try_get(of)? else { break };
            let direction =
                if chain.len().is_multiple_of(2) { Direction::Revert } else { Direction::Reapply };
            chain.push(Link { plan: plan.clone(), changesets: reverts(&above)?, direction });
            above = plan;
        }
        Ok(chain)
    }

    /// Takes the step that `step` derives from a plan, and derives it again if another process has
    /// changed the plan. Leaves a removed plan alone.
    fn update_plan(&self, mut plan: Plan, step: impl Fn(&Plan) -> Result<Option<Step>>) -> Result<Plan> {
        while let Some(step) = step(&plan)? {
            let taken = match step.to == plan.state {
                true => self.annotate(&plan, &step),
                false => self.step(&plan, &step),
            };
            match taken {
                Err(Error::Store(store::Error::Conflict { .. } | store::Error::NotFound { .. })) => {}
                taken => return taken,
            }
            plan = match self.try_get(plan.id)? {
                Some(plan) => plan,
                None => return Ok(plan),
            };
        }
        Ok(plan)
    }
}
