//! `agents run`: runs actors in parallel, each in its own sandbox.
//!
//! A thread runs the plan and sends its events through a bounded channel. [`show`] shows them, [`end`]
//! prints the result.

pub(super) mod draw;
mod end;
mod live;
pub(super) mod model;
pub(crate) mod phrases;
mod show;

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use api::errors::RunError;
use api::{Applied, Cancel, CheckedPlan, Plans, RunEvent, RunOptions, RunSummary};
use clap::ValueEnum;
use schemars::JsonSchema;
use serde::Serialize;

use super::schema::{Document, Entry, of};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::output::{Answer, Output};
use crate::session::Session;
use crate::style::Format;
use live::Live;
use show::Showing;

/// Run actors, each in its own sandbox
///
/// An actor is any command: a coding agent, a script, a formatter. It works in a copy of the project, with
/// uncommitted and untracked files; your folder stays unchanged. The changes of all actors are merged,
/// each attributed to its actor. Then you can review the plan (`agents plan diff`), apply it, all or
/// nothing (`agents plan apply`), and undo it (`agents plan undo`).
///
/// `agents run -- CMD` runs one actor; on a terminal, the actor gets the terminal. `agents run PLAN_FILE`
/// runs a graph of actors. On a terminal each node has a line; elsewhere, lines of output start with the
/// name of the node. All of this goes to standard error: in a pipe, standard output is the id of the plan.
/// With `--format json` each line there is an event; the last one, `end`, is the envelope.
///
/// Ctrl-C ends the actors and keeps finished nodes; a second Ctrl-C kills them. `--resume` continues a
/// run that was interrupted or failed, without repeating nodes that succeeded.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Plan file in TOML, see `--schema`
    #[arg(value_name = "PLAN_FILE", value_hint = clap::ValueHint::FilePath)]
    file: Option<PathBuf>,
    /// Single actor: a program and its arguments
    #[arg(last = true, value_name = "CMD", conflicts_with = "file", value_hint = clap::ValueHint::CommandWithArguments)]
    command: Vec<String>,

    /// Name of the plan
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Folder to work on, if the plan file declares none [default: the project, or the git repository]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    root: Option<PathBuf>,
    /// Maximum number of concurrent actors [key: plan.concurrency]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    concurrency: Option<u32>,
    /// Stop all nodes after the first failure
    #[arg(long, overrides_with = "no_fail_fast")]
    fail_fast: bool,
    /// Let other nodes finish after a failure
    #[arg(long)]
    no_fail_fast: bool,
    /// Merge strategy for files that several actors change [key: plan.merge]
    #[arg(long, value_enum, value_name = "STRATEGY")]
    merge: Option<MergeArg>,

    /// Apply the plan if all nodes succeed and nothing conflicts
    #[arg(long)]
    apply: bool,
    /// Check the plan and print its graph; run nothing
    #[arg(long)]
    dry_run: bool,
    /// Print the graph in this format; run nothing
    #[arg(long, value_enum, value_name = "FORMAT")]
    graph: Option<GraphArg>,
    /// Print the JSON Schema of plan files, for editors
    #[arg(long, conflicts_with_all = ["file", "command", "resume"])]
    schema: bool,
    /// Continue an interrupted or failed run: a plan's id, prefix of an id, name, or @latest
    #[arg(long, value_name = "PLAN", conflicts_with_all = RECORDED)]
    resume: Option<String>,
    /// Capture the output of the actor even on a terminal
    #[arg(long)]
    no_tty: bool,

    /// Confine writes of actors to their sandbox [key: sandbox.confine]
    #[arg(long, value_enum, value_name = "WHEN")]
    confine: Option<ConfineArg>,
    /// Let actors write to this folder too, such as ~/.claude (repeatable) [key: sandbox.allow-write]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::AnyPath)]
    allow_write: Vec<PathBuf>,
    /// Treatment of files that git ignores [default: copy]
    #[arg(long, value_enum, value_name = "ACTION")]
    ignored: Option<IgnoredArg>,

    /// Timeout of the actor, such as 90s or 1h30m
    #[arg(long, value_name = "DURATION", conflicts_with_all = ["file", "resume"])]
    timeout: Option<String>,
    /// Number of retries after a failure, each in a new sandbox
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100), conflicts_with_all = ["file", "resume"])]
    retries: Option<u32>,
    /// Pattern of paths that the actor may change (repeatable) [default: all]
    #[arg(long, value_name = "GLOB", conflicts_with_all = ["file", "resume"])]
    paths: Vec<String>,
    /// Add a variable to the environment of the actor (repeatable)
    #[arg(long, value_name = "KEY=VALUE", conflicts_with_all = ["file", "resume"])]
    env: Vec<String>,
}

