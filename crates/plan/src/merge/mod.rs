//! Merge: combines the changesets of a plan into one final change or one conflict per path. Pure:
//! contents come in through [`BlobSource`].

pub(crate) mod claims;
pub(crate) mod conflict;
pub(crate) mod content;
pub(crate) mod delta;
pub(crate) mod lines;
pub(crate) mod node_order;
pub(crate) mod renames;
pub(crate) mod subsets;
pub(crate) mod three_way;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use store::{Content, PathBytes};

use crate::apply::drift::Target;
use crate::merge::claims::{Claim, Claims, authors, conflict, root_base};
use crate::merge::three_way::three_way;
use crate::{
    Attribution, BlobSource, ChangesetDelta, Conflict, ConflictKind, OtherPath, PathKey, Result, Side,
    UnstoredBlobs,
};

/// Strategy for a path that several actors changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Merge edits of different lines, each against its own base; all else is a conflict.
    #[default]
    ThreeWay,
    /// Report every path that several changed differently as a conflict.
    FailOnConflict,
    /// Take the change that was recorded last.
    LastWins,
}

impl Strategy {
    /// All strategies, in the order of listings.
    pub const ALL: [Strategy; 3] = [Self::ThreeWay, Self::FailOnConflict, Self::LastWins];

    /// Name in plan files and configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::ThreeWay => "three-way",
            Self::FailOnConflict => "fail-on-conflict",
            Self::LastWins => "last-wins",
        }
    }
}

/// Final change of one path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CombinedChange {
    /// Content that the root must hold for the change to be applied.
    pub base: Option<Content>,
    /// Content after the change.
    pub after: Option<Content>,
    /// The path from which the file was renamed to this one.
    pub renamed_from: Option<PathBytes>,
    /// Authors, in the order of the changesets that were combined.
    pub authors: Vec<Attribution>,
}

impl CombinedChange {
    pub(crate) fn target(&self) -> Target {
        let Self { base, after, renamed_from, authors } = self.clone();
        Target { before: base, after, renamed_from, authors }
    }
}

/// Outcome of the merge of one path.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MergeOutcome {
    /// One final change.
    Resolved(CombinedChange),
    /// Changes that do not merge.
    Conflict(Conflict),
}

/// Combined changes of a plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Combined {
    /// Outcomes by path.
    pub paths: BTreeMap<PathKey, MergeOutcome>,
    /// Contents that merging made, which are not in the store.
    pub unstored: UnstoredBlobs,
}

impl Combined {
    /// The final changes.
    pub fn changes(&self) -> impl Iterator<Item = (&PathKey, &CombinedChange)> {
        self.paths.iter().filter_map(|(key, outcome)| match outcome {
            MergeOutcome::Resolved(change) => Some((key, change)),
            MergeOutcome::Conflict(_) => None,
        })
    }

    /// The conflicts. While there are any, nothing is applied.
    pub fn conflicts(&self) -> impl Iterator<Item = &Conflict> {
        self.paths.values().filter_map(|outcome| match outcome {
            MergeOutcome::Conflict(conflict) => Some(conflict),
            MergeOutcome::Resolved(_) => None,
        })
    }
}

/// Combines changesets, each after those that it builds on. The result does not depend on which
/// finished first.
pub fn combine(
    changesets: &[ChangesetDelta],
    strategy: Strategy,
    contents: &dyn BlobSource,
) -> Result<Combined> {
    let mut claims = Claims::of(changesets);
    let mut conflicts = claims.take_rename_conflicts();
    match strategy {
        Strategy::LastWins => claims.resolve_names_last_wins(),
        Strategy::ThreeWay | Strategy::FailOnConflict => conflicts.extend(claims.take_path_conflicts()),
    }
    let mut combined = Combined::default();
    for (key, claims) in claims.paths.into_iter().filter(|(_, claims)| !claims.is_empty()) {
        let outcome = merge_path(&key, &claims, strategy, contents, &mut combined.unstored)?;
        let is_unchanged = matches!(&outcome, MergeOutcome::Resolved(change) if change.base == change.after);
        if !is_unchanged {
            combined.paths.insert(key, outcome);
        }
    }
    for conflict in conflicts {
        combined.paths.insert(conflict.key.clone(), MergeOutcome::Conflict(conflict));
    }
    find_folder_conflicts(&mut combined);
    retain_conflicted_sources(&mut combined);
    Ok(combined)
}

