//! `agents config list`.

use api::{ConfigEntry, ListFilter};

use super::{ScopeName, describe_origin, key};
use crate::error::{Exit, Result};
use crate::output::{Answer, Output};
use crate::session::Session;
use crate::style::Paint;

/// Maximum column of the aligned comments.
const WIDTH_MAX: usize = 60;

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
    let width = listed.entries.iter().map(|entry| assignment(entry).chars().count()).max().unwrap_or(0);
    for entry in &listed.entries {
        output.print_text(line(entry, args.show_origin, width.min(WIDTH_MAX), paint))?;
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

/// Formats a key as TOML, with its layer or its origin as a comment.
fn line(entry: &ConfigEntry, show_origin: bool, width: usize, paint: Paint) -> String {
    let text = assignment(entry);
    let (Some(value), Some(origin)) = (&entry.value, &entry.origin) else { return paint.faint(text) };
    let origin = if show_origin { describe_origin(origin) } else { origin.layer().to_string() };
    let padding = " ".repeat(width.saturating_sub(text.chars().count()));
    let comment = paint.faint(format!("# {origin}"));
    format!("{} = {}{padding}  {comment}", paint.strong(&entry.key), value.to_toml())
}

/// Returns the line without its comment.
fn assignment(entry: &ConfigEntry) -> String {
    match &entry.value {
        Some(value) => format!("{} = {}", entry.key, value.to_toml()),
        None => format!("# {} is not set", entry.key),
    }
}
