//! Remaining work: what each path is to hold, compared with what the ledger says that it holds.
//!
//! A path that holds nothing of the plan gets the chosen changesets, combined. One that holds changes already gets those and the chosen ones
//! combined, so one part after the other comes to the same as all at once.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};

use store::Content;

use crate::apply::drift::{Drift, Target, Targets};
use crate::apply::intent::{Unchanged, reverts};
use crate::apply::ledger::{Carried, Ledger, LedgerPath};
use crate::blob_source::UnstoredBlobs;
use crate::merge::claims::beside;
use crate::merge::content::{Merged, merge};
use crate::merge::subsets::{DeclaredOutcome, Set, Subsets};
use crate::selection::PathFilter;
use crate::{
    ApplyRequest, BlobSource, Combined, CombinedChange, Conflict, Credit, Error, OverlaySource, PathKey,
    Plan, Result, Selection, Settled,
};

/// The part of a plan that is asked for.
pub(crate) struct RemainingQuery<'a> {
    pub ledger: &'a Ledger,
    /// The changesets that the paths are to hold.
    pub chosen: Set,
    pub paths: PathFilter,
}

/// Targets, and what is in their way.
#[derive(Default)]
pub(crate) struct Remaining {
    pub targets: Targets,
    pub unstored: UnstoredBlobs,
    pub conflicts: Vec<Conflict>,
    /// Changes that clash with edits of people which were merged with an earlier selection.
    pub edited: Vec<Drift>,
    /// Changesets that single paths hold from then on, beside the chosen ones: resolutions, and what was applied under an old name.
    pub carried: Vec<Carried>,
}

/// The changes that an apply brings, as far as the store knows.
pub(crate) struct ApplySet {
    pub targets: Targets,
    pub unstored: UnstoredBlobs,
    /// Of an undo, the paths that keep their content without the changesets that it reverts.
    pub unchanged: Targets,
    /// The changesets whose changes these are.
    pub applied: Set,
    pub carried: Vec<Carried>,
}

/// The changes of a plan that are to be applied. Conflicts in it are an error, and so is nothing.
pub(crate) fn apply_set(
    plan: &Plan,
    request: &ApplyRequest,
    ledger: &Ledger,
    subsets: &mut Subsets<'_>,
) -> Result<ApplySet> {
    let query = RemainingQuery::of(&request.selection, ledger, subsets)?;
    let remaining = query.remaining(subsets)?;
    if !remaining.conflicts.is_empty() {
        return Err(Error::Conflicts { plan: plan.id, conflicts: remaining.conflicts });
    }
    if !remaining.edited.is_empty() {
        return Err(Error::Drifted { plan: plan.id, drifts: remaining.edited, is_merging: true });
    }
    let Remaining { targets, unstored, carried, .. } = remaining;
    let unchanged = reverts(plan)?.unchanged.into_iter().map(|unchanged| {
        let Unchanged { key, content } = unchanged;
        (key, Target { expected: content.clone(), after: content, credits: Vec::new() })
    });
    let unchanged: Targets = unchanged.collect();
    if targets.is_empty() && unchanged.is_empty() {
        return Err(Error::NothingToDo { plan: plan.id, action: "apply" });
    }
    Ok(ApplySet { targets, unstored, unchanged, applied: query.chosen, carried })
}

/// The number of paths that do not hold all changes of their plan.
pub(crate) fn count(ledger: &Ledger, subsets: &mut Subsets<'_>) -> Result<usize> {
    let left = RemainingQuery::of(&Selection::default(), ledger, subsets)?.remaining(subsets)?;
    Ok(left.targets.len() + left.conflicts.len() + left.edited.len())
}

impl<'a> RemainingQuery<'a> {
    fn of(selection: &Selection, ledger: &'a Ledger, subsets: &Subsets<'_>) -> Result<Self> {
        Ok(Self {
            ledger,
            chosen: subsets.ids(|folded| selection.matches(&folded.credit.actor, folded.credit.changeset)),
            paths: selection.path_filter()?,
        })
    }

