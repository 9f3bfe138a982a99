//! `agents plan apply`.

use api::{Applied, ApplyOptions, PlanSelector, Plans};

use super::{PartArgs, end, plan_name, plural, print_files, roots};
use crate::error::Result;
use crate::output::{Answer, Output};

/// Apply a plan to its folders, all or nothing
///
/// A file that changed since the plan was recorded stops the apply (exit code 4) and nothing is applied; `--merge-drift` merges edits of
/// other lines. `--actor` and `--path` apply a part; the rest stays ready.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Name, id, prefix of an id, or @latest
    plan: PlanSelector,
    #[command(flatten)]
    part: PartArgs,
    /// Merge with files that changed since, where the edits are of other lines
    #[arg(long)]
    merge_drift: bool,
    /// Only print what would be applied
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
    if args.dry_run {
        output.print(summary(&applied))?;
    }
    print_files(&applied, output)?;
    if args.dry_run {
        output.hint(&format!("agents plan apply {}", applied.plan.id));
    } else {
        output.done(summary(&applied));
    }
    let exit = end(&applied, output);
    Ok(Answer { exit, ..Answer::of(&applied) })
}

/// `checkout: applied 5 files to ~/shop; 2 files remain`.
pub(super) fn summary(applied: &Applied) -> String {
    let (name, roots) = (plan_name(&applied.plan), roots(&applied.plan));
    let files = plural(applied.files.len(), "file");
    let verb = if applied.dry_run { "would apply" } else { "applied" };
    let remaining = match applied.remaining {
        0 => String::new(),
        1 => "; 1 file remains".to_owned(),
        left => format!("; {} remain", plural(left, "file")),
    };
    format!("{name}: {verb} {files} to {roots}{remaining}")
}
