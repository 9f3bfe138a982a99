//! Changing single files of a private copy of a folder, by handle, never through a symlink.
//!
//! It is no transaction and syncs nothing: it is for copies that are made again when something goes wrong on the way.

use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, mkdirat, openat, symlinkat, unlinkat};
use rustix::io::Errno;

use crate::{Error, RelPath, Result, Step};

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const NEW_FILE: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A private copy of a folder that is changed.
#[derive(Debug)]
pub struct TreeEdit {
    root: OwnedFd,
    path: PathBuf,
}

impl TreeEdit {
    /// Opens the folder.
    pub fn open(root: &Path) -> Result<Self> {
        let failed =
            |error: Errno| Error::Io { step: Step::EditTree, path: root.to_owned(), source: error.into() };
        Ok(Self { root: openat(CWD, root, FOLDER, Mode::empty()).map_err(failed)?, path: root.to_owned() })
    }

    /// Puts a file with this content in place of a file, symlink or empty folder; folders above it are made.
    pub fn put(&self, path: &RelPath, mode: u32, content: &mut dyn Read) -> Result<()> {
        let put = |folder: &OwnedFd, name: &OsStr| {
            clear(folder, name)?;
            let mut file = File::from(openat(folder, name, NEW_FILE, Mode::from_raw_mode(0o600))?);
            io::copy(content, &mut file)?;
            // By the handle: what the umask takes away is given back.
            file.set_permissions(Permissions::from_mode(mode & 0o7777))
        };
        self.change(path, put)
    }

    /// Puts a symlink in place of a file, symlink or empty folder; folders above it are made.
    pub fn symlink(&self, path: &RelPath, target: &OsStr) -> Result<()> {
        self.change(path, |folder, name| {
            clear(folder, name)?;
            Ok(symlinkat(target, folder, name)?)
        })
    }

    /// Removes a file or symlink; one that is gone is fine. Folders that are empty then go too.
    pub fn remove(&self, path: &RelPath) -> Result<()> {
        self.change(path, |folder, name| match unlinkat(folder, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        })?;
        let folders =
            std::iter::successors(path.parent(), RelPath::parent).filter(|folder| !folder.is_root());
        for folder in folders {
            let removed = self.change(&folder, |above, name| Ok(unlinkat(above, name, AtFlags::REMOVEDIR)?));
            if removed.is_err() {
                // Something is in it, so those above are not empty either.
                break;
            }
        }
        Ok(())
    }

    fn change(&self, path: &RelPath, change: impl FnOnce(&OwnedFd, &OsStr) -> io::Result<()>) -> Result<()> {
        let failed =
            |source| Error::Io { step: Step::EditTree, path: self.path.join(path.as_path()), source };
        let name = path.name().ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
        let folder = self.folder_of(path).map_err(failed)?;
        change(&folder, name).map_err(failed)
    }

    /// The folder that a path is in, made where it is missing.
    fn folder_of(&self, path: &RelPath) -> io::Result<OwnedFd> {
        let mut folder = openat(&self.root, ".", FOLDER, Mode::empty())?;
        for name in path.as_path().parent().into_iter().flatten() {
            folder = match openat(&folder, name, FOLDER, Mode::empty()) {
                Err(Errno::NOENT) => {
                    mkdirat(&folder, name, Mode::from_raw_mode(0o755))?;
                    openat(&folder, name, FOLDER, Mode::empty())?
                }
                opened => opened?,
            };
        }
        Ok(folder)
    }
}

/// Makes way.
fn clear(folder: &OwnedFd, name: &OsStr) -> io::Result<()> {
    match unlinkat(folder, name, AtFlags::empty()) {
        Err(Errno::ISDIR | Errno::PERM) => Ok(unlinkat(folder, name, AtFlags::REMOVEDIR)?),
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
