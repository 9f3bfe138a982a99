//! What resolutions settled is settled for every part of a plan.
//!
//! Who was not taken does not come back by being applied alone; and a file whose names were settled is one file, so that no part takes
//! away the one name without bringing the other. Pure.

use std::collections::BTreeSet;

use store::ChangesetId;

use crate::claims::beside;
use crate::{Combined, Folded, PathKey};

/// What some of the changesets come to, where all come to `whole`.
pub(crate) fn with_resolutions(
    mut part: Combined,
    chosen: &[Folded],
    all: &[Folded],
    whole: Combined,
) -> Combined {
    for group in groups(all) {
        if !chosen.iter().any(|folded| folded.changes.keys().any(|key| group.contains(key))) {
            continue;
        }
        for key in &group {
            part.paths.remove(key);
            if let Some(settled) = whole.paths.get(key) {
                part.paths.insert(key.clone(), settled.clone());
            }
        }
    }
    part.made.extend(whole.made);
    part
}

/// The resolutions of paths that some changesets are about.
pub(crate) fn resolutions_of(chosen: &BTreeSet<ChangesetId>, all: &[Folded]) -> BTreeSet<ChangesetId> {
    let groups = groups(all);
    let is_chosen = |folded: &&Folded| chosen.contains(&folded.credit.changeset);
    let keys = || all.iter().filter(is_chosen).flat_map(|folded| folded.changes.keys());
    let groups: Vec<_> = groups.iter().filter(|group| keys().any(|key| group.contains(key))).collect();
    let resolves = |folded: &&Folded| groups.iter().any(|group| is_about(folded, group));
    all.iter().filter(resolves).map(|folded| folded.credit.changeset).collect()
}

/// The changesets whose changes a path holds that holds those of `held`: a resolution stands for all before it.
pub(crate) fn covered(
    held: &BTreeSet<ChangesetId>,
    key: &PathKey,
    groups: &[BTreeSet<PathKey>],
    all: &[Folded],
) -> BTreeSet<ChangesetId> {
    let mut covered = held.clone();
    if let Some(group) = groups.iter().find(|group| group.contains(key)) {
        let last =
            all.iter().rposition(|folded| held.contains(&folded.credit.changeset) && is_about(folded, group));
        covered.extend(all[..last.unwrap_or(0)].iter().map(|folded| folded.credit.changeset));
    }
    covered
}

/// Whether a changeset resolves one of these paths.
pub(crate) fn is_about(folded: &Folded, group: &BTreeSet<PathKey>) -> bool {
    folded.changes.iter().any(|(key, change)| change.resolves && group.contains(key))
}

/// The paths that resolutions are about, those together that are names of one file or were resolved at once.
pub(crate) fn groups(all: &[Folded]) -> Vec<BTreeSet<PathKey>> {
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
