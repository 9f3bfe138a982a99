//! What is left of a plan: of each path what it is to hold, beside what has landed there.
//!
//! A path that nothing has landed at gets the changes of the chosen changesets, combined. One that holds changes of others already gets
//! theirs and the chosen ones combined, so one part after the other comes to the same as all at once.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};

use store::{ChangesetId, Content, Store};

use crate::claims::beside;
use crate::contents::Made;
use crate::drift::{Drift, Target, Targets};
use crate::landed::{Along, LandedPath, LandedPaths};
use crate::merge::{Merged, merge};
use crate::part::Paths;
use crate::resolved::{covered, groups, is_about, resolutions_of, with_resolutions};
use crate::{
    Combined, CombinedChange, Conflict, Contents, Credit, Folded, Over, PathKey, Result, Settled,
    StoredContents, Strategy, combine,
};

pub(crate) type Set = BTreeSet<ChangesetId>;

/// What is asked for.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// All changesets of the plan that count.
    pub folded: &'a [Folded],
    pub landed: &'a LandedPaths,
    /// Those that are to land.
    pub chosen: &'a Set,
    pub strategy: Strategy,
    /// Where.
    pub paths: &'a Paths,
}

/// What is left to do, and what is in its way.
#[derive(Default)]
pub(crate) struct Left {
    pub targets: Targets,
    pub made: Made,
    pub conflicts: Vec<Conflict>,
    /// What cannot be brought together with edits of people that were merged with what has landed.
    pub edited: Vec<Drift>,
    /// The changesets whose changes that is: the chosen ones, and what was resolved of paths that they and those before are about.
    pub brings: Set,
    /// What goes to another name with its file.
    pub along: Vec<Along>,
}

impl<'a> Asked<'a> {
    /// What is left.
    pub(crate) fn left(self, store: &dyn Store) -> Result<Left> {
        let known = self.folded.iter().map(|folded| folded.credit.changeset).collect();
        let sets = self.sets(&known);
        let mut work = Work {
            asked: self,
            known,
            groups: groups(self.folded),
            stored: StoredContents(store),
            landed_at: sets.values().flatten().copied().collect(),
            declared: BTreeMap::new(),
            left: Left { brings: self.chosen.clone(), ..Left::default() },
        };
        for (set, here) in sets {
            work.left.brings.extend(resolutions_of(&set, self.folded));
            let combined = work.combine(&set)?;
            let share = Share { set, here, combined };
            work.add_conflicts(&share);
            work.add_changes(&share)?;
            work.add_what_goes_back(&share);
            work.left.made.extend(share.combined.made);
        }
        let mut left = work.left;
        left.conflicts.sort_by(|a, b| a.key.cmp(&b.key));
        left.conflicts.dedup_by(|a, b| a.key == b.key);
        Ok(left)
    }

    /// The changesets that paths are to hold the changes of, by what they hold now. A file that gets another name takes along what has
    /// landed under the old one.
    fn sets(self, known: &Set) -> BTreeMap<Set, BTreeSet<&'a PathKey>> {
        let Asked { folded, landed, chosen, .. } = self;
        let mut held: BTreeMap<&PathKey, Set> =
            landed.paths.iter().map(|(key, there)| (key, there.changesets.clone())).collect();
        for (key, change) in folded.iter().flat_map(|folded| &folded.changes) {
            let old = change.renamed_from.as_ref().and_then(|old| landed.paths.get(&beside(key, old)));
            if let Some(old) = old.filter(|_| !landed.paths.contains_key(key)) {
                held.entry(key).or_default().extend(&old.changesets);
            }
        }
        let mut sets: BTreeMap<Set, BTreeSet<&PathKey>> = BTreeMap::from([(chosen.clone(), BTreeSet::new())]);
        for (key, held) in held {
            let wanted = chosen.iter().chain(&held).filter(|id| known.contains(id));
            sets.entry(wanted.copied().collect()).or_default().insert(key);
        }
        sets
    }
}

/// The paths that are to hold the changes of the same changesets.
struct Share<'a> {
    set: Set,
    /// Those of them that something has landed at, under this name or an old one.
    here: BTreeSet<&'a PathKey>,
    /// What these changesets come to.
    combined: Combined,
}

struct Work<'a> {
    asked: Asked<'a>,
    known: Set,
    /// The paths that were settled by resolutions, those together that are settled at once.
    groups: Vec<BTreeSet<PathKey>>,
    stored: StoredContents<'a>,
    /// The paths that something has landed at: each is in the share of what it is to hold.
    landed_at: BTreeSet<&'a PathKey>,
    /// What changesets that have landed come to.
    declared: BTreeMap<Set, Combined>,
    left: Left,
}

