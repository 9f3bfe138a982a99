//! Asking before something is deleted.

use std::io::{self, IsTerminal, Write};

use crate::error::{Error, Result};
use crate::escape::escaped;
use crate::output::Output;

/// Goes on when the person said `--yes`, or says so now. Where nobody can be asked it is an error, never a yes.
pub(crate) fn before_deleting(what: &str, yes: bool, output: &Output) -> Result<()> {
    if yes {
        return Ok(());
    }
    if output.is_json() || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(Error::NeedsYes { what: what.to_owned() });
    }
    let _ = write!(io::stderr(), "{}? [y/N] ", escaped(what)).and_then(|()| io::stderr().flush());
    let mut line = String::new();
    let read = io::stdin().read_line(&mut line).map_err(|source| Error::Stdin { source })?;
    let is_yes = read > 0 && matches!(line.trim().to_lowercase().as_str(), "y" | "yes");
    if is_yes { Ok(()) } else { Err(Error::Declined) }
}
