//! Diffs: hunks and counts as data, and patches for `git apply`.

mod binary;
mod file;
mod hunk;
mod patch;

pub use file::{ChangeKind, DiffEntry, FileDiff, FileSide, diffs};
pub use hunk::{Hunk, Line, Sign};
pub use patch::write_patch;
