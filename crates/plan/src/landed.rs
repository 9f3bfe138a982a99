//! What has landed of a plan: path by path, from all that was applied of it, and taken back since.
//!
//! Each apply is written down as entries before it begins, in a changeset that is *abandoned*: its entries are kept with their contents, and
//! count for nothing when the plan's changesets are combined. The plan's detail names these changesets in order.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use store::{
    Actor, ChangesetId, Content, Holding, NewChangeset, NewEntry, Operation, PackedBlob, PathBytes, PlanId,
    Recording, RequestId, Status, Tool,
};

use crate::contents::Made;
use crate::drift::{Target, Targets};
use crate::record::WRITTEN_DOWN;
use crate::{PathKey, Piece, Plan, Plans, Result, Selection, State, Strategy, retry};

/// Why a changeset that says what an apply does is abandoned: it is whole.
const REASON: &str = "what an apply changes, written down before it begins";
/// Entries that are recorded in one call.
const ENTRIES_MAX: usize = 1000;
/// Bytes of contents that are recorded in one call.
const BYTES_MAX: usize = 8 << 20;

/// An apply that ended, as the plan's detail has it: one of the plan, or one of a plan that undoes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Landed {
    /// Where what it did is written down. An earlier program did not for an apply of everything.
    pub changeset: Option<ChangesetId>,
    /// The changesets whose changes its paths hold from then on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub brought: Vec<ChangesetId>,
    /// More of them that single paths hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub along: Vec<Along>,
    /// Those whose changes they do not hold any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken: Vec<ChangesetId>,
    /// The plan that was applied, when it undoes this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<PlanId>,
    /// The paths that somebody else had changed meanwhile, as an earlier program kept them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<Place>,
}

/// A path in a detail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    root: PathBytes,
    path: PathBytes,
}

impl Place {
    fn is(&self, key: &PathKey) -> bool {
        self.root == key.root && self.path == key.path
    }
}

/// What had landed under the old name of a file, and goes with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Along {
    #[serde(flatten)]
    to: Place,
    changesets: Vec<ChangesetId>,
}

impl Along {
    pub(crate) fn new(key: &PathKey, changesets: Vec<ChangesetId>) -> Self {
        Self { to: Place { root: key.root.clone(), path: key.path.clone() }, changesets }
    }
}

/// What a path holds of a plan.
#[derive(Clone, Debug)]
pub(crate) struct LandedPath {
    /// What was there before the plan.
    pub expected: Option<Content>,
    /// What the plan left there.
    pub after: Option<Content>,
    /// The changesets whose changes that is.
    pub changesets: BTreeSet<ChangesetId>,
}

/// What has landed of a plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct LandedPaths {
    pub paths: BTreeMap<PathKey, LandedPath>,
    /// Contents that merging made, which are not in the store.
    pub made: Made,
}

impl LandedPaths {
    /// Whether every path is as it was before the plan: taken back, or never anything else.
    pub(crate) fn changes_nothing(&self) -> bool {
        self.paths.values().all(|path| path.after == path.expected)
    }

    /// Lays what an apply did over it.
    pub(crate) fn lay(&mut self, landed: &Landed, targets: Targets) {
        for (key, target) in targets {
            let path = self.paths.entry(key.clone()).or_insert_with(|| LandedPath {
                expected: target.expected,
                after: None,
                changesets: BTreeSet::new(),
            });
            path.after = target.after;
            path.changesets.extend(&landed.brought);
            let along = landed.along.iter().filter(|along| along.to.is(&key));
            path.changesets.extend(along.flat_map(|along| &along.changesets));
            path.changesets.retain(|changeset| !landed.taken.contains(changeset));
            // What was taken back is as if it had never landed.
            if landed.by.is_some() && path.after == path.expected {
                self.paths.remove(&key);
            }
        }
    }
}

impl Plans {
    /// What has landed of a plan.
    pub(crate) fn landed_paths(&self, plan: &Plan) -> Result<LandedPaths> {
        let mut all = LandedPaths::default();
        for mut landed in crate::intent::landed(plan)? {
            let (mut targets, made) = self.targets_of(plan, landed.changeset)?;
            all.made.extend(made);
            if landed.changeset.is_none() {
                let folded = self.folded(plan.id, &Selection::default())?;
                landed.brought = folded.iter().map(|folded| folded.credit.changeset).collect();
            }
            let kept = |key: &PathKey| landed.except.iter().any(|at| at.is(key));
            targets.retain(|key, _| !kept(key));
            all.lay(&landed, targets);
        }
        Ok(all)
    }

