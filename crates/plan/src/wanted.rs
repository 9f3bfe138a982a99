//! What an apply is to do: the changes that were asked for, on top of what has landed.
//!
//! A path that nothing has landed at gets the changes of the chosen changesets, combined. One that holds changes of others already gets
//! theirs and the chosen ones combined, so one part after the other comes to the same as all at once.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};

use store::{ChangesetId, Content};

use crate::claims::beside;
use crate::contents::Made;
use crate::drift::{Target, Targets};
use crate::landed::{LandedPath, LandedPaths};
use crate::merge::{Merged, merge};
use crate::part::Paths;
use crate::resolved::{covered, groups, is_about, resolutions_of, with_resolutions};
use crate::{
    ApplyOrder, Clash, Combined, CombinedChange, Conflict, ConflictHunk, Contents, Credit, Error, Folded,
    Over, Part, PathKey, Plan, Plans, Result, Selection, Settled, Side, StoredContents, Strategy, combine,
};

/// What an apply is to do, as far as the store knows.
pub(crate) struct Wanted {
    pub targets: Targets,
    pub made: Made,
    /// The changesets whose changes that is.
    pub brings: Vec<ChangesetId>,
    /// All changesets of the plan that count.
    pub folded: Vec<Folded>,
    /// What has landed before.
    pub landed: LandedPaths,
}

/// What is left to do, and what is in its way.
struct Left {
    targets: Targets,
    made: Made,
    conflicts: Vec<Conflict>,
}

type Set = BTreeSet<ChangesetId>;

impl Plans {
    /// What of the plan is to be applied. Conflicts in it are an error, as is nothing.
    pub(crate) fn wanted(&self, plan: &Plan, order: &ApplyOrder) -> Result<Wanted> {
        let folded = self.folded(plan.id, &Selection::default())?;
        let landed = self.landed_paths(plan)?;
        let chosen = chosen(&folded, &order.part);
        let left = self.left_of(&folded, &landed, &chosen, order.strategy, &order.part.paths()?)?;
        if !left.conflicts.is_empty() {
            return Err(Error::Conflicts { plan: plan.id, conflicts: left.conflicts });
        }
        if left.targets.is_empty() {
            return Err(Error::Nothing { plan: plan.id, act: "apply" });
        }
        let resolutions = resolutions_of(&chosen, &folded);
        let brings = chosen.union(&resolutions).copied().collect();
        Ok(Wanted { targets: left.targets, made: left.made, brings, folded, landed })
    }

    /// How many paths of a plan do not hold all of its changes.
    pub(crate) fn left(&self, folded: &[Folded], landed: &LandedPaths) -> Result<usize> {
        let all = Part::default();
        let left = self.left_of(folded, landed, &chosen(folded, &all), Strategy::ThreeWay, &all.paths()?)?;
        Ok(left.targets.len() + left.conflicts.len())
    }

