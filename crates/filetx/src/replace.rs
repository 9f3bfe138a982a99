//! Atomic replacement of one file, without a journal.
//!
//! 12.2 stage the new content beside the target, with its mode, owner and attributes; 12.3 sync it;
//! 12.4 rename it over the target; 12.5 sync the folder. Two syncs, never more. A concurrent reader
//! sees the whole old file or the whole new one.
//!
//! The new file is a new inode: other hard links keep the old content. There is no lock: of two
//! concurrent writers the later one wins. A killed writer leaves its staged file behind; a later
//! writer that holds the lock of the target may remove it (12.1).

use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::Path;

use crate::disk::{FileKind, OpenMode, RenameMode, Stat, Storage, StoredFile};
use crate::path::{NAME_BYTES_MAX, os_string};
use crate::{Disk, Error, Failure, RelPath, Step};

/// Maximum number of names tried for the staged file. The first one fails only if it guesses 64
/// random bits of an existing name.
const NAMES_MAX: usize = 4;
/// Mode of a staged file: private until it has its final owner.
const STAGING_MODE: u32 = 0o600;

/// Options of a replacement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReplaceOptions {
    /// Mode of a new file. An existing one keeps its mode.
    pub new_mode: u32,
    /// True to remove leftovers of killed writers of this file.
    pub sweep: Sweep,
}

impl Default for ReplaceOptions {
    /// A private new file, no sweep.
    fn default() -> Self {
        Self { new_mode: 0o600, sweep: Sweep::Never }
    }
}

/// Removal of leftovers of killed writers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sweep {
    /// Keep them: another writer may be active.
    Never,
    /// Remove them: the caller holds the lock of the target, so no other writer is active.
    Leftovers,
}

/// Result of a durable replacement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Replacement {
    /// The file did not exist before.
    pub created: bool,
    /// Number of removed leftovers.
    pub swept: usize,
}

/// Replaces the content of the file at `path`, durably, or creates the file. Refuses a symlink.
pub fn replace_file(path: &Path, content: &[u8], options: &ReplaceOptions) -> Result<Replacement, Failure> {
    let (folder, name) = split(path)?;
    let disk = Disk::open(folder).map_err(Error::io(Step::Inspect, folder))?;
    ReplaceTarget { storage: &disk, path: &name, full_path: path }.replace(content, options)
}

/// Replaces the content of the file at `path` below a root, durably, or creates the file. Refuses a
/// symlink, which could lead out of the root.
pub fn replace_in(
    storage: &dyn Storage,
    path: &RelPath,
    content: &[u8],
    options: &ReplaceOptions,
) -> Result<Replacement, Failure> {
    ReplaceTarget { storage, path, full_path: path.as_path() }.replace(content, options)
}

/// Splits a path into the folder to open and the name in it.
fn split(path: &Path) -> Result<(&Path, RelPath), Error> {
    let is_folder = path.as_os_str().as_encoded_bytes().ends_with(b"/");
    let (Some(folder), Some(name), false) = (path.parent(), path.file_name(), is_folder) else {
        return Err(wrong_kind(path, FileKind::Folder));
    };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    Ok((folder, RelPath::new(name)?))
}

/// The file to replace.
struct ReplaceTarget<'a> {
    storage: &'a dyn Storage,
    path: &'a RelPath,
    /// Path for errors.
    full_path: &'a Path,
}

