//! `agents plan undo`.

use std::io::{self, IsTerminal};

use api::{PlanSelector, Plans};

use super::{PartArgs, end, plural, say_files};
use crate::ask::before_deleting;
use crate::error::Result;
use crate::output::{Answer, Output};

/// Take back what a plan changed, or a part of it
///
/// The undo is a plan of its own, which can be undone. A file that was changed since is a conflict (4) that says who changed it, and nothing
/// is touched. On a terminal it shows what would happen and asks first, unless `--yes` is given.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The plan: an id, the beginning of one, a name, or @latest
    plan: PlanSelector,
    #[command(flatten)]
    part: PartArgs,
    /// Touch nothing, tell what would happen
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
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
    let can_ask = !output.is_json() && io::stdin().is_terminal() && io::stderr().is_terminal();
    if args.dry_run || (can_ask && !args.yes) {
        let preview = plans.undo(&plans.look_up(&args.plan)?, &selection, true)?;
        say_files(&preview, output)?;
        if args.dry_run {
            let files = plural(preview.files.len(), "file");
            output.confirm(format!(
                "would take back {files} of plan {}; nothing was touched",
                preview.plan.id
            ))?;
            return Ok(Answer::of(&preview));
        }
        before_deleting(&format!("taking back {}", plural(preview.files.len(), "file")), false, output)?;
    }
    let plan = super::open(plans, &args.plan, output)?;
    let undone = plans.undo(&plan, &selection, false)?;
    say_files(&undone, output)?;
    let files = plural(undone.files.len(), "file");
    output.confirm(format!("took back {files} of plan {}, as plan {}", plan.id, undone.plan.id))?;
    let exit = end(&undone, output);
    Ok(Answer { exit, ..Answer::of(&undone) })
}
