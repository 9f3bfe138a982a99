//! `agents context list`.

use api::{ContextSummary, Contexts};
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::{Exit, Result};
use crate::output::{Answer, Output};

/// List contexts with messages, revision and last change
///
/// Reports unreadable contexts on standard error, and exits with 1.
#[derive(clap::Args, Debug)]
pub(super) struct Args {}

/// The `data` of the envelope.
#[derive(JsonSchema, Serialize)]
pub(super) struct Data {
    contexts: Vec<ContextSummary>,
}

pub(super) fn run(_args: &Args, contexts: &Contexts, output: &mut Output) -> Result<Answer> {
    let listed = contexts.list()?;
    let width = listed.iter().map(|one| one.name.as_str().chars().count()).max().unwrap_or(0);
    let mut exit = Exit::Ok;
    for one in &listed {
        let ContextSummary { name, revision, message_count, last_updated, problem } = one;
        let paint = output.paint();
        let name = format!("{:<width$}", name.as_str());
        match (message_count, revision, problem) {
            (Some(count), Some(revision), _) => {
                let time = paint.faint(last_updated.as_deref().unwrap_or("-"));
                output.print(format!("{}  {count:>8}  {revision:>8}  {time}", paint.strong(name)))?;
            }
            _ => output.print(format!("{}  {}", paint.strong(name), paint.bad("cannot be read")))?,
        }
        if let Some(problem) = problem {
            output.error(problem.clone());
            exit = Exit::Error;
        }
    }
    Ok(Answer { exit, ..Answer::of(&Data { contexts: listed }) })
}
