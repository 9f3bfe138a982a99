//! A root folder by its handle, and opening below it: never out of it, never through a symlink.
//!
//! Where the kernel resolves confined (`openat2`) one call does it, and nobody can swap a folder in between. Elsewhere the
//! path is walked one folder at a time, each opened relative to the one before and refused when it is a symlink: slower, and
//! as safe, because a handle stays on its folder whatever happens to the name.
//!
//! Only folders of ours are remembered by their handle. A handle on a person's folder is used for one call: the folder may be moved out
//! of the root at any time, and the next call must not follow it there.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, statat};
use rustix::io::{Errno, Result};

use super::system::{self, HANDLE};
use crate::RelPath;

/// How the open root reads in a path: relative to its own handle.
const ITSELF: &str = ".";

#[derive(Debug)]
pub(super) struct Beneath {
    root: File,
    walks: bool,
    remembered: RwLock<Vec<(PathBuf, Arc<OwnedFd>)>>,
}

impl Beneath {
    /// Opens the root itself. Its own path may lead through symlinks: it is the caller's word.
    pub(super) fn open_root(path: &Path) -> Result<Self> {
        // Not a mere handle: syncing the names in the root needs it open for reading.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = openat(rustix::fs::CWD, path, flags, Mode::empty())?;
        let walks = !system::resolves_beneath(root.as_fd());
        Ok(Self { root: root.into(), walks, remembered: RwLock::default() })
    }

    #[cfg(test)]
    pub(super) fn walking(self) -> Self {
        Self { walks: true, ..self }
    }

    pub(super) fn root(&self) -> &File {
        &self.root
    }

    /// Opens what is at `path`. A last name that is a symlink is refused, or opened itself where the flags allow that.
    pub(super) fn open(&self, path: &RelPath, flags: OFlags, mode: Mode) -> Result<OwnedFd> {
        if path.is_root() {
            return openat(&self.root, ITSELF, flags, mode);
        }
        let (folder, name) = match self.remembered_folder_of(path) {
            Some(found) => found,
            None if self.walks => self.folder_of(path)?,
            None => return system::open_beneath(self.root.as_fd(), path.as_path(), flags, mode),
        };
        if flags.contains(OFlags::DIRECTORY) {
            step_into(&folder, name, flags)
        } else {
            openat(folder, name, flags | OFlags::NOFOLLOW, mode)
        }
    }

    /// The folder that `path` is in, and its name there. The root is `.` in itself.
    pub(super) fn folder_of<'a>(&self, path: &'a RelPath) -> Result<(Folder<'_>, &'a OsStr)> {
        if let Some(found) = self.remembered_folder_of(path) {
            return Ok(found);
        }
        let path = path.as_path();
        match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => Ok((self.folder(parent)?, name)),
            _ => Ok((Folder::Root(self.root.as_fd()), OsStr::new(ITSELF))),
        }
    }

    /// Keeps the handle of a folder of ours.
    pub(super) fn remember(&self, path: &RelPath) -> Result<()> {
        let Folder::Opened(handle) = self.folder(path.as_path())? else { return Ok(()) };
        let mut remembered = self.remembered.write().unwrap_or_else(PoisonError::into_inner);
        remembered.retain(|(known, _)| known != path.as_path());
        remembered.push((path.as_path().to_owned(), Arc::new(handle)));
        Ok(())
    }

    /// As `folder_of`, for a name in a folder of ours.
    pub(super) fn remembered_folder_of<'a>(&self, path: &'a RelPath) -> Option<(Folder<'_>, &'a OsStr)> {
        let (parent, name) = (path.as_path().parent()?, path.as_path().file_name()?);
        let remembered = self.remembered.read().unwrap_or_else(PoisonError::into_inner);
        let (_, handle) = remembered.iter().find(|(known, _)| known.as_os_str() == parent.as_os_str())?;
        Some((Folder::Remembered(Arc::clone(handle)), name))
    }

    fn folder(&self, path: &Path) -> Result<Folder<'_>> {
        let root = Folder::Root(self.root.as_fd());
        if path.as_os_str().is_empty() {
            return Ok(root);
        }
        if self.walks {
            return path
                .iter()
                .try_fold(root, |folder, name| step_into(&folder, name, HANDLE).map(Folder::Opened));
        }
        system::open_beneath(self.root.as_fd(), path, HANDLE, Mode::empty()).map(Folder::Opened)
    }
}

