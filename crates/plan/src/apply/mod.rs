//! Apply: a plan's changes reach every file of every root it touches, or none.
//!
//! The order of the steps, and what a crash after each leaves, is argued in `docs/design/plans.md`; the numbers are the same there.

pub(crate) mod drift;
pub(crate) mod intent;
pub(crate) mod ledger;
pub(crate) mod recovery;
pub(crate) mod remaining;
pub(crate) mod report;
pub(crate) mod staging;
pub(crate) mod target_log;

use filetx::{FailureOutcome, TreeTransaction, Trees, TxPath};
use serde_json::json;
use store::{Actor, AuditKind, ChangesetId, OpenChangesets, Resource};

use crate::apply::drift::{Checked, Target, Targets, check, files, has_landed, place};
use crate::apply::intent::{Intent, begun, ended, transaction_text};
use crate::apply::ledger::{Ledger, LedgerEvent};
use crate::apply::remaining::{ApplySet, apply_set};
use crate::apply::staging::stage;
use crate::blob_source::{BlobSource, UnstoredBlobs};
use crate::merge::subsets::Subsets;
use crate::plural::plural_were;
use crate::{
    Error, FileChange, FileOutcome, FileReport, Host, OverlaySource, PathKey, Plan, PlanId, Plans, Purpose,
    Recovery, Report, Result, Selection, State, Step, StoredBlobs, Strategy,
};

/// How a plan is to be applied.
#[derive(Clone, Debug)]
pub struct ApplyRequest {
    /// The actor who applies the plan.
    pub actor: Actor,
    /// Which part of it; the rest stays ready.
    pub selection: Selection,
    /// What is made of a path that several actors changed.
    pub strategy: Strategy,
    /// Whether texts that people changed since are merged, where other lines were edited.
    pub merge_drift: bool,
    /// Whether to look only: nothing is written, neither in the roots nor in the store.
    pub dry_run: bool,
}

