//! `Runs`: starting, resuming and looking at runs. What is done on the way is in the modules beside this one.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use plan::{Actor, PlanId, Plans, State, retry};
use serde_json::Value;
use store::{NodeStep, Owner, RequestId};

#[cfg(target_os = "linux")]
use super::life::Caller;
use super::record::{NodeRecord, RunRecord};
use super::{Cancel, Event, NodeReport, NodeState, Options, Outcome, Output, Summary, Unfinished};
use crate::{Error, Result};

/// What is told while a run is under way, from one thread at a time.
pub type OnEvent<'a> = &'a (dyn Fn(Event) + Sync);

/// The runs of a store.
///
/// **Threads and processes.** Cheap to clone. Any number of runs of different plans may be under way; of one plan one.
///
/// **Failures.** A run that fails leaves a plan that [`resume`](Self::resume) goes on with, or none.
#[derive(Clone, Debug)]
pub struct Runs {
    pub(super) plans: Plans,
    pub(super) folder: PathBuf,
    #[cfg(target_os = "linux")]
    pub(super) answers: Option<std::sync::Arc<dyn crate::rpc::Answers>>,
}

impl Runs {
    /// Over plans. Sandboxes and output are kept below `folder`, which is private, one folder for each plan.
    pub fn new(plans: Plans, folder: &Path) -> Self {
        Self {
            plans,
            folder: folder.to_owned(),
            #[cfg(target_os = "linux")]
            answers: None,
        }
    }

    /// Actors find a socket in their environment by which they can ask, and this answers them.
    #[cfg(target_os = "linux")]
    #[must_use]
    pub fn with_answers(self, answers: std::sync::Arc<dyn crate::rpc::Answers>) -> Self {
        Self { answers: Some(answers), ..self }
    }

    /// Makes a plan and runs it to its end. Running the same again makes another plan ([run-again]).
    ///
    /// A node that fails is no error: the summary tells it.
    #[cfg(target_os = "linux")]
    pub fn start(&self, options: &Options, cancel: &Cancel, on_event: OnEvent<'_>) -> Result<Summary> {
        let run = new_record(options)?;
        let name = options.name.as_ref().or(options.plan.plan.name.as_ref());
        let plan = create(&self.plans, name.map(String::as_str), &run, &options.who)?;
        let caller = Caller { who: &options.who, hidden: &options.hidden, cancel, on_event };
        self.execute(plan.id, run, options.plan.clone(), &caller)
    }

    /// Goes on with a plan whose run was cut off, or in which nodes did not succeed: what is done is not run again ([pln-resume]).
    /// `hidden` is as in [`Options`].
    #[cfg(target_os = "linux")]
    pub fn resume(
        &self,
        plan: PlanId,
        who: &Actor,
        hidden: &[OsString],
        cancel: &Cancel,
        on_event: OnEvent<'_>,
    ) -> Result<Summary> {
        let plan = self.plans.get(plan)?;
        let run = RunRecord::required(plan.id, &plan.detail)?;
        let root = run.roots.values().next().map(PathBuf::as_path);
        let mut checked = super::check(run.terms.file.clone(), run.text.clone(), root)?;
        checked.roots.clone_from(&run.roots);
        self.execute(plan.id, run, checked, &Caller { who, hidden, cancel, on_event })
    }

    /// Not on this system.
    #[cfg(not(target_os = "linux"))]
    pub fn start(&self, _options: &Options, _cancel: &Cancel, _on_event: OnEvent<'_>) -> Result<Summary> {
        Err(Error::NotHere)
    }

    /// Not on this system.
    #[cfg(not(target_os = "linux"))]
    pub fn resume(
        &self,
        _plan: PlanId,
        _who: &Actor,
        _hidden: &[OsString],
        _cancel: &Cancel,
        _on_event: OnEvent<'_>,
    ) -> Result<Summary> {
        Err(Error::NotHere)
    }

    /// How a plan is run; nothing for one that is not.
    pub fn record(&self, plan: PlanId) -> Result<Option<RunRecord>> {
        RunRecord::of(plan, &self.plans.get(plan)?.detail)
    }

    /// The nodes of a plan, in the order of its file; none for a plan that is not run.
    pub fn nodes(&self, plan: PlanId) -> Result<Vec<NodeReport>> {
        let nodes = self.plans.store().nodes(plan)?;
        nodes.into_iter().map(report).collect()
    }

    /// Where the output of a node is.
    pub fn output(&self, plan: PlanId, node: &str) -> Result<Output> {
        let nodes = self.nodes(plan)?;
        let Some(found) = nodes.iter().find(|known| known.name == node) else {
            let nodes = nodes.into_iter().map(|node| node.name).collect();
            return Err(Error::NoNode { plan, node: node.to_owned(), nodes });
        };
        let folder = self.folder.join(plan.to_string()).join("nodes").join(node);
        let file = folder.join(found.attempts.to_string()).join("output");
        let is_running = found.state.outcome().is_none() && self.holder(plan)?.is_some();
        Ok(Output { node: node.to_owned(), file: Some(file).filter(|file| file.is_file()), is_running })
    }

