//! Recovery: the next process that names a plan or its roots finishes an interrupted apply, and
//! reports it.
//!
//! The journal of the file transaction decides whether it was committed; opening the roots rolls it
//! forward. If the journal is gone with its folder (`git clean -xdf`), the files decide: if one of
//! them holds its new content, all others get theirs from the store.

use filetx::{Observed, Snapshot, Trees};
use serde_json::json;
use store::{Actor, ContentKind, PathBytes, PlanId};

use crate::apply::drift::{Targets, becomes_empty, deleted, file_error, holds, is_applied, locate};
use crate::apply::intent::{Intent, intent, transaction_text, with_intent};
use crate::apply::staging::stage;
use crate::apply::vouch::is_local;
use crate::apply::{Results, kind, verify};
use crate::blob_source::UnstoredBlobs;
use crate::merge::subsets::Subsets;
use crate::roots::system_key;
use crate::{
    ChangeKind, Error, FileOutcome, FileReport, Host, PathKey, Plan, Plans, Recovery, RecoveryOutcome,
    Result, Selection, State, Step, Strategy,
};

impl Plans {
    /// Finishes interrupted applies in these roots. Waits for an apply in progress, as for any
    /// lock.
    ///
    /// Any number of processes may call this at the same time: one finishes each apply. A failure
    /// leaves it to the next call.
    #[track_caller]
    pub fn recover(&self, host: &Host, roots: &[PathBytes]) -> Result<Vec<Recovery>> {
        let mut recovered = Vec::new();
        for plan in self.applying_in(roots)? {
            match self.finish_interrupted(host, &plan) {
                // Roots of another machine may have the same paths.
                Err(Error::OtherMachine { .. }) => {}
                outcome => recovered.extend(outcome?),
            }
        }
        Ok(recovered)
    }

    /// Finishes interrupted applies in roots, and locks the roots.
    #[track_caller]
    pub(crate) fn open_recovered(&self, host: &Host, roots: &[PathBytes]) -> Result<(Trees, Vec<Recovery>)> {
        let mut recovered = Vec::new();
        loop {
            recovered.extend(self.recover(host, roots)?);
            let mut trees = host.open(self, roots)?;
            // No process starts an apply now; but one may have been interrupted before the lock.
            let mut is_interrupted = false;
            for plan in self.applying_in(roots)? {
                // A search for the journal would need the locks; opening the roots has found it.
                is_interrupted |= intent(&plan)?.is_some_and(|intent| {
                    intent.machine == *host.machine()
                        || recovered_transaction(&trees, &intent.transaction).is_some()
                });
            }
            if !is_interrupted {
                self.acknowledge_recorded(&mut trees)?;
                return Ok((trees, recovered));
            }
        }
    }

    fn applying_in(&self, roots: &[PathBytes]) -> Result<Vec<Plan>> {
        let mut plans = self.list(&[State::Applying], None)?;
        plans.retain(|plan| plan.roots.iter().any(|root| roots.contains(root)));
        Ok(plans)
    }

    /// Returns whether an apply in progress belongs to this machine: its intent names the machine,
    /// or the roots have its journal and are no copies. A machine may have been renamed.
    pub fn is_local_apply(&self, host: &Host, plan: &Plan) -> Result<bool> {
        Ok(intent(plan)?.is_some_and(|intent| is_local(host, plan, &intent)))
    }

    /// Reads a root as it will be once interrupted applies are finished. Writes nothing.
    #[track_caller]
    pub fn snapshot(&self, host: &Host, root: &PathBytes) -> Result<Snapshot> {
        host.snapshot(self, root).map_err(file_error)
    }

    /// Finishes an interrupted apply of a plan, and completes undos of it.
    #[track_caller]
    pub fn recover_plan(&self, host: &Host, id: PlanId, actor: &Actor) -> Result<Option<Recovery>> {
        let plan = self.get(id)?;
        if applying(&plan)?.is_some() {
            return self.finish_interrupted(host, &plan);
        }
        let plan = self.reconcile_undos(plan, actor)?;
        self.complete_undo(&plan, actor)?;
        Ok(None)
    }

    #[track_caller]
    fn finish_interrupted(&self, host: &Host, plan: &Plan) -> Result<Option<Recovery>> {
        let Some(intent) = applying(plan)? else { return Ok(None) };
        if !self.is_local_apply(host, plan)? {
            return Err(Error::OtherMachine { plan: plan.id, machine: intent.machine });
        }
        // An apply holds these locks to its end. A plan that is still *applying* under the locks
        // was interrupted.
        let mut trees = host.open(self, &plan.roots)?;
        // The process that held the locks may have finished it, and the plan may have been removed.
        let Some(plan) = self.try_get(plan.id)? else { return Ok(None) };
        let Some(intent) = applying(&plan)? else { return Ok(None) };
        self.finish(&plan, &intent, &mut trees).map(Some)
    }

