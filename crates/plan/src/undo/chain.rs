//! The chain of plans that an undo is about: the plan that it undoes, and when that is an undo too, the one below, down to the first.
//!
//! Before a file is touched each of them names the undo. When it has ended, it is recorded in the ledger of each, and one of which nothing is
//! applied any more is *undone*. Whoever names a plan that still names an undo completes that, so it does not matter where the undo was cut
//! off.

use std::collections::BTreeSet;

use serde_json::json;
use store::{Actor, PlanId};

use crate::apply::intent::{Reverts, events, reverts, undoing, with_events, with_undoing, without_events};
use crate::apply::kind;
use crate::apply::ledger::LedgerEvent;
use crate::{Error, Plan, Plans, Purpose, Result, State, Step};

/// A plan that an undo is about.
struct Link {
    plan: PlanId,
    /// The changesets of it that are reverted, or come back.
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
    /// Has the plans that an undo is about name it.
    pub(crate) fn begin_undoing(&self, undo: &Plan, who: &Actor) -> Result<()> {
        for link in self.undo_chain(undo)? {
            self.note_on(link.plan, |plan| {
                let mut by = undoing(plan)?;
                if by.contains(&undo.id) {
                    return Ok(None);
                }
                by.push(undo.id);
                let step =
                    Step::to(plan.state, who).kind(kind("plan.undoing")).note(json!({ "by": undo.id }));
                Ok(Some(step.detail(with_undoing(plan.detail.clone(), &by))))
            })?;
        }
        Ok(())
    }

    /// Completes it on all of them.
    pub(crate) fn end_undoing(&self, undo: &Plan, who: &Actor) -> Result<()> {
        self.undo_chain(undo)?.iter().try_for_each(|link| self.note_undone(link.plan, who))
    }

    /// Completes on a plan what undos that have ended did to it. Nothing is done where that has been completed.
    pub fn note_undone(&self, id: PlanId, who: &Actor) -> Result<()> {
        self.note_on(id, |plan| {
            let marks = undoing(plan)?;
            let (mut under_way, mut new) = (Vec::new(), Vec::new());
            for undo in &marks {
                match self.try_get(*undo)? {
                    Some(undo) if undo.state == State::Applying => under_way.push(undo.id),
                    Some(undo) => new.extend(self.done_by(&undo, plan)?),
                    None => {}
                }
            }
            if under_way.len() == marks.len() {
                return Ok(None);
            }
            let by: Vec<PlanId> = new.iter().filter_map(|event| event.undo_plan).collect();
            let mut detail = with_undoing(with_events(plan, new)?, &under_way);
            let ledger = self.ledger(&Plan { detail: detail.clone(), ..plan.clone() })?;
            let is_empty = ledger.changes_nothing();
            if is_empty && !ledger.remembers() {
                detail = without_events(detail);
            }
            let to = match plan.state {
                State::Applied if is_empty => State::Undone,
                State::Undone if !is_empty => State::Applied,
                state => state,
            };
            let step = Step::to(to, who).kind(kind("plan.undone")).note(json!({ "by": by }));
            Ok(Some(step.detail(detail)))
        })
    }

    /// A plan that is there and whose ledger needs what this one did. Those that are `gone` count as removed.
    pub(crate) fn needed_by(&self, undo: &Plan, gone: &BTreeSet<PlanId>) -> Result<Option<PlanId>> {
        for link in self.undo_chain(undo)? {
            if !gone.contains(&link.plan)
                && let Some(plan) = self.try_get(link.plan)?
                && events(&plan)?.iter().any(|event| event.undo_plan == Some(undo.id))
            {
                return Ok(Some(plan.id));
            }
        }
        Ok(None)
    }

    /// The events of an undo that the ledger of a plan does not have.
    fn done_by(&self, undo: &Plan, plan: &Plan) -> Result<Vec<LedgerEvent>> {
        let known: Vec<_> = events(plan)?.into_iter().filter_map(|event| event.target_log).collect();
        let chain = self.undo_chain(undo)?;
        let Some(link) = chain.iter().find(|link| link.plan == plan.id) else { return Ok(Vec::new()) };
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
            instead: link.changesets.instead.clone(),
            undo_plan: Some(undo.id),
            ..own
        };
        Ok(new.map(event).collect())
    }

    /// The plans that an undo is about, the one that it undoes first. One that was removed ends the chain.
    fn undo_chain(&self, undo: &Plan) -> Result<Vec<Link>> {
        let mut chain: Vec<Link> = Vec::new();
        let mut below = undo.clone();
        while let Purpose::Undo { of } = below.purpose {
            let Some(plan) = self.try_get(of)? else { break };
            let direction =
                if chain.len().is_multiple_of(2) { Direction::Revert } else { Direction::Reapply };
            chain.push(Link { plan: of, changesets: reverts(&below)?, direction });
            below = plan;
        }
        Ok(chain)
    }

    /// Takes a step of a plan that is worked out from what the plan is, again when somebody else was faster.
    fn note_on(&self, id: PlanId, step: impl Fn(&Plan) -> Result<Option<Step>>) -> Result<()> {
        while let Some(plan) = self.try_get(id)? {
            let Some(step) = step(&plan)? else { break };
            let taken = match step.to == plan.state {
                true => self.annotate(&plan, &step),
                false => self.step(&plan, &step),
            };
            match taken {
                Err(Error::Store(store::Error::Conflict { .. })) => {}
                taken => return taken.map(drop),
            }
        }
        Ok(())
    }
}
