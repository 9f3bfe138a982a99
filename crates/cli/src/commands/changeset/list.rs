//! `agents changeset list`.

use api::{Changeset, PlanSelector, Plans};
use schemars::JsonSchema;
use serde::Serialize;

use super::plan_name;
use crate::display::grouped;
use crate::error::Result;
use crate::output::{Answer, Output};
use crate::table::Table;

/// List the changesets of a plan in the order of their start
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Name, id, prefix of an id, or @latest
    plan: PlanSelector,
}

/// The `data` of the envelope.
#[derive(JsonSchema, Serialize)]
pub(super) struct Data {
    changesets: Vec<Changeset>,
}

pub(super) fn run(args: &Args, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let plan = super::open(plans, &args.plan, output)?;
    let changesets = plans.changesets(&plan)?;
    let mut table = Table::new(["CHANGESET", "ACTOR", "CHANGES", "STATUS"], &[2]);
    for changeset in &changesets {
        table.row([
            changeset.id.to_string(),
            changeset.actor.to_string(),
            grouped(changeset.entries),
            changeset.status.as_str().to_owned(),
        ]);
    }
    if table.is_empty() {
        output.report(format!("{}: no changesets", plan_name(&plan)));
    }
    output.print_table(&table)?;
    Ok(Answer::of(&Data { changesets }))
}
