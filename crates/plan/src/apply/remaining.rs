//! Remaining work: compares the content that each path is to hold with the ledger.
//!
//! A path without changes of the plan gets the selected changesets, combined. A path with changes
//! gets its changesets and the selected ones, combined; so applying one part after the other has
//! the same result as applying all at once.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};

use crate::apply::drift::{Drift, Target, Targets};
use crate::apply::ledger::{Carried, Ledger, LedgerPath};
use crate::blob_source::UnstoredBlobs;
use crate::merge::content::merge;
use crate::merge::subsets::{ChangesetIds, SubsetOutcome, Subsets};
use crate::selection::PathFilter;
use crate::{
    ApplyRequest, Attribution, Combined, CombinedChange, Conflict, Error, MergeOutcome, OverlaySource,
    PathKey, Plan, Result, Selection,
};

/// The selected part of a plan.
pub(crate) struct RemainingQuery<'a> {
    pub ledger: &'a Ledger,
    pub selected: ChangesetIds,
    pub paths: PathFilter,
}

/// Targets, and conflicts that prevent further targets.
#[derive(Default)]
pub(crate) struct Remaining {
    pub targets: Targets,
    pub unstored: UnstoredBlobs,
    pub conflicts: Vec<Conflict>,
    /// Conflicts with edits of people that an earlier apply merged.
    pub drifts: Vec<Drift>,
    /// Changesets that single paths hold besides the selected ones: resolutions, and changesets
    /// that were applied under an old path.
    pub carried: Vec<Carried>,
}

/// The changes that an apply makes.
pub(crate) struct ApplySet {
    pub targets: Targets,
    pub unstored: UnstoredBlobs,
    /// Of an undo, the paths that keep their content without the reverted changesets.
    pub unchanged: Targets,
    /// The changesets of the targets.
    pub applied: ChangesetIds,
    pub carried: Vec<Carried>,
}

/// Collects the selected changes of a plan; `unchanged` are the paths that it leaves as they are.
/// Conflicts are an error, and so is an empty set.
pub(crate) fn apply_set(
    plan: &Plan,
    request: &ApplyRequest,
    ledger: &Ledger,
    unchanged: Targets,
    subsets: &mut Subsets<'_>,
) -> Result<ApplySet> {
    let query = RemainingQuery::new(&request.selection, ledger, subsets)?;
    let remaining = query.run(subsets)?;
    if !remaining.conflicts.is_empty() {
        return Err(Error::Conflicts { plan: plan.id, conflicts: remaining.conflicts });
    }
    if !remaining.drifts.is_empty() {
        return Err(Error::Drifted { plan: plan.id, drifts: remaining.drifts, is_merging: true });
    }
    let Remaining { targets, unstored, carried, .. } = remaining;
    if targets.is_empty() && unchanged.is_empty() {
        return Err(Error::NothingToDo { plan: plan.id, action: "apply" });
    }
    Ok(ApplySet { targets, unstored, unchanged, applied: query.selected, carried })
}

/// Counts the paths that do not hold all changes of their plan.
pub(crate) fn count(ledger: &Ledger, subsets: &mut Subsets<'_>) -> Result<usize> {
    let remaining = RemainingQuery::new(&Selection::default(), ledger, subsets)?.run(subsets)?;
    Ok(remaining.targets.len() + remaining.conflicts.len() + remaining.drifts.len())
}

impl<'a> RemainingQuery<'a> {
    fn new(selection: &Selection, ledger: &'a Ledger, subsets: &Subsets<'_>) -> Result<Self> {
        let is_selected = |author: &Attribution| selection.matches(&author.actor, author.changeset);
        let selected = subsets.ids(|delta| is_selected(&delta.attribution));
        Ok(Self { ledger, selected, paths: selection.path_filter()? })
    }

