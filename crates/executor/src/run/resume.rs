//! Recovery of a run that died: ends its processes, closes its changesets, queues its nodes again.

use std::time::Duration;

use plan::{LeaseOptions, Status};

use super::context::RunContext;
use super::record::NodeRecord;
use super::state::{NodeState, Outcome};
use super::{Event, RecoveryAction};
use crate::{ActorIdentity, NodeIndex, Result};

/// Time between SIGTERM and SIGKILL for orphaned processes.
const GRACE: Duration = Duration::from_secs(2);

impl RunContext<'_> {
    /// Recovers what an earlier process of this run left. The lease keeps all others away.
    pub(crate) fn recover(&self) -> Result<()> {
        for node in 0..self.nodes.len() {
            self.end_orphans_of(node)?;
        }
        self.close_changesets()?;
        for node in 0..self.nodes.len() {
            self.queue_again(node)?;
        }
        Ok(())
    }

    fn end_orphans_of(&self, node: NodeIndex) -> Result<()> {
        let (record, state) = {
            let tracked = self.node(node);
            (tracked.record.clone(), tracked.state)
        };
        if state == NodeState::Running && end_orphans(record)? {
            self.emit_recovered(node, RecoveryAction::ProcessesEnded);
        }
        Ok(())
    }

    /// Seals the changesets of ended nodes, which are complete, and abandons the others.
    fn close_changesets(&self) -> Result<()> {
        for changeset in self.plans.changesets(self.plan)? {
            if changeset.status != Status::Open || changeset.node.is_none() {
                continue;
            }
            // The lease on the plan includes those on its changesets.
            let handle = self.plans.reopen(changeset.id, &LeaseOptions::default())?;
            let is_complete = (0..self.nodes.len()).any(|node| {
                let tracked = self.node(node);
                tracked.state.outcome().is_some() && tracked.record.changeset == Some(changeset.id)
            });
            match is_complete {
                true => handle.seal()?,
                false => handle.abandon("the run was interrupted")?,
            };
        }
        Ok(())
    }

    /// Queues a node that was running or did not succeed. It gets a new sandbox.
    fn queue_again(&self, node: NodeIndex) -> Result<()> {
        let (state, attempts, is_done) = {
            let tracked = self.node(node);
            (tracked.state, tracked.record.attempts, tracked.is_done(self.spec(node)))
        };
        if state == NodeState::Queued || is_done {
            return Ok(());
        }
        self.step(node, NodeState::Queued, |_| {})?;
        if state == NodeState::Running {
            self.layout.remove_sandbox(&self.spec(node).name, attempts)?;
            self.emit_recovered(node, RecoveryAction::Restarted);
        } else if state != NodeState::Ended(Outcome::Skipped) {
            self.emit_recovered(node, RecoveryAction::Retried);
        }
        Ok(())
    }

    fn emit_recovered(&self, node: NodeIndex, action: RecoveryAction) {
        self.emit(Event::NodeRecovered { node: self.spec(node).name.clone(), action });
    }
}

/// Ends the processes that a dead run left of a running node. Returns true if there were any.
pub(crate) fn end_orphans(record: NodeRecord) -> Result<bool> {
    let NodeRecord { process, changeset: Some(changeset), .. } = record else { return Ok(false) };
    let tag = changeset.to_string();
    let identity = match process {
        Some((pid, started_ticks, boot_id)) => ActorIdentity { pid, started_ticks, boot_id, tag },
        None => ActorIdentity::by_tag(&tag),
    };
    let is_running = identity.is_running();
    if is_running {
        identity.end(GRACE)?;
    }
    Ok(is_running)
}
