//! `agents context clear`.

use api::{ContextName, Contexts};

use super::{IfRevision, Yes, warn_of_change};
use crate::confirm::confirm;
use crate::error::Result;
use crate::output::{Answer, Output};

/// Delete messages, state and global context, and keep the context
///
/// Asks for confirmation; without a terminal it needs `--yes`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Context name
    name: ContextName,
    #[command(flatten)]
    yes: Yes,
    #[command(flatten)]
    if_revision: IfRevision,
}

pub(super) fn run(args: &Args, contexts: &Contexts, output: &mut Output) -> Result<Answer> {
    confirm(&format!("clear {}", args.name), args.yes.yes, output)?;
    let change = contexts.clear(&args.name, args.if_revision.if_revision)?;
    output.done(format!("{}: cleared, revision {}", change.name, change.revision));
    warn_of_change(&change, output);
    Ok(Answer::of(&change))
}