/// Merges the claims of a path that belongs to one file.
fn merge_path(
    key: &PathKey,
    claims: &[Claim],
    strategy: Strategy,
    contents: &dyn BlobSource,
    unstored: &mut UnstoredBlobs,
) -> Result<MergeOutcome> {
    // A rename without an edit does not decide about the content.
    let edits: Vec<&Claim> = claims.iter().filter(|claim| claim.base != claim.after).collect();
    let last = edits.last().copied().or(claims.last());
    // But its base may have been edited outside of the plan, which is merged as well.
    let is_known = |claim: &Claim| {
        claim.builds_on_earlier
            || edits.iter().any(|edit| edit.base == claim.base || edit.after == claim.base)
    };
    if (is_same_change(&edits) || is_sequence(&edits)) && (edits.is_empty() || claims.iter().all(is_known)) {
        return Ok(resolved(key, claims, root_base(claims), last.and_then(|claim| claim.after.clone())));
    }
    match strategy {
        Strategy::ThreeWay => Ok(match three_way(key, claims, contents, unstored)? {
            Ok((base, after)) => resolved(key, claims, base, after),
            Err(conflict) => MergeOutcome::Conflict(conflict),
        }),
        Strategy::FailOnConflict => {
            let kind = ConflictKind::MultipleChanges;
            Ok(MergeOutcome::Conflict(conflict(key.clone(), kind, root_base(claims), claims)))
        }
        Strategy::LastWins => {
            let last = edits.iter().max_by_key(|claim| (claim.at, claim.order));
            Ok(resolved(key, claims, root_base(claims), last.and_then(|claim| claim.after.clone())))
        }
    }
}

fn is_same_change(claims: &[&Claim]) -> bool {
    claims.windows(2).all(|pair| pair[0].after == pair[1].after)
}

/// Returns true if each claim starts from the result of the one before it.
fn is_sequence(claims: &[&Claim]) -> bool {
    claims.windows(2).all(|pair| pair[1].base == pair[0].after)
}

fn resolved(key: &PathKey, claims: &[Claim], base: Option<Content>, after: Option<Content>) -> MergeOutcome {
    let mut origins = claims.iter().map(|claim| &claim.origin);
    let renamed_from = origins.find(|origin| **origin != key.path).filter(|_| after.is_some()).cloned();
    MergeOutcome::Resolved(CombinedChange { base, after, renamed_from, authors: authors(claims) })
}

/// Keeps the old path of a file that is in conflict under its new one.
fn retain_conflicted_sources(combined: &mut Combined) {
    let old = combined
        .conflicts()
        .flat_map(|conflict| conflict.old_names.iter().map(|path| conflict.key.with_path(path)));
    for key in old.collect::<Vec<_>>() {
        if let Some(MergeOutcome::Resolved(_)) = combined.paths.get(&key) {
            combined.paths.remove(&key);
        }
    }
}

/// Replaces changes that need a folder where another leaves a file by conflicts.
fn find_folder_conflicts(combined: &mut Combined) {
    let is_file = |key: &PathKey| match combined.paths.get(key) {
        Some(MergeOutcome::Resolved(change)) => change.after.is_some(),
        _ => false,
    };
    let mut files: BTreeMap<PathKey, Vec<PathKey>> = BTreeMap::new();
    for key in combined.paths.keys().filter(|key| is_file(key)) {
        let bytes = key.path.as_bytes();
        for end in memchr::memchr_iter(b'/', bytes) {
            let above = PathBytes::parse(&bytes[..end]).map(|path| key.with_path(&path));
            if let Some(above) = above.ok().filter(is_file) {
                files.entry(above).or_default().push(key.clone());
            }
        }
    }
    for (file, below) in files {
        let Some(MergeOutcome::Resolved(change)) = combined.paths.remove(&file) else { continue };
        let mut others = Vec::new();
        let mut old_names: Vec<PathBytes> = change.renamed_from.iter().cloned().collect();
        for key in below {
            if let Some(MergeOutcome::Resolved(change)) = combined.paths.remove(&key) {
                old_names.extend(change.renamed_from);
                others.push(OtherPath { path: key.path, base: change.base, authors: change.authors });
            }
        }
        let side = |author: &Attribution, after: &Option<Content>| Side {
            attribution: author.clone(),
            base: change.base.clone(),
            after: after.clone(),
        };
        let mut sides: Vec<Side> = change.authors.iter().map(|author| side(author, &change.after)).collect();
        for author in others.iter().flat_map(|other| &other.authors) {
            if !sides.iter().any(|side| side.attribution == *author) {
                sides.push(side(author, &None));
            }
        }
        let (key, kind, base) = (file.clone(), ConflictKind::Folder, change.base.clone());
        let conflict = Conflict { key, kind, base, sides, hunks: Vec::new(), others, old_names };
        combined.paths.insert(file, MergeOutcome::Conflict(conflict));
    }
}
