//! One file per command. A command prints through [`Output`] and returns an [`Answer`](crate::output::Answer).

pub(crate) mod audit;
pub(crate) mod changeset;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod context;
pub(crate) mod doctor;
pub(crate) mod man;
pub(crate) mod plan;
pub(crate) mod run;
pub(crate) mod store;

use std::process::ExitCode;

use api::{Agents, Invocation, Opened, Plan, PlanSelector, Plans, Recovery, RunClient, plural};

use crate::args::{Args, Command};
use crate::demo;
use crate::error::Result;
use crate::log;
use crate::look::Look;
use crate::output::Output;
use crate::sandbox::{Rule, rule};
use crate::session::{Session, invocation};

pub(crate) fn run(args: Args) -> ExitCode {
    let name = args.command.name();
    // What needs no configuration does not read it: a broken file is no reason for a shell to start without completions.
    let by_flags = || Output::start(name, Look::of_flags(&args.global));
    match &args.command {
        Command::Completions(args) => {
            let mut output = by_flags();
            let result = completions::run(args, &mut output);
            output.finish(result)
        }
        Command::Man(args) => {
            let mut output = by_flags();
            let result = man::run(args, &mut output);
            output.finish(result)
        }
        Command::DemoWriter(args) => by_flags().finish(demo::run_writer(args)),
        Command::Config(_)
        | Command::Context(_)
        | Command::Run(_)
        | Command::Plan(_)
        | Command::Changeset(_)
        | Command::Audit(_)
        | Command::Store(_)
        | Command::Doctor(_)
        | Command::Demo(_) => run_configured(&args).unwrap_or_else(|error| by_flags().finish(Err(error))),
    }
}

/// A command that goes by configuration. Fails where even how to print is not known.
fn run_configured(args: &Args) -> Result<ExitCode> {
    let invocation = invocation(&args.global);
    if let Some(client) = RunClient::from_env(&invocation) {
        match rule(args.command.name()) {
            Rule::Works => {}
            Rule::Asks => return ask(args, &client, invocation),
            Rule::Refused => return Err(api::Error::InSandbox { command: args.command.name() }.into()),
        }
    }
    let agents = Agents::open(&invocation)?;
    let reading = agents.config_snapshot();
    let agents = agents.with_settings(&reading);
    let preferences = reading.preferences()?;
    log::start(&preferences)?;
    let mut output = Output::start(args.command.name(), Look::of_preferences(&preferences, &args.global));
    let session = Session::new(&agents, reading, &preferences, &output);
    let result = match &args.command {
        Command::Config(args) => config::run(args, session, &mut output),
        Command::Context(words) => context::run(words, &args.global, &session, &mut output),
        Command::Run(args) => run::run(args, &session, &mut output),
        Command::Plan(args) => plan::run(args, &session, &mut output),
        Command::Changeset(args) => changeset::run(args, &session, &mut output),
        Command::Audit(args) => audit::run(args, &session, &mut output),
        Command::Store(args) => store::run(args, &session, &mut output),
        Command::Doctor(args) => doctor::run(args, &session, &mut output),
        Command::Demo(args) => demo::run(args, &mut output),
        Command::Completions(_) | Command::Man(_) | Command::DemoWriter(_) => {
            unreachable!("these need no configuration")
        }
    };
    // The command may have corrected what was wrong when it started.
    let problems = match preferences.problems.is_empty() {
        true => Vec::new(),
        false => {
            agents.config_snapshot().preferences().map(|now| now.problems).unwrap_or(preferences.problems)
        }
    };
    Ok(output.finish_with(result, problems))
}

/// A command in the sandbox of a run, which does what it is asked. No file of the home folder is read, not even for how to print.
fn ask(args: &Args, client: &RunClient, invocation: Invocation) -> Result<ExitCode> {
    let agents = Agents::open(&invocation.without_home())?;
    let preferences = agents.config_snapshot().preferences()?;
    let mut output = Output::start(args.command.name(), Look::of_preferences(&preferences, &args.global));
    let result = match &args.command {
        Command::Config(args) => config::ask(args, client, &mut output),
        Command::Context(args) => context::ask(args, client, &mut output),
        Command::Changeset(args) => changeset::ask(args, client, &mut output),
        _ => unreachable!("the others are refused, or read"),
    };
    Ok(output.finish(result))
}

/// The plans there are. Where there are none no store is made.
fn known_plans(session: &Session<'_>) -> Result<Plans> {
    Ok(session.writer().known_plans()?.ok_or(api::Error::NoPlans)?)
}

/// Opens a plan, and tells about applies that were cut off in its folders and are finished now.
fn open(plans: &Plans, plan: impl Into<PlanSelector>, output: &mut Output) -> Result<Plan> {
    Ok(opened(plans.open(plan)?, output))
}

fn opened(Opened { plan, recovered, problem }: Opened, output: &mut Output) -> Plan {
    tell_recovered(&recovered, output);
    problem.into_iter().for_each(|problem| output.warn_of(problem));
    plan
}

fn tell_recovered(recovered: &[Recovery], output: &mut Output) {
    for recovered in recovered {
        let hint = format!("`agents plan log {}` says more", recovered.plan);
        output.warn("recovered", recovered.to_string(), Some(hint));
    }
}
