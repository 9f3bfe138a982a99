//! `agents context rename`.

use api::{ContextName, Contexts};

use super::IfRevision;
use crate::error::Result;
use crate::output::{Answer, Output};

/// Rename a context
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Context name
    name: ContextName,
    /// New name
    new: ContextName,
    #[command(flatten)]
    if_revision: IfRevision,
}

pub(super) fn run(args: &Args, contexts: &Contexts, output: &mut Output) -> Result<Answer> {
    contexts.rename(&args.name, &args.new, args.if_revision.if_revision)?;
    output.confirm(format!("{} is {} now", args.name, args.new))?;
    Ok(Answer::ok(serde_json::json!({ "name": args.new, "was": args.name })))
}
