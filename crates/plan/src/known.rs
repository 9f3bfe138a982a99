//! The paths that a handle has recorded, so that a later change of a path builds on the earlier one without reading entries back.
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
    held: HashMap<Key, Held>,
    in_flight: HashSet<Key>,
}

impl Known {
    /// From entries that were recorded before, in order.
    pub(crate) fn of_entries<'a>(entries: impl IntoIterator<Item = &'a ChangeEntry>) -> Self {
        let mut held = HashMap::new();
        for entry in entries {
            let key = |path: &PathBytes| (entry.root.clone(), path.clone());
            match &entry.operation {
                Operation::Rename { to } => {
                    held.insert(key(&entry.path), Held::As(None));
                    held.insert(key(to), Held::As(entry.after.clone()));
                }
                _ => drop(held.insert(key(&entry.path), Held::As(entry.after.clone()))),
            }
        }
        Self { paths: Mutex::new(Paths { held, ..Paths::default() }), landed: Condvar::new() }
    }

    /// What the changeset left at a path, if it ever changed it.
    pub(crate) fn at(&self, key: &Key) -> Option<Held> {
        lock(&self.paths).held.get(key).cloned()
    }

    /// The same of all paths.
    pub(crate) fn all(&self) -> HashMap<Key, Held> {
        lock(&self.paths).held.clone()
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
        paths.held.extend(changed.into_iter().map(|(key, content)| (key, Held::As(content))));
    }

    /// Nobody knows what these are.
    pub(crate) fn doubt(self) {
        let mut paths = lock(&self.known.paths);
        paths.held.extend(self.keys.iter().map(|key| (key.clone(), Held::Doubtful)));
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
