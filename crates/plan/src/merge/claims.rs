//! Claims: the change that each changeset makes at each path, before anything is merged; which file
//! it is about, and which claims a resolution supersedes.

use std::collections::BTreeMap;

use store::{ChangesetId, Content, PathBytes, Time};

use crate::merge::delta::distinct;
use crate::{Attribution, ChangesetDelta, Conflict, ConflictKind, FinalChange, PathKey, Side};

/// Change of one changeset at one path.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    /// Index of the changeset among those that are combined.
    pub order: usize,
    pub attribution: Attribution,
    /// Content that the root held when the change was recorded; for a changeset that builds on
    /// others, when the first of them was.
    pub root_base: Option<Content>,
    /// True if its changeset started from an earlier claim of the path.
    pub builds_on_earlier: bool,
    /// Content that the change is against. Equals `root_base`, unless the file comes from another
    /// path.
    pub base: Option<Content>,
    pub after: Option<Content>,
    /// Path of the file in the root; for a new file, the claimed path. Contents of files with
    /// different origins are never compared.
    pub origin: PathBytes,
    /// True if the claim is an edit that followed a rename of its file to this path.
    pub moved_by_rename: bool,
    pub at: Time,
    pub resolves: bool,
    /// Authors of the claims that a resolution replaces.
    pub supersedes: Vec<Attribution>,
}

impl Claim {
    fn side(&self) -> Side {
        let (base, after) = (self.base.clone(), self.after.clone());
        Side { attribution: self.attribution.clone(), base, after }
    }

    fn authors(&self) -> impl Iterator<Item = &Attribution> {
        self.supersedes.iter().chain([&self.attribution])
    }

    /// Its changeset and those that it supersedes.
    pub(crate) fn changesets(&self) -> impl Iterator<Item = ChangesetId> {
        self.authors().map(|author| author.changeset)
    }
}

/// Claims by path, in the order of the changesets. Edits are at the paths to which their files were
/// renamed.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    pub paths: BTreeMap<PathKey, Vec<Claim>>,
    /// Renames of files that an earlier changeset left at their path: old path, origin of the file,
    /// new path.
    pub chained_renames: Vec<(PathKey, PathBytes, PathKey)>,
}

impl Claims {
    pub(crate) fn of(changesets: &[ChangesetDelta]) -> Self {
        let mut claims = Self::default();
        for (order, delta) in changesets.iter().enumerate() {
            // A resolution supersedes the claims in conflict, among them edits that followed a
            // rename.
            if delta.changes.values().any(|change| change.resolves) {
                claims.follow_renames();
            }
            claims.add(order, delta);
        }
        claims.follow_renames();
        claims
    }

    fn add(&mut self, order: usize, delta: &ChangesetDelta) {
        let claim = |(key, change): (&PathKey, &FinalChange)| {
            let claim = self.claim(order, delta, key, change);
            (key.clone(), claim)
        };
        let mut new: BTreeMap<PathKey, Claim> = delta.changes.iter().map(claim).collect();
        for (key, change) in &delta.changes {
            let Some(old) = change.renamed_from.as_ref().map(|path| key.with_path(path)) else { continue };
            let Some(source) = self.source(delta, &old, &change.renamed_base) else { continue };
            if source.origin == key.path {
                continue;
            }
            self.chained_renames.push((old.clone(), source.origin.clone(), key.clone()));
            // The earlier claim moves with its file; the claim at the old path is about the root's
            // file there.
            if let Some(claim) = new.remove(&old).filter(|claim| claim.root_base.is_some()) {
                let (base, origin) = (claim.root_base.clone(), old.path.clone());
                new.insert(old, Claim { base, builds_on_earlier: false, origin, ..claim });
            }
        }
        for (key, mut claim) in new {
            if claim.resolves {
                self.resolve(&key, &mut claim);
            }
            self.paths.entry(key).or_default().push(claim);
        }
    }

    fn claim(&self, order: usize, delta: &ChangesetDelta, key: &PathKey, change: &FinalChange) -> Claim {
        let earlier = self.built_on(delta, key);
        let source = match &change.renamed_from {
            Some(old) => self.source(delta, &key.with_path(old), &change.renamed_base),
            None => self.source(delta, key, &change.base),
        };
        let old = change.renamed_from.as_ref().unwrap_or(&key.path);
        let origin = source.map_or(old, |source| &source.origin);
        // A file that gets its name back is compared with what was under that name.
        let is_home = old == &key.path || origin == &key.path;
        Claim {
            order,
            attribution: delta.attribution.clone(),
            root_base: earlier.map_or(&change.base, |earlier| &earlier.root_base).clone(),
            builds_on_earlier: earlier.is_some(),
            base: if is_home { &change.base } else { &change.renamed_base }.clone(),
            after: change.after.clone(),
            origin: origin.clone(),
            moved_by_rename: false,
            at: change.at,
            resolves: change.resolves,
            supersedes: Vec::new(),
        }
    }

