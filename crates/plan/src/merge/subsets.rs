//! Subsets of a plan's changesets, combined: the set of changesets that a path holds decides its
//! content.
//!
//! Partial apply, remaining work and partial undo all combine here, in this one direction. A
//! resolution holds for every subset: the change of an actor that it did not take does not return,
//! and all names of a resolved file stay together.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use store::{ChangesetId, Content, Store};

use crate::{
    Attribution, ChangesetDelta, Combined, CombinedChange, MergeOutcome, PathBytes, PathKey, Result,
    StoredBlobs, Strategy, combine,
};

pub(crate) type ChangesetIds = BTreeSet<ChangesetId>;

/// The changesets of a plan, and the combined subsets. Each subset is combined once.
pub(crate) struct Subsets<'a> {
    pub changesets: &'a [ChangesetDelta],
    pub contents: StoredBlobs<'a>,
    strategy: Strategy,
    /// Paths that were resolved together.
    groups: Vec<BTreeSet<PathKey>>,
    combined: BTreeMap<ChangesetIds, Rc<Combined>>,
}

/// One path of a combined subset.
pub(crate) struct SubsetPath {
    pub outcome: SubsetOutcome,
    pub base: Option<Content>,
    pub after: Option<Content>,
    pub renamed_from: Option<PathBytes>,
    pub authors: Vec<Attribution>,
    /// The whole subset, with contents that merging made.
    pub combined: Rc<Combined>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SubsetOutcome {
    Unchanged,
    Resolved,
    Conflict,
}

impl<'a> Subsets<'a> {
    pub(crate) fn new(changesets: &'a [ChangesetDelta], strategy: Strategy, store: &'a dyn Store) -> Self {
        let (groups, combined) = (resolution_groups(changesets), BTreeMap::new());
        Self { changesets, contents: StoredBlobs(store), strategy, groups, combined }
    }

    /// Ids of the changesets that `filter` accepts.
    pub(crate) fn ids(&self, filter: impl Fn(&ChangesetDelta) -> bool) -> ChangesetIds {
        let accepted = self.changesets.iter().filter(|delta| filter(delta));
        accepted.map(|delta| delta.attribution.changeset).collect()
    }

    pub(crate) fn combine(&mut self, ids: &ChangesetIds) -> Result<Rc<Combined>> {
        if let Some(combined) = self.combined.get(ids) {
            return Ok(Rc::clone(combined));
        }
        let is_included = |delta: &&ChangesetDelta| ids.contains(&delta.attribution.changeset);
        let subset = match self.changesets.iter().all(|delta| is_included(&delta)) {
            true => Cow::Borrowed(self.changesets),
            false => Cow::Owned(self.changesets.iter().filter(is_included).cloned().collect()),
        };
        let combined = Rc::new(combine(&subset, self.strategy, &self.contents)?);
        self.combined.insert(ids.clone(), Rc::clone(&combined));
        Ok(combined)
    }

    /// Combines the effective changesets of a path.
    pub(crate) fn path(&mut self, ids: &ChangesetIds, key: &PathKey) -> Result<SubsetPath> {
        let combined = self.combine(&self.effective(ids, key))?;
        let (outcome, base, after, renamed_from, authors) = match combined.paths.get(key) {
            None => (SubsetOutcome::Unchanged, &None, &None, &None, Vec::new()),
            Some(MergeOutcome::Resolved(change)) => {
                let CombinedChange { base, after, renamed_from, authors } = change;
                (SubsetOutcome::Resolved, base, after, renamed_from, authors.clone())
            }
            Some(MergeOutcome::Conflict(conflict)) => {
                let authors = conflict.sides.iter().map(|side| side.attribution.clone()).collect();
                (SubsetOutcome::Conflict, &conflict.base, &None, &None, authors)
            }
        };
        let (base, after, renamed_from) = (base.clone(), after.clone(), renamed_from.clone());
        Ok(SubsetPath { outcome, base, after, renamed_from, authors, combined: Rc::clone(&combined) })
    }

    /// Paths that were resolved together with this one.
    pub(crate) fn group(&self, key: &PathKey) -> Option<&BTreeSet<PathKey>> {
        self.groups.iter().find(|group| group.contains(key))
    }

