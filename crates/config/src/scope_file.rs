//! The files of the scopes on the disk: where they really are, reading, locking, replacing.
//!
//! **Lock.** The lock file is `.<name>.lock` beside the file that is really written, after all symlinks: two symlinks to one file share
//! it, and so do processes with different home folders that write one project. It is in the folder of the file and not in the
//! home, because only there every writer finds it. A person may delete that folder, together with the file; so the lock is checked once more
//! before the file is replaced, and a lock that is gone by then is an error and nothing is written. One lock is held at a time.
//!
//! **Confinement.** The global file may be a symlink to anywhere: the symlink stays and its target is replaced. A project's file may lead
//! to another place inside of the project only; it is replaced by handle below the project's folder, so a symlink that is swapped in
//! meanwhile is refused too.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use filetx::{
    Disk, Guard, Lock, Mode, RelPath, ReplaceOptions, Replaced, Storage, Sweep, Wait, replace_file,
    replace_in,
};

use crate::scope::PROJECT_FOLDER;
use crate::{Error, FILE_BYTES_MAX, Places, Scope};

/// How many symlinks in a row are followed: as many as Linux follows.
const LINKS_MAX: usize = 40;
/// How often locking starts again because a symlink was changed meanwhile.
const RELOCKS_MAX: usize = 8;
/// Folders and files are for their owner.
const FOLDER_MODE: u32 = 0o700;
/// What a project's folder shares with others: the project scope only.
const IGNORED: &[u8] = b"*\n!config.toml\n";
const GITIGNORE: &str = ".gitignore";
/// The lock of the `.gitignore`: that of the project scope, if its file is where it usually is.
const IGNORE_LOCK: &str = ".config.toml.lock";

/// The file of a scope, resolved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Target {
    /// As people know it.
    pub(crate) file: PathBuf,
    /// Without symlinks.
    real: PathBuf,
    /// For a project: its folder, without symlinks.
    root: Option<PathBuf>,
}

impl Target {
    /// Finds the file. It need not exist.
    pub(crate) fn find(places: &Places, scope: Scope) -> Result<Target, Error> {
        let file = places.file(scope)?;
        let real = resolved(&file)?;
        let root = match (scope, &places.project) {
            (Scope::Project | Scope::Local, Some(project)) => Some(resolved(project)?),
            _ => None,
        };
        if root.as_ref().is_some_and(|root| !real.starts_with(root)) {
            return Err(Error::LeadsOut { file, target: real });
        }
        Ok(Target { file, real, root })
    }

