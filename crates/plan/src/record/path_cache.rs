//! Caches the last recorded content of each path of a changeset, so that a later change of a path
//! builds on the earlier one without reading entries. A reopened changeset looks each path up in
//! the store on first use.
//!
//! A path is in flight from the choice of its base until its entry is durable. A change of a path
//! in flight waits; changes of other paths do not. A batch locks all its paths or none, so threads
//! never wait in a cycle.

use std::collections::{BTreeSet, HashMap, HashSet};

use store::{ChangeEntry, Content, Operation, PathBytes};

use crate::PathKey;
use crate::sync::{Condvar, Mutex, lock, wait};

/// The cached content of a path that the changeset recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CachedContent {
    /// The content after the last change; `None` after a deletion.
    Known(Option<Content>),
    /// The outcome of the last change is unknown.
    Unknown,
}

#[derive(Debug, Default)]
pub(crate) struct PathCache {
    paths: Mutex<Paths>,
    released: Condvar,
}

#[derive(Debug, Default)]
struct Paths {
    /// `None` for a path that was looked up and never changed.
    contents: HashMap<PathKey, Option<CachedContent>>,
    in_flight: HashSet<PathKey>,
    /// The store may have entries that are not in the cache.
    has_prior_entries: bool,
}

impl PathCache {
    /// Returns the cache of a changeset that may have entries.
    pub(crate) fn reopened() -> Self {
        let paths = Paths { has_prior_entries: true, ..Paths::default() };
        Self { paths: Mutex::new(paths), released: Condvar::new() }
    }

    /// Returns the paths that the store must be asked for.
    pub(crate) fn missing(&self, keys: impl IntoIterator<Item = PathKey>) -> Vec<PathKey> {
        let paths = lock(&self.paths);
        let is_missing = |key: &PathKey| paths.has_prior_entries && !paths.contents.contains_key(key);
        keys.into_iter().filter(is_missing).collect()
    }

    /// Returns whether the store may have entries that are not in the cache.
    pub(crate) fn has_prior_entries(&self) -> bool {
        lock(&self.paths).has_prior_entries
    }

    /// Adds paths with the last entries that changed them in the store. A newer cached content
    /// stays.
    pub(crate) fn add(&self, found: impl IntoIterator<Item = (PathKey, Option<ChangeEntry>)>) {
        let mut paths = lock(&self.paths);
        for (key, entry) in found {
            let content = entry.map(|entry| CachedContent::Known(content_after(entry, &key.path)));
            paths.contents.entry(key).or_insert(content);
        }
    }

    /// Adds the paths of all entries, which come in order of their sequence numbers.
    pub(crate) fn add_all(&self, entries: Vec<ChangeEntry>) {
        let mut last = HashMap::new();
        for entry in entries {
            let key = |path: &PathBytes| PathKey { root: entry.root.clone(), path: path.clone() };
            if let Operation::Rename { to } = &entry.operation {
                last.insert(key(to), Some(entry.clone()));
            }
            last.insert(key(&entry.path), Some(entry));
        }
        self.add(last);
        lock(&self.paths).has_prior_entries = false;
    }

    /// Returns the content of a path; `None` if the changeset never changed it.
    pub(crate) fn get(&self, key: &PathKey) -> Option<CachedContent> {
        lock(&self.paths).contents.get(key).cloned().flatten()
    }

    /// Returns the contents of all paths that the changeset changed.
    pub(crate) fn all(&self) -> HashMap<PathKey, CachedContent> {
        let paths = lock(&self.paths);
        let changed =
            paths.contents.iter().filter_map(|(key, content)| Some((key.clone(), content.clone()?)));
        changed.collect()
    }

    /// Locks paths, waiting until none of them is in flight.
    pub(crate) fn lock(&self, keys: BTreeSet<PathKey>) -> PathGuard<'_> {
        let mut paths = lock(&self.paths);
        while keys.iter().any(|key| paths.in_flight.contains(key)) {
            paths = wait(&self.released, paths);
        }
        paths.in_flight.extend(keys.iter().cloned());
        PathGuard { cache: self, keys }
    }
}

/// Paths that no other thread changes.
#[must_use = "the paths are locked as long as this lives"]
pub(crate) struct PathGuard<'a> {
    cache: &'a PathCache,
    keys: BTreeSet<PathKey>,
}

impl PathGuard<'_> {
    /// Returns the content of a path; `None` if the changeset never changed it.
    pub(crate) fn get(&self, key: &PathKey) -> Option<CachedContent> {
        self.cache.get(key)
    }

    /// Caches the contents of a recorded change.
    pub(crate) fn commit(self, changed: HashMap<PathKey, Option<Content>>) {
        let mut paths = lock(&self.cache.paths);
        let known = changed.into_iter().map(|(key, content)| (key, Some(CachedContent::Known(content))));
        paths.contents.extend(known);
    }

    /// Marks all locked paths as unknown, after a change whose outcome is unknown.
    pub(crate) fn poison(self) {
        let mut paths = lock(&self.cache.paths);
        paths.contents.extend(self.keys.iter().map(|key| (key.clone(), Some(CachedContent::Unknown))));
    }
}

impl Drop for PathGuard<'_> {
    fn drop(&mut self) {
        let mut paths = lock(&self.cache.paths);
        for key in &self.keys {
            paths.in_flight.remove(key);
        }
        self.cache.released.notify_all();
    }
}

/// The content of a path after an entry that changed it.
fn content_after(entry: ChangeEntry, path: &PathBytes) -> Option<Content> {
    match &entry.operation {
        Operation::Rename { to } if to != path => None,
        _ => entry.after,
    }
}
