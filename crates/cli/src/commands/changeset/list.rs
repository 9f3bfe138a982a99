//! `agents changeset list`.

use api::{PlanSelector, Plans};

use super::plural;
use crate::error::Result;
use crate::output::{Answer, Output};

/// List the changesets of a plan, in the order in which they were started
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The plan: an id, the beginning of one, a name, or @latest
    plan: PlanSelector,
}

pub(super) fn run(args: &Args, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let plan = super::open(plans, &args.plan, output)?;
    let listed = plans.changesets(&plan)?;
    for one in &listed {
        let changes = plural(one.entries as usize, "change");
        output.say(format!(
            "{}  {:<9}  {}  {changes}",
            output.paint().strong(&one.id),
            one.status.as_str(),
            one.actor
        ))?;
    }
    Ok(Answer::ok(serde_json::json!({ "changesets": listed })))
}
