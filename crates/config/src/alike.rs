//! A text that says the same as another, but for plain values: where its keys stand is known without parsing it.
//!
//! One plain value in the place of another changes nothing around it, so the keys stand where they stood, moved by what values before them
//! have become longer or shorter. Most writes set a value that is there; whoever waited for such a write, or makes the next one, has the
//! file parsed already.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use toml::de::{DeTable, DeValue};

use crate::Key;
use crate::meaning::Meaning;

/// How a text differs from one whose meaning is known.
#[derive(Clone)]
pub(crate) struct Alike {
    base: Arc<Meaning>,
    /// Lengths of the values that differ, by where they begin in the base.
    lengths: BTreeMap<usize, Lengths>,
}

#[derive(Clone, Copy)]
struct Lengths {
    base: usize,
    ours: usize,
}

/// Where a plain value stands.
pub(crate) struct Place {
    pub(crate) range: Range<usize>,
    in_base: Range<usize>,
}

impl Alike {
    /// The text itself.
    pub(crate) fn itself(meaning: Arc<Meaning>) -> Alike {
        Alike { base: meaning, lengths: BTreeMap::new() }
    }

    /// This `text`, if it differs from the base in plain values only, one in a line.
    pub(crate) fn of(&self, text: &str) -> Option<Alike> {
        let base = self.base.text();
        let mut values = None;
        let mut lengths = BTreeMap::new();
        // Where a line begins, in the base and here, up to which the two are alike.
        let (mut base_start, mut start) = (0, 0);
        while let Some(skipped) = first_line_that_differs(&base[base_start..], &text[start..]) {
            (base_start, start) = (base_start + skipped, start + skipped);
            let (theirs, ours) = (line(&base[base_start..]), line(&text[start..]));
            let values = values.get_or_insert_with(|| plain_values(&self.base));
            let value = value_at(values, base_start + common(theirs.as_bytes(), ours.as_bytes()))?;
            // A value that begins in another line is none of this one.
            let in_line = value.start.checked_sub(base_start)?..value.end - base_start;
            let plain =
                ours.strip_prefix(theirs.get(..in_line.start)?)?.strip_suffix(theirs.get(in_line.end..)?);
            let plain = plain.filter(|plain| is_plain(plain))?;
            lengths.insert(value.start, Lengths { base: in_line.len(), ours: plain.len() });
            (base_start, start) = (base_start + theirs.len(), start + ours.len());
        }
        Some(Alike { base: Arc::clone(&self.base), lengths })
    }

    /// Where a key's value stands, if it is a plain one.
    pub(crate) fn place(&self, key: &Key) -> Option<Place> {
        let found = self.base.find(key).filter(|found| !is_compound(found.value))?;
        let in_base = found.range;
        // One that began before ended before, so the start stays in the text.
        let before = |start: usize, lengths: &Lengths| start + lengths.ours - lengths.base;
        let start =
            self.lengths.range(..in_base.start).fold(in_base.start, |start, (_, by)| before(start, by));
        let length = self.lengths.get(&in_base.start).map_or(in_base.len(), |lengths| lengths.ours);
        Some(Place { range: start..start + length, in_base })
    }

    /// The same with a value of this length in that place.
    pub(crate) fn with(&self, place: &Place, length: usize) -> Alike {
        let mut alike = self.clone();
        alike.lengths.insert(place.in_base.start, Lengths { base: place.in_base.len(), ours: length });
        alike
    }
}

/// Where the first line begins in which two texts differ; `None` if they are the same.
fn first_line_that_differs(a: &str, b: &str) -> Option<usize> {
    let same = common(a.as_bytes(), b.as_bytes());
    let newline = || a.as_bytes()[..same].iter().rposition(|byte| *byte == b'\n');
    (same < a.len().max(b.len())).then(|| newline().map_or(0, |newline| newline + 1))
}

/// How many bytes at the beginning are the same.
fn common(a: &[u8], b: &[u8]) -> usize {
    const PIECE: usize = 256;
    let whole = a.chunks_exact(PIECE).zip(b.chunks_exact(PIECE)).take_while(|(a, b)| a == b).count() * PIECE;
    whole + a[whole..].iter().zip(&b[whole..]).take_while(|(a, b)| a == b).count()
}

/// The first line, with its end.
fn line(text: &str) -> &str {
    text.split_inclusive('\n').next().unwrap_or_default()
}

