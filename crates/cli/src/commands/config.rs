//! `agents config`: scoped configuration in TOML files that people edit too.

mod edit;
mod explain;
mod get;
mod list;
mod path;
mod schema;
mod set;
mod unset;
mod watch;

use api::{Change, Key, Origin, Problem, RunClient, Scope, StillSet};
use clap::Subcommand;

use crate::error::Result;
use crate::output::{Answer, Output};
use crate::session::Session;

/// Read and change configuration
///
/// A key has a value in up to six layers. High to low: a flag (`-c KEY=VALUE`), the environment (`CLEVERAGENTS_<SECTION>_<KEY>`), and the
/// files of three scopes: `local` (yours, in this project), `project` (shared with everybody who works on it), `global` (yours, everywhere);
/// at last a default. `agents config list` shows all keys with their values; keys below `x.` are yours to choose.
///
/// Files are changed one key at a time, whoever else writes them: comments, order and formatting stay as they are, no write is lost, and
/// what was acknowledged survives a power cut.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Get(get::Args),
    Set(set::Args),
    Unset(unset::Args),
    List(list::Args),
    Explain(explain::Args),
    Edit(edit::Args),
    Path(path::Args),
    Schema(schema::Args),
    Watch(watch::Args),
}

impl Args {
    /// As the JSON envelope names it.
    pub(crate) fn name(&self) -> &'static str {
        match &self.command {
            Command::Get(_) => "config get",
            Command::Set(_) => "config set",
            Command::Unset(_) => "config unset",
            Command::List(_) => "config list",
            Command::Explain(_) => "config explain",
            Command::Edit(_) => "config edit",
            Command::Path(_) => "config path",
            Command::Schema(_) => "config schema",
            Command::Watch(_) => "config watch",
        }
    }
}

pub(crate) fn run(args: &Args, session: Session<'_>, output: &mut Output) -> Result<Answer> {
    tell_where(&session, output);
    match &args.command {
        Command::Get(args) => get::run(args, |key, reveal| session.reading.get(key, reveal), output),
        Command::Set(args) => set::run(args, &session, output),
        Command::Unset(args) => unset::run(args, &session, output),
        Command::List(args) => list::run(args, &session, output),
        Command::Explain(args) => explain::run(args, &session, output),
        Command::Edit(args) => edit::run(args, &session, output),
        Command::Path(args) => path::run(args, &session, output),
        Command::Schema(args) => schema::run(args, &session, output),
        Command::Watch(args) => watch::run(args, &session, output),
    }
}

/// The same in the sandbox of a run, which does what it is asked.
pub(crate) fn ask(args: &Args, client: &RunClient, output: &mut Output) -> Result<Answer> {
    let Command::Get(args) = &args.command else { unreachable!("the others are refused, or read") };
    get::run(args, |key, reveal| client.get(key, reveal), output)
}

/// A scope on the command line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum ScopeName {
    /// For all your projects
    Global,
    /// For everybody who works on this project
    Project,
    /// For you in this project
    Local,
}

impl From<ScopeName> for Scope {
    fn from(name: ScopeName) -> Scope {
        match name {
            ScopeName::Global => Scope::Global,
            ScopeName::Project => Scope::Project,
            ScopeName::Local => Scope::Local,
        }
    }
}

fn tell_where(session: &Session<'_>, output: &mut Output) {
    if let Ok(home) = session.agents().home() {
        output.detail("home", format!("home folder is `{}`", home.display()));
    }
    match session.agents().project() {
        Some(project) => output.detail("project", format!("project is `{}`", project.display())),
        None => output.detail("project", "not in a project".to_owned()),
    }
}

fn key(text: &str) -> Result<Key> {
    Ok(Key::parse(text).map_err(api::Error::from)?)
}

fn names(keys: &[Key]) -> String {
    keys.iter().map(Key::to_string).collect::<Vec<_>>().join(", ")
}

/// The layer of a value, and where in it the value stands.
fn place(origin: &Origin) -> String {
    match origin {
        Origin::Flag | Origin::Default => origin.layer().to_string(),
        Origin::Variable { .. } | Origin::File { .. } => format!("{} {origin}", origin.layer()),
    }
}

/// Tells about keys that another layer decides than the one that was written.
fn warn_of_still(change: &Change, output: &mut Output) {
    for StillSet { key, value, origin } in &change.still {
        let text = format!("`{key}` is still `{value}`, from {}", place(origin));
        output.warn("shadowed", text, Some(format!("see `agents config get {key} --all-layers`")));
    }
}

fn warn_of(problems: &[Problem], output: &mut Output) {
    for problem in problems {
        output.warn_of(problem.clone());
    }
}
