//! The end of a run: prints its nodes, its result, and the next commands.

use api::errors::PlanId;
use api::{Applied, ApplyOptions, PlanSelection, Plans, RunSummary, conflict_line};
use schemars::JsonSchema;
use serde::Serialize;

use super::Data;
use super::live::columns;
use super::model::Mark;
use super::phrases::End;
use super::show::table;
use crate::commands::plan::{self, print_files, print_stat};
use crate::commands::{open, plural};
use crate::error::{Exit, Result};
use crate::output::{Answer, Output};
use crate::style::Format;

/// The most files that are listed.
const FILES_MAX: usize = 40;

/// The result of a run, for programs.
#[derive(JsonSchema, Serialize)]
pub(super) struct Ended<'a> {
    #[serde(flatten)]
    summary: &'a RunSummary,
    /// Result of `--apply`.
    #[serde(skip_serializing_if = "Option::is_none")]
    applied: Option<Applied>,
}

/// Prints the result of a run, and applies the plan if requested and possible.
pub(super) fn report(
    summary: RunSummary,
    apply: bool,
    on_terminal: bool,
    plans: &Plans,
    output: &mut Output,
) -> Result<Answer> {
    let is_ready = summary.state.as_str() == "ready";
    if output.format() == Format::Rich && !on_terminal {
        for line in table(&summary, columns(), output.paint()) {
            output.confirm(line)?;
        }
    }
    if on_terminal {
        print_failures(&summary, output)?;
    }
    for node in &summary.nodes {
        for note in &node.notes {
            output.warn("note", format!("{}: {note}", node.name), None);
        }
    }
    // A failed plan cannot be applied.
    let is_reviewable = is_ready || summary.state.as_str() == "conflict";
    if is_reviewable
        && (1..=FILES_MAX).contains(&summary.files_changed)
        && !output.is_json()
        && !output.is_quiet()
    {
        print_stat(
            &plans.diff(&open(plans, summary.plan, output)?, &PlanSelection::default())?.files,
            output,
        )?;
    }
    for conflict in &summary.conflicts {
        let hint = "`agents plan conflicts @latest` shows it, `agents plan resolve` resolves it".to_owned();
        output.warn("conflict", format!("conflict at {}", conflict_line(conflict)), Some(hint));
    }
    output.confirm(result_line(&summary))?;
    let applied = match apply && is_ready && summary.files_changed > 0 && !summary.cancelled {
        true => Some(applied(summary.plan, plans, output)?),
        false => None,
    };
    if applied.is_none() {
        for (index, next) in next(&summary).into_iter().enumerate() {
            let label = if index == 0 { "next:" } else { "" };
            output.confirm(format!("{label:<5} {}", output.paint().strong(next)))?;
        }
    }
    let exit = match (&applied, summary.cancelled, summary.state.as_str()) {
        (Some((_, exit)), ..) => *exit,
        (_, true, _) => Exit::Interrupted,
        (_, _, "ready") => Exit::Ok,
        (_, _, "conflict") => Exit::Refused,
        _ => Exit::Error,
    };
    let ended = Ended { summary: &summary, applied: applied.map(|(applied, _)| applied) };
    Ok(Answer { exit, ..Answer::of(&Data::Ended(&ended)) })
}

/// Prints the outcome of an actor that had the terminal, unless it succeeded.
fn print_failures(summary: &RunSummary, output: &mut Output) -> Result<()> {
    for node in &summary.nodes {
        if let Some(end) = End::of(node).filter(|end| end.outcome != api::NodeOutcome::Succeeded) {
            output.confirm(format!("{}: {}", output.paint().strong(&node.name), end.words()))?;
        }
    }
    Ok(())
}

fn applied(plan: PlanId, plans: &Plans, output: &mut Output) -> Result<(Applied, Exit)> {
    let plan = open(plans, plan, output)?;
    let applied = plans.apply(&plan, &ApplyOptions::default())?;
    print_files(&applied, output)?;
    output.confirm(format!("applied {}", plural(applied.files.len(), "file")))?;
    let exit = plan::end(&applied, output);
    Ok((applied, exit))
}

/// `plan 01M7… (work) is ready: 3 files, 5 lines added, 2 removed`.
fn result_line(summary: &RunSummary) -> String {
    let RunSummary { plan, files_changed, added, removed, nodes, .. } = summary;
    let name = summary.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    let changes = match files_changed {
        0 => "nothing was changed".to_owned(),
        _ => format!(
            "{}, {} added, {removed} removed",
            plural(*files_changed, "file"),
            plural(*added as usize, "line")
        ),
    };
    let done = nodes.iter().filter_map(End::of).filter(|end| end.mark() == Mark::Good).count();
    let done = format!("{done} of {} succeeded; the plan cannot be applied", plural(nodes.len(), "node"));
    match summary.state.as_str() {
        "ready" => format!("plan {plan}{name} is ready: {changes}"),
        "conflict" => format!("plan {plan}{name} has conflicts: {changes}"),
        _ if summary.cancelled => format!("plan {plan}{name} was cancelled: {done}"),
        state => format!("plan {plan}{name} {state}: {done}"),
    }
}

/// The next commands.
fn next(summary: &RunSummary) -> Vec<String> {
    let logs = summary.first_failure().map(|node| format!("agents logs @latest {}", node.name));
    match summary.state.as_str() {
        "ready" if summary.files_changed == 0 => Vec::new(),
        "ready" => {
            vec!["agents plan diff @latest".to_owned(), "agents plan apply @latest".to_owned()]
        }
        "conflict" => vec!["agents plan conflicts @latest".to_owned()],
        // A cancelled plan stays cancelled.
        "cancelled" => Vec::new(),
        _ => logs.into_iter().chain(["agents run --resume @latest".to_owned()]).collect(),
    }
}
