//! What each changeset says about each path, before anything is merged: renames are followed, resolutions stand for what came before.

use std::collections::{BTreeMap, BTreeSet};

use store::{Content, PathBytes, Time};

use crate::{Clash, Conflict, Credit, Folded, OtherPath, PathKey, Side};

/// What one changeset says about one path.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    /// Whose, by the changeset's place among those that are combined.
    pub order: usize,
    pub credit: Credit,
    /// What the root held there when it was recorded; of one that builds on others, what it held for the first of them.
    pub root: Option<Content>,
    /// Whether it started from what an earlier claim of the path left.
    pub builds: bool,
    /// What its change is against: the same, but for a file that came from another path.
    pub from: Option<Content>,
    pub after: Option<Content>,
    pub renamed_from: Option<PathBytes>,
    pub at: Time,
    pub resolves: bool,
    /// Whose claims it stands for, when it resolves a conflict.
    pub stands_for: Vec<Credit>,
}

impl Claim {
    fn side(&self) -> Side {
        Side { credit: self.credit.clone(), base: self.from.clone(), after: self.after.clone() }
    }
}

/// The claims of each path, in the order of the changesets; and conflicts that are seen without looking at contents.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    pub paths: BTreeMap<PathKey, Vec<Claim>>,
    pub conflicts: Vec<Conflict>,
}

impl Claims {
    pub(crate) fn of(changesets: &[Folded]) -> Self {
        let mut claims = Self::default();
        for (order, folded) in changesets.iter().enumerate() {
            for (key, change) in &folded.changes {
                let mut earlier = claims.paths.get(key).into_iter().flatten();
                let below = earlier.rfind(|claim| folded.builds_on.contains(&claim.credit.changeset));
                let claim = Claim {
                    order,
                    credit: folded.credit.clone(),
                    root: below.map_or(&change.base, |below| &below.root).clone(),
                    builds: below.is_some(),
                    from: change.renamed_from.as_ref().map_or(&change.base, |_| &change.renamed_base).clone(),
                    after: change.after.clone(),
                    renamed_from: change.renamed_from.clone(),
                    at: change.at,
                    resolves: change.resolves,
                    stands_for: Vec::new(),
                };
                claims.paths.entry(key.clone()).or_default().push(claim);
            }
        }
        claims.resolve();
        claims.follow_renames();
        claims.resolve();
        claims
    }

    /// A resolution stands for every claim of its path that came before it.
    fn resolve(&mut self) {
        for claims in self.paths.values_mut() {
            if let Some(order) = claims.iter().filter(|claim| claim.resolves).map(|claim| claim.order).max() {
                let earlier: Vec<Claim> = claims.extract_if(.., |claim| claim.order < order).collect();
                claims[0].stands_for.extend(credits(&earlier));
            }
        }
    }

    /// An edit of a file that somebody else renamed goes to its new name. Two new names, or a new name and a deletion, are a conflict.
    fn follow_renames(&mut self) {
        for (old, renames) in self.renames() {
            let Some(claims) = self.paths.get(&old) else { continue };
            let renamers: BTreeSet<usize> = renames.iter().map(|(order, _)| *order).collect();
            let targets: BTreeSet<&PathBytes> = renames.iter().map(|(_, path)| path).collect();
            let is_deletion = |claim: &Claim| claim.after.is_none() && !renamers.contains(&claim.order);
            if targets.len() > 1 || claims.iter().any(is_deletion) {
                let targets = targets.into_iter().cloned().collect();
                self.clash_of_names(old, targets);
                continue;
            }
            let target = targets.into_iter().next().cloned();
            if let Some(path) = target {
                self.move_edits(&old, PathKey { root: old.root.clone(), path }, &renamers);
            }
        }
    }

    /// The renames: from where, and by whom to what.
    fn renames(&self) -> BTreeMap<PathKey, Vec<(usize, PathBytes)>> {
        let mut renames: BTreeMap<PathKey, Vec<(usize, PathBytes)>> = BTreeMap::new();
        for (key, claims) in &self.paths {
            for claim in claims {
                if let Some(from) = &claim.renamed_from {
                    let old = PathKey { root: key.root.clone(), path: from.clone() };
                    // A resolution of the old path has settled what became of it.
                    let resolved = self.paths.get(&old).is_some_and(|claims| {
                        claims.iter().any(|other| other.resolves && other.order > claim.order)
                    });
                    if !resolved {
                        renames.entry(old).or_default().push((claim.order, key.path.clone()));
                    }
                }
            }
        }
        renames
    }

    fn move_edits(&mut self, old: &PathKey, new: PathKey, renamers: &BTreeSet<usize>) {
        let Some(claims) = self.paths.get_mut(old) else { return };
        let edits = claims.extract_if(.., |claim| claim.after.is_some() && !renamers.contains(&claim.order));
        let edits: Vec<Claim> = edits.map(|claim| Claim { root: None, ..claim }).collect();
        let target = self.paths.entry(new).or_default();
        target.extend(edits);
        target.sort_by_key(|claim| claim.order);
    }

    fn clash_of_names(&mut self, old: PathKey, targets: Vec<PathBytes>) {
        let claims = self.paths.remove(&old).unwrap_or_default();
        let mut others = Vec::new();
        for path in targets {
            let key = PathKey { root: old.root.clone(), path: path.clone() };
            let claims = self.paths.remove(&key).unwrap_or_default();
            let base = claims.first().and_then(|claim| claim.root.clone());
            others.push(OtherPath { path, base, credits: credits(&claims) });
        }
        let base = claims.first().and_then(|claim| claim.root.clone());
        let conflict = conflict(old, Clash::Renamed, base, &claims);
        self.conflicts.push(Conflict { others, ..conflict });
    }
}

/// A conflict of these claims that is not about lines.
pub(crate) fn conflict(key: PathKey, clash: Clash, base: Option<Content>, claims: &[Claim]) -> Conflict {
    let sides = claims.iter().map(Claim::side).collect();
    Conflict { key, clash, base, sides, hunks: Vec::new(), others: Vec::new() }
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
