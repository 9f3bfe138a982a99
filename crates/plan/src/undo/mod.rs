//! Undo: the inverse of the applied changes of a plan, as a new plan that names it.
//!
//! An undo is a plan like any other: it refuses files that were modified since, is applied
//! all-or-nothing, and can be undone.

mod chain;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;
use store::{Actor, AuditQuery, ChangesetId, Content, NewPlan, PathBytes, PlanId, Store, Time, export};

use crate::apply::drift::{Drift, RootReader, Target, Targets, check, file_error, holds, locate};
use crate::apply::intent::{Reverts, undo_detail};
use crate::apply::ledger::{Carried, Ledger, LedgerPath};
use crate::apply::report::join_renames;
use crate::apply::unchanged_files;
use crate::blob_source::UnstoredBlobs;
use crate::merge::content::merge;
use crate::merge::delta::distinct;
use crate::merge::subsets::{ChangesetIds, SubsetOutcome, SubsetPath, Subsets};
use crate::{
    ApplyRequest, Attribution, Change, ContentInput, ContentSource, Edit, Error, FileOutcome, FileReport,
    Host, OverlaySource, PathKey, Plan, Plans, Purpose, Report, Result, Selection, State, Strategy, retry,
};

/// Entries in one record.
const ENTRIES_MAX: usize = 1000;
/// Plans that are asked for a change when the times do not tell.
const CANDIDATES_MAX: usize = 100;

type LedgerPaths = BTreeMap<PathKey, LedgerPath>;

/// A request to undo a plan.
#[derive(Clone, Debug)]
pub struct UndoRequest {
    /// The actor who undoes the plan.
    pub actor: Actor,
    /// The changes to undo; all others stay applied.
    pub selection: Selection,
    /// True to write nothing, neither in the roots nor in the store.
    pub dry_run: bool,
}

impl UndoRequest {
    /// Undoes all changes.
    pub fn by(actor: &Actor) -> Self {
        Self { actor: actor.clone(), selection: Selection::default(), dry_run: false }
    }
}

/// The cause of a modification since a plan was applied.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ModifiedBy {
    /// Another plan.
    Plan {
        /// The plan.
        plan: PlanId,
        /// The authors of its changes.
        actors: Vec<Actor>,
    },
    /// A program or person outside of any plan.
    Outside,
    /// One of these plans, which were applied and pruned since, so that their changes are not
    /// known; or a program or person outside of any plan.
    Pruned {
        /// The plans.
        plans: Vec<PlanId>,
    },
}

/// A file that cannot be undone, because it was modified since the apply.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct ModifiedFile {
    /// The difference.
    #[serde(flatten)]
    pub drift: Drift,
    /// The causes, the last of them last.
    pub by: Vec<ModifiedBy>,
}

