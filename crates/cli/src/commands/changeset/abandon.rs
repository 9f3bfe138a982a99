//! `agents changeset abandon`.

use api::Plans;

use super::plural;
use crate::error::Result;
use crate::output::{Answer, Output};

/// Abandon a changeset; its changes are kept, but not applied
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Id of the changeset, or a prefix of it
    id: String,
    /// Record this reason [default: abandoned by hand]
    #[arg(long, value_name = "TEXT", default_value = "abandoned by hand", hide_default_value = true)]
    reason: String,
}

pub(super) fn run(args: &Args, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let closed = plans.abandon(&args.id, &args.reason)?;
    let changes = plural(closed.changeset.entries as usize, "change");
    let (actor, plan, state) = (&closed.changeset.actor, &closed.changeset.plan, closed.plan_state);
    output.done(format!("{actor}: abandoned {changes}; plan {plan} is {state}"));
    Ok(Answer::of(&closed))
}
