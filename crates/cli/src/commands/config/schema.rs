//! `agents config schema`.

use super::ScopeName;
use crate::commands::schema::Document;
use crate::error::Result;
use crate::output::{Answer, Output};
use crate::session::Session;

/// Print a JSON Schema of the files, for editors that check and complete TOML
///
/// For example: `agents config schema > agents.schema.json`, with `#:schema ./agents.schema.json`
/// as the first line of the file.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Only keys that this scope can set [default: all keys]
    #[arg(long, value_enum, value_name = "SCOPE")]
    scope: Option<ScopeName>,
}

pub(super) fn run(args: &Args, session: &Session<'_>, output: &mut Output) -> Result<Answer> {
    let schema = session.agents().schema(args.scope.map(Into::into));
    output.print_text(format!("{schema:#}"))?;
    Ok(Answer::of(&Document(schema)))
}
