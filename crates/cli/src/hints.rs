//! Hints: what to run after an error. The library says what failed; only the command line knows its commands.
//!
//! A hint is a command that is ready to paste, with `#` before a comment, or a short advice where no command helps. A line feed
//! separates hints.

mod config;
mod context;
mod doctor;
mod files;
mod plan;
mod run;
mod store;
#[cfg(test)]
mod tests;

use api::Error;
use api::errors::Actor;

pub(crate) use doctor::remedy;

/// Returns the hints for an error, one a line.
pub(crate) fn hints(error: &Error) -> Vec<String> {
    hint(error).iter().flat_map(|hint| hint.lines()).map(str::to_owned).collect()
}

fn hint(error: &Error) -> Option<String> {
    Some(match error {
        Error::Config(error) => return config::hint(error),
        Error::Context(error) => return context::hint(error),
        Error::Plan(error) => return plan::hint(error),
        Error::Run(error) => return run::hint(error),
        Error::InvalidChoice { choices, .. } => format!("use one of {}", choices.join(", ")),
        Error::UnknownPlan { nearest: Some(nearest), .. } => {
            format!("agents plan list  # the nearest name is {nearest}")
        }
        Error::UnknownPlan { nearest: None, .. } => "agents plan list".to_owned(),
        Error::NoSuchActor { plan, actor, actors } if actors.is_empty() => {
            format!("agents changeset start {plan} --actor {actor}")
        }
        Error::NoSuchActor { actors, .. } => {
            let actors: Vec<&str> = actors.iter().map(Actor::as_str).collect();
            format!("its actors are {}", actors.join(", "))
        }
        Error::NoPlans => "agents plan create".to_owned(),
        Error::AmbiguousRoot { .. } => "add --root DIR".to_owned(),
        Error::NoRoot => "mkdir .cleveragents  # makes this folder a project\nor add --root DIR".to_owned(),
        Error::StoreUrl { .. } => {
            "agents config unset store.url  # uses the store in the home folder\nor use sqlite:/path/state.db, postgres://USER@HOST/DATABASE"
                .to_owned()
        }
        Error::PasswordArgument { .. } => "pass it in PGPASSWORD, or in the file that PGPASSFILE names".to_owned(),
        Error::AfterChange { changeset, done: "sealed", .. } => {
            format!("agents changeset seal {changeset}  # again, makes the plan ready")
        }
        Error::AfterChange { changeset, .. } => format!("agents changeset show {changeset}"),
        Error::File { .. } => return None,
        Error::Patch { .. } => {
            "make the patch against the present file, or record all of it with --content FILE".to_owned()
        }
        Error::BadCheckpoint { path, .. } => {
            format!("agents audit checkpoint --out {}  # writes one", path.display())
        }
        Error::NotJson(_) => "quote a text as JSON: '\"text\"'".to_owned(),
        Error::NoValue { .. } => "a pointer is like /a/b or /list/0".to_owned(),
        Error::RunGone { .. } => "agents plan list  # outside of the sandbox, to resume the run".to_owned(),
        Error::RunVersion { .. } => "use the program that started the run, or resume the run with this one".to_owned(),
        Error::NoReply { .. } => "agents plan show  # outside of the sandbox, for what was recorded".to_owned(),
        Error::Refused { problem } => return Some(problem.hint.join("\n")).filter(|hint| !hint.is_empty()),
        Error::InSandbox { .. } => {
            "in a sandbox, use agents changeset record, agents context append, agents config get, and commands that read"
                .to_owned()
        }
        Error::SecretInSandbox { .. } => {
            "pass it to the actor in a file that it may read, or with agents run --env".to_owned()
        }
        Error::Files(error) => return files::hint(error),
        Error::Commit(failure) => return files::hint(&failure.error),
        Error::NotSet { key } => format!("agents config set {key} VALUE"),
        Error::NoHome | Error::BadHome { .. } => {
            "name an absolute path with --home DIR or CLEVERAGENTS_HOME".to_owned()
        }
        Error::HomeOfOther { .. } => "name a folder of yours with --home DIR or CLEVERAGENTS_HOME".to_owned(),
        Error::HomeNotPrivate { home, .. } => format!("chmod go-w {}", home.display()),
        Error::NoSuchProject { project } => {
            format!("mkdir -p {}  # or leave out --project", project.display())
        }
        Error::HomeAsProject { .. } => "use --scope global, or another home folder with --home DIR".to_owned(),
        Error::NoCurrentFolder { .. } => "cd  # to a folder that exists".to_owned(),
        Error::SecretArgument { key } => format!("agents config set {key} --stdin"),
        Error::SecretFlag { key, variable } => {
            format!("agents config set {key} --stdin\nor set the variable {variable}")
        }
    })
}
