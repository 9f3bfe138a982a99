//! One root of a transaction: its storage, its transaction folder, and disk calls that say what they were for.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::{Kind, Open, Rename, Stat, Storage, StoredFile, Watch};
use crate::hash::{CHUNK_BYTES, Hash};
use crate::lock::platform::is_through_symlink;
use crate::tx::change::{END_BYTES, Print, Seen};
use crate::{Error, RelPath, Result, Step};

/// The mode of our own folders, whatever the umask.
pub(crate) const OUR_FOLDER_MODE: u32 = 0o700;
/// The mode of our own files, whatever the umask.
pub(crate) const OUR_FILE_MODE: u32 = 0o600;

/// A root folder. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Root {
    pub storage: Arc<dyn Storage>,
    /// The root's own path, for messages and for journals over several roots.
    pub label: PathBuf,
    /// The transaction folder below the root.
    pub home: RelPath,
}

impl fmt::Debug for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.label.fmt(f)
    }
}

impl Root {
    /// The path of `name` in the transaction folder.
    pub(crate) fn in_home(&self, name: impl AsRef<OsStr>) -> RelPath {
        self.home.join(name)
    }

    /// `path` as a person would write it.
    pub(crate) fn show(&self, path: &RelPath) -> PathBuf {
        self.label.join(path.as_path())
    }

    /// Says what a failed disk call was for.
    pub(crate) fn name<T>(&self, step: Step, path: &RelPath, result: io::Result<T>) -> Result<T> {
        result.map_err(|source| Error::Io { step, path: self.show(path), source })
    }

    /// What is at `path`. Behind a symlink there is nothing: no path of ours leads through one.
    pub(crate) fn stat(&self, path: &RelPath) -> Result<Option<Stat>> {
        match self.storage.stat(path) {
            Err(error) if is_through_symlink(&error) => Ok(None),
            stat => self.name(Step::Inspect, path, stat),
        }
    }

    pub(crate) fn open(&self, step: Step, path: &RelPath, how: Open) -> Result<Box<dyn StoredFile>> {
        self.name(step, path, self.storage.open(path, how))
    }

