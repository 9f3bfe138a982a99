//! Apply: a plan's changes reach every file of every root it touches, or none.
//!
//! The order of the steps, and what a crash after each leaves, is argued in `docs/design/plans.md`; the numbers are the same there.

use filetx::{At, Left, Transaction, Trees};
use serde_json::json;
use store::{Actor, Kind, OpenChangesets, Resource};

use crate::contents::{Contents, Made};
use crate::counted::counted_were;
use crate::drift::{Checked, Target, Targets, check, files, has_landed, place};
use crate::intent::{Intent, Landed, Place, begun, ended, transaction_text};
use crate::staging::stage;
use crate::{
    Combined, Conflict, Error, FileChange, FileOutcome, FileReport, Ground, Over, Part, PathKey, Plan,
    PlanId, Plans, Purpose, Recovery, Report, Result, Selection, State, Step, StoredContents, Strategy,
};

/// How a plan is to be applied.
#[derive(Clone, Debug)]
pub struct ApplyOrder {
    /// Who.
    pub who: Actor,
    /// Which part of it; the rest stays ready.
    pub part: Part,
    /// What is made of a path that several actors changed.
    pub strategy: Strategy,
    /// Whether texts that people changed since are merged, where other lines were edited.
    pub merge_drift: bool,
    /// Whether to look only: nothing is written, neither in the roots nor in the store.
    pub dry_run: bool,
}

impl ApplyOrder {
    /// All of it, three-way, refusing what was changed since.
    pub fn by(who: &Actor) -> Self {
        Self {
            who: who.clone(),
            part: Part::default(),
            strategy: Strategy::default(),
            merge_drift: false,
            dry_run: false,
        }
    }
}

/// What an apply is to do, as far as the store knows.
struct Wanted {
    targets: Targets,
    made: Made,
    /// Whether it can be worked out again from the plan alone.
    is_plain: bool,
}

impl Plans {
    /// Applies a plan: all of its changes in all of its roots, or none.
    ///
    /// Before anything is touched every path is compared with what the plan found there; one that was changed since is
    /// [`Error::Drifted`]. Interrupted applies in the same roots are finished first. Of two that apply one plan one does; the other gets
    /// a conflict that names it. Applies to one root wait for each other, those to disjoint roots do not.
    ///
    /// A failure leaves all files as they were, unless it is [`Error::CutOff`]: then the plan stays *applying*, and whoever names it or
    /// its roots next finishes it.
    #[track_caller]
    pub fn apply(&self, ground: &Ground, id: PlanId, order: &ApplyOrder) -> Result<Report> {
        let plan = self.get(id)?;
        if order.dry_run {
            return self.preview(ground, &plan, order);
        }
        let recovered = self.recover(ground, &plan.roots, &order.who)?;
        // 1. From here on nobody else applies to these roots.
        let mut trees = ground.open(&plan.roots)?;
        self.acknowledge_known(&mut trees)?;
        let plan = self.get(id)?;
        allow(&plan)?;
        self.apply_locked(ground, &plan, order, &mut trees, recovered)
    }

