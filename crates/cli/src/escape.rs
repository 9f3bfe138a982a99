//! Control characters in what people are shown. Names of files may hold them, and a terminal would obey.

use std::borrow::Cow;

/// The colours that [`Paint`](crate::look::Paint) makes.
const COLORS: [&str; 7] = ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[22m", "\x1b[31m", "\x1b[32m", "\x1b[39m"];

/// A text with its control characters spelled out, a line feed as `\n` and an escape as `\u{1b}`. Tabs stay.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut told = String::with_capacity(text.len() + 8);
    text.chars().for_each(|c| push(&mut told, c));
    Cow::Owned(told)
}

/// The same for a line that has colours of ours in it.
pub(crate) fn escaped_painted(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let (mut told, mut rest) = (String::with_capacity(text.len() + 8), text);
    while let Some(c) = rest.chars().next() {
        let color = COLORS.iter().find(|color| rest.starts_with(**color));
        match color {
            Some(color) => told.push_str(color),
            None => push(&mut told, c),
        }
        rest = &rest[color.map_or(c.len_utf8(), |color| color.len())..];
    }
    Cow::Owned(told)
}

/// A text of as many characters as before.
pub(crate) fn blotted(text: &str) -> String {
    text.chars().map(|c| if is_obeyed(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

fn push(told: &mut String, c: char) {
    match is_obeyed(c) {
        true => told.extend(c.escape_default()),
        false => told.push(c),
    }
}

/// Whether a terminal does something else than to show it: control characters, and what turns the direction of text.
fn is_obeyed(c: char) -> bool {
    let is_turn = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && c != '\t') || is_turn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_spelled_out() {
        for (text, expected) in [
            ("plain é \t", "plain é \t"),
            ("a\nb\r", "a\\nb\\r"),
            ("\x1b[2J\x07", "\\u{1b}[2J\\u{7}"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("gpj.\u{202e}exe", "gpj.\\u{202e}exe"),
        ] {
            assert_eq!(escaped(text), expected);
            assert_eq!(escaped_painted(text), expected);
            assert_eq!(blotted(text).chars().count(), text.chars().count());
        }
    }

    #[test]
    fn colours_of_ours_stay_in_painted_lines_alone() {
        let painted = "\x1b[31m\x1b[1ma\nb\x1b[0m\x1b[39m\x1b[8mhidden";
        assert_eq!(escaped_painted(painted), "\x1b[31m\x1b[1ma\\nb\x1b[0m\x1b[39m\\u{1b}[8mhidden");
        assert!(!escaped(painted).contains('\x1b'));
    }
}
