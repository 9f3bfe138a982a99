//! What an undo does to the plans that it takes back, or brings back.
//!
//! When it begins, and before a file is touched, each of them names it. When it has ended, what it did is laid over what has landed of them,
//! and one of which nothing is left is *undone*. Whoever names a plan that still names an undo completes that, so it does not matter
//! where the undo was cut off.

use std::collections::BTreeSet;

use serde_json::json;
use store::{Actor, ChangesetId, PlanId};

use crate::apply::kind;
use crate::intent::{landed, takes, undoing, with_landed, with_undoing, without_landed};
use crate::landed::Landed;
use crate::{Error, Plan, Plans, Purpose, Result, State, Step};

/// A plan that an undo is about.
struct Member {
    plan: PlanId,
    /// The changesets whose changes go, or come back.
    changesets: Vec<ChangesetId>,
    /// Whether they go: those of a plan that is undone. The undo of an undo brings back those of the first.
    go: bool,
}

impl Plans {
    /// Has the plans that an undo is about name it.
    pub(crate) fn begin_undoing(&self, undo: &Plan, who: &Actor) -> Result<()> {
        for member in self.line(undo)? {
            self.note_on(member.plan, |plan| {
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
        self.line(undo)?.iter().try_for_each(|member| self.note_undone(member.plan, who))
    }

    /// Completes on a plan what undos that have ended did to it. Nothing is done where that has been completed.
    pub fn note_undone(&self, id: PlanId, who: &Actor) -> Result<()> {
        self.note_on(id, |plan| {
            let marks = undoing(plan)?;
            let (mut under_way, mut new) = (Vec::new(), Vec::new());
            for undo in &marks {
                match self.get_if_there(*undo)? {
                    Some(undo) if undo.state == State::Applying => under_way.push(undo.id),
                    Some(undo) => new.extend(self.done_by(&undo, plan)?),
                    None => {}
                }
            }
            if under_way.len() == marks.len() {
                return Ok(None);
            }
            let by: Vec<PlanId> = new.iter().filter_map(|landed| landed.by).collect();
            let mut detail = with_undoing(with_landed(plan, new)?, &under_way);
            let left = self.landed_paths(&Plan { detail: detail.clone(), ..plan.clone() })?;
            let is_empty = left.changes_nothing();
            if is_empty {
                detail = without_landed(detail);
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

    /// A plan that is there and tells by what this one did what has landed of it. Those that are `gone` count as removed.
    pub(crate) fn needed_by(&self, undo: &Plan, gone: &BTreeSet<PlanId>) -> Result<Option<PlanId>> {
        for member in self.line(undo)? {
            if !gone.contains(&member.plan)
                && let Some(plan) = self.get_if_there(member.plan)?
                && landed(&plan)?.iter().any(|landed| landed.by == Some(undo.id))
            {
                return Ok(Some(plan.id));
            }
        }
        Ok(None)
    }

    /// What an undo did to a plan, as far as the plan does not have it.
    fn done_by(&self, undo: &Plan, plan: &Plan) -> Result<Vec<Landed>> {
        let known: Vec<_> = landed(plan)?.into_iter().filter_map(|landed| landed.changeset).collect();
        let line = self.line(undo)?;
        let Some(member) = line.iter().find(|member| member.plan == plan.id) else { return Ok(Vec::new()) };
        let own = landed(undo)?.into_iter().filter(|landed| landed.by.is_none());
        let new = own.filter(|landed| landed.changeset.is_some_and(|id| !known.contains(&id)));
        let (brought, taken) = match member.go {
            true => (Vec::new(), member.changesets.clone()),
            false => (member.changesets.clone(), Vec::new()),
        };
        let by = Some(undo.id);
        Ok(new
            .map(|landed| Landed { brought: brought.clone(), taken: taken.clone(), by, ..landed })
            .collect())
    }

    /// The plans that an undo is about, the one that it undoes first. Those that were removed end the line.
    fn line(&self, undo: &Plan) -> Result<Vec<Member>> {
        let mut line: Vec<Member> = Vec::new();
        let mut below = undo.clone();
        while let Purpose::Undo { of } = below.purpose {
            let Some(plan) = self.get_if_there(of)? else { break };
            line.push(Member { plan: of, changesets: takes(&below)?, go: line.len().is_multiple_of(2) });
            below = plan;
        }
        Ok(line)
    }

    /// Takes a step of a plan that is worked out from what the plan is, again when somebody else was faster.
    fn note_on(&self, id: PlanId, step: impl Fn(&Plan) -> Result<Option<Step>>) -> Result<()> {
        while let Some(plan) = self.get_if_there(id)? {
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
