//! Apply: changes every file of every root that a plan touches, or none.
//!
//! `docs/design/plans.md` argues the order of the steps and the state after a crash in each; the
//! numbers are the same there.

pub(crate) mod drift;
pub(crate) mod found_journal;
pub(crate) mod intent;
pub(crate) mod ledger;
pub(crate) mod recovery;
pub(crate) mod remaining;
pub(crate) mod report;
pub(crate) mod staging;
pub(crate) mod target_log;
pub(crate) mod vouch;

use filetx::{FailureOutcome, TreeTransaction, Trees};
use serde_json::json;
use store::{Actor, AuditKind, ChangesetId, OpenChangesets, Resource};

use crate::apply::drift::{Checked, RootReader, Target, Targets, check, file_error, is_applied, locate};
use crate::apply::intent::{Intent, transaction_text, with_intent, without_intent};
use crate::apply::ledger::{Ledger, LedgerEvent};
use crate::apply::remaining::{ApplySet, apply_set};
use crate::apply::report::join_renames;
use crate::apply::staging::stage;
use crate::blob_source::{BlobSource, UnstoredBlobs};
use crate::merge::subsets::Subsets;
use crate::plural::plural_were;
use crate::roots::system_key;
use crate::{
    Error, FileOutcome, FileReport, Host, OverlaySource, PathKey, Plan, Plans, Purpose, Recovery, Report,
    Result, Selection, State, Step, StoredBlobs, Strategy,
};

/// A request to apply a plan.
#[derive(Clone, Debug)]
pub struct ApplyRequest {
    /// The actor who applies the plan.
    pub actor: Actor,
    /// The changes to apply. The plan stays *ready* while any remain.
    pub selection: Selection,
    /// The strategy for paths that several actors changed.
    pub strategy: Strategy,
    /// True to merge texts that have drifted in other lines.
    pub merge_drift: bool,
    /// True to write nothing, neither in the roots nor in the store.
    pub dry_run: bool,
}

impl ApplyRequest {
    /// Applies all changes, merged three-way. Drift is an error.
    pub fn by(actor: &Actor) -> Self {
        Self {
            actor: actor.clone(),
            selection: Selection::default(),
            strategy: Strategy::default(),
            merge_drift: false,
            dry_run: false,
        }
    }
}

/// Results of an apply, and what is needed to count the remaining paths.
pub(crate) struct Results<'a, 'b> {
    /// The files that the apply changed.
    pub reports: &'a [FileReport],
    pub already_applied: Targets,
    /// Contents that may not be in the store.
    pub unstored: UnstoredBlobs,
    /// The ledger before the apply.
    pub ledger: Ledger,
    pub subsets: &'a mut Subsets<'b>,
}

impl Plans {
    /// Applies a plan: all selected changes in all of its roots, or none.
    ///
    /// First every path is compared with the content that the plan recorded; a difference is
    /// [`Error::Drifted`]. Interrupted applies in the same roots are finished before. If two
    /// processes apply one plan, one of them gets a conflict that names the other. Applies to one
    /// root wait for each other; applies to disjoint roots run in parallel.
    ///
    /// A failure changes no files, unless it is [`Error::ApplyIncomplete`]: then the plan stays
    /// *applying*, and the next call that names it or its roots finishes it.
    ///
    /// An undo is applied by [`undo`](Self::undo) alone: one that was interrupted is refused.
    #[track_caller]
    pub fn apply(&self, host: &Host, plan: &Plan, request: &ApplyRequest) -> Result<Report> {
        match plan.purpose {
            Purpose::Undo { of } if plan.is_unfinished_undo() => {
                Err(Error::UnfinishedUndo { plan: plan.id, of })
            }
            _ => self.apply_any(host, plan, request),
        }
    }

    /// Applies a plan of any purpose.
    #[track_caller]
    pub(crate) fn apply_any(&self, host: &Host, plan: &Plan, request: &ApplyRequest) -> Result<Report> {
        let _span = tracing::info_span!("plan", id = %plan.id, doing = "apply").entered();
        self.check_untampered(plan.id)?;
        if request.dry_run {
            return self.preview(host, plan, request);
        }
        // 1. Lock the roots: from here on no other process applies to them.
        let (mut trees, recovered) = self.open_recovered(host, &plan.roots)?;
        let plan = self.reconcile_undos(self.get(plan.id)?, &request.actor)?;
        check_state(&plan)?;
        self.apply_locked(host, &plan, request, &mut trees, recovered)
    }

