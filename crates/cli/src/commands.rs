//! One file per command. A command prints through [`Output`] and returns an [`Answer`](crate::output::Answer).

pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod context;
pub(crate) mod demo;
pub(crate) mod man;

use std::process::ExitCode;

use api::Agents;

use crate::args::{Args, Command};
use crate::error::Result;
use crate::look::Look;
use crate::output::Output;
use crate::session::{Session, surroundings};

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
        Command::Config(_) | Command::Context(_) | Command::Demo(_) => {
            run_configured(&args).unwrap_or_else(|error| by_flags().finish(Err(error)))
        }
    }
}

/// A command that goes by configuration. Fails where even how to print is not known.
fn run_configured(args: &Args) -> Result<ExitCode> {
    let agents = Agents::open(&surroundings(&args.global))?;
    let parses_itself = matches!(&args.command, Command::Config(args) if args.is_set());
    let reading = if parses_itself { agents.read_preferences() } else { agents.read() };
    let preferences = reading.preferences()?;
    let mut output = Output::start(args.command.name(), Look::of_preferences(&preferences, &args.global));
    let session = Session::new(&agents, reading, &preferences, &output);
    let result = match &args.command {
        Command::Config(args) => config::run(args, session, &mut output),
        Command::Context(words) => context::run(words, &args.global, &session, &mut output),
        Command::Demo(args) => demo::run(args, &mut output),
        Command::Completions(_) | Command::Man(_) | Command::DemoWriter(_) => {
            unreachable!("these need no configuration")
        }
    };
    // The command may have corrected what was wrong when it started.
    let problems = match preferences.problems.is_empty() {
        true => Vec::new(),
        false => agents.read().preferences().map(|now| now.problems).unwrap_or(preferences.problems),
    };
    Ok(output.finish_with(result, problems))
}
