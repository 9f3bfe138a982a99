//! `agents plan clean`.

use api::{PlanSelector, Plans};

use super::{named, plural};
use crate::ask::before_deleting;
use crate::error::Result;
use crate::output::{Answer, Output};

/// Remove plans that are done; their audit trail stays
///
/// Done are those that were applied or undone, and those without any change for a day. Work that was not applied is removed only when its plan is
/// named and `--force` is given. Asks first; where nobody can be asked it needs `--yes`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The plan [default: all that are done]
    plan: Option<PlanSelector>,
    /// Also when it holds work that was not applied
    #[arg(long, requires = "plan")]
    force: bool,
    /// Remove nothing, tell what would go
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

pub(super) fn run(args: &Args, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let plan = args.plan.as_ref();
    if !args.dry_run {
        let what = match plan {
            Some(plan) => format!("removing plan {plan}"),
            None => "removing all plans that are done".to_owned(),
        };
        before_deleting(&what, args.yes, output)?;
    }
    let plan = plan.map(|plan| super::open(plans, plan, output)).transpose()?;
    let cleaning = plans.clean(plan.as_ref(), args.force, args.dry_run)?;
    let cleaned = &cleaning.plans;
    for one in &cleaned.removed {
        output.say(format!("{}  {}", named(one), one.state))?;
    }
    let verb = if args.dry_run { "would be removed" } else { "removed" };
    let kept = plural(cleaned.kept.len(), "plan");
    let kept = if cleaned.kept.is_empty() {
        String::new()
    } else {
        format!("; {kept} with work that was not applied kept")
    };
    let gone = match cleaned.already_removed.len() {
        0 => String::new(),
        gone => format!("; {} removed by someone else meanwhile", plural(gone, "plan")),
    };
    output.confirm(format!("{} {verb}{kept}{gone}", plural(cleaned.removed.len(), "plan")))?;
    Ok(Answer::of(&cleaning))
}
