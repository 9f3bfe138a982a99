//! Files of the scopes: path, reading, locking, replacing.
//!
//! **Lock.** The lock file is `.<name>.lock` beside the file that is written, after resolving
//! symlinks: two symlinks to one file share it, and so do processes with different home folders
//! that write one project. Every writer finds it there, but not in a home folder. A person may
//! delete the folder with the lock and the file. So a writer checks the lock again before it
//! replaces the file; if the lock is gone, it writes nothing and fails. A thread holds one lock at
//! a time.
//!
//! **Confinement.** The global file may be a symlink to any path: the symlink stays, and its target
//! is replaced. A project file may be a symlink inside of the project only. It is replaced by
//! handle below the project folder, so a symlink that is swapped in at the last moment is refused
//! too.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use filetx::{
    Disk, Guard, Lock, LockMode, RelPath, ReplaceOptions, Replacement, Storage, Sweep, Wait, replace_file,
    replace_in,
};

use crate::scope::PROJECT_FOLDER;
use crate::{ConfigDirs, Error, FILE_BYTES_MAX, Scope};

/// Maximum number of symlinks in a row, as on Linux.
const SYMLINKS_MAX: usize = 40;
/// Maximum number of lock attempts while a symlink changes.
const RELOCKS_MAX: usize = 8;
/// Folders and files are private to their owner.
const FOLDER_MODE: u32 = 0o700;
/// A project shares the file of the project scope only.
const GITIGNORE_CONTENT: &[u8] = b"*\n!config.toml\n";
const GITIGNORE: &str = ".gitignore";
/// Lock of the `.gitignore`: that of the project scope, if its file is not a symlink.
const GITIGNORE_LOCK: &str = ".config.toml.lock";

/// Resolved file of a scope.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ScopeFile {
    /// Path before resolving symlinks, for messages.
    pub(crate) path: PathBuf,
    /// Path without symlinks.
    real_path: PathBuf,
    /// Project folder without symlinks, for the scopes of a project.
    root: Option<PathBuf>,
}

impl ScopeFile {
    /// Resolves the path of a scope's file. The file need not exist.
    pub(crate) fn find(dirs: &ConfigDirs, scope: Scope) -> Result<ScopeFile, Error> {
        let file = dirs.file(scope)?;
        let real_path = resolve_symlinks(&file)?;
        let root = match (scope, &dirs.project) {
            (Scope::Project | Scope::Local, Some(project)) => Some(resolve_symlinks(project)?),
            _ => None,
        };
        if root.as_ref().is_some_and(|root| !real_path.starts_with(root)) {
            return Err(Error::EscapesProject { file, target: real_path });
        }
        Ok(ScopeFile { path: file, real_path, root })
    }

