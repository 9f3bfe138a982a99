//! The ledger of a plan: for each path the content before the plan, the content that the plan left,
//! and the changesets whose changes that content has.
//!
//! It is replayed from the applies and undos in the plan's detail, each with the entries of its
//! target log.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use store::{ChangesetId, Content, PlanId};

use crate::apply::drift::Targets;
use crate::blob_source::UnstoredBlobs;
use crate::merge::subsets::{ChangesetIds, SubsetOutcome, SubsetPath, Subsets};
use crate::{PathKey, Plan, Plans, Result, Selection};

/// An apply that ended, of the plan or of a plan that undoes it, as in the plan's detail.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LedgerEvent {
    /// The target log. Version 0.1 wrote none for an apply of a whole plan.
    #[serde(rename = "changeset")]
    pub target_log: Option<ChangesetId>,
    /// The changesets that the paths hold afterwards.
    #[serde(default, rename = "brought", skip_serializing_if = "Vec::is_empty")]
    pub applied: Vec<ChangesetId>,
    /// Further changesets that single paths hold.
    #[serde(default, rename = "along", skip_serializing_if = "Vec::is_empty")]
    pub carried: Vec<Carried>,
    /// The changesets that the paths do not hold afterwards.
    #[serde(default, rename = "taken", skip_serializing_if = "Vec::is_empty")]
    pub reverted: Vec<ChangesetId>,
    /// Single paths at which an undo reverted or applied other changesets.
    #[serde(default, rename = "instead", skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<Carried>,
    /// The plan that was applied, if it undoes this one.
    #[serde(default, rename = "by", skip_serializing_if = "Option::is_none")]
    pub undo_plan: Option<PlanId>,
    /// Paths that had drifted, as version 0.1 stored them.
    #[serde(default, rename = "except", skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<PathKey>,
}

/// Changesets that a single path holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Carried {
    #[serde(flatten)]
    pub key: PathKey,
    pub changesets: Vec<ChangesetId>,
}

/// An applied path.
#[derive(Clone, Debug)]
pub(crate) struct LedgerPath {
    /// The content before the plan.
    pub original: Option<Content>,
    /// The content that the plan left.
    pub after: Option<Content>,
    /// The changesets whose changes it has.
    pub changesets: ChangesetIds,
    /// The content that the plan had left, and its changesets, if an undo found that it was
    /// overwritten. It may return: by the undo of another plan, or by hand.
    overwritten: Option<(Option<Content>, ChangesetIds)>,
}

impl LedgerPath {
    fn new(original: Option<Content>) -> Self {
        Self { after: original.clone(), original, changesets: ChangesetIds::new(), overwritten: None }
    }

    /// Combines its changesets, without the edits of people.
    pub(crate) fn combine(&self, key: &PathKey, subsets: &mut Subsets<'_>) -> Result<SubsetPath> {
        let combined = subsets.path(&self.changesets, key)?;
        Ok(match combined.outcome {
            SubsetOutcome::Resolved => combined,
            // It was applied by another strategy.
            SubsetOutcome::Conflict => SubsetPath { after: self.after.clone(), ..combined },
            SubsetOutcome::Unchanged => {
                SubsetPath { base: self.original.clone(), after: self.original.clone(), ..combined }
            }
        })
    }

    fn is_vacant(&self) -> bool {
        self.changesets.is_empty() && self.overwritten.is_some()
    }
}

/// The applied paths of a plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    pub paths: BTreeMap<PathKey, LedgerPath>,
    /// Contents that merging made, which are not in the store.
    pub unstored: UnstoredBlobs,
}

impl Ledger {
    /// Returns a path that holds changes of the plan.
    pub(crate) fn get(&self, key: &PathKey) -> Option<&LedgerPath> {
        self.paths.get(key).filter(|path| !path.is_vacant())
    }

