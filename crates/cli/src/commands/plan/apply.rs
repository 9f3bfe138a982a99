//! `agents plan apply`.

use api::{Applied, ApplyOptions, PlanSelector, Plans};

use super::{PartArgs, end, named, plural, say_files};
use crate::error::Result;
use crate::output::{Answer, Output};

/// Bring a plan's changes into its folders: all of them, or none
///
/// Every file is first compared with what the plan found there. One that was changed since is a conflict (4), and nothing is touched; with
/// `--merge-drift` edits of other lines are merged. With `--actor` or `--path` a part is applied and the rest stays ready.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The plan: an id, the beginning of one, a name, or @latest
    plan: PlanSelector,
    #[command(flatten)]
    part: PartArgs,
    /// Merge texts that people changed since, where other lines were edited
    #[arg(long)]
    merge_drift: bool,
    /// Touch nothing, tell what would happen
    #[arg(long)]
    dry_run: bool,
}

const EXAMPLES: &str = "\
Examples:
  agents plan apply @latest --dry-run
  agents plan apply rename-module
  agents plan apply rename-module --actor coder --path 'src/**'";

pub(super) fn run(args: &Args, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let options = ApplyOptions {
        selection: args.part.selection()?,
        merge_drift: args.merge_drift,
        dry_run: args.dry_run,
    };
    let plan = match args.dry_run {
        true => plans.look_up(&args.plan)?,
        false => super::open(plans, &args.plan, output)?,
    };
    let applied = plans.apply(&plan, &options)?;
    say_files(&applied, output)?;
    output.confirm(told(&applied))?;
    let exit = end(&applied, output);
    Ok(Answer { exit, ..Answer::of(&applied) })
}

fn told(applied: &Applied) -> String {
    let (plan, files) = (named(&applied.plan), plural(applied.files.len(), "file"));
    match (applied.dry_run, applied.remaining) {
        (true, 0) => format!("would apply {files} of plan {plan}; nothing was touched"),
        (true, left) => format!("would apply {files} of plan {plan} and leave {left}; nothing was touched"),
        (false, 0) => format!("applied {files} of plan {plan}"),
        (false, left) => {
            format!("applied {files} of plan {plan}; {left} left, and the plan is {}", applied.plan.state)
        }
    }
}