    /// Runs that were cut off and can be resumed, and those that are under way, which say who runs them.
    pub fn unfinished(&self) -> Result<Vec<Unfinished>> {
        let mut unfinished = Vec::new();
        for plan in self.plans.list(&[State::Queued, State::Running], None)? {
            if RunRecord::of(plan.id, &plan.detail)?.is_some() {
                let held_by = self.holder(plan.id)?.map(|owner| owner.to_string());
                let name = plan.name.as_ref().map(ToString::to_string);
                unfinished.push(Unfinished { plan: plan.id, name, held_by });
            }
        }
        Ok(unfinished)
    }

    /// Fails when somebody runs a plan now, and says who.
    pub fn check_idle(&self, plan: PlanId) -> Result<()> {
        match self.holder(plan)? {
            Some(owner) => Err(Error::Held { plan, owner: owner.to_string() }),
            None => Ok(()),
        }
    }

    /// Ends the nodes of a plan that was given up after its run was cut off, with what their actors left running on this machine. A run that is
    /// under way does so itself.
    pub fn give_up_nodes(&self, plan: PlanId, who: &Actor) -> Result<()> {
        if self.holder(plan)?.is_some() {
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
                actor: who.clone(),
                note: Value::Null,
            };
            match retry(|| store.step_node(&step)) {
                // Somebody else was faster.
                Err(store::Error::Conflict { .. }) => {}
                stepped => drop(stepped?),
            }
        }
        Ok(())
    }

    /// Who runs a plan now.
    fn holder(&self, plan: PlanId) -> Result<Option<Owner>> {
        Ok(self.plans.live_lease(plan)?.map(|lease| lease.owner))
    }

    /// Removes the sandboxes of a plan and what they were made from; outputs stay.
    #[cfg(target_os = "linux")]
    pub fn remove_sandboxes(&self, plan: PlanId) -> Result<()> {
        super::layout::Layout::new(self.folder.join(plan.to_string())).remove_sandboxes()
    }

    /// Removes all files of a plan's run; of one that has none it is fine.
    #[cfg(target_os = "linux")]
    pub fn remove_files(&self, plan: PlanId) -> Result<()> {
        super::layout::Layout::new(self.folder.join(plan.to_string())).remove()
    }

    /// There are none on this system.
    #[cfg(not(target_os = "linux"))]
    pub fn remove_sandboxes(&self, _plan: PlanId) -> Result<()> {
        Ok(())
    }

    /// There are none on this system.
    #[cfg(not(target_os = "linux"))]
    pub fn remove_files(&self, _plan: PlanId) -> Result<()> {
        Ok(())
    }
}

fn report(node: store::Node) -> Result<NodeReport> {
    let record = NodeRecord::of(&node)?;
    let state = NodeState::from_stored(&node.state).ok_or(Error::NotRun { plan: node.plan })?;
    Ok(record.report(node.name.as_str(), state))
}

/// What is kept with the plan of a new run. Everything that it names is there.
#[cfg(target_os = "linux")]
fn new_record(options: &Options) -> Result<RunRecord> {
    let checked = &options.plan;
    let enforced = crate::enforceable(options.confine)?;
    let real = |path: &Path| {
        path.canonicalize().map_err(|source| Error::NotWritable { path: path.to_owned(), source })
    };
    let mut roots = std::collections::BTreeMap::new();
    for (name, root) in &checked.roots {
        let bad =
            |error: std::io::Error| plan::Error::BadRoot { root: root.clone(), reason: error.to_string() };
        roots.insert(name.clone(), root.canonicalize().map_err(bad)?);
    }
    let concurrency = options.concurrency.or(checked.plan.concurrency).unwrap_or(options.usual_concurrency);
    Ok(RunRecord {
        terms: super::RunTerms {
            file: checked.file.clone(),
            concurrency: concurrency.max(1),
            confinement: enforced.name().to_owned(),
            writable: options.writable.iter().map(|path| real(path)).collect::<Result<_>>()?,
        },
        text: checked.text.clone(),
        roots,
        fail_fast: options.fail_fast.unwrap_or(checked.plan.fail_fast),
        merge: options.merge.or(checked.plan.merge).unwrap_or(options.usual_merge),
        confine: options.confine,
        ignored: options.ignored,
        strategy: options.strategy.clone(),
        terminal: options.terminal && checked.plan.nodes.len() == 1,
    })
}

/// Makes the plan. When another one has the name, a number is added to it.
#[cfg(target_os = "linux")]
fn create(plans: &Plans, name: Option<&str>, run: &RunRecord, who: &Actor) -> Result<plan::Plan> {
    let mut detail = plan::Detail::default();
    run.put_into(&mut detail);
    let roots: Vec<&Path> = run.roots.values().map(PathBuf::as_path).collect();
    for number in 1.. {
        let numbered = |name: &str| if number == 1 { name.to_owned() } else { format!("{name}-{number}") };
        let name = name.map(numbered).map(store::Name::parse).transpose()?;
        match plans.create_with(plan::Purpose::Work, name, &roots, &detail, who) {
            Err(plan::Error::Store(store::Error::NameTaken { .. })) => {}
            made => return Ok(made?),
        }
    }
    unreachable!("a name with some number is free")
}