impl ApplyRequest {
    /// All of it, three-way, refusing what was changed since.
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

/// What an apply came to, and what is needed to say what is left.
pub(crate) struct End<'a, 'b> {
    /// What was changed.
    pub reports: &'a [FileReport],
    /// What was as it was to be already.
    pub there: Targets,
    /// Contents that may not be in the store.
    pub unstored: UnstoredBlobs,
    /// The ledger before it.
    pub ledger: Ledger,
    /// The changesets that count.
    pub subsets: &'a mut Subsets<'b>,
}

impl Plans {
    /// Applies a plan: all of its changes in all of its roots, or none.
    ///
    /// Before anything is touched every path is compared with what the plan found there; one that was changed since is
    /// [`Error::Drifted`]. Interrupted applies in the same roots are finished first. Of two that apply one plan one does; the other gets
    /// a conflict that names it. Applies to one root wait for each other, those to disjoint roots do not.
    ///
    /// A failure leaves all files as they were, unless it is [`Error::ApplyIncomplete`]: then the plan stays *applying*, and whoever names it or
    /// its roots next finishes it.
    #[track_caller]
    pub fn apply(&self, host: &Host, id: PlanId, request: &ApplyRequest) -> Result<Report> {
        let _span = tracing::info_span!("plan", %id, doing = "apply").entered();
        let plan = self.get(id)?;
        if request.dry_run {
            return self.preview(host, &plan, request);
        }
        // 1. From here on nobody else applies to these roots.
        let (mut trees, recovered) = self.open_settled(host, &plan.roots, &request.actor)?;
        self.note_undone(id, &request.actor)?;
        let plan = self.get(id)?;
        allow(&plan)?;
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
        // 2. Combine, and look at every path.
        let store = self.store().as_ref();
        let folded = self.folded(plan.id, &Selection::default())?;
        let mut subsets = Subsets::new(&folded, request.strategy, store);
        let ledger = self.ledger(plan)?;
        let set = apply_set(plan, request, &ledger, &mut subsets);
        let checked = set.and_then(|set| Ok((self.checked(plan, request, &set, &mut tx)?, set)));
        let (checked, set) = match checked {
            Err(error @ (Error::Conflicts { .. } | Error::Drifted { .. })) => {
                self.note_conflict(plan, request, &error)?;
                return Err(error);
            }
            checked => checked?,
        };
        // 3. From here on the plan is *applying*, for everybody and over every crash.
        let written = ChangesetId::new();
        let intent = Intent {
            machine: host.machine().clone(),
            process: std::process::id(),
            transaction: transaction_text(tx.id()),
            changeset: Some(written),
            applied: set.applied.into_iter().collect(),
            carried: set.carried,
            who: request.actor.clone(),
            from: plan.state,
        };
        let step = Step::to(State::Applying, &request.actor)
            .kind(kind("plan.applying"))
            .note(json!({ "files": checked.todo.len(), "transaction": intent.transaction, "machine": intent.machine }))
            .detail(begun(plan, &intent))
            .open(OpenChangesets::Refuse);
        let applying = self.step(plan, &step)?;
        // 4. What it does is written down.
        let transaction = tx.id();
        let staged = self
            .begin_undoing(&applying, &request.actor)
            .and_then(|()| {
                self.log_targets(&applying, written, &checked.all(), &checked.unstored, &request.actor)
            })
            .and_then(|()| stage(&mut tx, &plan.roots, &checked.todo, &checked.unstored, store));
        // 5. One transaction over all roots.
        let committed = match staged {
            Err(error) => {
                drop(tx);
                return self.back(&applying, &intent, &error).and(Err(error));
            }
            Ok(()) => tx.commit_for(plan.id.to_string().as_bytes()),
        };
        let committed = match committed {
            Ok(committed) => committed,
            Err(failure) if failure.outcome == FailureOutcome::Aborted => {
                let error = files(failure.error);
                return self.back(&applying, &intent, &error).and(Err(error));
            }
            Err(failure) => {
                return Err(Error::ApplyIncomplete { plan: plan.id, source: Box::new(failure.error) });
            }
        };
        if let Some(source) = committed.pending {
            return Err(Error::ApplyIncomplete { plan: plan.id, source: Box::new(source) });
        }
        // From here on files are changed, whatever fails.
        let cut_off = |source: Error| Error::ApplyIncomplete { plan: plan.id, source: Box::new(source) };
        // 6. Every declared path holds what was declared, or somebody else's.
        let mut reports =
            verify(&plan.roots, &checked.todo, &mut trees.begin(), plan.purpose).map_err(cut_off)?;
        for report in reports.iter_mut().filter(|report| report.outcome.is_left()) {
            let path = report.key.on_system();
            let kept = committed.preserved.iter().find(|kept| kept.path == path);
            report.outcome = kept
                .map_or(FileOutcome::Mismatch, |kept| FileOutcome::Kept { aside: kept.preserved_at.clone() });
        }
        // 7. The outcome, in the store; then the mark in the root can go.
        let end = End {
            reports: &reports,
            there: checked.there.clone(),
            unstored: UnstoredBlobs::default(),
            ledger,
            subsets: &mut subsets,
        };
        let (plan, left) = self.conclude(&applying, &intent, end).map_err(cut_off)?;
        drop(trees.acknowledge(transaction));
        reports.extend(untouched(&checked));
        reports.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(Report { plan, files: reports, left, recovered, dry_run: false })
    }