    fn remaining(&self, subsets: &mut Subsets<'_>) -> Result<Remaining> {
        let sets = self.sets(subsets);
        let mut groups: BTreeMap<Set, BTreeSet<&PathKey>> =
            BTreeMap::from([(self.chosen.clone(), BTreeSet::new())]);
        for (key, set) in &sets {
            groups.entry(subsets.in_effect(set, key).into_owned()).or_default().insert(key);
        }
        let mut remaining = Remaining::default();
        for (set, keys) in groups {
            let combined = subsets.combine(&set)?;
            let is_default = set == self.chosen;
            let group = PathGroup { query: self, sets: &sets, keys, is_default, combined: &combined };
            group.add_conflicts(subsets, &mut remaining);
            group.add_changes(subsets, &mut remaining)?;
            group.add_reverts(subsets, &mut remaining)?;
            remaining.unstored.extend(combined.unstored.clone());
        }
        for (key, set) in sets.iter().filter(|(key, _)| remaining.targets.contains_key(key)) {
            let held = self.ledger.held(key).map(|there| &there.changesets);
            let is_more = |id: &&_| !self.chosen.contains(id) && held.is_none_or(|held| !held.contains(id));
            let more: Vec<_> = set.iter().filter(is_more).copied().collect();
            if !more.is_empty() {
                remaining.carried.push(Carried { key: key.clone(), changesets: more });
            }
        }
        remaining.conflicts.sort_by(|a, b| a.key.cmp(&b.key));
        remaining.conflicts.dedup_by(|a, b| a.key == b.key);
        Ok(remaining)
    }

    /// The sets of the paths that are to hold others than the chosen changesets: those that hold changes, new names of such, and those
    /// that were resolved.
    fn sets(&self, subsets: &Subsets<'_>) -> BTreeMap<PathKey, Set> {
        let known = subsets.ids(|_| true);
        let mut sets: BTreeMap<PathKey, Set> = BTreeMap::new();
        for (key, there) in self.ledger.all_held() {
            sets.insert(key.clone(), there.changesets.intersection(&known).copied().collect());
        }
        for (key, change) in subsets.changesets.iter().flat_map(|folded| &folded.changes) {
            let old = change.renamed_from.as_ref().and_then(|old| self.ledger.held(&beside(key, old)));
            if let Some(old) = old.filter(|_| self.ledger.held(key).is_none()) {
                sets.entry(key.clone()).or_default().extend(old.changesets.intersection(&known));
            }
        }
        for key in subsets.resolved() {
            sets.entry(key.clone()).or_default();
        }
        for (key, set) in &mut sets {
            set.extend(&self.chosen);
            subsets.add_resolutions(set, key);
        }
        sets
    }

    fn holds(&self, subsets: &Subsets<'_>, key: &PathKey, credits: &[Credit]) -> bool {
        let Some(there) = self.ledger.held(key) else { return false };
        let held = subsets.in_effect(&there.changesets, key);
        credits.iter().all(|credit| held.contains(&credit.changeset))
    }
}

/// The paths that are to hold the same changesets.
struct PathGroup<'a> {
    query: &'a RemainingQuery<'a>,
    sets: &'a BTreeMap<PathKey, Set>,
    keys: BTreeSet<&'a PathKey>,
    /// Whether the paths without a set of their own are among them.
    is_default: bool,
    combined: &'a Combined,
}

