//! Undo: the inverse of what a plan left, as a new plan that points to it.
//!
//! It is a change like any other: it refuses files that were changed since, is applied all-or-nothing, and can be undone itself.

mod chain;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use store::{Actor, AuditQuery, Content, NewPlan, PlanId, Time, export};

use crate::apply::drift::{Drift, RootReader, Target, Targets, check, files, holds, place};
use crate::apply::intent::{Reverts, Unchanged, reverting, reverts};
use crate::apply::ledger::{Carried, Ledger, LedgerPath};
use crate::apply::remaining::over_edits;
use crate::apply::{report, untouched};
use crate::blob_source::UnstoredBlobs;
use crate::merge::claims::beside;
use crate::merge::content::merge;
use crate::merge::subsets::{Declared, DeclaredOutcome, Set, Subsets};
use crate::{
    Act, ApplyRequest, Change, ContentInput, ContentSource, Credit, Error, FileOutcome, FileReport, Host,
    OverlaySource, PathKey, Plan, Plans, Purpose, Report, Result, Selection, State, Strategy, retry,
};

/// Entries that are recorded in one call.
const ENTRIES_MAX: usize = 1000;

/// How a plan is to be undone.
#[derive(Clone, Debug)]
pub struct UndoRequest {
    /// The actor who undoes the plan.
    pub actor: Actor,
    /// Which part of it; the rest stays.
    pub selection: Selection,
    /// Whether to look only: nothing is written, neither in the roots nor in the store.
    pub dry_run: bool,
}

impl UndoRequest {
    /// All of it.
    pub fn by(actor: &Actor) -> Self {
        Self { actor: actor.clone(), selection: Selection::default(), dry_run: false }
    }
}

/// Who changed a file since a plan was applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ModifiedBy {
    /// Another plan, for these actors.
    Plan {
        /// The plan.
        plan: PlanId,
        /// The actors whose changes it were.
        actors: Vec<Actor>,
    },
    /// Somebody who did not go through a plan.
    Outside,
    /// One of these plans, which were applied and cleaned up since, so that nobody knows what they changed; or somebody outside.
    Pruned {
        /// The plans.
        plans: Vec<PlanId>,
    },
}

/// A file that cannot be taken back, because it was changed since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModifiedFile {
    /// How it is.
    #[serde(flatten)]
    pub drift: Drift,
    /// Who changed it, the last of them last.
    pub by: Vec<ModifiedBy>,
}

impl Plans {
    /// Takes back what a plan left in its roots, or a part of it: all of that or none.
    ///
    /// Refused when a file was changed since ([`Error::ModifiedSinceApply`], with who did it). What one actor changed is taken out of files
    /// that others changed as well, where that can be done without asking. The undo is a plan of its own, which can be undone.
    #[track_caller]
    pub fn undo(&self, host: &Host, id: PlanId, request: &UndoRequest) -> Result<Report> {
        let plan = self.get(id)?;
        let mut recovered = Vec::new();
        if !request.dry_run {
            recovered = self.recover(host, &plan.roots, &request.actor)?;
            self.note_undone(id, &request.actor)?;
        }
        let plan = self.get(id)?;
        let mut reader = plan.roots.iter().map(|root| host.snapshot(root)).collect::<Result<Vec<_>>>()?;
        let mut ledger = self.ledger(&plan)?;
        ledger.revive(|key, content| {
            Ok(holds(&reader.observe(&place(&plan.roots, key)?).map_err(files)?, content))
        })?;
        if plan.state == State::Applying || ledger.paths.is_empty() {
            let (state, to) = (plan.state, State::Undone);
            return Err(Error::IllegalStep { plan: id, state, to, allowed: state.next() });
        }
        let inverse = self.inverse(&plan, &request.selection, ledger)?;
        let targets: Targets = inverse
            .targets
            .iter()
            .chain(&inverse.unchanged)
            .map(|(key, target)| (key.clone(), target.clone()))
            .collect();
        let mut checked = check(&plan.roots, &targets, &mut reader, None)?;
        drop(reader);
        checked.drifts.extend(self.applied_since(&plan, &checked.there)?);
        if !checked.drifts.is_empty() {
            return Err(self.changed_since(&plan, checked.drifts));
        }
        if targets.is_empty() || !request.dry_run && checked.todo.is_empty() && inverse.unchanged.is_empty() {
            return Err(Error::NothingToDo { plan: id, action: "undo" });
        }
        if request.dry_run {
            let restored =
                checked.todo.iter().map(|(key, target)| report(key, target, FileOutcome::Restored));
            let mut files: Vec<FileReport> = restored.chain(untouched(&checked)).collect();
            files.sort_by(|a, b| a.key.cmp(&b.key));
            return Ok(Report { plan, files, left: 0, recovered, dry_run: true });
        }
        // Also what somebody has taken back already: it is undone as well.
        let undo = self.record_undo(&plan, &inverse, &request.actor)?;
        match self.apply(host, undo, &ApplyRequest::by(&request.actor)) {
            Ok(mut report) => {
                report.recovered.splice(0..0, recovered);
                // Whose changes were taken back, not who took them back.
                for file in &mut report.files {
                    if let Some(target) = targets.get(&file.key) {
                        file.credits.clone_from(&target.credits);
                    }
                }
                Ok(report)
            }
            // Somebody changed a file between the look and the lock.
            Err(Error::Drifted { drifts, .. }) => {
                let undo = self.get(undo)?;
                self.cancel(&undo, &request.actor, "files were changed meanwhile")?;
                Err(self.changed_since(&plan, drifts))
            }
            Err(error) => Err(error),
        }
    }

