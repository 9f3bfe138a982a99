//! One life of a run: what its threads share, and the steps that they take in the store.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plan::{Actor, ChangesetId, PathBytes, PlanExecutionContext, PlanId, Plans, path_bytes, retry};
use serde_json::Value;
use store::{Epoch, Node, NodeStep, RequestId, Store};

use super::check::Checked;
use super::layout::Layout;
use super::options::Cancel;
use super::overlap::Watched;
use super::record::{NodeRecord, RunRecord};
use super::state::{NodeState, Outcome};
use super::{Event, NodeReport};
use crate::rpc::Socket;
use crate::{Error, Manifest, NodeIndex, NodeSpec, Result};

/// What the threads of a run share.
pub(crate) struct Engine<'a> {
    pub plans: Plans,
    pub plan: PlanId,
    pub context: PlanExecutionContext,
    /// Of the lease on the plan: it fences every step.
    pub epoch: Epoch,
    pub who: Actor,
    pub run: RunRecord,
    pub checked: Checked,
    pub layout: Layout,
    /// The roots as the plan has them.
    pub roots: Vec<PathBytes>,
    pub nodes: Vec<Mutex<Tracked>>,
    pub hidden: &'a [OsString],
    pub cancel: &'a Cancel,
    /// Whether somebody else has the plan now.
    pub lost: &'a AtomicBool,
    pub events: SyncSender<Event>,
    pub watched: Watched,
    /// By which actors speak to this run, if somebody answers them.
    pub socket: Option<&'a Socket>,
    /// What the base of each root holds, looked through once.
    pub bases: Vec<Mutex<Option<Arc<Manifest>>>>,
    /// What is not as one might expect about the base.
    pub notes: Mutex<Vec<String>>,
}

/// A node as the store has it.
pub(crate) struct Tracked {
    pub node: Node,
    pub state: NodeState,
    pub record: NodeRecord,
}

impl Tracked {
    /// Whether nodes that need it may run.
    pub(crate) fn is_done(&self, spec: &NodeSpec) -> bool {
        match self.state.outcome() {
            Some(Outcome::Succeeded) => true,
            Some(Outcome::Failed | Outcome::TimedOut | Outcome::RefusedWrites) => spec.continue_on_error,
            _ => false,
        }
    }

    pub(crate) fn report(&self) -> NodeReport {
        self.record.clone().report(self.node.name.as_str(), self.state)
    }
}

impl Engine<'_> {
    pub(crate) fn store(&self) -> &dyn Store {
        self.plans.store().as_ref()
    }

    pub(crate) fn spec(&self, node: NodeIndex) -> &NodeSpec {
        &self.checked.plan.nodes[node]
    }

    pub(crate) fn node(&self, node: NodeIndex) -> MutexGuard<'_, Tracked> {
        self.nodes[node].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of a node's root among the plan's.
    pub(crate) fn root_of(&self, node: NodeIndex) -> usize {
        let name = self.checked.root_of(self.spec(node));
        let path = self.run.roots.get(name).and_then(|root| path_bytes(root).ok());
        self.roots.iter().position(|known| Some(known) == path.as_ref()).unwrap_or_default()
    }

    /// What the base of a root holds. Whoever asks first looks.
    pub(crate) fn base(&self, root: usize) -> Result<Arc<Manifest>> {
        let mut base = self.bases[root].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*base {
            return Ok(Arc::clone(known));
        }
        let taken = Arc::new(Manifest::take(&self.layout.base_tree(root))?);
        *base = Some(Arc::clone(&taken));
        Ok(taken)
    }

    /// Fails once somebody else has the plan: what is written then would be in the way of who goes on with it.
    pub(crate) fn check_held(&self) -> Result<()> {
        if self.lost.load(Ordering::SeqCst) { Err(Error::Lost { plan: self.plan }) } else { Ok(()) }
    }

    /// Takes a node to another state, in the store first.
    pub(crate) fn step(
        &self,
        node: NodeIndex,
        to: NodeState,
        change: impl FnOnce(&mut NodeRecord),
    ) -> Result<()> {
        self.check_held()?;
        let mut tracked = self.node(node);
        assert!(tracked.state.next().contains(&to), "{} may follow {}", to, tracked.state);
        let mut record = tracked.record.clone();
        change(&mut record);
        let step = NodeStep {
            node: tracked.node.id,
            request: RequestId::new(),
            from: tracked.state.stored(),
            version: tracked.node.version,
            to: to.stored(),
            epoch: Some(self.epoch),
            detail: Some(record.to_json()),
            actor: self.who.clone(),
            note: Value::Null,
        };
        tracked.node.version = retry(|| self.store().step_node(&step))?;
        tracked.state = to;
        tracked.record = record;
        Ok(())
    }

    pub(crate) fn tell(&self, event: Event) {
        // Nobody listens any more when the caller's thread has panicked.
        drop(self.events.send(event));
    }

    /// The changesets whose changes a node starts from: of all nodes before it, and resolutions of conflicts.
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
        let counted: BTreeSet<ChangesetId> =
            before.into_iter().filter_map(|need| self.node(need).record.links.counts).collect();
        let changesets = self.plans.changesets(self.plan)?.into_iter();
        let counts = |changeset: &store::Changeset| {
            changeset.entries > 0
                && changeset.status == plan::Status::Sealed
                && (changeset.node.is_none() || counted.contains(&changeset.id))
        };
        Ok(changesets.filter(counts).map(|changeset| changeset.id).collect())
    }

    /// What becomes of the nodes that a failure leaves behind.
    pub(crate) fn give_up(&self, node: NodeIndex, outcome: Outcome, reason: &str) -> Result<()> {
        self.step(node, NodeState::Ended(outcome), |record| {
            record.reason = Some(reason.to_owned());
        })?;
        self.tell_end(node);
        Ok(())
    }

    pub(crate) fn tell_end(&self, node: NodeIndex) {
        let report = self.node(node).report();
        let Some(outcome) = report.state.outcome() else { return };
        self.tell(Event::NodeEnded {
            node: report.name,
            outcome,
            code: report.code,
            signal: report.signal,
            seconds: report.seconds.unwrap_or_default(),
            files: report.files,
            reason: report.reason,
            last_lines: report.last_lines,
        });
    }

    /// Folders that are never copied: where our own files are.
    pub(crate) fn own_folders(runs: &std::path::Path) -> Vec<PathBuf> {
        let real = |folder: &std::path::Path| folder.canonicalize().ok();
        [Some(runs), runs.parent()].into_iter().flatten().filter_map(real).collect()
    }
}
