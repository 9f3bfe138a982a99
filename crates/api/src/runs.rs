//! Runs of actors: what `agents run`, `agents plan show` and `agents plan logs` ask for.

use std::ffi::OsString;
use std::path::PathBuf;

use executor::run::{Checked, Runs, check};
use executor::{Confine, Ignored, Merge, OneCommand, PlanFile, plan_of_command};
use plan::{PlanId, State, Strategy};
use serde::Serialize;
use store::PlanSelector;

use crate::{Agents, Error, Plans};

pub use executor::run::{
    Cancel, Event as RunEvent, NodeInGraph, NodeReport, NodeState, Outcome as NodeOutcome,
    Output as NodeOutput, RunRecord, RunTerms, Summary as RunSummary, Unfinished as UnfinishedRun,
};

/// Where sandboxes and outputs are, below the home folder.
const RUNS: &str = "runs";

/// What is to be run, and how. What is not given comes from the plan file, or from configuration.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// The plan file.
    pub file: Option<PathBuf>,
    /// The one command to run when there is no plan file.
    pub command: Vec<String>,
    /// What the plan is called. When another plan has the name, a number is added.
    pub name: Option<String>,
    /// The folder to work on when the file declares none; the project when not given.
    pub root: Option<PathBuf>,
    /// How many nodes run at once.
    pub concurrency: Option<usize>,
    /// Whether the first failure stops the others.
    pub fail_fast: Option<bool>,
    /// `three-way`, `fail-on-conflict` or `last-wins`.
    pub merge: Option<String>,
    /// `auto`, `require` or `off`.
    pub confine: Option<String>,
    /// Folders that actors may write to, beside those of `sandbox.allow-write`.
    pub writable: Vec<PathBuf>,
    /// What becomes of files that git ignores: `copy`, `link` or `leave-out`.
    pub ignored: Option<String>,
    /// Whether the one command has the terminal.
    pub terminal: bool,
    /// How long the one command may take, such as `90s`.
    pub timeout: Option<String>,
    /// How often the one command is started again when it fails.
    pub retries: u32,
    /// Patterns of the paths that the one command may change.
    pub writes: Vec<String>,
    /// What is added to the environment of the one command.
    pub env: Vec<(String, String)>,
}

/// A plan file that can be run, and what it comes to.
#[derive(Clone, Debug, Serialize)]
pub struct CheckedPlan {
    /// The plan's name, if the file says one.
    pub name: Option<String>,
    /// The nodes, in an order in which each comes after those it needs.
    pub nodes: Vec<NodeInGraph>,
    /// The folders that it works on.
    pub roots: Vec<String>,
    /// What looks wrong and need not be, each with line and column.
    pub warnings: Vec<String>,
    /// One line per node.
    pub graph: String,
    /// As a Mermaid flowchart.
    pub mermaid: String,
    #[serde(skip)]
    checked: Checked,
}

