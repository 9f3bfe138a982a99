//! `agents changeset`: one file per command.

mod abandon;
mod list;
mod record;
mod seal;
mod show;
mod start;

use api::RunClient;
use clap::Subcommand;

use super::{known_plans, open, plural};
use crate::error::Result;
use crate::output::{Answer, Output};
use crate::session::Session;

/// Record what one actor changes
///
/// Every change goes into the changeset that is named, whoever else records at the same time, and is durable when the command ends. A changeset
/// that is sealed takes no more; when the last one of a plan is sealed the plan is ready.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Start(start::Args),
    Record(record::Args),
    Seal(seal::Args),
    Abandon(abandon::Args),
    List(list::Args),
    Show(show::Args),
}

impl Args {
    /// As the JSON envelope names it.
    pub(crate) fn name(&self) -> &'static str {
        match &self.command {
            Command::Start(_) => "changeset start",
            Command::Record(_) => "changeset record",
            Command::Seal(_) => "changeset seal",
            Command::Abandon(_) => "changeset abandon",
            Command::List(_) => "changeset list",
            Command::Show(_) => "changeset show",
        }
    }
}

pub(crate) fn run(args: &Args, session: &Session<'_>, output: &mut Output) -> Result<Answer> {
    let plans = &known_plans(session)?;
    match &args.command {
        Command::Start(args) => start::run(args, plans, output),
        Command::Record(args) => record::run(args, |id, entry| plans.record(id, entry), output),
        Command::Seal(args) => seal::run(args, plans, output),
        Command::Abandon(args) => abandon::run(args, plans, output),
        Command::List(args) => list::run(args, plans, output),
        Command::Show(args) => show::run(args, plans, output),
    }
}

/// The same in the sandbox of a run, which does what it is asked.
pub(crate) fn ask(args: &Args, client: &RunClient, output: &mut Output) -> Result<Answer> {
    let Command::Record(args) = &args.command else { unreachable!("the others are refused") };
    record::run(args, |id, entry| client.record(id, entry), output)
}