    fn apply_locked(
        &self,
        host: &Host,
        plan: &Plan,
        request: &ApplyRequest,
        trees: &mut Trees,
        recovered: Vec<Recovery>,
    ) -> Result<Report> {
        let mut tx = trees.begin();
        // 2. Combine the changesets, and check every path.
        let store = self.store().as_ref();
        let deltas = self.deltas(plan.id, &Selection::default())?;
        let mut subsets = Subsets::new(&deltas, request.strategy, store);
        let ledger = self.ledger(plan)?;
        let set = apply_set(plan, request, &ledger, self.unchanged_targets(plan)?, &mut subsets);
        let checked =
            set.and_then(|mut set| Ok((self.check_targets(plan, request, &mut set, &mut tx)?, set)));
        let (checked, set) = match checked {
            Err(error @ (Error::Conflicts { .. } | Error::Drifted { .. })) => {
                self.enter_conflict(plan, request, &error)?;
                return Err(error);
            }
            checked => checked?,
        };
        // `checked` has its own copies, and large plans have many.
        drop(set.targets);
        // 3. Store the intent: from here on the plan is *applying*, for all processes and after
        // every crash.
        let target_log = ChangesetId::new();
        let intent = Intent {
            machine: host.machine().clone(),
            process: std::process::id(),
            transaction: transaction_text(tx.id()),
            inodes: plan.roots.iter().filter_map(|root| host.inode(root)).collect(),
            is_resumed: false,
            target_log: Some(target_log),
            applied: set.applied.into_iter().collect(),
            carried: set.carried,
            actor: request.actor.clone(),
            previous_state: plan.state,
        };
        let note = json!({
            "files": checked.pending.len(), "transaction": intent.transaction, "machine": intent.machine
        });
        let step = Step::to(State::Applying, &request.actor)
            .kind(kind("plan.applying"))
            .note(note)
            .detail(with_intent(plan, &intent))
            .open(OpenChangesets::Refuse);
        let applying = self.step(plan, &step)?;
        // 4. Log the targets.
        let transaction = tx.id();
        let staged = self
            .mark_undo(&applying, &request.actor)
            .and_then(|()| {
                let targets = checked.all();
                self.log_targets(&applying, target_log, &targets, &checked.unstored, &request.actor)
            })
            .and_then(|()| stage(&mut tx, &plan.roots, &checked.pending, &checked.unstored, store));
        // 5. Commit one transaction over all roots.
        let committed = match staged {
            Err(error) => {
                drop(tx);
                return self.abort_apply(&applying, &intent, &error).and(Err(error));
            }
            Ok(()) => tx.commit_for(plan.id.to_string().as_bytes()),
        };
        let committed = match committed {
            Ok(committed) => committed,
            Err(failure) if failure.outcome == FailureOutcome::Aborted => {
                let error = file_error(failure.error);
                return self.abort_apply(&applying, &intent, &error).and(Err(error));
            }
            Err(failure) => {
                return Err(Error::ApplyIncomplete { plan: plan.id, source: Box::new(failure.error) });
            }
        };
        if let Some(source) = committed.pending {
            return Err(Error::ApplyIncomplete { plan: plan.id, source: Box::new(source) });
        }
        // From here on files are changed, whatever fails.
        let incomplete = |source: Error| Error::ApplyIncomplete { plan: plan.id, source: Box::new(source) };
        // 6. Verify every path.
        let mut reports =
            verify(&plan.roots, &checked.pending, &mut trees.begin(), plan.purpose).map_err(incomplete)?;
        for report in reports.iter_mut().filter(|report| report.outcome.is_failure()) {
            let path = system_key(&report.key);
            let kept = committed.preserved.iter().find(|kept| kept.path == path);
            report.outcome = kept.map_or(FileOutcome::VerifyFailed, |kept| FileOutcome::Drifted {
                preserved_at: kept.preserved_at.clone(),
            });
        }
        // 7. Store the outcome; then remove the mark in the root.
        let results = Results {
            reports: &reports,
            already_applied: checked.already_applied.clone(),
            unstored: UnstoredBlobs::default(),
            ledger,
            subsets: &mut subsets,
        };
        let (plan, remaining) = self.conclude(&applying, &intent, results).map_err(incomplete)?;
        drop(trees.acknowledge(transaction));
        reports.extend(unchanged_files(&checked));
        Ok(Report { plan, files: join_renames(reports), remaining, recovered, dry_run: false })
    }