    /// Returns all paths that hold changes of the plan.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&PathKey, &LedgerPath)> {
        self.paths.iter().filter(|(_, path)| !path.is_vacant())
    }

    /// Returns whether every path holds its content from before the plan.
    pub(crate) fn is_reverted(&self) -> bool {
        self.paths.values().all(|path| path.after == path.original)
    }

    /// Returns whether an undo found a path overwritten, so that the plan's change may return.
    pub(crate) fn has_overwritten(&self) -> bool {
        self.paths.values().any(|path| path.overwritten.is_some())
    }

    /// Records an apply or undo. A target with equal contents is a path that stayed as it was.
    pub(crate) fn record(&mut self, event: &LedgerEvent, targets: Targets) {
        let by_path = |list: &[Carried]| -> BTreeMap<PathKey, Vec<ChangesetId>> {
            list.iter().map(|carried| (carried.key.clone(), carried.changesets.clone())).collect()
        };
        let (carried, overrides) = (by_path(&event.carried), by_path(&event.overrides));
        let is_undo = event.undo_plan.is_some();
        for (key, target) in targets {
            let path =
                self.paths.entry(key.clone()).or_insert_with(|| LedgerPath::new(target.before.clone()));
            let is_unchanged = target.before == target.after;
            if let Some((after, changesets)) = path.overwritten.take() {
                // The overwritten content had returned.
                if !is_unchanged && target.before == after {
                    path.changesets = changesets;
                } else if path.changesets.is_empty() {
                    path.original.clone_from(&target.before);
                }
            }
            if is_undo && event.applied.is_empty() && is_unchanged && path.after != target.after {
                path.overwritten = Some((path.after.clone(), path.changesets.clone()));
            }
            path.after = target.after;
            path.changesets.extend(carried.get(&key).into_iter().flatten());
            path.changesets.extend(match event.applied.is_empty() {
                true => &event.applied,
                false => overrides.get(&key).unwrap_or(&event.applied),
            });
            let reverted = if event.reverted.is_empty() { None } else { overrides.get(&key) };
            let reverted = reverted.unwrap_or(&event.reverted);
            path.changesets.retain(|changeset| !reverted.contains(changeset));
            // A reverted path is as if it had never been applied.
            if is_undo && path.after == path.original && path.overwritten.is_none() {
                self.paths.remove(&key);
            }
        }
    }

    /// Restores overwritten paths whose content is in the file again.
    pub(crate) fn restore_overwritten(
        &mut self,
        mut is_in_file: impl FnMut(&PathKey, Option<&Content>) -> Result<bool>,
    ) -> Result<()> {
        for (key, path) in &mut self.paths {
            if let Some((after, changesets)) = path.overwritten.take()
                && is_in_file(key, after.as_ref())?
            {
                path.after = after;
                path.changesets = changesets;
            }
        }
        self.paths.retain(|_, path| !path.changesets.is_empty() || path.after != path.original);
        Ok(())
    }
}

impl Plans {
    /// Replays the ledger of a plan.
    pub(crate) fn ledger(&self, plan: &Plan) -> Result<Ledger> {
        let mut ledger = Ledger::default();
        for mut event in crate::apply::intent::events(plan)? {
            let (mut targets, unstored) = self.logged_targets(plan, event.target_log)?;
            ledger.unstored.extend(unstored);
            if event.target_log.is_none() {
                let deltas = self.deltas(plan.id, &Selection::default())?;
                event.applied = deltas.iter().map(|delta| delta.attribution.changeset).collect();
            }
            targets.retain(|key, _| !event.skipped.contains(key));
            ledger.record(&event, targets);
        }
        Ok(ledger)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::PathBytes;
    use crate::apply::drift::Target;

    fn key(path: &str) -> PathKey {
        PathKey { root: PathBytes::parse(b"/a").unwrap(), path: PathBytes::parse(path.as_bytes()).unwrap() }
    }

    fn text(text: &[u8]) -> Option<Content> {
        Some(UnstoredBlobs::default().add(text.to_vec(), 0o644))
    }

    fn target(before: &Option<Content>, after: &Option<Content>) -> Target {
        Target { before: before.clone(), after: after.clone(), ..Target::default() }
    }

    #[test]
    fn events_of_version_0_1_are_parsed() {
        let [log, one, two] = std::array::from_fn(|_| ChangesetId::new());
        let undo = PlanId::new();
        let stored = json!([
            { "changeset": log, "brought": [one], "along": [{ "root": "/a", "path": "f", "changesets": [two] }] },
            { "changeset": null, "taken": [one], "by": undo, "except": [{ "root": "/a", "path": "g" }] },
        ]);
        let read: Vec<LedgerEvent> = serde_json::from_value(stored.clone()).unwrap();
        let carried = vec![Carried { key: key("f"), changesets: vec![two] }];
        let first =
            LedgerEvent { target_log: Some(log), applied: vec![one], carried, ..LedgerEvent::default() };
        let (undo_plan, skipped) = (Some(undo), vec![key("g")]);
        let second = LedgerEvent { reverted: vec![one], undo_plan, skipped, ..LedgerEvent::default() };
        assert_eq!(read, [first, second]);
        assert_eq!(serde_json::to_value(&read).unwrap(), stored);
    }

    #[test]
    fn an_undo_remembers_overwritten_paths() {
        let (old, new, one) = (text(b"1"), text(b"2"), ChangesetId::new());
        let mut ledger = Ledger::default();
        let apply = LedgerEvent { applied: vec![one], ..LedgerEvent::default() };
        ledger.record(&apply, [(key("f"), target(&old, &new))].into());
        let undo_plan = Some(PlanId::new());
        let undo = LedgerEvent { reverted: vec![one], undo_plan, ..LedgerEvent::default() };
        ledger.record(&undo, [(key("f"), target(&old, &old))].into());
        assert!(ledger.is_reverted() && ledger.has_overwritten() && ledger.get(&key("f")).is_none());
        let mut gone = ledger.clone();
        gone.restore_overwritten(|_, _| Ok(false)).unwrap();
        assert!(gone.paths.is_empty());
        let mut back = ledger.clone();
        back.restore_overwritten(|_, content| Ok(content == new.as_ref())).unwrap();
        assert_eq!(back.get(&key("f")).map(|path| path.after.clone()), Some(new.clone()));
        ledger.record(&undo, [(key("f"), target(&new, &old))].into());
        assert!(ledger.paths.is_empty());
    }
}
