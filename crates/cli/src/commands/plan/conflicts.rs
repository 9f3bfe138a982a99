//! `agents plan conflicts`.

use api::errors::State;
use api::{Attribution, Conflict, PlanSelector, Plans, conflict_line};
use schemars::JsonSchema;
use serde::Serialize;

use super::{plan_name, plural};
use crate::error::{Exit, Result};
use crate::output::{Answer, Output};

/// Show conflicts between actors, with files and lines
///
/// Exits with 4 if there are any. `agents plan resolve` resolves one.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Name, id, prefix of an id, or @latest
    plan: PlanSelector,
}

/// The `data` of the envelope.
#[derive(JsonSchema, Serialize)]
pub(super) struct Data {
    conflicts: Vec<Conflict>,
}

pub(super) fn run(args: &Args, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let plan = super::open(plans, &args.plan, output)?;
    let (name, id) = (plan_name(&plan), plan.id);
    let conflicts = plans.conflicts(&plan)?;
    if conflicts.is_empty() {
        // The plan may still conflict with drifted files.
        let why = plan.detail.error.filter(|_| plan.state == State::Conflict);
        output.print(match why {
            Some(why) => format!("{name}: no conflicts between actors; {why}"),
            None => format!("{name}: no conflicts"),
        })?;
    } else {
        output.print(format!("{name}: {}", plural(conflicts.len(), "conflict")))?;
    }
    for conflict in &conflicts {
        let paint = output.paint();
        output.print(format!("  {}", paint.strong(conflict_line(conflict))))?;
        for hunk in &conflict.hunks {
            output.print(format!("    line {}", hunk.line))?;
            let (ours, theirs) = (authors(&hunk.ours_by), authors(&hunk.theirs_by));
            let parts = [("base", &hunk.base), (&ours, &hunk.ours), (&theirs, &hunk.theirs)];
            for (author, lines) in parts {
                for line in lines {
                    let line = line.strip_suffix(b"\n").unwrap_or(line);
                    output.print_labelled(&format!("      {author}: "), line)?;
                }
            }
        }
    }
    if let Some(conflict) = conflicts.first() {
        let (path, side) = (conflict.key.path.show(), conflict.sides.first());
        let actor = side.map_or("ACTOR", |side| side.attribution.actor.as_str());
        output.hint(&format!("agents plan resolve {id} {path} --take {actor}"));
    }
    let exit = if conflicts.is_empty() { Exit::Ok } else { Exit::Refused };
    Ok(Answer { exit, ..Answer::of(&Data { conflicts }) })
}

/// The authors of lines.
fn authors(credits: &[Attribution]) -> String {
    match credits {
        [] => "outside of the plan".to_owned(),
        credits => credits.iter().map(|credit| credit.actor.as_str()).collect::<Vec<_>>().join(", "),
    }
}
