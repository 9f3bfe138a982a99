//! `agents changeset`: one file per command.

mod abandon;
mod list;
mod record;
mod seal;
mod show;
mod start;

use api::{Changeset, ChangesetDetail, Closed, RecordedEntry, RunClient};
use clap::Subcommand;

use super::schema::{Entry, of};
use super::{existing_plans, open, plan_name, plural};
use crate::error::Result;
use crate::output::{Answer, Output};
use crate::session::Session;

/// Record changes by hand
///
/// A changeset holds what one actor changes in one plan. A change is durable when the command ends. A sealed changeset takes no more changes;
/// a plan is ready when its last changeset is sealed.
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

pub(super) const SCHEMAS: &[Entry] = &[
    ("changeset start", of::<Changeset>),
    ("changeset record", of::<RecordedEntry>),
    ("changeset seal", of::<Closed>),
    ("changeset abandon", of::<Closed>),
    ("changeset list", of::<list::Data>),
    ("changeset show", of::<ChangesetDetail>),
];

impl Args {
    /// The `command` of the envelope.
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
    let plans = &existing_plans(session)?;
    match &args.command {
        Command::Start(args) => start::run(args, plans, output),
        Command::Record(args) => record::run(args, |id, entry| plans.record(id, entry), output),
        Command::Seal(args) => seal::run(args, plans, output),
        Command::Abandon(args) => abandon::run(args, plans, output),
        Command::List(args) => list::run(args, plans, output),
        Command::Show(args) => show::run(args, plans, output),
    }
}

/// Forwards the command from a sandbox to its run.
pub(crate) fn forward(args: &Args, client: &RunClient, output: &mut Output) -> Result<Answer> {
    let Command::Record(args) = &args.command else { unreachable!("the others are refused") };
    record::run(args, |id, entry| client.record(id, entry), output)
}
