//! What each changeset says about each path, before anything is merged: about which file, and what a resolution stands for.

use std::collections::BTreeMap;

use store::{ChangesetId, Content, PathBytes, Time};

use crate::{Clash, Conflict, Credit, FinalChange, Folded, PathKey, Side};

/// What one changeset says about one path.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    /// Whose, by the changeset's place among those that are combined.
    pub order: usize,
    pub credit: Credit,
    /// What the root held at the path when it was recorded; of one that builds on others, what it held for the first of them.
    pub root: Option<Content>,
    /// Whether it started from what an earlier claim of the path left.
    pub builds: bool,
    /// What its change is against: the same, but for a file that came from another path.
    pub from: Option<Content>,
    pub after: Option<Content>,
    /// The path under which the root has the file that it is about; of a new file the path itself. Content that was there under
    /// another name is never compared with what the root has under this one.
    pub origin: PathBytes,
    /// Whether it is an edit that has followed its file here.
    pub followed: bool,
    pub at: Time,
    pub resolves: bool,
    /// Whose claims it stands for, when it resolves a conflict.
    pub stands_for: Vec<Credit>,
}

impl Claim {
    fn side(&self) -> Side {
        Side { credit: self.credit.clone(), base: self.from.clone(), after: self.after.clone() }
    }

    /// The changesets that it speaks for.
    pub(crate) fn changesets(&self) -> impl Iterator<Item = ChangesetId> {
        self.stands_for.iter().chain([&self.credit]).map(|credit| credit.changeset)
    }
}

/// The claims of each path, in the order of the changesets. Edits are where their files have gone.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    pub paths: BTreeMap<PathKey, Vec<Claim>>,
    /// Renames of files that an earlier changeset had left there: from where, which file, to where.
    pub renamed_on: Vec<(PathKey, PathBytes, PathKey)>,
}

impl Claims {
    pub(crate) fn of(changesets: &[Folded]) -> Self {
        let mut claims = Self::default();
        for (order, folded) in changesets.iter().enumerate() {
            // A resolution stands for what clashed, which are edits that had followed their file.
            if folded.changes.values().any(|change| change.resolves) {
                claims.follow_renames();
            }
            claims.add(order, folded);
        }
        claims.follow_renames();
        claims
    }

    fn add(&mut self, order: usize, folded: &Folded) {
        let claim = |(key, change): (&PathKey, &FinalChange)| {
            let claim = self.claim(order, folded, key, change);
            (key.clone(), claim)
        };
        let mut new: BTreeMap<PathKey, Claim> = folded.changes.iter().map(claim).collect();
        for (key, change) in &folded.changes {
            let Some(old) = change.renamed_from.as_ref().map(|path| beside(key, path)) else { continue };
            let Some(found) = self.found(folded, &old, &change.renamed_base) else { continue };
            if found.origin == key.path {
                continue;
            }
            self.renamed_on.push((old.clone(), found.origin.clone(), key.clone()));
            // What an earlier changeset had left there goes with its file; what this one says is about what the root has.
            if let Some(left) = new.remove(&old).filter(|left| left.root.is_some()) {
                let left = Claim { from: left.root.clone(), builds: false, origin: old.path.clone(), ..left };
                new.insert(old, left);
            }
        }
        for (key, mut claim) in new {
            if claim.resolves {
                self.resolve(&key, &mut claim);
            }
            self.paths.entry(key).or_default().push(claim);
        }
    }

    fn claim(&self, order: usize, folded: &Folded, key: &PathKey, change: &FinalChange) -> Claim {
        let below = self.below(folded, key);
        let found = match &change.renamed_from {
            Some(old) => self.found(folded, &beside(key, old), &change.renamed_base),
            None => self.found(folded, key, &change.base),
        };
        let old = change.renamed_from.as_ref().unwrap_or(&key.path);
        let origin = found.map_or(old, |found| &found.origin);
        Claim {
            order,
            credit: folded.credit.clone(),
            root: below.map_or(&change.base, |below| &below.root).clone(),
            builds: below.is_some(),
            // A file that has its name back is compared with what was under that name, as if it had never left.
            from: if old == &key.path || origin == &key.path { &change.base } else { &change.renamed_base }
                .clone(),
            after: change.after.clone(),
            origin: origin.clone(),
            followed: false,
            at: change.at,
            resolves: change.resolves,
            stands_for: Vec::new(),
        }
    }

