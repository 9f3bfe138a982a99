//! `agents plan log`.

use api::{PlanEvent, PlanSelector, Plans};

use crate::error::Result;
use crate::output::{Answer, Output};

/// Show everything that happened to a plan, and who did it
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The plan: an id, the beginning of one, a name, or @latest
    plan: PlanSelector,
}

pub(super) fn run(args: &Args, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let plan = super::open(plans, &args.plan, output)?;
    let events = plans.log(&plan)?;
    for event in &events {
        let paint = output.paint();
        output.say(format!(
            "{:>4}  {}  {}  {}{}",
            event.sequence,
            paint.faint(event.at),
            paint.strong(&event.kind),
            event.actor,
            more(event)
        ))?;
    }
    Ok(Answer::ok(serde_json::json!({ "events": events })))
}

/// What else there is to say about an event.
fn more(event: &PlanEvent) -> String {
    let mut more = String::new();
    match (event.from, event.to) {
        (Some(from), Some(to)) => more.push_str(&format!("  {from} -> {to}")),
        (None, Some(to)) => more.push_str(&format!("  {to}")),
        _ => {}
    }
    if let Some(changeset) = event.changeset {
        more.push_str(&format!("  {changeset}"));
    }
    if let Some(entries) = event.entries {
        more.push_str(&format!("  {}", super::plural(entries as usize, "change")));
    }
    if let Some(error) = &event.error {
        more.push_str(&format!("  {error}"));
    }
    more
}
