//! Recovery: an apply that was cut off is finished by whoever comes next, and they are told.
//!
//! The file transaction's journal decides whether it was committed; it was rolled forward when the roots were opened. Where the journal is
//! gone with its folder (`git clean -xdf`), the files themselves say it: when one of them is as it was to be, all of them are brought there
//! from the contents in the store.

use filetx::{At, Seen, Trees};
use store::{Actor, PathBytes, PlanId};

use crate::apply::verify;
use crate::drift::{Targets, files, has_landed, holds, is_cleared, place};
use crate::intent::{Intent, intent, transaction_text};
use crate::staging::stage;
use crate::{Error, FileReport, Ground, PathKey, Plan, Plans, Purpose, Recovery, RecoveryEnd, Result, State};

impl Plans {
    /// Finishes interrupted applies in these roots, and says which. Live ones are waited for, as for any lock.
    ///
    /// Any number of processes may ask at the same time: one finishes it. A failure leaves it to the next.
    #[track_caller]
    pub fn recover(&self, ground: &Ground, roots: &[PathBytes], who: &Actor) -> Result<Vec<Recovery>> {
        let mut recovered = Vec::new();
        for plan in self.list(&[State::Applying], None)? {
            if plan.roots.iter().any(|root| roots.contains(root)) {
                recovered.extend(self.recover_plan(ground, plan.id, who)?);
            }
        }
        Ok(recovered)
    }

    /// Finishes an interrupted apply of one plan, if there is one.
    #[track_caller]
    pub fn recover_plan(&self, ground: &Ground, id: PlanId, who: &Actor) -> Result<Option<Recovery>> {
        let plan = self.get(id)?;
        let Some(begun) = intent(&plan)?.filter(|_| plan.state == State::Applying) else {
            self.mark_undone(&plan, who)?;
            return Ok(None);
        };
        if begun.machine != *ground.machine() {
            return Err(Error::OtherMachine { plan: id, machine: begun.machine });
        }
        // Whoever applies it holds these locks to the end. So when we have them and it is *applying* still, they are gone.
        let mut trees = ground.open(&plan.roots)?;
        let plan = self.get(id)?;
        let Some(begun) = intent(&plan)?.filter(|_| plan.state == State::Applying) else { return Ok(None) };
        self.finish(&plan, &begun, &mut trees).map(Some)
    }

    /// Lets marks go that were left in the roots although the store knows the outcome: somebody died between the two.
    pub(crate) fn acknowledge_known(&self, trees: &mut Trees) -> Result<()> {
        let marks: Vec<(u128, PlanId)> = trees
            .recovered()
            .iter()
            .filter_map(|found| Some((found.id, std::str::from_utf8(&found.owner).ok()?.parse().ok()?)))
            .collect();
        for (transaction, owner) in marks {
            let plan = match self.get(owner) {
                // Another store's.
                Err(Error::Store(store::Error::NotFound { .. })) => continue,
                plan => plan?,
            };
            if intent(&plan)?.is_none_or(|begun| begun.transaction != transaction_text(transaction)) {
                trees.acknowledge(transaction).map_err(files)?;
            }
        }
        Ok(())
    }

    /// All interrupted applies that are this machine's to finish.
    pub fn interrupted(&self, ground: &Ground) -> Result<Vec<Plan>> {
        let mut plans = self.list(&[State::Applying], None)?;
        let here =
            |plan: &Plan| matches!(intent(plan), Ok(Some(begun)) if begun.machine == *ground.machine());
        plans.retain(here);
        Ok(plans)
    }

