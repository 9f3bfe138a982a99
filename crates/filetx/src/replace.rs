//! Replaces one file, all of it or nothing, without a journal.
//!
//! 12.2 stage the new content beside the target, with the target's mode, owner and attributes; 12.3 sync it; 12.4 rename it over
//! the target; 12.5 sync the folder. Two syncs, never more. Whoever reads meanwhile sees all of the old file or all of the new.
//!
//! A replaced file is a new inode: other hard links of the old one keep the old content. It does not lock: two writers at once
//! are each all-or-nothing, and the later one wins. A killed writer leaves its staged file behind; the next one that holds
//! the target's lock may sweep it away (12.1).

use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::Path;

use crate::disk::{Kind, Open, Rename, Stat, Storage, StoredFile};
use crate::path::{NAME_BYTES_MAX, os_string};
use crate::{Disk, Error, Failure, RelPath, Step};

/// How many names are tried for the staged file. One is enough unless someone guesses 64 random bits.
const NAMES_MAX: usize = 4;
/// The mode of a file that is being staged: nobody else reads it before it has its final owner.
const STAGING_MODE: u32 = 0o600;

/// How to replace a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReplaceOptions {
    /// The mode of a file that did not exist. An existing one keeps its mode.
    pub new_mode: u32,
    /// Whether to remove what killed writers of this file left behind.
    pub sweep: Sweep,
}

impl Default for ReplaceOptions {
    /// Private when new, nothing swept.
    fn default() -> Self {
        Self { new_mode: 0o600, sweep: Sweep::Never }
    }
}

/// Whether to remove what killed writers of this file left behind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sweep {
    /// Leave it: someone may be writing now.
    Never,
    /// Remove it: the caller holds the target's lock, so nobody can be writing now.
    Leftovers,
}

/// What a replacement did. It is durable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Replaced {
    /// Whether there was no file before.
    pub created: bool,
    /// How many leftovers of killed writers were removed.
    pub swept: usize,
}

/// Makes `content` the whole content of the file at `path`, durably. A symlink there is refused.
pub fn replace_file(path: &Path, content: &[u8], options: &ReplaceOptions) -> Result<Replaced, Failure> {
    let (folder, name) = split(path)?;
    let disk = Disk::open(folder).map_err(Error::io(Step::Inspect, folder))?;
    Target { storage: &disk, path: &name, shown: path }.replace(content, options)
}

/// Makes `content` the whole content of the file at `path` below a root, durably. A symlink there is refused: it could lead
/// out of the root.
pub fn replace_in(
    storage: &dyn Storage,
    path: &RelPath,
    content: &[u8],
    options: &ReplaceOptions,
) -> Result<Replaced, Failure> {
    Target { storage, path, shown: path.as_path() }.replace(content, options)
}

/// The folder to open and the name to look for in it.
fn split(path: &Path) -> Result<(&Path, RelPath), Error> {
    let is_folder = path.as_os_str().as_encoded_bytes().ends_with(b"/");
    let (Some(folder), Some(name), false) = (path.parent(), path.file_name(), is_folder) else {
        return Err(wrong_kind(path, Kind::Folder));
    };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    Ok((folder, RelPath::new(name)?))
}

/// The file to replace.
struct Target<'a> {
    storage: &'a dyn Storage,
    path: &'a RelPath,
    /// As errors name it.
    shown: &'a Path,
}

