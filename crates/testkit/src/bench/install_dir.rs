//! Programs as an installation leaves them.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::Result;

/// Copies of programs that were just built. A file that a linker has written lies in memory in smaller pieces than one that was copied, so
/// it takes longer to start; those it is compared with were installed.
#[derive(Debug)]
pub struct InstallDir(TempDir);

impl InstallDir {
    /// A place for programs.
    pub fn new() -> Result<Self> {
        Ok(Self(tempfile::tempdir()?))
    }

    /// Copies a program, and says where to.
    pub fn copy(&self, program: &Path) -> Result<PathBuf> {
        let copy = self.0.path().join(program.file_name().ok_or("a program is a file")?);
        fs::copy(program, &copy)?;
        Ok(copy)
    }
}
