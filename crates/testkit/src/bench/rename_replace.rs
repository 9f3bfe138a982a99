//! What everybody writes by hand to replace a file: the least that the same durability costs.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::Result;

/// A file that is replaced by hand. Its folder is opened once, as a careful loop would do.
#[derive(Debug)]
pub struct RenameReplace {
    file: PathBuf,
    staged: PathBuf,
    folder: File,
}

impl RenameReplace {
    /// For a file in a folder that is there.
    pub fn new(folder: &Path, name: &str) -> Result<Self> {
        let staged = folder.join(format!("{name}.tmp"));
        Ok(Self { file: folder.join(name), staged, folder: File::open(folder)? })
    }

    /// A new file, write, sync, rename, sync of the folder.
    pub fn replace(&self, content: &[u8]) -> Result<()> {
        let mut file = File::create_new(&self.staged)?;
        file.write_all(content)?;
        file.sync_all()?;
        drop(file);
        fs::rename(&self.staged, &self.file)?;
        Ok(self.folder.sync_all()?)
    }
}
