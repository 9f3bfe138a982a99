//! `agents config`: scoped configuration.

mod edit;
mod explain;
mod get;
mod list;
mod path;
mod schema;
mod set;
mod unset;
mod watch;

use api::{
    ConfigChange, ConfigList, ConfigPaths, EditReport, Explanation, Key, Lookup, Origin, Problem, RunClient,
    Scope, ShadowedKey,
};
use clap::Subcommand;

use super::schema::{Document, Entry, of};
use crate::display;
use crate::error::Result;
use crate::output::{Answer, Output};
use crate::session::Session;

/// Read and change configuration
///
/// A key has a value in up to six layers. High to low: a flag (`-c KEY=VALUE`), the environment
/// (`CLEVERAGENTS_<SECTION>_<KEY>`), the files of three scopes, and the default. The scopes are
/// `local` (you, this project), `project` (everyone, this project) and `global` (you, all
/// projects). Keys below `x.` are your own.
///
/// A command changes one key and keeps comments, order and formatting. Concurrent writers lose no
/// update, and an acknowledged write survives a power cut.
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

pub(super) const SCHEMAS: &[Entry] = &[
    ("config get", of::<Lookup>),
    ("config set", of::<ConfigChange>),
    ("config unset", of::<ConfigChange>),
    ("config list", of::<ConfigList>),
    ("config explain", of::<Explanation>),
    ("config edit", of::<EditReport>),
    ("config path", of::<ConfigPaths>),
    ("config schema", of::<Document>),
    ("config watch", of::<()>),
    ("config watch event", of::<watch::Event<'_>>),
];

impl Args {
    /// Name of the command in the JSON envelope.
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
    note_folders(&session, output);
    match &args.command {
        Command::Get(args) => get::run(args, |key, reveal| session.config.get(key, reveal), output),
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

/// Runs the command in the sandbox of a run, which answers it.
pub(crate) fn forward(args: &Args, client: &RunClient, output: &mut Output) -> Result<Answer> {
    let Command::Get(args) = &args.command else { unreachable!("the others are refused, or run locally") };
    get::run(args, |key, reveal| client.get(key, reveal), output)
}

/// A scope on the command line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum ScopeName {
    /// You, all projects
    Global,
    /// Everyone, this project
    Project,
    /// You, this project
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

fn note_folders(session: &Session<'_>, output: &mut Output) {
    if let Ok(home) = session.agents().home() {
        output.note("home", format!("home folder is `{}`", home.display()));
    }
    match session.agents().project() {
        Some(project) => output.note("project", format!("project is `{}`", project.display())),
        None => output.note("project", "not in a project".to_owned()),
    }
}

fn key(text: &str) -> Result<Key> {
    Ok(Key::parse(text).map_err(api::Error::from)?)
}

fn names(keys: &[Key]) -> String {
    keys.iter().map(Key::to_string).collect::<Vec<_>>().join(", ")
}

/// Describes the layer and the position of a value.
fn describe_origin(origin: &Origin) -> String {
    match origin {
        Origin::Flag | Origin::Default => origin.layer().to_string(),
        Origin::Variable { .. } | Origin::File { .. } => format!("{} {}", origin.layer(), place(origin)),
    }
}

/// The place of an origin: a variable, or `~/.cleveragents/config.toml:1`.
fn place(origin: &Origin) -> String {
    match origin {
        Origin::File { file, line, .. } => format!("{}:{line}", display::path(&file.to_string_lossy())),
        origin => origin.to_string(),
    }
}

/// Warns of keys whose effective value differs from the one written.
fn warn_of_shadowed(change: &ConfigChange, output: &mut Output) {
    for ShadowedKey { key, value, origin } in &change.shadowed {
        let text = format!("`{key}` is still `{value}`, from {}", describe_origin(origin));
        output.warn("shadowed", text, Some(format!("agents config get {key} --all-layers")));
    }
}

fn warn_of(problems: &[Problem], output: &mut Output) {
    for problem in problems {
        output.warn_problem(problem.clone());
    }
}
