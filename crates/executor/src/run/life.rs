//! A run from the lease on its plan to the plan's next state.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};

use filetx::error_chain;
use plan::{
    Actor, Combined, OverlaySource, Plan, PlanId, Plans, Selection, State, Step, StoredBlobs, process_owner,
    retry,
};
use serde_json::json;
use store::{AuditKind, NewNode, NodeId, OpenChangesets};

use super::check::Checked;
use super::context::{Engine, Tracked};
use super::layout::Layout;
use super::lease::{Held, Renewing};
use super::options::Cancel;
use super::overlap::Watched;
use super::record::{NodeRecord, RunRecord, RunTerms};
use super::schedule::is_taken;
use super::state::{NodeState, Outcome};
use super::{Event, NodeInGraph, OnEvent, Runs, Summary};
use crate::rpc::{Answers, Socket};
use crate::{Error, FileError, NodeSpec, Result};

/// Events that wait to be told.
const EVENTS_MAX: usize = 1024;

/// Who runs a plan, and who is told meanwhile.
pub(super) struct Caller<'a> {
    pub who: &'a Actor,
    pub hidden: &'a [OsString],
    pub cancel: &'a Cancel,
    pub on_event: OnEvent<'a>,
}

impl Runs {
    /// Runs a plan to its end, if nobody else has it.
    pub(super) fn execute(
        &self,
        plan: PlanId,
        run: RunRecord,
        checked: Checked,
        caller: &Caller<'_>,
    ) -> Result<Summary> {
        let plans = self.plans.clone().with_owner(process_owner());
        let held = Held::take(&plans, plan)?;
        // As it is now: whoever had the lease before may have gone on.
        let plan = plans.get(plan)?;
        let nodes = nodes(&plans, &plan, &checked.plan.nodes, caller.who)?;
        let is_open = nodes
            .iter()
            .zip(&checked.plan.nodes)
            .any(|(node, spec)| !node.lock().unwrap_or_else(PoisonError::into_inner).is_done(spec));
        match plan.state {
            State::Queued | State::Running => {}
            State::Failed | State::Conflict | State::Ready if is_open => {}
            state => return Err(Error::NothingToResume { plan: plan.id, state }),
        }
        let layout = Layout::new(self.folder.join(plan.id.to_string()));
        let listen = |answers: &Arc<dyn Answers>| Socket::listen(layout.folder(), Arc::clone(answers));
        let socket = self.answers.as_ref().map(listen).transpose()?;
        let lost = AtomicBool::new(false);
        let (events, told) = sync_channel::<Event>(EVENTS_MAX);
        std::thread::scope(|scope| {
            let on_event = caller.on_event;
            scope.spawn(move || told.into_iter().for_each(on_event));
            let renewing = Renewing::start(scope, &held, caller.cancel, &lost);
            let _serving = socket.as_ref().map(|socket| socket.serve(scope)).transpose()?;
            let engine = Engine {
                plan: plan.id,
                context: plans.context(plan.id)?.fenced(held.lease.epoch),
                epoch: held.lease.epoch,
                layout,
                roots: plan.roots.clone(),
                plans,
                who: caller.who.clone(),
                run,
                checked,
                nodes,
                hidden: caller.hidden,
                cancel: caller.cancel,
                lost: &lost,
                events,
                watched: Watched::default(),
                socket: socket.as_ref(),
                bases: plan.roots.iter().map(|_| Mutex::default()).collect(),
                notes: Mutex::default(),
            };
            match engine.live(&plan, &Engine::own_folders(&self.folder)) {
                Err(error) if renewing.is_lost() || is_taken(&error) => engine.taken(error),
                lived => lived,
            }
        })
    }
}

