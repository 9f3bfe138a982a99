//! Access to the disk.
//!
//! A [`Storage`] is one root folder. All disk calls of this crate go through these traits, so a
//! simulated disk can drop unsynced writes to test the protocols. [`Disk`](crate::Disk) is the real
//! one.
//!
//! Rules for implementations: a path never leads through a symlink or out of the root; a symlink as
//! the last name means the symlink itself; a change is durable only after the sync that the method
//! names.

#[cfg(unix)]
mod attributes;
#[cfg(unix)]
mod confined;
mod sequential;
mod sync_count;
#[cfg(unix)]
#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "other_unix.rs")]
mod system;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::ffi::{OsStr, OsString};
use std::{fmt, io};

#[cfg(unix)]
use rustix::fs::FileType;

use crate::RelPath;

pub use sequential::SequentialWriter;
pub use sync_count::sync_count;
#[cfg(unix)]
pub use unix::Disk;
#[cfg(windows)]
pub use windows::Disk;

/// The sticky bit of a folder.
#[cfg(unix)]
const STICKY: u32 = 0o1000;

/// One root folder on a disk.
pub trait Storage: Send + Sync + fmt::Debug {
    /// Metadata of `path`; `None` if it does not exist.
    fn stat(&self, path: &RelPath) -> io::Result<Option<Stat>>;
    /// Opens the plain file at `path`. Fails, without opening it, for a folder, symlink, FIFO,
    /// socket or device.
    fn open(&self, path: &RelPath, mode: OpenMode) -> io::Result<Box<dyn StoredFile>>;
    /// The names in a folder, in any order.
    fn list(&self, folder: &RelPath) -> io::Result<Vec<OsString>>;
    /// The target of the symlink at `path`.
    fn read_link(&self, path: &RelPath) -> io::Result<OsString>;
    /// Creates a folder with exactly this mode. Durable after `sync_folder` of its parent.
    fn make_folder(&self, path: &RelPath, mode: u32) -> io::Result<()>;
    /// Creates a symlink. Durable after `sync_folder` of its parent.
    fn make_symlink(&self, target: &OsStr, path: &RelPath) -> io::Result<()>;
    /// Creates the hard link `to` of the file `from`; fails if `to` exists. Durable after
    /// `sync_folder` of `to`'s parent.
    fn link(&self, from: &RelPath, to: &RelPath) -> io::Result<()>;
    /// Renames a file, symlink or folder, atomically. Durable after `sync_folder` of the parents.
    fn rename(&self, from: &RelPath, to: &RelPath, mode: RenameMode) -> io::Result<()>;
    /// Removes a file or symlink. Durable after `sync_folder` of its parent.
    fn remove_file(&self, path: &RelPath) -> io::Result<()>;
    /// Removes an empty folder. Durable after `sync_folder` of its parent.
    fn remove_folder(&self, path: &RelPath) -> io::Result<()>;
    /// Changes the mode of a file or folder. Durable after `sync_all` of the file or `sync_folder`
    /// of the folder itself.
    fn set_mode(&self, path: &RelPath, mode: u32) -> io::Result<()>;
    /// Copies the owner and the extended attributes of `from` to `to`, as far as permissions allow.
    fn copy_attributes(&self, from: &RelPath, to: &RelPath) -> io::Result<()>;
    /// Makes the names in a folder durable.
    fn sync_folder(&self, folder: &RelPath) -> io::Result<()>;
    /// Fails if this process may not change the names in a folder.
    fn check_writable(&self, folder: &RelPath) -> io::Result<()>;
    /// Facts that can stop this process from changing `path`; none if it does not exist. Reads
    /// metadata only.
    fn restrictions(&self, _path: &RelPath) -> io::Result<Restrictions> {
        Ok(Restrictions::default())
    }
    /// Keeps a handle of a folder that is used often. Later calls use that folder even if it is
    /// moved or removed. Only for folders of this crate.
    fn cache_handle(&self, _folder: &RelPath) -> io::Result<()> {
        Ok(())
    }
    /// Opens a handle to sync the whole file system of this root; `None` if the system has no such
    /// call, or if the call does not report lost writes.
    fn fs_sync(&self) -> io::Result<Option<Box<dyn FsSync>>> {
        Ok(None)
    }
    /// Id of the boot and of the mount. Unsynced writes stay visible while it is the same. `None`
    /// if unknown.
    fn boot_id(&self) -> Option<u128>;
}

/// Sync of a whole file system, since the handle was opened.
pub trait FsSync: Send + Sync {
    /// Makes the writes of all programs durable: contents, lengths, modes, attributes and names.
    /// Fails if any write was lost since the handle was opened. Not called again after a failure.
    fn sync(&self) -> io::Result<()>;
}

/// One open plain file.
pub trait StoredFile: Send + Sync {
    /// Metadata of the file, even after a rename.
    fn stat(&self) -> io::Result<Stat>;
    /// Reads bytes at `offset` and returns their number; 0 at the end.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes all of `bytes` at `offset`. Durable after `sync_data`.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Truncates, or extends with zeros. Durable after `sync_data`.
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Makes content and length durable.
    fn sync_data(&self) -> io::Result<()>;
    /// Makes content, length, mode and attributes durable.
    fn sync_all(&self) -> io::Result<()>;
}

/// Metadata of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stat {
    /// Kind of file.
    pub kind: FileKind,
    /// Permission bits, `0o7777` at most.
    pub mode: u32,
    /// Length of a file, in bytes.
    pub len: u64,
    /// Number of hard links.
    pub links: u64,
    /// Identity of the file.
    pub id: FileId,
    /// Id of its mount. A rename cannot cross mounts.
    pub mount: u64,
}

/// Facts that can stop this process from changing a path, beside the permission bits.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Restrictions {
    /// User id of the owner, if it is another user.
    pub other_owner: Option<u32>,
    /// This process may do what the owner may.
    pub acts_as_owner: bool,
    /// Only owners remove and rename files in this folder.
    pub is_sticky: bool,
    /// Nothing about the file changes.
    pub is_immutable: bool,
    /// Content is only appended; in a folder, names are only added.
    pub is_append_only: bool,
}

/// Identity of a file, unique while the file exists.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileId {
    /// Device number of the file system.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
}

/// Kind of file at a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileKind {
    /// A plain file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Symlink,
    /// A FIFO, socket or device. Never opened or replaced.
    Other,
}

#[cfg(unix)]
impl FileKind {
    /// The kind in the mode of an inode.
    pub fn of_mode(mode: rustix::fs::RawMode) -> Self {
        match FileType::from_raw_mode(mode) {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Folder,
            FileType::Symlink => Self::Symlink,
            _ => Self::Other,
        }
    }
}

/// Mode of opening a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpenMode {
    /// An existing file, to read.
    Read,
    /// An existing file, to read and write.
    Write,
    /// A new file with exactly this mode; an existing one is an error.
    Create {
        /// Permission bits.
        mode: u32,
    },
}

/// Treatment of the destination of a rename.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RenameMode {
    /// Replaces it.
    Replace,
    /// Fails if it exists.
    NoReplace,
    /// Swaps the two paths, which must both exist. Fails with `Unsupported` on file systems without
    /// exchange.
    Exchange,
}
