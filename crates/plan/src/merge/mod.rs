//! The changesets of a plan, combined: per path one final change, or a conflict. Pure: contents come in through [`BlobSource`].

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

use crate::merge::claims::{Claim, Claims, beside, conflict, credits, root_base};
use crate::merge::three_way::three_way;
use crate::{BlobSource, Clash, Conflict, Credit, Folded, OtherPath, PathKey, Result, Side, UnstoredBlobs};

/// What is made of a path that several actors changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Edits of different lines are merged, each against its own base; others are conflicts.
    #[default]
    ThreeWay,
    /// Every path that several changed to different things is a conflict.
    FailOnConflict,
    /// The change that was recorded last counts.
    LastWins,
}

impl Strategy {
    /// All, in the order they are listed to people.
    pub const ALL: [Strategy; 3] = [Self::ThreeWay, Self::FailOnConflict, Self::LastWins];

    /// As it is written in plan files and configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::ThreeWay => "three-way",
            Self::FailOnConflict => "fail-on-conflict",
            Self::LastWins => "last-wins",
        }
    }
}

/// One path's final change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CombinedChange {
    /// What must be in the root for it to be applied.
    pub base: Option<Content>,
    /// What is to be there.
    pub after: Option<Content>,
    /// The path that it had, when it was renamed to this one.
    pub renamed_from: Option<PathBytes>,
    /// Who changed it, in the order of the changesets that were combined.
    pub credits: Vec<Credit>,
}

/// What became of a path.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Settled {
    /// One final change.
    Change(CombinedChange),
    /// None.
    Conflict(Conflict),
}

/// The changes of a plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Combined {
    /// Per path, in order.
    pub paths: BTreeMap<PathKey, Settled>,
    /// Contents that merging made, which are not in the store.
    pub unstored: UnstoredBlobs,
}

impl Combined {
    /// The final changes.
    pub fn changes(&self) -> impl Iterator<Item = (&PathKey, &CombinedChange)> {
        self.paths.iter().filter_map(|(key, settled)| match settled {
            Settled::Change(change) => Some((key, change)),
            Settled::Conflict(_) => None,
        })
    }

    /// The conflicts. Nothing is applied while there are any.
    pub fn conflicts(&self) -> impl Iterator<Item = &Conflict> {
        self.paths.values().filter_map(|settled| match settled {
            Settled::Conflict(conflict) => Some(conflict),
            Settled::Change(_) => None,
        })
    }
}

/// Combines changesets, each behind those that it builds on. Whoever finished first changes nothing about the result.
pub fn combine(changesets: &[Folded], strategy: Strategy, contents: &dyn BlobSource) -> Result<Combined> {
    let mut claims = Claims::of(changesets);
    let mut conflicts = claims.clashes_of_names();
    match strategy {
        Strategy::LastWins => claims.last_takes_the_name(),
        Strategy::ThreeWay | Strategy::FailOnConflict => conflicts.extend(claims.clashes_of_files()),
    }
    let mut combined = Combined::default();
    for (key, claims) in claims.paths.into_iter().filter(|(_, claims)| !claims.is_empty()) {
        let settled = settle(&key, &claims, strategy, contents, &mut combined.unstored)?;
        let nothing = matches!(&settled, Settled::Change(change) if change.base == change.after);
        if !nothing {
            combined.paths.insert(key, settled);
        }
    }
    for conflict in conflicts {
        combined.paths.insert(conflict.key.clone(), Settled::Conflict(conflict));
    }
    clashes_of_folders(&mut combined);
    hold_old_names_back(&mut combined);
    Ok(combined)
}