/// Where the plain values of a text stand, in this order.
fn plain_values(meaning: &Meaning) -> Vec<Range<usize>> {
    let mut values = Vec::new();
    collect(meaning.table(), &mut values);
    values.sort_by_key(|range| range.start);
    values
}

fn collect(table: &DeTable<'_>, values: &mut Vec<Range<usize>>) {
    for value in table.values() {
        match value.get_ref() {
            DeValue::Table(inner) => collect(inner, values),
            DeValue::Array(_) => {}
            _ => values.push(value.span()),
        }
    }
}

/// The last value that begins here or before.
fn value_at(values: &[Range<usize>], at: usize) -> Option<&Range<usize>> {
    values[..values.partition_point(|value| value.start <= at)].last()
}

/// Whether a text is a value that is neither list nor table, and nothing else.
pub(crate) fn is_plain(text: &str) -> bool {
    let value = text.parse::<toml_edit::Value>();
    value.is_ok_and(|value| !value.is_array() && !value.is_inline_table()) && text.trim() == text
}

fn is_compound(value: &DeValue<'_>) -> bool {
    value.is_array() || value.is_table()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn meaning(text: &str) -> Option<Arc<Meaning>> {
        Meaning::of(&text.into()).ok().map(Arc::new)
    }

    /// Whether `text` is like `base`. If so, everything that is said of it is what parsing it says.
    fn check(base: &Arc<Meaning>, text: &str) -> bool {
        let Some(alike) = Alike::itself(Arc::clone(base)).of(text) else { return false };
        let Some(parsed) = meaning(text) else { panic!("{text:?} is no TOML, and passes for one") };
        let (theirs, ours) = (base.leaves(), parsed.leaves());
        assert_eq!(theirs.len(), ours.len(), "{text:?}");
        for (theirs, ours) in theirs.iter().zip(&ours) {
            assert_eq!(theirs.names, ours.names, "{text:?}");
            let key = Key::from_names(ours.names.iter().copied());
            let found = parsed.find(&key).filter(|found| !is_compound(found.value));
            let place = alike.place(&key).map(|place| place.range);
            assert_eq!(place, found.map(|found| found.range), "{:?} of {text:?}", ours.names);
        }
        true
    }

    #[test]
    fn plain_values_in_the_place_of_others_are_alike() {
        let base =
            meaning("# c\na = 1 # d\n[t]\nb.c = \"x\"\r\nd = { e = true, f = [1] }\ng = 1979-05-27").unwrap();
        for text in [
            "# c\na = 1 # d\n[t]\nb.c = \"x\"\r\nd = { e = true, f = [1] }\ng = 1979-05-27",
            "# c\na = 12 # d\n[t]\nb.c = \"x\"\r\nd = { e = true, f = [1] }\ng = 1979-05-27",
            "# c\na = 'one' # d\n[t]\nb.c = 3.5\r\nd = { e = \"no, } no\", f = [1] }\ng = 1979-05-27 07:32:00",
            "# c\na = \"# d\" # d\n[t]\nb.c = \"\"\"x\"\"\"\r\nd = { e = 0x1, f = [1] }\ng = inf",
        ] {
            assert!(check(&base, text), "{text:?}");
        }
        for text in [
            "",
            "# C\na = 1 # d\n[t]\nb.c = \"x\"\r\nd = { e = true, f = [1] }\ng = 1979-05-27",
            "# c\na = 1 # e\n[t]\nb.c = \"x\"\r\nd = { e = true, f = [1] }\ng = 1979-05-27",
            "# c\na = 1  # d\n[t]\nb.c = \"x\"\r\nd = { e = true, f = [1] }\ng = 1979-05-27",
            "# c\na = [1] # d\n[t]\nb.c = \"x\"\r\nd = { e = true, f = [1] }\ng = 1979-05-27",
            "# c\na = # d\n[t]\nb.c = \"x\"\r\nd = { e = true, f = [1] }\ng = 1979-05-27",
            "# c\na = 1 # d\n[t]\nb.c = \"x\"\r\nd = { e = true, f = [2] }\ng = 1979-05-27",
            "# c\na = 1 # d\n[t]\nb.c = \"x\"\r\nd = { e = true, f = [1] }\ng = 1979-05-27\n",
            "# c\na = 1 # d\n[t]\nb.c = \"x\"\r\nd = { e = true, f = [1] }\ng = 1979-05-27 # e",
            "# c\na = 1 # d\n[t]\nb.c = \"x\r\nd = { e = true, f = [1] }\ng = 1979-05-27",
            "# c\na = 99999999999999999999 # d\n[t]\nb.c = \"x\"\r\nd = { e = true, f = [1] }\ng = 1979-05-27",
            "# c\na = 1 # d\n[u]\nb.c = \"x\"\r\nd = { e = true, f = [1] }\ng = 1979-05-27",
        ] {
            assert!(!check(&base, text), "{text:?}");
        }
    }

    #[test]
    fn a_plain_value_is_nothing_else() {
        for text in
            ["1", "'a'", "\"a\"", "true", "-inf", "1e5", "07:32:00", "1979-05-27T07:32:00Z", "\"\"\"a\"\"\""]
        {
            assert!(is_plain(text), "{text:?}");
        }
        for text in [
            "",
            " 1",
            "1 ",
            "1 # c",
            "1\n",
            "1,",
            "1 2",
            "[1]",
            "{}",
            "{ a = 1 }",
            "a",
            "\"",
            "1e999",
            "'a' 'b'",
            "#",
        ] {
            assert!(!is_plain(text), "{text:?}");
        }
    }

    /// Lines that make a text, most of the time.
    const LINES: &[&str] = &[
        "",
        "# comment",
        "a = 1",
        "b = \"x\" # why",
        "c.d = 'y'",
        "c.e = true",
        "f = [1, 2]",
        "g = { h = 1, i = 'z' }",
        "[t]",
        "j = 1.5",
        "[t.u]",
        "k = 1979-05-27 07:32:00",
        "[[v]]",
        "l = \"\"\"\nm = 1\n\"\"\"",
        "n = [\n  1, # one\n  'two',\n]",
        "\"o p\" = -1\r",
        "[[v]]",
        "q = '''r'''",
        "[w]",
        "s = 0x1f",
    ];

    /// What somebody might put anywhere.
    const PIECES: &[&str] = &[
        "",
        "1",
        "12",
        "x",
        "\"",
        "'",
        "\"x\"",
        "'y'",
        "true",
        " ",
        "#",
        " # c",
        ",",
        "=",
        "[",
        "]",
        "{",
        "}",
        "\n",
        "\r\n",
        ".",
        "-",
        "_",
        "e9",
        "1979-05-27",
        " 07:32:00",
        "\"\"\"",
        "'''",
        "\\",
        "[t]",
        "a = 2",
        "inf",
        "é",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 16_384, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_passes_for_alike_is_what_parsing_says(
            lines in prop::collection::vec(prop::sample::select(LINES), 1..12),
            changes in prop::collection::vec((any::<prop::sample::Index>(), 0..8_usize, prop::sample::select(PIECES)), 1..4),
        ) {
            let text = lines.join("\n");
            let Some(base) = meaning(&text) else { return Ok(()) };
            let mut changed = text.clone();
            for (at, length, piece) in changes {
                let start = changed.floor_char_boundary(at.index(changed.len() + 1));
                let end = changed.floor_char_boundary((start + length).min(changed.len()));
                changed.replace_range(start..end, piece);
            }
            check(&base, &changed);
        }

        #[test]
        fn values_that_were_replaced_are_alike(
            lines in prop::collection::vec(prop::sample::select(LINES), 1..12),
            values in prop::collection::vec(prop::sample::select(&["1", "'long and longer'", "true", "\"# }\"", "2000-01-01"][..]), 16),
        ) {
            let Some(base) = meaning(&lines.join("\n")) else { return Ok(()) };
            let mut text = base.text().to_owned();
            let places = plain_values(&base);
            // Several of one line, and those of several lines, are left to the parser.
            let is_alone = |place: &Range<usize>| {
                let line = |at: usize| base.text()[..at].matches('\n').count();
                places.iter().filter(|other| line(other.start) == line(place.start)).count() == 1 && line(place.start) == line(place.end)
            };
            for (place, value) in places.iter().zip(values).rev().filter(|(place, _)| is_alone(place)) {
                text.replace_range(place.clone(), value);
            }
            prop_assert!(check(&base, &text), "{:?} {text:?}", base.text());
        }
    }
}
