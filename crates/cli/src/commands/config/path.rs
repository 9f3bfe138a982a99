//! `agents config path`.

use super::ScopeName;
use crate::error::Result;
use crate::output::{Answer, Output};
use crate::session::Session;

/// Print the paths of the files, strongest first
///
/// Works even if they do not parse.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Only the path of this scope's file, existing or not
    #[arg(long, value_enum, value_name = "SCOPE")]
    scope: Option<ScopeName>,
}

pub(super) fn run(args: &Args, session: &Session<'_>, output: &mut Output) -> Result<Answer> {
    let paths = session.agents().paths()?;
    if let Some(scope) = args.scope {
        output.print(session.agents().path(scope.into())?.display())?;
        return Ok(Answer::of(&paths));
    }
    let paint = output.paint();
    for file in &paths.files {
        let missing = if file.exists { String::new() } else { paint.faint("  (does not exist)") };
        output.print(format!("{:<7}  {}{missing}", file.scope, file.file))?;
    }
    Ok(Answer::of(&paths))
}