impl Work<'_> {
    /// What some changesets come to; with what was resolved for all of them.
    fn combine(&self, set: &Set) -> Result<Combined> {
        let Asked { folded, strategy, .. } = self.asked;
        let some = some(folded, set);
        let part = combine(&some, strategy, &self.stored)?;
        if some.len() == folded.len() || self.groups.is_empty() {
            return Ok(part);
        }
        let whole = combine(folded, strategy, &self.stored)?;
        Ok(with_resolutions(part, &some, folded, whole))
    }

    /// The changesets whose changes a path holds.
    fn held(&self, key: &PathKey) -> Option<Set> {
        let there = self.asked.landed.paths.get(key)?;
        Some(covered(&there.changesets, key, &self.groups, self.asked.folded))
    }

    fn holds(&self, key: &PathKey, credits: &[Credit]) -> bool {
        self.held(key).is_some_and(|held| credits.iter().all(|credit| held.contains(&credit.changeset)))
    }

    fn is_here(&self, share: &Share<'_>, key: &PathKey) -> bool {
        share.here.contains(key) || share.set == *self.asked.chosen && !self.landed_at.contains(key)
    }

    /// Conflicts, but for those that have landed by another strategy.
    fn add_conflicts(&mut self, share: &Share<'_>) {
        for conflict in share.combined.conflicts() {
            let sides: Vec<Credit> = conflict.sides.iter().map(|side| side.credit.clone()).collect();
            let mut others = conflict.others.iter();
            let is_there = self.holds(&conflict.key, &sides)
                && others.all(|other| self.holds(&beside(&conflict.key, &other.path), &other.credits));
            let is_asked = keys(conflict).any(|key| self.is_here(share, &key))
                && keys(conflict).any(|key| self.asked.paths.takes(&key));
            if is_asked && !is_there {
                self.left.conflicts.push(conflict.clone());
            }
        }
    }

    fn add_changes(&mut self, share: &Share<'_>) -> Result<()> {
        let old_names = old_names(&share.combined, self.asked.paths);
        for (key, change) in share.combined.changes() {
            let is_taken = self.asked.paths.takes_change(key, change) || old_names.contains(key);
            if !is_taken || !self.is_here(share, key) {
                continue;
            }
            let there = self.asked.landed.paths.get(key);
            let target = target(change, there, self.held(key));
            let target = match there {
                Some(there) => self.over(key, there, change, target, &share.combined.made)?,
                None => Some(target),
            };
            if there.is_none() && share.here.contains(key) {
                let others = share.set.difference(self.asked.chosen).copied();
                self.left.along.push(Along::new(key, others.collect()));
            }
            if let Some(target) = target {
                self.add_old_name(share, key, change, &target);
                self.left.targets.insert(key.clone(), target);
            }
        }
        Ok(())
    }

    /// What a path that something has landed at is to become: nothing else when it holds that, and none when edits of people are in the way.
    fn over(
        &mut self,
        key: &PathKey,
        there: &LandedPath,
        change: &CombinedChange,
        target: Target,
        combined: &Made,
    ) -> Result<Option<Target>> {
        let is_held = self.holds(key, &change.credits);
        // A resolution may take away what has landed, and leave nobody's name there that is new.
        if is_held && !self.groups.iter().any(|group| group.contains(key)) {
            return Ok(None);
        }
        let stored = self.stored;
        let (declared, made) = self.declared(key, there)?;
        if is_held && declared == change.after {
            return Ok(None);
        }
        let contents = Over { made: combined, below: &Over { made, below: &stored } };
        let mut new = Made::default();
        let after = over_edits(there, &declared, target.after, &contents, &mut new)?;
        self.left.made.extend(new);
        let Ok(after) = after else {
            let found = "a file with edits of people, merged before, that clash with what is left".to_owned();
            let drift = Drift { key: key.clone(), expected: declared, seen: there.after.clone(), found };
            self.left.edited.push(drift);
            return Ok(None);
        };
        Ok(Some(Target { after, ..target }))
    }

    /// What the changes that a path holds come to without what people did to it: what was resolved later is not in it. With contents that
    /// had to be made for it.
    fn declared(&mut self, key: &PathKey, there: &LandedPath) -> Result<(Option<Content>, &Made)> {
        let held = self.held(key).unwrap_or_default();
        let combined = match self.declared.entry(held.intersection(&self.known).copied().collect()) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let some = some(self.asked.folded, entry.key());
                entry.insert(combine(&some, self.asked.strategy, &self.stored)?)
            }
        };
        let declared = match combined.paths.get(key) {
            Some(Settled::Change(change)) => &change.after,
            // It landed by another strategy.
            Some(Settled::Conflict(_)) => &there.after,
            None => &there.expected,
        };
        Ok((declared.clone(), &combined.made))
    }

    /// The old name of a file speaks of the same file, and gets it back should the rename be undone. Not where that is in conflict.
    fn add_old_name(&mut self, share: &Share<'_>, key: &PathKey, change: &CombinedChange, target: &Target) {
        let Some(old) = change.renamed_from.as_ref().map(|old| beside(key, old)) else { return };
        let is_gone = self.asked.landed.paths.get(&old).is_some_and(|there| there.after.is_none());
        if is_gone && !matches!(share.combined.paths.get(&old), Some(Settled::Conflict(_))) {
            let gone = Target { expected: None, after: None, credits: target.credits.clone() };
            self.left.targets.entry(old).or_insert(gone);
        }
    }

    /// Changes that come to nothing: the path gets back what it held before the plan.
    fn add_what_goes_back(&mut self, share: &Share<'_>) {
        let resolutions = resolutions_of(&share.set, self.asked.folded);
        let clashes: BTreeSet<PathKey> = share.combined.conflicts().flat_map(keys).collect();
        for key in share.here.iter().filter(|key| !share.combined.paths.contains_key(key)) {
            let Some(there) = self.asked.landed.paths.get(key) else { continue };
            let held = self.held(key).unwrap_or_default();
            let is_more = self.asked.folded.iter().any(|folded| {
                let id = &folded.credit.changeset;
                let is_new = !held.contains(id) && (share.set.contains(id) || resolutions.contains(id));
                let mut groups = self.groups.iter().filter(|group| group.contains(key));
                is_new && (folded.changes.contains_key(key) || groups.any(|group| is_about(folded, group)))
            });
            let is_taken = self.asked.paths.takes(key) && !clashes.contains(key);
            if is_more && is_taken && there.after != there.expected {
                let (expected, after) = (there.after.clone(), there.expected.clone());
                let back = Target { expected, after, credits: Vec::new() };
                self.left.targets.insert((*key).clone(), back);
            }
        }
    }
}

