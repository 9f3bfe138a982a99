//! Deltas: the entries of one changeset folded into one final change per path, against the base of
//! the first entry.
//!
//! Pure. A rename is a deletion of one path and a creation of another that remembers its source. A
//! path that ends as it began has no change.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use store::{Actor, ChangeEntry, ChangesetId, Content, JsonBytes, Operation, PathBytes, Time};

use crate::record::RESOLUTION;

/// A path below a root of a plan.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PathKey {
    /// The root.
    pub root: PathBytes,
    /// The path below it.
    pub path: PathBytes,
}

impl PathKey {
    /// Returns another path below the same root.
    pub fn with_path(&self, path: &PathBytes) -> Self {
        Self { root: self.root.clone(), path: path.clone() }
    }

    pub(crate) fn of(entry: &ChangeEntry) -> Self {
        Self { root: entry.root.clone(), path: entry.path.clone() }
    }
}

/// The form of a path in JSON output. The stored form is that of [`PathKey`].
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "PathKey")]
pub(crate) struct PathKeyJson {
    /// The root.
    root: JsonBytes,
    /// The path below it.
    path: JsonBytes,
}

pub(crate) fn key_json<S: Serializer>(key: &PathKey, serializer: S) -> Result<S::Ok, S::Error> {
    let PathKey { root, path } = key;
    PathKeyJson { root: JsonBytes::of(root.as_bytes()), path: JsonBytes::of(path.as_bytes()) }
        .serialize(serializer)
}

/// Author of a change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize)]
pub struct Attribution {
    /// The actor.
    pub actor: Actor,
    /// The actor's changeset.
    pub changeset: ChangesetId,
}

/// Removes duplicates; keeps the order.
pub(crate) fn distinct(authors: impl IntoIterator<Item = Attribution>) -> Vec<Attribution> {
    let mut distinct: Vec<Attribution> = Vec::new();
    for author in authors {
        if !distinct.contains(&author) {
            distinct.push(author);
        }
    }
    distinct
}

/// Final change of one path by one changeset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FinalChange {
    /// Content before the first entry.
    pub base: Option<Content>,
    /// Content after the last entry.
    pub after: Option<Content>,
    /// The path before the changeset, for a file that the changeset renamed to this path.
    pub renamed_from: Option<PathBytes>,
    /// Content of that path before the changeset.
    pub renamed_base: Option<Content>,
    /// Time of the last entry, by the store's clock.
    pub at: Time,
    /// Sequence number of the last entry.
    pub sequence: u64,
    /// True if it resolves a conflict: it supersedes all changes of the path in changesets that
    /// were started before.
    pub resolves: bool,
}

/// Final changes of one changeset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangesetDelta {
    /// The author.
    pub attribution: Attribution,
    /// Changesets whose combined result is the base of this one, in place of the root.
    pub builds_on: Vec<ChangesetId>,
    /// Changes by path.
    pub changes: BTreeMap<PathKey, FinalChange>,
}

impl ChangesetDelta {
    /// Moves the times of changes to the start of their changeset, if the clock went back after it:
    /// starts keep their order.
    pub(crate) fn not_before(mut self, start: Time) -> Self {
        self.changes.values_mut().for_each(|change| change.at = change.at.max(start));
        self
    }
}

/// Folds the entries of one changeset, in the order of their sequence numbers.
pub fn fold<'a>(
    attribution: Attribution,
    entries: impl IntoIterator<Item = &'a ChangeEntry>,
) -> ChangesetDelta {
    let mut changes: BTreeMap<PathKey, FinalChange> = BTreeMap::new();
    for entry in entries {
        let key = PathKey::of(entry);
        match &entry.operation {
            Operation::Rename { to } => {
                let old = put(&mut changes, key.clone(), entry, entry.before.clone(), None);
                // A file renamed twice comes from its first path; a file created here comes from
                // none.
                let (from, base) = match (old.renamed_from.take(), old.renamed_base.take()) {
                    (Some(from), base) => (Some(from), base),
                    (None, _) if old.base.is_some() => (Some(entry.path.clone()), old.base.clone()),
                    (None, _) => (None, None),
                };
                let from = from.filter(|from| from != to);
                let new = put(&mut changes, key.with_path(to), entry, None, entry.after.clone());
                new.renamed_base = if from.is_some() { base } else { None };
                new.renamed_from = from;
            }
            _ => {
                let change = put(&mut changes, key, entry, entry.before.clone(), entry.after.clone());
                if change.after.is_none() {
                    change.renamed_from = None;
                    change.renamed_base = None;
                }
            }
        }
    }
    changes.retain(|_, change| change.resolves || change.base != change.after);
    // Where the source was created again, the file was copied, not renamed.
    let copied: Vec<PathKey> = changes
        .iter()
        .filter(|(key, change)| {
            change
                .renamed_from
                .as_ref()
                .is_some_and(|from| changes.get(&key.with_path(from)).is_none_or(|old| old.after.is_some()))
        })
        .map(|(key, _)| key.clone())
        .collect();
    for key in copied {
        if let Some(change) = changes.get_mut(&key) {
            change.renamed_from = None;
            change.renamed_base = None;
        }
    }
    ChangesetDelta { attribution, builds_on: Vec::new(), changes }
}

/// Sets the content after the last entry; the base is that of the first.
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