    fn run(&self, subsets: &mut Subsets<'_>) -> Result<Remaining> {
        let by_path = self.changesets_by_path(subsets);
        let mut groups: BTreeMap<ChangesetIds, BTreeSet<&PathKey>> =
            BTreeMap::from([(self.selected.clone(), BTreeSet::new())]);
        for (key, ids) in &by_path {
            groups.entry(subsets.effective(ids, key).into_owned()).or_default().insert(key);
        }
        let mut remaining = Remaining::default();
        for (ids, keys) in groups {
            let combined = subsets.combine(&ids)?;
            let is_default = ids == self.selected;
            let group = PathGroup { query: self, by_path: &by_path, keys, is_default, combined: &combined };
            group.add_conflicts(subsets, &mut remaining);
            group.add_changes(subsets, &mut remaining)?;
            group.add_reverts(subsets, &mut remaining)?;
            remaining.unstored.extend(combined.unstored.clone());
        }
        for (key, ids) in by_path.iter().filter(|(key, _)| remaining.targets.contains_key(key)) {
            let held = self.ledger.get(key).map(|path| &path.changesets);
            let is_carried =
                |id: &&_| !self.selected.contains(id) && held.is_none_or(|held| !held.contains(id));
            let carried: Vec<_> = ids.iter().filter(is_carried).copied().collect();
            if !carried.is_empty() {
                remaining.carried.push(Carried { key: key.clone(), changesets: carried });
            }
        }
        remaining.conflicts.sort_by(|a, b| a.key.cmp(&b.key));
        remaining.conflicts.dedup_by(|a, b| a.key == b.key);
        Ok(remaining)
    }

    /// Returns the changesets of the paths that are to hold others than the selected ones: applied
    /// paths, new paths of their files, and resolved paths.
    fn changesets_by_path(&self, subsets: &Subsets<'_>) -> BTreeMap<PathKey, ChangesetIds> {
        let known = subsets.ids(|_| true);
        let mut by_path: BTreeMap<PathKey, ChangesetIds> = BTreeMap::new();
        for (key, path) in self.ledger.iter() {
            by_path.insert(key.clone(), path.changesets.intersection(&known).copied().collect());
        }
        for (key, change) in subsets.changesets.iter().flat_map(|delta| &delta.changes) {
            let old = change.renamed_from.as_ref().and_then(|old| self.ledger.get(&key.with_path(old)));
            if let Some(old) = old.filter(|_| self.ledger.get(key).is_none()) {
                by_path.entry(key.clone()).or_default().extend(old.changesets.intersection(&known));
            }
        }
        for key in subsets.resolved() {
            by_path.entry(key.clone()).or_default();
        }
        for (key, ids) in &mut by_path {
            ids.extend(&self.selected);
            subsets.add_resolutions(ids, key);
        }
        by_path
    }

    fn is_applied(&self, subsets: &Subsets<'_>, key: &PathKey, authors: &[Attribution]) -> bool {
        let Some(path) = self.ledger.get(key) else { return false };
        let held = subsets.effective(&path.changesets, key);
        authors.iter().all(|author| held.contains(&author.changeset))
    }
}

/// The paths that are to hold the same changesets.
struct PathGroup<'a> {
    query: &'a RemainingQuery<'a>,
    by_path: &'a BTreeMap<PathKey, ChangesetIds>,
    keys: BTreeSet<&'a PathKey>,
    /// True if all paths that are not in `by_path` belong to the group.
    is_default: bool,
    combined: &'a Combined,
}

