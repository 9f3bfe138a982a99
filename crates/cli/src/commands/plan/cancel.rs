//! `agents plan cancel`.

use api::{PlanSelector, Plans};

use crate::error::Result;
use crate::output::{Answer, Output};

/// Give a plan up; what was recorded is kept
///
/// Open changesets are abandoned, and whoever still records into them is refused.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The plan: an id, the beginning of one, a name, or @latest
    plan: PlanSelector,
    /// Why, for the log
    #[arg(long, value_name = "TEXT", default_value = "cancelled by hand")]
    reason: String,
}

pub(super) fn run(args: &Args, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let plan = super::open(plans, &args.plan, output)?;
    let plan = plans.cancel(&plan, &args.reason)?;
    output.confirm(format!("cancelled plan {}", super::named(&plan)))?;
    Ok(Answer::of(&plan))
}