/// What becomes of a path that is the name of one file.
fn settle(
    key: &PathKey,
    claims: &[Claim],
    strategy: Strategy,
    contents: &dyn BlobSource,
    unstored: &mut UnstoredBlobs,
) -> Result<Settled> {
    // Who gave a file another name and nothing else has no say in its content.
    let edits: Vec<&Claim> = claims.iter().filter(|claim| claim.from != claim.after).collect();
    let last = edits.last().copied().or(claims.last());
    // But what it found may be somebody's edit from outside, which is merged like any other.
    let is_known = |claim: &Claim| {
        claim.builds || edits.iter().any(|edit| edit.from == claim.from || edit.after == claim.from)
    };
    if (is_alike(&edits) || is_chain(&edits)) && (edits.is_empty() || claims.iter().all(is_known)) {
        return Ok(one(key, claims, root_base(claims), last.and_then(|claim| claim.after.clone())));
    }
    match strategy {
        Strategy::ThreeWay => Ok(match three_way(key, claims, contents, unstored)? {
            Ok((base, after)) => one(key, claims, base, after),
            Err(conflict) => Settled::Conflict(conflict),
        }),
        Strategy::FailOnConflict => {
            Ok(Settled::Conflict(conflict(key.clone(), Clash::Several, root_base(claims), claims)))
        }
        Strategy::LastWins => {
            let last = edits.iter().max_by_key(|claim| (claim.at, claim.order));
            Ok(one(key, claims, root_base(claims), last.and_then(|claim| claim.after.clone())))
        }
    }
}

fn is_alike(claims: &[&Claim]) -> bool {
    claims.windows(2).all(|pair| pair[0].after == pair[1].after)
}

/// Whether each began where the one before it ended.
fn is_chain(claims: &[&Claim]) -> bool {
    claims.windows(2).all(|pair| pair[1].from == pair[0].after)
}

fn one(key: &PathKey, claims: &[Claim], base: Option<Content>, after: Option<Content>) -> Settled {
    let origins = claims.iter().map(|claim| &claim.origin);
    let renamed_from = origins.into_iter().find(|origin| **origin != key.path).filter(|_| after.is_some());
    Settled::Change(CombinedChange {
        base,
        after,
        renamed_from: renamed_from.cloned(),
        credits: credits(claims),
    })
}

/// A file that is in conflict under its new name keeps its old one until then.
fn hold_old_names_back(combined: &mut Combined) {
    let old = combined
        .conflicts()
        .flat_map(|conflict| conflict.old_names.iter().map(|path| beside(&conflict.key, path)));
    for key in old.collect::<Vec<_>>() {
        if let Some(Settled::Change(_)) = combined.paths.get(&key) {
            combined.paths.remove(&key);
        }
    }
}

/// A file where another path needs a folder is a conflict.
fn clashes_of_folders(combined: &mut Combined) {
    let is_there = |key: &PathKey| match combined.paths.get(key) {
        Some(Settled::Change(change)) => change.after.is_some(),
        _ => false,
    };
    let mut clashes: BTreeMap<PathKey, Vec<PathKey>> = BTreeMap::new();
    for key in combined.paths.keys().filter(|key| is_there(key)) {
        let bytes = key.path.as_bytes();
        for end in memchr::memchr_iter(b'/', bytes) {
            let above = PathBytes::parse(&bytes[..end]).map(|path| PathKey { root: key.root.clone(), path });
            if let Some(above) = above.ok().filter(is_there) {
                clashes.entry(above).or_default().push(key.clone());
            }
        }
    }
    for (above, below) in clashes {
        let Some(Settled::Change(change)) = combined.paths.remove(&above) else { continue };
        let mut others = Vec::new();
        let mut old_names: Vec<PathBytes> = change.renamed_from.iter().cloned().collect();
        for key in below {
            if let Some(Settled::Change(change)) = combined.paths.remove(&key) {
                old_names.extend(change.renamed_from);
                others.push(OtherPath { path: key.path, base: change.base, credits: change.credits });
            }
        }
        let side = |credit: &Credit, after: &Option<Content>| Side {
            credit: credit.clone(),
            base: change.base.clone(),
            after: after.clone(),
        };
        let mut sides: Vec<Side> = change.credits.iter().map(|credit| side(credit, &change.after)).collect();
        for credit in others.iter().flat_map(|other| &other.credits) {
            if !sides.iter().any(|side| side.credit == *credit) {
                sides.push(side(credit, &None));
            }
        }
        let conflict = Conflict {
            key: above.clone(),
            clash: Clash::Folder,
            base: change.base.clone(),
            sides,
            hunks: Vec::new(),
            others,
            old_names,
        };
        combined.paths.insert(above, Settled::Conflict(conflict));
    }
}
