//! `agents changeset start`.

use api::{PlanSelector, Plans};

use crate::error::Result;
use crate::output::{Answer, Output};

/// Start a changeset and print its id
///
/// The changeset is durable when the command ends; any process can record into it.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  CHANGESET=$(agents changeset start @latest --actor coder)")]
pub(super) struct Args {
    /// Name, id, prefix of an id, or @latest
    plan: PlanSelector,
    /// Attribute its changes to this actor
    #[arg(long, value_name = "NAME")]
    actor: String,
}

pub(super) fn run(args: &Args, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let plan = super::open(plans, &args.plan, output)?;
    let started = plans.start_changeset(&plan, &api::actor(&args.actor)?)?;
    output.done_silently(format!("changeset {} was started", started.id));
    output.print(started.id)?;
    Ok(Answer::of(&started))
}