impl ReplaceTarget<'_> {
    fn replace(&self, content: &[u8], options: &ReplaceOptions) -> Result<Replacement, Failure> {
        let old_mode = match self.storage.stat(self.path).map_err(Error::io(Step::Inspect, self.full_path))? {
            None => None,
            Some(Stat { kind: FileKind::File, mode, .. }) => Some(mode),
            Some(Stat { kind, .. }) => return Err(wrong_kind(self.full_path, kind).into()),
        };
        let (Some(folder), Some(name)) = (self.path.parent(), self.path.name()) else {
            return Err(wrong_kind(self.full_path, FileKind::Folder).into());
        };
        let names = StagedNames::of(name);
        let swept = match options.sweep {
            Sweep::Never => 0,
            Sweep::Leftovers => {
                self.sweep(&folder, &names).map_err(Error::io(Step::SweepReplacements, self.full_path))?
            }
        };

        let first_mode = if old_mode.is_some() { STAGING_MODE } else { options.new_mode };
        let (staged, file) = self
            .create(&folder, &names, first_mode)
            .map_err(Error::io(Step::StageReplacement, self.full_path))?;
        self.fill(&staged, &*file, content, old_mode)
            .inspect_err(|_| drop(self.storage.remove_file(&staged)))?;
        self.place(&staged)?;
        if !Step::SyncReplacedFolder.is_skipped() {
            // A power cut may undo the rename until this sync succeeds.
            self.storage.sync_folder(&folder).map_err(|source| {
                Failure::unknown(Error::io(Step::SyncReplacedFolder, self.full_path)(source))
            })?;
        }
        Ok(Replacement { created: old_mode.is_none(), swept })
    }

    /// 12.1: removes plain files whose names only writers of this target choose.
    fn sweep(&self, folder: &RelPath, names: &StagedNames) -> io::Result<usize> {
        let mut swept = 0;
        for name in self.storage.list(folder)? {
            let leftover = folder.join(&name);
            if names.contains(&name)
                && self.storage.stat(&leftover)?.is_some_and(|found| found.kind == FileKind::File)
            {
                self.storage.remove_file(&leftover)?;
                swept += 1;
            }
        }
        Ok(swept)
    }

    /// 12.2, first half: creates an empty file under a random name.
    fn create(
        &self,
        folder: &RelPath,
        names: &StagedNames,
        mode: u32,
    ) -> io::Result<(RelPath, Box<dyn StoredFile>)> {
        let mut tries = 1;
        loop {
            let staged = folder.join(names.random());
            match self.storage.open(&staged, OpenMode::Create { mode }) {
                Ok(file) => return Ok((staged, file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < NAMES_MAX => tries += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// 12.2, second half, and 12.3.
    fn fill(
        &self,
        staged: &RelPath,
        file: &dyn StoredFile,
        content: &[u8],
        old_mode: Option<u32>,
    ) -> Result<(), Error> {
        let stage_failed = Error::io(Step::StageReplacement, self.full_path);
        file.write_at(content, 0).map_err(&stage_failed)?;
        if let Some(mode) = old_mode {
            self.storage.copy_attributes(self.path, staged).map_err(&stage_failed)?;
            // The mode last: a change of owner clears set-user-id bits, and a read-only file
            // accepts no attributes.
            if mode != STAGING_MODE {
                self.storage.set_mode(staged, mode).map_err(&stage_failed)?;
            }
        }
        if !Step::SyncReplacement.is_skipped() {
            file.sync_all().map_err(Error::io(Step::SyncReplacement, self.full_path))?;
        }
        Ok(())
    }

    /// 12.4.
    fn place(&self, staged: &RelPath) -> Result<(), Failure> {
        let Err(source) = self.storage.rename(staged, self.path, RenameMode::Replace) else { return Ok(()) };
        let error = Error::io(Step::PlaceReplacement, self.full_path)(source);
        match self.storage.remove_file(staged) {
            // The staged file is gone, so the rename took effect although it failed, as on network
            // file systems.
            Err(gone) if gone.kind() == io::ErrorKind::NotFound => Err(Failure::unknown(error)),
            _ => Err(Failure::aborted(error)),
        }
    }
}

/// Names of the staged files of one target: `.<target>.<16 random hex digits>.tmp`.
struct StagedNames {
    before: Vec<u8>,
}

impl StagedNames {
    const RANDOM_LEN: usize = 16;
    const AFTER: &[u8] = b".tmp";

    fn of(target: &OsStr) -> Self {
        let target = target.as_encoded_bytes();
        let room = NAME_BYTES_MAX - b"..".len() - Self::RANDOM_LEN - Self::AFTER.len();
        let mut before = vec![b'.'];
        if target.len() <= room {
            before.extend(target);
        } else {
            // A hash replaces the end, so that two long names with one beginning do not share
            // leftovers.
            let hash = blake3::hash(target).to_hex();
            let hash = &hash.as_bytes()[..16];
            before.extend(&target[..room - hash.len()]);
            before.extend(hash);
        }
        before.push(b'.');
        Self { before }
    }

    /// A name that no one can predict and occupy.
    fn random(&self) -> OsString {
        // Every `RandomState` has random keys, so the hash of nothing is random.
        let random = RandomState::new().hash_one(());
        let mut name = self.before.clone();
        name.extend(format!("{random:016x}").as_bytes());
        name.extend(Self::AFTER);
        os_string(&name)
    }

    fn contains(&self, name: &OsStr) -> bool {
        let random = name
            .as_encoded_bytes()
            .strip_prefix(&*self.before)
            .and_then(|rest| rest.strip_suffix(Self::AFTER));
        random.is_some_and(|random| {
            random.len() == Self::RANDOM_LEN && random.iter().all(|digit| b"0123456789abcdef".contains(digit))
        })
    }
}

fn wrong_kind(path: &Path, found: FileKind) -> Error {
    Error::WrongFileKind { path: path.to_owned(), found, expected: "a plain file" }
}
