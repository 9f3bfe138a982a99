//! Reports files that two running nodes changed, before the merge.
//!
//! Scans the sandboxes of running nodes at intervals for files whose change time differs from the
//! manifest. Reads no content. The pause after a scan grows with its cost.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use filetx::RelPath;

use super::Event;
use crate::Manifest;

/// The shortest pause between two scans.
const PAUSE_MIN: Duration = Duration::from_millis(200);
/// Pause after a scan, as a multiple of its duration.
const PAUSE_FACTOR: u32 = 20;
/// The most overlaps reported in one run.
const REPORTED_MAX: usize = 1000;
/// Paths of one node compared with those of others. Further ones are only counted.
const COMPARED_MAX: usize = 10_000;

/// Watches the sandboxes of running nodes.
#[derive(Debug, Default)]
pub(crate) struct OverlapMonitor {
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

impl OverlapMonitor {
    /// Adds a node that is about to run.
    pub(crate) fn add(&self, node: &str, root: usize, tree: PathBuf, manifest: &Arc<Manifest>) {
        let manifest = Arc::clone(manifest);
        self.sandboxes().insert(node.to_owned(), Sandbox { root, tree, manifest });
    }

    /// Removes a node that has ended.
    pub(crate) fn remove(&self, node: &str) {
        self.sandboxes().remove(node);
    }

    /// Ends [`watch`](Self::watch).
    pub(crate) fn stop(&self) {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.end.notify_all();
    }

    /// Scans until [`stop`](Self::stop).
    pub(crate) fn watch(&self, emit: impl Fn(Event)) {
        let mut reported = Reported::default();
        let mut pause = PAUSE_MIN;
        while !self.stops_within(pause) {
            let started = Instant::now();
            let running = self.sandboxes().clone();
            let modified = running.into_iter().filter_map(|(node, sandbox)| {
                // A failed scan is repeated when the node has ended, where its error counts.
                Some((node, sandbox.root, sandbox.manifest.modified_paths(&sandbox.tree).ok()?))
            });
            reported.news(modified.collect()).into_iter().for_each(&emit);
            pause = PAUSE_MIN.max(started.elapsed() * PAUSE_FACTOR);
        }
    }

    /// Waits for a pause. Returns true if `stop` was called.
    fn stops_within(&self, pause: Duration) -> bool {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.end.wait_timeout_while(ended, pause, |ended| !*ended);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn sandboxes(&self) -> MutexGuard<'_, BTreeMap<String, Sandbox>> {
        self.sandboxes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The state of the last report.
#[derive(Default)]
struct Reported {
    counts: BTreeMap<String, usize>,
    overlaps: BTreeMap<(usize, RelPath), usize>,
}

impl Reported {
    /// The events for differences to the last report.
    fn news(&mut self, modified: Vec<(String, usize, Vec<RelPath>)>) -> Vec<Event> {
        let mut news = Vec::new();
        let mut by_path: BTreeMap<(usize, RelPath), BTreeSet<String>> = BTreeMap::new();
        for (node, root, paths) in modified {
            if self.counts.insert(node.clone(), paths.len()).unwrap_or(0) != paths.len() {
                news.push(Event::NodeChanged { node: node.clone(), files_changed: paths.len() });
            }
            for path in paths.into_iter().take(COMPARED_MAX) {
                by_path.entry((root, path)).or_default().insert(node.clone());
            }
        }
        for (key, nodes) in by_path.into_iter().filter(|(_, nodes)| nodes.len() > 1) {
            if self.overlaps.len() < REPORTED_MAX
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
    fn unchanged_overlaps_are_reported_once() {
        let path = |text: &str| RelPath::new(text).unwrap();
        let node = |name: &str, root, paths: &[&str]| {
            (name.to_owned(), root, paths.iter().map(|text| path(text)).collect::<Vec<_>>())
        };
        let mut reported = Reported::default();
        let overlap = |nodes: &[&str]| Event::Overlap {
            path: "a".to_owned(),
            nodes: nodes.iter().map(|name| (*name).to_owned()).collect(),
        };
        let changed = |name: &str, files_changed| Event::NodeChanged { node: name.to_owned(), files_changed };
        let first =
            reported.news(vec![node("x", 0, &["a"]), node("y", 0, &["a", "b"]), node("z", 1, &["a"])]);
        assert_eq!(first, [changed("x", 1), changed("y", 2), changed("z", 1), overlap(&["x", "y"])]);
        assert_eq!(reported.news(vec![node("x", 0, &["a"]), node("y", 0, &["a", "b"])]), []);
        let third =
            reported.news(vec![node("x", 0, &["a"]), node("y", 0, &["a", "b"]), node("w", 0, &["a"])]);
        assert_eq!(third, [changed("w", 1), overlap(&["w", "x", "y"])]);
    }
}
