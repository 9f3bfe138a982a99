//! The entries of one changeset folded into one final change per path, with the base of the first.
//!
//! Pure. A rename is the end of one path and the beginning of another that remembers where it came from. What ends as it began is no
//! change and is left out.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use store::{Actor, ChangeEntry, ChangesetId, Content, Operation, PathBytes, Time};

use crate::record::RESOLUTION;
use crate::roots::system_path;

/// A path of a plan.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PathKey {
    /// The root.
    pub root: PathBytes,
    /// The path below it.
    pub path: PathBytes,
}

impl PathKey {
    /// Where that is on this machine.
    pub(crate) fn on_system(&self) -> PathBuf {
        system_path(&self.root).join(system_path(&self.path))
    }
}

/// Whose change it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Credit {
    /// The actor.
    pub actor: Actor,
    /// Their changeset.
    pub changeset: ChangesetId,
}

/// What became of one path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FinalChange {
    /// What was there before the first entry.
    pub base: Option<Content>,
    /// What is there after the last.
    pub after: Option<Content>,
    /// The path that it had before the changeset, when it was renamed to this one.
    pub renamed_from: Option<PathBytes>,
    /// What that path held before the changeset.
    pub renamed_base: Option<Content>,
    /// When it was recorded last, by the store's clock.
    pub at: Time,
    /// The sequence number of the last entry for it.
    pub sequence: u64,
    /// Whether it resolves a conflict: it stands for all changes of the path in changesets that were started before.
    pub resolves: bool,
}

/// One changeset, folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folded {
    /// Whose it is.
    pub credit: Credit,
    /// The changesets whose changes it started from, combined: its bases are theirs and not the root's.
    pub builds_on: Vec<ChangesetId>,
    /// One change per path that is not what it was.
    pub changes: BTreeMap<PathKey, FinalChange>,
}

/// Folds the entries of one changeset, which come in the order of their sequence numbers.
pub fn fold<'a>(credit: Credit, entries: impl IntoIterator<Item = &'a ChangeEntry>) -> Folded {
    let mut changes: BTreeMap<PathKey, FinalChange> = BTreeMap::new();
    for entry in entries {
        let key = |path: &PathBytes| PathKey { root: entry.root.clone(), path: path.clone() };
        match &entry.operation {
            Operation::Rename { to } => {
                let old = put(&mut changes, key(&entry.path), entry, entry.before.clone(), None);
                // Renamed twice, it comes from where it was first; made here and renamed, it comes from nowhere.
                let (from, base) = match (old.renamed_from.take(), old.renamed_base.take()) {
                    (Some(from), base) => (Some(from), base),
                    (None, _) if old.base.is_some() => (Some(entry.path.clone()), old.base.clone()),
                    (None, _) => (None, None),
                };
                let from = from.filter(|from| from != to);
                let new = put(&mut changes, key(to), entry, None, entry.after.clone());
                new.renamed_base = if from.is_some() { base } else { None };
                new.renamed_from = from;
            }
            _ => {
                let change =
                    put(&mut changes, key(&entry.path), entry, entry.before.clone(), entry.after.clone());
                if change.after.is_none() {
                    change.renamed_from = None;
                    change.renamed_base = None;
                }
            }
        }
    }
    changes.retain(|_, change| change.resolves || change.base != change.after);
    // A file that was put where it came from again, beside a copy under another name, was not renamed.
    let still: Vec<PathKey> = changes
        .iter()
        .filter(|(key, change)| {
            change.renamed_from.as_ref().is_some_and(|from| {
                let from = PathKey { root: key.root.clone(), path: from.clone() };
                changes.get(&from).is_none_or(|old| old.after.is_some())
            })
        })
        .map(|(key, _)| key.clone())
        .collect();
    for key in still {
        if let Some(change) = changes.get_mut(&key) {
            change.renamed_from = None;
            change.renamed_base = None;
        }
    }
    Folded { credit, builds_on: Vec::new(), changes }
}

/// The path's change with this end; its base is that of the first entry.
fn put<'a>(
    changes: &'a mut BTreeMap<PathKey, FinalChange>,
    key: PathKey,
    entry: &ChangeEntry,
    before: Option<Content>,
    after: Option<Content>,
) -> &'a mut FinalChange {
    let change = changes.entry(key).or_insert_with(|| FinalChange {
        base: before,
        after: None,
        renamed_from: None,
        renamed_base: None,
        at: entry.at,
        sequence: entry.sequence,
        resolves: false,
    });
    change.resolves = entry.tool.as_ref().is_some_and(|tool| tool.as_str() == RESOLUTION);
    change.after = after;
    change.at = entry.at;
    change.sequence = entry.sequence;
    change
}
