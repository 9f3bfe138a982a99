//! Renames: edits follow their file to its new path; renames that do not merge are conflicts. Pure.
//!
//! A file is identified by its path in the root. It may have one new path, and a path may belong to
//! one file.

use std::collections::{BTreeMap, BTreeSet};

use store::{ChangesetId, PathBytes};

use crate::merge::claims::{Claim, Claims, all_equal, authors, conflict, old_names, root_base};
use crate::{Conflict, ConflictKind, OtherPath, PathKey};

/// New paths of one file.
#[derive(Default)]
struct NewPaths {
    paths: BTreeSet<PathBytes>,
    /// Changesets that renamed it.
    changesets: BTreeSet<ChangesetId>,
}

impl NewPaths {
    fn include(&self, claim: &Claim) -> bool {
        self.changesets.contains(&claim.attribution.changeset)
    }
}

impl Claims {
    /// Moves edits of a file that another changeset renamed to its new path, where that is
    /// unambiguous.
    pub(crate) fn follow_renames(&mut self) {
        for (old, origin, new) in self.chained_renames.clone() {
            self.move_claims(&old, &new, |claim| claim.origin == origin && claim.after.is_some());
        }
        for (old, renamed) in self.renamed_files() {
            let mut new = renamed.paths.iter().map(|path| old.with_path(path));
            if let (Some(new), None) = (new.next(), new.next())
                && !self.is_deleted_or_replaced(&old, &renamed)
                && self.paths[&new].iter().all(|claim| claim.origin == old.path)
            {
                self.move_claims(&old, &new, |claim| is_edit(&old, claim) && !renamed.include(claim));
            }
        }
    }

    /// Removes the claims of files that have two new paths, or a new path and a deletion, and
    /// returns the conflicts.
    pub(crate) fn take_rename_conflicts(&mut self) -> Vec<Conflict> {
        let mut conflicts = Vec::new();
        for (old, renamed) in self.renamed_files() {
            let is_conflict = renamed.paths.len() > 1 || self.is_deleted_or_replaced(&old, &renamed);
            if is_conflict && self.paths.contains_key(&old) {
                conflicts.push(self.take_rename_conflict(old, renamed.paths));
            }
        }
        conflicts
    }

    /// Removes the claims of paths that different files got with different contents, and returns
    /// the conflicts.
    pub(crate) fn take_path_conflicts(&mut self) -> Vec<Conflict> {
        let mut conflicts = Vec::new();
        for key in self.contested() {
            let Some(claims) = self.paths.remove(&key) else { continue };
            let conflict = conflict(key.clone(), ConflictKind::SamePath, root_base(&claims), &claims);
            for old in &conflict.old_names {
                self.paths.remove(&key.with_path(old));
            }
            conflicts.push(conflict);
        }
        conflicts
    }

    /// Gives a contested path to the file whose claim was recorded last.
    pub(crate) fn resolve_names_last_wins(&mut self) {
        for key in self.contested() {
            let claims = self.paths.remove(&key).unwrap_or_default();
            let last = claims.iter().max_by_key(|claim| (claim.at, claim.order));
            let Some(origin) = last.map(|claim| claim.origin.clone()) else { continue };
            let (kept, reverted) = claims.into_iter().partition(|claim| claim.origin == origin);
            self.paths.insert(key.clone(), kept);
            self.revert_renames(&key, reverted);
        }
        self.follow_renames();
    }

    fn contested(&self) -> Vec<PathKey> {
        let is_contested = |(key, claims): &(&PathKey, &Vec<Claim>)| {
            let has_edits = |old: &PathBytes| {
                let old = key.with_path(old);
                self.paths.get(&old).is_some_and(|claims| claims.iter().any(|claim| is_edit(&old, claim)))
            };
            claims.iter().any(|claim| claim.origin != claims[0].origin)
                && (!all_equal(claims) || old_names(key, claims).iter().any(has_edits))
        };
        self.paths.iter().filter(is_contested).map(|(key, _)| key.clone()).collect()
    }

    /// Renamed files by their path in the root.
    fn renamed_files(&self) -> BTreeMap<PathKey, NewPaths> {
        let mut files: BTreeMap<PathKey, NewPaths> = BTreeMap::new();
        for (key, claims) in &self.paths {
            for claim in claims.iter().filter(|claim| claim.origin != key.path && claim.after.is_some()) {
                let old = key.with_path(&claim.origin);
                // A later resolution of the old path has decided about the rename.
                let is_resolved = self.paths.get(&old).is_some_and(|claims| {
                    claims.iter().any(|other| other.resolves && other.order > claim.order)
                });
                if !is_resolved {
                    let renamed = files.entry(old).or_default();
                    renamed.paths.insert(key.path.clone());
                    renamed.changesets.extend(claim.changesets());
                }
            }
        }
        files
    }

    /// Finds a changeset that did not rename the file, and deleted it or put another in its place.
    fn is_deleted_or_replaced(&self, old: &PathKey, renamed: &NewPaths) -> bool {
        let deletes = |claim: &Claim| {
            claim.root_base.is_some()
                && !renamed.include(claim)
                && (claim.after.is_none() || claim.origin != old.path)
        };
        self.paths.get(old).is_some_and(|claims| claims.iter().any(deletes))
    }

    fn move_claims(&mut self, old: &PathKey, new: &PathKey, moves: impl Fn(&Claim) -> bool) {
        let Some(claims) = self.paths.get_mut(old) else { return };
        // The last claim says what the root holds there, also when it moves.
        let base = root_base(claims);
        let moved: Vec<Claim> = claims.extract_if(.., |claim| moves(claim)).collect();
        if moved.is_empty() {
            return;
        }
        if let Some(last) = claims.last_mut().filter(|last| last.base.is_some()) {
            last.root_base = base;
        }
        let target = self.paths.entry(new.clone()).or_default();
        let root_base = target.first().and_then(|claim| claim.root_base.clone());
        target.extend(moved.into_iter().map(|claim| Claim {
            root_base: root_base.clone(),
            moved_by_rename: claim.moved_by_rename || is_edit(old, &claim),
            ..claim
        }));
        // A resolution comes first: it has seen the path, and the moved edits come after it.
        target.sort_by_key(|claim| (!claim.resolves, claim.order));
    }

    fn take_rename_conflict(&mut self, old: PathKey, new: BTreeSet<PathBytes>) -> Conflict {
        let claims = self.paths.remove(&old).unwrap_or_default();
        let mut conflict = conflict(old.clone(), ConflictKind::Renamed, root_base(&claims), &claims);
        for path in new {
            let key = old.with_path(&path);
            let claims = self.paths.remove(&key).unwrap_or_default();
            conflict.old_names.extend(old_names(&key, &claims));
            let base = root_base(&claims);
            conflict.others.push(OtherPath { path, base, authors: authors(&claims) });
        }
        let is_new = |path: &PathBytes| conflict.others.iter().any(|other| other.path == *path);
        conflict.old_names.retain(|path| *path != old.path && !is_new(path));
        conflict.old_names.sort();
        conflict.old_names.dedup();
        for path in &conflict.old_names {
            self.paths.remove(&old.with_path(path));
        }
        conflict
    }
}

/// Returns true if a claim changes the root's file of this path, and leaves it there.
fn is_edit(key: &PathKey, claim: &Claim) -> bool {
    claim.origin == key.path && claim.base.is_some() && claim.after.is_some()
}