impl Plans {
    /// Undoes the applied changes of a plan.
    ///
    /// A file that was modified since is [`Error::ModifiedSinceApply`], with the causes. The
    /// changes of one actor are removed from files that others changed too, if those do not depend
    /// on them ([`Error::DependentChanges`]). The undo is a plan, which can be undone.
    #[track_caller]
    pub fn undo(&self, host: &Host, plan: &Plan, request: &UndoRequest) -> Result<Report> {
        let id = plan.id;
        self.check_untampered(id)?;
        let mut plan = plan.clone();
        let mut recovered = Vec::new();
        if !request.dry_run {
            recovered = self.recover(host, &plan.roots)?;
            plan = self.reconcile_undos(self.get(id)?, &request.actor)?;
        }
        let mut reader =
            plan.roots.iter().map(|root| self.snapshot(host, root)).collect::<Result<Vec<_>>>()?;
        let mut ledger = self.ledger(&plan)?;
        ledger.restore_overwritten(|key, content| {
            Ok(holds(&reader.observe(&locate(&plan.roots, key)?).map_err(file_error)?, content))
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
        checked.drifts.extend(self.applied_since(&plan, &checked.already_applied)?);
        if !checked.drifts.is_empty() {
            return Err(self.modified_since(&plan, checked.drifts));
        }
        let is_noop = checked.pending.is_empty() && inverse.unchanged.is_empty();
        if targets.is_empty() || !request.dry_run && is_noop {
            return Err(Error::NothingToDo { plan: id, action: "undo" });
        }
        if request.dry_run {
            let restored = checked.pending.iter();
            let restored = restored.map(|(key, target)| FileReport::new(key, target, FileOutcome::Restored));
            let files = join_renames(restored.chain(unchanged_files(&checked)).collect());
            return Ok(Report { plan, files, remaining: 0, recovered, dry_run: true });
        }
        // Includes paths that a person has reverted: the plan is undone there as well.
        let undo = self.record_undo(&plan, &inverse, &request.actor)?;
        match self.apply_any(host, &undo, &ApplyRequest::by(&request.actor)) {
            Ok(mut report) => {
                report.recovered.splice(0..0, recovered);
                // Name the authors of the reverted changes, not the actor who undid them.
                for file in &mut report.files {
                    let old = file.renamed_from.as_ref().map(|path| file.key.with_path(path));
                    let reverted = [Some(&file.key), old.as_ref()].into_iter().flatten();
                    let reverted = reverted.filter_map(|key| targets.get(key));
                    file.authors = distinct(reverted.flat_map(|target| target.authors.clone()));
                }
                Ok(report)
            }
            // A file was modified between the check and the lock.
            Err(Error::Drifted { drifts, .. }) => {
                let undo = self.get(undo.id)?;
                self.cancel(&undo, &request.actor, "files were modified during the undo")?;
                Err(self.modified_since(&plan, drifts))
            }
            Err(error) => Err(error),
        }
    }

    /// Finds paths at which the first plan of the chain applied again what an undo reverted: the
    /// undo of the undo would apply it twice.
    fn applied_since(&self, undo: &Plan, already_applied: &Targets) -> Result<Vec<Drift>> {
        let mut first = undo.clone();
        while let Purpose::Undo { of } = first.purpose {
            let Some(below) = self.try_get(of)? else { break };
            first = below;
        }
        if already_applied.is_empty() || first.id == undo.id {
            return Ok(Vec::new());
        }
        let ledger = self.ledger(&first)?;
        let is_applied = |(key, target): &(&PathKey, &Target)| {
            target.before != target.after && ledger.get(key).is_some_and(|path| path.after == target.after)
        };
        let drift = |(key, target): (&PathKey, &Target)| Drift {
            key: key.clone(),
            expected: target.before.clone(),
            actual: target.after.clone(),
            description: format!("a file that plan {} was applied to again", first.id),
        };
        Ok(already_applied.iter().filter(is_applied).map(drift).collect())
    }

    /// Computes the content of each selected path without the selected changes.
    ///
    /// An undo of all changesets restores the original. Otherwise the changesets that stay are
    /// combined, and merged with the edits of people.
    fn inverse(&self, plan: &Plan, selection: &Selection, ledger: Ledger) -> Result<Inverse> {
        let Ledger { paths: ledger, unstored } = ledger;
        let deltas = self.deltas(plan.id, &Selection::default())?;
        let mut subsets = Subsets::new(&deltas, Strategy::ThreeWay, self.store().as_ref());
        let combined = ledger.iter().map(|(key, path)| Ok((key, path.combine(key, &mut subsets)?)));
        let combined: BTreeMap<&PathKey, SubsetPath> = combined.collect::<Result<_>>()?;
        let selected_paths = selected_paths(selection, &combined)?;
        let is_selected = |author: &Attribution| selection.matches(&author.actor, author.changeset);
        let selected = subsets.ids(|delta| is_selected(&delta.attribution));
        let mut inverse = Inverse { unstored, ..Inverse::default() };
        for (key, now) in combined.iter().filter(|(key, _)| selected_paths.contains(**key)) {
            let path = &ledger[*key];
            let (authors, others): (Vec<&Attribution>, Vec<&Attribution>) =
                now.authors.iter().partition(|author| is_selected(author));
            let mut rest = ChangesetIds::new();
            if !selection.has_all_changesets() {
                let held = path.changesets.intersection(&selected);
                // A change of a renamed file is also about its old path.
                if authors.is_empty() && !held.into_iter().any(|id| subsets.changes_path(*id, key)) {
                    continue;
                }
                rest = path.changesets.difference(&selected).copied().collect();
                subsets.remove_orphan_resolutions(&mut rest, key);
            }
            let after = content_without(&rest, key, path, now, &mut subsets, &mut inverse.unstored)?;
            let Some(after) = after else {
                let (actors, others) = (actors(&authors), actors(&others));
                let path = key.path.show().into_owned();
                return Err(Error::DependentChanges { plan: plan.id, path, actors, others });
            };
            let (before, authors) = (path.after.clone(), authors.into_iter().cloned().collect());
            let is_changed = before != after;
            // A path with its original content holds no changes of the plan.
            if after == path.original {
                rest.clear();
            }
            if !is_changed && selection.has_all_changesets() {
                continue;
            }
            let targets = if is_changed { &mut inverse.targets } else { &mut inverse.unchanged };
            targets.insert((*key).clone(), Target { before, after, renamed_from: None, authors });
            let reverted = path.changesets.difference(&rest).copied().collect();
            inverse.reverted.insert((*key).clone(), reverted);
        }
        let unchanged = self.unchanged_targets(plan)?.into_iter();
        inverse.unchanged.extend(unchanged.filter(|(key, _)| selected_paths.contains(key)));
        let renamed = combined.iter().filter_map(|(key, now)| Some((*key, now.renamed_from.as_ref()?)));
        renamed.for_each(|(new, old)| inverse.rename_back(new, old));
        inverse.reverts = inverse.collect(&subsets);
        Ok(inverse)
    }

    /// Records the plan that undoes another, ready to be applied.
    fn record_undo(&self, plan: &Plan, inverse: &Inverse, actor: &Actor) -> Result<Plan> {
        let unchanged_log = (!inverse.unchanged.is_empty()).then(ChangesetId::new);
        let undo = NewPlan {
            id: PlanId::new(),
            name: None,
            state: State::Queued.stored(),
            undo_of: Some(plan.id),
            roots: plan.roots.clone(),
            detail: undo_detail(&inverse.reverts, unchanged_log).to_json(),
            actor: actor.clone(),
        };
        retry(|| self.store().create_plan(&undo))?;
        let changeset = self.context(undo.id)?.start_changeset(actor)?;
        let mut changes: Vec<Change> = Vec::new();
        for (key, target) in &inverse.targets {
            changes.extend(inverse.changes(key, target, self.store().as_ref())?);
            if changes.len() >= ENTRIES_MAX {
                changeset.record_many(std::mem::take(&mut changes))?;
            }
        }
        if !changes.is_empty() {
            changeset.record_many(changes)?;
        }
        changeset.seal()?;
        if let Some(log) = unchanged_log {
            self.log_targets(&self.get(undo.id)?, log, &inverse.unchanged, &inverse.unstored, actor)?;
        }
        self.mark_ready(undo.id, actor)
    }

    /// Finds the causes of modifications since a plan was applied.
    fn modified_since(&self, plan: &Plan, drifts: Vec<Drift>) -> Error {
        let mut later = self.ledgers_beside(plan, Some(plan.changed_at), usize::MAX);
        later.sort_by_key(|(other, _)| other.changed_at);
        // If the clock went back, later plans have earlier times.
        let mut others = self.ledgers_beside(plan, None, CANDIDATES_MAX);
        others.retain(|(other, _)| other.changed_at < plan.changed_at);
        let plans = self.pruned_since(plan.changed_at).unwrap_or_default();
        let unknown = if plans.is_empty() { ModifiedBy::Outside } else { ModifiedBy::Pruned { plans } };
        let files = drifts.into_iter().map(|drift| {
            let mut by = Vec::new();
            for (other, paths) in &later {
                if let Some(path) = paths.get(&drift.key) {
                    by.push(ModifiedBy::Plan { plan: other.id, actors: self.actors_of(other, path) });
                }
            }
            let last = later.iter().rev().find_map(|(_, paths)| paths.get(&drift.key));
            if last.is_some_and(|path| drift.actual == path.after) {
                return ModifiedFile { drift, by };
            }
            match followers(&drift, &others) {
                Some(followers) => by.extend(followers.into_iter().map(|(other, path)| ModifiedBy::Plan {
                    plan: other.id,
                    actors: self.actors_of(other, path),
                })),
                None => by.push(unknown.clone()),
            }
            ModifiedFile { drift, by }
        });
        Error::ModifiedSinceApply { plan: plan.id, files: files.collect() }
    }

    /// Returns other plans in the same roots that were applied, with their ledgers: the newest, at
    /// most `limit`.
    fn ledgers_beside(
        &self,
        plan: &Plan,
        changed_since: Option<Time>,
        limit: usize,
    ) -> Vec<(Plan, LedgerPaths)> {
        let states = [State::Applied, State::Undone, State::Ready, State::Conflict];
        let others = self.list_since(&states, changed_since, limit).unwrap_or_default().into_iter();
        let is_beside =
            |other: &Plan| other.id != plan.id && other.roots.iter().any(|root| plan.roots.contains(root));
        let with_ledger = |other: Plan| self.ledger(&other).ok().map(|ledger| (other, ledger.paths));
        others.filter(is_beside).filter_map(with_ledger).collect()
    }

    /// Returns the plans that were applied and pruned since: only the audit trail has them.
    fn pruned_since(&self, since: Time) -> Result<Vec<PlanId>> {
        let query = AuditQuery { since: Some(since), ..AuditQuery::default() };
        let mut applied = BTreeSet::new();
        for record in export(self.store().as_ref(), query) {
            let record = record?;
            if record.kind.as_str() == "plan.applied" {
                applied.insert(record.plan);
            }
        }
        let is_pruned =
            |plan: &PlanId| matches!(self.store().plan(*plan), Err(store::Error::NotFound { .. }));
        Ok(applied.into_iter().filter(is_pruned).collect())
    }

    fn actors_of(&self, plan: &Plan, path: &LedgerPath) -> Vec<Actor> {
        let changesets = self.changesets(plan.id).unwrap_or_default().into_iter();
        let held = changesets.filter(|changeset| path.changesets.contains(&changeset.id));
        let mut actors: Vec<Actor> = held.map(|changeset| changeset.actor).collect();
        actors.dedup();
        actors
    }
}

/// Returns the plans that changed a file one after the other, each from the content that the one
/// before it left, up to the actual content. `None` if they do not lead there.
fn followers<'a>(drift: &Drift, plans: &'a [(Plan, LedgerPaths)]) -> Option<Vec<(&'a Plan, &'a LedgerPath)>> {
    let (mut content, mut found) = (&drift.expected, Vec::new());
    while *content != drift.actual {
        let next = plans.iter().find_map(|(other, paths)| {
            let path = paths.get(&drift.key).filter(|path| path.original == *content)?;
            let is_new = found.iter().all(|(known, _): &(&Plan, _)| known.id != other.id);
            is_new.then_some((other, path))
        });
        let (other, path) = next?;
        found.push((other, path));
        content = &path.after;
    }
    Some(found)
}

/// The changes of an undo.
#[derive(Default)]
struct Inverse {
    targets: Targets,
    /// Paths that hold the same content without the reverted changes.
    unchanged: Targets,
    unstored: UnstoredBlobs,
    /// Paths whose files get their old paths back: a rename deletes them.
    renamed: BTreeSet<PathKey>,
    /// Reverted changesets by path.
    reverted: BTreeMap<PathKey, ChangesetIds>,
    reverts: Reverts,
}

impl Inverse {
    /// Turns the deletion of the new path of a file and the creation of its old path into a rename.
    fn rename_back(&mut self, new: &PathKey, old: &PathBytes) {
        let is_deleted = self.targets.get(new).is_some_and(|target| target.after.is_none());
        if let Some(target) = self.targets.get_mut(&new.with_path(old)).filter(|_| is_deleted)
            && target.before.is_none()
            && target.after.is_some()
        {
            target.renamed_from = Some(new.path.clone());
            self.renamed.insert(new.clone());
        }
    }

