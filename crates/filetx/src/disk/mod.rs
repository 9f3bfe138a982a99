//! The only seam to the disk.
//!
//! A [`Storage`] is one root folder. Everything this crate does to a disk goes through these two traits, so a simulated disk
//! can lose what was not synced and show that the protocols hold. [`Disk`](crate::Disk) is the real one.
//!
//! Rules for every implementation: a path never leads through a symlink and never out of the root; a last name that is a
//! symlink means the symlink itself; nothing is durable before the sync that the method's line names.

#[cfg(unix)]
mod attributes;
#[cfg(unix)]
mod confined;
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

pub use sync_count::sync_count;
#[cfg(unix)]
pub use unix::Disk;
#[cfg(windows)]
pub use windows::Disk;

/// One root folder on a disk.
pub trait Storage: Send + Sync + fmt::Debug {
    /// What is at `path`, or `None` when nothing is.
    fn stat(&self, path: &RelPath) -> io::Result<Option<Stat>>;
    /// Opens the plain file at `path`. Anything else there (folder, symlink, FIFO, device) is an error and is not opened.
    fn open(&self, path: &RelPath, how: Open) -> io::Result<Box<dyn StoredFile>>;
    /// The names in a folder, in no order.
    fn list(&self, folder: &RelPath) -> io::Result<Vec<OsString>>;
    /// Where the symlink at `path` points.
    fn read_link(&self, path: &RelPath) -> io::Result<OsString>;
    /// Makes a folder with exactly this mode. Durable after `sync_folder` of its parent.
    fn make_folder(&self, path: &RelPath, mode: u32) -> io::Result<()>;
    /// Makes a symlink. Durable after `sync_folder` of its parent.
    fn make_symlink(&self, target: &OsStr, path: &RelPath) -> io::Result<()>;
    /// Gives the file `from` a second name; fails when `to` exists. Durable after `sync_folder` of `to`'s parent.
    fn link(&self, from: &RelPath, to: &RelPath) -> io::Result<()>;
    /// Moves a file, symlink or folder, atomically. Durable after `sync_folder` of a parent it changed.
    fn rename(&self, from: &RelPath, to: &RelPath, how: Rename) -> io::Result<()>;
    /// Removes a file or symlink. Durable after `sync_folder` of its parent.
    fn remove_file(&self, path: &RelPath) -> io::Result<()>;
    /// Removes an empty folder. Durable after `sync_folder` of its parent.
    fn remove_folder(&self, path: &RelPath) -> io::Result<()>;
    /// Changes the mode of a file or folder. Durable after `sync_all` of the file or `sync_folder` of the folder itself.
    fn set_mode(&self, path: &RelPath, mode: u32) -> io::Result<()>;
    /// Gives `to` the owner and extended attributes of `from`, as far as this process may.
    fn copy_attributes(&self, from: &RelPath, to: &RelPath) -> io::Result<()>;
    /// Makes the names in a folder durable.
    fn sync_folder(&self, folder: &RelPath) -> io::Result<()>;
    /// Fails when this process may not change the names in a folder.
    fn check_writable(&self, folder: &RelPath) -> io::Result<()>;
    /// Says that names in a folder of ours are about to be used often, so that the way to it may be remembered. As long as it is
    /// remembered, these names are looked for in that very folder, also when it was moved or removed.
    fn remember(&self, _folder: &RelPath) -> io::Result<()> {
        Ok(())
    }
    /// Begins to watch what is written to this root's file system, so that one call can make all of it durable; `None` where the
    /// system has no such call, or one that does not say when something was lost.
    fn watch(&self) -> io::Result<Option<Box<dyn Watch>>> {
        Ok(None)
    }
    /// Which run of the system, and which mount, this is. As long as it stays the same, what was written is seen, synced or not.
    fn boot(&self) -> Option<u128>;
}

/// Everything that is written to a file system, from when the watch began.
pub trait Watch: Send + Sync {
    /// Makes contents, lengths, modes, attributes and names durable, whoever wrote them. Fails when anything was lost since the watch
    /// began, and is never asked again then.
    fn sync(&self) -> io::Result<()>;
}

/// One open plain file.
pub trait StoredFile: Send + Sync {
    /// What this file is, wherever its name went.
    fn stat(&self) -> io::Result<Stat>;
    /// Reads some bytes at `offset`; 0 means the end.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes all of `bytes` at `offset`. Durable after `sync_data`.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Cuts or zero-extends. Durable after `sync_data`.
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Makes content and length durable.
    fn sync_data(&self) -> io::Result<()>;
    /// Makes content, length, mode and attributes durable.
    fn sync_all(&self) -> io::Result<()>;
}

/// What is at a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stat {
    /// File, folder, symlink or something else.
    pub kind: Kind,
    /// Permission bits, `0o7777` at most.
    pub mode: u32,
    /// Bytes in a file.
    pub len: u64,
    /// How many names the file has.
    pub links: u64,
    /// Which file it is, whatever its name.
    pub id: FileId,
    /// Which mount it is on: files do not move between mounts.
    pub mount: u64,
}

/// A file's identity while it exists.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileId {
    /// The file system.
    pub device: u64,
    /// The file in it.
    pub inode: u64,
}

/// The kinds of things a path can name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A plain file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Symlink,
    /// A FIFO, socket or device: never opened, never replaced.
    Other,
}

#[cfg(unix)]
impl Kind {
    /// The kind in the mode bits of an inode.
    pub fn of_mode(mode: rustix::fs::RawMode) -> Self {
        match FileType::from_raw_mode(mode) {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Folder,
            FileType::Symlink => Self::Symlink,
            _ => Self::Other,
        }
    }
}

/// How to open a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Open {
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

/// How a rename treats its destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rename {
    /// Replaces what is there.
    Replace,
    /// Fails when something is there.
    NoReplace,
    /// Swaps the two; both must exist. `Unsupported` where the file system cannot.
    Exchange,
}