/// A handle on a folder: the root's own, one of ours, or one opened for this call.
pub(super) enum Folder<'a> {
    Root(BorrowedFd<'a>),
    Remembered(Arc<OwnedFd>),
    Opened(OwnedFd),
}

impl AsFd for Folder<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Folder::Root(root) => *root,
            Folder::Remembered(folder) => folder.as_fd(),
            Folder::Opened(folder) => folder.as_fd(),
        }
    }
}

fn step_into(folder: &Folder<'_>, name: &OsStr, flags: OFlags) -> Result<OwnedFd> {
    openat(folder, name, flags | OFlags::NOFOLLOW, Mode::empty()).map_err(|error| {
        // A symlink is "not a folder" to this open; say "symlink" as the confined open does, so that nobody takes
        // a path through a symlink for a path that does not exist.
        if error == Errno::NOTDIR && is_symlink(folder, name) { Errno::LOOP } else { error }
    })
}

fn is_symlink(folder: &Folder<'_>, name: &OsStr) -> bool {
    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// What opening gave: the inode, or the error.
    fn outcome(opened: Result<OwnedFd>) -> Result<u64> {
        opened.map(|file| rustix::fs::fstat(file).expect("it is open").st_ino)
    }

    #[test]
    fn walking_and_the_kernel_agree() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("a/b/c")).unwrap();
        fs::write(at("file"), "").unwrap();
        fs::write(at("a/b/file"), "").unwrap();
        symlink("file", at("link")).unwrap();
        symlink("a", at("folder-link")).unwrap();
        symlink("/", at("a/out")).unwrap();
        symlink("nowhere", at("a/dangling")).unwrap();
        let by_kernel = Beneath::open_root(folder.path()).unwrap();
        let by_walking = Beneath::open_root(folder.path()).unwrap().walking();

        let read = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let folders = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut refused_links = 0;
        for path in [
            "file",
            "a",
            "a/b",
            "a/b/c",
            "a/b/file",
            "missing",
            "missing/x",
            "file/x",
            "a/b/file/x",
            "link",
            "link/x",
            "folder-link",
            "folder-link/b",
            "folder-link/b/file",
            "a/out",
            "a/out/etc",
            "a/dangling",
            "a/dangling/x",
        ] {
            let path = RelPath::new(path).unwrap();
            for flags in [read, folders, HANDLE] {
                let expected = outcome(by_kernel.open(&path, flags, Mode::empty()));
                assert_eq!(
                    outcome(by_walking.open(&path, flags, Mode::empty())),
                    expected,
                    "{path} {flags:?}"
                );
                refused_links += usize::from(expected == Err(Errno::LOOP));
            }
            let found = |beneath: &Beneath| {
                beneath.folder_of(&path).and_then(|(folder, name)| system::stat(folder, name))
            };
            assert_eq!(found(&by_walking), found(&by_kernel), "{path}");
        }
        assert_eq!(refused_links, 27, "every path with a symlink in it, in each of three ways");
        let root = RelPath::root();
        assert_eq!(
            outcome(by_walking.open(&root, folders, Mode::empty())),
            outcome(by_kernel.open(&root, folders, Mode::empty()))
        );
    }

    #[test]
    fn walking_makes_files_inside_only() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("root/a")).unwrap();
        symlink("../..", folder.path().join("root/a/up")).unwrap();
        let beneath = Beneath::open_root(&folder.path().join("root")).unwrap().walking();
        let make = |path: &str| {
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            beneath.open(&RelPath::new(path).unwrap(), flags, Mode::RUSR).map(drop)
        };
        assert_eq!(make("a/new"), Ok(()));
        assert_eq!(make("a/up"), Err(Errno::EXIST));
        assert_eq!(make("a/up/new"), Err(Errno::LOOP));
        assert!(folder.path().join("root/a/new").exists());
        assert!(!folder.path().join("new").exists());
    }
}