    /// Acknowledges transactions in the roots whose outcome is in the store: a process died between
    /// the two.
    pub(crate) fn acknowledge_recorded(&self, trees: &mut Trees) -> Result<()> {
        let transactions: Vec<(u128, PlanId)> = trees
            .recovered()
            .iter()
            .filter_map(|found| Some((found.id, std::str::from_utf8(&found.owner).ok()?.parse().ok()?)))
            .collect();
        for (transaction, owner) in transactions {
            // A plan that does not exist belongs to another store.
            let Some(plan) = self.try_get(owner)? else { continue };
            if intent(&plan)?.is_none_or(|intent| intent.transaction != transaction_text(transaction)) {
                trees.acknowledge(transaction).map_err(file_error)?;
            }
        }
        Ok(())
    }

    /// Returns the plans with an interrupted apply of this machine, or an undo to reconcile.
    pub fn interrupted(&self, host: &Host) -> Result<Vec<Plan>> {
        let mut plans = self.list(&[], None)?;
        plans.retain(|plan| match plan.state {
            State::Applying => matches!(self.is_local_apply(host, plan), Ok(true)),
            _ => plan.has_pending_undo(),
        });
        Ok(plans)
    }

    fn finish(&self, plan: &Plan, intent: &Intent, trees: &mut Trees) -> Result<Recovery> {
        let found = recovered_transaction(trees, &intent.transaction);
        let (transaction, kept) = found.map(|found| (found.id, found.preserved.clone())).unzip();
        let roll_back = || {
            let action = "finish: the apply was interrupted before it changed a file";
            self.abort_apply(plan, intent, &Error::NothingToDo { plan: plan.id, action })?;
            Ok(recovery(plan, intent, RecoveryOutcome::RolledBack, &[]))
        };
        // No file changes before the target log is complete.
        if let Some(target_log) = intent.target_log
            && !self.target_log_complete(target_log)?
        {
            return roll_back();
        }
        let (targets, unstored) = self.logged_targets(plan, intent.target_log)?;
        let inspected = match transaction {
            Some(_) => None,
            None => {
                // The files get their contents from the store.
                self.check_untampered(plan.id)?;
                Some(inspect(&plan.roots, &targets, trees)?)
            }
        };
        if inspected.as_ref().is_some_and(|inspected| inspected.applied.is_empty()) {
            return roll_back();
        }
        // From here on files are changed, whatever fails.
        let pending = inspected.map(|inspected| inspected.pending);
        let kept = kept.unwrap_or_default();
        let reports = self.complete(plan, intent, trees, Journal { targets, unstored, pending, kept });
        let reports = reports.map_err(|error| match error {
            incomplete @ Error::ApplyIncomplete { .. } => incomplete,
            source => Error::ApplyIncomplete { plan: plan.id, source: Box::new(source) },
        })?;
        if let Some(transaction) = transaction {
            drop(trees.acknowledge(transaction));
        }
        let is_whole = reports.iter().all(|report| !report.outcome.is_failure());
        let outcome = if is_whole { RecoveryOutcome::Finished } else { RecoveryOutcome::Conflict };
        Ok(recovery(plan, intent, outcome, &reports))
    }

    /// Applies pending targets, verifies all paths, and stores the outcome.
    fn complete(
        &self,
        plan: &Plan,
        intent: &Intent,
        trees: &mut Trees,
        journal: Journal,
    ) -> Result<Vec<FileReport>> {
        let Journal { targets, unstored, pending, kept } = journal;
        let mut plan = plan.clone();
        let mut resumed = None;
        if let Some(pending) = pending.as_ref().filter(|pending| !pending.is_empty()) {
            let mut tx = trees.begin();
            stage(&mut tx, &plan.roots, pending, &unstored, self.store().as_ref())?;
            // Its journal needs a plan that vouches for it.
            resumed = Some(tx.id());
            plan = self.register_resumed(&plan, intent, tx.id(), pending.len())?;
            let committed = tx.commit_for(plan.id.to_string().as_bytes());
            if let Some(source) = committed.map_err(|failure| file_error(failure.error))?.pending {
                return Err(file_error(source));
            }
        }
        let plan = &plan;
        let mut reports = verify(&plan.roots, &targets, &mut trees.begin(), plan.purpose)?;
        if pending.is_none() {
            reports.iter_mut().for_each(|report| correct_published(report, &kept));
        }
        let deltas = self.deltas(plan.id, &Selection::default())?;
        let mut subsets = Subsets::new(&deltas, Strategy::ThreeWay, self.store().as_ref());
        let all = || deltas.iter().map(|delta| delta.attribution.changeset).collect();
        let applied = if intent.target_log.is_some() { intent.applied.clone() } else { all() };
        let (already_applied, ledger) = (Targets::new(), self.ledger(plan)?);
        let subsets = &mut subsets;
        let results = Results { reports: &reports, already_applied, unstored, ledger, subsets };
        self.conclude(plan, &Intent { applied, ..intent.clone() }, results)?;
        if let Some(resumed) = resumed {
            drop(trees.acknowledge(resumed));
        }
        Ok(reports)
    }

