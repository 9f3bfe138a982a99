//! The holder note: written into the lock file by the holder, shown to waiting callers.
//!
//! The note informs people and never decides anything: it is not synced, and any program that can
//! write the lock file can change it. Its size is fixed, so that a new note overwrites the old one:
//!
//! | bytes | content |
//! |---|---|
//! | 0.. | process id, decimal, `\n` |
//! | .. | seconds since 1970, decimal, `\n` |
//! | .. | name of the command, truncated to fit, `\n` |
//! | ..127 | spaces |
//! | 127 | `\n` |

use std::fmt;
use std::io::Write;

/// Length of the note, in bytes.
pub(crate) const NOTE_BYTES: usize = 128;
/// Maximum length of the command name in a note, in bytes.
const COMMAND_BYTES_MAX: usize = NOTE_BYTES - "4294967295\n18446744073709551615\n\n\n".len();

/// The process that holds a lock, as its note describes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Holder {
    /// Process id.
    pub pid: u32,
    /// Name of its program.
    pub command: String,
    /// Time of acquiring the lock, in seconds since 1970.
    pub since_unix_s: u64,
}

impl Holder {
    /// Encodes a note. Takes the parts, so that acquiring a lock does not allocate.
    pub(crate) fn encode(pid: u32, since_unix_s: u64, command: &str) -> [u8; NOTE_BYTES] {
        let command = &command[..command.floor_char_boundary(COMMAND_BYTES_MAX)];
        let mut note = [b' '; NOTE_BYTES];
        note[NOTE_BYTES - 1] = b'\n';
        write!(&mut note[..], "{pid}\n{since_unix_s}\n{command}\n")
            .expect("the command was truncated to fit");
        note
    }

    /// Decodes a note; `None` if it is invalid. The result has no control characters.
    pub(crate) fn decode(note: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(&note[..note.len().min(NOTE_BYTES)]);
        let mut lines = text.split('\n');
        let pid = lines.next()?.parse().ok().filter(|pid| *pid != 0)?;
        let since_unix_s = lines.next()?.parse().ok()?;
        let command: String = lines.next()?.chars().filter(|char| !char.is_control()).collect();
        // The line must be complete: a truncated note is invalid.
        lines.next()?;
        Some(Self { pid, command, since_unix_s })
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} ({})", self.pid, self.command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(command: &str, expected: &str) {
        for (pid, since_unix_s) in [(1, 0), (u32::MAX, u64::MAX)] {
            let holder = Holder { pid, command: expected.to_owned(), since_unix_s };
            assert_eq!(Holder::decode(&Holder::encode(pid, since_unix_s, command)), Some(holder));
        }
    }

    #[test]
    fn notes_round_trip() {
        check("agents", "agents");
        check("", "");
        check("with space ", "with space ");
        check("\u{1b}[31mred\u{7}", "[31mred");
    }

    #[test]
    fn a_long_command_is_truncated_at_a_character() {
        check(&"x".repeat(500), &"x".repeat(COMMAND_BYTES_MAX));
        check(&"é".repeat(500), &"é".repeat(COMMAND_BYTES_MAX / 2));
    }

    #[test]
    fn invalid_notes_are_ignored() {
        for bytes in [
            &b""[..],
            b"\n",
            b"0\n1\nx\n",
            b"12",
            b"12\n",
            b"12\n13\n",
            b"12\n13\nx",
            b"-1\n2\nx\n",
            b"a\nb\nc\n",
        ] {
            assert_eq!(Holder::decode(bytes), None, "{bytes:?}");
        }
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..2_000 {
            let mut note = Holder::encode(77, 88, "agents").to_vec();
            for _ in 0..random.usize(0..6) {
                let index = random.usize(..note.len());
                note[index] = random.u8(..);
            }
            note.truncate(random.usize(..=NOTE_BYTES));
            if let Some(holder) = Holder::decode(&note) {
                assert!(!holder.command.contains(char::is_control));
            }
        }
    }

    #[test]
    fn display_has_pid_and_command() {
        let holder = Holder { pid: 7, command: "agents".to_owned(), since_unix_s: 0 };
        assert_eq!(holder.to_string(), "process 7 (agents)");
    }
}
