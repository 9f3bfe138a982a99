//! Confirmation by a person before something is deleted or undone.

use std::io::{self, IsTerminal, Write};

use crate::error::{Error, Result};
use crate::escape::visible;
use crate::output::Output;

/// Returns true if a person can be asked: standard input and standard error are a terminal, and the output is not JSON.
pub(crate) fn can_ask(output: &Output) -> bool {
    !output.is_json() && io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Fails unless `--yes` was given or a person can be asked. `action` completes "add --yes to".
pub(crate) fn require_yes(action: &str, yes: bool, output: &Output) -> Result<()> {
    if yes || can_ask(output) { Ok(()) } else { Err(Error::NeedsYes { action: action.to_owned() }) }
}

/// Asks a question that names object, folder and count. Anything but yes is an error.
pub(crate) fn ask(question: &str) -> Result<()> {
    let _ = write!(io::stderr(), "{}? [y/N] ", visible(question)).and_then(|()| io::stderr().flush());
    let mut line = String::new();
    let read = io::stdin().read_line(&mut line).map_err(|source| Error::Stdin { source })?;
    let is_yes = read > 0 && matches!(line.trim().to_lowercase().as_str(), "y" | "yes");
    if is_yes { Ok(()) } else { Err(Error::Declined) }
}

/// Asks before `action`, unless `--yes` was given: `remove plan work`.
pub(crate) fn confirm(action: &str, yes: bool, output: &Output) -> Result<()> {
    require_yes(action, yes, output)?;
    if yes {
        return Ok(());
    }
    let mut question = action.to_owned();
    question[..1].make_ascii_uppercase();
    ask(&question)
}
