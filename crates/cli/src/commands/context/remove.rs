//! `agents context remove`.

use api::{ContextName, Contexts};
use schemars::JsonSchema;
use serde::Serialize;

use super::{IfRevision, Yes};
use crate::confirm::confirm;
use crate::error::Result;
use crate::output::{Answer, Output};

/// Delete a context with all of its files
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

/// The `data` of the envelope.
#[derive(JsonSchema, Serialize)]
pub(super) struct Data<'a> {
    name: &'a ContextName,
}

pub(super) fn run(args: &Args, contexts: &Contexts, output: &mut Output) -> Result<Answer> {
    confirm(&format!("delete {}", args.name), args.yes.yes, output)?;
    let delete_error = contexts.remove(&args.name, args.if_revision.if_revision)?;
    output.done(format!("{}: removed", args.name));
    if let Some(error) = delete_error {
        output.warn(
            "delete-failed",
            format!("the files of {} are not deleted yet: {error}", args.name),
            None,
        );
    }
    Ok(Answer::of(&Data { name: &args.name }))
}