pub(super) const SCHEMAS: &[Entry] = &[("run", of::<Data<'_>>), ("run event", of::<RunEvent>)];

/// The `data` of the envelope.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
enum Data<'a> {
    Ended(&'a end::Ended<'a>),
    Applied(&'a Applied),
    Checked(&'a CheckedPlan),
    Schema(Document),
}

/// Options that the record of a resumed run has.
const RECORDED: [&str; 13] = [
    "file",
    "command",
    "root",
    "name",
    "concurrency",
    "fail_fast",
    "no_fail_fast",
    "merge",
    "dry_run",
    "graph",
    "confine",
    "allow_write",
    "ignored",
];

const EXAMPLES: &str = "\
Examples:
  agents run -- sh -c 'sed -i s/foo/bar/ src/*.rs'
  agents run -- claude                                    # interactive, in a sandbox
  agents run --no-tty --timeout 10m --paths 'docs/**' -- my-agent --task docs
  agents run plan.toml
  agents run plan.toml --dry-run
  agents run plan.toml --apply && git diff
  agents run --resume @latest
  agents run --schema > plan.schema.json

Exit codes: 0 ready or applied, 1 a node failed, 4 conflict, 130 interrupted.";

#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum MergeArg {
    /// Merge edits of different lines; others are conflicts
    ThreeWay,
    /// Every file that several actors change is a conflict
    FailOnConflict,
    /// The last change wins
    LastWins,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum GraphArg {
    /// One line per node
    Text,
    /// Mermaid flowchart
    Mermaid,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum ConfineArg {
    /// As far as the kernel can
    Auto,
    /// Fully, or run nothing
    Require,
    /// Not at all
    Off,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum IgnoredArg {
    /// Copy them like other files
    Copy,
    /// Link to the originals, which are read-only for confined actors
    Link,
    /// Exclude them
    Exclude,
}

pub(crate) fn run(args: &Args, session: &Session<'_>, output: &mut Output) -> Result<Answer> {
    if args.schema {
        return schema(output);
    }
    let cancel = Cancel::default();
    let on_quit = cancel.clone();
    Interrupt::listen_for_quit(move || {
        // As two Ctrl-C: actors are killed.
        on_quit.cancel();
        on_quit.cancel();
    })?;
    if let Some(plan) = &args.resume {
        let plans = session.writer().plans()?;
        let resume = |on_event: &(dyn Fn(RunEvent) + Sync)| plans.resume_run(plan, &cancel, on_event);
        return match follow(args, &plans, &cancel, output, resume) {
            // It was killed after its last step, before it was applied.
            Err(Error::Api(api::Error::Run(RunError::NothingToResume { plan, state })))
                if args.apply && state.as_str() == "ready" =>
            {
                end::apply(plan, &plans, output)
            }
            ended => ended,
        };
    }
    if args.file.is_none() && args.command.is_empty() {
        return Err(Error::NothingToRun);
    }
    let options = args.options(output)?;
    let checked = session.agents().check_plan_file(&options)?;
    if args.dry_run || args.graph.is_some() {
        return graph(args, &checked, output);
    }
    if args.file.is_some() {
        warn_of(args.file.as_ref(), &checked.warnings, output);
    }
    let plans = session.writer().plans()?;
    warn_of_interrupted(&plans, output)?;
    follow(args, &plans, &cancel, output, |on_event| plans.run(checked, &options, &cancel, on_event))
}

/// Starts a run, shows its progress, and prints its result.
fn follow(
    args: &Args,
    plans: &Plans,
    cancel: &Cancel,
    output: &mut Output,
    run: impl FnOnce(&(dyn Fn(RunEvent) + Sync)) -> std::result::Result<RunSummary, api::Error> + Send,
) -> Result<Answer> {
    let on_interrupt = cancel.clone();
    let interrupt = Interrupt::listen_twice(move || on_interrupt.cancel())?;
    let showing = args.showing(output);
    let on_terminal = matches!(showing, Showing::Nothing);
    let summary = show::follow(run, showing, output)?;
    drop(interrupt);
    end::report(summary, args.apply, on_terminal, plans, output)
}

impl Args {
    fn options(&self, output: &Output) -> Result<RunOptions> {
        let env = self.env.iter().map(|pair| match pair.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
            _ => Err(Error::InvalidValue { value: pair.clone(), expected: "KEY=VALUE" }),
        });
        Ok(RunOptions {
            file: self.file.clone(),
            command: self.command.clone(),
            name: self.name.clone(),
            root: self.root.clone(),
            concurrency: self.concurrency.map(|count| count as usize),
            fail_fast: (self.fail_fast || self.no_fail_fast).then_some(self.fail_fast),
            merge: self.merge.map(word),
            confine: self.confine.map(word),
            allow_write: self.allow_write.clone(),
            ignored: self.ignored.map(word),
            terminal: self.has_terminal(output),
            timeout: self.timeout.clone(),
            retries: self.retries.unwrap_or(0),
            paths: self.paths.clone(),
            env: env.collect::<Result<_>>()?,
        })
    }

    /// Returns true if the single actor gets the terminal.
    fn has_terminal(&self, output: &Output) -> bool {
        let is_interactive = !self.command.is_empty() && !self.no_tty && !output.is_json();
        is_interactive && io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    fn showing(&self, output: &Output) -> Showing {
        if self.has_terminal(output) {
            return Showing::Nothing;
        }
        let live = if output.format() == Format::Rich && !output.is_quiet() { Live::start() } else { None };
        live.map_or(Showing::Lines, Showing::Live)
    }
}

/// The word of a value on the command line.
fn word(word: impl ValueEnum) -> String {
    word.to_possible_value().expect("every word has a name").get_name().to_owned()
}

fn schema(output: &mut Output) -> Result<Answer> {
    let schema = api::plan_file_schema();
    output.print_text(serde_json::to_string_pretty(&schema).expect("a schema is made of text and lists"))?;
    Ok(Answer::of(&Data::Schema(Document(schema))))
}

/// Prints the graph of the plan file.
fn graph(args: &Args, checked: &CheckedPlan, output: &mut Output) -> Result<Answer> {
    let graph = match args.graph {
        Some(GraphArg::Mermaid) => &checked.mermaid,
        _ => &checked.graph,
    };
    output.print_text(graph.trim_end())?;
    warn_of(args.file.as_ref(), &checked.warnings, output);
    Ok(Answer::of(&Data::Checked(checked)))
}

fn warn_of(file: Option<&PathBuf>, warnings: &[String], output: &mut Output) {
    let file = file.map(|file| format!("{}:", file.display())).unwrap_or_default();
    for warning in warnings {
        output.warn("plan-file", format!("{file}{warning}"), None);
    }
}

/// Warns of interrupted runs, which are easily forgotten.
fn warn_of_interrupted(plans: &Plans, output: &mut Output) -> Result<()> {
    for run in plans.unfinished_runs()?.into_iter().filter(|run| run.owner.is_none()) {
        let name = run.name.unwrap_or_else(|| run.plan.to_string());
        let hint = format!("agents run --resume {name}");
        output.warn("interrupted-run", format!("the run of plan {name} was interrupted"), Some(hint));
    }
    Ok(())
}
