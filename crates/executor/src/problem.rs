//! What is wrong with a plan file, and where.

use std::fmt;

/// One thing that is wrong with a plan file, or that looks wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Where.
    pub place: Place,
    /// What.
    pub what: String,
    /// What was probably meant, or what to do.
    pub hint: Option<String>,
}

/// A place in a text, both counted from 1; columns are characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The character in it.
    pub column: usize,
}

impl Problem {
    pub(crate) fn new(place: Place, what: impl Into<String>) -> Self {
        Self { place, what: what.into(), hint: None }
    }

    pub(crate) fn hint(self, hint: Option<String>) -> Self {
        Self { hint, ..self }
    }
}

/// A text in which places are asked for.
pub(crate) struct Text<'a> {
    text: &'a str,
    /// Where lines begin: found once, as a long file has many places.
    line_starts: Vec<usize>,
}

impl<'a> Text<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let after_ends = text.match_indices('\n').map(|(end, _)| end + 1);
        Self { text, line_starts: std::iter::once(0).chain(after_ends).collect() }
    }

    /// The place of a byte.
    pub(crate) fn place(&self, offset: usize) -> Place {
        let offset = offset.min(self.text.len());
        let line = self.line_starts.partition_point(|start| *start <= offset);
        let before = self.text.get(self.line_starts[line - 1]..offset).unwrap_or_default();
        Place { line, column: 1 + before.chars().count() }
    }
}

/// How alike the nearest name must be to be suggested: 1 is the same, 0 nothing in common.
const LIKENESS_MIN: f64 = 0.6;

/// Asks whether the known name that is most like this one was meant.
pub(crate) fn suggestion<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    // An underscore for a dash is the commonest slip, and no slip in many other tools.
    let name = name.to_lowercase().replace('_', "-");
    let likeness =
        |known: &str| strsim::normalized_damerau_levenshtein(&name, &known.to_lowercase().replace('_', "-"));
    let best = known.map(|known| (likeness(known), known)).max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.filter(|(likeness, _)| *likeness >= LIKENESS_MIN)
        .map(|(_, known)| format!("did you mean `{known}`?"))
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)?;
        self.hint.iter().try_for_each(|hint| write!(f, " ({hint})"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters() {
        let text = "a\nbä = 1\n";
        let place = |offset| Text::new(text).place(offset).to_string();
        assert_eq!(place(0), "1:1");
        assert_eq!(place(2), "2:1");
        assert_eq!(place(5), "2:3");
        assert_eq!(place(text.len()), "3:1");
        assert_eq!(place(1000), "3:1", "beyond the end is the end");
    }

    #[test]
    fn the_nearest_name_is_suggested_when_it_is_near() {
        let known = ["fail-fast", "merge", "Build_All"];
        let suggested = |name| suggestion(name, known.into_iter());
        assert_eq!(suggested("fail_fast").as_deref(), Some("did you mean `fail-fast`?"));
        assert_eq!(suggested("megre").as_deref(), Some("did you mean `merge`?"));
        assert_eq!(suggested("build-all").as_deref(), Some("did you mean `Build_All`?"));
        assert_eq!(suggested("zzz"), None);
    }
}
