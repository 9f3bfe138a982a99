//! The standard streams. Data is exact in a pipe or file and made visible on a terminal; composed lines are made visible everywhere.

use std::io::{self, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};

use crate::escape::{rendered, rendered_exact, rendered_text, visible_json, visible_text};

/// Standard output or standard error. Writing to it writes data.
pub(crate) struct Stream<W> {
    raw: W,
    is_terminal: bool,
    has_colors: bool,
    /// The beginning of a character whose end is not written yet, on a terminal.
    incomplete: Vec<u8>,
}

pub(crate) type Stdout = Stream<AutoStream<io::Stdout>>;
pub(crate) type Stderr = Stream<AutoStream<io::Stderr>>;

pub(crate) fn stdout() -> Stdout {
    let raw = io::stdout();
    let has_colors = AutoStream::choice(&raw) != ColorChoice::Never;
    Stream::new(AutoStream::always(raw), io::stdout().is_terminal(), has_colors)
}

pub(crate) fn stderr() -> Stderr {
    let raw = io::stderr();
    let has_colors = AutoStream::choice(&raw) != ColorChoice::Never;
    Stream::new(AutoStream::always(raw), io::stderr().is_terminal(), has_colors)
}

impl<W: Write> Stream<W> {
    fn new(raw: W, is_terminal: bool, has_colors: bool) -> Self {
        Self { raw, is_terminal, has_colors, incomplete: Vec::new() }
    }

    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    pub(crate) fn has_colors(&self) -> bool {
        self.has_colors
    }

    /// Writes a composed line.
    pub(crate) fn line(&mut self, line: &str) -> io::Result<()> {
        let line = rendered(line, self.has_colors);
        self.end_data()?;
        writeln!(self.raw, "{line}")
    }

    /// Writes a composed text whose lines are visible already, apart from its styles.
    pub(crate) fn message(&mut self, text: &str) -> io::Result<()> {
        self.end_data()?;
        self.raw.write_all(rendered_exact(text, self.has_colors).as_bytes())
    }

    /// Writes data with style marks, and ends the line.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        self.end_data()?;
        let show = if self.is_terminal { rendered_text } else { rendered_exact };
        writeln!(self.raw, "{}", show(text, self.has_colors))
    }

    /// Begins a line of data with a composed label.
    pub(crate) fn label(&mut self, label: &str) -> io::Result<()> {
        self.end_data()?;
        self.raw.write_all(rendered(label, self.has_colors).as_bytes())
    }

    /// Ends a line of data.
    pub(crate) fn end_line(&mut self) -> io::Result<()> {
        self.end_data()?;
        self.raw.write_all(b"\n")
    }

    /// Writes JSON, and ends the line.
    pub(crate) fn json(&mut self, json: &str) -> io::Result<()> {
        if self.is_terminal {
            writeln!(self.raw, "{}", visible_json(json))
        } else {
            writeln!(self.raw, "{json}")
        }
    }

    /// Writes bytes that were made for this stream.
    pub(crate) fn raw(&mut self) -> &mut W {
        &mut self.raw
    }

    /// Ends the data, and shows a character that was cut off.
    pub(crate) fn end_data(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.incomplete);
        self.raw.write_all(visible_text(&rest).as_bytes())
    }
}

impl<W: Write> Write for Stream<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_terminal {
            return self.raw.write(bytes);
        }
        self.incomplete.extend_from_slice(bytes);
        let rest = self.incomplete.split_off(complete_bytes(&self.incomplete));
        let complete = std::mem::replace(&mut self.incomplete, rest);
        self.raw.write_all(visible_text(&complete).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.raw.flush()
    }
}

/// The number of bytes before a character of UTF-8 that is cut off at the end.
fn complete_bytes(bytes: &[u8]) -> usize {
    let is_cut_off = |start: &usize| {
        str::from_utf8(&bytes[*start..])
            .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    (bytes.len().saturating_sub(3)..bytes.len()).find(is_cut_off).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::escape::styled;

    fn written(is_terminal: bool, write: impl FnOnce(&mut Stream<Vec<u8>>)) -> Vec<u8> {
        let mut stream = Stream::new(Vec::new(), is_terminal, is_terminal);
        write(&mut stream);
        stream.end_data().unwrap();
        stream.raw
    }

    #[test]
    fn data_is_exact_in_a_pipe_and_visible_on_a_terminal() {
        let every: Vec<u8> = (0..=255).collect();
        assert_eq!(written(false, |stream| stream.write_all(&every).unwrap()), every);
        let shown = written(true, |stream| stream.write_all(&every).unwrap());
        assert!(shown.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')), "{shown:?}");
        let text = format!("{} \x1b[2J\u{202e}", styled("1", "a"));
        assert_eq!(written(false, |stream| stream.text(&text).unwrap()), "a \x1b[2J\u{202e}\n".as_bytes());
        let shown = written(true, |stream| stream.text(&text).unwrap());
        assert_eq!(shown, b"\x1b[1ma\x1b[0m \\u{1b}[2J\\u{202e}\n");
    }

    #[test]
    fn a_character_may_come_in_parts() {
        let text = "é\u{202e}👩 end";
        for size in 1..5 {
            let shown = written(true, |stream| {
                text.as_bytes().chunks(size).for_each(|part| stream.write_all(part).unwrap());
            });
            assert_eq!(String::from_utf8(shown).unwrap(), "é\\u{202e}👩 end", "{size}");
        }
        assert_eq!(written(true, |stream| stream.write_all(b"a\xe2\x80").unwrap()), b"a\\xe2\\x80");
    }

    #[test]
    fn composed_lines_are_visible_everywhere() {
        for is_terminal in [false, true] {
            assert_eq!(written(is_terminal, |stream| stream.line("a\nb\x1b").unwrap()), b"a\\nb\\u{1b}\n");
        }
    }
}
