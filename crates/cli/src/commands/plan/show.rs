//! `agents plan show`.

use api::{PlanDetail, Plans};

use super::super::counted;
use super::named;
use crate::error::Result;
use crate::output::{Answer, Output};

/// Show a plan: its state, folders and changesets
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The plan: an id, the beginning of one, a name, or @latest
    plan: String,
}

pub(super) fn run(args: &Args, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let shown = plans.show(&args.plan)?;
    let PlanDetail { plan, changesets } = &shown;
    let paint = output.paint();
    output.say(format!("plan {}", paint.strong(named(plan))))?;
    output.say(format!("{}: {}", paint.strong(plan.state), plan.meaning))?;
    if let Some(error) = &plan.error {
        output.say(format!("why: {error}"))?;
    }
    if let Some(of) = &plan.undo_of {
        output.say(format!("undoes {of}"))?;
    }
    for root in &plan.roots {
        output.say(format!("root {root}"))?;
    }
    output.say(format!("made by {} at {}", plan.created_by, plan.created_at))?;
    output.say(format!("changed by {} at {}", plan.changed_by, plan.changed_at))?;
    for one in changesets {
        let entries = counted(one.entries as usize, "change");
        let reason = one.reason.as_ref().map(|reason| format!(", {reason}")).unwrap_or_default();
        output.say(format!("changeset {}  {:<9}  {}, {entries}{reason}", one.id, one.status, one.actor))?;
    }
    Ok(Answer::of(&shown))
}
