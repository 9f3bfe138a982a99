//! The real disk: one root folder on Windows, through `cap-std`.
//!
//! Promises: never reads or writes outside of the root, and no path leads through a symlink; every
//! sync of a file is counted.
//!
//! Limits: modes are not stored (files read as 0600, folders as 0700), owners and attributes are
//! not copied, there is no exchange and no boot id, and `RenameMode::NoReplace` checks before it
//! renames, so another program can create a file in between.

use std::ffi::{OsStr, OsString};
use std::os::windows::fs::FileExt;
use std::path::Path;
use std::{fs, io};

use cap_fs_ext::{DirExt, FollowSymlinks, MetadataExt, OpenOptionsFollowExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};

use super::sync_count::count_sync;
use super::{FileId, FileKind, OpenMode, RenameMode, Stat, Storage, StoredFile};
use crate::RelPath;

/// One root folder on the real disk.
#[derive(Debug)]
pub struct Disk {
    root: Dir,
}

impl Disk {
    /// Opens an existing folder. The path `root` may contain symlinks; paths below it may not.
    pub fn open(root: &Path) -> io::Result<Self> {
        Ok(Self { root: Dir::open_ambient_dir(root, ambient_authority())? })
    }

    /// Opens an existing folder to look up paths below it.
    pub(crate) fn open_for_lookup(root: &Path) -> io::Result<Self> {
        Self::open(root)
    }

    /// Opens a folder, or creates it with its missing parents. Ignores the mode.
    pub fn create(root: &Path, _mode: u32) -> io::Result<Self> {
        Dir::create_ambient_dir_all(root, ambient_authority())?;
        Self::open(root)
    }

    fn folder(&self, path: &Path) -> io::Result<Dir> {
        path.iter().try_fold(self.root.try_clone()?, |folder, name| folder.open_dir_nofollow(name))
    }

    /// The parent folder of `path` and its name there. The root is `.` in itself.
    fn folder_of<'a>(&self, path: &'a RelPath) -> io::Result<(Dir, &'a OsStr)> {
        let path = path.as_path();
        match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => Ok((self.folder(parent)?, name)),
            _ => Ok((self.root.try_clone()?, OsStr::new("."))),
        }
    }
}

impl Storage for Disk {
    fn stat(&self, path: &RelPath) -> io::Result<Option<Stat>> {
        let found = self.folder_of(path).and_then(|(folder, name)| folder.symlink_metadata(name));
        match found {
            Ok(found) => Ok(Some(stat(&found))),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn open(&self, path: &RelPath, mode: OpenMode) -> io::Result<Box<dyn StoredFile>> {
        let (folder, name) = self.folder_of(path)?;
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No);
        match mode {
            OpenMode::Read => {}
            OpenMode::Write => drop(options.write(true)),
            OpenMode::Create { mode: _ } => drop(options.write(true).create_new(true)),
        }
        let file = folder.open_with(name, &options)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain file"));
        }
        Ok(Box::new(DiskFile(file.into_std())))
    }

    fn list(&self, folder: &RelPath) -> io::Result<Vec<OsString>> {
        self.folder(folder.as_path())?.entries()?.map(|entry| Ok(entry?.file_name())).collect()
    }

    fn read_link(&self, path: &RelPath) -> io::Result<OsString> {
        let (folder, name) = self.folder_of(path)?;
        Ok(folder.read_link_contents(name)?.into_os_string())
    }

    fn make_folder(&self, path: &RelPath, _mode: u32) -> io::Result<()> {
        let (folder, name) = self.folder_of(path)?;
        folder.create_dir(name)
    }

    fn make_symlink(&self, target: &OsStr, path: &RelPath) -> io::Result<()> {
        let (folder, name) = self.folder_of(path)?;
        DirExt::symlink(&folder, target, name)
    }

    fn link(&self, from: &RelPath, to: &RelPath) -> io::Result<()> {
        let (from_folder, from_name) = self.folder_of(from)?;
        let (to_folder, to_name) = self.folder_of(to)?;
        from_folder.hard_link(from_name, &to_folder, to_name)
    }

    fn rename(&self, from: &RelPath, to: &RelPath, mode: RenameMode) -> io::Result<()> {
        let (from_folder, from_name) = self.folder_of(from)?;
        let (to_folder, to_name) = self.folder_of(to)?;
        match mode {
            RenameMode::Replace => {}
            RenameMode::NoReplace if self.stat(to)?.is_some() => {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            RenameMode::NoReplace => {}
            RenameMode::Exchange => return Err(io::ErrorKind::Unsupported.into()),
        }
        from_folder.rename(from_name, &to_folder, to_name)
    }

    fn remove_file(&self, path: &RelPath) -> io::Result<()> {
        let (folder, name) = self.folder_of(path)?;
        folder.remove_file_or_symlink(name)
    }

    fn remove_folder(&self, path: &RelPath) -> io::Result<()> {
        let (folder, name) = self.folder_of(path)?;
        folder.remove_dir(name)
    }

    fn set_mode(&self, _path: &RelPath, _mode: u32) -> io::Result<()> {
        Ok(())
    }

    fn copy_attributes(&self, _from: &RelPath, _to: &RelPath) -> io::Result<()> {
        Ok(())
    }

    /// Does nothing: Windows has no call for it. NTFS logs changes of names in order, and the sync
    /// of a file flushes that log.
    fn sync_folder(&self, _folder: &RelPath) -> io::Result<()> {
        Ok(())
    }

    fn check_writable(&self, folder: &RelPath) -> io::Result<()> {
        if self.folder(folder.as_path())?.dir_metadata()?.permissions().readonly() {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(())
    }

    fn boot_id(&self) -> Option<u128> {
        None
    }
}

/// One open plain file on the real disk.
struct DiskFile(fs::File);

impl StoredFile for DiskFile {
    fn stat(&self) -> io::Result<Stat> {
        Ok(stat(&Metadata::from_file(&self.0)?))
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.seek_read(buffer, offset)
    }

    fn write_at(&self, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.0.seek_write(bytes, offset)? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                written => {
                    bytes = &bytes[written..];
                    offset += written as u64;
                }
            }
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.sync_all()
    }

    fn sync_all(&self) -> io::Result<()> {
        count_sync();
        self.0.sync_all()
    }
}

fn stat(found: &Metadata) -> Stat {
    let (kind, mode) = match found.file_type() {
        kind if kind.is_file() => (FileKind::File, 0o600),
        kind if kind.is_dir() => (FileKind::Folder, 0o700),
        kind if kind.is_symlink() => (FileKind::Symlink, 0o600),
        _ => (FileKind::Other, 0o600),
    };
    let id = FileId { device: found.dev(), inode: found.ino() };
    Stat { kind, mode, len: found.len(), links: found.nlink(), id, mount: id.device }
}
