//! `agents config unset`.

use api::Origin;

use super::{ScopeName, describe_origin, key, warn_of};
use crate::display;
use crate::error::Result;
use crate::output::{Answer, Output};
use crate::session::Session;

/// Remove a key from a file
///
/// Succeeds if the key is not set.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Key, such as `plan.concurrency`
    key: String,
    /// File to change [default: project if its file exists, else global]
    #[arg(long, value_enum, value_name = "SCOPE")]
    scope: Option<ScopeName>,
}

pub(super) fn run(args: &Args, session: &Session<'_>, output: &mut Output) -> Result<Answer> {
    let key = key(&args.key)?;
    let change = session.writer().unset(args.scope.map(Into::into), &key)?;
    let (file, scope) = (display::path(&change.written.file.to_string_lossy()), change.written.scope);
    match change.written.changed {
        true => output.done(format!("{key}: unset in {file} ({scope})")),
        false => output.done(format!("{key}: not set in {file} ({scope})")),
    }
    for shadowed in &change.shadowed {
        let text =
            format!("`{key}` is still `{}`, from {}", shadowed.value, describe_origin(&shadowed.origin));
        let hint = match shadowed.origin {
            Origin::File { scope, .. } => format!("agents config unset {key} --scope {scope}"),
            _ => format!("agents config get {key} --all-layers"),
        };
        output.warn("still-set", text, Some(hint));
    }
    warn_of(&change.problems, output);
    Ok(Answer::of(&change))
}
