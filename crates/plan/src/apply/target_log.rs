//! Target logs: the targets of an apply, written as entries before it begins.
//!
//! The changeset that has them is *abandoned*: its entries are kept with their contents, and count for nothing when the plan's changesets are
//! combined.

use std::time::Duration;

use store::{
    Actor, ChangesetId, LeaseRequest, NewChangeset, NewEntry, Operation, PackedBlob, Recording, RequestId,
    Status, Tool,
};

use crate::apply::drift::{Target, Targets};
use crate::blob_source::UnstoredBlobs;
use crate::record::WRITTEN_DOWN;
use crate::{ContentInput, PathKey, Plan, Plans, Result, Selection, State, Strategy, retry};

/// Why a changeset that says what an apply does is abandoned: it is whole.
const REASON: &str = "what an apply changes, written down before it begins";
/// Entries that are recorded in one call.
const ENTRIES_MAX: usize = 1000;
/// Bytes of contents that are recorded in one call.
const BYTES_MAX: usize = 8 << 20;

impl Plans {
    /// The targets of an apply that began, from its target log.
    pub(crate) fn targets_of(
        &self,
        plan: &Plan,
        changeset: Option<ChangesetId>,
    ) -> Result<(Targets, UnstoredBlobs)> {
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
            return Ok((targets.collect(), combined.unstored));
        };
        let target = |entry: store::ChangeEntry| {
            let key = PathKey { root: entry.root, path: entry.path };
            (key, Target { expected: entry.before, after: entry.after, credits: Vec::new() })
        };
        Ok((self.entries(changeset)?.into_iter().map(target).collect(), UnstoredBlobs::default()))
    }

    /// Logs the targets of an apply, while the plan is *applying*: no other changeset of it is open then.
    pub(crate) fn log_targets(
        &self,
        plan: &Plan,
        id: ChangesetId,
        targets: &Targets,
        unstored: &UnstoredBlobs,
        who: &Actor,
    ) -> Result<()> {
        let store = self.store();
        let new = NewChangeset {
            id,
            plan: plan.id,
            node: None,
            actor: who.clone(),
            // Nobody but who applies knows of it; whoever finishes for them may take it at once.
            lease: LeaseRequest { owner: self.owner().clone(), duration: Duration::ZERO },
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
                if let Some(content) = unstored.get(content) {
                    let piece = ContentInput::from_reader(store.as_ref(), 0, &mut &content[..])?;
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

    /// Whether a target log has all targets of its apply.
    pub(crate) fn target_log_complete(&self, changeset: ChangesetId) -> Result<bool> {
        match self.changeset(changeset) {
            Err(crate::Error::Store(store::Error::NotFound { .. })) => Ok(false),
            found => Ok(found?.reason.as_deref() == Some(REASON)),
        }
    }

    /// Whether a changeset is a target log, and nobody's work.
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
