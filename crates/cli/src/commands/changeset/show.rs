//! `agents changeset show`.

use api::{ChangeEntry, Operation, Plans};

use super::plural;
use crate::error::Result;
use crate::output::{Answer, Output};

/// Show a changeset with its changes, in order
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The changeset: its id, or the beginning of it
    id: String,
}

pub(super) fn run(args: &Args, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let shown = plans.changeset(&args.id)?;
    let one = &shown.changeset;
    let paint = output.paint();
    output.say(format!("changeset {} of plan {}", paint.strong(&one.id), one.plan))?;
    let reason = one.reason.as_ref().map(|reason| format!(", {reason}")).unwrap_or_default();
    output.say(format!(
        "{}: {}, {}{reason}",
        one.actor,
        one.status,
        plural(one.entries as usize, "change")
    ))?;
    for entry in &shown.entries {
        output.say(line(entry))?;
    }
    Ok(Answer::of(&shown))
}

fn line(entry: &ChangeEntry) -> String {
    let to = match &entry.operation {
        Operation::Rename { to } => format!(" -> {}", to.show()),
        _ => String::new(),
    };
    let after = match &entry.after {
        Some(after) => format!("  {}, mode {:04o}", plural(after.bytes as usize, "byte"), after.mode),
        None => String::new(),
    };
    format!("{:>4}  {:<6}  {}{to}{after}", entry.sequence, entry.operation.as_str(), entry.path.show())
}