    /// The content, or `None` if there is no file. Readers take no lock: a file is replaced whole.
    pub(crate) fn read(&self) -> Result<Option<Vec<u8>>, Error> {
        let failed = |source| Error::Read { file: self.file.clone(), source: Arc::new(source) };
        // Look before opening: opening a FIFO would wait for a writer.
        let size = match fs::metadata(&self.real) {
            Ok(found) if !found.is_file() => return Err(Error::NotAFile { file: self.file.clone() }),
            Ok(found) => found.len().min(FILE_BYTES_MAX),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let file = match File::open(&self.real) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        // With room for all of it, so that it is read at once.
        let mut bytes = Vec::with_capacity(size as usize + 1);
        file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > FILE_BYTES_MAX {
            return Err(Error::TooLarge { file: self.file.clone(), limit: FILE_BYTES_MAX });
        }
        Ok(Some(bytes))
    }

    /// Fails when the folder is write-protected, also for those whom the system would let through.
    fn check_folder_writable(&self) -> Result<(), Error> {
        // On Windows the attribute means something else for folders.
        self.real.parent().filter(|_| cfg!(unix)).map_or(Ok(()), check_writable)
    }

    /// Makes `content` the whole content, durably. The caller holds the lock.
    pub(crate) fn replace(&self, content: &[u8]) -> Result<Replaced, Error> {
        let options = ReplaceOptions { sweep: Sweep::Leftovers, ..ReplaceOptions::default() };
        self.put(&self.real, content, options)
    }

    /// Writes `content` to a new file beside this one, and says where. The caller holds the lock.
    pub(crate) fn keep_beside(&self, content: &[u8]) -> Result<PathBuf, Error> {
        let name = self.real.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let names = (1..).map(|count| match count {
            1 => self.real.with_file_name(format!("{name}.edited")),
            count => self.real.with_file_name(format!("{name}.edited-{count}")),
        });
        let free = names.into_iter().find(|path| fs::symlink_metadata(path).is_err());
        let free = free.expect("there are more names than files");
        self.put(&free, content, ReplaceOptions::default())?;
        Ok(free)
    }

    fn put(&self, path: &Path, content: &[u8], options: ReplaceOptions) -> Result<Replaced, Error> {
        let failed = |failure| Error::Write { file: self.file.clone(), source: Arc::new(failure) };
        let Some(root) = &self.root else {
            return replace_file(path, content, &options).map_err(failed);
        };
        let below = path.strip_prefix(root).expect("a project's file is inside of the project");
        let below = RelPath::new(below).map_err(|error| failed(error.into()))?;
        let disk = Disk::open(root)
            .map_err(|source| Error::Folder { folder: root.clone(), source: Arc::new(source) })?;
        replace_in(&disk, &below, content, &options).map_err(failed)
    }

    /// The lock file beside the file that is written.
    fn lock_file(&self) -> PathBuf {
        let name = self.real.file_name().unwrap_or_default().to_string_lossy();
        self.real.with_file_name(format!(".{name}.lock"))
    }
}

/// A target that this thread alone writes.
#[derive(Debug)]
pub(crate) struct LockedTarget {
    pub(crate) target: Target,
    guard: Guard,
}

impl LockedTarget {
    /// Makes the folders that are missing, finds the file and locks it.
    #[track_caller]
    pub(crate) fn lock(
        places: &Places,
        scope: Scope,
        wait: &Wait,
        locks: &Locks,
    ) -> Result<LockedTarget, Error> {
        make_folders(places, scope, wait)?;
        let mut target = Target::find(places, scope)?;
        for _ in 0..RELOCKS_MAX {
            // Before the lock file is made there.
            target.check_folder_writable()?;
            let failed = |error| locking_failed(&target.file, error);
            let lock = locks.open(scope, target.lock_file()).map_err(failed)?;
            let guard = lock.acquire(Mode::Exclusive, wait).map_err(failed)?;
            // The file may have become another one while we waited.
            let now = Target::find(places, scope)?;
            if now == target {
                check_writable(&target.real)?;
                return Ok(LockedTarget { target, guard });
            }
            target = now;
        }
        let source = io::Error::other("its symlink keeps changing");
        Err(Error::Read { file: target.file, source: Arc::new(source) })
    }

    /// Replaces the file, unless the lock was lost.
    pub(crate) fn replace(&self, content: &[u8]) -> Result<Replaced, Error> {
        self.guard.check().map_err(|error| locking_failed(&self.target.file, error))?;
        self.target.replace(content)
    }

    /// Lets others write it.
    pub(crate) fn unlock(self) -> Target {
        drop(self.guard);
        self.target
    }
}

/// The lock files that were opened last, to be used again: opening one costs more than taking it.
#[derive(Clone, Default, Debug)]
pub(crate) struct Locks(Arc<Mutex<LockByScope>>);

type LockByScope = BTreeMap<Scope, (PathBuf, Arc<Lock>)>;

impl Locks {
    fn open(&self, scope: Scope, path: PathBuf) -> filetx::Result<Arc<Lock>> {
        // Whoever panicked here left one lock or another, each whole.
        let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, lock)) = locks.get(&scope)
            && *known == path
        {
            return Ok(Arc::clone(lock));
        }
        let lock = Arc::new(Lock::open(&path)?);
        locks.insert(scope, (path, Arc::clone(&lock)));
        Ok(lock)
    }
}

fn check_writable(path: &Path) -> Result<(), Error> {
    match fs::metadata(path) {
        Ok(found) if found.permissions().readonly() => Err(Error::ReadOnly { path: path.to_owned() }),
        _ => Ok(()),
    }
}

fn locking_failed(file: &Path, error: filetx::Error) -> Error {
    let file = file.to_owned();
    match error {
        filetx::Error::Busy { .. } => Error::Busy { file, source: Arc::new(error) },
        filetx::Error::AlreadyHeld { .. } => Error::Nested { file, source: Arc::new(error) },
        error => Error::Prepare { file, source: Arc::new(error) },
    }
}

