//! Runs of actors, for `agents run`, `agents plan show` and `agents logs`.

use std::ffi::OsString;
use std::path::PathBuf;

use executor::run::{CheckedPlanFile, Runs, check};
use executor::{COMMAND_LINE, Confine, Ignored, Merge, PlanFile, SingleCommand, plan_file_for_command};
use plan::{PlanId, State, Strategy};
use schemars::JsonSchema;
use serde::Serialize;
use store::PlanSelector;

use crate::{Agents, Error, Plans};

pub use executor::run::{
    Cancel, Event as RunEvent, NodeInGraph, NodeOutput, NodeReport, NodeState, Outcome as NodeOutcome,
    RecoveryAction, RunRecord, RunSettings, Summary as RunSummary, UnfinishedRun,
};

/// The folder of sandboxes and outputs, below the home folder.
const RUNS: &str = "runs";
/// Keys of addresses that may hold a password.
const ADDRESS_KEYS: [&str; 2] = ["store.url", "server.url"];

/// Options of a run. Missing ones come from the plan file, then from configuration.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// The plan file.
    pub file: Option<PathBuf>,
    /// A single command to run, without a plan file.
    pub command: Vec<String>,
    /// Name of the plan. Gets a number if another plan has it.
    pub name: Option<String>,
    /// The folder to work on if the file declares none [default: the project].
    pub root: Option<PathBuf>,
    /// Maximum number of concurrent nodes.
    pub concurrency: Option<usize>,
    /// Stop all nodes after the first failure.
    pub fail_fast: Option<bool>,
    /// `three-way`, `fail-on-conflict` or `last-wins`.
    pub merge: Option<String>,
    /// `auto`, `require` or `off`.
    pub confine: Option<String>,
    /// Folders that actors may write to, besides those of `sandbox.allow-write`.
    pub allow_write: Vec<PathBuf>,
    /// Treatment of files that git ignores: `copy`, `link` or `exclude`.
    pub ignored: Option<String>,
    /// Give the terminal to the single command.
    pub terminal: bool,
    /// Timeout of the single command, such as `90s`.
    pub timeout: Option<String>,
    /// Number of retries of the single command.
    pub retries: u32,
    /// Patterns of paths that the single command may change.
    pub paths: Vec<String>,
    /// Additions to the environment of the single command.
    pub env: Vec<(String, String)>,
}

/// A plan file that can be run.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct CheckedPlan {
    /// Name of the plan, if the file gives one.
    pub name: Option<String>,
    /// The nodes, each after those that it needs.
    pub nodes: Vec<NodeInGraph>,
    /// The roots.
    pub roots: Vec<String>,
    /// Warnings, each with line and column.
    pub warnings: Vec<String>,
    /// The graph as text, one line per node.
    pub graph: String,
    /// The graph as a Mermaid flowchart.
    pub mermaid: String,
    #[serde(skip)]
    checked: CheckedPlanFile,
}

impl Agents {
    /// Checks a plan file or a single command, and runs nothing. One error reports all problems.
    pub fn check_plan_file(&self, options: &RunOptions) -> Result<CheckedPlan, Error> {
        let (file, text) = match &options.file {
            Some(file) => {
                let file = self.absolute(file);
                let text = PlanFile::read(&file)?;
                (file, text)
            }
            None => (PathBuf::from(COMMAND_LINE), plan_file_for_command(&options.single_command())),
        };
        let named = options.root.as_ref().map(|root| self.absolute(root));
        let root = named.or_else(|| self.default_root().ok());
        let checked = check(file, text, root.as_deref())?;
        let graph = &checked.graph;
        Ok(CheckedPlan {
            name: options.name.clone().or_else(|| checked.plan.name.clone()),
            nodes: NodeInGraph::all(graph),
            roots: checked.roots.values().map(|root| root.display().to_string()).collect(),
            warnings: checked.warnings.iter().map(ToString::to_string).collect(),
            graph: graph.to_text(),
            mermaid: graph.to_mermaid(),
            checked,
        })
    }

    /// Variables of our secrets, and of addresses that may hold one, which actors do not inherit.
    fn env_denylist(&self) -> Vec<OsString> {
        let secret = |definition: &&config::KeyDefinition| {
            definition.secrecy == config::Secrecy::Secret
                || ADDRESS_KEYS.iter().any(|key| definition.key.to_string() == *key)
        };
        self.registry()
            .keys()
            .filter(secret)
            .map(|definition| OsString::from(definition.variable()))
            .collect()
    }
}

impl RunOptions {
    fn single_command(&self) -> SingleCommand {
        SingleCommand {
            words: self.command.clone(),
            node: None,
            timeout: self.timeout.clone(),
            retries: self.retries,
            paths: self.paths.clone(),
            env: self.env.clone(),
        }
    }
}

/// The run of one plan.
#[derive(Debug)]
pub struct PlanRun {
    plan: PlanId,
    runs: Runs,
}