    /// Reports what an apply would do, to the files as an interrupted apply would leave them.
    /// Writes nothing.
    fn preview(&self, host: &Host, plan: &Plan, request: &ApplyRequest) -> Result<Report> {
        check_state(plan)?;
        let deltas = self.deltas(plan.id, &Selection::default())?;
        let mut subsets = Subsets::new(&deltas, request.strategy, self.store().as_ref());
        let mut ledger = self.ledger(plan)?;
        let mut set = apply_set(plan, request, &ledger, self.unchanged_targets(plan)?, &mut subsets)?;
        let mut reader =
            plan.roots.iter().map(|root| self.snapshot(host, root)).collect::<Result<Vec<_>>>()?;
        let checked = self.check_targets(plan, request, &mut set, &mut reader)?;
        let outcome = success(plan.purpose);
        let pending = checked.pending.iter();
        let pending = pending.map(|(key, target)| FileReport::new(key, target, outcome.clone()));
        let files = join_renames(pending.chain(unchanged_files(&checked)).collect());
        let applied = set.applied.into_iter().collect();
        ledger.record(&LedgerEvent { applied, carried: set.carried, ..LedgerEvent::default() }, set.targets);
        let remaining = remaining::count(&ledger, &mut subsets)?;
        Ok(Report { plan: plan.clone(), files, remaining, recovered: Vec::new(), dry_run: true })
    }

    /// Compares every path with its target. Moves the new contents and the unchanged paths of the
    /// set.
    fn check_targets(
        &self,
        plan: &Plan,
        request: &ApplyRequest,
        set: &mut ApplySet,
        reader: &mut dyn RootReader,
    ) -> Result<Checked> {
        let stored = StoredBlobs(self.store().as_ref());
        let overlay = OverlaySource { overlay: &set.unstored, base: &stored };
        let contents: Option<&dyn BlobSource> = if request.merge_drift { Some(&overlay) } else { None };
        let mut checked = check(&plan.roots, &set.targets, reader, contents)?;
        if !checked.drifts.is_empty() {
            let (drifts, is_merging) = (checked.drifts, request.merge_drift);
            return Err(Error::Drifted { plan: plan.id, drifts, is_merging });
        }
        checked.unstored.extend(std::mem::take(&mut set.unstored));
        checked.already_applied.extend(std::mem::take(&mut set.unchanged));
        Ok(checked)
    }

    /// Takes a plan to *conflict*. No file has changed.
    fn enter_conflict(&self, plan: &Plan, request: &ApplyRequest, error: &Error) -> Result<()> {
        let keys: Vec<&PathKey> = match error {
            Error::Conflicts { conflicts, .. } => conflicts.iter().map(|conflict| &conflict.key).collect(),
            Error::Drifted { drifts, .. } => drifts.iter().map(|drift| &drift.key).collect(),
            _ => Vec::new(),
        };
        let text = error.to_string();
        let step = Step::to(State::Conflict, &request.actor)
            .kind(kind("plan.conflict"))
            .note(json!({ "error": text, "paths": noted_paths(keys) }))
            .detail(without_intent(plan, None, Some(text))?);
        self.step(plan, &step).map(drop)
    }

    /// Returns a plan to its previous state. No file has changed.
    pub(crate) fn abort_apply(&self, applying: &Plan, intent: &Intent, error: &Error) -> Result<Plan> {
        let text = filetx::error_chain(error);
        let step = Step::to(intent.previous_state, &intent.actor)
            .kind(kind("plan.apply-aborted"))
            .note(json!({ "error": text }))
            .detail(without_intent(applying, None, Some(text))?)
            // An incomplete target log.
            .open(OpenChangesets::Abandon);
        self.step(applying, &step)
    }

