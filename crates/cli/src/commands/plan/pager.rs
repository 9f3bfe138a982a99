//! Pages long text on a terminal.

use std::io::{self, Write};
use std::process::{Command, Stdio};

/// The pager without PAGER: it exits if all fits on the screen, passes colours, and leaves the text there.
const DEFAULT_PAGER: &str = "less -FRX";

/// Shows text through $PAGER. Fails if there is none, or it does not start.
pub(super) fn page(text: &[u8]) -> io::Result<()> {
    let pager = std::env::var("PAGER").unwrap_or_else(|_| DEFAULT_PAGER.to_owned());
    if text.is_empty() || matches!(pager.trim(), "" | "cat") {
        return Err(io::ErrorKind::NotFound.into());
    }
    // A shell splits the command, as for git.
    let mut child =
        Command::new("sh").arg("-c").arg(format!("exec {pager}")).stdin(Stdio::piped()).spawn()?;
    // A person may leave the pager before the end.
    let written = child.stdin.take().map(|mut stdin| stdin.write_all(text));
    drop(written);
    let status = child.wait()?;
    if status.code() == Some(127) { Err(io::ErrorKind::NotFound.into()) } else { Ok(()) }
}
