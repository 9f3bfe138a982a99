//! `agents context`: one file per command.

mod append;
mod clear;
mod create;
mod document;
mod export;
mod fork;
mod import;
mod list;
mod prune;
mod remove;
mod rename;
mod rewind;
mod search;
mod show;
mod verify;

use std::path::Path;

use api::{ContextDocument, ContextInfo, ExportReport, Revision, RunClient, SaveSummary};
use clap::Subcommand;
use serde_json::Value;

use super::schema::{Entry, of};
use crate::args::GlobalArgs;
use crate::error::Result;
use crate::input;
use crate::output::{Answer, Output};
use crate::session::Session;

/// Keep conversations
///
/// A context is a folder below `contexts` in the home folder, with `messages.jsonl`,
/// `metadata.json`, `state.json` and `global_context.json`. Any number of processes may append to
/// it; a reader sees one commit. Every change creates a revision; with `--if-revision R`, a change
/// fails with exit code 4 if the context is at another revision.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Create(create::Args),
    Append(append::Args),
    Show(show::Args),
    List(list::Args),
    /// Print or change the state, a JSON object
    State(document::Args),
    /// Print or change the global context, a JSON object
    Global(document::Args),
    Rewind(rewind::Args),
    Fork(fork::Args),
    Clear(clear::Args),
    Remove(remove::Args),
    Rename(rename::Args),
    Export(export::Args),
    Import(import::Args),
    Search(search::Args),
    Verify(verify::Args),
    Prune(prune::Args),
}

pub(super) const SCHEMAS: &[Entry] = &[
    ("context create", of::<ContextInfo>),
    ("context append", of::<SaveSummary>),
    ("context show", of::<show::Data<'_>>),
    ("context show event", of::<show::Event<'_>>),
    ("context list", of::<list::Data>),
    ("context state get", of::<Value>),
    ("context state set", of::<SaveSummary>),
    ("context state patch", of::<SaveSummary>),
    ("context global get", of::<Value>),
    ("context global set", of::<SaveSummary>),
    ("context global patch", of::<SaveSummary>),
    ("context rewind", of::<SaveSummary>),
    ("context fork", of::<ContextInfo>),
    ("context clear", of::<SaveSummary>),
    ("context remove", of::<remove::Data<'_>>),
    ("context rename", of::<rename::Data<'_>>),
    ("context export", of::<ExportReport>),
    ("context export event", of::<export::ArchiveLine>),
    ("context import", of::<ContextInfo>),
    ("context search", of::<search::Data>),
    ("context search event", of::<search::Event<'_>>),
    ("context verify", of::<verify::Data<'_>>),
    ("context prune", of::<prune::Data>),
];

impl Args {
    /// Name of the command in the JSON envelope.
    pub(crate) fn name(&self) -> &'static str {
        match &self.command {
            Command::Create(_) => "context create",
            Command::Append(_) => "context append",
            Command::Show(_) => "context show",
            Command::List(_) => "context list",
            Command::State(args) => args.name(ContextDocument::State),
            Command::Global(args) => args.name(ContextDocument::Global),
            Command::Rewind(_) => "context rewind",
            Command::Fork(_) => "context fork",
            Command::Clear(_) => "context clear",
            Command::Remove(_) => "context remove",
            Command::Rename(_) => "context rename",
            Command::Export(_) => "context export",
            Command::Import(_) => "context import",
            Command::Search(_) => "context search",
            Command::Verify(_) => "context verify",
            Command::Prune(_) => "context prune",
        }
    }

    pub(crate) fn is_export(&self) -> bool {
        matches!(self.command, Command::Export(_))
    }
}

pub(crate) fn run(
    args: &Args,
    global: &GlobalArgs,
    session: &Session<'_>,
    output: &mut Output,
) -> Result<Answer> {
    let contexts = session.writer().contexts()?;
    output.note("contexts", format!("contexts are in `{}`", contexts.folder().display()));
    match &args.command {
        Command::Create(args) => create::run(args, &contexts, output),
        Command::Append(args) => {
            append::run(args, |name, drafts, revision| contexts.append(name, drafts, revision), output)
        }
        Command::Show(args) => show::run(args, &contexts, output),
        Command::List(args) => list::run(args, &contexts, output),
        Command::State(args) => document::run(args, ContextDocument::State, &contexts, output),
        Command::Global(args) => document::run(args, ContextDocument::Global, &contexts, output),
        Command::Rewind(args) => rewind::run(args, &contexts, output),
        Command::Fork(args) => fork::run(args, &contexts, output),
        Command::Clear(args) => clear::run(args, &contexts, output),
        Command::Remove(args) => remove::run(args, &contexts, output),
        Command::Rename(args) => rename::run(args, &contexts, output),
        Command::Export(args) => export::run(args, global, &contexts, output),
        Command::Import(args) => import::run(args, &contexts, output),
        Command::Search(args) => search::run(args, &contexts, output),
        Command::Verify(args) => verify::run(args, &contexts, output),
        Command::Prune(args) => prune::run(args, &contexts, output),
    }
}

/// Runs the command in the sandbox of a run, which performs it.
pub(crate) fn forward(args: &Args, client: &RunClient, output: &mut Output) -> Result<Answer> {
    let Command::Append(args) = &args.command else { unreachable!("the others are refused, or run locally") };
    append::run(args, |name, drafts, revision| client.append(name, drafts, revision), output)
}

/// Option of commands that write.
#[derive(clap::Args, Clone, Copy, Debug)]
struct IfRevision {
    /// Fail with exit code 4 unless the context is at this revision
    #[arg(long, value_name = "R")]
    if_revision: Option<Revision>,
}

/// Option of commands that delete.
#[derive(clap::Args, Clone, Copy, Debug)]
struct Yes {
    /// Skip the confirmation
    #[arg(short, long)]
    yes: bool,
}

/// `1 message`, `2 messages`.
fn plural(count: u64) -> String {
    super::plural(count as usize, "message")
}

/// Warns of preserved files and pending publishing.
fn warn_of_change(change: &SaveSummary, output: &mut Output) {
    for file in &change.preserved_at {
        output.warn("preserved", format!("content was preserved in `{}`", file.display()), None);
    }
    if let Some(reason) = &change.pending {
        output.warn(
            "pending",
            format!("{} is saved, but not all files are written: {reason}", change.name),
            Some("the next write to this context completes it".to_owned()),
        );
    }
}

/// Returns the text, or standard input for `-`.
fn given(text: &str) -> Result<String> {
    if text == "-" { input::read_text(Path::new("-")) } else { Ok(text.to_owned()) }
}
