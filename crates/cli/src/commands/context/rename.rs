//! `agents context rename`.

use api::{ContextName, Contexts};
use schemars::JsonSchema;
use serde::Serialize;

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

/// The `data` of the envelope.
#[derive(JsonSchema, Serialize)]
pub(super) struct Data<'a> {
    name: &'a ContextName,
    old_name: &'a ContextName,
}

pub(super) fn run(args: &Args, contexts: &Contexts, output: &mut Output) -> Result<Answer> {
    contexts.rename(&args.name, &args.new, args.if_revision.if_revision)?;
    output.done(format!("{}: renamed to {}", args.name, args.new));
    Ok(Answer::of(&Data { name: &args.new, old_name: &args.name }))
}
