//! Which part of a plan: actors and paths.

use store::Actor;

use crate::roots::system_path;
use crate::{CombinedChange, PathKey, Patterns, Result};

/// A part of a plan's changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Only what these actors changed; everybody's when empty.
    pub actors: Vec<Actor>,
    /// Only paths that one of these [`Patterns`] fits. All paths when empty.
    pub paths: Vec<String>,
}

impl Part {
    /// Whether it is everything.
    pub fn is_whole(&self) -> bool {
        self.actors.is_empty() && self.paths.is_empty()
    }

    /// Whether what an actor changed is in it.
    pub(crate) fn has(&self, actor: &Actor) -> bool {
        self.actors.is_empty() || self.actors.contains(actor)
    }

    /// Reads the patterns.
    pub fn paths(&self) -> Result<Paths> {
        match self.paths.as_slice() {
            [] => Ok(Paths(None)),
            paths => Patterns::new(paths).map(|patterns| Paths(Some(patterns))),
        }
    }
}

/// The patterns of a part.
#[derive(Debug)]
pub struct Paths(Option<Patterns>);

impl Paths {
    /// Whether a path is one of the part.
    pub fn takes(&self, key: &PathKey) -> bool {
        self.0.as_ref().is_none_or(|patterns| patterns.fit(&system_path(&key.path)))
    }

    /// A renamed file goes with its old name.
    pub(crate) fn takes_change(&self, key: &PathKey, change: &CombinedChange) -> bool {
        let old = change.renamed_from.clone().map(|path| PathKey { root: key.root.clone(), path });
        self.takes(key) || old.is_some_and(|old| self.takes(&old))
    }
}
