//! Pages long text on a terminal.

use std::io::{self, IsTerminal, Write};
use std::process::{Command, Stdio};

use crate::error::Result;
use crate::output::Output;

/// The pager without PAGER: it exits if all fits on the screen, passes colours, and leaves the text there.
const DEFAULT_PAGER: &str = "less -FRX";

/// Shows text through $PAGER on a terminal; prints it elsewhere, and if the pager does not start.
pub(super) fn show(text: &[u8], output: &mut Output) -> Result<()> {
    let pager = std::env::var("PAGER").unwrap_or_else(|_| DEFAULT_PAGER.to_owned());
    let is_paged = io::stdout().is_terminal() && !text.is_empty() && !matches!(pager.trim(), "" | "cat");
    // The pager does not strip colours.
    let plain = anstream::AutoStream::choice(&io::stdout()) == anstream::ColorChoice::Never;
    let plain = plain.then(|| anstream::adapter::strip_bytes(text).into_vec());
    let text = plain.as_deref().unwrap_or(text);
    if is_paged && page(&pager, text).is_ok() { Ok(()) } else { output.print_bytes(text) }
}

fn page(pager: &str, text: &[u8]) -> io::Result<()> {
    // A shell splits the command, as for git.
    let mut child =
        Command::new("sh").arg("-c").arg(format!("exec {pager}")).stdin(Stdio::piped()).spawn()?;
    // A person may leave the pager before the end.
    let written = child.stdin.take().map(|mut stdin| stdin.write_all(text));
    drop(written);
    let status = child.wait()?;
    if status.code() == Some(127) { Err(io::ErrorKind::NotFound.into()) } else { Ok(()) }
}
