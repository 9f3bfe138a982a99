//! Combines subsets of a plan's changesets: the set of changesets that a path is to hold decides its content.
//!
//! Apply of a part, remaining work and undo of a part all ask here, in this one direction. A resolution decides for every subset: an actor
//! who was not taken does not come back alone, and the names of a file that was resolved stay together.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use store::{ChangesetId, Content, Store};

use crate::merge::claims::beside;
use crate::{
    Combined, CombinedChange, Credit, Folded, PathBytes, PathKey, Result, Settled, StoredBlobs, Strategy,
    combine,
};

pub(crate) type Set = BTreeSet<ChangesetId>;

/// The changesets of a plan, with what subsets of them combine to. Each subset is combined once.
pub(crate) struct Subsets<'a> {
    pub changesets: &'a [Folded],
    pub contents: StoredBlobs<'a>,
    strategy: Strategy,
    groups: Vec<BTreeSet<PathKey>>,
    combined: BTreeMap<Set, Rc<Combined>>,
}

/// One path of what a subset combines to.
pub(crate) struct Declared {
    pub outcome: DeclaredOutcome,
    pub base: Option<Content>,
    pub after: Option<Content>,
    pub renamed_from: Option<PathBytes>,
    pub credits: Vec<Credit>,
    /// All of it, with contents that merging made.
    pub combined: Rc<Combined>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeclaredOutcome {
    Nothing,
    Change,
    Conflict,
}

impl<'a> Subsets<'a> {
    pub(crate) fn new(changesets: &'a [Folded], strategy: Strategy, store: &'a dyn Store) -> Self {
        let (groups, combined) = (resolution_groups(changesets), BTreeMap::new());
        Self { changesets, contents: StoredBlobs(store), strategy, groups, combined }
    }

    /// The ids of those that `filter` accepts.
    pub(crate) fn ids(&self, filter: impl Fn(&Folded) -> bool) -> Set {
        let accepted = self.changesets.iter().filter(|folded| filter(folded));
        accepted.map(|folded| folded.credit.changeset).collect()
    }

    /// Combines a set.
    pub(crate) fn combine(&mut self, set: &Set) -> Result<Rc<Combined>> {
        if let Some(combined) = self.combined.get(set) {
            return Ok(Rc::clone(combined));
        }
        let is_in = |folded: &&Folded| set.contains(&folded.credit.changeset);
        let some = match self.changesets.iter().all(|folded| is_in(&folded)) {
            true => Cow::Borrowed(self.changesets),
            false => Cow::Owned(self.changesets.iter().filter(is_in).cloned().collect()),
        };
        let combined = Rc::new(combine(&some, self.strategy, &self.contents)?);
        self.combined.insert(set.clone(), Rc::clone(&combined));
        Ok(combined)
    }

    /// One path of what the changesets in effect there combine to.
    pub(crate) fn declared(&mut self, set: &Set, key: &PathKey) -> Result<Declared> {
        let combined = self.combine(&self.in_effect(set, key))?;
        let (outcome, base, after, renamed_from, credits) = match combined.paths.get(key) {
            None => (DeclaredOutcome::Nothing, &None, &None, &None, Vec::new()),
            Some(Settled::Change(change)) => {
                let CombinedChange { base, after, renamed_from, credits } = change;
                (DeclaredOutcome::Change, base, after, renamed_from, credits.clone())
            }
            Some(Settled::Conflict(conflict)) => {
                let credits = conflict.sides.iter().map(|side| side.credit.clone()).collect();
                (DeclaredOutcome::Conflict, &conflict.base, &None, &None, credits)
            }
        };
        let (base, after, renamed_from) = (base.clone(), after.clone(), renamed_from.clone());
        Ok(Declared { outcome, base, after, renamed_from, credits, combined: Rc::clone(&combined) })
    }

    /// The paths that were resolved together with this one.
    pub(crate) fn group(&self, key: &PathKey) -> Option<&BTreeSet<PathKey>> {
        self.groups.iter().find(|group| group.contains(key))
    }

    /// All paths that were resolved.
    pub(crate) fn resolved(&self) -> impl Iterator<Item = &PathKey> {
        self.groups.iter().flatten()
    }

    /// The changesets in effect at a path that holds `set`: the last resolution in it stands for all before it.
    pub(crate) fn in_effect<'s>(&self, set: &'s Set, key: &PathKey) -> Cow<'s, Set> {
        let Some(group) = self.group(key) else { return Cow::Borrowed(set) };
        let is_last = |folded: &Folded| set.contains(&folded.credit.changeset) && resolves(folded, group);
        let last = self.changesets.iter().rposition(is_last).unwrap_or(0);
        let before = self.changesets[..last].iter().map(|folded| folded.credit.changeset);
        Cow::Owned(set.iter().copied().chain(before).collect())
    }

    /// Adds the resolutions of a path to a set that has a part in what they resolve.
    pub(crate) fn add_resolutions(&self, set: &mut Set, key: &PathKey) {
        let Some(group) = self.group(key) else { return };
        let has_part = |folded: &Folded| set.contains(&folded.credit.changeset) && touches(folded, group);
        if self.changesets.iter().any(has_part) {
            set.extend(self.ids(|folded| resolves(folded, group)));
        }
    }

    /// Removes the resolutions of a path from a set of which nobody else has a part in what they resolve.
    pub(crate) fn remove_orphans(&self, set: &mut Set, key: &PathKey) {
        let Some(group) = self.group(key) else { return };
        let has_part = |folded: &Folded| {
            set.contains(&folded.credit.changeset) && touches(folded, group) && !resolves(folded, group)
        };
        if !self.changesets.iter().any(has_part) {
            set.retain(|id| !self.ids(|folded| resolves(folded, group)).contains(id));
        }
    }

    /// Whether a changeset says anything about a path, or about one that was resolved with it.
    pub(crate) fn is_about(&self, changeset: ChangesetId, key: &PathKey) -> bool {
        let mut found = self.changesets.iter().filter(|folded| folded.credit.changeset == changeset);
        found.any(|folded| {
            folded.changes.contains_key(key) || self.group(key).is_some_and(|group| touches(folded, group))
        })
    }
}

fn touches(folded: &Folded, group: &BTreeSet<PathKey>) -> bool {
    folded.changes.keys().any(|key| group.contains(key))
}

fn resolves(folded: &Folded, group: &BTreeSet<PathKey>) -> bool {
    folded.changes.iter().any(|(key, change)| change.resolves && group.contains(key))
}

/// The paths that resolutions are about, those together that are names of one file or were resolved at once.
fn resolution_groups(all: &[Folded]) -> Vec<BTreeSet<PathKey>> {
    let resolutions = all.iter().map(|folded| {
        let resolved = folded.changes.iter().filter(|(_, change)| change.resolves);
        resolved.map(|(key, _)| key.clone()).collect::<BTreeSet<PathKey>>()
    });
    let mut groups: Vec<BTreeSet<PathKey>> = Vec::new();
    for mut group in resolutions.filter(|group| !group.is_empty()) {
        add_names(&mut group, all);
        let (touching, apart) = groups.into_iter().partition(|other| !other.is_disjoint(&group));
        groups = apart;
        group.extend(Vec::into_iter(touching).flatten());
        groups.push(group);
    }
    groups
}

/// Adds the other names of the files, until there are no more.
fn add_names(group: &mut BTreeSet<PathKey>, all: &[Folded]) {
    loop {
        let before = group.len();
        for (key, change) in all.iter().flat_map(|folded| &folded.changes) {
            if let Some(old) = change.renamed_from.as_ref().map(|old| beside(key, old))
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
