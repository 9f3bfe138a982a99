//! What an earlier, dead life of a run left is put in order: processes are ended, changesets closed, nodes put back.

use std::time::Duration;

use plan::{LeaseOptions, Status};

use super::Event;
use super::context::Engine;
use super::record::NodeRecord;
use super::state::{NodeState, Outcome};
use crate::{Identity, NodeIndex, Result};

/// How long orphans have to end by themselves.
const GRACE: Duration = Duration::from_secs(2);

impl Engine<'_> {
    /// Puts everything in order. The plan's lease is held, so nobody else is at it.
    pub(crate) fn put_in_order(&self) -> Result<()> {
        for node in 0..self.nodes.len() {
            self.end_orphans(node)?;
        }
        self.close_changesets()?;
        for node in 0..self.nodes.len() {
            self.put_back(node)?;
        }
        Ok(())
    }

    fn end_orphans(&self, node: NodeIndex) -> Result<()> {
        let (record, state) = {
            let tracked = self.node(node);
            (tracked.record.clone(), tracked.state)
        };
        if state == NodeState::Running && end_orphans(record)? {
            self.recovered(node, "its processes, which a dead run had left, were ended");
        }
        Ok(())
    }

    /// Of a node that has ended the changeset is whole; of one that has not, nothing counts.
    fn close_changesets(&self) -> Result<()> {
        for changeset in self.plans.changesets(self.plan)? {
            if changeset.status != Status::Open || changeset.node.is_none() {
                continue;
            }
            // Its lease went with that of the plan.
            let handle = self.plans.reopen(changeset.id, &LeaseOptions::default())?;
            let is_whole = (0..self.nodes.len()).any(|node| {
                let tracked = self.node(node);
                tracked.state.outcome().is_some() && tracked.record.changeset == Some(changeset.id)
            });
            match is_whole {
                true => handle.seal()?,
                false => handle.abandon("the run was cut off")?,
            };
        }
        Ok(())
    }

    /// What was under way, and what did not succeed, is to be run again, in a new sandbox.
    fn put_back(&self, node: NodeIndex) -> Result<()> {
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
            self.recovered(node, "it was cut off, and is run again");
        } else if state != NodeState::Ended(Outcome::Skipped) {
            self.recovered(node, "it had not succeeded, and is run again");
        }
        Ok(())
    }

    fn recovered(&self, node: NodeIndex, what: &str) {
        self.tell(Event::Recovered { node: self.spec(node).name.clone(), what: what.to_owned() });
    }
}

/// Ends the processes that a dead run left of a node that was running. Whether there were any.
pub(crate) fn end_orphans(record: NodeRecord) -> Result<bool> {
    let NodeRecord { process, changeset: Some(changeset), .. } = record else { return Ok(false) };
    let mark = changeset.to_string();
    let identity = match process {
        Some((pid, started_ticks, boot)) => Identity { pid, started_ticks, boot, mark },
        None => Identity::by_mark(&mark),
    };
    let is_running = identity.is_running();
    if is_running {
        identity.end(GRACE)?;
    }
    Ok(is_running)
}
