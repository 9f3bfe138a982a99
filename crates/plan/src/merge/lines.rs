//! Texts by lines: what differs, and three-way merge. Pure.
//!
//! Comparing is bounded: the algorithm gives up looking for the shortest difference where that would take long, as git does. Merging by
//! hand, from two lists of differing ranges: the libraries that merge compare without a bound.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, Hunk as Differing, InternedInput};

use crate::ConflictHunk;

/// Whether a content is text: it has no zero byte.
pub(crate) fn is_text(bytes: &[u8]) -> bool {
    memchr::memchr(0, bytes).is_none()
}

/// The lines of a text, each with its line feed where it has one.
pub(crate) fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Lines of two texts above which those that mostly repeat each other are not compared: finding the shortest difference takes too long.
const REPEATING_LINES_MAX: usize = 100_000;

/// The ranges of lines in which two texts differ, moved to where people expect them.
pub(crate) fn differing(old: &[u8], new: &[u8]) -> Vec<Differing> {
    let input = InternedInput::new(old, new);
    let (before, after) = (input.before.len(), input.after.len());
    let repeats = (input.interner.num_tokens() as usize).saturating_mul(4) < before + after;
    if repeats && before + after > REPEATING_LINES_MAX {
        return whole(&input);
    }
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_lines(&input);
    diff.hunks().collect()
}

/// All between the lines that both begin and end with.
fn whole<T>(input: &InternedInput<T>) -> Vec<Differing> {
    let same = |(one, two): &(&imara_diff::Token, &imara_diff::Token)| one == two;
    let start = input.before.iter().zip(&input.after).take_while(same).count();
    let (before, after) = (&input.before[start..], &input.after[start..]);
    let end = before.iter().rev().zip(after.iter().rev()).take_while(same).count();
    let range = |rest: &[imara_diff::Token]| start as u32..(start + rest.len() - end) as u32;
    let hunk = Differing { before: range(before), after: range(after) };
    if hunk.before.is_empty() && hunk.after.is_empty() { Vec::new() } else { vec![hunk] }
}

/// A text with both sides' changes, or where they clash. Changes of neighbouring lines clash too: nobody saw both.
pub(crate) fn merge(base: &[u8], ours: &[u8], theirs: &[u8]) -> Result<Vec<u8>, Vec<ConflictHunk>> {
    let texts = [lines(base), lines(ours), lines(theirs)];
    let mut sides = [Side::new(differing(base, ours)), Side::new(differing(base, theirs))];
    let (mut merged, mut clashes, mut done) = (Vec::new(), Vec::new(), 0);
    while let Some(start) = sides.iter().filter_map(Side::next_start).min() {
        merged.extend(texts[0][done..start].concat());
        let from = [sides[0].place(start), sides[1].place(start)];
        let (mut end, mut changed) = (start, [false; 2]);
        // A range grows as long as either side has a change that begins in it or right behind it.
        while let Some(side) = (0..2).find(|side| sides[*side].next_start().is_some_and(|next| next <= end)) {
            end = end.max(sides[side].take());
            changed[side] = true;
        }
        let part = |side: usize, to: usize| texts[side + 1][from[side]..to].concat();
        let parts = [part(0, sides[0].place(end)), part(1, sides[1].place(end))];
        match changed {
            [true, false] => merged.extend(&parts[0]),
            [false, true] => merged.extend(&parts[1]),
            _ if parts[0] == parts[1] => merged.extend(&parts[0]),
            _ => clashes.push(clash(start, &texts[0][start..end].concat(), &parts)),
        }
        done = end;
    }
    merged.extend(texts[0][done..].concat());
    if clashes.is_empty() { Ok(merged) } else { Err(clashes) }
}

/// Whether a text differs from another in these lines of that other, or right beside them.
pub(crate) fn differs_at(base: &[u8], text: &[u8], lines: &Range<u64>) -> bool {
    let beside = |part: Differing| {
        u64::from(part.before.start) <= lines.end && u64::from(part.before.end) >= lines.start
    };
    differing(base, text).into_iter().any(beside)
}

fn clash(start: usize, base: &[u8], [ours, theirs]: &[Vec<u8>; 2]) -> ConflictHunk {
    let show =
        |text: &[u8]| lines(text).iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect();
    ConflictHunk {
        line: start as u64 + 1,
        base: show(base),
        ours: show(ours),
        ours_by: Vec::new(),
        theirs: show(theirs),
        theirs_by: Vec::new(),
    }
}

