//! `agents run`: actors in parallel, each in a copy of its own.
//!
//! The run goes on in a thread of its own; what happens in it comes here as events, through a bounded channel, and is shown
//! ([`show`]); what it came to is told at the end ([`end`]).

pub(super) mod draw;
mod end;
mod live;
pub(super) mod model;
pub(crate) mod phrases;
mod show;

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use api::{Cancel, CheckedPlan, Plans, RunEvent, RunOptions, RunSummary};
use clap::ValueEnum;

use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::look::Format;
use crate::output::{Answer, Output};
use crate::session::Session;
use live::Live;
use show::Showing;

/// Run actors in parallel, each in its own copy of the project
///
/// An actor is any command: a coding agent, a script, a formatter. It works in a copy of the project as it is now, uncommitted and untracked
/// files included; your folder is not touched. What each one changed is credited to it and merged with the others; then the plan is ready
/// to be reviewed (`agents plan diff`), applied all or nothing (`agents plan apply`) and undone (`agents plan undo`).
///
/// `agents run -- CMD` runs one actor, on a terminal with the terminal in its hands. `agents run PLAN_FILE` runs a graph of them. On a terminal
/// there is a line for each node; in a pipe lines of output begin with the node's name; with `--format json` each line is an event, and the last
/// one the usual envelope, with the event `end`.
///
/// Ctrl-C ends the actors and keeps what finished, twice kills them. A run that was stopped, killed or failed goes on with `--resume`; what had
/// finished is not run again.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The plan: a TOML file, see docs/running.md or `--schema`
    #[arg(value_name = "PLAN_FILE", value_hint = clap::ValueHint::FilePath)]
    file: Option<PathBuf>,
    /// One actor: a program with its arguments
    #[arg(last = true, value_name = "CMD", conflicts_with = "file", value_hint = clap::ValueHint::CommandWithArguments)]
    command: Vec<String>,

    /// What the plan is called
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The folder to work on, for a plan that declares none [default: the project's, or the git repository around]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    root: Option<PathBuf>,
    /// How many actors at once [key: plan.concurrency]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    concurrency: Option<u32>,
    /// Stop the others when one fails
    #[arg(long, overrides_with = "no_fail_fast")]
    fail_fast: bool,
    /// Let the others finish when one fails
    #[arg(long)]
    no_fail_fast: bool,
    /// What is made of a path that several changed [key: plan.merge]
    #[arg(long, value_enum, value_name = "HOW")]
    merge: Option<MergeWord>,

    /// Apply at once when all nodes succeeded and nothing conflicts
    #[arg(long)]
    apply: bool,
    /// Run nothing: check the plan and print its graph
    #[arg(long)]
    dry_run: bool,
    /// Run nothing: print the graph as text, or as a Mermaid picture for documents
    #[arg(long, value_enum, value_name = "FORM")]
    graph: Option<GraphWord>,
    /// Print the JSON Schema of plan files, for editors
    #[arg(long, conflicts_with_all = ["file", "command", "resume"])]
    schema: bool,
    /// Go on with a run that was cut off, or in which nodes failed: an id, the beginning of one, a name, or @latest
    #[arg(long, value_name = "PLAN", conflicts_with_all = RUN_ALREADY)]
    resume: Option<String>,
    /// Capture what the actor prints, also on a terminal
    #[arg(long)]
    no_tty: bool,

    /// Whether actors are kept from writing outside of their copy [key: sandbox.confine]
    #[arg(long, value_enum, value_name = "HOW")]
    confine: Option<ConfineWord>,
    /// A folder that actors may write to as well, such as ~/.claude; may be repeated [key: sandbox.allow-write]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::AnyPath)]
    writable: Vec<PathBuf>,
    /// What becomes of files that git ignores [default: copy]
    #[arg(long, value_enum, value_name = "HOW")]
    ignored: Option<IgnoredWord>,

    /// How long the actor may take, such as 90s or 1h30m
    #[arg(long, value_name = "DURATION", conflicts_with_all = ["file", "resume"])]
    timeout: Option<String>,
    /// How often a failed actor is started again, from a clean copy
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100), conflicts_with_all = ["file", "resume"])]
    retries: Option<u32>,
    /// A pattern of the paths that the actor may change; may be repeated [default: all]
    #[arg(long, value_name = "GLOB", conflicts_with_all = ["file", "resume"])]
    writes: Vec<String>,
    /// Add to the environment of the actor; may be repeated
    #[arg(long, value_name = "KEY=VALUE", conflicts_with_all = ["file", "resume"])]
    env: Vec<String>,
}

/// What a run that goes on has in its record.
const RUN_ALREADY: [&str; 13] = [
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
    "writable",
    "ignored",
];

const EXAMPLES: &str = "\
Examples:
  agents run -- sh -c 'sed -i s/foo/bar/ src/*.rs'
  agents run -- claude                                    # its own interface, in a copy
  agents run --no-tty --timeout 10m --writes 'docs/**' -- my-agent --task docs
  agents run plan.toml
  agents run plan.toml --dry-run
  agents run plan.toml --apply && git diff
  agents run --resume @latest
  agents run --schema > plan.schema.json

