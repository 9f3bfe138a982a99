//! Hints: what to run after an error. The library says what failed; which command helps is known here alone.

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

/// Suggestions after an error, one a line of its hint.
pub(crate) fn hints(error: &Error) -> Vec<String> {
    hint(error).iter().flat_map(|hint| hint.lines()).map(str::to_owned).collect()
}

/// Gives what to do about an error; names a command where one helps.
pub(crate) fn hint(error: &Error) -> Option<String> {
    Some(match error {
            Error::Config(error) => return config::hint(error),
            Error::Context(error) => return context::hint(error),
            Error::Plan(error) => return plan::hint(error),
            Error::Run(error) => return run::hint(error),
            Error::InvalidChoice { choices, .. } => format!("use one of {}", choices.join(", ")),
            Error::UnknownPlan { nearest: Some(nearest), .. } => {
                format!("did you mean `{nearest}`? `agents plan list` shows the plans there are")
            }
            Error::UnknownPlan { nearest: None, .. } => {
                "`agents plan list` shows the plans there are".to_owned()
            }
            Error::NoSuchActor { actors, .. } if actors.is_empty() => {
                "nobody has started one yet: `agents changeset start PLAN --actor NAME`".to_owned()
            }
            Error::NoSuchActor { actors, .. } => {
                let actors: Vec<&str> = actors.iter().map(Actor::as_str).collect();
                format!("there are changesets of {}", actors.join(", "))
            }
            Error::NoPlans => "make one with `agents plan create`".to_owned(),
            Error::AmbiguousRoot { .. } => "name one with `--root DIR`".to_owned(),
            Error::NoRoot => {
                "name one with `--root DIR`, or make this folder a project: `mkdir .cleveragents`".to_owned()
            }
            Error::StoreUrl { .. } => {
                "name a file like `sqlite:/path/state.db`, a server like `postgres://USER@HOST/DATABASE`, or go back to the home folder: `agents config unset store.url`"
                    .to_owned()
            }
            Error::PasswordArgument { .. } => {
                "leave it out, and give it in the variable PGPASSWORD or in a file that PGPASSFILE names".to_owned()
            }
            Error::File { .. } => return None,
            Error::Patch { .. } => {
                "make it against the file as it is, or give the whole file with `--content FILE`".to_owned()
            }
            Error::BadCheckpoint { .. } => "`agents audit checkpoint --out FILE` writes one".to_owned(),
            Error::NotJson(_) => "a text needs quotes in JSON: '\"text\"'".to_owned(),
            Error::NoValue { .. } => "a pointer is like `/a/b`, or `/list/0`".to_owned(),
            Error::RunGone { .. } => {
                "outside the sandbox, `agents run --resume PLAN` continues an interrupted run".to_owned()
            }
            Error::RunVersion { .. } => {
                "use the program that started the run, or `agents run --resume PLAN` with this one".to_owned()
            }
            Error::NoReply { .. } => {
                "outside the sandbox, `agents plan show PLAN` shows what was recorded".to_owned()
            }
            Error::Refused { problem } => return problem.hint.first().cloned(),
            Error::InSandbox { .. } => {
                "use it outside; in a sandbox there are `agents changeset record`, `agents context append`, `agents config get`, and commands that read"
                    .to_owned()
            }
            Error::SecretInSandbox { .. } => {
                "give it to the actor by another way, such as a file that it may read, or `agents run --env`".to_owned()
            }
            Error::Files(error) => return files::hint(error),
            Error::Commit(failure) => return files::hint(&failure.error),
            Error::NotSet { key } => format!("set it with `agents config set {key} VALUE`"),
            Error::NoHome | Error::BadHome { .. } => {
                "name a folder by its whole path, with `--home DIR` or CLEVERAGENTS_HOME".to_owned()
            }
            Error::NoSuchProject { .. } => {
                "make the folder, or leave `--project` away to use the project around the current folder"
                    .to_owned()
            }
            Error::HomeAsProject { .. } => {
                "use `--scope global`, or name another home folder with `--home DIR`".to_owned()
            }
            Error::NoCurrentFolder { .. } => "go to a folder that exists: `cd`".to_owned(),
            Error::SecretArgument { key } => {
                format!("let it be read from standard input: `agents config set {key} --stdin`")
            }
            Error::SecretFlag { key, variable } => {
                format!("use the variable {variable}, or store it with `agents config set {key} --stdin`")
            }
        })
}
