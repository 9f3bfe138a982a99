//! `agents plan show`.

use api::{NodeReport, PlanDetail, PlanSelector, Plans, Purpose, RunSettings};
use serde::Serialize;

use super::super::plural;
use super::super::run::draw::time;
use super::super::run::model::Mark;
use super::super::run::phrases::{End, took};
use super::named;
use crate::error::Result;
use crate::look::Paint;
use crate::output::{Answer, Output};

/// Show a plan: its state, folders and changesets, and the graph of one that is run, with outcomes
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The plan: an id, the beginning of one, a name, or @latest
    plan: PlanSelector,
}

/// A plan with its nodes, for programs.
#[derive(Serialize)]
struct Shown {
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
    output.say(format!("plan {}", paint.strong(named(plan))))?;
    output.say(format!("{}: {}", paint.strong(plan.state), plan.state.description()))?;
    if let Some(error) = &plan.detail.error {
        output.say(format!("why: {error}"))?;
    }
    if let Purpose::Undo { of } = plan.purpose {
        output.say(format!("undoes {of}"))?;
    }
    for root in &plan.roots {
        output.say(format!("root {}", root.show()))?;
    }
    if let Some(settings) = run {
        output.say(run_line(settings))?;
    }
    output.say(format!("made by {} at {}", plan.created_by, plan.created_at))?;
    output.say(format!("changed by {} at {}", plan.changed_by, plan.changed_at))?;
    for one in changesets {
        let entries = plural(one.entries as usize, "change");
        let reason = one.reason.as_ref().map(|reason| format!(", {reason}")).unwrap_or_default();
        output.say(format!(
            "changeset {}  {:<9}  {}, {entries}{reason}",
            one.id,
            one.status.as_str(),
            one.actor
        ))?;
    }
    let width = nodes.iter().map(|node| node.name.chars().count()).max().unwrap_or(0);
    for node in &nodes {
        output.say(node_line(node, width, output.paint()))?;
    }
    Ok(Answer::of(&Shown { plan: shown, nodes }))
}

/// `runs plan.toml, 4 nodes at once, confined: full, may also write to ~/.claude`.
fn run_line(settings: &RunSettings) -> String {
    let RunSettings { file, concurrency, confinement, allow_write } = settings;
    let names: Vec<_> = allow_write.iter().map(|folder| folder.display().to_string()).collect();
    let also =
        if names.is_empty() { String::new() } else { format!(", may also write to {}", names.join(", ")) };
    let (file, confinement) = (file.display(), confinement.name());
    format!("runs {file}, {} at once, confined: {confinement}{also}", plural(*concurrency, "node"))
}

/// `node test    succeeded  0.4s, 3 files, after rename`.
fn node_line(node: &NodeReport, width: usize, paint: Paint) -> String {
    let end = End::of(node);
    let word = end.map_or_else(|| node.state.to_string(), |end| end.words());
    let word = match end.map(|end| end.mark()) {
        Some(Mark::Good) => paint.good(word),
        Some(Mark::Bad) => paint.bad(word),
        Some(Mark::Skipped) | None => paint.faint(word),
    };
    let mut more = Vec::new();
    more.extend(node.seconds.map(|seconds| time(took(seconds))));
    more.extend((node.files_changed > 0).then(|| plural(node.files_changed, "file")));
    more.extend((node.attempts > 1).then(|| format!("attempt {}", node.attempts)));
    more.extend((!node.needs.is_empty()).then(|| format!("after {}", node.needs.join(", "))));
    let more = if more.is_empty() { String::new() } else { format!("  {}", more.join(", ")) };
    format!("node {:<width$}  {word}{more}", node.name)
}