    /// The last claim of a path that a changeset is known to build on.
    fn below(&self, folded: &Folded, key: &PathKey) -> Option<&Claim> {
        let mut earlier = self.paths.get(key).into_iter().flatten();
        earlier.rfind(|claim| folded.builds_on.contains(&claim.credit.changeset))
    }

    /// The claim that left the file which a changeset found at a path; `None`: it was the root's.
    fn found(&self, folded: &Folded, key: &PathKey, content: &Option<Content>) -> Option<&Claim> {
        content.as_ref()?;
        let left = || self.paths.get(key).into_iter().flatten().rfind(|claim| claim.after == *content);
        self.below(folded, key).filter(|below| below.after.is_some()).or_else(left)
    }

    /// A resolution stands for every claim of its path that came before it. It is about the file of those that it agrees with. A rename
    /// of another file to the path did not happen, nor does any when nothing is to be there.
    fn resolve(&mut self, key: &PathKey, resolution: &mut Claim) {
        let earlier = self.paths.remove(key).unwrap_or_default();
        resolution.stands_for = credits(&earlier);
        let agreed: Vec<&Claim> = earlier.iter().filter(|claim| claim.after == resolution.after).collect();
        let about = if agreed.is_empty() { earlier.iter().collect() } else { agreed };
        let renamed = about.first().filter(|first| first.origin != key.path && resolution.after.is_some());
        match renamed.filter(|first| about.iter().all(|claim| claim.origin == first.origin)) {
            Some(renamed) => {
                resolution.origin = renamed.origin.clone();
                resolution.from = renamed.from.clone();
            }
            None => resolution.origin = key.path.clone(),
        }
        let others = earlier.into_iter().filter(|claim| claim.origin != resolution.origin);
        self.take_back_renames(key, others.collect());
    }

    /// Files that did not get this name after all stay under their old one, with the edits that had followed them.
    pub(crate) fn take_back_renames(&mut self, key: &PathKey, claims: Vec<Claim>) {
        for claim in claims.into_iter().filter(|claim| claim.origin != key.path) {
            let there = self.paths.entry(beside(key, &claim.origin)).or_default();
            let settled = there.iter_mut().find(|left| left.resolves && left.order > claim.order);
            if let Some(settled) = settled {
                settled.stands_for.push(claim.credit);
            } else if claim.followed {
                there.push(Claim { root: claim.from.clone(), followed: false, ..claim });
                there.sort_by_key(|claim| claim.order);
            } else {
                let is_theirs = |left: &Claim| claim.changesets().any(|id| id == left.credit.changeset);
                there.retain(|left| left.after.is_some() || !is_theirs(left));
            }
        }
    }
}

/// Another path of the same root.
pub(crate) fn beside(key: &PathKey, path: &PathBytes) -> PathKey {
    PathKey { root: key.root.clone(), path: path.clone() }
}

pub(crate) fn all_alike(claims: &[Claim]) -> bool {
    claims.iter().all(|claim| claim.after == claims[0].after)
}

/// What the root must hold: what the last claim found there that does not build on an earlier one.
pub(crate) fn root_base(claims: &[Claim]) -> Option<Content> {
    let builds_on_earlier = |place: usize| {
        claims[place].builds || claims[..place].iter().any(|earlier| earlier.after == claims[place].from)
    };
    let last = (0..claims.len()).rev().find(|place| *place == 0 || !builds_on_earlier(*place));
    last.and_then(|place| claims[place].root.clone())
}

/// A conflict of these claims that is not about lines.
pub(crate) fn conflict(key: PathKey, clash: Clash, base: Option<Content>, claims: &[Claim]) -> Conflict {
    let sides = claims.iter().map(Claim::side).collect();
    let old_names = old_names(&key, claims);
    Conflict { key, clash, base, sides, hunks: Vec::new(), others: Vec::new(), old_names }
}

/// The paths from which files came to this one, each once and in order.
pub(crate) fn old_names(key: &PathKey, claims: &[Claim]) -> Vec<PathBytes> {
    let mut names: Vec<PathBytes> =
        claims.iter().map(|claim| &claim.origin).filter(|origin| **origin != key.path).cloned().collect();
    names.sort();
    names.dedup();
    names
}

/// Who, each once, those first that a resolution stands for.
pub(crate) fn credits(claims: &[Claim]) -> Vec<Credit> {
    let mut credits: Vec<Credit> = Vec::new();
    for credit in claims.iter().flat_map(|claim| claim.stands_for.iter().chain([&claim.credit])) {
        if !credits.contains(credit) {
            credits.push(credit.clone());
        }
    }
    credits
}
