//! Recovery: an apply that was cut off is finished by whoever comes next, and they are told.
//!
//! The file transaction's journal decides whether it was committed; it was rolled forward when the roots were opened. Where the journal is
//! gone with its folder (`git clean -xdf`), the files themselves say it: when one of them is as it was to be, all of them are brought there
//! from the contents in the store.

use filetx::{Observed, Trees, TxPath};
use store::{Actor, ContentKind, PathBytes, PlanId};

use crate::apply::drift::{Targets, files, has_landed, holds, is_cleared, place};
use crate::apply::intent::{Intent, intent, transaction_text};
use crate::apply::staging::stage;
use crate::apply::{End, verify};
use crate::blob_source::UnstoredBlobs;
use crate::merge::subsets::Subsets;
use crate::{
    Error, FileChange, FileOutcome, FileReport, Host, PathKey, Plan, Plans, Recovery, RecoveryEnd, Result,
    Selection, State, Strategy,
};

impl Plans {
    /// Finishes interrupted applies in these roots, and says which. Live ones are waited for, as for any lock.
    ///
    /// Any number of processes may ask at the same time: one finishes it. A failure leaves it to the next.
    #[track_caller]
    pub fn recover(&self, host: &Host, roots: &[PathBytes], who: &Actor) -> Result<Vec<Recovery>> {
        let mut recovered = Vec::new();
        for plan in self.applying_in(roots)? {
            match self.recover_plan(host, plan.id, who) {
                // Another machine's folders have the same names as ours.
                Err(Error::OtherMachine { .. }) => {}
                end => recovered.extend(end?),
            }
        }
        Ok(recovered)
    }

    /// Locks roots in which nothing is left unfinished, and says what was finished for that.
    #[track_caller]
    pub(crate) fn open_settled(
        &self,
        host: &Host,
        roots: &[PathBytes],
        who: &Actor,
    ) -> Result<(Trees, Vec<Recovery>)> {
        let mut recovered = Vec::new();
        loop {
            recovered.extend(self.recover(host, roots, who)?);
            let mut trees = host.open(roots)?;
            // Nobody begins one any more; but somebody may have been cut off before we had the locks.
            let mut is_left = false;
            for plan in self.applying_in(roots)? {
                // Looking for the journal would want the locks that we hold; opening the roots has found it.
                is_left |= intent(&plan)?.is_some_and(|begun| {
                    begun.machine == *host.machine() || found(&trees, &begun.transaction).is_some()
                });
            }
            if !is_left {
                self.acknowledge_known(&mut trees)?;
                return Ok((trees, recovered));
            }
        }
    }

    fn applying_in(&self, roots: &[PathBytes]) -> Result<Vec<Plan>> {
        let mut plans = self.list(&[State::Applying], None)?;
        plans.retain(|plan| plan.roots.iter().any(|root| roots.contains(root)));
        Ok(plans)
    }

