//! One root of a transaction: its storage, its transaction folder, and disk calls whose errors name
//! the step.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::{FileKind, FsSync, OpenMode, RenameMode, Stat, Storage, StoredFile};
use crate::hash::{CHUNK_BYTES, Hash};
use crate::lock::platform::is_through_symlink;
use crate::tx::change::{Fingerprint, Observed, TAIL_BYTES};
use crate::{Error, RelPath, Result, Step};

/// Mode of folders in the transaction folder, regardless of the umask.
pub(crate) const OUR_FOLDER_MODE: u32 = 0o700;
/// Mode of files in the transaction folder and in own folders, regardless of the umask.
pub(crate) const OUR_FILE_MODE: u32 = 0o600;

/// A root folder. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Root {
    pub storage: Arc<dyn Storage>,
    /// Path of the root, for messages and for journals over several roots.
    pub path: PathBuf,
    /// The transaction folder below the root.
    pub txn_dir: RelPath,
}

impl fmt::Debug for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.fmt(f)
    }
}

impl Root {
    /// The path of `name` in the transaction folder.
    pub(crate) fn in_txn_dir(&self, name: impl AsRef<OsStr>) -> RelPath {
        self.txn_dir.join(name)
    }

    /// `path` with the path of the root before it.
    pub(crate) fn full_path(&self, path: &RelPath) -> PathBuf {
        self.path.join(path.as_path())
    }

    /// Adds the step and the path to an error of the disk.
    pub(crate) fn with_step<T>(&self, step: Step, path: &RelPath, result: io::Result<T>) -> Result<T> {
        result.map_err(|source| Error::Io { step, path: self.full_path(path), source })
    }

    /// Metadata of `path`; `None` if it does not exist. Paths through a symlink do not exist.
    pub(crate) fn stat(&self, path: &RelPath) -> Result<Option<Stat>> {
        match self.storage.stat(path) {
            Err(error) if is_through_symlink(&error) => Ok(None),
            stat => self.with_step(Step::Inspect, path, stat),
        }
    }

    pub(crate) fn open(&self, step: Step, path: &RelPath, mode: OpenMode) -> Result<Box<dyn StoredFile>> {
        self.with_step(step, path, self.storage.open(path, mode))
    }

