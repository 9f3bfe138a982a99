//! `agents context state` and `agents context global`.

use api::{ContextDocument, ContextName, Contexts};
use clap::Subcommand;

use super::{IfRevision, given, warn_of_change};
use crate::error::Result;
use crate::output::{Answer, Output};

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Print the object, or one value in it
    Get {
        /// Context name
        name: ContextName,
        /// JSON Pointer to a value, such as `/plan/steps/0`
        pointer: Option<String>,
    },
    /// Replace the object
    Set {
        /// Context name
        name: ContextName,
        /// JSON object; `-` reads standard input
        json: String,
        #[command(flatten)]
        if_revision: IfRevision,
    },
    /// Apply a JSON Merge Patch: null removes a field, objects are merged
    Patch {
        /// Context name
        name: ContextName,
        /// JSON Merge Patch; `-` reads standard input
        json: String,
        #[command(flatten)]
        if_revision: IfRevision,
    },
}

impl Args {
    pub(super) fn name(&self, document: ContextDocument) -> &'static str {
        match (document, &self.command) {
            (ContextDocument::State, Command::Get { .. }) => "context state get",
            (ContextDocument::State, Command::Set { .. }) => "context state set",
            (ContextDocument::State, Command::Patch { .. }) => "context state patch",
            (ContextDocument::Global, Command::Get { .. }) => "context global get",
            (ContextDocument::Global, Command::Set { .. }) => "context global set",
            (ContextDocument::Global, Command::Patch { .. }) => "context global patch",
        }
    }
}

pub(super) fn run(
    args: &Args,
    document: ContextDocument,
    contexts: &Contexts,
    output: &mut Output,
) -> Result<Answer> {
    let what = match document {
        ContextDocument::State => "state",
        ContextDocument::Global => "global context",
    };
    let change = match &args.command {
        Command::Get { name, pointer } => {
            let text = contexts.document(name, document, pointer.as_deref())?;
            output.print_text(&text)?;
            let json = serde_json::value::RawValue::from_string(text).expect("it was read as JSON");
            return Ok(Answer::text(json));
        }
        Command::Set { name, json, if_revision } => {
            contexts.set(name, document, &given(json)?, if_revision.if_revision)?
        }
        Command::Patch { name, json, if_revision } => {
            contexts.patch(name, document, &given(json)?, if_revision.if_revision)?
        }
    };
    output.done(format!("{}: changed the {what}, revision {}", change.name, change.revision));
    warn_of_change(&change, output);
    Ok(Answer::of(&change))
}
