//! `agents context create`.

use api::{ContextName, Contexts};

use crate::display;
use crate::error::Result;
use crate::output::{Answer, Output};

/// Create an empty context
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Context name: letters, digits, `-`, `_` and `.`
    name: ContextName,
}

pub(super) fn run(args: &Args, contexts: &Contexts, output: &mut Output) -> Result<Answer> {
    let created = contexts.create(&args.name)?;
    output.done(format!("{}: created in {}", created.name, display::path(&created.folder)));
    Ok(Answer::of(&created))
}
