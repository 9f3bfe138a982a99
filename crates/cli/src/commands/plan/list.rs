//! `agents plan list`.

use api::{Plan, Plans, Purpose};

use crate::error::Result;
use crate::output::{Answer, Output};

/// List plans, the newest first
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Only those in this state, such as ready; may be repeated
    #[arg(long, value_name = "STATE")]
    state: Vec<String>,
    /// At most this many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

pub(super) fn run(args: &Args, plans: &Plans, output: &mut Output) -> Result<Answer> {
    say(&plans.list(&args.state, args.limit)?, output)
}

pub(super) fn say(listed: &[Plan], output: &mut Output) -> Result<Answer> {
    for plan in listed {
        let paint = output.paint();
        let name = plan.name.as_ref().map_or("-", |name| name.as_str());
        let undo = match plan.purpose {
            Purpose::Undo { of } => format!("  undoes {of}"),
            Purpose::Work => String::new(),
        };
        output.say(format!(
            "{}  {:<9}  {}  {}{undo}",
            paint.strong(plan.id),
            plan.state,
            paint.faint(plan.changed_at),
            name
        ))?;
    }
    Ok(Answer::ok(serde_json::json!({ "plans": listed })))
}
