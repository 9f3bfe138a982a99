//! The view of a run on a terminal: the same few lines, drawn again in place.
//!
//! A frame is one write, and every line of it clears only what is behind its own end, so nothing flickers. The terminal does not wrap
//! lines meanwhile: what is wider than it looks is cut by the terminal itself, and the lines can be counted.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use super::draw::Size;

/// How long a frame stays at least.
pub(super) const FRAME: Duration = Duration::from_millis(100);
/// Where the terminal does not say how large it is.
const USUAL: Size = Size { columns: 80, lines: 24 };

/// Lines that stand at the bottom of the terminal until they are drawn again. Gone when this is dropped.
pub(super) struct Live {
    /// How many lines stand there.
    standing: usize,
    /// Whether colours are taken out.
    is_plain: bool,
}

impl Live {
    /// On standard error, if that is a terminal that can be drawn on.
    pub(super) fn start() -> Option<Self> {
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let is_plain = anstream::AutoStream::choice(&io::stderr()) == anstream::ColorChoice::Never;
        (io::stderr().is_terminal() && !is_dumb).then_some(Self { standing: 0, is_plain })
    }

    pub(super) fn size(&self) -> Size {
        size().unwrap_or(USUAL)
    }

    /// Draws lines where the last ones stood; those of `above` come before them and stay.
    pub(super) fn draw(&mut self, above: &[String], lines: &[String]) {
        let text = self.text(above, lines);
        // What cannot be shown is no reason to stop.
        let _ = io::stderr().write_all(text.as_bytes()).and_then(|()| io::stderr().flush());
    }

    /// What is written to get there.
    fn text(&mut self, above: &[String], lines: &[String]) -> String {
        let mut text = String::from("\x1b[?7l");
        if self.standing > 0 {
            text.push_str(&format!("\r\x1b[{}A", self.standing));
        }
        // What stays may be long: it is wrapped, and everything below it is drawn anew.
        if !above.is_empty() {
            text.push_str("\x1b[J\x1b[?7h");
            above.iter().for_each(|line| text.push_str(&format!("{}\r\n", self.painted(line))));
            text.push_str("\x1b[?7l");
        }
        lines.iter().for_each(|line| text.push_str(&format!("{}\x1b[K\r\n", self.painted(line))));
        if lines.len() < self.standing {
            text.push_str("\x1b[J");
        }
        text.push_str("\x1b[?7h");
        self.standing = lines.len();
        text
    }

    fn painted(&self, line: &str) -> String {
        if self.is_plain { anstream::adapter::strip_str(line).to_string() } else { line.to_owned() }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if self.standing > 0 {
            self.draw(&[], &[]);
        }
    }
}

/// How wide the terminal is.
pub(super) fn columns() -> usize {
    size().unwrap_or(USUAL).columns
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
    fn a_frame_goes_over_the_last_one_and_clears_what_is_longer() {
        let mut live = Live { standing: 0, is_plain: false };
        assert_eq!(live.text(&[], &lines("a b")), "\x1b[?7la\x1b[K\r\nb\x1b[K\r\n\x1b[?7h");
        assert_eq!(live.text(&[], &lines("c d")), "\x1b[?7l\r\x1b[2Ac\x1b[K\r\nd\x1b[K\r\n\x1b[?7h");
        assert_eq!(live.text(&[], &lines("e")), "\x1b[?7l\r\x1b[2Ae\x1b[K\r\n\x1b[J\x1b[?7h");
        assert_eq!(
            live.text(&lines("warning"), &lines("f")),
            "\x1b[?7l\r\x1b[1A\x1b[J\x1b[?7hwarning\r\n\x1b[?7lf\x1b[K\r\n\x1b[?7h"
        );
        assert_eq!(live.text(&[], &[]), "\x1b[?7l\r\x1b[1A\x1b[J\x1b[?7h");
        assert_eq!(live.standing, 0);
    }

    #[test]
    fn colours_that_nobody_wants_are_taken_out_of_lines_alone() {
        let mut live = Live { standing: 1, is_plain: true };
        let red = vec!["\x1b[31mred\x1b[0m".to_owned()];
        assert_eq!(live.text(&[], &red), "\x1b[?7l\r\x1b[1Ared\x1b[K\r\n\x1b[?7h");
        live.text(&[], &[]);
    }
}
