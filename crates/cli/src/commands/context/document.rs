//! `agents context state` and `agents context global`.

use api::{ContextName, Contexts, Document};
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
    /// Print it, or one value in it
    Get {
        /// The context
        name: ContextName,
        /// Where in it, as a JSON Pointer such as `/plan/steps/0`
        pointer: Option<String>,
    },
    /// Put another JSON object in its place
    Set {
        /// The context
        name: ContextName,
        /// The object; `-` reads it from standard input
        json: String,
        #[command(flatten)]
        if_revision: IfRevision,
    },
    /// Change it by a JSON Merge Patch: null removes, objects go into objects
    Patch {
        /// The context
        name: ContextName,
        /// The patch; `-` reads it from standard input
        json: String,
        #[command(flatten)]
        if_revision: IfRevision,
    },
}

impl Args {
    pub(super) fn name(&self, document: Document) -> &'static str {
        match (document, &self.command) {
            (Document::State, Command::Get { .. }) => "context state get",
            (Document::State, Command::Set { .. }) => "context state set",
            (Document::State, Command::Patch { .. }) => "context state patch",
            (Document::Global, Command::Get { .. }) => "context global get",
            (Document::Global, Command::Set { .. }) => "context global set",
            (Document::Global, Command::Patch { .. }) => "context global patch",
        }
    }
}

pub(super) fn run(
    args: &Args,
    document: Document,
    contexts: &Contexts,
    output: &mut Output,
) -> Result<Answer> {
    let what = match document {
        Document::State => "state",
        Document::Global => "global context",
    };
    let change = match &args.command {
        Command::Get { name, pointer } => {
            let text = contexts.document(name, document, pointer.as_deref())?;
            output.say_text(&text)?;
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
    output.confirm(format!("changed the {what} of {}, revision {}", change.name, change.revision))?;
    warn_of_change(&change, output);
    Ok(Answer::of(&change))
}
