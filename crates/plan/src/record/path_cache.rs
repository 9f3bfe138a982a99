//! The paths that a handle has recorded, so that a later change of a path builds on the earlier one without reading entries back. Of a
//! changeset that was reopened, each path is looked up when it is asked for first.
//!
//! A path is in flight from the moment its base is decided until its entry is durable; others that change the same path wait that
//! long, and others that change other paths do not. A batch takes all its paths at once or none, so nobody waits in a circle.

use std::collections::{BTreeSet, HashMap, HashSet};

use store::{ChangeEntry, Content, Operation, PathBytes};

use crate::sync::{Condvar, Mutex, lock, wait};

/// A path of a plan: root, and path below it.
pub(crate) type Key = (PathBytes, PathBytes);

/// What is known of a path that was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// The changeset left it so: with this content, or gone.
    As(Option<Content>),
    /// Whether the last change of it was recorded is not known.
    Doubtful,
}

#[derive(Debug, Default)]
pub(crate) struct Known {
    paths: Mutex<Paths>,
    landed: Condvar,
}

#[derive(Debug, Default)]
struct Paths {
    /// None of a path that was looked up and never changed.
    held: HashMap<Key, Option<Held>>,
    in_flight: HashSet<Key>,
    /// There may be entries that this handle neither recorded nor looked up.
    has_earlier: bool,
}

impl Known {
    /// Of a changeset that may have entries already.
    pub(crate) fn of_reopened() -> Self {
        let paths = Paths { has_earlier: true, ..Paths::default() };
        Self { paths: Mutex::new(paths), landed: Condvar::new() }
    }

    /// The paths among these that have to be looked up in the store.
    pub(crate) fn missing(&self, keys: impl IntoIterator<Item = Key>) -> Vec<Key> {
        let paths = lock(&self.paths);
        let is_missing = |key: &Key| paths.has_earlier && !paths.held.contains_key(key);
        keys.into_iter().filter(is_missing).collect()
    }

    /// Whether all paths have to be looked up in the store.
    pub(crate) fn has_earlier(&self) -> bool {
        lock(&self.paths).has_earlier
    }

    /// Adds paths with the last entries that changed them, as the store has them. What was recorded meanwhile is newer.
    pub(crate) fn add(&self, found: impl IntoIterator<Item = (Key, Option<ChangeEntry>)>) {
        let mut paths = lock(&self.paths);
        for (key, entry) in found {
            let held = entry.map(|entry| Held::As(left_at(entry, &key.1)));
            paths.held.entry(key).or_insert(held);
        }
    }

    /// Adds all paths of all entries, in order.
    pub(crate) fn add_all(&self, entries: Vec<ChangeEntry>) {
        let mut last = HashMap::new();
        for entry in entries {
            if let Operation::Rename { to } = &entry.operation {
                last.insert((entry.root.clone(), to.clone()), Some(entry.clone()));
            }
            last.insert((entry.root.clone(), entry.path.clone()), Some(entry));
        }
        self.add(last);
        lock(&self.paths).has_earlier = false;
    }

    /// What the changeset left at a path, if it ever changed it.
    pub(crate) fn at(&self, key: &Key) -> Option<Held> {
        lock(&self.paths).held.get(key).cloned().flatten()
    }

    /// The same of all paths.
    pub(crate) fn all(&self) -> HashMap<Key, Held> {
        let paths = lock(&self.paths);
        let changed = paths.held.iter().filter_map(|(key, held)| Some((key.clone(), held.clone()?)));
        changed.collect()
    }

    /// Takes the paths, as soon as nobody else has one of them.
    pub(crate) fn take(&self, keys: BTreeSet<Key>) -> Turn<'_> {
        let mut paths = lock(&self.paths);
        while keys.iter().any(|key| paths.in_flight.contains(key)) {
            paths = wait(&self.landed, paths);
        }
        paths.in_flight.extend(keys.iter().cloned());
        Turn { known: self, keys }
    }
}

/// Paths that nobody else changes meanwhile.
#[must_use = "the paths are taken as long as this lives"]
pub(crate) struct Turn<'a> {
    known: &'a Known,
    keys: BTreeSet<Key>,
}

impl Turn<'_> {
    /// What the changeset left at the path, if it ever changed it.
    pub(crate) fn held(&self, key: &Key) -> Option<Held> {
        self.known.at(key)
    }

    /// These are the changeset's from now on.
    pub(crate) fn settle(self, changed: HashMap<Key, Option<Content>>) {
        let mut paths = lock(&self.known.paths);
        paths.held.extend(changed.into_iter().map(|(key, content)| (key, Some(Held::As(content)))));
    }

    /// Nobody knows what these are.
    pub(crate) fn doubt(self) {
        let mut paths = lock(&self.known.paths);
        paths.held.extend(self.keys.iter().map(|key| (key.clone(), Some(Held::Doubtful))));
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut paths = lock(&self.known.paths);
        for key in &self.keys {
            paths.in_flight.remove(key);
        }
        self.known.landed.notify_all();
    }
}

/// What an entry left at a path that it changed.
fn left_at(entry: ChangeEntry, path: &PathBytes) -> Option<Content> {
    match &entry.operation {
        Operation::Rename { to } if to != path => None,
        _ => entry.after,
    }
}
