//! `agents context fork`.

use api::{ContextName, Contexts};

use super::plural;
use crate::error::Result;
use crate::output::{Answer, Output};

/// Copy a context: messages, state and global context
///
/// The two share nothing: later changes of one do not affect the other.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Context name
    name: ContextName,
    /// Name of the copy
    new: ContextName,
    /// Only the first N messages
    #[arg(long, value_name = "N")]
    at: Option<u64>,
}

pub(super) fn run(args: &Args, contexts: &Contexts, output: &mut Output) -> Result<Answer> {
    let fork = contexts.fork(&args.name, &args.new, args.at)?;
    output.done(format!("{}: forked from {}, {}", fork.name, args.name, plural(fork.message_count)));
    Ok(Answer::of(&fork))
}
