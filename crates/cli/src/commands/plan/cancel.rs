//! `agents plan cancel`.

use api::{PlanSelector, Plans};

use crate::error::Result;
use crate::output::{Answer, Output};

/// Cancel a plan; its records are kept
///
/// Abandons open changesets, and refuses later records into them.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Name, id, prefix of an id, or @latest
    plan: PlanSelector,
    /// Record this reason [default: cancelled by hand]
    #[arg(long, value_name = "TEXT", default_value = "cancelled by hand", hide_default_value = true)]
    reason: String,
}

pub(super) fn run(args: &Args, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let plan = super::open(plans, &args.plan, output)?;
    let plan = plans.cancel(&plan, &args.reason)?;
    output.done(format!("{}: cancelled", super::plan_name(&plan)));
    Ok(Answer::of(&plan))
}
