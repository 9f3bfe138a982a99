//! `Runs`: the service. `start` has the part that starts and resumes runs.

#[cfg(not(target_os = "linux"))]
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use plan::{Actor, PlanId, Plans, State, retry};
use serde_json::Value;
use store::{NodeStep, Owner, RequestId};

use super::record::{NodeRecord, RunRecord};
use super::{Event, NodeOutput, NodeReport, NodeState, Outcome, UnfinishedRun};
use crate::{Error, Result};

/// Receives the events of a run, one at a time.
pub type OnEvent<'a> = &'a (dyn Fn(Event) + Sync);

/// The runs of a store.
///
/// **Threads and processes.** Cheap to clone. Runs of different plans may be concurrent; a plan has at
/// most one.
///
/// **Failures.** A failed run leaves a plan that `resume` continues, or no plan.
#[derive(Clone, Debug)]
pub struct Runs {
    pub(super) plans: Plans,
    pub(super) folder: PathBuf,
    #[cfg(target_os = "linux")]
    pub(super) request_handler: Option<std::sync::Arc<dyn crate::rpc::RequestHandler>>,
}

impl Runs {
    /// Creates the service. Sandboxes and output go below `folder`, one private folder per plan.
    pub fn new(plans: Plans, folder: &Path) -> Self {
        Self {
            plans,
            folder: folder.to_owned(),
            #[cfg(target_os = "linux")]
            request_handler: None,
        }
    }

    /// Handles requests of actors, which find a socket in their environment.
    #[cfg(target_os = "linux")]
    #[must_use]
    pub fn with_request_handler(self, handler: std::sync::Arc<dyn crate::rpc::RequestHandler>) -> Self {
        Self { request_handler: Some(handler), ..self }
    }

    /// The record of a plan's run, if it has one.
    pub fn record(&self, plan: PlanId) -> Result<Option<RunRecord>> {
        RunRecord::of(plan, &self.plans.get(plan)?.detail)
    }

    /// The nodes of a plan, in the order of its file. Empty for a plan without a run.
    pub fn nodes(&self, plan: PlanId) -> Result<Vec<NodeReport>> {
        let nodes = self.plans.store().nodes(plan)?;
        nodes.into_iter().map(report).collect()
    }

    /// The output of a node's last attempt.
    pub fn output(&self, plan: PlanId, node: &str) -> Result<NodeOutput> {
        let nodes = self.nodes(plan)?;
        let Some(found) = nodes.iter().find(|other| other.name == node) else {
            let nodes = nodes.into_iter().map(|node| node.name).collect();
            return Err(Error::NoNode { plan, node: node.to_owned(), nodes });
        };
        let folder = self.folder.join(plan.to_string()).join("nodes").join(node);
        let file = folder.join(found.attempts.to_string()).join("output");
        let is_running = found.state.outcome().is_none() && self.lease_owner(plan)?.is_some();
        Ok(NodeOutput { node: node.to_owned(), file: Some(file).filter(|file| file.is_file()), is_running })
    }

    /// Runs that are running, with their owner, and runs that were interrupted and can be resumed.
    pub fn unfinished(&self) -> Result<Vec<UnfinishedRun>> {
        let mut unfinished = Vec::new();
        for plan in self.plans.list(&[State::Queued, State::Running], None)? {
            if RunRecord::of(plan.id, &plan.detail)?.is_some() {
                let owner = self.lease_owner(plan.id)?.map(|owner| owner.to_string());
                let name = plan.name.as_ref().map(ToString::to_string);
                unfinished.push(UnfinishedRun { plan: plan.id, name, owner });
            }
        }
        Ok(unfinished)
    }

    /// Fails with the owner's name if a process runs the plan.
    pub fn check_idle(&self, plan: PlanId) -> Result<()> {
        match self.lease_owner(plan)? {
            Some(owner) => Err(Error::LeaseHeld { plan, owner: owner.to_string() }),
            None => Ok(()),
        }
    }

    /// Ends the nodes of a cancelled plan whose run was interrupted, and the processes that its actors
    /// left on this machine. Does nothing while a run is active: it ends its nodes itself.
    pub fn cancel_nodes(&self, plan: PlanId, cancelled_by: &Actor) -> Result<()> {
        if self.lease_owner(plan)?.is_some() {
            return Ok(());
        }
        let store = self.plans.store();
        for node in store.nodes(plan)? {
            let state = NodeState::from_stored(&node.state);
            if state.is_none_or(|state| state.outcome().is_some()) {
                continue;
            }
            let record = NodeRecord::of(&node)?;
            #[cfg(target_os = "linux")]
            if state == Some(NodeState::Running) {
                super::resume::end_orphans(record.clone())?;
            }
            let record = NodeRecord { reason: Some("the plan was cancelled".to_owned()), ..record };
            let step = NodeStep {
                node: node.id,
                request: RequestId::new(),
                from: node.state,
                version: node.version,
                to: NodeState::Ended(Outcome::Cancelled).stored(),
                epoch: None,
                detail: Some(record.to_json()),
                actor: cancelled_by.clone(),
                note: Value::Null,
            };
            match retry(|| store.step_node(&step)) {
                // Another process was faster.
                Err(store::Error::Conflict { .. }) => {}
                stepped => drop(stepped?),
            }
        }
        Ok(())
    }

    fn lease_owner(&self, plan: PlanId) -> Result<Option<Owner>> {
        Ok(self.plans.live_lease(plan)?.map(|lease| lease.owner))
    }

    /// Removes the sandboxes and the base of a plan; keeps its output.
    #[cfg(target_os = "linux")]
    pub fn remove_sandboxes(&self, plan: PlanId) -> Result<()> {
        super::layout::Layout::new(self.folder.join(plan.to_string())).remove_sandboxes()
    }

    /// Removes all files of a plan's run, if there are any.
    #[cfg(target_os = "linux")]
    pub fn remove_files(&self, plan: PlanId) -> Result<()> {
        super::layout::Layout::new(self.folder.join(plan.to_string())).remove()
    }
}

/// Actors run on Linux only.
#[cfg(not(target_os = "linux"))]
impl Runs {
    /// Fails.
    pub fn start(
        &self,
        _options: &super::Options,
        _cancel: &super::Cancel,
        _on_event: OnEvent<'_>,
    ) -> Result<super::Summary> {
        Err(Error::UnsupportedPlatform)
    }

    /// Fails.
    pub fn resume(
        &self,
        _plan: PlanId,
        _started_by: &Actor,
        _env_denylist: &[OsString],
        _cancel: &super::Cancel,
        _on_event: OnEvent<'_>,
    ) -> Result<super::Summary> {
        Err(Error::UnsupportedPlatform)
    }

    /// Does nothing: there are no sandboxes.
    pub fn remove_sandboxes(&self, _plan: PlanId) -> Result<()> {
        Ok(())
    }

    /// Does nothing: there are no files.
    pub fn remove_files(&self, _plan: PlanId) -> Result<()> {
        Ok(())
    }
}

fn report(node: store::Node) -> Result<NodeReport> {
    let record = NodeRecord::of(&node)?;
    let state = NodeState::from_stored(&node.state).ok_or(Error::NoRun { plan: node.plan })?;
    Ok(record.report(node.name.as_str(), state))
}
