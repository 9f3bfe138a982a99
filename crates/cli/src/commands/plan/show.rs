//! `agents plan show`.

use api::{Changeset, NodeReport, Plan, PlanDetail, PlanSelector, Plans, Purpose, RunSettings};
use schemars::JsonSchema;
use serde::Serialize;

use super::super::run::draw::time;
use super::super::run::model::Mark;
use super::super::run::phrases::{End, took};
use super::{plan_title, plural, roots};
use crate::display::{age, grouped};
use crate::error::Result;
use crate::output::{Answer, Output};
use crate::style::Paint;
use crate::table::Table;

/// Show a plan: state, folders, changesets and nodes
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Name, id, prefix of an id, or @latest
    plan: PlanSelector,
}

/// A plan with its nodes, for programs.
#[derive(JsonSchema, Serialize)]
pub(super) struct Shown {
    #[serde(flatten)]
    plan: PlanDetail,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nodes: Vec<NodeReport>,
}

pub(super) fn run(args: &Args, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let plan = super::open(plans, &args.plan, output)?;
    let shown = plans.show(&plan)?;
    let nodes = plans.run_of(plan.id)?.nodes()?;
    let PlanDetail { plan, changesets, run } = &shown;
    let paint = output.paint();
    output.print(format!("{}: {}", paint.strong(plan_title(plan)), plan.state))?;
    for line in details(plan, run.as_ref()) {
        output.print(format!("  {line}"))?;
    }
    output.print_table(&changeset_table(changesets))?;
    output.print_table(&node_table(&nodes, paint))?;
    Ok(Answer::of(&Shown { plan: shown, nodes }))
}

/// The lines below the first: error, undone plan, folders, people and terms of the run.
fn details(plan: &Plan, run: Option<&RunSettings>) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(plan.detail.error.clone());
    if let Purpose::Undo { of } = plan.purpose {
        lines.push(format!("undo of plan {of}"));
    }
    let ago = |time: &dyn ToString| format!("{} ago", age(&time.to_string()));
    let created = format!("created by {} {}", plan.created_by, ago(&plan.created_at));
    let changed = format!("changed by {} {}", plan.changed_by, ago(&plan.changed_at));
    lines.push(format!("{}; {created}, {changed}", roots(plan)));
    lines.extend(run.map(terms));
    lines
}

/// `runs plan.toml, 4 nodes at once; confined: full; may write to ~/.claude`.
fn terms(terms: &RunSettings) -> String {
    let RunSettings { file, concurrency, confinement, allow_write } = terms;
    let names: Vec<_> = allow_write.iter().map(|folder| folder.display().to_string()).collect();
    let also = if names.is_empty() { String::new() } else { format!("; may write to {}", names.join(", ")) };
    let nodes = plural(*concurrency, "node");
    format!("runs {}, {nodes} at once; confined: {}{also}", file.display(), confinement.name())
}

fn changeset_table(changesets: &[Changeset]) -> Table<4> {
    let mut table = Table::new(["CHANGESET", "ACTOR", "CHANGES", "STATUS"], &[2]);
    for changeset in changesets {
        let reason = changeset.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        table.row([
            changeset.id.to_string(),
            changeset.actor.to_string(),
            grouped(changeset.entries),
            format!("{}{reason}", changeset.status.as_str()),
        ]);
    }
    table
}

fn node_table(nodes: &[NodeReport], paint: Paint) -> Table<5> {
    let mut table = Table::new(["NODE", "OUTCOME", "TIME", "FILES", "AFTER"], &[2, 3]);
    for node in nodes {
        let attempt = if node.attempts > 1 { format!(", attempt {}", node.attempts) } else { String::new() };
        table.row([
            node.name.clone(),
            format!("{}{attempt}", outcome(node, paint)),
            node.seconds.map_or_else(|| "-".to_owned(), |seconds| time(took(seconds))),
            if node.files_changed > 0 { grouped(node.files_changed as u64) } else { "-".to_owned() },
            node.needs.join(", "),
        ]);
    }
    table
}

fn outcome(node: &NodeReport, paint: Paint) -> String {
    let end = End::of(node);
    let words = end.map_or_else(|| node.state.to_string(), |end| end.words());
    match end.map(|end| end.mark()) {
        Some(Mark::Good) => paint.good(words),
        Some(Mark::Bad) => paint.bad(words),
        Some(Mark::Skipped) | None => paint.faint(words),
    }
}