    /// The paths at which what an undo reverted was applied again since, by the first plan itself: undoing the undo would count that twice.
    fn applied_since(&self, undo: &Plan, there: &Targets) -> Result<Vec<Drift>> {
        let mut first = undo.clone();
        while let Purpose::Undo { of } = first.purpose {
            let Some(below) = self.try_get(of)? else { break };
            first = below;
        }
        if there.is_empty() || first.id == undo.id {
            return Ok(Vec::new());
        }
        let ledger = self.ledger(&first)?;
        let is_applied = |(key, target): &(&PathKey, &Target)| {
            target.expected != target.after && ledger.held(key).is_some_and(|path| path.after == target.after)
        };
        let drift = |(key, target): (&PathKey, &Target)| Drift {
            key: key.clone(),
            expected: target.expected.clone(),
            seen: target.after.clone(),
            found: format!("a file that plan {} was applied to again", first.id),
        };
        Ok(there.iter().filter(is_applied).map(drift).collect())
    }

    /// Gives for each path what the plan left there, and what it is to hold again.
    ///
    /// Of an undo of everything that is the original. Otherwise the changesets that stay decide: a path is to hold what they combine to, laid
    /// over what people changed.
    fn inverse(&self, plan: &Plan, selection: &Selection, ledger: Ledger) -> Result<Inverse> {
        let Ledger { paths: ledger, unstored } = ledger;
        let folded = self.folded(plan.id, &Selection::default())?;
        let mut subsets = Subsets::new(&folded, Strategy::ThreeWay, self.store().as_ref());
        let declared = ledger.iter().map(|(key, there)| Ok((key, there.declared(key, &mut subsets)?)));
        let declared: BTreeMap<&PathKey, Declared> = declared.collect::<Result<_>>()?;
        let taken = taken(selection, &declared)?;
        let goes = subsets.ids(|folded| selection.matches(&folded.credit.actor, folded.credit.changeset));
        let mut inverse = Inverse { unstored, ..Inverse::default() };
        for (key, now) in declared.iter().filter(|(key, _)| taken.contains(**key)) {
            let there = &ledger[*key];
            let (theirs, others): (Vec<&Credit>, Vec<&Credit>) =
                now.credits.iter().partition(|credit| selection.matches(&credit.actor, credit.changeset));
            let mut rest = Set::new();
            if !selection.has_all_changesets() {
                let held = there.changesets.intersection(&goes);
                // Who changed a file that has another name now is about the old one as well.
                if theirs.is_empty() && !held.into_iter().any(|id| subsets.is_about(*id, key)) {
                    continue;
                }
                rest = there.changesets.difference(&goes).copied().collect();
                subsets.remove_orphans(&mut rest, key);
            }
            let Some(after) = content_of(&rest, key, there, now, &mut subsets, &mut inverse.unstored)? else {
                let (actors, others) = (names(&theirs), names(&others));
                let path = key.path.show().into_owned();
                return Err(Error::DependentChanges { plan: plan.id, path, actors, others });
            };
            let (expected, credits) = (there.after.clone(), theirs.into_iter().cloned().collect());
            let changes = expected != after;
            // A path that is as it was before the plan holds nothing of it.
            if after == there.original {
                rest.clear();
            }
            if !changes && selection.has_all_changesets() {
                continue;
            }
            let targets = if changes { &mut inverse.targets } else { &mut inverse.unchanged };
            targets.insert((*key).clone(), Target { expected, after, credits });
            inverse.reverted.insert((*key).clone(), there.changesets.difference(&rest).copied().collect());
        }
        for Unchanged { key, content } in reverts(plan)?.unchanged {
            if taken.contains(&key) {
                let target = Target { expected: content.clone(), after: content, credits: Vec::new() };
                inverse.unchanged.insert(key, target);
            }
        }
        inverse.reverts = inverse.collect(&subsets);
        Ok(inverse)
    }