impl Target<'_> {
    fn replace(&self, content: &[u8], options: &ReplaceOptions) -> Result<Replaced, Failure> {
        let kept_mode = match self.storage.stat(self.path).map_err(Error::io(Step::Inspect, self.shown))? {
            None => None,
            Some(Stat { kind: Kind::File, mode, .. }) => Some(mode),
            Some(Stat { kind, .. }) => return Err(wrong_kind(self.shown, kind).into()),
        };
        let (Some(folder), Some(name)) = (self.path.parent(), self.path.name()) else {
            return Err(wrong_kind(self.shown, Kind::Folder).into());
        };
        let names = StagedNames::of(name);
        let swept = match options.sweep {
            Sweep::Never => 0,
            Sweep::Leftovers => {
                self.sweep(&folder, &names).map_err(Error::io(Step::SweepReplacements, self.shown))?
            }
        };

        let first_mode = if kept_mode.is_some() { STAGING_MODE } else { options.new_mode };
        let (staged, file) = self
            .create(&folder, &names, first_mode)
            .map_err(Error::io(Step::StageReplacement, self.shown))?;
        self.fill(&staged, &*file, content, kept_mode)
            .inspect_err(|_| drop(self.storage.remove_file(&staged)))?;
        self.place(&staged)?;
        if !Step::SyncReplacedFolder.is_left_out() {
            // The rename alone may be lost at power failure, or may not: only this sync tells.
            self.storage.sync_folder(&folder).map_err(|source| {
                Failure::unknown(Error::io(Step::SyncReplacedFolder, self.shown)(source))
            })?;
        }
        Ok(Replaced { created: kept_mode.is_none(), swept })
    }

    /// 12.1: only plain files with a name that no writer of another file would choose.
    fn sweep(&self, folder: &RelPath, names: &StagedNames) -> io::Result<usize> {
        let mut swept = 0;
        for name in self.storage.list(folder)? {
            let leftover = folder.join(&name);
            if names.contain(&name)
                && self.storage.stat(&leftover)?.is_some_and(|found| found.kind == Kind::File)
            {
                self.storage.remove_file(&leftover)?;
                swept += 1;
            }
        }
        Ok(swept)
    }

    /// 12.2, first half: an empty file that nobody else has.
    fn create(
        &self,
        folder: &RelPath,
        names: &StagedNames,
        mode: u32,
    ) -> io::Result<(RelPath, Box<dyn StoredFile>)> {
        let mut tries = 1;
        loop {
            let staged = folder.join(names.random());
            match self.storage.open(&staged, Open::Create { mode }) {
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
        kept_mode: Option<u32>,
    ) -> Result<(), Error> {
        let stage_failed = Error::io(Step::StageReplacement, self.shown);
        file.write_at(content, 0).map_err(&stage_failed)?;
        if let Some(mode) = kept_mode {
            self.storage.copy_attributes(self.path, staged).map_err(&stage_failed)?;
            // The mode last: a new owner takes set-user-id bits away, and a read-only file takes no attributes.
            if mode != STAGING_MODE {
                self.storage.set_mode(staged, mode).map_err(&stage_failed)?;
            }
        }
        if !Step::SyncReplacement.is_left_out() {
            file.sync_all().map_err(Error::io(Step::SyncReplacement, self.shown))?;
        }
        Ok(())
    }

    /// 12.4.
    fn place(&self, staged: &RelPath) -> Result<(), Failure> {
        let Err(source) = self.storage.rename(staged, self.path, Rename::Replace) else { return Ok(()) };
        let error = Error::io(Step::PlaceReplacement, self.shown)(source);
        match self.storage.remove_file(staged) {
            // The staged file is not where it was, so the rename was done although it failed: network file systems can.
            Err(gone) if gone.kind() == io::ErrorKind::NotFound => Err(Failure::unknown(error)),
            _ => Err(Failure::aborted(error)),
        }
    }
}

/// The names that files staged for one target have: `.<target>.<16 random hex digits>.tmp`.
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
            // A hash stands for what is cut off, so that two long names with one beginning do not share leftovers.
            let hash = blake3::hash(target).to_hex();
            let hash = &hash.as_bytes()[..16];
            before.extend(&target[..room - hash.len()]);
            before.extend(hash);
        }
        before.push(b'.');
        Self { before }
    }

    /// A name nobody can foresee, so nobody can put something there beforehand to keep us from writing.
    fn random(&self) -> OsString {
        // Every state has keys of its own, drawn from the system's random source, so nothing need be hashed to differ.
        let random = RandomState::new().hash_one(());
        let mut name = self.before.clone();
        name.extend(format!("{random:016x}").as_bytes());
        name.extend(Self::AFTER);
        os_string(&name)
    }

    fn contain(&self, name: &OsStr) -> bool {
        let random = name
            .as_encoded_bytes()
            .strip_prefix(&*self.before)
            .and_then(|rest| rest.strip_suffix(Self::AFTER));
        random.is_some_and(|random| {
            random.len() == Self::RANDOM_LEN && random.iter().all(|digit| b"0123456789abcdef".contains(digit))
        })
    }
}

fn wrong_kind(path: &Path, found: Kind) -> Error {
    Error::WrongKind { path: path.to_owned(), found, expected: "a plain file" }
}
