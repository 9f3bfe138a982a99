//! Long text for people on a terminal goes through a pager.

use std::io::{self, IsTerminal, Write};
use std::process::{Command, Stdio};

use super::diff::print;
use crate::error::Result;
use crate::output::Output;

/// Where PAGER does not say otherwise: ends by itself when all fits, takes colours, leaves the text on the screen.
const USUAL_PAGER: &str = "less -FRX";

/// Shows text: through $PAGER on a terminal, as it is elsewhere and where the pager does not start.
pub(super) fn show(text: &[u8], output: &mut Output) -> Result<()> {
    let pager = std::env::var("PAGER").unwrap_or_else(|_| USUAL_PAGER.to_owned());
    let is_wanted = io::stdout().is_terminal() && !text.is_empty() && !matches!(pager.trim(), "" | "cat");
    // The pager would not take colours away that nobody wants.
    let plain = anstream::AutoStream::choice(&io::stdout()) == anstream::ColorChoice::Never;
    let plain = plain.then(|| anstream::adapter::strip_bytes(text).into_vec());
    let text = plain.as_deref().unwrap_or(text);
    if is_wanted && page(&pager, text).is_ok() { Ok(()) } else { print(text, output) }
}

fn page(pager: &str, text: &[u8]) -> io::Result<()> {
    // The pager's words are a shell's, as for git.
    let mut child =
        Command::new("sh").arg("-c").arg(format!("exec {pager}")).stdin(Stdio::piped()).spawn()?;
    // A person may have seen enough before the end.
    let written = child.stdin.take().map(|mut stdin| stdin.write_all(text));
    drop(written);
    let status = child.wait()?;
    if status.code() == Some(127) { Err(io::ErrorKind::NotFound.into()) } else { Ok(()) }
}
