//! What changes come to, as people read it: hunks and counts as data, and a patch that `git apply` takes.

mod binary;
mod file;
mod hunk;
mod patch;

pub use file::{FileDiff, FileSide, Shown, What, diffs};
pub use hunk::{Hunk, Line, Sign};
pub use patch::write_patch;
