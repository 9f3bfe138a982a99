//! `agents changeset seal`.

use api::Plans;

use super::plural;
use crate::error::Result;
use crate::output::{Answer, Output};

/// Close a changeset as whole; its plan is ready when it was the last
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The changeset: its id, or the beginning of it
    id: String,
}

pub(super) fn run(args: &Args, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let closed = plans.seal(&args.id)?;
    let changes = plural(closed.changeset.entries as usize, "change");
    let (actor, plan, state) = (&closed.changeset.actor, &closed.changeset.plan, closed.plan_state);
    output.confirm(format!("sealed {changes} of {actor}; plan {plan} is {state}"))?;
    Ok(Answer::of(&closed))
}
