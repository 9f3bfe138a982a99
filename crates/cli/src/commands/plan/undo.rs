//! `agents plan undo`.

use api::{PlanSelector, Plans};

use super::{PartArgs, end, plan_name, plural, print_files, roots};
use crate::confirm::{ask, can_ask};
use crate::error::Result;
use crate::output::{Answer, Output};

/// Undo a plan, or a part of it
///
/// The undo is itself a plan, which can be undone. A file that changed since the plan was applied stops the undo (exit code 4) with a message
/// that says who changed it, and nothing is undone. On a terminal it lists the files and asks first, unless `--yes` is given.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Name, id, prefix of an id, or @latest
    plan: PlanSelector,
    #[command(flatten)]
    part: PartArgs,
    /// Only print what would be undone
    #[arg(long)]
    dry_run: bool,
    /// Skip the confirmation
    #[arg(short, long)]
    yes: bool,
}

const EXAMPLES: &str = "\
Examples:
  agents plan undo @latest --dry-run
  agents plan undo rename-module --actor coder
  agents plan undo rename-module --path 'docs/**'";

pub(super) fn run(args: &Args, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let selection = args.part.selection()?;
    let is_asked = can_ask(output) && !args.yes;
    if args.dry_run || is_asked {
        let plan = plans.look_up(&args.plan)?;
        let preview = plans.undo(&plan, &selection, true)?;
        let files = plural(preview.files.len(), "file");
        if args.dry_run {
            output.print(format!("{}: would undo {files} in {}", plan_name(&plan), roots(&plan)))?;
        }
        print_files(&preview, output)?;
        if args.dry_run {
            return Ok(Answer::of(&preview));
        }
        let what = if args.part.actor.is_empty() { plan_name(&plan) } else { args.part.actor.join(", ") };
        ask(&format!("Undo {what} in {}, {files}", roots(&plan)))?;
    }
    let plan = super::open(plans, &args.plan, output)?;
    let undone = plans.undo(&plan, &selection, false)?;
    if !is_asked {
        print_files(&undone, output)?;
    }
    let (name, roots, files) = (plan_name(&plan), roots(&plan), plural(undone.files.len(), "file"));
    output.done(match args.part.actor.as_slice() {
        [] => format!("{name}: undid {files} in {roots}"),
        actors => format!("{name}: undid {} in {roots}, {files}", actors.join(", ")),
    });
    output.hint(&format!("agents plan undo {}  # brings it back", undone.plan.id));
    let exit = end(&undone, output);
    Ok(Answer { exit, ..Answer::of(&undone) })
}
