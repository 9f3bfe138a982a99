//! A root folder by handle. Paths below it never lead out of it or through a symlink.
//!
//! With `openat2`, one call of the kernel resolves a path, and no program can swap a folder in
//! between. Without it, the path is walked one folder at a time, each opened relative to the one
//! before, and symlinks are refused: slower and as safe, because a handle stays on its folder.
//!
//! Only handles of this crate's own folders are cached. A handle of a person's folder serves one
//! call: the folder may be moved out of the root at any time, and the next call must not follow it.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, statat};
use rustix::io::{Errno, Result};

use super::system::{self, HANDLE};
use crate::RelPath;

/// The root, relative to its own handle.
const ROOT: &str = ".";

#[derive(Debug)]
pub(super) struct ConfinedDir {
    root: File,
    walks: bool,
    cached: RwLock<Vec<(PathBuf, Arc<OwnedFd>)>>,
}

impl ConfinedDir {
    /// Opens the root. Its path may contain symlinks: the caller is trusted.
    pub(super) fn open_root(path: &Path) -> Result<Self> {
        // Readable, because `sync_folder` syncs through it.
        Self::open_root_with(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC)
    }

    /// Opens the root for lookups alone, which need no read permission.
    pub(super) fn open_root_for_lookup(path: &Path) -> Result<Self> {
        Self::open_root_with(path, HANDLE)
    }

    fn open_root_with(path: &Path, flags: OFlags) -> Result<Self> {
        let root = openat(rustix::fs::CWD, path, flags, Mode::empty())?;
        let walks = !system::resolves_beneath(root.as_fd());
        Ok(Self { root: root.into(), walks, cached: RwLock::default() })
    }

    #[cfg(test)]
    pub(super) fn walking(self) -> Self {
        Self { walks: true, ..self }
    }

    pub(super) fn root(&self) -> &File {
        &self.root
    }

    /// Opens `path`. A symlink as the last name is refused, or opened itself if the flags allow it.
    pub(super) fn open(&self, path: &RelPath, flags: OFlags, mode: Mode) -> Result<OwnedFd> {
        if path.is_root() {
            return openat(&self.root, ROOT, flags, mode);
        }
        let (folder, name) = match self.cached_folder_of(path) {
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

    /// The parent folder of `path` and its name there. The root is `.` in itself.
    pub(super) fn folder_of<'a>(&self, path: &'a RelPath) -> Result<(FolderHandle<'_>, &'a OsStr)> {
        if let Some(found) = self.cached_folder_of(path) {
            return Ok(found);
        }
        let path = path.as_path();
        match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => Ok((self.folder(parent)?, name)),
            _ => Ok((FolderHandle::Root(self.root.as_fd()), OsStr::new(ROOT))),
        }
    }

    /// Caches the handle of a folder of this crate.
    pub(super) fn cache_handle(&self, path: &RelPath) -> Result<()> {
        let FolderHandle::Opened(handle) = self.folder(path.as_path())? else { return Ok(()) };
        let mut cached = self.cached.write().unwrap_or_else(PoisonError::into_inner);
        cached.retain(|(known, _)| known != path.as_path());
        cached.push((path.as_path().to_owned(), Arc::new(handle)));
        Ok(())
    }

    /// Like `folder_of`, for a name in a cached folder.
    pub(super) fn cached_folder_of<'a>(&self, path: &'a RelPath) -> Option<(FolderHandle<'_>, &'a OsStr)> {
        let (parent, name) = (path.as_path().parent()?, path.as_path().file_name()?);
        let cached = self.cached.read().unwrap_or_else(PoisonError::into_inner);
        let (_, handle) = cached.iter().find(|(known, _)| known.as_os_str() == parent.as_os_str())?;
        Some((FolderHandle::Cached(Arc::clone(handle)), name))
    }

    fn folder(&self, path: &Path) -> Result<FolderHandle<'_>> {
        let root = FolderHandle::Root(self.root.as_fd());
        if path.as_os_str().is_empty() {
            return Ok(root);
        }
        if self.walks {
            return path
                .iter()
                .try_fold(root, |folder, name| step_into(&folder, name, HANDLE).map(FolderHandle::Opened));
        }
        system::open_beneath(self.root.as_fd(), path, HANDLE, Mode::empty()).map(FolderHandle::Opened)
    }
}

/// A handle of a folder: the root, a cached one, or one opened for this call.
pub(super) enum FolderHandle<'a> {
    Root(BorrowedFd<'a>),
    Cached(Arc<OwnedFd>),
    Opened(OwnedFd),
}

impl AsFd for FolderHandle<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            FolderHandle::Root(root) => *root,
            FolderHandle::Cached(folder) => folder.as_fd(),
            FolderHandle::Opened(folder) => folder.as_fd(),
        }
    }
}

fn step_into(folder: &FolderHandle<'_>, name: &OsStr, flags: OFlags) -> Result<OwnedFd> {
    openat(folder, name, flags | OFlags::NOFOLLOW, Mode::empty()).map_err(|error| {
        // The kernel reports a symlink as "not a folder" here. Report it as `openat2` does, so that
        // a path through a symlink does not look like a missing path.
        if error == Errno::NOTDIR && is_symlink(folder, name) { Errno::LOOP } else { error }
    })
}

fn is_symlink(folder: &FolderHandle<'_>, name: &OsStr) -> bool {
    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// The inode or the error of an open.
    fn outcome(opened: Result<OwnedFd>) -> Result<u64> {
        opened.map(|file| rustix::fs::fstat(file).expect("it is open").st_ino)
    }

    #[test]
    fn walking_and_openat2_agree() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("a/b/c")).unwrap();
        fs::write(at("file"), "").unwrap();
        fs::write(at("a/b/file"), "").unwrap();
        symlink("file", at("link")).unwrap();
        symlink("a", at("folder-link")).unwrap();
        symlink("/", at("a/out")).unwrap();
        symlink("nowhere", at("a/dangling")).unwrap();
        let by_kernel = ConfinedDir::open_root(folder.path()).unwrap();
        let by_walking = ConfinedDir::open_root(folder.path()).unwrap().walking();

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
            let found = |dir: &ConfinedDir| {
                dir.folder_of(&path).and_then(|(folder, name)| system::stat(folder, name))
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
    fn walking_creates_files_only_inside_the_root() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("root/a")).unwrap();
        symlink("../..", folder.path().join("root/a/up")).unwrap();
        let dir = ConfinedDir::open_root(&folder.path().join("root")).unwrap().walking();
        let make = |path: &str| {
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            dir.open(&RelPath::new(path).unwrap(), flags, Mode::RUSR).map(drop)
        };
        assert_eq!(make("a/new"), Ok(()));
        assert_eq!(make("a/up"), Err(Errno::EXIST));
        assert_eq!(make("a/up/new"), Err(Errno::LOOP));
        assert!(folder.path().join("root/a/new").exists());
        assert!(!folder.path().join("new").exists());
    }
}
