//! `agents context rewind`.

use api::{ContextName, Contexts};

use super::{IfRevision, plural, warn_of_change};
use crate::error::Result;
use crate::output::{Answer, Output};

/// Keep the first N messages and delete the rest; state and global context stay
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Context name
    name: ContextName,
    /// Number of messages to keep
    #[arg(long, value_name = "N")]
    to: u64,
    #[command(flatten)]
    if_revision: IfRevision,
}

pub(super) fn run(args: &Args, contexts: &Contexts, output: &mut Output) -> Result<Answer> {
    let change = contexts.rewind(&args.name, args.to, args.if_revision.if_revision)?;
    output.done(format!(
        "{}: kept {}, revision {}",
        change.name,
        plural(change.message_count),
        change.revision
    ));
    warn_of_change(&change, output);
    Ok(Answer::of(&change))
}
