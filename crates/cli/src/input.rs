//! What comes from standard input: a value, from a pipe or typed by a person who is asked for it.

use std::io::{self, BufRead, IsTerminal, Read, Write};

use api::Key;

use crate::error::{Error, Result};

/// The longest value that is read.
const VALUE_BYTES_MAX: u64 = 1024 * 1024;

/// The value of a key: all of a pipe without the line break at its end, or a line that is typed and not shown.
pub(crate) fn value(key: &Key) -> Result<String> {
    let stdin = io::stdin().lock();
    let bytes = if stdin.is_terminal() { typed(stdin, key)? } else { piped(stdin)? };
    if bytes.len() as u64 > VALUE_BYTES_MAX {
        return Err(Error::StdinTooLong { limit_bytes: VALUE_BYTES_MAX });
    }
    let mut text = String::from_utf8(bytes).map_err(|_| Error::StdinNotUtf8)?;
    let kept = text.strip_suffix("\r\n").or(text.strip_suffix('\n')).map(str::len);
    text.truncate(kept.unwrap_or(text.len()));
    Ok(text)
}

fn piped(stdin: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = stdin.take(VALUE_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|source| Error::Stdin { source })?;
    Ok(bytes)
}

fn typed(stdin: impl BufRead, key: &Key) -> Result<Vec<u8>> {
    let _unseen = terminal::hide_typing()?;
    let _ = write!(io::stderr(), "Value of {key} (not shown): ").and_then(|()| io::stderr().flush());
    let mut bytes = Vec::new();
    let read = stdin.take(VALUE_BYTES_MAX + 1).read_until(b'\n', &mut bytes);
    let _ = writeln!(io::stderr());
    match read {
        Ok(0) => Err(Error::Interrupted),
        Ok(_) => Ok(bytes),
        Err(source) => Err(Error::Stdin { source }),
    }
}

#[cfg(unix)]
mod terminal {
    use std::io;

    use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

    use crate::error::{Error, Exit, Result};
    use crate::interrupt::Interrupt;

    /// Shows what is typed again when it is dropped.
    pub(super) struct Unseen(Termios);

    /// Shows nothing of what is typed. Ctrl-C ends the program, with the terminal as it was.
    pub(super) fn hide_typing() -> Result<Unseen> {
        let before = tcgetattr(io::stdin()).map_err(|source| Error::Stdin { source: source.into() })?;
        let handed_over = Unseen(before.clone());
        Interrupt::listen_and(move || {
            handed_over.show_again();
            std::process::exit(Exit::Interrupted.code().into());
        })?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Now, &hidden)
            .map_err(|source| Error::Stdin { source: source.into() })?;
        Ok(Unseen(before))
    }

    impl Unseen {
        fn show_again(&self) {
            // There is nothing more to be done about it.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
        }
    }

    impl Drop for Unseen {
        fn drop(&mut self) {
            self.show_again();
        }
    }
}

#[cfg(not(unix))]
mod terminal {
    use crate::error::Result;

    /// Typing is shown on this system.
    pub(super) fn hide_typing() -> Result<()> {
        Ok(())
    }
}
