//! The ledger of a plan: for each path what it held before the plan, what the plan left there, and the changesets whose changes that is.
//!
//! It is replayed from the applies and undos that the plan's detail lists, each with the entries of its target log.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use store::{ChangesetId, Content, PlanId};

use crate::apply::drift::Targets;
use crate::blob_source::UnstoredBlobs;
use crate::merge::subsets::{Declared, DeclaredOutcome, Set, Subsets};
use crate::{PathKey, Plan, Plans, Result, Selection};

/// An apply that ended, as the plan's detail has it: one of the plan, or one of a plan that undoes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LedgerEvent {
    /// Its target log. Earlier versions wrote none for an apply of everything.
    #[serde(rename = "changeset")]
    pub target_log: Option<ChangesetId>,
    /// The changesets whose changes its paths hold from then on.
    #[serde(default, rename = "brought", skip_serializing_if = "Vec::is_empty")]
    pub applied: Vec<ChangesetId>,
    /// More of them that single paths hold.
    #[serde(default, rename = "along", skip_serializing_if = "Vec::is_empty")]
    pub carried: Vec<Carried>,
    /// The changesets whose changes its paths hold no more.
    #[serde(default, rename = "taken", skip_serializing_if = "Vec::is_empty")]
    pub reverted: Vec<ChangesetId>,
    /// Single paths at which an undo reverted, or brought back, other changesets than these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instead: Vec<Carried>,
    /// The plan that was applied, when it undoes this one.
    #[serde(default, rename = "by", skip_serializing_if = "Option::is_none")]
    pub undo_plan: Option<PlanId>,
    /// The paths that were changed by others meanwhile, as earlier versions kept them.
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

/// One path of a plan that was applied.
#[derive(Clone, Debug)]
pub(crate) struct LedgerPath {
    /// What was there before the plan.
    pub original: Option<Content>,
    /// What the plan left there.
    pub after: Option<Content>,
    /// The changesets whose changes that is.
    pub changesets: Set,
    /// What the plan had left there, and of whom, when an undo found that it was gone already. It may come back: by the undo of another
    /// plan, or by hand.
    overwritten: Option<(Option<Content>, Set)>,
}

impl LedgerPath {
    fn new(original: Option<Content>) -> Self {
        Self { after: original.clone(), original, changesets: Set::new(), overwritten: None }
    }

    /// What the changesets that it holds combine to, without what people did to it.
    pub(crate) fn declared(&self, key: &PathKey, subsets: &mut Subsets<'_>) -> Result<Declared> {
        let declared = subsets.declared(&self.changesets, key)?;
        Ok(match declared.outcome {
            DeclaredOutcome::Change => declared,
            // It was applied by another strategy.
            DeclaredOutcome::Conflict => Declared { after: self.after.clone(), ..declared },
            DeclaredOutcome::Nothing => {
                Declared { base: self.original.clone(), after: self.original.clone(), ..declared }
            }
        })
    }

    fn is_vacant(&self) -> bool {
        self.changesets.is_empty() && self.overwritten.is_some()
    }
}

/// The paths of a plan that were applied.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    pub paths: BTreeMap<PathKey, LedgerPath>,
    /// Contents that merging made, which are not in the store.
    pub unstored: UnstoredBlobs,
}

impl Ledger {
    /// A path that holds changes of the plan.
    pub(crate) fn held(&self, key: &PathKey) -> Option<&LedgerPath> {
        self.paths.get(key).filter(|path| !path.is_vacant())
    }

    /// All of them.
    pub(crate) fn all_held(&self) -> impl Iterator<Item = (&PathKey, &LedgerPath)> {
        self.paths.iter().filter(|(_, path)| !path.is_vacant())
    }

    /// Whether every path is as it was before the plan: reverted, or never anything else.
    pub(crate) fn changes_nothing(&self) -> bool {
        self.paths.values().all(|path| path.after == path.original)
    }