    /// Stores the results of an apply, and counts the remaining paths.
    pub(crate) fn conclude(
        &self,
        applying: &Plan,
        intent: &Intent,
        results: Results<'_, '_>,
    ) -> Result<(Plan, usize)> {
        let Results { reports, already_applied, unstored, mut ledger, subsets } = results;
        let (failed, applied): (Vec<&FileReport>, Vec<&FileReport>) =
            reports.iter().partition(|report| report.outcome.is_failure());
        let (unverified, drifted): (Vec<&FileReport>, Vec<&FileReport>) =
            failed.iter().partition(|report| report.outcome == FileOutcome::VerifyFailed);
        let is_whole = failed.is_empty();
        let applied = applied.into_iter().map(|report| {
            let (before, after) = (report.before.clone(), report.after.clone());
            (report.key.clone(), Target { before, after, ..Target::default() })
        });
        let applied: Targets = applied.chain(already_applied).collect();
        let target_log = match is_whole || applied.is_empty() {
            true => intent.target_log,
            // The log has targets that failed: log those that were applied.
            false => {
                let id = ChangesetId::new();
                self.log_targets(applying, id, &applied, &unstored, &intent.actor)?;
                Some(id)
            }
        };
        let (ids, carried) = (intent.applied.clone(), intent.carried.clone());
        let event = LedgerEvent { target_log, applied: ids, carried, ..LedgerEvent::default() };
        let event = Some(event).filter(|_| !applied.is_empty());
        if let Some(event) = &event {
            ledger.record(event, applied);
        }
        let remaining = remaining::count(&ledger, subsets)?;
        let message = |reports: &[&FileReport], text: &str| {
            (!reports.is_empty()).then(|| format!("{} {text}", plural_were(reports.len(), "file")))
        };
        let error = message(&unverified, "written and held another content afterwards")
            .or_else(|| message(&drifted, "changed by another process during the apply, and left"));
        let to = match (is_whole, remaining) {
            (false, _) => State::Conflict,
            (true, 0) => State::Applied,
            (true, _) => State::Ready,
        };
        let paths = |reports: &[&FileReport]| noted_paths(reports.iter().map(|report| &report.key));
        let mut note =
            json!({ "files": reports.len(), "kept": paths(&drifted), "transaction": intent.transaction });
        if !unverified.is_empty() {
            note["mismatched"] = json!(paths(&unverified));
        }
        let step = Step::to(to, &intent.actor)
            .kind(kind("plan.applied"))
            .note(note)
            .detail(without_intent(applying, event, error)?)
            // Incomplete target logs of interrupted recoveries.
            .open(OpenChangesets::Abandon);
        let plan = self.step(applying, &step)?;
        self.complete_undo(&plan, &intent.actor)?;
        Ok((plan, remaining))
    }
}

/// Paths in one audit record.
const NOTED_MAX: usize = 100;

fn noted_paths<'a>(keys: impl IntoIterator<Item = &'a PathKey>) -> Vec<String> {
    keys.into_iter().take(NOTED_MAX).map(|key| key.path.show().into_owned()).collect()
}

/// Refuses a plan that cannot be applied. A plan that another process has applied is a conflict
/// that names the actor.
fn check_state(plan: &Plan) -> Result<()> {
    match plan.state {
        State::Ready | State::Conflict => Ok(()),
        State::Applying | State::Applied => Err(Error::Store(store::Error::Conflict {
            resource: Resource::Plan(plan.id),
            state: plan.state.stored(),
            version: plan.version,
            by: plan.changed_by.to_string(),
        })),
        state => Err(Error::IllegalStep { plan: plan.id, state, to: State::Applying, allowed: state.next() }),
    }
}

/// Compares every path with the content after its target.
pub(crate) fn verify(
    roots: &[store::PathBytes],
    targets: &Targets,
    tx: &mut TreeTransaction<'_>,
    purpose: Purpose,
) -> Result<Vec<FileReport>> {
    let mut reports = Vec::with_capacity(targets.len());
    for (key, target) in targets {
        let at = locate(roots, key)?;
        let outcome = match is_applied(tx.observe(&at).map_err(file_error)?, key, targets) {
            true => success(purpose),
            false => FileOutcome::Drifted { preserved_at: None },
        };
        reports.push(FileReport::new(key, target, outcome));
    }
    Ok(reports)
}

fn success(purpose: Purpose) -> FileOutcome {
    match purpose {
        Purpose::Work => FileOutcome::Applied,
        Purpose::Undo { .. } => FileOutcome::Restored,
    }
}

/// Reports the paths that already hold their content, except those that are and stay absent.
pub(crate) fn unchanged_files(checked: &Checked) -> impl Iterator<Item = FileReport> {
    let exists = |(_, target): &(&PathKey, &Target)| target.before.is_some() || target.after.is_some();
    let unchanged = checked.already_applied.iter().filter(exists);
    unchanged.map(|(key, target)| FileReport::new(key, target, FileOutcome::Unchanged))
}

pub(crate) fn kind(text: &str) -> AuditKind {
    AuditKind::parse(text).expect("words with a dot")
}