    /// Returns the changes to record for a target. A rename is recorded for its new path.
    fn changes(&self, key: &PathKey, target: &Target, store: &dyn Store) -> Result<Vec<Change>> {
        let change = |path: &PathBytes, edit: Edit, base: Option<&Content>| -> Result<Change> {
            let base = base.map(|content| self.input(content, store)).transpose()?;
            Ok(Change::new(path.clone(), edit).in_root(key.root.clone()).with_base(base))
        };
        let Some(after) = &target.after else {
            return match self.renamed.contains(key) {
                true => Ok(Vec::new()),
                false => Ok(vec![change(&key.path, Edit::Delete, target.before.as_ref())?]),
            };
        };
        let mut changes = Vec::new();
        let mut before = target.before.as_ref();
        if let Some(from) = &target.renamed_from {
            before = self.targets.get(&key.with_path(from)).and_then(|from| from.before.as_ref());
            changes.push(change(from, Edit::Rename { to: key.path.clone() }, before)?);
        }
        if before != Some(after) {
            let content = ContentSource::Input(self.input(after, store)?);
            changes.push(change(&key.path, Edit::Write { content, mode: Some(after.mode) }, before)?);
        }
        Ok(changes)
    }

    fn input(&self, content: &Content, store: &dyn Store) -> Result<ContentInput> {
        match self.unstored.get(content) {
            Some(bytes) => ContentInput::from_reader(store, content.mode, &mut &bytes[..]),
            None => Ok(ContentInput::stored(content.clone())),
        }
    }