    /// Reads the content, or `None` if there is no file. Takes no lock: writers replace the whole
    /// file.
    pub(crate) fn read(&self) -> Result<Option<Vec<u8>>, Error> {
        let failed = |source| Error::Read { file: self.path.clone(), source: Arc::new(source) };
        // Check before opening: opening a FIFO would block.
        match fs::metadata(&self.real_path) {
            Ok(found) if !found.is_file() => return Err(Error::NotAFile { file: self.path.clone() }),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        }
        let file = match File::open(&self.real_path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        match filetx::read_bounded(file, FILE_BYTES_MAX) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                Err(Error::TooLarge { file: self.path.clone(), limit: FILE_BYTES_MAX })
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// Fails if the folder is write-protected, even for a user whom the system lets through.
    fn check_folder_writable(&self) -> Result<(), Error> {
        // On Windows the attribute has another meaning for folders.
        self.real_path.parent().filter(|_| cfg!(unix)).map_or(Ok(()), check_writable)
    }

    /// Replaces the content durably. The caller holds the lock.
    pub(crate) fn replace(&self, content: &[u8]) -> Result<Replacement, Error> {
        let options = ReplaceOptions { sweep: Sweep::Leftovers, ..ReplaceOptions::default() };
        self.put(&self.real_path, content, options)
    }

    /// Writes `content` to a new file beside this one, and returns its path. The caller holds the
    /// lock.
    pub(crate) fn save_beside(&self, content: &[u8]) -> Result<PathBuf, Error> {
        let name = self.real_path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let names = (1..).map(|count| match count {
            1 => self.real_path.with_file_name(format!("{name}.edited")),
            count => self.real_path.with_file_name(format!("{name}.edited-{count}")),
        });
        let unused = names.into_iter().find(|path| fs::symlink_metadata(path).is_err());
        let unused = unused.expect("there are more names than files");
        self.put(&unused, content, ReplaceOptions::default())?;
        Ok(unused)
    }

    fn put(&self, path: &Path, content: &[u8], options: ReplaceOptions) -> Result<Replacement, Error> {
        let failed = |failure| Error::Write { file: self.path.clone(), source: Arc::new(failure) };
        let Some(root) = &self.root else {
            return replace_file(path, content, &options).map_err(failed);
        };
        let below = path.strip_prefix(root).expect("a project's file is inside of the project");
        let below = RelPath::new(below).map_err(|error| failed(error.into()))?;
        let disk = Disk::open(root)
            .map_err(|source| Error::Folder { folder: root.clone(), source: Arc::new(source) })?;
        replace_in(&disk, &below, content, &options).map_err(failed)
    }

    /// Path of the lock file, beside the file that is written.
    fn lock_file(&self) -> PathBuf {
        let name = self.real_path.file_name().unwrap_or_default().to_string_lossy();
        self.real_path.with_file_name(format!(".{name}.lock"))
    }
}

/// A file whose lock this thread holds.
#[derive(Debug)]
pub(crate) struct LockedScopeFile {
    pub(crate) file: ScopeFile,
    guard: Guard,
}

impl LockedScopeFile {
    /// Creates missing folders, resolves the file and locks it.
    #[track_caller]
    pub(crate) fn lock(
        dirs: &ConfigDirs,
        scope: Scope,
        wait: &Wait,
        locks: &LockCache,
    ) -> Result<LockedScopeFile, Error> {
        create_folders(dirs, scope, wait)?;
        let mut file = ScopeFile::find(dirs, scope)?;
        for _ in 0..RELOCKS_MAX {
            // Check before the lock file is created there.
            file.check_folder_writable()?;
            let failed = |error| lock_error(&file.path, error);
            let lock = locks.open(scope, file.lock_file()).map_err(failed)?;
            let guard = lock.acquire(LockMode::Exclusive, wait).map_err(failed)?;
            // The symlink may have changed during the wait.
            let now = ScopeFile::find(dirs, scope)?;
            if now == file {
                check_writable(&file.real_path)?;
                return Ok(LockedScopeFile { file, guard });
            }
            file = now;
        }
        let source = io::Error::other("its symlink keeps changing");
        Err(Error::Read { file: file.path, source: Arc::new(source) })
    }

    /// Replaces the file. Fails if the lock was lost.
    pub(crate) fn replace(&self, content: &[u8]) -> Result<Replacement, Error> {
        self.guard.check().map_err(|error| lock_error(&self.file.path, error))?;
        self.file.replace(content)
    }

    /// Releases the lock.
    pub(crate) fn unlock(self) -> ScopeFile {
        drop(self.guard);
        self.file
    }
}

/// Cache of open lock files: opening one costs more than locking it.
#[derive(Clone, Default, Debug)]
pub(crate) struct LockCache(Arc<Mutex<LocksByScope>>);

type LocksByScope = BTreeMap<Scope, (PathBuf, Arc<Lock>)>;

impl LockCache {
    fn open(&self, scope: Scope, path: PathBuf) -> filetx::Result<Arc<Lock>> {
        // A panic leaves one lock or another, each intact.
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

fn lock_error(file: &Path, error: filetx::Error) -> Error {
    let file = file.to_owned();
    match error {
        filetx::Error::Busy { .. } => Error::Busy { file, source: Arc::new(error) },
        filetx::Error::AlreadyHeld { .. } => Error::Nested { file, source: Arc::new(error) },
        error => Error::Prepare { file, source: Arc::new(error) },
    }
}

/// Creates the folder `.cleveragents` of a project, with a `.gitignore` that shares only
/// `config.toml`. Safe among threads and processes. After a failure, the next call completes it.
#[track_caller]
pub fn create_project_folder(project: &Path, wait: &Wait) -> Result<(), Error> {
    let dirs = ConfigDirs { home: project.to_owned(), project: Some(project.to_owned()) };
    create_folders(&dirs, Scope::Project, wait)
}

/// Creates the home folder, or the project folder with its `.gitignore`. Does not create parents,
/// so that a mistyped path fails.
fn create_folders(dirs: &ConfigDirs, scope: Scope, wait: &Wait) -> Result<(), Error> {
    let file = dirs.file(scope)?;
    let folder = file.parent().expect("every file of a scope is in a folder");
    // The last step proves that the folder is complete and durable: its creator may have been
    // killed before that.
    let last = if scope == Scope::Global { file.clone() } else { folder.join(GITIGNORE) };
    if fs::symlink_metadata(last).is_ok() {
        return Ok(());
    }
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let failed = |source| Error::Folder { folder: folder.to_owned(), source: Arc::new(source) };
    let found = match fs::metadata(parent) {
        Ok(found) => Some(found).filter(fs::Metadata::is_dir),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => None,
        Err(error) => return Err(failed(error)),
    };
    let found = found.ok_or_else(|| match scope {
        Scope::Global => Error::NoHome { parent: parent.to_owned() },
        Scope::Project | Scope::Local => Error::NoProject { scope },
    })?;
    if !folder.is_dir() && found.permissions().readonly() {
        return Err(Error::ReadOnly { path: parent.to_owned() });
    }
    if scope == Scope::Global {
        Disk::create(folder, FOLDER_MODE).map_err(failed)?;
        return Disk::open(parent).and_then(|disk| disk.sync_folder(&RelPath::root())).map_err(failed);
    }
    // Create by handle below the project, so that a `.cleveragents` symlink gets nothing.
    let disk = Disk::open(parent).map_err(failed)?;
    let below = RelPath::root().join(PROJECT_FOLDER);
    if disk.stat(&below).map_err(failed)?.is_none() {
        match disk.make_folder(&below, FOLDER_MODE) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made.map_err(failed)?,
        }
    }
    let is_folder =
        disk.stat(&below).map_err(failed)?.is_some_and(|found| found.kind == filetx::FileKind::Folder);
    if is_folder {
        disk.sync_folder(&RelPath::root()).map_err(failed)?;
        write_gitignore(&disk, &below, folder, wait)?;
    }
    Ok(())
}

/// Writes the `.gitignore`. All scopes use one lock for it, so that its holder can remove the
/// leftovers of a killed process.
#[track_caller]
fn write_gitignore(disk: &Disk, below: &RelPath, folder: &Path, wait: &Wait) -> Result<(), Error> {
    let file = folder.join(GITIGNORE);
    let failed = |error| lock_error(&file, error);
    let lock = Lock::open(&folder.join(GITIGNORE_LOCK)).map_err(failed)?;
    let _guard = lock.acquire(LockMode::Exclusive, wait).map_err(failed)?;
    let options = ReplaceOptions { sweep: Sweep::Leftovers, ..ReplaceOptions::default() };
    match replace_in(disk, &below.join(GITIGNORE), GITIGNORE_CONTENT, &options) {
        Ok(_) => Ok(()),
        Err(failure) => Err(Error::Write { file, source: Arc::new(failure) }),
    }
}

/// Resolves symlinks. Keeps the part of the path that does not exist.
fn resolve_symlinks(path: &Path) -> Result<PathBuf, Error> {
    let failed = |source| Error::Read { file: path.to_owned(), source: Arc::new(source) };
    let mut path = std::path::absolute(path).map_err(failed)?;
    for _ in 0..=SYMLINKS_MAX {
        match fs::canonicalize(&path) {
            Ok(real) => return Ok(real),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { break };
        match fs::read_link(&path) {
            // A symlink to a path that does not exist yet.
            Ok(next) => path = folder.join(next),
            Err(_) => return Ok(resolve_symlinks(folder)?.join(name)),
        }
    }
    Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "too many symlinks in a row")))
}
