//! State shared by the threads of a run, and the steps they take in the store.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plan::{
    Actor, ChangesetId, PathBytes, Plan, PlanExecutionContext, PlanId, Plans, State, Step, path_bytes, retry,
};
use serde_json::Value;
use store::{Node, NodeStep, RequestId, Store};

use super::check::CheckedPlanFile;
use super::layout::Layout;
use super::lease::PlanLease;
use super::options::Cancel;
use super::overlap::OverlapMonitor;
use super::record::{NodeRecord, RunRecord, RunSettings};
use super::state::{NodeState, Outcome};
use super::{Event, NodeInGraph, NodeReport, Summary};
use crate::rpc::Server;
use crate::sandbox::{ReadEnd, ReadLimits};
use crate::{Error, FileError, Manifest, NodeIndex, NodeSpec, Result};

/// State shared by the threads of a run.
pub(crate) struct RunContext<'a> {
    pub plans: Plans,
    pub plan: PlanId,
    pub changesets: PlanExecutionContext,
    /// Its epoch fences every step of the run.
    pub lease: &'a PlanLease,
    pub started_by: Actor,
    pub record: RunRecord,
    pub checked: CheckedPlanFile,
    pub layout: Layout,
    /// The roots as the plan lists them.
    pub roots: Vec<PathBytes>,
    pub nodes: Vec<Mutex<TrackedNode>>,
    /// Environment variables that actors do not inherit.
    pub env_denylist: &'a [OsString],
    pub cancel: &'a Cancel,
    pub events: SyncSender<Event>,
    pub overlaps: OverlapMonitor,
    /// Serves requests of actors, if the caller handles any.
    pub server: Option<&'a Server>,
    /// The manifest of each root's base, taken on first use.
    pub base_manifests: Vec<Mutex<Option<Arc<Manifest>>>>,
    /// Remarks about the base for the summary.
    pub notes: Mutex<Vec<String>>,
    /// The trees of actors that have ended, until the store has their result.
    pub unrecorded: Mutex<BTreeMap<String, PathBuf>>,
}

/// A node as the store has it.
pub(crate) struct TrackedNode {
    pub node: Node,
    pub state: NodeState,
    pub record: NodeRecord,
}

impl TrackedNode {
    pub(crate) fn new(node: Node) -> Result<Self> {
        let record = NodeRecord::of(&node)?;
        let state = NodeState::from_stored(&node.state).ok_or(Error::NoRun { plan: node.plan })?;
        Ok(Self { node, state, record })
    }

    /// Returns true if nodes that need this one may start.
    pub(crate) fn is_done(&self, spec: &NodeSpec) -> bool {
        match self.state.outcome() {
            Some(Outcome::Succeeded) => true,
            Some(Outcome::Failed | Outcome::TimedOut | Outcome::RefusedPaths) => spec.continue_on_error,
            _ => false,
        }
    }

    pub(crate) fn report(&self) -> NodeReport {
        self.record.clone().report(self.node.name.as_str(), self.state)
    }
}