    fn left_of(
        &self,
        folded: &[Folded],
        landed: &LandedPaths,
        chosen: &Set,
        strategy: Strategy,
        paths: &Paths,
    ) -> Result<Left> {
        let known: Set = folded.iter().map(|folded| folded.credit.changeset).collect();
        let groups = groups(folded);
        let held = |key: &PathKey| {
            landed.paths.get(key).map(|there| covered(&there.changesets, key, &groups, folded))
        };
        let holds = |key: &PathKey, credits: &[Credit]| {
            held(key).is_some_and(|held| credits.iter().all(|credit| held.contains(&credit.changeset)))
        };
        // What a path is to hold afterwards, by what it holds now.
        let wanted = |key: &PathKey| -> Set {
            let there = landed.paths.get(key).map(|there| &there.changesets);
            chosen
                .iter()
                .chain(there.into_iter().flatten())
                .filter(|id| known.contains(id))
                .copied()
                .collect()
        };
        let mut sets: BTreeMap<Set, Vec<&PathKey>> = BTreeMap::from([(chosen.clone(), Vec::new())]);
        for key in landed.paths.keys() {
            sets.entry(wanted(key)).or_default().push(key);
        }
        let mut left = Left { targets: Targets::new(), made: Made::default(), conflicts: Vec::new() };
        let stored = StoredContents(self.store().as_ref());
        let mut declared = Declared { folded, strategy, known: &known, combined: BTreeMap::new() };
        for (set, here) in sets {
            let combined = self.combine_some(folded, &set, strategy)?;
            let is_here = |key: &PathKey| match landed.paths.contains_key(key) {
                true => here.binary_search(&key).is_ok(),
                false => set == *chosen,
            };
            for conflict in combined.conflicts().filter(|conflict| keys(conflict).any(|key| is_here(&key))) {
                let sides: Vec<Credit> = conflict.sides.iter().map(|side| side.credit.clone()).collect();
                let mut others = conflict.others.iter();
                let is_there = holds(&conflict.key, &sides)
                    && others.all(|other| holds(&beside(&conflict.key, &other.path), &other.credits));
                if keys(conflict).any(|key| paths.takes(&key)) && !is_there {
                    left.conflicts.push(conflict.clone());
                }
            }
            let old_names = old_names(&combined, paths);
            for (key, change) in combined.changes().filter(|(key, _)| is_here(key)) {
                let is_taken = paths.takes_change(key, change) || old_names.contains(key);
                // A resolution may take away what has landed, and leave nobody's name there that is new.
                let is_settled = groups.iter().any(|group| group.contains(key));
                let is_held = holds(key, &change.credits);
                if !is_taken || is_held && !is_settled {
                    continue;
                }
                let mut target = target(change, landed.paths.get(key), held(key));
                if let Some(there) = landed.paths.get(key) {
                    let (declared, made) = declared.of(&stored, there, key, held(key).unwrap_or_default())?;
                    if is_held && declared == change.after {
                        continue;
                    }
                    let contents = Over { made: &combined.made, below: &Over { made, below: &stored } };
                    match over_edits(there, &declared, target.after, &contents, &mut left.made)? {
                        Ok(after) => target.after = after,
                        Err((clash, hunks)) => {
                            left.conflicts.push(with_edits(key, change, there, clash, hunks));
                            continue;
                        }
                    }
                }
                // Its old name speaks of the same file, and gets it back should the rename be undone.
                if let Some(old) = change.renamed_from.as_ref().map(|old| beside(key, old))
                    && let Some(LandedPath { after: None, .. }) = landed.paths.get(&old)
                {
                    let gone = Target { expected: None, after: None, credits: target.credits.clone() };
                    left.targets.entry(old).or_insert(gone);
                }
                left.targets.insert(key.clone(), target);
            }
            // Changes that come to nothing: the path gets back what it held before the plan.
            let resolutions = resolutions_of(&set, folded);
            let clashes: BTreeSet<PathKey> = combined.conflicts().flat_map(keys).collect();
            for key in here.into_iter().filter(|key| !combined.paths.contains_key(key)) {
                let (there, held) = (&landed.paths[key], held(key).unwrap_or_default());
                let is_more = folded.iter().any(|folded| {
                    let id = &folded.credit.changeset;
                    let settles =
                        || groups.iter().any(|group| group.contains(key) && is_about(folded, group));
                    let is_new = !held.contains(id) && (set.contains(id) || resolutions.contains(id));
                    is_new && (folded.changes.contains_key(key) || settles())
                });
                if is_more && paths.takes(key) && !clashes.contains(key) && there.after != there.expected {
                    let (expected, after) = (there.after.clone(), there.expected.clone());
                    left.targets.insert(key.clone(), Target { expected, after, credits: Vec::new() });
                }
            }
            left.made.extend(combined.made);
        }
        left.conflicts.sort_by(|a, b| a.key.cmp(&b.key));
        left.conflicts.dedup_by(|a, b| a.key == b.key);
        Ok(left)
    }

    fn combine_some(&self, folded: &[Folded], set: &Set, strategy: Strategy) -> Result<Combined> {
        let contents = StoredContents(self.store().as_ref());
        let is_in = |folded: &&Folded| set.contains(&folded.credit.changeset);
        if folded.iter().all(|folded| is_in(&folded)) {
            return combine(folded, strategy, &contents);
        }
        let some: Vec<Folded> = folded.iter().filter(is_in).cloned().collect();
        let part = combine(&some, strategy, &contents)?;
        if groups(folded).is_empty() {
            return Ok(part);
        }
        let whole = combine(folded, strategy, &contents)?;
        Ok(with_resolutions(part, &some, folded, whole))
    }
}

/// What the changes that paths hold come to without what people did to them.
struct Declared<'a> {
    folded: &'a [Folded],
    strategy: Strategy,
    known: &'a Set,
    combined: BTreeMap<Set, Combined>,
}

impl Declared<'_> {
    /// Of a path that holds the changes of `held`: what was resolved later is not in it. With contents that had to be made for it.
    fn of(
        &mut self,
        stored: &StoredContents<'_>,
        there: &LandedPath,
        key: &PathKey,
        held: Set,
    ) -> Result<(Option<Content>, &Made)> {
        let set: Set = held.intersection(self.known).copied().collect();
        let combined = match self.combined.entry(set) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let is_in = |folded: &&Folded| entry.key().contains(&folded.credit.changeset);
                let some: Vec<Folded> = self.folded.iter().filter(is_in).cloned().collect();
                entry.insert(combine(&some, self.strategy, stored)?)
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
    let mut new = Made::default();
    let merged = merge(declared.as_ref(), there.after.as_ref(), after.as_ref(), contents, &mut new)?;
    made.extend(new);
    Ok(merged)
}

/// What is left of a path clashes with what people did to it.
fn with_edits(
    key: &PathKey,
    change: &CombinedChange,
    there: &LandedPath,
    clash: Clash,
    hunks: Vec<ConflictHunk>,
) -> Conflict {
    let side = |credit: &Credit| Side {
        credit: credit.clone(),
        base: there.after.clone(),
        after: change.after.clone(),
    };
    let sides = change.credits.iter().map(side).collect();
    let (key, base) = (key.clone(), there.after.clone());
    Conflict { key, clash, base, sides, hunks, others: Vec::new(), old_names: Vec::new() }
}

/// The changesets of the actors of a part.
fn chosen(folded: &[Folded], part: &Part) -> Set {
    let is_theirs = |folded: &&Folded| part.actors.is_empty() || part.actors.contains(&folded.credit.actor);
    folded.iter().filter(is_theirs).map(|folded| folded.credit.changeset).collect()
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