    /// Whether an apply that is under way is this machine's: it says so, or a root has its journal. A machine may have got another name.
    pub fn is_here(&self, host: &Host, plan: &Plan) -> Result<bool> {
        let Some(begun) = intent(plan)? else { return Ok(false) };
        if begun.machine == *host.machine() {
            return Ok(true);
        }
        let Ok(id) = u128::from_str_radix(&begun.transaction, 16) else { return Ok(false) };
        for root in &plan.roots {
            // A root that cannot be looked at is not here.
            if host.snapshot(root).is_ok_and(|snapshot| snapshot.has_unacknowledged(id).unwrap_or(false)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Finishes an interrupted apply of one plan, if there is one.
    #[track_caller]
    pub fn recover_plan(&self, host: &Host, id: PlanId, who: &Actor) -> Result<Option<Recovery>> {
        let plan = self.get(id)?;
        let Some(begun) = intent(&plan)?.filter(|_| plan.state == State::Applying) else {
            self.note_undone(id, who)?;
            self.end_undoing(&plan, who)?;
            return Ok(None);
        };
        if !self.is_here(host, &plan)? {
            return Err(Error::OtherMachine { plan: id, machine: begun.machine });
        }
        // Whoever applies it holds these locks to the end. So when we have them and it is *applying* still, they are gone.
        let mut trees = host.open(&plan.roots)?;
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
            // One that is not there is another store's.
            let Some(plan) = self.try_get(owner)? else { continue };
            if intent(&plan)?.is_none_or(|begun| begun.transaction != transaction_text(transaction)) {
                trees.acknowledge(transaction).map_err(files)?;
            }
        }
        Ok(())
    }

    /// All plans with something interrupted that is this machine's to finish: an apply, or noting what an undo did.
    pub fn interrupted(&self, host: &Host) -> Result<Vec<Plan>> {
        let mut plans = self.list(&[], None)?;
        plans.retain(|plan| match plan.state {
            State::Applying => matches!(self.is_here(host, plan), Ok(true)),
            _ => plan.has_pending_undo(),
        });
        Ok(plans)
    }

    fn finish(&self, plan: &Plan, begun: &Intent, trees: &mut Trees) -> Result<Recovery> {
        let found = found(trees, &begun.transaction);
        let (transaction, kept) = found.map(|found| (found.id, found.preserved.clone())).unzip();
        let untouched = || {
            let action = "finish: the apply was interrupted before it changed files";
            self.back(plan, begun, &Error::NothingToDo { plan: plan.id, action })?;
            Ok(recovery(plan, begun, RecoveryEnd::Untouched, &[]))
        };
        // No file is touched before all is written down.
        if let Some(changeset) = begun.changeset
            && !self.target_log_complete(changeset)?
        {
            return untouched();
        }
        let (targets, unstored) = self.targets_of(plan, begun.changeset)?;
        let split = match transaction {
            Some(_) => None,
            None => Some(split(&plan.roots, &targets, trees)?),
        };
        if split.as_ref().is_some_and(|split| split.landed.is_empty()) {
            return untouched();
        }
        // From here on files are changed, whatever fails.
        let todo = split.map(|split| split.todo);
        let kept = kept.unwrap_or_default();
        let reports = self.complete(plan, begun, trees, Journal { targets, unstored, todo, kept });
        let reports = reports.map_err(|error| match error {
            cut_off @ Error::ApplyIncomplete { .. } => cut_off,
            source => Error::ApplyIncomplete { plan: plan.id, source: Box::new(source) },
        })?;
        if let Some(transaction) = transaction {
            drop(trees.acknowledge(transaction));
        }
        let is_whole = reports.iter().all(|report| !report.outcome.is_left());
        let end = if is_whole { RecoveryEnd::Finished } else { RecoveryEnd::Conflict };
        Ok(recovery(plan, begun, end, &reports))
    }

    /// Brings the files that are still to be changed, looks at all of them, and records the outcome.
    fn complete(
        &self,
        plan: &Plan,
        begun: &Intent,
        trees: &mut Trees,
        journal: Journal,
    ) -> Result<Vec<FileReport>> {
        let Journal { targets, unstored, todo, kept } = journal;
        if let Some(todo) = todo.as_ref().filter(|todo| !todo.is_empty()) {
            let mut tx = trees.begin();
            stage(&mut tx, &plan.roots, todo, &unstored, self.store().as_ref())?;
            let committed = tx.commit().map_err(|failure| files(failure.error))?;
            if let Some(source) = committed.pending {
                return Err(files(source));
            }
        }
        let mut reports = verify(&plan.roots, &targets, &mut trees.begin(), plan.purpose)?;
        if todo.is_none() {
            reports.iter_mut().for_each(|report| published(report, &kept));
        }
        let folded = self.folded(plan.id, &Selection::default())?;
        let mut subsets = Subsets::new(&folded, Strategy::ThreeWay, self.store().as_ref());
        let all = || folded.iter().map(|folded| folded.credit.changeset).collect();
        let applied = if begun.changeset.is_some() { begun.applied.clone() } else { all() };
        let (there, ledger) = (Targets::new(), self.ledger(plan)?);
        let end = End { reports: &reports, there, unstored, ledger, subsets: &mut subsets };
        self.conclude(plan, &Intent { applied, ..begun.clone() }, end)?;
        Ok(reports)
    }
}

/// An interrupted apply that has changed files.
struct Journal {
    targets: Targets,
    unstored: UnstoredBlobs,
    /// Targets that are not in the files yet, when there is no journal that has brought them.
    todo: Option<Targets>,
    kept: Vec<filetx::Preserved>,
}

/// A transaction that was found in the roots when they were opened.
fn found<'a>(trees: &'a Trees, transaction: &str) -> Option<&'a filetx::RecoveredTransaction> {
    trees.recovered().iter().find(|found| transaction_text(found.id) == transaction)
}

/// Tells a file that somebody changed after ours had come to its path from one that ours never came to. The first has landed: taking it back is
/// refused for the change that was made since.
fn published(report: &mut FileReport, kept: &[filetx::Preserved]) {
    let is_file = report.after.as_ref().is_some_and(|after| after.kind == ContentKind::File);
    let has_content = is_file && matches!(report.change, FileChange::Create | FileChange::Modify);
    if !report.outcome.is_left() || !has_content {
        return;
    }
    let path = report.key.on_system();
    let aside = kept.iter().find(|kept| kept.path == path).and_then(|kept| kept.preserved_at.clone());
    report.outcome = match aside {
        Some(aside) => FileOutcome::Kept { aside: Some(aside) },
        None => FileOutcome::Done,
    };
}

/// What of an apply without a journal is there, and what is still to be done.
struct Split {
    landed: Vec<PathKey>,
    todo: Targets,
}

fn split(roots: &[PathBytes], targets: &Targets, trees: &mut Trees) -> Result<Split> {
    let mut tx = trees.begin();
    let mut split = Split { landed: Vec::new(), todo: Targets::new() };
    let removed: Vec<TxPath> = targets
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
            || (matches!(seen, Observed::Folder { .. }) && is_cleared(&mut tx, &at, &removed)?)
        {
            split.todo.insert(key.clone(), target.clone());
        }
    }
    Ok(split)
}

fn recovery(plan: &Plan, begun: &Intent, end: RecoveryEnd, reports: &[FileReport]) -> Recovery {
    let kept =
        reports.iter().filter(|report| report.outcome.is_left()).map(|report| report.key.clone()).collect();
    Recovery { plan: plan.id, started_by: begun.who.clone(), end, kept }
}
