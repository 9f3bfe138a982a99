//! Commands, one file each. A command prints through [`Output`] and returns an [`Answer`](crate::output::Answer).

pub(crate) mod audit;
pub(crate) mod changeset;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod context;
pub(crate) mod doctor;
pub(crate) mod help;
pub(crate) mod logs;
pub(crate) mod man;
pub(crate) mod plan;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod store;

use std::process::ExitCode;

use api::{Agents, Invocation, Opened, Plan, PlanSelector, Plans, Recovery, RunClient};

use crate::args::{Args, Command};
use crate::demo;
use crate::display::plural;
use crate::error::Result;
use crate::log;
use crate::output::Output;
use crate::sandbox::{Rule, rule};
use crate::session::{Session, invocation};
use crate::style::Style;

pub(crate) fn run(args: Args) -> ExitCode {
    let name = args.command.name();
    // These commands read no configuration, so that a broken file does not stop a shell from loading completions.
    let from_flags = || Output::start(name, Style::from_flags(&args.global));
    match &args.command {
        Command::Completions(args) => {
            let mut output = from_flags();
            let result = completions::run(args, &mut output);
            output.finish(result)
        }
        Command::Schema(args) => {
            let mut output = from_flags();
            let result = schema::run(args, &mut output);
            output.finish(result)
        }
        Command::Man(args) => {
            let mut output = from_flags();
            let result = man::run(args, &mut output);
            output.finish(result)
        }
        Command::Help(args) => {
            let mut output = from_flags();
            let result = help::run(args, &mut output);
            output.finish(result)
        }
        Command::DemoWriter(args) => from_flags().finish(demo::run_writer(args)),
        Command::Config(_)
        | Command::Context(_)
        | Command::Run(_)
        | Command::Logs(_)
        | Command::Plan(_)
        | Command::Changeset(_)
        | Command::Audit(_)
        | Command::Store(_)
        | Command::Doctor(_)
        | Command::Demo(_) => run_configured(&args).unwrap_or_else(|error| from_flags().finish(Err(error))),
    }
}

/// Runs a command that reads configuration. Fails where not even the output format can be read.
fn run_configured(args: &Args) -> Result<ExitCode> {
    let invocation = invocation(&args.global);
    if let Some(client) = RunClient::from_env(&invocation) {
        match rule(args.command.name()) {
            Rule::Local => {}
            Rule::Forwarded => return forward(args, &client, invocation),
            Rule::Refused => return Err(api::Error::InSandbox { command: args.command.name() }.into()),
        }
    }
    let agents = Agents::open(&invocation)?;
    let reading = agents.config_snapshot();
    let agents = agents.with_settings(&reading);
    let preferences = reading.preferences()?;
    log::start(&preferences)?;
    let mut output = Output::start(args.command.name(), Style::from_preferences(&preferences, &args.global));
    let session = Session::new(&agents, reading, &preferences, &output);
    let result = match &args.command {
        Command::Config(args) => config::run(args, session, &mut output),
        Command::Context(context) => context::run(context, &args.global, &session, &mut output),
        Command::Run(args) => run::run(args, &session, &mut output),
        Command::Logs(args) => logs::run(args, &session, &mut output),
        Command::Plan(args) => plan::run(args, &session, &mut output),
        Command::Changeset(args) => changeset::run(args, &session, &mut output),
        Command::Audit(args) => audit::run(args, &session, &mut output),
        Command::Store(args) => store::run(args, &session, &mut output),
        Command::Doctor(args) => doctor::run(args, &session, &mut output),
        Command::Demo(args) => demo::run(args, &mut output),
        Command::Schema(_)
        | Command::Completions(_)
        | Command::Man(_)
        | Command::Help(_)
        | Command::DemoWriter(_) => {
            unreachable!("these need no configuration")
        }
    };
    // The command may have corrected a problem that was there when it started.
    let problems = match preferences.problems.is_empty() {
        true => Vec::new(),
        false => {
            agents.config_snapshot().preferences().map(|now| now.problems).unwrap_or(preferences.problems)
        }
    };
    Ok(output.finish_with(result, problems))
}

/// Forwards a command from a sandbox to its run. Reads no file of the home folder, not even for the output format.
fn forward(args: &Args, client: &RunClient, invocation: Invocation) -> Result<ExitCode> {
    let agents = Agents::open(&invocation.without_home())?;
    let preferences = agents.config_snapshot().preferences()?;
    let mut output = Output::start(args.command.name(), Style::from_preferences(&preferences, &args.global));
    let result = match &args.command {
        Command::Config(args) => config::forward(args, client, &mut output),
        Command::Context(args) => context::forward(args, client, &mut output),
        Command::Changeset(args) => changeset::forward(args, client, &mut output),
        _ => unreachable!("the others are refused, or run locally"),
    };
    Ok(output.finish(result))
}

/// Opens the existing store of plans; creates none.
fn existing_plans(session: &Session<'_>) -> Result<Plans> {
    Ok(session.writer().known_plans()?.ok_or(api::Error::NoPlans)?)
}

/// Opens a plan, and warns about interrupted applies in its roots that this finished.
fn open(plans: &Plans, plan: impl Into<PlanSelector>, output: &mut Output) -> Result<Plan> {
    Ok(opened(plans.open(plan)?, output))
}

fn opened(Opened { plan, recovered, problem }: Opened, output: &mut Output) -> Plan {
    warn_recovered(&recovered, output);
    problem.into_iter().for_each(|problem| output.warn_problem(problem));
    plan
}

fn warn_recovered(recovered: &[Recovery], output: &mut Output) {
    for recovered in recovered {
        let hint = format!("agents plan history {}", recovered.plan);
        output.warn("recovered", recovered.to_string(), Some(hint));
    }
}

/// The name by which messages call a plan: its own, or its id.
fn plan_name(plan: &Plan) -> String {
    plan.name.as_ref().map_or_else(|| plan.id.to_string(), ToString::to_string)
}

/// `checkout (01M7PYTW…)`: the name of a plan with its id, for first lines.
fn plan_title(plan: &Plan) -> String {
    plan.name.as_ref().map_or_else(|| plan.id.to_string(), |name| format!("{name} ({})", plan.id))
}
