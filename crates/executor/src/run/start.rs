//! Starting and resuming a run: from the plan file to the threads that run it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};

use plan::{Actor, Detail, Plan, PlanId, Plans, Purpose, State, process_owner, retry};
use store::{NewNode, NodeId};

use super::check::CheckedPlanFile;
use super::context::{RunContext, TrackedNode};
use super::layout::Layout;
use super::lease::{Heartbeat, PlanLease};
use super::options::{Cancel, Options};
use super::overlap::OverlapMonitor;
use super::patient_store::PatientStore;
use super::record::{NodeRecord, RunRecord};
use super::schedule::is_superseded;
use super::state::NodeState;
use super::{Event, OnEvent, RunSettings, Runs, Summary};
use crate::rpc::{RequestHandler, Server};
use crate::sandbox::probe_confinement;
use crate::{Error, NodeSpec, Result};

/// Events that may wait for the callback.
const EVENTS_MAX: usize = 1024;

/// The arguments that [`Runs::start`] and [`Runs::resume`] share.
struct Caller<'a> {
    started_by: &'a Actor,
    env_denylist: &'a [OsString],
    cancel: &'a Cancel,
    on_event: OnEvent<'a>,
}

impl Runs {
    /// Creates a plan and runs it to its end. Each call creates another plan ([run-again]).
    ///
    /// A failed node is not an error: the summary reports it.
    pub fn start(&self, options: &Options, cancel: &Cancel, on_event: OnEvent<'_>) -> Result<Summary> {
        let record = new_record(options)?;
        let name = options.name.as_ref().or(options.plan.plan.name.as_ref());
        let plan = create(&self.plans, name.map(String::as_str), &record, &options.started_by)?;
        let Options { started_by, env_denylist, .. } = options;
        let caller = Caller { started_by, env_denylist, cancel, on_event };
        self.execute(plan.id, record, options.plan.clone(), &caller)
    }

    /// Continues a plan whose run was interrupted or has failed nodes, without repeating nodes that
    /// succeeded ([pln-resume]). `env_denylist` is as in [`Options`].
    pub fn resume(
        &self,
        plan: PlanId,
        started_by: &Actor,
        env_denylist: &[OsString],
        cancel: &Cancel,
        on_event: OnEvent<'_>,
    ) -> Result<Summary> {
        let plan = self.plans.get(plan)?;
        let record = RunRecord::required(plan.id, &plan.detail)?;
        let root = record.roots.values().next().map(PathBuf::as_path);
        let mut checked = super::check(record.settings.file.clone(), record.text.clone(), root)?;
        checked.roots.clone_from(&record.roots);
        let caller = Caller { started_by, env_denylist, cancel, on_event };
        self.execute(plan.id, record, checked, &caller)
    }

    /// Runs a plan to its end, under its lease.
    fn execute(
        &self,
        plan: PlanId,
        record: RunRecord,
        checked: CheckedPlanFile,
        caller: &Caller<'_>,
    ) -> Result<Summary> {
        let owner = process_owner();
        // Not patient: nothing has begun, and a lease is renewed again soon.
        let lease = PlanLease::acquire(&self.plans.clone().with_owner(owner.clone()), plan)?;
        let (inner, cancel) = (Arc::clone(self.plans.store()), caller.cancel.clone());
        let plans = Plans::open(Arc::new(PatientStore { inner, cancel })).with_owner(owner);
        // Read after acquiring: the previous owner may have changed it.
        let plan = plans.get(plan)?;
        let nodes = tracked_nodes(&plans, &plan, &checked.plan.nodes, caller.started_by)?;
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
        let listen = |handler: &Arc<dyn RequestHandler>| Server::listen(layout.folder(), Arc::clone(handler));
        let server = self.request_handler.as_ref().map(listen).transpose()?;
        let (events, received) = sync_channel::<Event>(EVENTS_MAX);
        std::thread::scope(|scope| {
            let on_event = caller.on_event;
            scope.spawn(move || received.into_iter().for_each(on_event));
            let _heartbeat = Heartbeat::start(scope, &lease, caller.cancel);
            let _serving = server.as_ref().map(|server| server.serve(scope)).transpose()?;
            let context = RunContext {
                plan: plan.id,
                changesets: plans.context(plan.id)?.fenced(lease.epoch()),
                lease: &lease,
                layout,
                roots: plan.roots.clone(),
                plans,
                started_by: caller.started_by.clone(),
                record,
                checked,
                nodes,
                env_denylist: caller.env_denylist,
                cancel: caller.cancel,
                events,
                overlaps: OverlapMonitor::default(),
                server: server.as_ref(),
                base_manifests: plan.roots.iter().map(|_| Mutex::default()).collect(),
                notes: Mutex::default(),
                unrecorded: Mutex::default(),
            };
            match context.run(&plan, &own_folders(&self.folder)) {
                Err(error) if lease.is_lost() || is_superseded(&error) => context.superseded(error),
                Err(error) if is_outage(&error) => {
                    Err(Error::Interrupted { plan: plan.id, source: Box::new(error) })
                }
                result => result,
            }
        })
    }
}