    fn apply_locked(
        &self,
        ground: &Ground,
        plan: &Plan,
        order: &ApplyOrder,
        trees: &mut Trees,
        recovered: Vec<Recovery>,
    ) -> Result<Report> {
        let mut tx = trees.begin();
        // 2. Combine, and look at every path.
        let checked = self.wanted(plan, order).and_then(|wanted| self.checked(plan, order, wanted, &mut tx));
        let (checked, is_plain) = match checked {
            Err(error @ (Error::Conflicts { .. } | Error::Drifted { .. })) => {
                self.note_conflict(plan, order, &error)?;
                return Err(error);
            }
            checked => checked?,
        };
        let written = match is_plain {
            true => None,
            false => Some(self.write_down(plan, &checked.all(), &checked.made, &order.who)?),
        };
        // 3. From here on the plan is *applying*, for everybody and over every crash.
        let intent = Intent {
            machine: ground.machine().clone(),
            process: std::process::id(),
            transaction: transaction_text(tx.id()),
            changeset: written,
            actors: order.part.actors.clone(),
            who: order.who.clone(),
            from: plan.state,
        };
        let step = Step::to(State::Applying, &order.who)
            .kind(kind("plan.applying"))
            .note(json!({ "files": checked.todo.len(), "transaction": intent.transaction, "machine": intent.machine }))
            .detail(begun(plan, &intent))
            .open(OpenChangesets::Refuse);
        let applying = self.step(plan, &step)?;
        // 4. One transaction over all roots.
        let transaction = tx.id();
        let store = self.store().as_ref();
        let staged = stage(&mut tx, &plan.roots, &checked.todo, &checked.made, store);
        let committed = match staged {
            Err(error) => {
                drop(tx);
                return self.back(&applying, &intent, &error).and(Err(error));
            }
            Ok(()) => tx.commit_for(plan.id.to_string().as_bytes()),
        };
        let committed = match committed {
            Ok(committed) => committed,
            Err(failure) if failure.left == Left::Nothing => {
                let error = files(failure.error);
                return self.back(&applying, &intent, &error).and(Err(error));
            }
            Err(failure) => return Err(Error::CutOff { plan: plan.id, source: Box::new(failure.error) }),
        };
        if let Some(source) = committed.pending {
            return Err(Error::CutOff { plan: plan.id, source: Box::new(source) });
        }
        // 5. Every declared path holds what was declared, or somebody else's.
        let mut reports = verify(&plan.roots, &checked.todo, &mut trees.begin(), plan.purpose)?;
        for report in reports.iter_mut().filter(|report| report.outcome.is_left()) {
            let path =
                crate::root::system_path(&report.key.root).join(crate::root::system_path(&report.key.path));
            let kept = committed.kept.iter().find(|kept| kept.path == path);
            report.outcome =
                kept.map_or(FileOutcome::Mismatch, |kept| FileOutcome::Kept { aside: kept.aside.clone() });
        }
        // 6. The outcome, in the store; then the mark in the root can go.
        let plan = self.conclude(&applying, &intent, &reports)?;
        drop(trees.acknowledge(transaction));
        reports.extend(checked.there.iter().map(|(key, target)| report(key, target, FileOutcome::Untouched)));
        reports.sort_by(|a, b| a.key.cmp(&b.key));
        let left = self.left(&plan)?;
        Ok(Report { plan, files: reports, left, recovered, dry_run: false })
    }

    /// What an apply would do. Looks at the roots as they are, and at what an interrupted apply would leave; writes nothing anywhere.
    fn preview(&self, ground: &Ground, plan: &Plan, order: &ApplyOrder) -> Result<Report> {
        allow(plan)?;
        let wanted = self.wanted(plan, order)?;
        let mut sight = plan.roots.iter().map(|root| ground.look(root)).collect::<Result<Vec<_>>>()?;
        let (checked, _) = self.checked(plan, order, wanted, &mut sight)?;
        let done = if plan.purpose == Purpose::Work { FileOutcome::Done } else { FileOutcome::Restored };
        let mut files: Vec<FileReport> =
            checked.todo.iter().map(|(key, target)| report(key, target, done.clone())).collect();
        files.extend(checked.there.iter().map(|(key, target)| report(key, target, FileOutcome::Untouched)));
        files.sort_by(|a, b| a.key.cmp(&b.key));
        let all = self.left(plan)?;
        let left = all.saturating_sub(files.len());
        Ok(Report { plan: plan.clone(), files, left, recovered: Vec::new(), dry_run: true })
    }

    /// What of the plan is to be applied, on top of what of it has landed before.
    fn wanted(&self, plan: &Plan, order: &ApplyOrder) -> Result<Wanted> {
        let actors = order.part.actors.clone();
        let selection = Selection { actors, ..Selection::default() };
        let combined = self.combine(plan.id, &selection, order.strategy)?;
        let paths = order.part.paths()?;
        let conflicts: Vec<Conflict> =
            combined.conflicts().filter(|conflict| paths.takes(&conflict.key)).cloned().collect();
        if !conflicts.is_empty() {
            return Err(Error::Conflicts { plan: plan.id, conflicts });
        }
        let landed = self.landed_paths(plan)?;
        let mut targets = Targets::new();
        let old_names: Vec<PathKey> = combined
            .changes()
            .filter_map(|(key, change)| {
                let from = change.renamed_from.clone().filter(|_| paths.takes_change(key, change))?;
                Some(PathKey { root: key.root.clone(), path: from })
            })
            .collect();
        for (key, change) in combined.changes() {
            if !paths.takes_change(key, change) && !old_names.contains(key) {
                continue;
            }
            let expected = landed.targets.get(key).map_or(&change.base, |landed| &landed.after);
            if !landed.has(key, change.after.as_ref()) {
                let (expected, after) = (expected.clone(), change.after.clone());
                targets.insert(key.clone(), Target { expected, after, credits: change.credits.clone() });
            }
        }
        if targets.is_empty() {
            return Err(Error::Nothing { plan: plan.id, act: "apply" });
        }
        let is_plain =
            order.part.is_whole() && order.strategy == Strategy::ThreeWay && landed.targets.is_empty();
        Ok(Wanted { targets, made: combined.made, is_plain })
    }

