//! Changing single files of a private copy of a folder, by handle, never through a symlink.
//!
//! It is no transaction and syncs nothing: it is for copies that are made again when something goes wrong on the way.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use filetx::{Disk, OpenMode, RelPath, Storage, StoredFile};

use super::{FileError, FileResult};

const CHANGE: &str = "change";
const FOLDER_MODE: u32 = 0o755;

/// A private copy of a folder that is changed.
#[derive(Debug)]
pub struct TreeEdit {
    disk: Disk,
    root: PathBuf,
}

impl TreeEdit {
    /// Opens the folder.
    pub fn open(root: &Path) -> FileResult<Self> {
        let disk = Disk::open(root).map_err(|error| FileError::io(CHANGE, root, error))?;
        Ok(Self { disk, root: root.to_owned() })
    }

    /// Puts a file with this content in place of a file, symlink or empty folder; folders above it are made.
    pub fn put(&self, path: &RelPath, mode: u32, content: &mut dyn Read) -> FileResult<()> {
        let mut put = || {
            self.make_way(path)?;
            let file = self.disk.open(path, OpenMode::Create { mode: 0o600 })?;
            io::copy(content, &mut Writer { file, offset: 0 })?;
            // Last: writing takes special bits away.
            self.disk.set_mode(path, mode)
        };
        self.at(path, put())
    }

    /// Puts a symlink in place of a file, symlink or empty folder; folders above it are made.
    pub fn symlink(&self, path: &RelPath, target: &OsStr) -> FileResult<()> {
        self.at(path, self.make_way(path).and_then(|()| self.disk.make_symlink(target, path)))
    }

    /// Removes a file or symlink; one that is gone is fine. Folders that are empty then go too.
    pub fn remove(&self, path: &RelPath) -> FileResult<()> {
        self.at(path, missing_is_fine(self.disk.remove_file(path)))?;
        let mut folders = std::iter::successors(path.parent(), RelPath::parent);
        // Up to the first that is not empty: those above it are not either.
        while let Some(folder) = folders.next().filter(|folder| !folder.is_root())
            && self.disk.remove_folder(&folder).is_ok()
        {}
        Ok(())
    }

    /// Makes the folders above a path, and removes what is at the path.
    fn make_way(&self, path: &RelPath) -> io::Result<()> {
        let above: Vec<_> = std::iter::successors(path.parent(), RelPath::parent).collect();
        for folder in above.iter().rev().filter(|folder| !folder.is_root()) {
            match self.disk.make_folder(folder, FOLDER_MODE) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => made?,
            }
        }
        match self.disk.remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => self.disk.remove_folder(path),
            removed => missing_is_fine(removed),
        }
    }

    fn at(&self, path: &RelPath, result: io::Result<()>) -> FileResult<()> {
        result.map_err(|error| FileError::io(CHANGE, self.root.join(path.as_path()), error))
    }
}

/// A new file that is written from the beginning to the end.
struct Writer {
    file: Box<dyn StoredFile>,
    offset: u64,
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_at(bytes, self.offset)?;
        self.offset += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn missing_is_fine(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