    /// What an apply would do. Looks at the roots as they are, and at what an interrupted apply would leave; writes nothing anywhere.
    fn preview(&self, host: &Host, plan: &Plan, request: &ApplyRequest) -> Result<Report> {
        allow(plan)?;
        let folded = self.folded(plan.id, &Selection::default())?;
        let mut subsets = Subsets::new(&folded, request.strategy, self.store().as_ref());
        let mut ledger = self.ledger(plan)?;
        let set = apply_set(plan, request, &ledger, &mut subsets)?;
        let mut reader = plan.roots.iter().map(|root| host.snapshot(root)).collect::<Result<Vec<_>>>()?;
        let checked = self.checked(plan, request, &set, &mut reader)?;
        let done = if plan.purpose == Purpose::Work { FileOutcome::Done } else { FileOutcome::Restored };
        let mut files: Vec<FileReport> =
            checked.todo.iter().map(|(key, target)| report(key, target, done.clone())).collect();
        files.extend(untouched(&checked));
        files.sort_by(|a, b| a.key.cmp(&b.key));
        let applied = set.applied.into_iter().collect();
        ledger.record(&LedgerEvent { applied, carried: set.carried, ..LedgerEvent::default() }, set.targets);
        let left = remaining::count(&ledger, &mut subsets)?;
        Ok(Report { plan: plan.clone(), files, left, recovered: Vec::new(), dry_run: true })
    }

    /// Looks at every path.
    fn checked(
        &self,
        plan: &Plan,
        request: &ApplyRequest,
        set: &ApplySet,
        reader: &mut dyn drift::RootReader,
    ) -> Result<Checked> {
        let stored = StoredBlobs(self.store().as_ref());
        let over = OverlaySource { overlay: &set.unstored, base: &stored };
        let contents: Option<&dyn BlobSource> = if request.merge_drift { Some(&over) } else { None };
        let mut checked = check(&plan.roots, &set.targets, reader, contents)?;
        if !checked.drifts.is_empty() {
            return Err(Error::Drifted {
                plan: plan.id,
                drifts: checked.drifts,
                is_merging: request.merge_drift,
            });
        }
        checked.unstored.extend(set.unstored.clone());
        checked.there.extend(set.unchanged.clone());
        Ok(checked)
    }

    /// Notes in the plan's chain that applying it met a conflict. Nothing was touched.
    fn note_conflict(&self, plan: &Plan, request: &ApplyRequest, error: &Error) -> Result<()> {
        let paths: Vec<String> = match error {
            Error::Conflicts { conflicts, .. } => conflicts
                .iter()
                .map(|conflict| conflict.key.path.show().into_owned())
                .take(NOTED_MAX)
                .collect(),
            Error::Drifted { drifts, .. } => {
                drifts.iter().map(|drift| drift.key.path.show().into_owned()).take(NOTED_MAX).collect()
            }
            _ => Vec::new(),
        };
        let text = error.to_string();
        let step = Step::to(State::Conflict, &request.actor)
            .kind(kind("plan.conflict"))
            .note(json!({ "error": text, "paths": paths }))
            .detail(ended(plan, None, Some(text))?);
        self.step(plan, &step).map(drop)
    }

    /// Takes a plan back to where it was: nothing was touched.
    pub(crate) fn back(&self, applying: &Plan, intent: &Intent, error: &Error) -> Result<Plan> {
        let text = filetx::error_chain(error);
        let step = Step::to(intent.from, &intent.who)
            .kind(kind("plan.apply-aborted"))
            .note(json!({ "error": text }))
            .detail(ended(applying, None, Some(text))?)
            // What was being written down counts for nothing.
            .open(OpenChangesets::Abandon);
        self.step(applying, &step)
    }