/// Makes the folder `.cleveragents` in a project's, with a `.gitignore` that leaves `config.toml` to git and nothing else. Safe among threads
/// and processes; a failure leaves what was made so far, for the next call.
#[track_caller]
pub fn make_project_folder(project: &Path, wait: &Wait) -> Result<(), Error> {
    let places = Places { home: project.to_owned(), project: Some(project.to_owned()) };
    make_folders(&places, Scope::Project, wait)
}

/// Makes the home folder, or the project's folder with its `.gitignore`. The folder around either must exist: a mistyped path is
/// not made real.
fn make_folders(places: &Places, scope: Scope, wait: &Wait) -> Result<(), Error> {
    let file = places.file(scope)?;
    let folder = file.parent().expect("every file of a scope is in a folder");
    // What is made last says that all is there, and durable: whoever made the folder may have been killed before it was.
    let last = if scope == Scope::Global { file.clone() } else { folder.join(GITIGNORE) };
    if fs::symlink_metadata(last).is_ok() {
        return Ok(());
    }
    let around = folder.parent().filter(|around| !around.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let failed = |source| Error::Folder { folder: folder.to_owned(), source: Arc::new(source) };
    let found = match fs::metadata(around) {
        Ok(found) => Some(found).filter(fs::Metadata::is_dir),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => None,
        Err(error) => return Err(failed(error)),
    };
    let found = found.ok_or_else(|| match scope {
        Scope::Global => Error::NoHome { parent: around.to_owned() },
        Scope::Project | Scope::Local => Error::NoProject { scope },
    })?;
    if !folder.is_dir() && found.permissions().readonly() {
        return Err(Error::ReadOnly { path: around.to_owned() });
    }
    if scope == Scope::Global {
        Disk::create(folder, FOLDER_MODE).map_err(failed)?;
        return Disk::open(around).and_then(|disk| disk.sync_folder(&RelPath::root())).map_err(failed);
    }
    // By handle below the project: a `.cleveragents` that leads elsewhere gets nothing.
    let disk = Disk::open(around).map_err(failed)?;
    let below = RelPath::root().join(PROJECT_FOLDER);
    if disk.stat(&below).map_err(failed)?.is_none() {
        match disk.make_folder(&below, FOLDER_MODE) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made.map_err(failed)?,
        }
    }
    let is_folder =
        disk.stat(&below).map_err(failed)?.is_some_and(|found| found.kind == filetx::Kind::Folder);
    if is_folder {
        disk.sync_folder(&RelPath::root()).map_err(failed)?;
        make_ignored(&disk, &below, folder, wait)?;
    }
    Ok(())
}

/// Writes the `.gitignore`. Whoever does so holds one lock, whatever its scope, so that it can sweep away what one that was killed left.
#[track_caller]
fn make_ignored(disk: &Disk, below: &RelPath, folder: &Path, wait: &Wait) -> Result<(), Error> {
    let file = folder.join(GITIGNORE);
    let failed = |error| locking_failed(&file, error);
    let lock = Lock::open(&folder.join(IGNORE_LOCK)).map_err(failed)?;
    let _guard = lock.acquire(Mode::Exclusive, wait).map_err(failed)?;
    let options = ReplaceOptions { sweep: Sweep::Leftovers, ..ReplaceOptions::default() };
    match replace_in(disk, &below.join(GITIGNORE), IGNORED, &options) {
        Ok(_) => Ok(()),
        Err(failure) => Err(Error::Write { file, source: Arc::new(failure) }),
    }
}

/// The path without symlinks. What does not exist is kept as it is spelled, below what does.
fn resolved(path: &Path) -> Result<PathBuf, Error> {
    let failed = |source| Error::Read { file: path.to_owned(), source: Arc::new(source) };
    let mut path = std::path::absolute(path).map_err(failed)?;
    for _ in 0..=LINKS_MAX {
        match fs::canonicalize(&path) {
            Ok(real) => return Ok(real),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { break };
        match fs::read_link(&path) {
            // A symlink to what does not exist yet.
            Ok(next) => path = folder.join(next),
            Err(_) => return Ok(resolved(folder)?.join(name)),
        }
    }
    Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "too many symlinks in a row")))
}
