//! What is in a folder, as its names and inodes tell: kinds, modes, lengths, identities and times of the last change. Reads only, by handle
//! below the root, and opens no file before its content is asked for.

use std::io;
use std::path::{Path, PathBuf};

use filetx::{Disk, FileId, FileKind, Hash, OpenMode, RelPath, Storage, StoredFile};
use rustix::fs::{AtFlags, StatxFlags, makedev, statx};
use rustix::io::Errno;

use super::copy::names;
use super::{FileError, FileResult};

const LOOK: &str = "look at";

/// The most names in one folder tree.
pub const SURVEY_ENTRIES_MAX: usize = 4_000_000;

/// What is at a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Surveyed {
    /// The path.
    pub path: RelPath,
    /// What it is.
    pub kind: FileKind,
    /// Permission bits.
    pub mode: u32,
    /// Bytes.
    pub len: u64,
    /// Which file it is.
    pub id: FileId,
    /// When inode or content were last changed, in nanoseconds since 1970. Nobody can set it back.
    pub changed_ns: i128,
}

/// A plain file that is read.
pub struct SurveyedFile {
    file: Box<dyn StoredFile>,
    offset: u64,
}

impl io::Read for SurveyedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.file.read_at(buffer, self.offset)?;
        self.offset += got as u64;
        Ok(got)
    }
}

/// A folder to look through.
#[derive(Debug)]
pub struct Survey {
    disk: Disk,
    root: PathBuf,
}

impl Survey {
    /// Opens an existing folder.
    pub fn open(root: &Path) -> FileResult<Self> {
        let disk = Disk::open(root).map_err(|error| FileError::io(LOOK, root, error))?;
        Ok(Self { disk, root: root.to_owned() })
    }

    /// All that is below it, by path. Nothing is said of what `skip` names, nor of what is below.
    pub fn entries(&self, skip: &dyn Fn(&RelPath) -> bool) -> FileResult<Vec<Surveyed>> {
        let mut found = Vec::new();
        let mut folders = vec![RelPath::root()];
        while let Some(folder) = folders.pop() {
            let listed = self.list(&folder, skip);
            let listed = listed.map_err(|source| self.failed(&folder, source))?;
            folders.extend(
                listed.iter().filter(|entry| entry.kind == FileKind::Folder).map(|entry| entry.path.clone()),
            );
            found.extend(listed);
            if found.len() > SURVEY_ENTRIES_MAX {
                return Err(FileError::TooLarge {
                    what: "the number of files",
                    limit: SURVEY_ENTRIES_MAX as u64,
                });
            }
        }
        found.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        Ok(found)
    }

    /// The content of a plain file, hashed.
    pub fn hash(&self, path: &RelPath) -> FileResult<Hash> {
        let hash =
            self.disk.open(path, OpenMode::Read).and_then(|file| Hash::of_file(&*file, 0, file.stat()?.len));
        hash.map_err(|source| self.failed(path, source))
    }

    /// Where a symlink points, hashed like a content.
    pub fn hash_of_symlink(&self, path: &RelPath) -> FileResult<Hash> {
        let target = self.disk.read_link(path);
        target.map(|target| Hash::of(target.as_encoded_bytes())).map_err(|source| self.failed(path, source))
    }

    /// The content of a plain file, from the beginning to the end.
    pub fn read(&self, path: &RelPath) -> FileResult<SurveyedFile> {
        let opened = self.disk.open(path, OpenMode::Read);
        Ok(SurveyedFile { file: opened.map_err(|source| self.failed(path, source))?, offset: 0 })
    }

    /// Where a symlink points.
    pub fn read_link(&self, path: &RelPath) -> FileResult<std::ffi::OsString> {
        self.disk.read_link(path).map_err(|source| self.failed(path, source))
    }

    fn failed(&self, path: &RelPath, source: io::Error) -> FileError {
        FileError::io(LOOK, self.root.join(path.as_path()), source)
    }

    fn list(&self, folder: &RelPath, skip: &dyn Fn(&RelPath) -> bool) -> io::Result<Vec<Surveyed>> {
        let handle = self.disk.open_folder(folder)?.into();
        let mut listed = Vec::new();
        for name in names(&handle)? {
            let path = folder.join(&name);
            if skip(&path) {
                continue;
            }
            let found = match statx(&handle, &name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS) {
                // It vanished since it was listed.
                Err(Errno::NOENT) => continue,
                found => found?,
            };
            listed.push(Surveyed {
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