impl PathGroup<'_> {
    fn has(&self, key: &PathKey) -> bool {
        self.keys.contains(key) || self.is_default && !self.sets.contains_key(key)
    }

    /// Conflicts, but for those that were applied by another strategy.
    fn add_conflicts(&self, subsets: &Subsets<'_>, remaining: &mut Remaining) {
        for conflict in self.combined.conflicts() {
            let sides: Vec<Credit> = conflict.sides.iter().map(|side| side.credit.clone()).collect();
            let holds = |key: &PathKey, credits: &[Credit]| self.query.holds(subsets, key, credits);
            let mut others = conflict.others.iter();
            let is_held = holds(&conflict.key, &sides)
                && others.all(|other| holds(&beside(&conflict.key, &other.path), &other.credits));
            let is_asked = keys(conflict).any(|key| self.has(&key))
                && keys(conflict).any(|key| self.query.paths.matches(&key));
            if is_asked && !is_held {
                remaining.conflicts.push(conflict.clone());
            }
        }
    }

    fn add_changes(&self, subsets: &mut Subsets<'_>, remaining: &mut Remaining) -> Result<()> {
        let old_names = old_names(self.combined, &self.query.paths);
        for (key, change) in self.combined.changes().filter(|(key, _)| self.has(key)) {
            if !self.query.paths.matches_change(key, change) && !old_names.contains(key) {
                continue;
            }
            let target = match self.query.ledger.held(key) {
                None => Some(Target {
                    expected: change.base.clone(),
                    after: change.after.clone(),
                    credits: change.credits.clone(),
                }),
                Some(there) => self.over(key, there, change, subsets, remaining)?,
            };
            if let Some(target) = target {
                self.add_old_name(key, change, &target, remaining);
                remaining.targets.insert(key.clone(), target);
            }
        }
        Ok(())
    }

    /// The target of a path that holds changes: none when it holds all of them, or when edits of people are in the way.
    fn over(
        &self,
        key: &PathKey,
        there: &LedgerPath,
        change: &CombinedChange,
        subsets: &mut Subsets<'_>,
        remaining: &mut Remaining,
    ) -> Result<Option<Target>> {
        let is_held = self.query.holds(subsets, key, &change.credits);
        // A resolution may revert what was applied, and name nobody who is new.
        if is_held && subsets.group(key).is_none() {
            return Ok(None);
        }
        let held = there.declared(key, subsets)?;
        if is_held && held.after == change.after {
            return Ok(None);
        }
        let held_made = OverlaySource { overlay: &held.combined.unstored, base: &subsets.contents };
        let contents = OverlaySource { overlay: &self.combined.unstored, base: &held_made };
        let after = over_edits(there, &held.after, change.after.clone(), &contents, &mut remaining.unstored)?;
        let Ok(after) = after else {
            let found = "a file with edits of people, merged before, that clash with what is left".to_owned();
            let drift = Drift { key: key.clone(), expected: held.after, seen: there.after.clone(), found };
            remaining.edited.push(drift);
            return Ok(None);
        };
        let in_effect = subsets.in_effect(&there.changesets, key);
        let is_new = |credit: &&Credit| !in_effect.contains(&credit.changeset);
        let new: Vec<Credit> = change.credits.iter().filter(is_new).cloned().collect();
        let credits = if new.is_empty() { change.credits.clone() } else { new };
        Ok(Some(Target { expected: there.after.clone(), after, credits }))
    }

    /// The old name of a file is about the same file, and gets it back when the rename is undone. Not where that is in conflict.
    fn add_old_name(
        &self,
        key: &PathKey,
        change: &CombinedChange,
        target: &Target,
        remaining: &mut Remaining,
    ) {
        let Some(old) = change.renamed_from.as_ref().map(|old| beside(key, old)) else { return };
        let is_gone = self.query.ledger.held(&old).is_some_and(|there| there.after.is_none());
        if is_gone && !matches!(self.combined.paths.get(&old), Some(Settled::Conflict(_))) {
            let gone = Target { expected: None, after: None, credits: target.credits.clone() };
            remaining.targets.entry(old).or_insert(gone);
        }
    }

    /// Paths whose changes come to nothing get back what they held before the plan.
    fn add_reverts(&self, subsets: &mut Subsets<'_>, remaining: &mut Remaining) -> Result<()> {
        let conflicted: BTreeSet<PathKey> = self.combined.conflicts().flat_map(keys).collect();
        for key in self.keys.iter().filter(|key| !self.combined.paths.contains_key(key)) {
            let Some(there) = self.query.ledger.held(key) else { continue };
            let is_taken = self.query.paths.matches(key) && !conflicted.contains(*key);
            if is_taken
                && there.after != there.original
                && there.declared(key, subsets)?.outcome != DeclaredOutcome::Nothing
                && let Entry::Vacant(target) = remaining.targets.entry((*key).clone())
            {
                let (expected, after) = (there.after.clone(), there.original.clone());
                target.insert(Target { expected, after, credits: Vec::new() });
            }
        }
        Ok(())
    }
}

/// What a path is to hold, with what people had made of it when it was merged with their edits.
pub(crate) fn over_edits(
    there: &LedgerPath,
    declared: &Option<Content>,
    after: Option<Content>,
    contents: &dyn BlobSource,
    unstored: &mut UnstoredBlobs,
) -> Result<Merged> {
    if there.after == *declared {
        return Ok(Ok(after));
    }
    merge(declared.as_ref(), there.after.as_ref(), after.as_ref(), contents, unstored)
}

/// The old names of renamed files that are taken: they go with the new ones.
fn old_names(combined: &Combined, paths: &PathFilter) -> BTreeSet<PathKey> {
    let taken = combined.changes().filter(|(key, change)| paths.matches_change(key, change));
    taken.filter_map(|(key, change)| Some(beside(key, change.renamed_from.as_ref()?))).collect()
}

/// All paths that a conflict is about, the old names of files that it is about among them.
fn keys(conflict: &Conflict) -> impl Iterator<Item = PathKey> {
    let others = conflict.others.iter().map(|other| &other.path).chain(&conflict.old_names);
    std::iter::once(conflict.key.clone()).chain(others.map(|path| beside(&conflict.key, path)))
}
