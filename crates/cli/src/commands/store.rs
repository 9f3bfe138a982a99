//! `agents store`.

use api::{GcStats, StoreState};
use clap::Subcommand;

use super::schema::{Entry, of};
use super::{existing_plans, plural};
use crate::display::{bytes, grouped};
use crate::error::Result;
use crate::output::{Answer, Output};
use crate::session::Session;

/// Copy, migrate, compact the store
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Show location and contents of the store
    ///
    /// Creates the store if there is none.
    Status,
    /// Migrate the store to the newest schema
    ///
    /// Every command does so when it opens the store. A store with a newer schema is refused and stays as it is.
    Migrate,
    Copy(CopyArgs),
    Gc(GcArgs),
}

/// Copy a store to another, also between SQLite and PostgreSQL
///
/// A store is `sqlite:FILE` or `postgres://USER@HOST/DATABASE`; a password comes from PGPASSWORD or PGPASSFILE. The target must be empty, or hold
/// an interrupted copy, which is continued. At the end the stores are compared and the audit chains of the copy verified. No process may
/// write to either during the copy. `store.url` stays as it is.
#[derive(clap::Args, Debug)]
struct CopyArgs {
    /// Copy this store
    #[arg(long, value_name = "URL")]
    from: String,
    /// Copy to this store
    #[arg(long, value_name = "URL")]
    to: String,
}

/// Remove blobs that no change refers to
///
/// Keeps those of the last 24 hours, whose change may not be recorded yet.
#[derive(clap::Args, Debug)]
struct GcArgs {
    /// Only print what would be removed
    #[arg(long)]
    dry_run: bool,
}

pub(super) const SCHEMAS: &[Entry] = &[
    ("store status", of::<StoreState>),
    ("store migrate", of::<StoreState>),
    ("store copy", of::<StoreState>),
    ("store gc", of::<GcStats>),
];

impl Args {
    /// The `command` of the envelope.
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
    output.print(format!("{}, schema {}", output.paint().strong(&state.place), state.schema))?;
    let counts = [
        ("plans", counts.plans),
        ("nodes", counts.nodes),
        ("changesets", counts.changesets),
        ("entries", counts.entries),
        ("blobs", counts.blobs),
        ("audit records", counts.records),
    ];
    let width = counts.iter().map(|(_, count)| grouped(*count).len()).max().unwrap_or(0);
    for (name, count) in counts {
        output.print(format!("  {name:<13}  {:>width$}", grouped(count)))?;
    }
    Ok(Answer::of(&state))
}

fn migrate(session: &Session<'_>, output: &mut Output) -> Result<Answer> {
    let state = session.writer().store()?;
    output.done(format!("{}: schema {}, up to date", state.place, state.schema));
    Ok(Answer::of(&state))
}

fn copy(args: &CopyArgs, session: &Session<'_>, output: &mut Output) -> Result<Answer> {
    let state = session.writer().copy_store(&args.from, &args.to)?;
    let (plans, changesets) =
        (plural(state.counts.plans as usize, "plan"), plural(state.counts.changesets as usize, "changeset"));
    output.done(format!("{}: copied and verified {plans}, {changesets}", state.place));
    Ok(Answer::of(&state))
}

fn gc(args: &GcArgs, session: &Session<'_>, output: &mut Output) -> Result<Answer> {
    let collected = existing_plans(session)?.collect(args.dry_run)?;
    output.print_or_report(args.dry_run, summary(&collected, args.dry_run))?;
    Ok(Answer::of(&collected))
}

/// `removed 3 blobs, 1.2 MB, and 1 unfinished upload`.
fn summary(collected: &GcStats, dry_run: bool) -> String {
    let mut parts = Vec::new();
    if collected.blobs > 0 {
        parts.push(format!("{}, {}", plural(collected.blobs as usize, "blob"), bytes(collected.bytes)));
    }
    if collected.uploads > 0 {
        parts.push(plural(collected.uploads as usize, "unfinished upload"));
    }
    match (parts.as_slice(), dry_run) {
        ([], _) => "nothing to remove".to_owned(),
        (parts, true) => format!("would remove {}", parts.join(", and ")),
        (parts, false) => format!("removed {}", parts.join(", and ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collection_is_summarised_by_what_it_removes() {
        let collected = |blobs, bytes, uploads| GcStats { blobs, bytes, uploads };
        for (collected, dry_run, expected) in [
            (collected(0, 0, 0), false, "nothing to remove"),
            (collected(1, 12, 0), false, "removed 1 blob, 12 B"),
            (collected(0, 0, 2), true, "would remove 2 unfinished uploads"),
            (collected(1_200, 1_200_000, 1), false, "removed 1,200 blobs, 1.2 MB, and 1 unfinished upload"),
        ] {
            assert_eq!(summary(&collected, dry_run), expected);
        }
    }
}