    /// All paths that were resolved.
    pub(crate) fn resolved(&self) -> impl Iterator<Item = &PathKey> {
        self.groups.iter().flatten()
    }

    /// The changesets in effect at a path that holds `ids`: the last resolution among them
    /// supersedes all before it.
    pub(crate) fn effective<'s>(&self, ids: &'s ChangesetIds, key: &PathKey) -> Cow<'s, ChangesetIds> {
        let Some(group) = self.group(key) else { return Cow::Borrowed(ids) };
        let is_resolution =
            |delta: &ChangesetDelta| ids.contains(&delta.attribution.changeset) && resolves(delta, group);
        let last = self.changesets.iter().rposition(is_resolution).unwrap_or(0);
        let before = self.changesets[..last].iter().map(|delta| delta.attribution.changeset);
        Cow::Owned(ids.iter().copied().chain(before).collect())
    }

    /// Adds the resolutions of a path to changesets that took part in the conflict.
    pub(crate) fn add_resolutions(&self, ids: &mut ChangesetIds, key: &PathKey) {
        let Some(group) = self.group(key) else { return };
        let took_part =
            |delta: &ChangesetDelta| ids.contains(&delta.attribution.changeset) && touches(delta, group);
        if self.changesets.iter().any(took_part) {
            ids.extend(self.ids(|delta| resolves(delta, group)));
        }
    }

    /// Removes the resolutions of a path when no other of the changesets took part in the conflict.
    pub(crate) fn remove_orphan_resolutions(&self, ids: &mut ChangesetIds, key: &PathKey) {
        let Some(group) = self.group(key) else { return };
        let took_part = |delta: &ChangesetDelta| {
            ids.contains(&delta.attribution.changeset) && touches(delta, group) && !resolves(delta, group)
        };
        if !self.changesets.iter().any(took_part) {
            ids.retain(|id| !self.ids(|delta| resolves(delta, group)).contains(id));
        }
    }

    /// Returns true if a changeset changes a path, or one that was resolved with it.
    pub(crate) fn changes_path(&self, changeset: ChangesetId, key: &PathKey) -> bool {
        let mut found = self.changesets.iter().filter(|delta| delta.attribution.changeset == changeset);
        found.any(|delta| {
            delta.changes.contains_key(key) || self.group(key).is_some_and(|group| touches(delta, group))
        })
    }
}

fn touches(delta: &ChangesetDelta, group: &BTreeSet<PathKey>) -> bool {
    delta.changes.keys().any(|key| group.contains(key))
}

fn resolves(delta: &ChangesetDelta, group: &BTreeSet<PathKey>) -> bool {
    delta.changes.iter().any(|(key, change)| change.resolves && group.contains(key))
}

/// Groups resolved paths that are names of one file or were resolved at once.
fn resolution_groups(changesets: &[ChangesetDelta]) -> Vec<BTreeSet<PathKey>> {
    let resolutions = changesets.iter().map(|delta| {
        let resolved = delta.changes.iter().filter(|(_, change)| change.resolves);
        resolved.map(|(key, _)| key.clone()).collect::<BTreeSet<PathKey>>()
    });
    let mut groups: Vec<BTreeSet<PathKey>> = Vec::new();
    for mut group in resolutions.filter(|group| !group.is_empty()) {
        add_names(&mut group, changesets);
        let (overlapping, disjoint) = groups.into_iter().partition(|other| !other.is_disjoint(&group));
        groups = disjoint;
        group.extend(Vec::into_iter(overlapping).flatten());
        groups.push(group);
    }
    groups
}

/// Adds all other names of the files of a group.
fn add_names(group: &mut BTreeSet<PathKey>, changesets: &[ChangesetDelta]) {
    loop {
        let before = group.len();
        for (key, change) in changesets.iter().flat_map(|delta| &delta.changes) {
            if let Some(old) = change.renamed_from.as_ref().map(|old| key.with_path(old))
                && (group.contains(key) || group.contains(&old))
            {
                group.extend([key.clone(), old]);
            }
        }
        if group.len() == before {
            return;
        }
    }
}