    /// Opens a file; `None` if it does not exist.
    pub(crate) fn open_if_exists(
        &self,
        path: &RelPath,
        mode: OpenMode,
    ) -> Result<Option<Box<dyn StoredFile>>> {
        match self.storage.open(path, mode) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            file => self.with_step(Step::Inspect, path, file).map(Some),
        }
    }

    /// Opens a file to sync it. Some systems sync only writable handles; some files allow only
    /// reading.
    pub(crate) fn open_to_sync(&self, step: Step, path: &RelPath) -> Result<Box<dyn StoredFile>> {
        match self.storage.open(path, OpenMode::Write) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.open(step, path, OpenMode::Read)
            }
            file => self.with_step(step, path, file),
        }
    }

    pub(crate) fn list(&self, folder: &RelPath) -> Result<Vec<OsString>> {
        self.with_step(Step::Inspect, folder, self.storage.list(folder))
    }

    pub(crate) fn rename(&self, step: Step, from: &RelPath, to: &RelPath, mode: RenameMode) -> Result<()> {
        self.with_step(step, to, self.storage.rename(from, to, mode))
    }

    pub(crate) fn sync_folder(&self, step: Step, folder: &RelPath) -> Result<()> {
        if step.is_skipped() {
            return Ok(());
        }
        self.with_step(step, folder, self.storage.sync_folder(folder))
    }

    pub(crate) fn sync_data(&self, step: Step, path: &RelPath, file: &dyn StoredFile) -> Result<()> {
        if step.is_skipped() {
            return Ok(());
        }
        self.with_step(step, path, file.sync_data())
    }

    pub(crate) fn sync_all(&self, step: Step, path: &RelPath, file: &dyn StoredFile) -> Result<()> {
        if step.is_skipped() {
            return Ok(());
        }
        self.with_step(step, path, file.sync_all())
    }

    /// Makes everything durable that was written to the file system since `fs_sync` was opened.
    pub(crate) fn sync_fs(&self, step: Step, fs_sync: &dyn FsSync) -> Result<()> {
        if step.is_skipped() {
            return Ok(());
        }
        self.with_step(step, &RelPath::root(), fs_sync.sync())
    }

    /// Removes a file or symlink, if it exists.
    pub(crate) fn remove_if_exists(&self, step: Step, path: &RelPath) -> Result<()> {
        match self.storage.remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => self.with_step(step, path, result),
        }
    }

    /// Removes a folder with its content, if it exists.
    pub(crate) fn remove_tree(&self, step: Step, folder: &RelPath) -> Result<()> {
        match self.stat(folder)?.map(|stat| stat.kind) {
            None => return Ok(()),
            Some(FileKind::Folder) => {}
            Some(_) => return self.remove_if_exists(step, folder),
        }
        for name in self.list(folder)? {
            self.remove_tree(step, &folder.join(name))?;
        }
        self.with_step(step, folder, self.storage.remove_folder(folder))
    }

    /// Creates `folder` and its missing parents. Syncs nothing.
    pub(crate) fn make_folders(&self, step: Step, folder: &RelPath, mode: u32) -> Result<()> {
        match self.stat(folder)?.map(|stat| stat.kind) {
            Some(FileKind::Folder) => return Ok(()),
            Some(found) => {
                return Err(Error::WrongFileKind {
                    path: self.full_path(folder),
                    found,
                    expected: "a folder",
                });
            }
            None => {}
        }
        let parent = folder.parent().expect("the root exists, so what is missing has a parent");
        self.make_folders(step, &parent, mode)?;
        match self.storage.make_folder(folder, mode) {
            // Another process created it first.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.make_folders(step, folder, mode)
            }
            result => self.with_step(step, folder, result),
        }
    }

    /// The content of a file; `None` if it does not exist.
    pub(crate) fn read(&self, path: &RelPath) -> Result<Option<Vec<u8>>> {
        let Some(file) = self.open_if_exists(path, OpenMode::Read)? else { return Ok(None) };
        let len = self.with_step(Step::Inspect, path, file.stat())?.len;
        self.with_step(Step::Inspect, path, read_range(&*file, 0, len)).map(Some)
    }

    /// Observes `path`, with the hash of the whole file.
    pub(crate) fn observe(&self, path: &RelPath) -> Result<Observed> {
        self.observe_with(path, |_| 0)
    }

    /// Observes `path`, with the hash of the tail of the file.
    pub(crate) fn observe_tail(&self, path: &RelPath) -> Result<Observed> {
        self.observe_with(path, |len| len.saturating_sub(TAIL_BYTES))
    }

    /// Observes `path`, with the content of a file of at most `max_len` bytes, or else the hash of
    /// its tail.
    pub(crate) fn observe_content(&self, path: &RelPath, max_len: u64) -> Result<Observed> {
        match self.stat(path)? {
            Some(Stat { kind: FileKind::File, mode, len, .. }) if len <= max_len => {
                let bytes = self.read(path)?.unwrap_or_default();
                Ok(Observed::File { mode, len: bytes.len() as u64, fingerprint: Fingerprint::Bytes(bytes) })
            }
            _ => self.observe_tail(path),
        }
    }

    fn observe_with(&self, path: &RelPath, start: fn(u64) -> u64) -> Result<Observed> {
        self.observe_on_mount(path, start).map(|(observed, _)| observed)
    }

    /// Observes `path`, with the hash of the whole file, and returns its mount.
    pub(crate) fn observe_with_mount(&self, path: &RelPath) -> Result<(Observed, Option<u64>)> {
        self.observe_on_mount(path, |_| 0)
    }

    fn observe_on_mount(&self, path: &RelPath, start: fn(u64) -> u64) -> Result<(Observed, Option<u64>)> {
        let file = match self.storage.open(path, OpenMode::Read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Observed::Absent, None)),
            Err(error) => return self.observe_non_file(path, error),
            Ok(file) => file,
        };
        let stat = self.with_step(Step::Inspect, path, file.stat())?;
        let start = start(stat.len);
        let hash = self.with_step(Step::Inspect, path, Hash::of_file(&*file, start, stat.len))?;
        let fingerprint = if start == 0 { Fingerprint::Whole(hash) } else { Fingerprint::Tail(hash) };
        Ok((Observed::File { mode: stat.mode, len: stat.len, fingerprint }, Some(stat.mount)))
    }

    /// Observes a path that could not be opened as a file.
    fn observe_non_file(&self, path: &RelPath, refused: io::Error) -> Result<(Observed, Option<u64>)> {
        let Some(stat) = self.stat(path)? else { return Ok((Observed::Absent, None)) };
        let observed = match stat.kind {
            FileKind::Folder => Observed::Folder { mode: stat.mode },
            FileKind::Symlink => Observed::Symlink {
                target: self.with_step(Step::Inspect, path, self.storage.read_link(path))?,
            },
            FileKind::Other => Observed::Other,
            FileKind::File => return self.with_step(Step::Inspect, path, Err(refused)),
        };
        Ok((observed, Some(stat.mount)))
    }

    /// Returns true if this root has the given path.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        self.path == path
    }
}

/// Reads `len` bytes at `offset`, or up to the end.
pub(crate) fn read_range(file: &dyn StoredFile, offset: u64, len: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; len as usize];
    let mut filled = 0;
    while filled < bytes.len() {
        let got = file.read_at(&mut bytes[filled..], offset + filled as u64)?;
        if got == 0 {
            break;
        }
        filled += got;
    }
    bytes.truncate(filled);
    Ok(bytes)
}

/// Copies and hashes the first `len` bytes of a file, in bounded memory.
pub(crate) fn copy_range(
    from: &dyn StoredFile,
    to: &dyn StoredFile,
    len: u64,
    hasher: &mut blake3::Hasher,
) -> io::Result<()> {
    let mut offset = 0;
    while offset < len {
        let bytes = read_range(from, offset, (len - offset).min(CHUNK_BYTES as u64))?;
        if bytes.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        hasher.update(&bytes);
        to.write_at(&bytes, offset)?;
        offset += bytes.len() as u64;
    }
    Ok(())
}