/// The nodes as the store has them, made where the plan has none yet.
fn nodes(plans: &Plans, plan: &Plan, specs: &[NodeSpec], who: &Actor) -> Result<Vec<Mutex<Tracked>>> {
    let store = plans.store();
    let mut stored = store.nodes(plan.id)?;
    if stored.is_empty() {
        let mut new = Vec::with_capacity(specs.len());
        for spec in specs {
            let needs = spec.needs.iter().map(|need| need.name.clone()).collect();
            new.push(NewNode {
                id: NodeId::new(),
                name: store::Name::parse(&spec.name)?,
                state: NodeState::Queued.stored(),
                detail: NodeRecord { needs, ..NodeRecord::default() }.to_json(),
            });
        }
        retry(|| store.create_nodes(plan.id, &new, who))?;
        stored = store.nodes(plan.id)?;
    }
    let mut by_name: BTreeMap<String, store::Node> =
        stored.into_iter().map(|node| (node.name.to_string(), node)).collect();
    let tracked = specs.iter().map(|spec| {
        let node = by_name.remove(&spec.name).ok_or(Error::NotRun { plan: plan.id })?;
        tracked(node).map(Mutex::new)
    });
    tracked.collect()
}

/// A node as the store has it.
pub(crate) fn tracked(node: store::Node) -> Result<Tracked> {
    let record = NodeRecord::of(&node)?;
    let state = NodeState::from_stored(&node.state).ok_or(Error::NotRun { plan: node.plan })?;
    Ok(Tracked { node, state, record })
}

