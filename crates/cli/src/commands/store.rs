//! `agents store`.

use clap::Subcommand;

use super::{known_plans, plural};
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
    /// Tell where the store is, and how much is in it
    ///
    /// Makes it where there is none yet.
    Status,
    /// Bring the tables of the store up to date
    ///
    /// Every command does so when it opens the store. A store of a newer program is refused, and not touched.
    Migrate,
    Copy(CopyArgs),
    Gc(GcArgs),
}

/// Copy everything in a store into another, also of the other kind
///
/// A store is `sqlite:FILE` or `postgres://USER@HOST/DATABASE`. The password of a server comes from PGPASSWORD or PGPASSFILE. The other store
/// must be empty, or filled by a copy that was cut off: that one goes on. At the end both are compared, and the audit trail of the copy is
/// verified. Nobody may work in either meanwhile. `store.url` is not changed.
#[derive(clap::Args, Debug)]
struct CopyArgs {
    /// The store that is there
    #[arg(long, value_name = "URL")]
    from: String,
    /// Where it is copied to
    #[arg(long, value_name = "URL")]
    to: String,
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
            Command::Status => "store status",
            Command::Migrate => "store migrate",
            Command::Copy(_) => "store copy",
            Command::Gc(_) => "store gc",
        }
    }
}

pub(crate) fn run(args: &Args, session: &Session<'_>, output: &mut Output) -> Result<Answer> {
    match &args.command {
        Command::Status => status(session, output),
        Command::Migrate => migrate(session, output),
        Command::Copy(args) => copy(args, session, output),
        Command::Gc(args) => gc(args, session, output),
    }
}

fn status(session: &Session<'_>, output: &mut Output) -> Result<Answer> {
    let state = session.writer().store()?;
    let counts = state.counts;
    output.say(format!("store       {}", output.paint().strong(&state.place)))?;
    output.say(format!("schema      {}", state.schema))?;
    for (what, count) in [
        ("plans", counts.plans),
        ("nodes", counts.nodes),
        ("changesets", counts.changesets),
        ("entries", counts.entries),
        ("blobs", counts.blobs),
        ("records", counts.records),
    ] {
        output.say(format!("{what:<10}  {count}"))?;
    }
    Ok(Answer::of(&state))
}

fn migrate(session: &Session<'_>, output: &mut Output) -> Result<Answer> {
    let state = session.writer().store()?;
    output.confirm(format!("{} has schema version {}, the newest", state.place, state.schema))?;
    Ok(Answer::of(&state))
}

fn copy(args: &CopyArgs, session: &Session<'_>, output: &mut Output) -> Result<Answer> {
    let state = session.writer().copy_store(&args.from, &args.to)?;
    let (plans, changesets) =
        (plural(state.counts.plans as usize, "plan"), plural(state.counts.changesets as usize, "changeset"));
    output.confirm(format!("copied {plans} with {changesets} to {}, and verified", state.place))?;
    Ok(Answer::of(&state))
}

fn gc(args: &GcArgs, session: &Session<'_>, output: &mut Output) -> Result<Answer> {
    let collected = known_plans(session)?.collect(args.dry_run)?;
    let verb = if args.dry_run { "would be removed" } else { "removed" };
    let blobs = plural(collected.blobs as usize, "blob");
    let uploads = plural(collected.uploads as usize, "unfinished upload");
    output.confirm(format!("{blobs} of {} bytes and {uploads} {verb}", collected.bytes))?;
    Ok(Answer::of(&collected))
}
