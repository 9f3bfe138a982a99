//! The changesets of a plan, combined: per path one final change, or a conflict. Pure: contents come in through [`Contents`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use store::{Content, PathBytes};

use crate::{Conflict, Contents, Credit, Folded, Made, PathKey, Result};

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

/// One path's final change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CombinedChange {
    /// What must be in the root for it to be applied.
    pub base: Option<Content>,
    /// What is to be there.
    pub after: Option<Content>,
    /// The path that it had, when it was renamed to this one.
    pub renamed_from: Option<PathBytes>,
    /// Who changed it, in the order in which they started.
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
    pub made: Made,
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

/// Combines changesets, which come in the order in which they were started.
pub fn combine(changesets: &[Folded], strategy: Strategy, contents: &dyn Contents) -> Result<Combined> {
    let _ = (changesets, strategy, contents);
    Ok(Combined::default())
}