    /// The last claim of a path that a changeset builds on.
    fn built_on(&self, delta: &ChangesetDelta, key: &PathKey) -> Option<&Claim> {
        let mut earlier = self.paths.get(key).into_iter().flatten();
        earlier.rfind(|claim| delta.builds_on.contains(&claim.attribution.changeset))
    }

    /// The claim that left the file which a changeset found at a path; `None` for a file of the
    /// root.
    fn source(&self, delta: &ChangesetDelta, key: &PathKey, content: &Option<Content>) -> Option<&Claim> {
        content.as_ref()?;
        let by_content = || self.paths.get(key).into_iter().flatten().rfind(|claim| claim.after == *content);
        self.built_on(delta, key).filter(|claim| claim.after.is_some()).or_else(by_content)
    }

    /// Has a resolution supersede all earlier claims of its path. It is about the file of the
    /// claims that it agrees with. Renames of other files to the path are reverted; all of them,
    /// when the path is to be absent.
    fn resolve(&mut self, key: &PathKey, resolution: &mut Claim) {
        let earlier = self.paths.remove(key).unwrap_or_default();
        resolution.supersedes = authors(&earlier);
        let agreed: Vec<&Claim> = earlier.iter().filter(|claim| claim.after == resolution.after).collect();
        let about = if agreed.is_empty() { earlier.iter().collect() } else { agreed };
        let renamed = about.first().filter(|first| first.origin != key.path && resolution.after.is_some());
        match renamed.filter(|first| about.iter().all(|claim| claim.origin == first.origin)) {
            Some(renamed) => {
                resolution.origin = renamed.origin.clone();
                resolution.base = renamed.base.clone();
            }
            None => resolution.origin = key.path.clone(),
        }
        let others = earlier.into_iter().filter(|claim| claim.origin != resolution.origin);
        self.revert_renames(key, others.collect());
    }

    /// Returns renamed files to their origin, with the edits that had followed them.
    pub(crate) fn revert_renames(&mut self, key: &PathKey, claims: Vec<Claim>) {
        for claim in claims.into_iter().filter(|claim| claim.origin != key.path) {
            let origin = self.paths.entry(key.with_path(&claim.origin)).or_default();
            let later = origin.iter_mut().find(|other| other.resolves && other.order > claim.order);
            if let Some(resolution) = later {
                resolution.supersedes.push(claim.attribution);
            } else if claim.moved_by_rename {
                let root_base = claim.base.clone();
                origin.push(Claim { root_base, moved_by_rename: false, ..claim });
                origin.sort_by_key(|claim| claim.order);
            } else {
                let is_same = |other: &Claim| claim.changesets().any(|id| id == other.attribution.changeset);
                origin.retain(|other| other.after.is_some() || !is_same(other));
            }
        }
    }
}

pub(crate) fn all_equal(claims: &[Claim]) -> bool {
    claims.iter().all(|claim| claim.after == claims[0].after)
}

/// Content that the root must hold: the base of the last claim that does not build on an earlier
/// one.
pub(crate) fn root_base(claims: &[Claim]) -> Option<Content> {
    let builds_on_earlier = |index: usize| {
        let claim = &claims[index];
        claim.builds_on_earlier || claims[..index].iter().any(|earlier| earlier.after == claim.base)
    };
    let last = (0..claims.len()).rev().find(|index| *index == 0 || !builds_on_earlier(*index));
    last.and_then(|index| claims[index].root_base.clone())
}

/// A conflict of these claims that is not about lines.
pub(crate) fn conflict(
    key: PathKey,
    kind: ConflictKind,
    base: Option<Content>,
    claims: &[Claim],
) -> Conflict {
    let sides = claims.iter().map(Claim::side).collect();
    let old_names = old_names(&key, claims);
    Conflict { key, kind, base, sides, hunks: Vec::new(), others: Vec::new(), old_names }
}

/// Origins of the claimed files other than this path, sorted.
pub(crate) fn old_names(key: &PathKey, claims: &[Claim]) -> Vec<PathBytes> {
    let mut names: Vec<PathBytes> =
        claims.iter().map(|claim| &claim.origin).filter(|origin| **origin != key.path).cloned().collect();
    names.sort();
    names.dedup();
    names
}

/// Authors of claims; superseded ones before the resolution.
pub(crate) fn authors(claims: &[Claim]) -> Vec<Attribution> {
    distinct(claims.iter().flat_map(Claim::authors).cloned())
}
