//! Lists a folder from names and inodes: kinds, modes, lengths, file ids and change times. Reads only,
//! by handle below the root, and opens no file until its content is requested.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use filetx::{Disk, FileId, FileKind, Hash, OpenMode, RelPath, Storage, StoredFile};
use rustix::fs::{AtFlags, StatxFlags, makedev, statx};
use rustix::io::Errno;

use super::copy::names;
use super::read_limits::READ;
use super::{COPY_DEPTH_MAX, FileError, FileResult, ReadLimits};

/// The most entries of one tree.
pub const TREE_ENTRIES_MAX: usize = 4_000_000;

/// An entry of a tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TreeEntry {
    /// The path below the root.
    pub path: RelPath,
    /// The kind of file.
    pub kind: FileKind,
    /// Permission bits.
    pub mode: u32,
    /// Length in bytes.
    pub len: u64,
    /// Device and inode.
    pub id: FileId,
    /// Change time (`ctime`) in nanoseconds since 1970, which no program can set.
    pub changed_ns: i128,
}

/// Reads a file from its start.
pub struct FileReader<'a> {
    file: Box<dyn StoredFile>,
    offset: u64,
    /// Its length when it was opened.
    bytes: u64,
    limits: ReadLimits<'a>,
}

impl Read for FileReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.limits.check(PathBuf::new).map_err(io::Error::other)?;
        let got = self.file.read_at(buffer, self.offset)?;
        self.offset += got as u64;
        Ok(got)
    }
}

/// Reads a folder tree.
#[derive(Debug)]
pub struct TreeReader<'a> {
    disk: Disk,
    root: PathBuf,
    limits: ReadLimits<'a>,
}

impl TreeReader<'static> {
    /// Opens an existing folder, without limits.
    pub fn open(root: &Path) -> FileResult<Self> {
        Self::open_within(root, ReadLimits::NONE)
    }
}

impl<'a> TreeReader<'a> {
    /// Opens an existing folder. Longer files cannot be hashed or read.
    pub fn open_within(root: &Path, limits: ReadLimits<'a>) -> FileResult<Self> {
        let disk = Disk::open(root).map_err(|error| FileError::io(READ, root, error))?;
        Ok(Self { disk, root: root.to_owned(), limits })
    }

    /// All entries, by path, without those that `skip` selects and their descendants. Fails if a folder
    /// is nested deeper than a copy may be.
    pub fn entries(&self, skip: &dyn Fn(&RelPath) -> bool) -> FileResult<Vec<TreeEntry>> {
        let mut found = Vec::new();
        let mut folders = vec![RelPath::root()];
        while let Some(folder) = folders.pop() {
            if folder.depth() > COPY_DEPTH_MAX {
                return Err(FileError::TooDeep { path: self.full(&folder), limit: COPY_DEPTH_MAX });
            }
            self.limits.check(|| self.full(&folder))?;
            let listed = self.list(&folder, skip);
            let listed = listed.map_err(|source| self.failed(&folder, source))?;
            folders.extend(
                listed.iter().filter(|entry| entry.kind == FileKind::Folder).map(|entry| entry.path.clone()),
            );
            found.extend(listed);
            if found.len() > TREE_ENTRIES_MAX {
                return Err(FileError::TooLarge {
                    what: "the number of files",
                    limit: TREE_ENTRIES_MAX as u64,
                });
            }
        }
        found.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        Ok(found)
    }

    /// Hashes the content of a file.
    pub fn hash(&self, path: &RelPath) -> FileResult<Hash> {
        let mut reader = self.read(path)?;
        let bytes = reader.bytes;
        Hash::of_reader(&mut reader, bytes).map_err(|source| self.failed(path, source))
    }

    /// Hashes the target of a symlink.
    pub fn hash_of_symlink(&self, path: &RelPath) -> FileResult<Hash> {
        let target = self.disk.read_link(path);
        target.map(|target| Hash::of(target.as_encoded_bytes())).map_err(|source| self.failed(path, source))
    }

    /// Opens a file.
    pub fn read(&self, path: &RelPath) -> FileResult<FileReader<'a>> {
        let opened = self.disk.open(path, OpenMode::Read).and_then(|file| Ok((file.stat()?.len, file)));
        let (bytes, file) = opened.map_err(|source| self.failed(path, source))?;
        match self.limits.file_bytes_max {
            limit if bytes > limit => Err(FileError::FileTooLarge { path: self.full(path), bytes, limit }),
            _ => Ok(FileReader { file, offset: 0, bytes, limits: self.limits }),
        }
    }

    /// Fails if reading was to end at this path.
    pub fn check(&self, path: &RelPath) -> FileResult<()> {
        self.limits.check(|| self.full(path))
    }

    /// The target of a symlink.
    pub fn read_link(&self, path: &RelPath) -> FileResult<std::ffi::OsString> {
        self.disk.read_link(path).map_err(|source| self.failed(path, source))
    }

    fn full(&self, path: &RelPath) -> PathBuf {
        self.root.join(path.as_path())
    }

    fn failed(&self, path: &RelPath, source: io::Error) -> FileError {
        self.check(path).err().unwrap_or_else(|| FileError::io(READ, self.full(path), source))
    }

    fn list(&self, folder: &RelPath, skip: &dyn Fn(&RelPath) -> bool) -> io::Result<Vec<TreeEntry>> {
        let handle = self.disk.open_folder(folder)?.into();
        let mut listed = Vec::new();
        for name in names(&handle)? {
            let path = folder.join(&name);
            if skip(&path) {
                continue;
            }
            let found = match statx(&handle, &name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS) {
                // Removed since it was listed.
                Err(Errno::NOENT) => continue,
                found => found?,
            };
            listed.push(TreeEntry {
                path,
                kind: FileKind::of_mode(found.stx_mode.into()),
                mode: u32::from(found.stx_mode) & 0o7777,
                len: found.stx_size,
                id: FileId {
                    device: makedev(found.stx_dev_major, found.stx_dev_minor),
                    inode: found.stx_ino,
                },
                changed_ns: in_ns(&found),
            });
        }
        Ok(listed)
    }
}

fn in_ns(found: &rustix::fs::Statx) -> i128 {
    i128::from(found.stx_ctime.tv_sec) * 1_000_000_000 + i128::from(found.stx_ctime.tv_nsec)
}
