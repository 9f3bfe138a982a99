//! `agents plan list`.

use api::{Plan, Plans, Purpose};
use schemars::JsonSchema;
use serde::Serialize;

use crate::display::age;
use crate::error::Result;
use crate::output::{Answer, Output};
use crate::table::Table;

/// List plans, newest first
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// List only plans in this state, such as ready (repeatable)
    #[arg(long, value_name = "STATE")]
    state: Vec<String>,
    /// List at most this many [default: all]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

/// The `data` of the envelope.
#[derive(JsonSchema, Serialize)]
pub(super) struct Data<'a> {
    plans: &'a [Plan],
}

pub(super) fn run(args: &Args, plans: &Plans, output: &mut Output) -> Result<Answer> {
    print(&plans.list(&args.state, args.limit)?, output)
}

pub(super) fn print(plans: &[Plan], output: &mut Output) -> Result<Answer> {
    let mut table = Table::new(["PLAN", "ID", "STATE", "AGE"], &[3]);
    for plan in plans {
        let name = match plan.purpose {
            Purpose::Undo { of } => format!("(undo of {of})"),
            Purpose::Work => plan.name.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string),
        };
        table.row([name, plan.id.to_string(), plan.state.to_string(), age(&plan.created_at.to_string())]);
    }
    if table.is_empty() {
        output.report("no plans");
    }
    output.print_table(&table)?;
    Ok(Answer::of(&Data { plans }))
}
