//! The names of files: edits follow a file to its new name, and names clash. Pure.
//!
//! A file is known by the path under which the root has it. It may get one new name, and a path may be the name of one file.

use std::collections::{BTreeMap, BTreeSet};

use store::{ChangesetId, PathBytes};

use crate::merge::claims::{Claim, Claims, all_alike, beside, conflict, credits, old_names, root_base};
use crate::{Clash, Conflict, OtherPath, PathKey};

/// What became of the name of a file.
#[derive(Default)]
struct Names {
    new: BTreeSet<PathBytes>,
    /// The changesets that have it under a new name.
    by: BTreeSet<ChangesetId>,
}

impl Names {
    fn are_of(&self, claim: &Claim) -> bool {
        self.by.contains(&claim.credit.changeset)
    }
}

impl Claims {
    /// An edit of a file that somebody else renamed goes to its new name, where that is clear.
    pub(crate) fn follow_renames(&mut self) {
        for (old, origin, new) in self.renamed_on.clone() {
            self.move_claims(&old, &new, |claim| claim.origin == origin && claim.after.is_some());
        }
        for (old, names) in self.names() {
            let mut new = names.new.iter().map(|path| beside(&old, path));
            if let (Some(new), None) = (new.next(), new.next())
                && !self.is_given_up(&old, &names)
                && self.paths[&new].iter().all(|claim| claim.origin == old.path)
            {
                self.move_claims(&old, &new, |claim| is_edit(&old, claim) && !names.are_of(claim));
            }
        }
    }

    /// Two new names for one file, or a new name and a deletion. The paths of such a conflict are claimed no more.
    pub(crate) fn clashes_of_names(&mut self) -> Vec<Conflict> {
        let mut conflicts = Vec::new();
        for (old, names) in self.names() {
            if self.paths.contains_key(&old) && (names.new.len() > 1 || self.is_given_up(&old, &names)) {
                conflicts.push(self.clash_of_names(old, names.new));
            }
        }
        conflicts
    }

    /// Different files under one name, unless they are alike. The paths of such a conflict are claimed no more.
    pub(crate) fn clashes_of_files(&mut self) -> Vec<Conflict> {
        let mut conflicts = Vec::new();
        for key in self.contested() {
            let Some(claims) = self.paths.remove(&key) else { continue };
            let conflict = conflict(key.clone(), Clash::SameName, root_base(&claims), &claims);
            for old in &conflict.old_names {
                self.paths.remove(&beside(&key, old));
            }
            conflicts.push(conflict);
        }
        conflicts
    }

    /// Of different files under one name the one stays whose claim was recorded last.
    pub(crate) fn last_takes_the_name(&mut self) {
        for key in self.contested() {
            let claims = self.paths.remove(&key).unwrap_or_default();
            let last = claims.iter().max_by_key(|claim| (claim.at, claim.order));
            let Some(origin) = last.map(|claim| claim.origin.clone()) else { continue };
            let (stay, go) = claims.into_iter().partition(|claim| claim.origin == origin);
            self.paths.insert(key.clone(), stay);
            self.take_back_renames(&key, go);
        }
        self.follow_renames();
    }

    fn contested(&self) -> Vec<PathKey> {
        let is_contested = |(key, claims): &(&PathKey, &Vec<Claim>)| {
            let edits_wait = |old: &PathBytes| {
                let old = beside(key, old);
                self.paths.get(&old).is_some_and(|claims| claims.iter().any(|claim| is_edit(&old, claim)))
            };
            claims.iter().any(|claim| claim.origin != claims[0].origin)
                && (!all_alike(claims) || old_names(key, claims).iter().any(edits_wait))
        };
        self.paths.iter().filter(is_contested).map(|(key, _)| key.clone()).collect()
    }

    /// The files that have got new names.
    fn names(&self) -> BTreeMap<PathKey, Names> {
        let mut files: BTreeMap<PathKey, Names> = BTreeMap::new();
        for (key, claims) in &self.paths {
            for claim in claims.iter().filter(|claim| claim.origin != key.path && claim.after.is_some()) {
                let old = beside(key, &claim.origin);
                // A resolution of the old path has settled what became of it.
                let is_settled = self.paths.get(&old).is_some_and(|claims| {
                    claims.iter().any(|other| other.resolves && other.order > claim.order)
                });
                if !is_settled {
                    let names = files.entry(old).or_default();
                    names.new.insert(key.path.clone());
                    names.by.extend(claim.changesets());
                }
            }
        }
        files
    }

    /// Whether somebody who gave the file no new name deleted it, or put another in its place.
    fn is_given_up(&self, old: &PathKey, names: &Names) -> bool {
        let gives_up = |claim: &Claim| {
            claim.root.is_some()
                && !names.are_of(claim)
                && (claim.after.is_none() || claim.origin != old.path)
        };
        self.paths.get(old).is_some_and(|claims| claims.iter().any(gives_up))
    }

    fn move_claims(&mut self, old: &PathKey, new: &PathKey, moves: impl Fn(&Claim) -> bool) {
        let Some(claims) = self.paths.get_mut(old) else { return };
        // The last one to look says what the root has there, also when its claim goes.
        let base = root_base(claims);
        let moved: Vec<Claim> = claims.extract_if(.., |claim| moves(claim)).collect();
        if moved.is_empty() {
            return;
        }
        if let Some(left) = claims.last_mut().filter(|left| left.from.is_some()) {
            left.root = base;
        }
        let target = self.paths.entry(new.clone()).or_default();
        let root = target.first().and_then(|claim| claim.root.clone());
        target.extend(moved.into_iter().map(|claim| Claim {
            root: root.clone(),
            followed: claim.followed || is_edit(old, &claim),
            ..claim
        }));
        // A resolution has seen what is there; an edit that waited for it comes after it.
        target.sort_by_key(|claim| (!claim.resolves, claim.order));
    }

    fn clash_of_names(&mut self, old: PathKey, new: BTreeSet<PathBytes>) -> Conflict {
        let claims = self.paths.remove(&old).unwrap_or_default();
        let mut conflict = conflict(old.clone(), Clash::Renamed, root_base(&claims), &claims);
        for path in new {
            let key = beside(&old, &path);
            let claims = self.paths.remove(&key).unwrap_or_default();
            conflict.old_names.extend(old_names(&key, &claims));
            let base = root_base(&claims);
            conflict.others.push(OtherPath { path, base, credits: credits(&claims) });
        }
        let is_new = |path: &PathBytes| conflict.others.iter().any(|other| other.path == *path);
        conflict.old_names.retain(|path| *path != old.path && !is_new(path));
        conflict.old_names.sort();
        conflict.old_names.dedup();
        for path in &conflict.old_names {
            self.paths.remove(&beside(&old, path));
        }
        conflict
    }
}

/// Whether it changes the file that the root has there, and leaves it there.
fn is_edit(key: &PathKey, claim: &Claim) -> bool {
    claim.origin == key.path && claim.from.is_some() && claim.after.is_some()
}