    /// Collects the reverted changesets, and the paths at which one of them stays or was never
    /// applied.
    fn collect(&self, subsets: &Subsets<'_>) -> Reverts {
        let all: ChangesetIds = self.reverted.values().flatten().copied().collect();
        let is_override = |(key, reverted): &(&PathKey, &ChangesetIds)| {
            all.difference(reverted).any(|id| subsets.changes_path(*id, key))
        };
        let overrides = self.reverted.iter().filter(is_override).map(|(key, reverted)| Carried {
            key: key.clone(),
            changesets: reverted.iter().copied().collect(),
        });
        Reverts { overrides: overrides.collect(), changesets: all.into_iter().collect() }
    }
}

/// Returns the selected paths. A renamed file is selected with both of its paths.
fn selected_paths(
    selection: &Selection,
    combined: &BTreeMap<&PathKey, SubsetPath>,
) -> Result<BTreeSet<PathKey>> {
    let filter = selection.path_filter()?;
    let mut selected = BTreeSet::new();
    for (key, now) in combined {
        let paths = [Some((*key).clone()), now.renamed_from.as_ref().map(|old| key.with_path(old))];
        if paths.iter().flatten().any(|path| filter.matches(path)) {
            selected.extend(paths.into_iter().flatten());
        }
    }
    Ok(selected)
}

/// Computes the content of a path when only the changesets of `rest` stay. Returns `None` if they
/// depend on the others.
fn content_without(
    rest: &ChangesetIds,
    key: &PathKey,
    path: &LedgerPath,
    now: &SubsetPath,
    subsets: &mut Subsets<'_>,
    unstored: &mut UnstoredBlobs,
) -> Result<Option<Option<Content>>> {
    let then = match rest.is_empty() {
        true => return Ok(Some(path.original.clone())),
        false => subsets.path(rest, key)?,
    };
    match then.outcome {
        SubsetOutcome::Unchanged => return Ok(Some(path.original.clone())),
        SubsetOutcome::Conflict => return Ok(None),
        SubsetOutcome::Resolved => {}
    }
    let contents = OverlaySource { overlay: &now.combined.unstored, base: &subsets.contents };
    let contents = OverlaySource { overlay: &then.combined.unstored, base: &contents };
    unstored.copy_from(then.after.as_ref(), &then.combined.unstored);
    // The changesets that stay may have started from those that are reverted.
    let after = merge(then.base.as_ref(), now.base.as_ref(), then.after.as_ref(), &contents, unstored)?;
    let Ok(after) = after else { return Ok(None) };
    // The edits of people that were merged stay.
    Ok(merge(now.after.as_ref(), path.after.as_ref(), after.as_ref(), &contents, unstored)?.ok())
}

fn actors(authors: &[&Attribution]) -> Box<[Actor]> {
    let mut actors: Vec<Actor> = authors.iter().map(|author| author.actor.clone()).collect();
    actors.dedup();
    actors.into()
}