fn some<'a>(folded: &'a [Folded], set: &Set) -> Cow<'a, [Folded]> {
    let is_in = |folded: &&Folded| set.contains(&folded.credit.changeset);
    match folded.iter().all(|folded| is_in(&folded)) {
        true => Cow::Borrowed(folded),
        false => Cow::Owned(folded.iter().filter(is_in).cloned().collect()),
    }
}

/// What a path is to become, with what people had made of it when it was merged with their edits.
fn over_edits(
    there: &LandedPath,
    declared: &Option<Content>,
    after: Option<Content>,
    contents: &dyn Contents,
    made: &mut Made,
) -> Result<Merged> {
    if there.after == *declared {
        return Ok(Ok(after));
    }
    merge(declared.as_ref(), there.after.as_ref(), after.as_ref(), contents, made)
}

/// The old names of renamed files that are taken: they go with the new ones.
fn old_names(combined: &Combined, paths: &Paths) -> BTreeSet<PathKey> {
    let taken = combined.changes().filter(|(key, change)| paths.takes_change(key, change));
    taken
        .filter_map(|(key, change)| {
            Some(PathKey { root: key.root.clone(), path: change.renamed_from.clone()? })
        })
        .collect()
}

/// What a change comes to, on top of what has landed.
fn target(change: &CombinedChange, there: Option<&LandedPath>, held: Option<Set>) -> Target {
    let expected = there.map_or(&change.base, |there| &there.after).clone();
    let is_new = |credit: &&Credit| held.as_ref().is_none_or(|held| !held.contains(&credit.changeset));
    let new: Vec<Credit> = change.credits.iter().filter(is_new).cloned().collect();
    let credits = if new.is_empty() { change.credits.clone() } else { new };
    Target { expected, after: change.after.clone(), credits }
}

/// All paths that a conflict is about, the old names of files that it is about among them.
fn keys(conflict: &Conflict) -> impl Iterator<Item = PathKey> {
    let others = conflict.others.iter().map(|other| &other.path).chain(&conflict.old_names);
    std::iter::once(conflict.key.clone()).chain(others.map(|path| beside(&conflict.key, path)))
}
