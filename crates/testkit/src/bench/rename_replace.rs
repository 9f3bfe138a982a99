//! Replaces a file with write, sync and rename: the minimal cost of the same durability.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::Result;

/// A file to replace. Its folder is opened once.
#[derive(Debug)]
pub struct RenameReplace {
    file: PathBuf,
    staged: PathBuf,
    folder: File,
}

impl RenameReplace {
    /// Prepares a file in an existing folder.
    pub fn new(folder: &Path, name: &str) -> Result<Self> {
        let staged = folder.join(format!("{name}.tmp"));
        Ok(Self { file: folder.join(name), staged, folder: File::open(folder)? })
    }

    /// Creates a new file, writes, syncs, renames, and syncs the folder.
    pub fn replace(&self, content: &[u8]) -> Result<()> {
        let mut file = File::create_new(&self.staged)?;
        file.write_all(content)?;
        file.sync_all()?;
        drop(file);
        fs::rename(&self.staged, &self.file)?;
        Ok(self.folder.sync_all()?)
    }
}
