//! `agents changeset start`.

use api::{PlanSelector, Plans};

use crate::error::Result;
use crate::output::{Answer, Output};

/// Start a changeset for an actor, and print its id
///
/// When it ends the changeset is durable, and any process finds it.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  CHANGESET=$(agents changeset start @latest --actor coder)")]
pub(super) struct Args {
    /// The plan: an id, the beginning of one, a name, or @latest
    plan: PlanSelector,
    /// To whom its changes are credited
    #[arg(long, value_name = "NAME")]
    actor: String,
}

pub(super) fn run(args: &Args, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let plan = super::open(plans, &args.plan, output)?;
    let started = plans.start_changeset(&plan, &api::actor(&args.actor)?)?;
    output.say(&started.id)?;
    Ok(Answer::of(&started))
}
