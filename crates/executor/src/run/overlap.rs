//! Two running nodes that touch one file are told of while they run, before anything is merged.
//!
//! Every so often the sandboxes are looked through for files whose time of last change is another than in the manifest. Nothing is read. The more a look costs,
//! the longer the pause until the next one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use filetx::RelPath;

use super::Event;
use crate::Manifest;

/// The shortest pause between two looks.
const PAUSE_MIN: Duration = Duration::from_millis(200);
/// How much longer than a look the pause after it is.
const PAUSE_FACTOR: u32 = 20;
/// The most overlaps that one run is told of.
const TOLD_MAX: usize = 1000;
/// The most paths of one node that are compared with those of others; of a node that touched more, the others are only counted.
const COMPARED_MAX: usize = 10_000;

/// The sandboxes of running nodes.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    sandboxes: Mutex<BTreeMap<String, Sandbox>>,
    ended: Mutex<bool>,
    end: Condvar,
}

#[derive(Clone, Debug)]
struct Sandbox {
    root: usize,
    tree: PathBuf,
    manifest: Arc<Manifest>,
}

impl Watched {
    /// A node runs from now on.
    pub(crate) fn add(&self, node: &str, root: usize, tree: PathBuf, manifest: &Arc<Manifest>) {
        let manifest = Arc::clone(manifest);
        self.sandboxes().insert(node.to_owned(), Sandbox { root, tree, manifest });
    }

    /// A node has ended.
    pub(crate) fn remove(&self, node: &str) {
        self.sandboxes().remove(node);
    }

    /// Nothing will run any more.
    pub(crate) fn end(&self) {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.end.notify_all();
    }

    /// Looks until the end.
    pub(crate) fn look(&self, tell: impl Fn(Event)) {
        let mut told = Told::default();
        let mut pause = PAUSE_MIN;
        while !self.ends_within(pause) {
            let began = Instant::now();
            let running = self.sandboxes().clone();
            let touched = running.into_iter().filter_map(|(node, sandbox)| {
                // What cannot be looked through is left to the end, when it is looked through for good.
                Some((node, sandbox.root, sandbox.manifest.touched(&sandbox.tree).ok()?))
            });
            told.news(touched.collect()).into_iter().for_each(&tell);
            pause = PAUSE_MIN.max(began.elapsed() * PAUSE_FACTOR);
        }
    }

    /// Rests, but not beyond the end.
    fn ends_within(&self, pause: Duration) -> bool {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let rested = self.end.wait_timeout_while(ended, pause, |ended| !*ended);
        *rested.unwrap_or_else(PoisonError::into_inner).0
    }

    fn sandboxes(&self) -> MutexGuard<'_, BTreeMap<String, Sandbox>> {
        self.sandboxes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was told already.
#[derive(Default)]
struct Told {
    counts: BTreeMap<String, usize>,
    overlaps: BTreeMap<(usize, RelPath), usize>,
}

impl Told {
    /// What is new about what the nodes have touched.
    fn news(&mut self, touched: Vec<(String, usize, Vec<RelPath>)>) -> Vec<Event> {
        let mut news = Vec::new();
        let mut by_path: BTreeMap<(usize, RelPath), BTreeSet<String>> = BTreeMap::new();
        for (node, root, paths) in touched {
            if self.counts.insert(node.clone(), paths.len()).unwrap_or(0) != paths.len() {
                news.push(Event::NodeTouched { node: node.clone(), files: paths.len() });
            }
            for path in paths.into_iter().take(COMPARED_MAX) {
                by_path.entry((root, path)).or_default().insert(node.clone());
            }
        }
        for (key, nodes) in by_path.into_iter().filter(|(_, nodes)| nodes.len() > 1) {
            if self.overlaps.len() < TOLD_MAX
                && self.overlaps.insert(key.clone(), nodes.len()).unwrap_or(0) < nodes.len()
            {
                news.push(Event::Overlap { path: key.1.to_string(), nodes: nodes.into_iter().collect() });
            }
        }
        news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_new_is_not_told() {
        let path = |text: &str| RelPath::new(text).unwrap();
        let node = |name: &str, root, paths: &[&str]| {
            (name.to_owned(), root, paths.iter().map(|text| path(text)).collect::<Vec<_>>())
        };
        let mut told = Told::default();
        let overlap = |nodes: &[&str]| Event::Overlap {
            path: "a".to_owned(),
            nodes: nodes.iter().map(|name| (*name).to_owned()).collect(),
        };
        let touched = |name: &str, files| Event::NodeTouched { node: name.to_owned(), files };
        let first = told.news(vec![node("x", 0, &["a"]), node("y", 0, &["a", "b"]), node("z", 1, &["a"])]);
        assert_eq!(first, [touched("x", 1), touched("y", 2), touched("z", 1), overlap(&["x", "y"])]);
        assert_eq!(told.news(vec![node("x", 0, &["a"]), node("y", 0, &["a", "b"])]), []);
        let third = told.news(vec![node("x", 0, &["a"]), node("y", 0, &["a", "b"]), node("w", 0, &["a"])]);
        assert_eq!(third, [touched("w", 1), overlap(&["w", "x", "y"])]);
    }
}
