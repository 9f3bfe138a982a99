//! `agents changeset abandon`.

use api::Plans;

use super::plural;
use crate::error::Result;
use crate::output::{Answer, Output};

/// Close a changeset as given up: its changes are kept and do not count
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The changeset: its id, or the beginning of it
    id: String,
    /// Why, for the log
    #[arg(long, value_name = "TEXT", default_value = "abandoned by hand")]
    reason: String,
}

pub(super) fn run(args: &Args, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let closed = plans.abandon(&args.id, &args.reason)?;
    let changes = plural(closed.changeset.entries as usize, "change");
    let (actor, plan, state) = (&closed.changeset.actor, &closed.changeset.plan, closed.plan_state);
    output.confirm(format!("abandoned {changes} of {actor}; plan {plan} is {state}"))?;
    Ok(Answer::of(&closed))
}
