//! What is kept in a plan's detail about applying it: what is under way, and what has landed.
//!
//! A plain apply is that of all changes, combined three-way: it can be worked out again. Any other (a part, another strategy, merged
//! with what people changed) is written down as entries before it begins, in a changeset that is *abandoned*: its entries are kept with
//! their contents, and count for nothing when the plan's changesets are combined.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{
    Actor, ChangesetId, Content, Holding, NewChangeset, NewEntry, Operation, PackedBlob, PathBytes,
    Recording, RequestId, Tool,
};

use crate::changeset::LEASE;
use crate::contents::Made;
use crate::drift::{Target, Targets};
use crate::{Detail, Error, Machine, PathKey, Piece, Plan, Plans, Result, Selection, State, Strategy, retry};

const APPLY: &str = "apply";
const LANDED: &str = "landed";
/// The tool of entries that say what an apply does.
const RECORD: &str = "agents plan apply";
/// Entries that are recorded in one call.
const ENTRIES_MAX: usize = 1000;
/// Bytes of contents that are recorded in one call.
const BYTES_MAX: usize = 8 << 20;

/// An apply that is under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Intent {
    /// Where.
    pub machine: Machine,
    /// Which process.
    pub process: u32,
    /// The file transaction, by which its journal is known.
    pub transaction: String,
    /// Where its changes are written down, when it is not a plain one.
    pub changeset: Option<ChangesetId>,
    /// Whose changes it is about; everybody's when empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actors: Vec<Actor>,
    /// Who began it.
    pub who: Actor,
    /// In which state the plan was.
    pub from: State,
}

/// An apply that ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Landed {
    /// Where its changes are written down, when it was not a plain one.
    pub changeset: Option<ChangesetId>,
    /// Whose changes it was about; everybody's when empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actors: Vec<Actor>,
    /// The paths that somebody else had changed meanwhile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<Place>,
}

/// A path in a detail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    root: PathBytes,
    path: PathBytes,
}

impl From<&PathKey> for Place {
    fn from(key: &PathKey) -> Self {
        Self { root: key.root.clone(), path: key.path.clone() }
    }
}

/// The transaction's id as it is written.
pub(crate) fn transaction_text(id: u128) -> String {
    format!("{id:032x}")
}

/// The apply that is under way.
pub(crate) fn intent(plan: &Plan) -> Result<Option<Intent>> {
    read(plan, APPLY)
}

/// The applies that ended.
pub(crate) fn landed(plan: &Plan) -> Result<Vec<Landed>> {
    Ok(read(plan, LANDED)?.unwrap_or_default())
}

fn read<T: for<'de> Deserialize<'de>>(plan: &Plan, field: &str) -> Result<Option<T>> {
    let Some(value) = plan.detail.more.get(field) else { return Ok(None) };
    let read = serde_json::from_value(value.clone());
    read.map(Some).map_err(|source| Error::Intent { plan: plan.id, source })
}

/// The detail of a plan that is being applied.
pub(crate) fn begun(plan: &Plan, intent: &Intent) -> Detail {
    let mut detail = Detail { error: None, ..plan.detail.clone() };
    detail.more.insert(APPLY.to_owned(), json(intent));
    detail
}

/// The detail of a plan whose apply ended, with what has landed.
pub(crate) fn ended(plan: &Plan, new: Option<Landed>, error: Option<String>) -> Result<Detail> {
    let mut all = landed(plan)?;
    all.extend(new);
    let mut detail = Detail { error, ..plan.detail.clone() };
    detail.more.remove(APPLY);
    if !all.is_empty() {
        detail.more.insert(LANDED.to_owned(), json(&all));
    }
    Ok(detail)
}

fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("texts and ids have a form in JSON")
}

impl Plans {
    /// Writes down what an apply is about to do.
    pub(crate) fn write_down(
        &self,
        plan: &Plan,
        targets: &Targets,
        made: &Made,
        who: &Actor,
    ) -> Result<ChangesetId> {
        let store = self.store();
        let new = NewChangeset {
            id: ChangesetId::new(),
            plan: plan.id,
            node: None,
            actor: who.clone(),
            holding: Holding { owner: self.owner().clone(), duration: LEASE },
            plan_states: vec![State::Ready.stored(), State::Conflict.stored()],
        };
        let lease = retry(|| store.start_changeset(&new))?;
        let record = |entries: Vec<NewEntry>, blobs: Vec<PackedBlob>| -> Result<()> {
            let recording = Recording { request: RequestId::new(), entries, blobs };
            retry(|| store.record(new.id, lease.epoch, &recording))?;
            Ok(())
        };
        let written = || -> Result<()> {
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
            record(entries, blobs)
        };
        let result = written();
        // Closed either way, so that it is out of the way of the step to *applying*.
        retry(|| store.abandon(new.id, lease.epoch, "what an apply changes, written down before it begins"))?;
        result.map(|()| new.id)
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

    /// What has landed of a plan.
    pub(crate) fn landed_paths(&self, plan: &Plan) -> Result<LandedPaths> {
        let mut all = LandedPaths::default();
        for landed in landed(plan)? {
            let (targets, made) = self.targets_of(plan, landed.changeset)?;
            all.made.extend(made);
            for (key, target) in targets {
                if landed.except.contains(&Place::from(&key)) {
                    continue;
                }
                if landed.actors.is_empty() {
                    all.whole.insert(key.clone());
                }
                match all.targets.get_mut(&key) {
                    Some(before) => before.after = target.after,
                    None => {
                        all.targets.insert(key, target);
                    }
                }
            }
        }
        Ok(all)
    }
}

/// What has landed of a plan.
#[derive(Debug, Default)]
pub(crate) struct LandedPaths {
    /// For each path what was there before the plan, and what it was left with.
    pub targets: Targets,
    /// The paths that hold everybody's changes.
    whole: BTreeSet<PathKey>,
    /// Contents that merging made, which are not in the store.
    pub made: Made,
}

impl LandedPaths {
    /// Whether nothing is left to do for a path that is to become this.
    pub(crate) fn has(&self, key: &PathKey, after: Option<&Content>) -> bool {
        let there = self.targets.get(key);
        there.is_some_and(|target| self.whole.contains(key) || target.after.as_ref() == after)
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
        tool: Some(Tool::parse(RECORD).expect("a line")),
    }
}
