//! Diff and three-way merge of texts by lines. Pure.
//!
//! The time of a comparison is bounded: the algorithm gives up on the shortest difference where
//! that would take long, as git does. The merge works on two lists of differing ranges; merge
//! libraries compare without a bound.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, Hunk as DiffRange, InternedInput};

use crate::ConflictHunk;
use crate::merge::three_way::resolve_trivial;

/// Tells text from binary content: text has no zero byte.
pub(crate) fn is_text(bytes: &[u8]) -> bool {
    memchr::memchr(0, bytes).is_none()
}

/// Splits a text into lines with their line feeds.
pub(crate) fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Number of lines of two texts above which texts of mostly repeated lines are not compared line by
/// line.
const REPEATING_LINES_MAX: usize = 100_000;

/// Ranges of lines in which two texts differ, shifted to where people expect them.
pub(crate) fn diff_ranges(old: &[u8], new: &[u8]) -> Vec<DiffRange> {
    let input = InternedInput::new(old, new);
    let (before, after) = (input.before.len(), input.after.len());
    let repeats = (input.interner.num_tokens() as usize).saturating_mul(4) < before + after;
    if repeats && before + after > REPEATING_LINES_MAX {
        return one_range(&input);
    }
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_lines(&input);
    diff.hunks().collect()
}

/// One range between the common first and last lines.
fn one_range<T>(input: &InternedInput<T>) -> Vec<DiffRange> {
    let same = |(one, two): &(&imara_diff::Token, &imara_diff::Token)| one == two;
    let start = input.before.iter().zip(&input.after).take_while(same).count();
    let (before, after) = (&input.before[start..], &input.after[start..]);
    let end = before.iter().rev().zip(after.iter().rev()).take_while(same).count();
    let range = |rest: &[imara_diff::Token]| start as u32..(start + rest.len() - end) as u32;
    let hunk = DiffRange { before: range(before), after: range(after) };
    if hunk.before.is_empty() && hunk.after.is_empty() { Vec::new() } else { vec![hunk] }
}

/// Merges the changes of both sides, or gives the conflicts. Changes of adjacent lines conflict
/// too: neither side saw both.
pub(crate) fn merge(base: &[u8], ours: &[u8], theirs: &[u8]) -> Result<Vec<u8>, Vec<ConflictHunk>> {
    let texts = [lines(base), lines(ours), lines(theirs)];
    let mut sides = [SideCursor::new(diff_ranges(base, ours)), SideCursor::new(diff_ranges(base, theirs))];
    let (mut merged, mut conflicts, mut done) = (Vec::new(), Vec::new(), 0);
    while let Some(start) = sides.iter().filter_map(SideCursor::next_start).min() {
        merged.extend(texts[0][done..start].concat());
        let from = [sides[0].line_of(start), sides[1].line_of(start)];
        let mut end = start;
        // Extend the range while a side has a change that begins in it or right after it.
        while let Some(side) = (0..2).find(|side| sides[*side].next_start().is_some_and(|next| next <= end)) {
            end = end.max(sides[side].take());
        }
        let part = |side: usize, to: usize| texts[side + 1][from[side]..to].concat();
        let [ours, theirs] = [part(0, sides[0].line_of(end)), part(1, sides[1].line_of(end))];
        let base = texts[0][start..end].concat();
        match resolve_trivial(&base, &ours, &theirs) {
            Some(resolved) => merged.extend(resolved),
            None => conflicts.push(conflict_hunk(start, &base, &ours, &theirs)),
        }
        done = end;
    }
    merged.extend(texts[0][done..].concat());
    if conflicts.is_empty() { Ok(merged) } else { Err(conflicts) }
}

/// Compares a text with its base in these lines of the base and those adjacent.
pub(crate) fn differs_at(base: &[u8], text: &[u8], lines: &Range<u64>) -> bool {
    let touches = |part: DiffRange| {
        u64::from(part.before.start) <= lines.end && u64::from(part.before.end) >= lines.start
    };
    diff_ranges(base, text).into_iter().any(touches)
}

fn conflict_hunk(start: usize, base: &[u8], ours: &[u8], theirs: &[u8]) -> ConflictHunk {
    let show = |text: &[u8]| lines(text).iter().map(|line| line.to_vec()).collect();
    ConflictHunk {
        line: start as u64 + 1,
        base: show(base),
        ours: show(ours),
        ours_by: Vec::new(),
        theirs: show(theirs),
        theirs_by: Vec::new(),
    }
}

