//! `agents store`.

use clap::Subcommand;

use super::{counted, with_plans};
use crate::error::Result;
use crate::output::{Answer, Output};
use crate::session::Session;

/// Look after the store of plans and changesets
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Gc(GcArgs),
}

/// Remove contents that no change refers to any more
///
/// Those that came in within the last 24 hours stay, since their change may be about to be recorded.
#[derive(clap::Args, Debug)]
struct GcArgs {
    /// Remove nothing, tell what would go
    #[arg(long)]
    dry_run: bool,
}

impl Args {
    /// As the JSON envelope names it.
    pub(crate) fn name(&self) -> &'static str {
        match &self.command {
            Command::Gc(_) => "store gc",
        }
    }
}

pub(crate) fn run(args: &Args, session: &Session<'_>, output: &mut Output) -> Result<Answer> {
    let Command::Gc(args) = &args.command;
    with_plans(session, output, |plans, output| {
        let collected = plans.collect(args.dry_run)?;
        let verb = if args.dry_run { "would be removed" } else { "removed" };
        let contents = counted(collected.blobs as usize, "content");
        let uploads = counted(collected.uploads as usize, "unfinished upload");
        output.confirm(format!("{contents} of {} bytes and {uploads} {verb}", collected.bytes))?;
        Ok(Answer::of(&collected))
    })
}