    /// Records what an apply came to, and says how much of the plan is left.
    pub(crate) fn conclude(
        &self,
        applying: &Plan,
        intent: &Intent,
        end: End<'_, '_>,
    ) -> Result<(Plan, usize)> {
        let End { reports, there, unstored, mut ledger, subsets } = end;
        let (kept, mismatched): (Vec<&FileReport>, Vec<&FileReport>) = reports
            .iter()
            .filter(|report| report.outcome.is_left())
            .partition(|report| report.outcome != FileOutcome::Mismatch);
        let done = reports.iter().filter(|report| !report.outcome.is_left()).map(|report| {
            let (expected, after) = (report.before.clone(), report.after.clone());
            (report.key.clone(), Target { expected, after, credits: Vec::new() })
        });
        let done: Targets = done.chain(there).collect();
        let is_whole = kept.is_empty() && mismatched.is_empty();
        let target_log = match is_whole || done.is_empty() {
            true => intent.changeset,
            // What is written down is more than what was done.
            false => {
                let id = ChangesetId::new();
                self.log_targets(applying, id, &done, &unstored, &intent.who)?;
                Some(id)
            }
        };
        let (applied, carried) = (intent.applied.clone(), intent.carried.clone());
        let new = LedgerEvent { target_log, applied, carried, ..LedgerEvent::default() };
        let new = Some(new).filter(|_| !done.is_empty());
        if let Some(new) = &new {
            ledger.record(new, done);
        }
        let left = remaining::count(&ledger, subsets)?;
        let told = |reports: &[&FileReport], what: &str| {
            (!reports.is_empty()).then(|| format!("{} {what}", plural_were(reports.len(), "file")))
        };
        let error = told(&mismatched, "written and held something else afterwards")
            .or_else(|| told(&kept, "changed by somebody else meanwhile, and left"));
        let to = match (is_whole, left) {
            (false, _) => State::Conflict,
            (true, 0) => State::Applied,
            (true, _) => State::Ready,
        };
        let names = |reports: &[&FileReport]| -> Vec<String> {
            reports.iter().map(|report| report.key.path.show().into_owned()).take(NOTED_MAX).collect()
        };
        let mut note =
            json!({ "files": reports.len(), "kept": names(&kept), "transaction": intent.transaction });
        if !mismatched.is_empty() {
            note["mismatched"] = json!(names(&mismatched));
        }
        let step = Step::to(to, &intent.who)
            .kind(kind("plan.applied"))
            .note(note)
            .detail(ended(applying, new, error)?)
            // What somebody before us was writing down when they were cut off.
            .open(OpenChangesets::Abandon);
        let plan = self.step(applying, &step)?;
        self.end_undoing(&plan, &intent.who)?;
        Ok((plan, left))
    }
}

/// Paths that an audit record names.
const NOTED_MAX: usize = 100;

/// Whether a plan may be applied now. One that somebody else has applied meanwhile is a conflict that names them.
fn allow(plan: &Plan) -> Result<()> {
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

/// Compares every path with what it is to hold.
pub(crate) fn verify(
    roots: &[store::PathBytes],
    targets: &Targets,
    tx: &mut TreeTransaction<'_>,
    purpose: Purpose,
) -> Result<Vec<FileReport>> {
    let mut reports = Vec::with_capacity(targets.len());
    for (key, target) in targets {
        let at: TxPath = place(roots, key)?;
        let landed = has_landed(tx.observe(&at).map_err(files)?, key, targets);
        let outcome = match (landed, purpose) {
            (true, Purpose::Work) => FileOutcome::Done,
            (true, Purpose::Undo { .. }) => FileOutcome::Restored,
            (false, _) => FileOutcome::Kept { aside: None },
        };
        reports.push(report(key, target, outcome));
    }
    Ok(reports)
}

/// Paths that are as wanted. One that neither was nor is to be there is nothing to tell of.
pub(crate) fn untouched(checked: &Checked) -> impl Iterator<Item = FileReport> {
    let is_told = |(_, target): &(&PathKey, &Target)| target.expected.is_some() || target.after.is_some();
    checked.there.iter().filter(is_told).map(|(key, target)| report(key, target, FileOutcome::Untouched))
}

pub(crate) fn report(key: &PathKey, target: &Target, outcome: FileOutcome) -> FileReport {
    FileReport {
        key: key.clone(),
        change: FileChange::of(target.expected.as_ref(), target.after.as_ref()),
        outcome,
        before: target.expected.clone(),
        after: target.after.clone(),
        credits: target.credits.clone(),
    }
}

pub(crate) fn kind(text: &str) -> AuditKind {
    AuditKind::parse(text).expect("words with a dot")
}