impl PathGroup<'_> {
    fn contains(&self, key: &PathKey) -> bool {
        self.keys.contains(key) || self.is_default && !self.by_path.contains_key(key)
    }

    /// Adds conflicts, except for those that were applied by another strategy.
    fn add_conflicts(&self, subsets: &Subsets<'_>, remaining: &mut Remaining) {
        for conflict in self.combined.conflicts() {
            let sides: Vec<Attribution> =
                conflict.sides.iter().map(|side| side.attribution.clone()).collect();
            let is_applied =
                |key: &PathKey, authors: &[Attribution]| self.query.is_applied(subsets, key, authors);
            let mut others = conflict.others.iter();
            let all_applied = is_applied(&conflict.key, &sides)
                && others.all(|other| is_applied(&conflict.key.with_path(&other.path), &other.authors));
            let is_selected = conflict_paths(conflict).any(|key| self.contains(&key))
                && conflict_paths(conflict).any(|key| self.query.paths.matches(&key));
            if is_selected && !all_applied {
                remaining.conflicts.push(conflict.clone());
            }
        }
    }

    fn add_changes(&self, subsets: &mut Subsets<'_>, remaining: &mut Remaining) -> Result<()> {
        let old_paths = old_paths(self.combined, &self.query.paths);
        for (key, change) in self.combined.changes().filter(|(key, _)| self.contains(key)) {
            if !self.query.paths.matches_change(key, change) && !old_paths.contains(key) {
                continue;
            }
            let target = match self.query.ledger.get(key) {
                None => Some(change.target()),
                Some(path) => self.add_to_applied(key, path, change, subsets, remaining)?,
            };
            if let Some(target) = target {
                self.add_old_path(key, change, &target, remaining);
                remaining.targets.insert(key.clone(), target);
            }
        }
        Ok(())
    }

    /// Returns the target of an applied path: none if it holds all changes, or if the edits of
    /// people conflict.
    fn add_to_applied(
        &self,
        key: &PathKey,
        path: &LedgerPath,
        change: &CombinedChange,
        subsets: &mut Subsets<'_>,
        remaining: &mut Remaining,
    ) -> Result<Option<Target>> {
        let is_applied = self.query.is_applied(subsets, key, &change.authors);
        // A resolution may revert applied changes without a new author.
        if is_applied && subsets.group(key).is_none() {
            return Ok(None);
        }
        let held = path.combine(key, subsets)?;
        if is_applied && held.after == change.after {
            return Ok(None);
        }
        let below = OverlaySource { overlay: &held.combined.unstored, base: &subsets.contents };
        let contents = OverlaySource { overlay: &self.combined.unstored, base: &below };
        // The file also has the edits of people that earlier applies merged.
        let (base, ours) = (held.after.as_ref(), path.after.as_ref());
        let after = merge(base, ours, change.after.as_ref(), &contents, &mut remaining.unstored)?;
        let Ok(after) = after else {
            let description = "a file with merged edits that conflict with the remaining changes".to_owned();
            let (expected, actual) = (held.after, path.after.clone());
            remaining.drifts.push(Drift { key: key.clone(), expected, actual, description });
            return Ok(None);
        };
        let effective = subsets.effective(&path.changesets, key);
        let is_new = |author: &&Attribution| !effective.contains(&author.changeset);
        let new: Vec<Attribution> = change.authors.iter().filter(is_new).cloned().collect();
        let authors = if new.is_empty() { change.authors.clone() } else { new };
        let (before, renamed_from) = (path.after.clone(), change.renamed_from.clone());
        Ok(Some(Target { before, after, renamed_from, authors }))
    }

    /// Adds the old path of a renamed file, which an undo of the rename restores; not where that
    /// path is in conflict.
    fn add_old_path(
        &self,
        key: &PathKey,
        change: &CombinedChange,
        target: &Target,
        remaining: &mut Remaining,
    ) {
        let Some(old) = change.renamed_from.as_ref().map(|old| key.with_path(old)) else { return };
        let is_deleted = self.query.ledger.get(&old).is_some_and(|path| path.after.is_none());
        if is_deleted && !matches!(self.combined.paths.get(&old), Some(MergeOutcome::Conflict(_))) {
            let deleted = Target { authors: target.authors.clone(), ..Target::default() };
            remaining.targets.entry(old).or_insert(deleted);
        }
    }

    /// Restores the original content of paths whose changesets combine to no change.
    fn add_reverts(&self, subsets: &mut Subsets<'_>, remaining: &mut Remaining) -> Result<()> {
        let conflicted: BTreeSet<PathKey> = self.combined.conflicts().flat_map(conflict_paths).collect();
        for key in self.keys.iter().filter(|key| !self.combined.paths.contains_key(key)) {
            let Some(path) = self.query.ledger.get(key) else { continue };
            let is_selected = self.query.paths.matches(key) && !conflicted.contains(*key);
            if is_selected
                && path.after != path.original
                && path.combine(key, subsets)?.outcome != SubsetOutcome::Unchanged
                && let Entry::Vacant(target) = remaining.targets.entry((*key).clone())
            {
                let (before, after) = (path.after.clone(), path.original.clone());
                target.insert(Target { before, after, ..Target::default() });
            }
        }
        Ok(())
    }
}

/// The old paths of selected files that are renamed: they are selected too.
fn old_paths(combined: &Combined, paths: &PathFilter) -> BTreeSet<PathKey> {
    let selected = combined.changes().filter(|(key, change)| paths.matches_change(key, change));
    selected.filter_map(|(key, change)| Some(key.with_path(change.renamed_from.as_ref()?))).collect()
}

/// All paths of a conflict, with the old paths of its files.
fn conflict_paths(conflict: &Conflict) -> impl Iterator<Item = PathKey> {
    let others = conflict.others.iter().map(|other| &other.path).chain(&conflict.old_names);
    std::iter::once(conflict.key.clone()).chain(others.map(|path| conflict.key.with_path(path)))
}