    fn finish(&self, plan: &Plan, begun: &Intent, trees: &mut Trees) -> Result<Recovery> {
        let found = trees.recovered().iter().find(|found| transaction_text(found.id) == begun.transaction);
        let transaction = found.map(|found| found.id);
        let (targets, made) = self.targets_of(plan, begun.changeset)?;
        let reports = match transaction {
            Some(_) => verify(&plan.roots, &targets, &mut trees.begin(), plan.purpose)?,
            None => {
                let split = split(&plan.roots, &targets, trees)?;
                if split.landed.is_empty() {
                    let error = Error::Nothing {
                        plan: plan.id,
                        act: "finish: the apply was cut off before anything was touched",
                    };
                    self.back(plan, begun, &error)?;
                    return Ok(recovery(plan, begun, RecoveryEnd::Untouched, &[]));
                }
                if !split.todo.is_empty() {
                    let mut tx = trees.begin();
                    stage(&mut tx, &plan.roots, &split.todo, &made, self.store().as_ref())?;
                    let committed = tx.commit().map_err(|failure| files(failure.error))?;
                    if let Some(source) = committed.pending {
                        return Err(Error::CutOff { plan: plan.id, source: Box::new(source) });
                    }
                }
                verify(&plan.roots, &targets, &mut trees.begin(), plan.purpose)?
            }
        };
        self.conclude(plan, begun, &reports)?;
        if let Some(transaction) = transaction {
            drop(trees.acknowledge(transaction));
        }
        let is_whole = reports.iter().all(|report| !report.outcome.is_left());
        let end = if is_whole { RecoveryEnd::Finished } else { RecoveryEnd::Conflict };
        Ok(recovery(plan, begun, end, &reports))
    }

    /// An undo that has landed whole takes the plan it undoes out of *applied*; the undo of an undo brings it back.
    pub(crate) fn mark_undone(&self, undo: &Plan, who: &Actor) -> Result<()> {
        let Purpose::Undo { of } = undo.purpose else { return Ok(()) };
        if undo.state != State::Applied {
            return Ok(());
        }
        let undone = match self.get(of) {
            Err(Error::Store(store::Error::NotFound { .. })) => return Ok(()),
            undone => undone?,
        };
        if undone.state != State::Applied || !self.is_whole_undo(undo, &undone)? {
            return Ok(());
        }
        self.flip(&undone, State::Undone, undo.id, who)?;
        if let Purpose::Undo { of } = undone.purpose {
            match self.get(of) {
                Ok(first) if first.state == State::Undone => {
                    self.flip(&first, State::Applied, undo.id, who)?
                }
                Ok(_) | Err(Error::Store(store::Error::NotFound { .. })) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn flip(&self, plan: &Plan, to: State, by: PlanId, who: &Actor) -> Result<()> {
        let step = crate::Step::to(to, who)
            .kind(crate::apply::kind("plan.undone"))
            .note(serde_json::json!({ "by": by }));
        match self.step(plan, &step) {
            // Somebody else does the same.
            Err(Error::Store(store::Error::Conflict { .. })) => Ok(()),
            stepped => stepped.map(drop),
        }
    }

    /// Whether every path that a plan left is back to what it was before.
    fn is_whole_undo(&self, undo: &Plan, undone: &Plan) -> Result<bool> {
        let back = self.landed_paths(undo)?.targets;
        let there = self.landed_paths(undone)?.targets;
        Ok(there.iter().all(|(key, target)| {
            target.expected == target.after || back.get(key).is_some_and(|back| back.after == target.expected)
        }))
    }
}

/// What of an apply without a journal is there, and what is still to be done.
struct Split {
    landed: Vec<PathKey>,
    todo: Targets,
}

fn split(roots: &[PathBytes], targets: &Targets, trees: &mut Trees) -> Result<Split> {
    let mut tx = trees.begin();
    let mut split = Split { landed: Vec::new(), todo: Targets::new() };
    let removed: Vec<At> = targets
        .iter()
        .filter(|(_, target)| target.after.is_none())
        .map(|(key, _)| place(roots, key))
        .collect::<Result<_>>()?;
    // What was to stay as it was says nothing.
    for (key, target) in targets.iter().filter(|(_, target)| target.expected != target.after) {
        let at = place(roots, key)?;
        let seen = tx.observe(&at).map_err(files)?.clone();
        if has_landed(&seen, key, targets) {
            split.landed.push(key.clone());
        } else if holds(&seen, target.expected.as_ref())
            || (matches!(seen, Seen::Folder { .. }) && is_cleared(&mut tx, &at, &removed)?)
        {
            split.todo.insert(key.clone(), target.clone());
        }
    }
    Ok(split)
}

fn recovery(plan: &Plan, begun: &Intent, end: RecoveryEnd, reports: &[FileReport]) -> Recovery {
    let kept =
        reports.iter().filter(|report| report.outcome.is_left()).map(|report| report.key.clone()).collect();
    Recovery { plan: plan.id, begun_by: begun.who.clone(), end, kept }
}
