//! Which part of a plan: actors and paths.

use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use store::Actor;

use crate::root::system_path;
use crate::{CombinedChange, Error, PathKey, Result};

/// A part of a plan's changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Only what these actors changed; everybody's when empty.
    pub actors: Vec<Actor>,
    /// Only paths that one of these patterns fits: `*` and `?` within a name, `**` over folders, `[…]`, `{a,b}`. A folder stands for all
    /// that is in it. All paths when empty.
    pub paths: Vec<String>,
}

impl Part {
    /// Whether it is everything.
    pub fn is_whole(&self) -> bool {
        self.actors.is_empty() && self.paths.is_empty()
    }

    /// Reads the patterns.
    pub fn paths(&self) -> Result<Paths> {
        if self.paths.is_empty() {
            return Ok(Paths(None));
        }
        let mut set = GlobSetBuilder::new();
        for pattern in &self.paths {
            let bad = |error: globset::Error| Error::BadPattern {
                pattern: pattern.clone(),
                reason: error.kind().to_string(),
            };
            let plain = pattern.trim_end_matches('/');
            for text in [plain.to_owned(), format!("{plain}/**")] {
                set.add(GlobBuilder::new(&text).literal_separator(true).build().map_err(bad)?);
            }
        }
        let set = set.build().map_err(|error| Error::BadPattern {
            pattern: self.paths.join(" "),
            reason: error.kind().to_string(),
        })?;
        Ok(Paths(Some(set)))
    }
}

/// The patterns of a part.
#[derive(Debug)]
pub struct Paths(Option<GlobSet>);

impl Paths {
    /// Whether a path is one of the part.
    pub fn takes(&self, key: &PathKey) -> bool {
        self.fits(&system_path(&key.path))
    }

    /// A renamed file goes with its old name.
    pub(crate) fn takes_change(&self, key: &PathKey, change: &CombinedChange) -> bool {
        self.takes(key) || change.renamed_from.as_ref().is_some_and(|from| self.fits(&system_path(from)))
    }

    fn fits(&self, path: &Path) -> bool {
        self.0.as_ref().is_none_or(|set| set.is_match(path))
    }
}
