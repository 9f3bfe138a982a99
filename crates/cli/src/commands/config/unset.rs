//! `agents config unset`.

use api::Change;

use super::{ScopeName, warn_of};
use crate::error::Result;
use crate::output::{Answer, Output};
use crate::session::Session;

/// Remove a key from a file
///
/// A key that is not there is no error: afterwards it is not set, as asked for.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The key
    key: String,
    /// Which file is changed [default: the project's, where that file is there, else global]
    #[arg(long, value_enum, value_name = "SCOPE")]
    scope: Option<ScopeName>,
}

pub(super) fn run(args: &Args, session: &Session<'_>, output: &mut Output) -> Result<Answer> {
    let change = session.writer().unset(args.scope.map(Into::into), &args.key)?;
    let Change { scope, file, .. } = &change;
    let key = &change.keys[0];
    match change.changed {
        true => output.confirm(format!("unset {key} in {file} ({scope})"))?,
        false => output.confirm(format!("{key} was not set in {file} ({scope})"))?,
    }
    for still in &change.still {
        let text = format!("`{}` is still `{}`, from {}", still.key, still.value.text, still.origin);
        let hint = match still.origin.layer {
            "local" | "project" | "global" => {
                format!("`agents config unset {} --scope {}` removes that", still.key, still.origin.layer)
            }
            _ => format!("see `agents config get {} --all-layers`", still.key),
        };
        output.warn("still-set", text, Some(hint));
    }
    warn_of(&change.problems, output);
    Ok(Answer::of(&change))
}
