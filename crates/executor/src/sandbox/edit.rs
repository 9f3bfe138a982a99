//! Changes single files of a private copy of a folder, by handle, never through a symlink.
//!
//! Not a transaction, and syncs nothing: after a failure the copy is made again.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use filetx::{Disk, OpenMode, RelPath, SequentialWriter, Storage};

use super::{FileError, FileResult};

const CHANGE: &str = "change";
const FOLDER_MODE: u32 = 0o755;

/// Edits a private copy of a folder.
#[derive(Debug)]
pub struct TreeEditor {
    disk: Disk,
    root: PathBuf,
}

impl TreeEditor {
    /// Opens an existing folder.
    pub fn open(root: &Path) -> FileResult<Self> {
        let disk = Disk::open(root).map_err(|error| FileError::io(CHANGE, root, error))?;
        Ok(Self { disk, root: root.to_owned() })
    }

    /// Writes a file. Replaces a file, symlink or empty folder, and makes missing parents.
    pub fn put(&self, path: &RelPath, mode: u32, content: &mut dyn Read) -> FileResult<()> {
        let mut put = || {
            self.clear(path)?;
            let file = self.disk.open(path, OpenMode::Create { mode: 0o600 })?;
            io::copy(content, &mut SequentialWriter::new(file))?;
            // Last: writing clears special bits.
            self.disk.set_mode(path, mode)
        };
        self.at(path, put())
    }

    /// Makes a symlink. Replaces a file, symlink or empty folder, and makes missing parents.
    pub fn symlink(&self, path: &RelPath, target: &OsStr) -> FileResult<()> {
        self.at(path, self.clear(path).and_then(|()| self.disk.make_symlink(target, path)))
    }

    /// Removes a file or symlink, if it exists, and parents that become empty.
    pub fn remove(&self, path: &RelPath) -> FileResult<()> {
        self.at(path, ignore_missing(self.disk.remove_file(path)))?;
        let mut folders = std::iter::successors(path.parent(), RelPath::parent);
        // Up to the first that is not empty.
        while let Some(folder) = folders.next().filter(|folder| !folder.is_root())
            && self.disk.remove_folder(&folder).is_ok()
        {}
        Ok(())
    }

    /// Makes the parents of a path, and removes the path.
    fn clear(&self, path: &RelPath) -> io::Result<()> {
        let above: Vec<_> = std::iter::successors(path.parent(), RelPath::parent).collect();
        for folder in above.iter().rev().filter(|folder| !folder.is_root()) {
            match self.disk.make_folder(folder, FOLDER_MODE) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => made?,
            }
        }
        match self.disk.remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => self.disk.remove_folder(path),
            removed => ignore_missing(removed),
        }
    }

    fn at(&self, path: &RelPath, result: io::Result<()>) -> FileResult<()> {
        result.map_err(|error| FileError::io(CHANGE, self.root.join(path.as_path()), error))
    }
}

fn ignore_missing(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