/// Returns true if the store did not answer.
fn is_outage(error: &Error) -> bool {
    matches!(
        error,
        Error::Plan(plan::Error::Store(store::Error::Unreachable { .. } | store::Error::Busy { .. }))
    )
}

/// Makes the record of a new run. Fails if a folder in it does not exist.
fn new_record(options: &Options) -> Result<RunRecord> {
    let checked = &options.plan;
    let confinement = probe_confinement(options.confine)?;
    let canonical = |path: &PathBuf| {
        path.canonicalize().map_err(|source| Error::AllowWrite { path: path.clone(), source })
    };
    let mut roots = BTreeMap::new();
    for (name, root) in &checked.roots {
        let bad =
            |error: std::io::Error| plan::Error::BadRoot { root: root.clone(), reason: error.to_string() };
        roots.insert(name.clone(), root.canonicalize().map_err(bad)?);
    }
    let concurrency = options.concurrency.or(checked.plan.concurrency).unwrap_or(options.default_concurrency);
    Ok(RunRecord {
        settings: RunSettings {
            file: checked.file.clone(),
            concurrency: concurrency.max(1),
            confinement,
            allow_write: options.allow_write.iter().map(canonical).collect::<Result<_>>()?,
        },
        text: checked.text.clone(),
        roots,
        fail_fast: options.fail_fast.unwrap_or(checked.plan.fail_fast),
        merge: options.merge.or(checked.plan.merge).unwrap_or(options.default_merge),
        confine: options.confine,
        ignored: options.ignored,
        strategy: options.strategy.clone(),
        terminal: options.terminal && checked.plan.nodes.len() == 1,
        file_bytes_max: options.file_bytes_max,
    })
}

/// Creates the plan. Adds a number to a name that another plan has.
fn create(plans: &Plans, name: Option<&str>, record: &RunRecord, started_by: &Actor) -> Result<Plan> {
    let mut detail = Detail::default();
    record.put_into(&mut detail);
    let roots: Vec<&Path> = record.roots.values().map(PathBuf::as_path).collect();
    for number in 1.. {
        let numbered = |name: &str| if number == 1 { name.to_owned() } else { format!("{name}-{number}") };
        let name = name.map(numbered).map(store::Name::parse).transpose()?;
        match plans.create_with(Purpose::Work, name, &roots, &detail, started_by) {
            Err(plan::Error::Store(store::Error::NameTaken { .. })) => {}
            created => return Ok(created?),
        }
    }
    unreachable!("a name with some number is free")
}

/// The nodes of a plan in the store, created if it has none yet.
fn tracked_nodes(
    plans: &Plans,
    plan: &Plan,
    specs: &[NodeSpec],
    started_by: &Actor,
) -> Result<Vec<Mutex<TrackedNode>>> {
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
        retry(|| store.create_nodes(plan.id, &new, started_by))?;
        stored = store.nodes(plan.id)?;
    }
    let mut by_name: BTreeMap<String, store::Node> =
        stored.into_iter().map(|node| (node.name.to_string(), node)).collect();
    let tracked = specs.iter().map(|spec| {
        let node = by_name.remove(&spec.name).ok_or(Error::NoRun { plan: plan.id })?;
        TrackedNode::new(node).map(Mutex::new)
    });
    tracked.collect()
}

/// Folders with files of this program, which no sandbox contains.
fn own_folders(runs: &Path) -> Vec<PathBuf> {
    [Some(runs), runs.parent()]
        .into_iter()
        .flatten()
        .filter_map(|folder| folder.canonicalize().ok())
        .collect()
}
