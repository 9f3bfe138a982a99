//! `agents plan prune`.

use api::{Cleaning, Plan, PlanSelector, Plans};

use super::{plan_name, plural};
use crate::confirm::{ask, require_yes};
use crate::display::age;
use crate::error::Result;
use crate::output::{Answer, Output};
use crate::table::Table;

/// Remove finished plans; their audit records stay
///
/// A plan is finished if it was applied or undone, or has been without changes for a day. `--force` also removes a named plan with unapplied
/// changes. Asks for confirmation; without a terminal it needs `--yes`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Name, id, prefix of an id, or @latest [default: all finished plans]
    plan: Option<PlanSelector>,
    /// Remove the plan even with changes that were not applied
    #[arg(long, requires = "plan")]
    force: bool,
    /// Only print what would be removed
    #[arg(long)]
    dry_run: bool,
    /// Skip the confirmation
    #[arg(short, long)]
    yes: bool,
}

pub(super) fn run(args: &Args, plans: &Plans, output: &mut Output) -> Result<Answer> {
    if !args.dry_run {
        require_yes("remove plans", args.yes, output)?;
    }
    let plan = args.plan.as_ref().map(|plan| super::open(plans, plan, output)).transpose()?;
    if args.dry_run || !args.yes {
        let preview = plans.clean(plan.as_ref(), args.force, true)?;
        print(&preview, output)?;
        if args.dry_run || preview.plans.removed.is_empty() {
            return Ok(Answer::of(&preview));
        }
        ask(&question(&preview.plans.removed))?;
    }
    let cleaning = plans.clean(plan.as_ref(), args.force, false)?;
    if args.yes {
        print(&cleaning, output)?;
    }
    if !cleaning.plans.removed.is_empty() {
        output.done(format!("removed {}", plural(cleaning.plans.removed.len(), "plan")));
    }
    if !cleaning.plans.already_removed.is_empty() {
        output.done(format!(
            "{} removed by someone else",
            plural(cleaning.plans.already_removed.len(), "plan")
        ));
    }
    Ok(Answer::of(&cleaning))
}

/// Lists the plans that go and counts those that stay: to standard output for a dry run, else to standard error.
fn print(cleaning: &Cleaning, output: &mut Output) -> Result<()> {
    let (is_data, plans) = (cleaning.dry_run, &cleaning.plans);
    let mut table = Table::new(["PLAN", "ID", "STATE", "AGE"], &[3]);
    for plan in &plans.removed {
        let name = plan.name.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
        table.row([name, plan.id.to_string(), plan.state.to_string(), age(&plan.created_at.to_string())]);
    }
    if table.is_empty() {
        output.print_or_report(is_data, "nothing to remove")?;
    }
    for line in table.lines(output.paint()) {
        output.print_or_report(is_data, line)?;
    }
    if !plans.kept.is_empty() {
        output
            .print_or_report(is_data, format!("keeps {}: not applied", plural(plans.kept.len(), "plan")))?;
    }
    Ok(())
}

fn question(plans: &[Plan]) -> String {
    match plans {
        [plan] => format!("Remove plan {}", plan_name(plan)),
        plans => format!("Remove {}", plural(plans.len(), "plan")),
    }
}
