//! `agents config list`.

use api::{ConfigEntry, ListFilter};

use super::{ScopeName, key, place};
use crate::error::{Exit, Result};
use crate::output::{Answer, Output};
use crate::session::Session;
use crate::style::Paint;

/// List keys with their values, as TOML
///
/// Keys without a value are comments. Secrets are redacted. Unusable files and values are reported
/// on standard error; the rest is listed, and the command exits with 1.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Only this key and those below it, such as `plan`
    prefix: Option<String>,
    /// Only values in the file of this scope
    #[arg(long, value_enum, value_name = "SCOPE")]
    scope: Option<ScopeName>,
    /// Print the origin of each value
    #[arg(long)]
    show_origin: bool,
    /// Only keys that are set, not those with their default
    #[arg(long)]
    changed: bool,
}

pub(super) fn run(args: &Args, session: &Session<'_>, output: &mut Output) -> Result<Answer> {
    let prefix = args.prefix.as_deref().map(key).transpose()?;
    let select = ListFilter { prefix, scope: args.scope.map(Into::into), changed: args.changed };
    let listed = session.config.list(&select)?;
    let paint = output.paint();
    for entry in &listed.entries {
        output.print(line(entry, args.show_origin, paint))?;
    }
    let mut answer = Answer::of(&listed);
    for problem in listed.problems {
        match problem.code.as_str() {
            // The list is complete without it.
            "unknown-key" | "not-in-scope" => output.warn_problem(problem),
            _ => {
                answer.exit = Exit::Error;
                output.error(problem);
            }
        }
    }
    Ok(answer)
}

fn line(entry: &ConfigEntry, show_origin: bool, paint: Paint) -> String {
    let Some(value) = &entry.value else { return paint.faint(format!("# {} is not set", entry.key)) };
    let origin = entry.origin.as_ref().filter(|_| show_origin);
    let origin = origin.map(|origin| paint.faint(format!("  # {}", place(origin)))).unwrap_or_default();
    format!("{} = {}{origin}", paint.strong(&entry.key), value.to_toml())
}
