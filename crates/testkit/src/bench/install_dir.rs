//! Programs as an installation leaves them.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::Result;

/// Copies of freshly built programs. The page cache holds a file that the linker wrote in smaller
/// pieces than a copied one, so it starts more slowly; the peers were installed, too.
#[derive(Debug)]
pub struct InstallDir(TempDir);

impl InstallDir {
    /// Makes an empty folder for programs.
    pub fn new() -> Result<Self> {
        Ok(Self(tempfile::tempdir()?))
    }

    /// Copies a program, and returns its path.
    pub fn copy(&self, program: &Path) -> Result<PathBuf> {
        let copy = self.0.path().join(program.file_name().ok_or("a program is a file")?);
        fs::copy(program, &copy)?;
        Ok(copy)
    }
}