    /// Makes the plan that undoes another, ready to be applied.
    fn record_undo(&self, plan: &Plan, inverse: &Inverse, who: &Actor) -> Result<PlanId> {
        let undo = NewPlan {
            id: PlanId::new(),
            name: None,
            state: State::Queued.stored(),
            undo_of: Some(plan.id),
            roots: plan.roots.clone(),
            detail: reverting(&inverse.reverts).to_json(),
            actor: who.clone(),
        };
        retry(|| self.store().create_plan(&undo))?;
        let changeset = self.context(undo.id)?.start_changeset(who)?;
        let mut changes: Vec<Change> = Vec::new();
        for (key, target) in &inverse.targets {
            changes.push(change(key, target, &inverse.unstored)?);
            if changes.len() >= ENTRIES_MAX {
                changeset.record_many(std::mem::take(&mut changes))?;
            }
        }
        if !changes.is_empty() {
            changeset.record_many(changes)?;
        }
        changeset.seal()?;
        self.mark_ready(undo.id, who)?;
        Ok(undo.id)
    }

    /// Says who changed files since a plan left them.
    fn changed_since(&self, plan: &Plan, drifts: Vec<Drift>) -> Error {
        let mut later = Vec::new();
        let states = [State::Applied, State::Undone, State::Ready, State::Conflict];
        for other in self.list_since(&states, Some(plan.changed_at), usize::MAX).unwrap_or_default() {
            let shares_root = other.roots.iter().any(|root| plan.roots.contains(root));
            if other.id != plan.id
                && shares_root
                && let Ok(ledger) = self.ledger(&other)
            {
                later.push((other, ledger.paths));
            }
        }
        later.sort_by_key(|(other, _)| other.changed_at);
        let plans = self.cleaned_since(plan.changed_at).unwrap_or_default();
        let unknown = if plans.is_empty() { ModifiedBy::Outside } else { ModifiedBy::Pruned { plans } };
        let files = drifts.into_iter().map(|drift| {
            let mut by = Vec::new();
            for (other, targets) in &later {
                if let Some(target) = targets.get(&drift.key) {
                    by.push(ModifiedBy::Plan { plan: other.id, actors: self.actors_of(other, target) });
                }
            }
            let last = later.iter().rev().find_map(|(_, targets)| targets.get(&drift.key));
            if last.is_none_or(|target| drift.seen != target.after) {
                by.push(unknown.clone());
            }
            ModifiedFile { drift, by }
        });
        Error::ModifiedSinceApply { plan: plan.id, files: files.collect() }
    }

    /// The plans that were applied since and are not there any more: of those the trail alone tells.
    fn cleaned_since(&self, since: Time) -> Result<Vec<PlanId>> {
        let query = AuditQuery { since: Some(since), ..AuditQuery::default() };
        let mut applied = BTreeSet::new();
        for record in export(self.store().as_ref(), query) {
            let record = record?;
            if record.kind.as_str() == "plan.applied" {
                applied.insert(record.plan);
            }
        }
        let is_gone = |plan: &PlanId| matches!(self.store().plan(*plan), Err(store::Error::NotFound { .. }));
        Ok(applied.into_iter().filter(is_gone).collect())
    }

    fn actors_of(&self, plan: &Plan, there: &LedgerPath) -> Vec<Actor> {
        let changesets = self.changesets(plan.id).unwrap_or_default().into_iter();
        let theirs = changesets.filter(|changeset| there.changesets.contains(&changeset.id));
        let mut actors: Vec<Actor> = theirs.map(|changeset| changeset.actor).collect();
        actors.dedup();
        actors
    }
}