    /// Whether an undo found a path overwritten, so that the plan's change may come back there.
    pub(crate) fn remembers(&self) -> bool {
        self.paths.values().any(|path| path.overwritten.is_some())
    }

    /// Records what an apply or undo did. Of a path that it left as it was, both contents of the target are the same.
    pub(crate) fn record(&mut self, event: &LedgerEvent, targets: Targets) {
        let single = |list: &[Carried]| -> BTreeMap<PathKey, Vec<ChangesetId>> {
            list.iter().map(|carried| (carried.key.clone(), carried.changesets.clone())).collect()
        };
        let (carried, instead) = (single(&event.carried), single(&event.instead));
        let is_undo = event.undo_plan.is_some();
        for (key, target) in targets {
            let path =
                self.paths.entry(key.clone()).or_insert_with(|| LedgerPath::new(target.expected.clone()));
            let is_untouched = target.expected == target.after;
            if let Some((after, changesets)) = path.overwritten.take() {
                // What was overwritten had come back.
                if !is_untouched && target.expected == after {
                    path.changesets = changesets;
                } else if path.changesets.is_empty() {
                    path.original.clone_from(&target.expected);
                }
            }
            if is_undo && event.applied.is_empty() && is_untouched && path.after != target.after {
                path.overwritten = Some((path.after.clone(), path.changesets.clone()));
            }
            path.after = target.after;
            path.changesets.extend(carried.get(&key).into_iter().flatten());
            path.changesets.extend(match event.applied.is_empty() {
                true => &event.applied,
                false => instead.get(&key).unwrap_or(&event.applied),
            });
            let reverted = if event.reverted.is_empty() { None } else { instead.get(&key) };
            let reverted = reverted.unwrap_or(&event.reverted);
            path.changesets.retain(|changeset| !reverted.contains(changeset));
            // A reverted path is as if it had never been applied.
            if is_undo && path.after == path.original && path.overwritten.is_none() {
                self.paths.remove(&key);
            }
        }
    }

    /// Takes paths as they were before an undo found them overwritten, where that content is in the file again.
    pub(crate) fn revive(
        &mut self,
        mut is_there: impl FnMut(&PathKey, Option<&Content>) -> Result<bool>,
    ) -> Result<()> {
        for (key, path) in &mut self.paths {
            if let Some((after, changesets)) = path.overwritten.take()
                && is_there(key, after.as_ref())?
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
            let (mut targets, unstored) = self.targets_of(plan, event.target_log)?;
            ledger.unstored.extend(unstored);
            if event.target_log.is_none() {
                let folded = self.folded(plan.id, &Selection::default())?;
                event.applied = folded.iter().map(|folded| folded.credit.changeset).collect();
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
        Target { expected: before.clone(), after: after.clone(), credits: Vec::new() }
    }

    #[test]
    fn events_of_version_0_1_are_read() {
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
    fn a_path_that_an_undo_found_overwritten_is_remembered() {
        let (old, new, one) = (text(b"1"), text(b"2"), ChangesetId::new());
        let mut ledger = Ledger::default();
        let apply = LedgerEvent { applied: vec![one], ..LedgerEvent::default() };
        ledger.record(&apply, [(key("f"), target(&old, &new))].into());
        let undo_plan = Some(PlanId::new());
        let undo = LedgerEvent { reverted: vec![one], undo_plan, ..LedgerEvent::default() };
        ledger.record(&undo, [(key("f"), target(&old, &old))].into());
        assert!(ledger.changes_nothing() && ledger.remembers() && ledger.held(&key("f")).is_none());
        let mut gone = ledger.clone();
        gone.revive(|_, _| Ok(false)).unwrap();
        assert!(gone.paths.is_empty());
        let mut back = ledger.clone();
        back.revive(|_, content| Ok(content == new.as_ref())).unwrap();
        assert_eq!(back.held(&key("f")).map(|path| path.after.clone()), Some(new.clone()));
        ledger.record(&undo, [(key("f"), target(&new, &old))].into());
        assert!(ledger.paths.is_empty());
    }
}