    /// Stores the transaction that continues an apply, before its journal is written.
    fn register_resumed(&self, plan: &Plan, intent: &Intent, id: u128, files: usize) -> Result<Plan> {
        let resumed = Intent { transaction: transaction_text(id), is_resumed: true, ..intent.clone() };
        let note = json!({ "files": files, "transaction": resumed.transaction, "machine": resumed.machine });
        let step = Step::to(State::Applying, &intent.actor)
            .kind(kind("plan.applying"))
            .note(note)
            .detail(with_intent(plan, &resumed));
        self.annotate(plan, &step)
    }
}

/// The intent of a plan that is *applying*.
fn applying(plan: &Plan) -> Result<Option<Intent>> {
    Ok(intent(plan)?.filter(|_| plan.state == State::Applying))
}

/// An interrupted apply that has changed files.
struct Journal {
    targets: Targets,
    unstored: UnstoredBlobs,
    /// Targets to apply, if there is no journal that has published them.
    pending: Option<Targets>,
    kept: Vec<filetx::Preserved>,
}

/// The transaction of an apply, if opening the roots has found it.
fn recovered_transaction<'a>(
    trees: &'a Trees,
    transaction: &str,
) -> Option<&'a filetx::RecoveredTransaction> {
    trees.recovered().iter().find(|found| transaction_text(found.id) == transaction)
}

/// Counts a file that was changed after it was published as applied: an undo refuses it as
/// modified. A file that was changed before stays drifted.
fn correct_published(report: &mut FileReport, kept: &[filetx::Preserved]) {
    let is_file = report.after.as_ref().is_some_and(|after| after.kind == ContentKind::File);
    let has_content = is_file && matches!(report.change, ChangeKind::Create | ChangeKind::Modify);
    if !report.outcome.is_failure() || !has_content {
        return;
    }
    let path = system_key(&report.key);
    let preserved_at = kept.iter().find(|kept| kept.path == path).and_then(|kept| kept.preserved_at.clone());
    report.outcome = match preserved_at {
        Some(file) => FileOutcome::Drifted { preserved_at: Some(file) },
        None => FileOutcome::Applied,
    };
}

/// Targets of an apply without a journal, compared with the files.
struct Inspected {
    applied: Vec<PathKey>,
    pending: Targets,
}

fn inspect(roots: &[PathBytes], targets: &Targets, trees: &mut Trees) -> Result<Inspected> {
    let mut tx = trees.begin();
    let mut inspected = Inspected { applied: Vec::new(), pending: Targets::new() };
    let deleted = deleted(roots, targets)?;
    // A path that keeps its content decides nothing.
    for (key, target) in targets.iter().filter(|(_, target)| target.before != target.after) {
        let at = locate(roots, key)?;
        let seen = tx.observe(&at).map_err(file_error)?.clone();
        if is_applied(&seen, key, targets) {
            inspected.applied.push(key.clone());
        } else if holds(&seen, target.before.as_ref())
            || (matches!(seen, Observed::Folder { .. }) && becomes_empty(&mut tx, &at, &deleted)?)
        {
            inspected.pending.insert(key.clone(), target.clone());
        }
    }
    Ok(inspected)
}

fn recovery(plan: &Plan, intent: &Intent, outcome: RecoveryOutcome, reports: &[FileReport]) -> Recovery {
    let failed = reports.iter().filter(|report| report.outcome.is_failure());
    let drifted = failed.map(|report| report.key.clone()).collect();
    Recovery { plan: plan.id, started_by: intent.actor.clone(), outcome, drifted }
}
