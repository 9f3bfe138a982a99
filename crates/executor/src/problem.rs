//! Problems of a plan file, with their positions.

use std::fmt;

/// An error or warning about a plan file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Position in the text.
    pub position: Position,
    /// Description of the problem.
    pub message: String,
    /// Correction, such as the likely name.
    pub hint: Option<String>,
}

/// A position in a text. Lines and columns count from 1; columns are characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line number.
    pub line: usize,
    /// Column number.
    pub column: usize,
    /// Bytes before it.
    pub offset: usize,
}

impl Problem {
    pub(crate) fn new(position: Position, message: impl Into<String>) -> Self {
        Self { position, message: message.into(), hint: None }
    }

    pub(crate) fn hint(self, hint: Option<String>) -> Self {
        Self { hint, ..self }
    }
}

/// Converts byte offsets of a text to positions.
pub(crate) struct LineIndex<'a> {
    text: &'a str,
    /// Offsets of the starts of lines.
    line_starts: Vec<usize>,
}

impl<'a> LineIndex<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let after_ends = text.match_indices('\n').map(|(end, _)| end + 1);
        Self { text, line_starts: std::iter::once(0).chain(after_ends).collect() }
    }

    /// The position of a byte offset.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let offset = offset.min(self.text.len());
        let line = self.line_starts.partition_point(|start| *start <= offset);
        let before = self.text.get(self.line_starts[line - 1]..offset).unwrap_or_default();
        Position { line, column: 1 + before.chars().count(), offset }
    }
}

/// Least similarity of a suggested name, from 0 to 1 (equal).
const SIMILARITY_MIN: f64 = 0.6;

/// Suggests the most similar of the known names.
pub(crate) fn suggestion<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    // An underscore for a dash is the most common mistake.
    let name = name.to_lowercase().replace('_', "-");
    let similarity =
        |known: &str| strsim::normalized_damerau_levenshtein(&name, &known.to_lowercase().replace('_', "-"));
    let best = known.map(|known| (similarity(known), known)).max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.filter(|(similarity, _)| *similarity >= SIMILARITY_MIN)
        .map(|(_, known)| format!("did you mean `{known}`?"))
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.position, self.message)?;
        self.hint.iter().try_for_each(|hint| write!(f, " ({hint})"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters() {
        let text = "a\nbä = 1\n";
        let position = |offset| LineIndex::new(text).position(offset).to_string();
        assert_eq!(position(0), "1:1");
        assert_eq!(position(2), "2:1");
        assert_eq!(position(5), "2:3");
        assert_eq!(position(text.len()), "3:1");
        assert_eq!(position(1000), "3:1", "beyond the end is the end");
    }

    #[test]
    fn only_a_similar_name_is_suggested() {
        let known = ["fail-fast", "merge", "Build_All"];
        let suggested = |name| suggestion(name, known.into_iter());
        assert_eq!(suggested("fail_fast").as_deref(), Some("did you mean `fail-fast`?"));
        assert_eq!(suggested("megre").as_deref(), Some("did you mean `merge`?"));
        assert_eq!(suggested("build-all").as_deref(), Some("did you mean `Build_All`?"));
        assert_eq!(suggested("zzz"), None);
    }
}