impl RunContext<'_> {
    /// Runs the plan to its end: recovers, makes the base, runs the nodes, steps the plan.
    pub(super) fn run(&self, plan: &Plan, excluded: &[PathBuf]) -> Result<Summary> {
        self.emit(self.started(plan));
        self.recover()?;
        if plan.state != State::Running {
            let step = Step::to(State::Running, &self.started_by).epoch(self.lease.epoch());
            self.plans.step(plan, &step)?;
        }
        let roots: Vec<PathBuf> = plan.roots.iter().map(plan::system_path).collect();
        let RunRecord { ignored, file_bytes_max, .. } = self.record;
        let made = self.layout.make_base(&roots, ignored, excluded, file_bytes_max, self.cancel.stop_flag());
        match made {
            Ok(notes) => self.notes.lock().unwrap_or_else(PoisonError::into_inner).extend(notes),
            Err(Error::Sandbox { source, .. }) if matches!(*source, FileError::Cancelled { .. }) => {}
            Err(error) => return self.fail(error),
        }
        let scheduled = std::thread::scope(|scope| {
            scope.spawn(|| self.overlaps.watch(|event| self.emit(event)));
            let scheduled = self.schedule();
            self.overlaps.stop();
            scheduled
        });
        scheduled?;
        self.conclude()
    }

    fn started(&self, plan: &Plan) -> Event {
        let RunSettings { concurrency, confinement, allow_write, .. } = self.record.settings.clone();
        Event::RunStarted {
            plan: plan.id.to_string(),
            name: plan.name.as_ref().map(ToString::to_string),
            nodes: NodeInGraph::all(&self.checked.graph),
            concurrency,
            confinement,
            roots: plan.roots.iter().map(|root| root.show().into_owned()).collect(),
            allow_write: allow_write.iter().map(|folder| folder.display().to_string()).collect(),
        }
    }

    pub(crate) fn store(&self) -> &dyn Store {
        self.plans.store().as_ref()
    }

    pub(crate) fn spec(&self, node: NodeIndex) -> &NodeSpec {
        &self.checked.plan.nodes[node]
    }

    pub(crate) fn node(&self, node: NodeIndex) -> MutexGuard<'_, TrackedNode> {
        self.nodes[node].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The index of a node's root among the roots of the plan.
    pub(crate) fn root_of(&self, node: NodeIndex) -> usize {
        let name = self.checked.root_of(self.spec(node));
        let path = self.record.roots.get(name).and_then(|root| path_bytes(root).ok());
        self.roots.iter().position(|root| Some(root) == path.as_ref()).unwrap_or_default()
    }

    /// The manifest of a root's base. The first caller takes it.
    pub(crate) fn base_manifest(&self, root: usize) -> Result<Arc<Manifest>> {
        let mut slot = self.base_manifests[root].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(manifest) = &*slot {
            return Ok(Arc::clone(manifest));
        }
        let ended = || self.cancel.is_stopping().then_some(ReadEnd::Cancelled);
        let limits = ReadLimits { ended: &ended, ..ReadLimits::NONE };
        let manifest = Arc::new(Manifest::scan_within(&self.layout.base_tree(root), limits)?);
        *slot = Some(Arc::clone(&manifest));
        Ok(manifest)
    }

    /// Fails once another run holds the lease: later writes would interfere with it.
    pub(crate) fn check_lease(&self) -> Result<()> {
        if self.lease.is_lost() { Err(self.lease_lost()) } else { Ok(()) }
    }

    pub(crate) fn lease_lost(&self) -> Error {
        let kept = self.unrecorded.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Error::LeaseLost { plan: self.plan, kept: kept.into_iter().collect() }
    }

    /// Steps a node to another state, in the store first.
    pub(crate) fn step(
        &self,
        node: NodeIndex,
        to: NodeState,
        change: impl FnOnce(&mut NodeRecord),
    ) -> Result<()> {
        self.check_lease()?;
        let mut tracked = self.node(node);
        assert!(tracked.state.next().contains(&to), "{} may follow {}", to, tracked.state);
        let mut record = tracked.record.clone();
        change(&mut record);
        let step = NodeStep {
            node: tracked.node.id,
            request: RequestId::new(),
            // The word in the store, which may be one of version 0.1.
            from: tracked.node.state.clone(),
            version: tracked.node.version,
            to: to.stored(),
            epoch: Some(self.lease.epoch()),
            detail: Some(record.to_json()),
            actor: self.started_by.clone(),
            note: Value::Null,
        };
        tracked.node.version = retry(|| self.store().step_node(&step))?;
        tracked.node.state = step.to;
        tracked.state = to;
        tracked.record = record;
        Ok(())
    }

    /// Ends a node that does not run.
    pub(crate) fn end_unstarted(&self, node: NodeIndex, outcome: Outcome, reason: &str) -> Result<()> {
        self.step(node, NodeState::Ended(outcome), |record| {
            record.reason = Some(reason.to_owned());
        })?;
        self.emit_node_ended(node);
        Ok(())
    }

    pub(crate) fn emit(&self, event: Event) {
        // Sending fails only after a panic in the caller's callback.
        drop(self.events.send(event));
    }

    pub(crate) fn emit_node_ended(&self, node: NodeIndex) {
        let report = self.node(node).report();
        let Some(outcome) = report.state.outcome() else { return };
        self.emit(Event::NodeEnded {
            node: report.name,
            outcome,
            code: report.code,
            signal: report.signal,
            seconds: report.seconds.unwrap_or_default(),
            files_changed: report.files_changed,
            reason: report.reason,
            last_lines: report.last_lines,
        });
    }

    /// The changesets that a node builds on: those of all nodes before it, and resolutions of conflicts.
    pub(crate) fn builds_on(&self, node: NodeIndex) -> Result<Vec<ChangesetId>> {
        let graph = &self.checked.graph;
        let (mut before, mut open) = (BTreeSet::new(), graph.needs(node).to_vec());
        while let Some(need) = open.pop() {
            if before.insert(need) {
                open.extend(graph.needs(need));
            }
        }
        if before.is_empty() {
            return Ok(Vec::new());
        }
        let accepted: BTreeSet<ChangesetId> =
            before.into_iter().filter_map(|need| self.node(need).record.links.accepted_changeset).collect();
        let is_built_on = |changeset: &store::Changeset| {
            changeset.entries > 0
                && changeset.status == plan::Status::Sealed
                && (changeset.node.is_none() || accepted.contains(&changeset.id))
        };
        let changesets = self.plans.changesets(self.plan)?.into_iter();
        Ok(changesets.filter(is_built_on).map(|changeset| changeset.id).collect())
    }
}
