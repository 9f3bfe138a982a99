//! Limits of reading the files of a tree: their length, and the time it takes.

use std::fmt;
use std::path::PathBuf;

use super::{FileError, FileResult};

pub(super) const READ: &str = "read";

/// Limits of reading the files of a tree.
#[derive(Clone, Copy)]
pub struct ReadLimits<'a> {
    /// The longest file, in bytes.
    pub file_bytes_max: u64,
    /// Asked between two reads: the reason to end, if there is one. Once there is one, it stays.
    pub ended: &'a (dyn Fn() -> Option<ReadEnd> + Sync),
}

/// The reason to end reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadEnd {
    /// The caller cancelled it.
    Cancelled,
    /// It took too long.
    TimedOut,
}

impl ReadLimits<'static> {
    /// No limits.
    pub const NONE: Self = Self { file_bytes_max: u64::MAX, ended: &|| None };
}

impl ReadLimits<'_> {
    /// Fails if reading is to end.
    pub(super) fn check(&self, path: impl FnOnce() -> PathBuf) -> FileResult<()> {
        match (self.ended)() {
            None => Ok(()),
            Some(ReadEnd::Cancelled) => Err(FileError::Cancelled { action: READ, path: path() }),
            Some(ReadEnd::TimedOut) => Err(FileError::TimedOut { action: READ, path: path() }),
        }
    }
}

impl fmt::Debug for ReadLimits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadLimits").field("file_bytes_max", &self.file_bytes_max).finish_non_exhaustive()
    }
}