/// Position in the changes of one side.
struct SideCursor {
    rest: std::vec::IntoIter<DiffRange>,
    /// Lines added and removed by the changes taken so far.
    added: usize,
    removed: usize,
}

impl SideCursor {
    fn new(changes: Vec<DiffRange>) -> Self {
        Self { rest: changes.into_iter(), added: 0, removed: 0 }
    }

    fn next_start(&self) -> Option<usize> {
        self.rest.as_slice().first().map(|change| change.before.start as usize)
    }

    /// Takes the next change and returns the line of the base at which it ends.
    fn take(&mut self) -> usize {
        let change = self.rest.next().expect("next_start found a change");
        let length = |range: &Range<u32>| (range.end - range.start) as usize;
        self.added += length(&change.after);
        self.removed += length(&change.before);
        change.before.end as usize
    }

    /// Line of this side that corresponds to a line of the base after the changes taken.
    fn line_of(&self, line: usize) -> usize {
        line + self.added - self.removed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_of_different_lines_merge() {
        assert_eq!(merge(b"a\nb\nc\nd\n", b"A\nb\nc\nd\n", b"a\nb\nc\nD\n").unwrap(), b"A\nb\nc\nD\n");
        assert_eq!(merge(b"a\r\nb\r\nc", b"A\r\nb\r\nc", b"a\r\nb\r\nC").unwrap(), b"A\r\nb\r\nC");
        assert_eq!(merge(b"a\n", b"b\n", b"b\n").unwrap(), b"b\n");
        assert_eq!(merge(b"a\nb\nc\n", b"a\nc\n", b"a\nb\nc\nd\n").unwrap(), b"a\nc\nd\n");
        assert_eq!(merge(b"", b"", b"x\n").unwrap(), b"x\n");
    }

    #[test]
    fn conflicts_are_hunks_with_exact_lines() {
        let hunks = merge(b"1\n2\n3\n4\n5\n", b"1\nx\n3\n4\ny", b"0\n1\nz\n3\n4\n5\n6\n").unwrap_err();
        let seen: Vec<_> = hunks
            .iter()
            .map(|hunk| (hunk.line, [hunk.base.concat(), hunk.ours.concat(), hunk.theirs.concat()]))
            .collect();
        let expected = [(2, ["2\n", "x\n", "z\n"]), (5, ["5\n", "y", "5\n6\n"])];
        assert_eq!(seen, expected.map(|(line, sides)| (line, sides.map(|side| side.as_bytes().to_vec()))));
    }

    #[test]
    fn edits_of_adjacent_lines_conflict() {
        assert_eq!(merge(b"a\nb\n", b"A\nb\n", b"a\nB\n").unwrap_err().len(), 1);
        assert_eq!(merge(b"a\nb\n", b"x\na\nb\n", b"y\na\nb\n").unwrap_err().len(), 1);
        // One side removes the line feed of the last line, the other adds a line after it.
        assert_eq!(merge(b"a\nb\n", b"a\nb", b"a\nb\nc\n").unwrap_err().len(), 1);
    }

    #[test]
    fn merge_is_symmetric() {
        let (base, ours, theirs) = (b"1\n2\n3\n4\n5\n6\n", b"1\n2\n2b\n3\n4\n5\n", b"0\n2\n3\n4\n5\n6\n7\n");
        assert_eq!(merge(base, ours, theirs).ok(), merge(base, theirs, ours).ok());
    }

    #[test]
    fn text_has_no_zero_byte() {
        assert!(is_text(b"") && is_text(&[0xff, 0xfe]) && !is_text(b"a\0b"));
    }

    /// Texts without a common order of lines: an unbounded comparison would take hours.
    #[test]
    fn comparison_time_is_bounded() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut repeating = || -> Vec<u8> {
            let lines = (0..500_000).flat_map(|_| [b'a' + random.u8(0..8), b'\n']);
            [b"begin\n".to_vec(), lines.collect(), b"end\n".to_vec()].concat()
        };
        let (old, new) = (repeating(), repeating());
        assert_eq!(diff_ranges(&old, &new).len(), 1);
        assert_eq!(diff_ranges(&old, &old).len(), 0);
        let merged = merge(&old, &[&b"0\n"[..], &old].concat(), &[&old[..], b"1\n"].concat()).unwrap();
        assert_eq!(merged.len(), old.len() + 4);
        let mut lines: Vec<usize> = (0..60_000).collect();
        let shown =
            |lines: &[usize]| lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes();
        let old = shown(&lines);
        random.shuffle(&mut lines);
        assert!(diff_ranges(&old, &shown(&lines)).len() > 1);
    }
}
