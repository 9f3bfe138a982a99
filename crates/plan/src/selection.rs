//! Selects changes of a plan by actor, changeset and path.

use store::{Actor, ChangesetId};

use crate::roots::system_path;
use crate::{CombinedChange, PathKey, Patterns, Result};

/// Changes of a plan. The default selects all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Only changes of these actors; of all actors when empty.
    pub actors: Vec<Actor>,
    /// Only changes of these changesets; of all changesets when empty.
    pub changesets: Vec<ChangesetId>,
    /// Only paths that match one of these [`Patterns`]; all paths when empty.
    pub paths: Vec<String>,
}

impl Selection {
    /// Returns whether a changeset is selected, whatever its paths.
    pub(crate) fn matches(&self, actor: &Actor, changeset: ChangesetId) -> bool {
        (self.actors.is_empty() || self.actors.contains(actor))
            && (self.changesets.is_empty() || self.changesets.contains(&changeset))
    }

    /// Returns whether every changeset is selected.
    pub(crate) fn has_all_changesets(&self) -> bool {
        self.actors.is_empty() && self.changesets.is_empty()
    }

    /// Parses the patterns of the paths.
    pub fn path_filter(&self) -> Result<PathFilter> {
        match self.paths.as_slice() {
            [] => Ok(PathFilter(None)),
            paths => Patterns::new(paths).map(|patterns| PathFilter(Some(patterns))),
        }
    }
}

/// The paths of a [`Selection`].
#[derive(Debug)]
pub struct PathFilter(Option<Patterns>);

impl PathFilter {
    /// Returns whether a path is selected.
    pub fn matches(&self, key: &PathKey) -> bool {
        self.0.as_ref().is_none_or(|patterns| patterns.matches(&system_path(&key.path)))
    }

    /// Returns whether the path of a change is selected, or the path that its file had before a
    /// rename.
    pub(crate) fn matches_change(&self, key: &PathKey, change: &CombinedChange) -> bool {
        let old = change.renamed_from.as_ref().map(|path| key.with_path(path));
        self.matches(key) || old.is_some_and(|old| self.matches(&old))
    }
}