    /// What an apply that was begun, or has landed, changes.
    pub(crate) fn targets_of(&self, plan: &Plan, changeset: Option<ChangesetId>) -> Result<(Targets, Made)> {
        let Some(changeset) = changeset else {
            let combined = self.combine(plan.id, &Selection::default(), Strategy::ThreeWay)?;
            let targets = combined.changes().map(|(key, change)| {
                let target = Target {
                    expected: change.base.clone(),
                    after: change.after.clone(),
                    credits: change.credits.clone(),
                };
                (key.clone(), target)
            });
            return Ok((targets.collect(), combined.made));
        };
        let target = |entry: store::ChangeEntry| {
            let key = PathKey { root: entry.root, path: entry.path };
            (key, Target { expected: entry.before, after: entry.after, credits: Vec::new() })
        };
        Ok((self.entries(changeset)?.into_iter().map(target).collect(), Made::default()))
    }

    /// Writes down what an apply does, while the plan is *applying*: no other changeset of it is open then.
    pub(crate) fn write_down(
        &self,
        plan: &Plan,
        id: ChangesetId,
        targets: &Targets,
        made: &Made,
        who: &Actor,
    ) -> Result<()> {
        let store = self.store();
        let new = NewChangeset {
            id,
            plan: plan.id,
            node: None,
            actor: who.clone(),
            // Nobody but who applies knows of it; whoever finishes for them may take it at once.
            holding: Holding { owner: self.owner().clone(), duration: Duration::ZERO },
            plan_states: vec![State::Applying.stored()],
            plan_epoch: None,
        };
        let lease = retry(|| store.start_changeset(&new))?;
        let record = |entries: Vec<NewEntry>, blobs: Vec<PackedBlob>| -> Result<()> {
            let recording = Recording { request: RequestId::new(), entries, blobs };
            retry(|| store.record(id, lease.epoch, &recording))?;
            Ok(())
        };
        let (mut entries, mut blobs, mut bytes) = (Vec::new(), Vec::new(), 0);
        for (key, target) in targets {
            for content in [&target.expected, &target.after].into_iter().flatten() {
                if let Some(content) = made.get(content) {
                    let piece = Piece::of_reader(store.as_ref(), 0, &mut &content[..])?;
                    bytes += content.len();
                    blobs.extend(piece.packed);
                }
            }
            entries.push(entry(key, target));
            if entries.len() >= ENTRIES_MAX || bytes >= BYTES_MAX {
                record(std::mem::take(&mut entries), std::mem::take(&mut blobs))?;
                bytes = 0;
            }
        }
        record(entries, blobs)?;
        retry(|| store.abandon(id, lease.epoch, REASON))?;
        Ok(())
    }

    /// Whether all that an apply does is written down.
    pub(crate) fn is_written(&self, changeset: ChangesetId) -> Result<bool> {
        match self.changeset(changeset) {
            Err(crate::Error::Store(store::Error::NotFound { .. })) => Ok(false),
            found => Ok(found?.reason.as_deref() == Some(REASON)),
        }
    }

    /// Whether a changeset says what an apply does, or was to, and is nobody's work.
    pub(crate) fn is_written_down(&self, changeset: &store::Changeset) -> Result<bool> {
        if changeset.status != Status::Abandoned {
            return Ok(false);
        }
        let first = self.store().entries(changeset.id, 0, 1)?;
        let tool = first.first().and_then(|entry| entry.tool.as_ref());
        Ok(tool.is_some_and(|tool| tool.as_str() == WRITTEN_DOWN))
    }
}

fn entry(key: &PathKey, target: &Target) -> NewEntry {
    let operation = match (&target.expected, &target.after) {
        (None, _) => Operation::Create,
        (_, None) => Operation::Delete,
        (Some(_), Some(_)) => Operation::Modify,
    };
    NewEntry {
        root: key.root.clone(),
        path: key.path.clone(),
        operation,
        before: target.expected.clone(),
        after: target.after.clone(),
        tool: Some(Tool::parse(WRITTEN_DOWN).expect("a line")),
    }
}
