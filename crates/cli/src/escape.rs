//! Makes characters visible that a terminal obeys or hides. File names, messages and contents come from others.
//!
//! Lines that the program composes (lists, reports, errors) are made visible everywhere, so that a row stays one line. Data (a patch, a value,
//! a message, a log) is made visible on a terminal and is exact in a pipe or file: see [`stream`](crate::stream).

use std::borrow::Cow;
use std::fmt::Write;
use std::hash::BuildHasher;
use std::hash::RandomState;
use std::sync::LazyLock;

/// Begins a style mark in a composed line. Random, so that no text from outside holds one.
static MARK: LazyLock<String> =
    LazyLock::new(|| format!("\x1b{:016x}:", RandomState::new().hash_one(std::process::id())));

/// Styles a part of a composed line: `code` is a parameter of the escape sequence for colours.
pub(crate) fn styled(code: &str, text: &str) -> String {
    format!("{0}{code}m{text}{0}0m", *MARK)
}

/// Makes a composed line visible: a line feed becomes `\n`, an escape character `\u{1b}`. Tabs stay. Style marks become colours, or
/// nothing.
pub(crate) fn rendered(line: &str, has_colors: bool) -> String {
    split_marks(line, has_colors, |text| visible(text).into_owned())
}

/// Makes a text of many lines visible that may hold style marks.
pub(crate) fn rendered_text(text: &str, has_colors: bool) -> String {
    split_marks(text, has_colors, |text| visible_text(text.as_bytes()))
}

/// Replaces style marks by colours or nothing, and leaves the rest as it is.
pub(crate) fn rendered_exact(text: &str, has_colors: bool) -> String {
    split_marks(text, has_colors, str::to_owned)
}

fn split_marks(text: &str, has_colors: bool, show: impl Fn(&str) -> String) -> String {
    let mut parts = text.split(MARK.as_str());
    let mut shown = parts.next().map(&show).unwrap_or_default();
    for part in parts {
        let (code, text) = part.split_once('m').expect("a mark has an end");
        if has_colors {
            shown.extend(["\x1b[", code, "m"]);
        }
        shown += &show(text);
    }
    shown
}

/// The columns that a part of a composed line takes.
pub(crate) fn width(part: &str) -> usize {
    rendered(part, false).chars().count()
}

/// Makes a piece of one line visible. Tabs stay.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| is_hidden(c) && c != '\t') {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    text.chars().for_each(|c| push(&mut shown, c, &['\t']));
    Cow::Owned(shown)
}

/// Makes bytes of many lines visible: `\xff` stands for a byte that is not UTF-8. Line feeds and tabs stay.
pub(crate) fn visible_text(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        chunk.valid().chars().for_each(|c| push(&mut shown, c, &['\t', '\n']));
        chunk
            .invalid()
            .iter()
            .for_each(|byte| write!(shown, "\\x{byte:02x}").expect("a string takes everything"));
    }
    shown
}

/// Makes JSON visible, as the same JSON: `\u202e`.
pub(crate) fn visible_json(json: &str) -> Cow<'_, str> {
    let is_escaped = |c: char| is_hidden(c) && c != '\n';
    if !json.chars().any(is_escaped) {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len() + 8);
    for c in json.chars() {
        match is_escaped(c) {
            true => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                write!(shown, "\\u{unit:04x}").expect("a string takes everything");
            }),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Replaces each hidden character by one other character, so that columns stay aligned.
pub(crate) fn replace_hidden(text: &str) -> String {
    text.chars().map(|c| if is_hidden(c) && c != '\t' { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

fn push(shown: &mut String, c: char, kept: &[char]) {
    match is_hidden(c) && !kept.contains(&c) {
        true => shown.extend(c.escape_default()),
        false => shown.push(c),
    }
}

/// Returns true for characters that a terminal obeys or does not show: control characters, marks that change the direction of text,
/// separators of lines, tags and other characters without width. Joiners and selectors that belong to letters and emoji are not hidden.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_made_visible() {
        for (text, expected) in [
            ("plain é \t👩\u{200d}💻", "plain é \t👩\u{200d}💻"),
            ("a\nb\r", "a\\nb\\r"),
            ("\x1b[2J\x07\x7f", "\\u{1b}[2J\\u{7}\\u{7f}"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("gpj.\u{202e}exe\u{200f}", "gpj.\\u{202e}exe\\u{200f}"),
            ("a\u{e0041}\u{200b}\u{2028}", "a\\u{e0041}\\u{200b}\\u{2028}"),
        ] {
            assert_eq!(visible(text), expected);
            assert_eq!(rendered(text, true), expected);
            assert_eq!(visible_text(text.as_bytes()), expected.replace("\\n", "\n"));
            assert_eq!(replace_hidden(text).chars().count(), text.chars().count());
        }
        assert_eq!(visible_text(b"\xff\x9b1m\xc3\xa9"), "\\xff\\x9b1m\u{e9}");
    }

    #[test]
    fn every_byte_has_a_visible_form_of_its_own() {
        let shown: std::collections::BTreeSet<String> = (0..=255).map(|byte| visible_text(&[byte])).collect();
        assert_eq!(shown.len(), 256);
        for text in shown.iter().filter(|text| !matches!(text.as_str(), "\n" | "\t")) {
            assert!(text.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{text:?}");
        }
    }

    #[test]
    fn only_our_own_colours_are_colours() {
        let line = format!("\x1b[31m{}\x1b[0m", styled("1", "a\nb\x1b[8m"));
        assert_eq!(rendered(&line, true), "\\u{1b}[31m\x1b[1ma\\nb\\u{1b}[8m\x1b[0m\\u{1b}[0m");
        assert_eq!(rendered(&line, false), "\\u{1b}[31ma\\nb\\u{1b}[8m\\u{1b}[0m");
        assert_eq!(rendered_text(&line, false), "\\u{1b}[31ma\nb\\u{1b}[8m\\u{1b}[0m");
        assert_eq!(rendered_exact(&line, false), "\x1b[31ma\nb\x1b[8m\x1b[0m");
        assert_eq!(width(&styled("32", "ok\n")), 4);
    }

    #[test]
    fn json_stays_the_same_json() {
        let text = serde_json::to_string_pretty(&["\u{202e}\u{9b}\u{e0041}\n\x1b\x7f é"]).unwrap();
        let shown = visible_json(&text);
        assert!(shown.chars().all(|c| c == '\n' || !is_hidden(c)), "{shown}");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&shown).unwrap(),
            serde_json::from_str::<serde_json::Value>(&text).unwrap()
        );
    }
}
