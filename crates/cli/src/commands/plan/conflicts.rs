//! `agents plan conflicts`.

use api::errors::State;
use api::{Attribution, PlanSelector, Plans, conflict_line};

use crate::error::{Exit, Result};
use crate::output::{Answer, Output};

/// Show where actors clash: files, lines, and who
///
/// Ends with 4 when there are conflicts. `agents plan resolve` settles one.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The plan: an id, the beginning of one, a name, or @latest
    plan: PlanSelector,
}

pub(super) fn run(args: &Args, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let plan = super::open(plans, &args.plan, output)?;
    let conflicts = plans.conflicts(&plan)?;
    if conflicts.is_empty() {
        // It may be in conflict with what somebody made of the files.
        let why = plan.detail.error.filter(|_| plan.state == State::Conflict);
        output.confirm(match why {
            Some(why) => format!("no conflicts between actors; {why}"),
            None => "no conflicts".to_owned(),
        })?;
    }
    for conflict in &conflicts {
        let paint = output.paint();
        output.say(paint.strong(conflict_line(conflict)))?;
        for hunk in &conflict.hunks {
            output.say(format!("  line {}", hunk.line))?;
            let (ours, theirs) = (names(&hunk.ours_by), names(&hunk.theirs_by));
            let parts = [("was", &hunk.base), (&ours, &hunk.ours), (&theirs, &hunk.theirs)];
            for (who, lines) in parts {
                for line in lines {
                    output.say(format!("    {who}: {}", line.trim_end_matches(['\r', '\n'])))?;
                }
            }
        }
    }
    let exit = if conflicts.is_empty() { Exit::Ok } else { Exit::Conflict };
    Ok(Answer { exit, data: serde_json::json!({ "conflicts": conflicts }).into() })
}

/// Whose lines they are.
fn names(authors: &[Attribution]) -> String {
    match authors {
        [] => "outside of the plan".to_owned(),
        authors => authors.iter().map(|author| author.actor.as_str()).collect::<Vec<_>>().join(", "),
    }
}