impl Engine<'_> {
    fn live(&self, plan: &Plan, own_folders: &[PathBuf]) -> Result<Summary> {
        self.tell(self.started(plan));
        self.put_in_order()?;
        if plan.state != State::Running {
            let step = Step::to(State::Running, &self.who).epoch(self.epoch);
            self.plans.step(plan, &step)?;
        }
        let roots: Vec<PathBuf> = plan.roots.iter().map(plan::system_path).collect();
        let based = self.layout.make_base(&roots, self.run.ignored, own_folders, self.cancel.stop_flag());
        match based {
            Ok(notes) => self.notes.lock().unwrap_or_else(PoisonError::into_inner).extend(notes),
            Err(Error::Files { source, .. }) if matches!(*source, FileError::Cancelled { .. }) => {}
            Err(error) => return self.fail(error),
        }
        let driven = std::thread::scope(|scope| {
            scope.spawn(|| self.watched.look(|event| self.tell(event)));
            let driven = self.drive();
            self.watched.end();
            driven
        });
        driven?;
        self.conclude()
    }

    fn started(&self, plan: &Plan) -> Event {
        let RunTerms { concurrency, confinement, writable, .. } = self.run.terms.clone();
        Event::RunStarted {
            plan: plan.id.to_string(),
            name: plan.name.as_ref().map(ToString::to_string),
            nodes: NodeInGraph::all(&self.checked.graph),
            concurrency,
            confinement,
            roots: plan.roots.iter().map(|root| root.show().into_owned()).collect(),
            writable: writable.iter().map(|folder| folder.display().to_string()).collect(),
        }
    }

    /// The run cannot go on, for a reason that is no node's.
    fn fail(&self, error: Error) -> Result<Summary> {
        self.end(State::Failed, Some(error_chain(&error)))?;
        Err(error)
    }

    /// The plan's next state.
    fn conclude(&self) -> Result<Summary> {
        let open_outcome = |node| {
            let tracked = self.node(node);
            tracked.state.outcome().filter(|_| !tracked.is_done(self.spec(node)))
        };
        let open: Vec<Outcome> = (0..self.nodes.len()).filter_map(open_outcome).collect();
        let combined = self.combined()?;
        let conflicts = combined.conflicts().count();
        let of = |outcome| open.iter().filter(|known| **known == outcome).count();
        let failed = open.len() - of(Outcome::Skipped) - of(Outcome::Stopped);
        let (state, error) = if self.cancel.is_cancelled() {
            // Not given up, only stopped: what is done stays done, and the rest can be run later.
            (State::Failed, Some("the run was cancelled".to_owned()))
        } else if failed > of(Outcome::Conflict) {
            (State::Failed, Some(self.first_failure()))
        } else if failed > 0 || conflicts > 0 {
            (State::Conflict, Some("actors changed the same lines".to_owned()))
        } else {
            (State::Ready, None)
        };
        self.end(state, error)?;
        let summary = self.summary(&combined)?;
        self.tell_run_end(&summary);
        Ok(summary)
    }

    fn tell_run_end(&self, summary: &Summary) {
        let mut counts = BTreeMap::new();
        for outcome in summary.nodes.iter().filter_map(|node| node.state.outcome()) {
            *counts.entry(outcome).or_insert(0) += 1;
        }
        let state = summary.state.as_str().to_owned();
        self.tell(Event::RunEnded { plan: self.plan.to_string(), state, counts });
    }

    fn first_failure(&self) -> String {
        let order = self.checked.graph.order();
        let failure = order.iter().find_map(|node| {
            let tracked = self.node(*node);
            let is_failure = !tracked.is_done(self.spec(*node))
                && !matches!(tracked.state.outcome(), Some(Outcome::Skipped | Outcome::Stopped));
            let reason = tracked.record.reason.clone().unwrap_or_default();
            is_failure.then(|| format!("node `{}`: {reason}", self.spec(*node).name))
        });
        failure.unwrap_or_default()
    }

    fn end(&self, to: State, error: Option<String>) -> Result<()> {
        let plan = self.plans.get(self.plan)?;
        if plan.state != State::Running {
            // Somebody cancelled it meanwhile.
            return Ok(());
        }
        let mut detail = plan.detail.clone();
        detail.error.clone_from(&error);
        let (kind, open) = match to {
            State::Conflict => ("plan.conflict", OpenChangesets::Refuse),
            State::Failed => ("plan.failed", OpenChangesets::Leave),
            _ => ("plan.step", OpenChangesets::Refuse),
        };
        let step = Step::to(to, &self.who)
            .kind(AuditKind::parse(kind).expect("words with a dot"))
            .note(json!({ "error": error }))
            .detail(detail)
            .open(open)
            .epoch(self.epoch);
        self.plans.step(&plan, &step)?;
        Ok(())
    }

    /// Somebody else has changed what was this run's: by taking it over, or by cancelling the plan.
    fn taken(&self, error: Error) -> Result<Summary> {
        match self.plans.get(self.plan)?.state {
            State::Cancelled => {
                self.cancel.cancel_once();
                self.give_up_the_rest()?;
                let summary = self.summary(&self.combined()?)?;
                self.tell_run_end(&summary);
                Ok(summary)
            }
            _ if is_taken(&error) => Err(Error::Lost { plan: self.plan }),
            _ => Err(error),
        }
    }

    fn combined(&self) -> Result<Combined> {
        Ok(self.plans.combine(self.plan, &Selection::default(), self.run.merge)?)
    }

    fn summary(&self, combined: &Combined) -> Result<Summary> {
        let plan = self.plans.get(self.plan)?;
        let stored = StoredBlobs(self.store());
        let contents = OverlaySource { overlay: &combined.unstored, base: &stored };
        let shown = combined.diff_entries();
        let (mut added, mut removed) = (0, 0);
        for shown in &shown {
            for file in plan::diffs(shown, &contents)? {
                added += file.added;
                removed += file.removed;
            }
        }
        let nodes = self.checked.graph.order().iter().map(|node| self.node(*node).report());
        Ok(Summary {
            plan: plan.id,
            name: plan.name.as_ref().map(ToString::to_string),
            state: plan.state,
            nodes: nodes.collect(),
            files: shown.len(),
            added,
            removed,
            conflicts: combined.conflicts().cloned().collect(),
            notes: self.notes.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            cancelled: self.cancel.is_cancelled() || plan.state == State::Cancelled,
        })
    }
}
