//! `agents changeset seal`.

use api::Plans;
use api::errors::State;

use super::plural;
use crate::error::Result;
use crate::output::{Answer, Output};

/// Seal a changeset; its plan is ready when the last one is sealed
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Id of the changeset, or a prefix of it
    id: String,
}

pub(super) fn run(args: &Args, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let closed = plans.seal(&args.id)?;
    let changes = plural(closed.changeset.entries as usize, "change");
    let (actor, plan, state) = (&closed.changeset.actor, &closed.changeset.plan, closed.plan_state);
    output.done(format!("{actor}: sealed {changes}; plan {plan} is {state}"));
    if state == State::Ready {
        output.hint(&format!("agents plan diff {plan}"));
    }
    Ok(Answer::of(&closed))
}