impl PlanRun {
    /// The nodes, in the order of the plan file. Empty for a plan without a run.
    pub fn nodes(&self) -> Result<Vec<NodeReport>, Error> {
        Ok(self.runs.nodes(self.plan)?)
    }

    /// The record of the run, if the plan has one.
    pub fn record(&self) -> Result<Option<RunRecord>, Error> {
        Ok(self.runs.record(self.plan)?)
    }

    /// The output of a node.
    pub fn output(&self, node: &str) -> Result<NodeOutput, Error> {
        Ok(self.runs.output(self.plan, node)?)
    }
}

impl Plans {
    /// Creates a plan and runs it to its end. Calls `on_event` from any thread, one event at a time.
    ///
    /// A failed node is not an error: the summary reports it. Each call creates another plan.
    pub fn run(
        &self,
        plan: CheckedPlan,
        options: &RunOptions,
        cancel: &Cancel,
        on_event: &(dyn Fn(RunEvent) + Sync),
    ) -> Result<RunSummary, Error> {
        let settings = self.agents.settings();
        let configured =
            settings.sandbox_allow_write()?.into_iter().map(|folder| self.agents.spelled_out(folder));
        let given = options.allow_write.iter().map(|folder| self.agents.absolute(folder));
        let merge = options.merge.as_deref().map(|word| named(&Merge::ALL, Merge::name, "merge", word));
        let confine = options.confine.clone().map_or_else(|| settings.sandbox_confine(), Ok)?;
        let ignored = options.ignored.as_deref();
        let ignored = ignored.map(|word| named(&Ignored::ALL, Ignored::name, "ignored", word));
        let options = executor::run::Options {
            plan: plan.checked,
            name: options.name.clone(),
            concurrency: options.concurrency,
            default_concurrency: settings.plan_concurrency()?,
            fail_fast: options.fail_fast,
            merge: merge.transpose()?,
            default_merge: self.strategy,
            confine: named(&Confine::ALL, Confine::name, "confine", &confine)?,
            allow_write: configured.chain(given).collect(),
            ignored: ignored.transpose()?.unwrap_or_default(),
            strategy: settings.sandbox_strategy()?,
            terminal: options.terminal,
            file_bytes_max: settings.sandbox_max_file_size()?,
            env_denylist: self.agents.env_denylist(),
            started_by: self.who.clone(),
        };
        Ok(self.runs()?.start(&options, cancel, on_event)?)
    }

    /// Continues a plan whose run was interrupted or has failed nodes, without repeating nodes that
    /// succeeded.
    pub fn resume_run(
        &self,
        plan: &str,
        cancel: &Cancel,
        on_event: &(dyn Fn(RunEvent) + Sync),
    ) -> Result<RunSummary, Error> {
        let plan = self.look_up(plan)?;
        Ok(self.runs()?.resume(plan.id, &self.who, &self.agents.env_denylist(), cancel, on_event)?)
    }

    /// Runs that are running, with their owner, and runs that were interrupted and can be resumed.
    pub fn unfinished_runs(&self) -> Result<Vec<UnfinishedRun>, Error> {
        Ok(self.runs()?.unfinished()?)
    }

    /// The run of a plan.
    pub fn run_of(&self, plan: impl Into<PlanSelector>) -> Result<PlanRun, Error> {
        Ok(PlanRun { plan: self.look_up(plan)?.id, runs: self.runs()? })
    }

    pub(crate) fn runs(&self) -> Result<Runs, Error> {
        let runs = Runs::new(self.inner.clone(), &self.agents.home()?.join(RUNS));
        #[cfg(target_os = "linux")]
        let runs = runs.with_request_handler(std::sync::Arc::new(crate::rpc::Handler::new(&self.agents)));
        Ok(runs)
    }

    /// The merge strategy of a plan: that of its run, or the configured one.
    pub(crate) fn strategy_of(&self, plan: &plan::Plan) -> Strategy {
        plan.detail.merge.unwrap_or(self.strategy)
    }

    /// Removes the sandboxes of an applied plan, unless `sandbox.cleanup` keeps them.
    pub(crate) fn clean_sandboxes(&self, plan: &plan::Plan) -> Result<(), Error> {
        if plan.state == State::Applied && self.agents.settings().sandbox_cleanup()? == "applied" {
            self.runs()?.remove_sandboxes(plan.id)?;
        }
        Ok(())
    }
}

/// The JSON Schema of plan files, for editors.
pub fn plan_file_schema() -> serde_json::Value {
    executor::plan_file_schema()
}

/// Parses a word as one of some values.
fn named<T: Copy>(
    all: &[T],
    name: impl Fn(T) -> &'static str,
    option: &'static str,
    word: &str,
) -> Result<T, Error> {
    let found = all.iter().copied().find(|one| name(*one) == word);
    found.ok_or_else(|| Error::InvalidChoice {
        option,
        value: word.to_owned(),
        choices: all.iter().map(|one| name(*one)).collect(),
    })
}
