//! Target logs: the targets of an apply, recorded as entries before a file changes.
//!
//! The changeset of a target log is *abandoned*: its entries and contents are kept, and are not
//! combined with the plan's changesets.

use std::time::Duration;

use store::{
    Actor, ChangesetId, LeaseRequest, NewChangeset, NewEntry, Operation, PackedBlob, Recording, RequestId,
    Status, Tool,
};

use crate::apply::drift::{Target, Targets};
use crate::apply::intent::unchanged;
use crate::blob_source::UnstoredBlobs;
use crate::record::TARGET_LOG;
use crate::{ContentInput, PathKey, Plan, Plans, Result, Selection, Strategy, retry};

/// The reason of a complete target log. Stored: it does not change.
const REASON: &str = "targets of an apply, logged before it begins";
/// The same in logs of earlier versions.
const EARLIER_REASON: &str = "what an apply changes, written down before it begins";
/// Entries in one record.
const ENTRIES_MAX: usize = 1000;
/// Bytes of contents in one record.
const BYTES_MAX: usize = 8 << 20;

impl Plans {
    /// Reads the targets of an apply from its log. Without a log, they are all changes of the plan.
    pub(crate) fn logged_targets(
        &self,
        plan: &Plan,
        changeset: Option<ChangesetId>,
    ) -> Result<(Targets, UnstoredBlobs)> {
        let Some(changeset) = changeset else {
            let combined = self.combine(plan.id, &Selection::default(), Strategy::ThreeWay)?;
            let targets = combined.changes().map(|(key, change)| (key.clone(), change.target()));
            return Ok((targets.collect(), combined.unstored));
        };
        let target = |entry: store::ChangeEntry| {
            let key = PathKey::of(&entry);
            (key, Target { before: entry.before, after: entry.after, ..Target::default() })
        };
        let entries = self.closed_entries(&self.changeset(changeset)?)?;
        Ok((entries.into_iter().map(target).collect(), UnstoredBlobs::default()))
    }

    /// Reads the paths that an undo leaves as they are.
    pub(crate) fn unchanged_targets(&self, plan: &Plan) -> Result<Targets> {
        let (log, mut targets) = unchanged(plan)?;
        if log.is_some() {
            targets.extend(self.logged_targets(plan, log)?.0);
        }
        Ok(targets)
    }

    /// Logs targets of a plan, in its present state. When an apply logs them, the plan is
    /// *applying*, so no other changeset of it is open.
    pub(crate) fn log_targets(
        &self,
        plan: &Plan,
        id: ChangesetId,
        targets: &Targets,
        unstored: &UnstoredBlobs,
        actor: &Actor,
    ) -> Result<()> {
        let store = self.store();
        let new = NewChangeset {
            id,
            plan: plan.id,
            node: None,
            actor: actor.clone(),
            // A recovery may take it over at once.
            lease: LeaseRequest { owner: self.owner().clone(), duration: Duration::ZERO },
            plan_states: vec![plan.state.stored()],
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
            for content in [&target.before, &target.after].into_iter().flatten() {
                if let Some(content) = unstored.get(content) {
                    let input = ContentInput::from_reader(store.as_ref(), 0, &mut &content[..])?;
                    bytes += content.len();
                    blobs.extend(input.packed);
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

    /// Returns whether a target log has all targets of its apply.
    pub(crate) fn target_log_complete(&self, changeset: ChangesetId) -> Result<bool> {
        match self.changeset(changeset) {
            Err(crate::Error::Store(store::Error::NotFound { .. })) => Ok(false),
            found => {
                Ok(found?.reason.is_some_and(|reason| [REASON, EARLIER_REASON].contains(&reason.as_str())))
            }
        }
    }

    /// Returns whether a changeset is a target log.
    pub(crate) fn is_target_log(&self, changeset: &store::Changeset) -> Result<bool> {
        if changeset.status != Status::Abandoned {
            return Ok(false);
        }
        let first = self.store().entries(changeset.id, 0, 1)?;
        let tool = first.first().and_then(|entry| entry.tool.as_ref());
        Ok(tool.is_some_and(|tool| tool.as_str() == TARGET_LOG))
    }
}

fn entry(key: &PathKey, target: &Target) -> NewEntry {
    let operation = match (&target.before, &target.after) {
        (None, _) => Operation::Create,
        (_, None) => Operation::Delete,
        (Some(_), Some(_)) => Operation::Modify,
    };
    NewEntry {
        root: key.root.clone(),
        path: key.path.clone(),
        operation,
        before: target.before.clone(),
        after: target.after.clone(),
        tool: Some(Tool::parse(TARGET_LOG).expect("a line")),
    }
}