    /// Opens a file; `None` when nothing is there.
    pub(crate) fn open_if_there(&self, path: &RelPath, how: Open) -> Result<Option<Box<dyn StoredFile>>> {
        match self.storage.open(path, how) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            file => self.name(Step::Inspect, path, file).map(Some),
        }
    }

    /// Opens a file only to sync it. Some systems sync what is open to be written only; some files are open to be read only.
    pub(crate) fn open_to_sync(&self, step: Step, path: &RelPath) -> Result<Box<dyn StoredFile>> {
        match self.storage.open(path, Open::Write) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.open(step, path, Open::Read)
            }
            file => self.name(step, path, file),
        }
    }

    pub(crate) fn list(&self, folder: &RelPath) -> Result<Vec<OsString>> {
        self.name(Step::Inspect, folder, self.storage.list(folder))
    }

    pub(crate) fn rename(&self, step: Step, from: &RelPath, to: &RelPath, how: Rename) -> Result<()> {
        self.name(step, to, self.storage.rename(from, to, how))
    }

    pub(crate) fn sync_folder(&self, step: Step, folder: &RelPath) -> Result<()> {
        if step.is_left_out() {
            return Ok(());
        }
        self.name(step, folder, self.storage.sync_folder(folder))
    }

    pub(crate) fn sync_data(&self, step: Step, path: &RelPath, file: &dyn StoredFile) -> Result<()> {
        if step.is_left_out() {
            return Ok(());
        }
        self.name(step, path, file.sync_data())
    }

    pub(crate) fn sync_all(&self, step: Step, path: &RelPath, file: &dyn StoredFile) -> Result<()> {
        if step.is_left_out() {
            return Ok(());
        }
        self.name(step, path, file.sync_all())
    }

    /// Makes everything durable that was written since the watch began.
    pub(crate) fn sync_watched(&self, step: Step, watch: &dyn Watch) -> Result<()> {
        if step.is_left_out() {
            return Ok(());
        }
        self.name(step, &RelPath::root(), watch.sync())
    }

    /// Removes a file or symlink of ours; one that is gone already is fine.
    pub(crate) fn remove_if_there(&self, step: Step, path: &RelPath) -> Result<()> {
        match self.storage.remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => self.name(step, path, result),
        }
    }

    /// Removes a folder of ours with all that is in it; one that is gone already is fine.
    pub(crate) fn remove_tree(&self, step: Step, folder: &RelPath) -> Result<()> {
        match self.stat(folder)?.map(|stat| stat.kind) {
            None => return Ok(()),
            Some(Kind::Folder) => {}
            Some(_) => return self.remove_if_there(step, folder),
        }
        for name in self.list(folder)? {
            self.remove_tree(step, &folder.join(name))?;
        }
        self.name(step, folder, self.storage.remove_folder(folder))
    }

    /// Makes `folder` and the folders above it that are missing. Nothing is synced.
    pub(crate) fn make_folders(&self, step: Step, folder: &RelPath, mode: u32) -> Result<()> {
        match self.stat(folder)?.map(|stat| stat.kind) {
            Some(Kind::Folder) => return Ok(()),
            Some(found) => {
                return Err(Error::WrongKind { path: self.show(folder), found, expected: "a folder" });
            }
            None => {}
        }
        let parent = folder.parent().expect("the root exists, so what is missing has a parent");
        self.make_folders(step, &parent, mode)?;
        match self.storage.make_folder(folder, mode) {
            // Another process was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.make_folders(step, folder, mode)
            }
            result => self.name(step, folder, result),
        }
    }

    /// All the bytes of a file; `None` when nothing is there.
    pub(crate) fn read(&self, path: &RelPath) -> Result<Option<Vec<u8>>> {
        let Some(file) = self.open_if_there(path, Open::Read)? else { return Ok(None) };
        let len = self.name(Step::Inspect, path, file.stat())?.len;
        self.name(Step::Inspect, path, read_range(&*file, 0, len)).map(Some)
    }

    /// What is at `path`, with the hash of all of a file.
    pub(crate) fn see(&self, path: &RelPath) -> Result<Seen> {
        self.see_with(path, |_| 0)
    }

    /// What is at `path`, with the hash of the end of a file.
    pub(crate) fn see_end(&self, path: &RelPath) -> Result<Seen> {
        self.see_with(path, |len| len.saturating_sub(END_BYTES))
    }

    /// What is at `path`, with all of a file that is at most `most` bytes long, else with the hash of its end.
    pub(crate) fn see_bytes(&self, path: &RelPath, most: u64) -> Result<Seen> {
        match self.stat(path)? {
            Some(Stat { kind: Kind::File, mode, len, .. }) if len <= most => {
                let bytes = self.read(path)?.unwrap_or_default();
                Ok(Seen::File { mode, len: bytes.len() as u64, print: Print::Bytes(bytes) })
            }
            _ => self.see_end(path),
        }
    }

    fn see_with(&self, path: &RelPath, start: fn(u64) -> u64) -> Result<Seen> {
        self.see_on_mount(path, start).map(|(seen, _)| seen)
    }

    /// What is at `path`, with the hash of all of a file, and on which mount it is.
    pub(crate) fn see_with_mount(&self, path: &RelPath) -> Result<(Seen, Option<u64>)> {
        self.see_on_mount(path, |_| 0)
    }

    fn see_on_mount(&self, path: &RelPath, start: fn(u64) -> u64) -> Result<(Seen, Option<u64>)> {
        let file = match self.storage.open(path, Open::Read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Seen::Absent, None)),
            Err(error) => return self.see_what_is_no_file(path, error),
            Ok(file) => file,
        };
        let stat = self.name(Step::Inspect, path, file.stat())?;
        let start = start(stat.len);
        let hash = self.name(Step::Inspect, path, Hash::of_file(&*file, start, stat.len))?;
        let print = if start == 0 { Print::Whole(hash) } else { Print::End(hash) };
        Ok((Seen::File { mode: stat.mode, len: stat.len, print }, Some(stat.mount)))
    }

    /// What is at a path that could not be opened as a file.
    fn see_what_is_no_file(&self, path: &RelPath, refused: io::Error) -> Result<(Seen, Option<u64>)> {
        let Some(stat) = self.stat(path)? else { return Ok((Seen::Absent, None)) };
        let seen = match stat.kind {
            Kind::Folder => Seen::Folder { mode: stat.mode },
            Kind::Symlink => {
                Seen::Symlink { target: self.name(Step::Inspect, path, self.storage.read_link(path))? }
            }
            Kind::Other => Seen::Other,
            Kind::File => return self.name(Step::Inspect, path, Err(refused)),
        };
        Ok((seen, Some(stat.mount)))
    }

    /// Whether two roots are the same folder by name.
    pub(crate) fn is_at(&self, label: &Path) -> bool {
        self.label == label
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

/// Copies the first `len` bytes of one file into another, in bounded memory, and hashes them on the way.
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
