//! `agents plan history`.

use api::{PlanEvent, PlanSelector, Plans};
use schemars::JsonSchema;
use serde::Serialize;

use super::plural;
use crate::error::Result;
use crate::output::{Answer, Output};
use crate::table::Table;

/// Show what happened to a plan, and who did it
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Name, id, prefix of an id, or @latest
    plan: PlanSelector,
}

/// The `data` of the envelope.
#[derive(JsonSchema, Serialize)]
pub(super) struct Data {
    events: Vec<PlanEvent>,
}

pub(super) fn run(args: &Args, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let plan = super::open(plans, &args.plan, output)?;
    let events = plans.log(&plan)?;
    let mut table = Table::new(["RECORD", "TIME", "EVENT", "BY", "DETAILS"], &[0]);
    for event in &events {
        table.row([
            event.sequence.to_string(),
            event.at.to_string(),
            event.kind.clone(),
            event.actor.to_string(),
            details(event),
        ]);
    }
    output.print_table(&table)?;
    Ok(Answer::of(&Data { events }))
}

/// The change of state, changeset, number of changes and error of an event.
fn details(event: &PlanEvent) -> String {
    let mut details = Vec::new();
    match (event.from, event.to) {
        (Some(from), Some(to)) => details.push(format!("{from} -> {to}")),
        (None, Some(to)) => details.push(to.to_string()),
        _ => {}
    }
    details.extend(event.changeset.map(|changeset| changeset.to_string()));
    details.extend(event.entries.map(|entries| plural(entries as usize, "change")));
    details.extend(event.error.clone());
    details.join(", ")
}
