//! Input of a command: files, and standard input from a pipe or typed at a prompt. All of it has a
//! limit.

use std::fs::File;
use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::path::Path;

use api::{Key, read_bounded};

use crate::error::{Error, Result};

/// Limit of a value.
const VALUE_BYTES_MAX: u64 = 1024 * 1024;
/// Limit of a file, and of standard input as a whole.
const INPUT_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Reads a file, or standard input for `-`.
pub(crate) fn read(file: &Path) -> Result<Vec<u8>> {
    if file.as_os_str() == "-" {
        return piped(io::stdin(), INPUT_BYTES_MAX);
    }
    let read = File::open(file).and_then(|opened| read_bounded(opened, INPUT_BYTES_MAX));
    read.map_err(|source| Error::File { act: "read", path: file.to_owned(), source })
}

/// Reads a file of text, or standard input for `-`.
pub(crate) fn read_text(file: &Path) -> Result<String> {
    String::from_utf8(read(file)?).map_err(|_| match file.as_os_str() == "-" {
        true => Error::StdinNotUtf8,
        false => Error::FileNotUtf8 { path: file.to_owned() },
    })
}

/// Reads the value of a key: a whole pipe without its last line break, or a line typed without echo.
pub(crate) fn value(key: &Key) -> Result<String> {
    let stdin = io::stdin().lock();
    let bytes = if stdin.is_terminal() { typed(stdin, key)? } else { piped(stdin, VALUE_BYTES_MAX)? };
    if bytes.len() as u64 > VALUE_BYTES_MAX {
        return Err(Error::StdinTooLong { limit_bytes: VALUE_BYTES_MAX });
    }
    let mut text = String::from_utf8(bytes).map_err(|_| Error::StdinNotUtf8)?;
    let kept = text.strip_suffix("\r\n").or(text.strip_suffix('\n')).map(str::len);
    text.truncate(kept.unwrap_or(text.len()));
    Ok(text)
}

fn piped(stdin: impl Read, limit_bytes: u64) -> Result<Vec<u8>> {
    read_bounded(stdin, limit_bytes).map_err(|source| match source.kind() {
        io::ErrorKind::FileTooLarge => Error::StdinTooLong { limit_bytes },
        _ => Error::Stdin { source },
    })
}

fn typed(stdin: impl BufRead, key: &Key) -> Result<Vec<u8>> {
    let _echo = terminal::disable_echo()?;
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

    /// Restores the terminal when dropped.
    pub(super) struct EchoGuard(Termios);

    /// Disables echo. Ctrl-C restores the terminal and ends the program.
    pub(super) fn disable_echo() -> Result<EchoGuard> {
        let before = tcgetattr(io::stdin()).map_err(|source| Error::Stdin { source: source.into() })?;
        let in_handler = EchoGuard(before.clone());
        Interrupt::listen_and(move || {
            in_handler.restore();
            std::process::exit(Exit::Interrupted.code().into());
        })?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Now, &hidden)
            .map_err(|source| Error::Stdin { source: source.into() })?;
        Ok(EchoGuard(before))
    }

    impl EchoGuard {
        fn restore(&self) {
            // A failure cannot be helped here.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
        }
    }

    impl Drop for EchoGuard {
        fn drop(&mut self) {
            self.restore();
        }
    }
}

#[cfg(not(unix))]
mod terminal {
    use crate::error::Result;

    /// This system cannot disable echo.
    pub(super) fn disable_echo() -> Result<()> {
        Ok(())
    }
}
