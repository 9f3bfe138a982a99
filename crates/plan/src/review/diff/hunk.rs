//! Hunks: lines that differ, with context lines around them.

use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;
use store::JsonBytes;

use crate::merge::lines::{diff_ranges, lines};

/// Context lines before and after the lines that differ.
const CONTEXT_LINES: usize = 3;

/// Lines that differ, with context lines around them.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Hunk {
    /// The first line in the old text, from 1; if the hunk has no old lines, the line before it.
    pub old_start: u64,
    /// The number of old lines.
    pub old_lines: u64,
    /// The first line in the new text, as `old_start`.
    pub new_start: u64,
    /// The number of new lines.
    pub new_lines: u64,
    /// The lines, in order.
    pub lines: Vec<Line>,
}

/// One line of a hunk.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Line {
    /// The side that has the line.
    pub sign: Sign,
    /// The bytes, with the line feed if there is one.
    #[serde(serialize_with = "JsonBytes::serialize_bytes")]
    #[schemars(with = "JsonBytes")]
    pub text: Vec<u8>,
}

/// The side that has a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub enum Sign {
    /// Both sides: a context line.
    #[serde(rename = " ")]
    Same,
    /// The old side only.
    #[serde(rename = "-")]
    Removed,
    /// The new side only.
    #[serde(rename = "+")]
    Added,
}

impl Sign {
    /// The character before the line in a patch.
    pub fn as_char(self) -> char {
        match self {
            Self::Same => ' ',
            Self::Removed => '-',
            Self::Added => '+',
        }
    }
}

/// Returns the hunks between two texts, and the numbers of added and removed lines.
pub(crate) fn hunks(old: &[u8], new: &[u8]) -> (Vec<Hunk>, u64, u64) {
    let (old_lines, new_lines) = (lines(old), lines(new));
    let (mut hunks, mut added, mut removed) = (Vec::new(), 0, 0);
    let mut group: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    for change in diff_ranges(old, new) {
        let before = change.before.start as usize..change.before.end as usize;
        let after = change.after.start as usize..change.after.end as usize;
        removed += before.len() as u64;
        added += after.len() as u64;
        if group.last().is_some_and(|(last, _)| before.start - last.end > 2 * CONTEXT_LINES) {
            hunks.push(hunk(&old_lines, &new_lines, &group));
            group.clear();
        }
        group.push((before, after));
    }
    if !group.is_empty() {
        hunks.push(hunk(&old_lines, &new_lines, &group));
    }
    (hunks, added, removed)
}

/// Makes one hunk of changes that share context lines.
fn hunk(old: &[&[u8]], new: &[&[u8]], group: &[(Range<usize>, Range<usize>)]) -> Hunk {
    let (first, last) = (&group[0], &group[group.len() - 1]);
    let leading = first.0.start.min(CONTEXT_LINES);
    let trailing = (old.len() - last.0.end).min(CONTEXT_LINES);
    let old_range = first.0.start - leading..last.0.end + trailing;
    let new_range = first.1.start - leading..last.1.end + trailing;
    let mut shown = Vec::with_capacity(old_range.len() + new_range.len());
    let mut show = |sign, lines: &[&[u8]]| {
        shown.extend(lines.iter().map(|line| Line { sign, text: line.to_vec() }));
    };
    let mut at = old_range.start;
    for (before, after) in group {
        show(Sign::Same, &old[at..before.start]);
        show(Sign::Removed, &old[before.clone()]);
        show(Sign::Added, &new[after.clone()]);
        at = before.end;
    }
    show(Sign::Same, &old[at..old_range.end]);
    Hunk {
        old_start: start(&old_range),
        old_lines: old_range.len() as u64,
        new_start: start(&new_range),
        new_lines: new_range.len() as u64,
        lines: shown,
    }
}

/// The number of the first line of a range; of an empty range, that of the line before it.
fn start(range: &Range<usize>) -> u64 {
    range.start as u64 + u64::from(!range.is_empty())
}