/// The changes of an undo.
#[derive(Default)]
struct Inverse {
    targets: Targets,
    /// Paths that hold the same without the changes that are reverted.
    unchanged: Targets,
    unstored: UnstoredBlobs,
    /// The changesets that each path holds no more.
    reverted: BTreeMap<PathKey, Set>,
    reverts: Reverts,
}

impl Inverse {
    /// The changesets that are reverted, with the paths at which one of them stays, or was never applied.
    fn collect(&self, subsets: &Subsets<'_>) -> Reverts {
        let all: Set = self.reverted.values().flatten().copied().collect();
        let is_other = |(key, reverted): &(&PathKey, &Set)| {
            all.difference(reverted).any(|id| subsets.is_about(*id, key))
        };
        let instead = self.reverted.iter().filter(is_other).map(|(key, reverted)| Carried {
            key: key.clone(),
            changesets: reverted.iter().copied().collect(),
        });
        let unchanged = self
            .unchanged
            .iter()
            .map(|(key, target)| Unchanged { key: key.clone(), content: target.after.clone() });
        let (instead, unchanged) = (instead.collect(), unchanged.collect());
        Reverts { changesets: all.into_iter().collect(), instead, unchanged }
    }
}

/// The paths of a selection. A renamed file goes with its old name.
fn taken(selection: &Selection, declared: &BTreeMap<&PathKey, Declared>) -> Result<BTreeSet<PathKey>> {
    let paths = selection.path_filter()?;
    let mut taken = BTreeSet::new();
    for (key, now) in declared {
        let names = [Some((*key).clone()), now.renamed_from.as_ref().map(|old| beside(key, old))];
        if names.iter().flatten().any(|name| paths.matches(name)) {
            taken.extend(names.into_iter().flatten());
        }
    }
    Ok(taken)
}

/// The content of a path that holds `now`, when only the changesets of `rest` stay. None when they cannot be told apart from others.
fn content_of(
    rest: &Set,
    key: &PathKey,
    there: &LedgerPath,
    now: &Declared,
    subsets: &mut Subsets<'_>,
    unstored: &mut UnstoredBlobs,
) -> Result<Option<Option<Content>>> {
    let then = match rest.is_empty() {
        true => return Ok(Some(there.original.clone())),
        false => subsets.declared(rest, key)?,
    };
    match then.outcome {
        DeclaredOutcome::Nothing => return Ok(Some(there.original.clone())),
        DeclaredOutcome::Conflict => return Ok(None),
        DeclaredOutcome::Change => {}
    }
    let contents = OverlaySource { overlay: &now.combined.unstored, base: &subsets.contents };
    let contents = OverlaySource { overlay: &then.combined.unstored, base: &contents };
    unstored.copy_from(then.after.as_ref(), &then.combined.unstored);
    // Those that stay may have started from what goes.
    let (base, ours, theirs) = (then.base.as_ref(), now.base.as_ref(), then.after.as_ref());
    let after = if base == ours { Ok(then.after) } else { merge(base, ours, theirs, &contents, unstored)? };
    let Ok(after) = after else { return Ok(None) };
    Ok(over_edits(there, &now.after, after, &contents, unstored)?.ok())
}

fn names(credits: &[&Credit]) -> Box<[Actor]> {
    let mut names: Vec<Actor> = credits.iter().map(|credit| credit.actor.clone()).collect();
    names.dedup();
    names.into()
}

fn change(key: &PathKey, target: &Target, unstored: &UnstoredBlobs) -> Result<Change> {
    let piece = |content: &Content| match unstored.get(content) {
        Some(bytes) => ContentInput::file(bytes, content.mode),
        None => Ok(ContentInput::stored(content.clone())),
    };
    let act = match &target.after {
        None => Act::Delete,
        Some(after) => {
            let content = match unstored.get(after) {
                Some(bytes) => ContentSource::Bytes(bytes.to_vec()),
                None => ContentSource::Stored(after.clone()),
            };
            Act::Write { content, mode: Some(after.mode) }
        }
    };
    let base = target.expected.as_ref().map(piece).transpose()?;
    Ok(Change::new(key.path.clone(), act).in_root(key.root.clone()).with_base(base))
}