    /// Looks at every path, and says whether the apply is a plain one all the same.
    fn checked(
        &self,
        plan: &Plan,
        order: &ApplyOrder,
        wanted: Wanted,
        sight: &mut dyn crate::drift::Sight,
    ) -> Result<(Checked, bool)> {
        let stored = StoredContents(self.store().as_ref());
        let over = Over { made: &wanted.made, below: &stored };
        let contents: Option<&dyn Contents> = if order.merge_drift { Some(&over) } else { None };
        let mut checked = check(&plan.roots, wanted.targets, sight, contents)?;
        if !checked.drifts.is_empty() {
            return Err(Error::Drifted { plan: plan.id, drifts: checked.drifts });
        }
        let is_plain = wanted.is_plain && !checked.is_merged && checked.there.is_empty();
        checked.made.extend(wanted.made);
        Ok((checked, is_plain))
    }

    /// Notes in the plan's chain that applying it met a conflict. Nothing was touched.
    fn note_conflict(&self, plan: &Plan, order: &ApplyOrder, error: &Error) -> Result<()> {
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
        let step = Step::to(State::Conflict, &order.who)
            .kind(kind("plan.conflict"))
            .note(json!({ "error": text, "paths": paths }))
            .detail(ended(plan, None, Some(text))?);
        self.step(plan, &step).map(drop)
    }

    /// Takes a plan back to where it was: nothing was touched.
    pub(crate) fn back(&self, applying: &Plan, intent: &Intent, error: &Error) -> Result<Plan> {
        let text = chain(error);
        let step = Step::to(intent.from, &intent.who)
            .kind(kind("plan.apply-aborted"))
            .note(json!({ "error": text }))
            .detail(ended(applying, None, Some(text))?);
        self.step(applying, &step)
    }

    /// Records what an apply came to.
    pub(crate) fn conclude(&self, applying: &Plan, intent: &Intent, reports: &[FileReport]) -> Result<Plan> {
        let (kept, mismatched): (Vec<&FileReport>, Vec<&FileReport>) = reports
            .iter()
            .filter(|report| report.outcome.is_left())
            .partition(|report| report.outcome != FileOutcome::Mismatch);
        let except: Vec<Place> =
            kept.iter().chain(&mismatched).map(|report| Place::from(&report.key)).collect();
        let is_whole = except.is_empty();
        let landed = Landed { changeset: intent.changeset, actors: intent.actors.clone(), except };
        let told = |reports: &[&FileReport], what: &str| {
            (!reports.is_empty()).then(|| format!("{} {what}", counted_were(reports.len(), "file")))
        };
        let error = told(&mismatched, "written and held something else afterwards")
            .or_else(|| told(&kept, "changed by somebody else meanwhile, and left"));
        let detail = ended(applying, Some(landed), error)?;
        let as_if = Plan { detail: detail.clone(), ..applying.clone() };
        let to = match (is_whole, self.left(&as_if)?) {
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
        let step = Step::to(to, &intent.who).kind(kind("plan.applied")).note(note).detail(detail);
        let plan = self.step(applying, &step)?;
        self.mark_undone(&plan, &intent.who)?;
        Ok(plan)
    }

    /// How many paths of a plan have not landed as combined.
    pub(crate) fn left(&self, plan: &Plan) -> Result<usize> {
        let landed = crate::intent::landed(plan)?;
        if let [only] = landed.as_slice()
            && only.changeset.is_none()
        {
            return Ok(only.except.len());
        }
        let combined: Combined = self.combine(plan.id, &Selection::default(), Strategy::ThreeWay)?;
        let landed = self.landed_paths(plan)?;
        let changes =
            combined.changes().filter(|(key, change)| !landed.has(key, change.after.as_ref())).count();
        Ok(changes + combined.conflicts().filter(|conflict| !landed.has(&conflict.key, None)).count())
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
    tx: &mut Transaction<'_>,
    purpose: Purpose,
) -> Result<Vec<FileReport>> {
    let mut reports = Vec::with_capacity(targets.len());
    for (key, target) in targets {
        let at: At = place(roots, key)?;
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

pub(crate) fn kind(text: &str) -> Kind {
    Kind::parse(text).expect("words with a dot")
}

/// An error with its causes, in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
