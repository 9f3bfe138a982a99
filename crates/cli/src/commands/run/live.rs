//! The live view on a terminal: some lines, redrawn in place.
//!
//! A frame is one write, and each of its lines clears only the rest of its row, so nothing flickers. Line
//! wrap is off during a frame: the terminal truncates lines that are too wide, so the number of rows is
//! known.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use super::draw::Size;
use crate::escape::rendered;

/// Shortest time between two frames.
pub(super) const FRAME: Duration = Duration::from_millis(100);
/// Size of a terminal that does not report one.
const DEFAULT_SIZE: Size = Size { columns: 80, lines: 24 };

/// Lines at the bottom of the terminal, removed on drop.
pub(super) struct Live {
    /// Number of lines on the terminal.
    drawn_lines: usize,
    /// True to remove colours.
    is_plain: bool,
}

impl Live {
    /// Starts on standard error, if that is a terminal that supports it.
    pub(super) fn start() -> Option<Self> {
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let is_plain = anstream::AutoStream::choice(&io::stderr()) == anstream::ColorChoice::Never;
        (io::stderr().is_terminal() && !is_dumb).then_some(Self { drawn_lines: 0, is_plain })
    }

    pub(super) fn size(&self) -> Size {
        size().unwrap_or(DEFAULT_SIZE)
    }

    /// Replaces the drawn lines. Prints the lines of `above` before them, which stay.
    pub(super) fn draw(&mut self, above: &[String], lines: &[String]) {
        let text = self.text(above, lines);
        // A failure to draw must not stop the run.
        let _ = io::stderr().write_all(text.as_bytes()).and_then(|()| io::stderr().flush());
    }

    /// The text that draws a frame.
    fn text(&mut self, above: &[String], lines: &[String]) -> String {
        let mut text = String::from("\x1b[?7l");
        if self.drawn_lines > 0 {
            text.push_str(&format!("\r\x1b[{}A", self.drawn_lines));
        }
        // Lines that stay may wrap, so everything below is redrawn.
        if !above.is_empty() {
            text.push_str("\x1b[J\x1b[?7h");
            above.iter().for_each(|line| text.push_str(&format!("{}\r\n", self.painted(line))));
            text.push_str("\x1b[?7l");
        }
        lines.iter().for_each(|line| text.push_str(&format!("{}\x1b[K\r\n", self.painted(line))));
        if lines.len() < self.drawn_lines {
            text.push_str("\x1b[J");
        }
        text.push_str("\x1b[?7h");
        self.drawn_lines = lines.len();
        text
    }

    fn painted(&self, line: &str) -> String {
        rendered(line, !self.is_plain)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if self.drawn_lines > 0 {
            self.draw(&[], &[]);
        }
    }
}

/// Width of the terminal.
pub(super) fn columns() -> usize {
    size().unwrap_or(DEFAULT_SIZE).columns
}

#[cfg(unix)]
fn size() -> Option<Size> {
    let found = rustix::termios::tcgetwinsize(io::stderr()).ok()?;
    let (columns, lines) = (found.ws_col.into(), found.ws_row.into());
    (columns > 0 && lines > 0).then_some(Size { columns, lines })
}

#[cfg(not(unix))]
fn size() -> Option<Size> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_frame_replaces_the_last_one() {
        let mut live = Live { drawn_lines: 0, is_plain: false };
        assert_eq!(live.text(&[], &lines("a b")), "\x1b[?7la\x1b[K\r\nb\x1b[K\r\n\x1b[?7h");
        assert_eq!(live.text(&[], &lines("c d")), "\x1b[?7l\r\x1b[2Ac\x1b[K\r\nd\x1b[K\r\n\x1b[?7h");
        assert_eq!(live.text(&[], &lines("e")), "\x1b[?7l\r\x1b[2Ae\x1b[K\r\n\x1b[J\x1b[?7h");
        assert_eq!(
            live.text(&lines("warning"), &lines("f")),
            "\x1b[?7l\r\x1b[1A\x1b[J\x1b[?7hwarning\r\n\x1b[?7lf\x1b[K\r\n\x1b[?7h"
        );
        assert_eq!(live.text(&[], &[]), "\x1b[?7l\r\x1b[1A\x1b[J\x1b[?7h");
        assert_eq!(live.drawn_lines, 0);
    }

    #[test]
    fn colours_are_removed_and_cursor_movement_stays() {
        let mut live = Live { drawn_lines: 1, is_plain: true };
        let red = vec![crate::escape::styled("31", "red")];
        assert_eq!(live.text(&[], &red), "\x1b[?7l\r\x1b[1Ared\x1b[K\r\n\x1b[?7h");
        live.text(&[], &[]);
    }
}