Exit codes: 0 ready or applied, 1 a node failed, 4 conflict, 130 interrupted.";

/// What is made of a path that several changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum MergeWord {
    /// Edits of different lines are merged, others are conflicts
    ThreeWay,
    /// Every path that several changed is a conflict
    FailOnConflict,
    /// The last change counts
    LastWins,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum GraphWord {
    /// A line per node
    Text,
    /// A flowchart
    Mermaid,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum ConfineWord {
    /// As far as the system can
    Auto,
    /// Fully, or nothing is run
    Require,
    /// Not at all
    Off,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum IgnoredWord {
    /// They are copied like the others
    Copy,
    /// Links to the originals stand for them, read-only as far as actors are confined
    Link,
    /// They are not there
    LeaveOut,
}

pub(crate) fn run(args: &Args, session: &Session<'_>, output: &mut Output) -> Result<Answer> {
    if args.schema {
        return schema(output);
    }
    if let Some(plan) = &args.resume {
        let plans = session.writer().plans()?;
        return follow(args, &plans, output, |cancel, on_event| plans.resume_run(plan, cancel, on_event));
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
    tell_of_unfinished(&plans, output)?;
    follow(args, &plans, output, |cancel, on_event| plans.run(checked, &options, cancel, on_event))
}

/// Runs something, shows what happens meanwhile, and tells how it ended.
fn follow(
    args: &Args,
    plans: &Plans,
    output: &mut Output,
    run: impl FnOnce(&Cancel, &(dyn Fn(RunEvent) + Sync)) -> std::result::Result<RunSummary, api::Error> + Send,
) -> Result<Answer> {
    let cancel = Cancel::default();
    let listening = cancel.clone();
    let interrupt = Interrupt::listen_twice(move || listening.cancel())?;
    let showing = args.showing(output);
    let on_terminal = matches!(showing, Showing::Nothing);
    let summary = show::follow(|on_event| run(&cancel, on_event), showing, output)?;
    drop(interrupt);
    end::tell(summary, args.apply, on_terminal, plans, output)
}

impl Args {
    fn options(&self, output: &Output) -> Result<RunOptions> {
        let env = self.env.iter().map(|pair| match pair.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
            _ => Err(Error::Value { value: pair.clone(), expected: "KEY=VALUE" }),
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
            writable: self.writable.clone(),
            ignored: self.ignored.map(word),
            terminal: self.has_terminal(output),
            timeout: self.timeout.clone(),
            retries: self.retries.unwrap_or(0),
            writes: self.writes.clone(),
            env: env.collect::<Result<_>>()?,
        })
    }

    /// Whether the one actor is given the terminal.
    fn has_terminal(&self, output: &Output) -> bool {
        let is_wanted = !self.command.is_empty() && !self.no_tty && !output.is_json();
        is_wanted && io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    fn showing(&self, output: &Output) -> Showing {
        if self.has_terminal(output) {
            return Showing::Nothing;
        }
        let live = if output.format() == Format::Rich && !output.is_quiet() { Live::start() } else { None };
        live.map_or(Showing::Lines, Showing::Live)
    }
}

/// The name of one of some words, as the command line has it.
fn word(word: impl ValueEnum) -> String {
    word.to_possible_value().expect("every word has a name").get_name().to_owned()
}

fn schema(output: &mut Output) -> Result<Answer> {
    let schema = api::plan_file_schema();
    output.say_text(serde_json::to_string_pretty(&schema).expect("a schema is made of text and lists"))?;
    Ok(Answer::ok(schema))
}

/// Prints the graph of what would be run.
fn graph(args: &Args, checked: &CheckedPlan, output: &mut Output) -> Result<Answer> {
    let graph = match args.graph {
        Some(GraphWord::Mermaid) => &checked.mermaid,
        _ => &checked.graph,
    };
    output.say_text(graph.trim_end())?;
    warn_of(args.file.as_ref(), &checked.warnings, output);
    Ok(Answer::of(checked))
}

fn warn_of(file: Option<&PathBuf>, warnings: &[String], output: &mut Output) {
    let file = file.map(|file| format!("{}:", file.display())).unwrap_or_default();
    for warning in warnings {
        output.warn("plan-file", format!("{file}{warning}"), None);
    }
}

/// Tells of runs that were cut off, so that nobody has to remember them.
fn tell_of_unfinished(plans: &Plans, output: &mut Output) -> Result<()> {
    for run in plans.unfinished_runs()?.into_iter().filter(|run| run.held_by.is_none()) {
        let name = run.name.unwrap_or_else(|| run.plan.to_string());
        let hint = format!("`agents run --resume {name}` goes on with it");
        output.warn("unfinished", format!("the run of plan {name} was cut off"), Some(hint));
    }
    Ok(())
}