/// One side's changes of the base, as far as they were not taken yet.
struct Side {
    rest: std::vec::IntoIter<Differing>,
    /// How many lines the changes that were taken added, and removed.
    added: usize,
    removed: usize,
}

impl Side {
    fn new(changes: Vec<Differing>) -> Self {
        Self { rest: changes.into_iter(), added: 0, removed: 0 }
    }

    fn next_start(&self) -> Option<usize> {
        self.rest.as_slice().first().map(|change| change.before.start as usize)
    }

    /// Takes the next change; gives the line of the base at which it ends.
    fn take(&mut self) -> usize {
        let change = self.rest.next().expect("a change that was seen");
        let length = |range: &Range<u32>| (range.end - range.start) as usize;
        self.added += length(&change.after);
        self.removed += length(&change.before);
        change.before.end as usize
    }

    /// Where a line of the base is on this side, behind the changes that were taken.
    fn place(&self, line: usize) -> usize {
        line + self.added - self.removed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_of_different_lines_go_together() {
        assert_eq!(merge(b"a\nb\nc\nd\n", b"A\nb\nc\nd\n", b"a\nb\nc\nD\n").unwrap(), b"A\nb\nc\nD\n");
        assert_eq!(merge(b"a\r\nb\r\nc", b"A\r\nb\r\nc", b"a\r\nb\r\nC").unwrap(), b"A\r\nb\r\nC");
        assert_eq!(merge(b"a\n", b"b\n", b"b\n").unwrap(), b"b\n");
        assert_eq!(merge(b"a\nb\nc\n", b"a\nc\n", b"a\nb\nc\nd\n").unwrap(), b"a\nc\nd\n");
        assert_eq!(merge(b"", b"", b"x\n").unwrap(), b"x\n");
    }

    #[test]
    fn clashes_are_hunks_with_exact_lines() {
        let hunks = merge(b"1\n2\n3\n4\n5\n", b"1\nx\n3\n4\ny", b"0\n1\nz\n3\n4\n5\n6\n").unwrap_err();
        let seen: Vec<(u64, String, String, String)> = hunks
            .iter()
            .map(|hunk| (hunk.line, hunk.base.concat(), hunk.ours.concat(), hunk.theirs.concat()))
            .collect();
        let expected = [(2, "2\n", "x\n", "z\n"), (5, "5\n", "y", "5\n6\n")];
        assert_eq!(
            seen,
            expected.map(|(line, base, ours, theirs)| (line, base.into(), ours.into(), theirs.into()))
        );
    }

    #[test]
    fn neighbouring_lines_clash() {
        assert_eq!(merge(b"a\nb\n", b"A\nb\n", b"a\nB\n").unwrap_err().len(), 1);
        assert_eq!(merge(b"a\nb\n", b"x\na\nb\n", b"y\na\nb\n").unwrap_err().len(), 1);
        // The last line lost its line feed on one side, and got one behind it on the other.
        assert_eq!(merge(b"a\nb\n", b"a\nb", b"a\nb\nc\n").unwrap_err().len(), 1);
    }

    #[test]
    fn merging_is_symmetric() {
        let (base, ours, theirs) = (b"1\n2\n3\n4\n5\n6\n", b"1\n2\n2b\n3\n4\n5\n", b"0\n2\n3\n4\n5\n6\n7\n");
        assert_eq!(merge(base, ours, theirs).ok(), merge(base, theirs, ours).ok());
    }

    #[test]
    fn text_has_no_zero_byte() {
        assert!(is_text(b"") && is_text(&[0xff, 0xfe]) && !is_text(b"a\0b"));
    }

    /// Texts in which nothing is where it was: a comparison without a bound would take hours.
    #[test]
    fn comparing_is_bounded() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut repeating = || -> Vec<u8> {
            let lines = (0..500_000).flat_map(|_| [b'a' + random.u8(0..8), b'\n']);
            [b"begin\n".to_vec(), lines.collect(), b"end\n".to_vec()].concat()
        };
        let (old, new) = (repeating(), repeating());
        assert_eq!(differing(&old, &new).len(), 1);
        assert_eq!(differing(&old, &old).len(), 0);
        let merged = merge(&old, &[&b"0\n"[..], &old].concat(), &[&old[..], b"1\n"].concat()).unwrap();
        assert_eq!(merged.len(), old.len() + 4);
        let mut lines: Vec<usize> = (0..60_000).collect();
        let shown =
            |lines: &[usize]| lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes();
        let old = shown(&lines);
        random.shuffle(&mut lines);
        assert!(differing(&old, &shown(&lines)).len() > 1);
    }
}
