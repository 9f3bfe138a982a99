//! Escapes control characters in text for people: file names may hold them, and a terminal would obey.

use std::borrow::Cow;

/// The escape sequences that [`Paint`](crate::style::Paint) writes.
const COLORS: [&str; 7] = ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[22m", "\x1b[31m", "\x1b[32m", "\x1b[39m"];

/// Escapes control characters: a line feed becomes `\n`, an escape character `\u{1b}`. Tabs stay.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_control) {
        return Cow::Borrowed(text);
    }
    let mut escaped_text = String::with_capacity(text.len() + 8);
    text.chars().for_each(|c| push(&mut escaped_text, c));
    Cow::Owned(escaped_text)
}

/// Like [`escaped`], for a line that may hold colours of [`Paint`](crate::style::Paint).
pub(crate) fn escaped_styled(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_control) {
        return Cow::Borrowed(text);
    }
    let (mut escaped_text, mut rest) = (String::with_capacity(text.len() + 8), text);
    while let Some(c) = rest.chars().next() {
        let color = COLORS.iter().find(|color| rest.starts_with(**color));
        match color {
            Some(color) => escaped_text.push_str(color),
            None => push(&mut escaped_text, c),
        }
        rest = &rest[color.map_or(c.len_utf8(), |color| color.len())..];
    }
    Cow::Owned(escaped_text)
}

/// Replaces each control character by one other character, so that columns stay aligned.
pub(crate) fn replace_controls(text: &str) -> String {
    text.chars().map(|c| if is_control(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

fn push(escaped_text: &mut String, c: char) {
    match is_control(c) {
        true => escaped_text.extend(c.escape_default()),
        false => escaped_text.push(c),
    }
}

/// Returns true for characters that a terminal acts on: control characters, and marks that change the text direction.
fn is_control(c: char) -> bool {
    let is_direction = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && c != '\t') || is_direction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        for (text, expected) in [
            ("plain é \t", "plain é \t"),
            ("a\nb\r", "a\\nb\\r"),
            ("\x1b[2J\x07", "\\u{1b}[2J\\u{7}"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("gpj.\u{202e}exe", "gpj.\\u{202e}exe"),
        ] {
            assert_eq!(escaped(text), expected);
            assert_eq!(escaped_styled(text), expected);
            assert_eq!(replace_controls(text).chars().count(), text.chars().count());
        }
    }

    #[test]
    fn only_our_own_colours_stay_in_styled_lines() {
        let styled = "\x1b[31m\x1b[1ma\nb\x1b[0m\x1b[39m\x1b[8mhidden";
        assert_eq!(escaped_styled(styled), "\x1b[31m\x1b[1ma\\nb\x1b[0m\x1b[39m\\u{1b}[8mhidden");
        assert!(!escaped(styled).contains('\x1b'));
    }
}