impl Agents {
    /// Checks what is to be run, and runs nothing. All that is wrong with a plan file is one error.
    pub fn check_plan_file(&self, options: &RunOptions) -> Result<CheckedPlan, Error> {
        let (file, text) = match &options.file {
            Some(file) => {
                let file = self.absolute(file);
                let text = PlanFile::read(&file)?;
                (file, text)
            }
            None => (PathBuf::from("(command line)"), plan_of_command(&options.one_command())),
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

    /// Our own secrets, which actors do not get.
    fn hidden(&self) -> Vec<OsString> {
        let secret = |definition: &&config::KeyDefinition| definition.secrecy == config::Secrecy::Secret;
        self.registry()
            .keys()
            .filter(secret)
            .map(|definition| OsString::from(definition.variable()))
            .collect()
    }
}

impl RunOptions {
    fn one_command(&self) -> OneCommand {
        OneCommand {
            words: self.command.clone(),
            node: None,
            timeout: self.timeout.clone(),
            retries: self.retries,
            writes: self.writes.clone(),
            env: self.env.clone(),
        }
    }
}

/// The run of one plan, which was resolved once.
#[derive(Debug)]
pub struct PlanRun {
    plan: PlanId,
    runs: Runs,
}

impl PlanRun {
    /// The nodes, in an order in which each comes after those it needs; none for a plan that was not run.
    pub fn nodes(&self) -> Result<Vec<NodeReport>, Error> {
        Ok(self.runs.nodes(self.plan)?)
    }

    /// How the plan is run; nothing for one that is not.
    pub fn record(&self) -> Result<Option<RunRecord>, Error> {
        Ok(self.runs.record(self.plan)?)
    }

    /// Where the output of a node is, and whether more may come.
    pub fn output(&self, node: &str) -> Result<NodeOutput, Error> {
        Ok(self.runs.output(self.plan, node)?)
    }
}

impl Plans {
    /// Makes a plan of what was checked and runs it to its end. `on_event` is called from any thread while it runs.
    ///
    /// A node that fails is no error: the summary tells it. Running the same again makes another plan.
    pub fn run(
        &self,
        plan: CheckedPlan,
        options: &RunOptions,
        cancel: &Cancel,
        on_event: &(dyn Fn(RunEvent) + Sync),
    ) -> Result<RunSummary, Error> {
        let settings = self.agents.settings();
        let known = settings.sandbox_allow_write()?.into_iter().map(|folder| self.agents.spelled_out(folder));
        let given = options.writable.iter().map(|folder| self.agents.absolute(folder));
        let merge = options.merge.as_deref().map(|word| named(&Merge::ALL, Merge::name, "merge", word));
        let confine = options.confine.clone().map_or_else(|| settings.sandbox_confine(), Ok)?;
        let ignored = options.ignored.as_deref();
        let ignored = ignored.map(|word| named(&Ignored::ALL, Ignored::name, "ignored", word));
        let options = executor::run::Options {
            plan: plan.checked,
            name: options.name.clone(),
            concurrency: options.concurrency,
            usual_concurrency: settings.plan_concurrency()?,
            fail_fast: options.fail_fast,
            merge: merge.transpose()?,
            usual_merge: self.strategy,
            confine: named(&Confine::ALL, Confine::name, "confine", &confine)?,
            writable: known.chain(given).collect(),
            ignored: ignored.transpose()?.unwrap_or_default(),
            strategy: settings.sandbox_strategy()?,
            terminal: options.terminal,
            hidden: self.agents.hidden(),
            who: self.who.clone(),
        };
        Ok(self.runs()?.start(&options, cancel, on_event)?)
    }

    /// Goes on with a plan whose run was cut off, or in which nodes failed: what is done is not run again.
    pub fn resume_run(
        &self,
        plan: &str,
        cancel: &Cancel,
        on_event: &(dyn Fn(RunEvent) + Sync),
    ) -> Result<RunSummary, Error> {
        let plan = self.look_up(plan)?;
        Ok(self.runs()?.resume(plan.id, &self.who, &self.agents.hidden(), cancel, on_event)?)
    }

    /// Runs that were cut off and can be resumed, and those that are under way, which say who runs them.
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
        let runs = runs.with_answers(std::sync::Arc::new(crate::rpc::Answering::new(&self.agents)));
        Ok(runs)
    }

    /// What is made of a path that several actors of this plan changed: as it was run, or as configured.
    pub(crate) fn strategy_of(&self, plan: &plan::Plan) -> Strategy {
        plan.detail.merge.unwrap_or(self.strategy)
    }

    /// Sandboxes of a plan whose changes are all in the roots are not needed any more, unless they are to be kept.
    pub(crate) fn clean_sandboxes(&self, plan: &plan::Plan) -> Result<(), Error> {
        if plan.state == State::Applied && self.agents.settings().sandbox_cleanup()? == "applied" {
            self.runs()?.remove_sandboxes(plan.id)?;
        }
        Ok(())
    }
}

/// A JSON Schema of plan files, for editors.
pub fn plan_file_schema() -> serde_json::Value {
    executor::plan_file_schema()
}

/// The value that a word stands for.
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
