//! `agents config set`.

use std::iter;

use api::{Assignment, Exposure, Value, ValueChange};

use super::{ScopeName, key, warn_of, warn_of_shadowed};
use crate::display;
use crate::error::{Error, Result};
use crate::input;
use crate::output::{Answer, Output};
use crate::session::Session;

/// Set one key (KEY VALUE) or several (KEY=VALUE...)
///
/// Sets all keys or none. The type of a key determines how its value is parsed; a value below `x.`
/// is TOML if valid, else text. Put a value that begins with a dash after `--`.
#[derive(clap::Args, Debug)]
#[command(override_usage = USAGE, after_help = EXAMPLES)]
pub(super) struct Args {
    /// KEY VALUE, or KEY=VALUE...
    #[arg(required = true, allow_negative_numbers = true, value_name = "KEY VALUE | KEY=VALUE")]
    words: Vec<String>,
    /// File to change [default: project if its file exists, else global]
    #[arg(long, value_enum, value_name = "SCOPE")]
    scope: Option<ScopeName>,
    /// Read the value from standard input; required for secrets
    #[arg(long)]
    stdin: bool,
}

const USAGE: &str = "agents config set [OPTIONS] <KEY> <VALUE>
       agents config set [OPTIONS] <KEY=VALUE>...
       agents config set [OPTIONS] <KEY> --stdin";

const EXAMPLES: &str = "\
Examples:
  agents config set plan.concurrency 8
  agents config set plan.merge=last-wins x.team=blue --scope project
  agents config set server.token --stdin < token.txt";

pub(super) fn run(args: &Args, session: &Session<'_>, output: &mut Output) -> Result<Answer> {
    let assignments = assignments(args)?;
    let change = session.writer().set(args.scope.map(Into::into), &assignments)?;
    let written = &change.written;
    let (file, scope) = (display::path(&written.file.to_string_lossy()), written.scope);
    let arrow = output.paint().symbol("→", "->");
    for ValueChange { key, old, new } in &change.changes {
        let [old, new] = [old, new].map(|value| value.as_ref().map_or("not set".to_owned(), Value::to_toml));
        let is_shadowed = change.shadowed.iter().any(|shadowed| shadowed.key == *key);
        output.done(match written.changed {
            true if is_shadowed => format!("{key}: set to {new} in {file} ({scope})"),
            true => format!("{key}: {old} {arrow} {new} in {file} ({scope})"),
            false => format!("{key}: already {new} in {file} ({scope})"),
        });
    }
    warn_of_shadowed(&change, output);
    warn_of(&change.problems, output);
    Ok(Answer::of(&change))
}

fn assignments(args: &Args) -> Result<Vec<Assignment>> {
    let (first, rest) = args.words.split_first().expect("the command line asks for one word at least");
    if args.stdin {
        if !rest.is_empty() {
            return Err(Error::Usage { reason: "with `--stdin` there is one KEY and no VALUE" });
        }
        let key = key(first)?;
        return Ok(vec![Assignment { text: input::value(&key)?, key, exposure: Exposure::Private }]);
    }
    match (first.parse::<Assignment>(), rest) {
        (Ok(first), rest) => {
            let rest = rest.iter().map(|word| word.parse());
            Ok(iter::once(Ok(first)).chain(rest).collect::<std::result::Result<_, api::Error>>()?)
        }
        (Err(_), []) => Err(Error::Usage { reason: "there is no VALUE" }),
        (Err(_), [value]) => Ok(vec![Assignment::argument(key(first)?, value)]),
        (Err(error), _) => Err(error.into()),
    }
}
