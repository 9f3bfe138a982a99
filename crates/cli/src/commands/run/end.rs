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
use crate::commands::plan::{self, print_files, stat_lines};
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
            output.report(line);
        }
    }
    if on_terminal {
        report_failures(&summary, output);
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
        let difference = plans.diff(&open(plans, summary.plan, output)?, &PlanSelection::default())?;
        stat_lines(&difference.files, output.paint()).iter().for_each(|line| output.report(line));
    }
    for conflict in &summary.conflicts {
        let hint = format!("agents plan conflicts {}", summary.plan);
        output.warn("conflict", format!("conflict at {}", conflict_line(conflict)), Some(hint));
    }
    output.done(result_line(&summary));
    let applied = match apply && is_ready && summary.files_changed > 0 && !summary.cancelled {
        true => Some(applied(summary.plan, plans, output)?),
        false => None,
    };
    if applied.is_none() {
        output.hints(&next(&summary));
    }
    output.print_id(summary.plan)?;
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

/// Applies a plan whose run has ended.
pub(super) fn apply(plan: PlanId, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let (applied, exit) = applied(plan, plans, output)?;
    output.print_id(plan)?;
    Ok(Answer { exit, ..Answer::of(&Data::Applied(&applied)) })
}

/// Reports the outcome of an actor that had the terminal, unless it succeeded.
fn report_failures(summary: &RunSummary, output: &mut Output) {
    for node in &summary.nodes {
        if let Some(end) = End::of(node).filter(|end| end.outcome != api::NodeOutcome::Succeeded) {
            output.report(format!("{}: {}", output.paint().strong(&node.name), end.words()));
        }
    }
}

fn applied(plan: PlanId, plans: &Plans, output: &mut Output) -> Result<(Applied, Exit)> {
    let plan = open(plans, plan, output)?;
    let applied = plans.apply(&plan, &ApplyOptions::default())?;
    print_files(&applied, output)?;
    output.done(plan::applied_line(&applied));
    let exit = plan::end(&applied, output);
    Ok((applied, exit))
}

/// `work (01M7…): ready, 3 files, +5 -2`.
fn result_line(summary: &RunSummary) -> String {
    let RunSummary { plan, files_changed, added, removed, nodes, .. } = summary;
    let title = summary.name.as_ref().map_or_else(|| plan.to_string(), |name| format!("{name} ({plan})"));
    let changes = match files_changed {
        0 => "nothing changed".to_owned(),
        _ => format!("{}, +{added} -{removed}", plural(*files_changed, "file")),
    };
    let succeeded = nodes.iter().filter_map(End::of).filter(|end| end.mark() == Mark::Good).count();
    let succeeded = format!("{succeeded} of {} succeeded", plural(nodes.len(), "node"));
    match summary.state.as_str() {
        state @ ("ready" | "conflict") => format!("{title}: {state}, {changes}"),
        _ if summary.cancelled => format!("{title}: cancelled, {succeeded}"),
        state => format!("{title}: {state}, {succeeded}; it cannot be applied"),
    }
}

/// The next commands, by id: `@latest` may be another plan when they are pasted.
fn next(summary: &RunSummary) -> Vec<String> {
    let plan = summary.plan;
    let logs = summary.first_failure().map(|node| format!("agents logs {plan} {}", node.name));
    match summary.state.as_str() {
        "ready" if summary.files_changed == 0 => Vec::new(),
        "ready" => vec![format!("agents plan diff {plan}"), format!("agents plan apply {plan}")],
        "conflict" => vec![format!("agents plan conflicts {plan}")],
        // A cancelled plan stays cancelled.
        "cancelled" => Vec::new(),
        _ => logs.into_iter().chain([format!("agents run --resume {plan}")]).collect(),
    }
}
