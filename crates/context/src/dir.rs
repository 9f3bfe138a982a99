//! Folder of all contexts: paths, locks, and opening a context for reading or writing.
//!
//! ```text
//! contexts/<name>/        one context: its files, and the journal in .txn/
//! contexts/.locks/        one lock file per name, never removed: a lock must outlive its context
//! contexts/.trash/        removed contexts, until their files are deleted
//! ```
//!
//! Lock order: the locks of several contexts are taken together, by (device, inode). A call never
//! waits for one lock while it holds another, except for a fork, which reads its source in chunks
//! while it holds the new context. The source exists and the new context does not, so two forks
//! cannot wait for each other.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use filetx::{
    Disk, FileKind, FolderOptions, Guard, Lock, LockMode, OwnFolder, RelPath, Snapshot, Storage,
    StorageResolver, Wait, acquire_all,
};
use jiff::Timestamp;

use crate::files::Files;
use crate::{Error, MessageId, Name, Notice};

const LOCKS: &str = ".locks";
const TRASH: &str = ".trash";
/// Folders are private to their owner.
const FOLDER_MODE: u32 = 0o700;
/// Maximum number of attempts to read a context whose first writer appears.
const READ_ATTEMPTS_MAX: usize = 4;

/// Source of the current time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Options of contexts.
#[derive(Clone)]
pub struct Options {
    /// Wait for a context's lock.
    pub wait: Wait,
    /// Size of each context's journal in bytes: a larger one needs fewer checkpoints.
    pub journal_bytes: u64,
    /// Source of the current time.
    pub clock: Clock,
}

impl Default for Options {
    fn default() -> Self {
        let now = || {
            let now = Timestamp::now();
            // Milliseconds, like ids.
            Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
        };
        Self { wait: Wait::default(), journal_bytes: 256 * 1024, clock: Arc::new(now) }
    }
}

/// Folder of all contexts.
pub(crate) struct ContextsDir {
    pub(crate) folder: PathBuf,
    find: Option<StorageResolver>,
    pub(crate) options: Options,
}

impl ContextsDir {
    pub(crate) fn new(folder: &Path, find: Option<StorageResolver>, options: Options) -> ContextsDir {
        ContextsDir { folder: folder.to_owned(), find, options }
    }

    pub(crate) fn now(&self) -> Timestamp {
        (self.options.clock)()
    }

    pub(crate) fn new_id(&self) -> MessageId {
        MessageId::generate(None, self.now())
    }

    pub(crate) fn folder_of(&self, name: &Name) -> PathBuf {
        self.folder.join(name.as_str())
    }

    fn lock_path(&self, name: &Name) -> PathBuf {
        self.folder.join(LOCKS).join(format!("{name}.lock"))
    }

    fn storage(&self, folder: &Path) -> io::Result<Arc<dyn Storage>> {
        match &self.find {
            Some(find) => find(folder),
            None => Disk::open(folder).map(|disk| Arc::new(disk) as _),
        }
    }

    /// Opens the folder; `None` if it does not exist yet.
    pub(crate) fn root(&self) -> Result<Option<Arc<dyn Storage>>, Error> {
        match self.storage(&self.folder) {
            Ok(root) => Ok(Some(root)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(self.failed("open", &self.folder, source)),
        }
    }

    /// Opens the folder; creates it and its lock folder if missing.
    pub(crate) fn prepare(&self) -> Result<Arc<dyn Storage>, Error> {
        let failed = |source| self.failed("make", &self.folder, source);
        if self.find.is_none() {
            Disk::create(&self.folder, FOLDER_MODE).map_err(failed)?;
        }
        let root = self.storage(&self.folder).map_err(|source| self.failed("open", &self.folder, source))?;
        if !self.is_folder(&*root, LOCKS)? {
            // The creator of the folder may have died before it was durable. The lock folder is
            // created after that, so its presence proves it; the locks need not survive a power
            // cut.
            if self.find.is_none() {
                self.sync_parents().map_err(failed)?;
            }
            self.create_if_missing(&*root, LOCKS)?;
        }
        Ok(root)
    }

    /// Makes the directory entries of the folder and of the home folder durable.
    fn sync_parents(&self) -> io::Result<()> {
        let folder = std::path::absolute(&self.folder)?;
        folder
            .ancestors()
            .skip(1)
            .take(2)
            .try_for_each(|around| Disk::open(around)?.sync_folder(&RelPath::root()))
    }

    /// Makes the directory entries of all contexts durable: another tool may not have synced its
    /// own.
    pub(crate) fn sync_names(&self, root: &dyn Storage) -> Result<(), Error> {
        root.sync_folder(&RelPath::root()).map_err(|source| self.failed("sync", &self.folder, source))
    }

    fn is_folder(&self, root: &dyn Storage, name: &str) -> Result<bool, Error> {
        let found = root.stat(&RelPath::root().join(name));
        let found = found.map_err(|source| self.failed("look at", &self.folder.join(name), source))?;
        Ok(found.is_some_and(|found| found.kind == FileKind::Folder))
    }

    /// Creates a folder directly below, durably. Returns true if it was missing.
    pub(crate) fn create_folder(&self, root: &dyn Storage, name: &str) -> Result<bool, Error> {
        let is_new = !self.is_folder(root, name)? && self.create_if_missing(root, name)?;
        // Sync an existing folder too: its creator may have died before the sync.
        self.sync_names(root)?;
        Ok(is_new)
    }

    /// Creates a folder directly below. Returns false if another process was faster.
    fn create_if_missing(&self, root: &dyn Storage, name: &str) -> Result<bool, Error> {
        match root.make_folder(&RelPath::root().join(name), FOLDER_MODE) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && self.is_folder(root, name)? => {
                Ok(false)
            }
            made => {
                made.map(|()| true).map_err(|source| self.failed("make", &self.folder.join(name), source))
            }
        }
    }

    /// Returns true if there is a folder of this name.
    pub(crate) fn has_folder(&self, name: &Name) -> Result<bool, Error> {
        let Some(root) = self.root()? else { return Ok(false) };
        self.is_folder(&*root, name.as_str())
    }

    /// Names of all folders that may be contexts, sorted.
    pub(crate) fn names(&self) -> Result<Vec<Name>, Error> {
        let Some(root) = self.root()? else { return Ok(Vec::new()) };
        let listed = root.list(&RelPath::root());
        let listed = listed.map_err(|source| self.failed("list", &self.folder, source))?;
        let mut names: Vec<Name> =
            listed.iter().filter_map(|name| name.to_str()).filter_map(|name| Name::new(name).ok()).collect();
        names.retain(|name| self.has_folder(name).unwrap_or(true));
        names.sort();
        Ok(names)
    }

    /// Opens the folder of a context for writing; [`Error::NotFound`] if there is none.
    #[track_caller]
    pub(crate) fn writer(&self, action: &'static str, name: &Name) -> Result<OwnFolder, Error> {
        let missing = || Error::NotFound { name: name.clone() };
        let root = self.root()?.ok_or_else(missing)?;
        if !self.is_folder(&*root, name.as_str())? {
            return Err(missing());
        }
        if !self.is_folder(&*root, LOCKS)? {
            self.prepare()?;
        }
        self.own_folder(name).map_err(|source| Error::begin(action, name, source))
    }

    /// Opens the existing folder of a context for writing. The next transaction recovers an
    /// interrupted one.
    #[track_caller]
    pub(crate) fn own_folder(&self, name: &Name) -> filetx::Result<OwnFolder> {
        let (journal_bytes, wait) = (self.options.journal_bytes, self.options.wait.clone());
        let options = FolderOptions { journal_bytes, wait, ..FolderOptions::default() };
        let folder = self.folder_of(name);
        match &self.find {
            None => OwnFolder::open_lazy(&folder, &self.lock_path(name), options),
            Some(find) => {
                let storage = find(&folder).map_err(|source| open_error(&folder, source))?;
                OwnFolder::on_storage(storage, &folder, options)
            }
        }
    }

    /// Content that recovery preserved in a context's folder, sorted by file name.
    pub(crate) fn preserved(&self, name: &Name) -> Result<Vec<Notice>, Error> {
        let folder = self.folder_of(name);
        let kept = RelPath::new(filetx::PRESERVED_DIR).expect("a plain path");
        let listed = self.storage(&folder).and_then(|storage| storage.list(&kept));
        let mut names = match listed {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            listed => listed.map_err(|source| self.failed("list", &folder.join(kept.as_path()), source))?,
        };
        names.sort();
        let at = |file| Notice::Preserved {
            name: name.clone(),
            preserved_at: folder.join(kept.as_path()).join(file),
        };
        Ok(names.into_iter().map(at).collect())
    }

    /// Reads a context as of one commit. Writes nothing, so it works on a read-only or full disk.
    #[track_caller]
    pub(crate) fn read<T>(
        &self,
        name: &Name,
        mut work: impl FnMut(Files<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let missing = || Error::NotFound { name: name.clone() };
        for _ in 0..READ_ATTEMPTS_MAX {
            if !self.has_folder(name)? {
                return Err(missing());
            }
            // A writer creates the lock file first. Without a lock file nothing blocks a writer, so
            // one may have started during the read.
            let is_locked = self.has_lock(name);
            let folder = self.folder_of(name);
            let snapshot = match &self.find {
                None => Snapshot::of_folder(&folder, &self.lock_path(name), &self.options.wait),
                Some(find) => find(&folder)
                    .map_err(|source| open_error(&folder, source))
                    .and_then(|storage| Snapshot::of_folder_on_storage(storage, &folder)),
            };
            let snapshot = snapshot.map_err(|source| match &source {
                // Removed after the check above.
                filetx::Error::Io { source: error, .. } if error.kind() == io::ErrorKind::NotFound => {
                    missing()
                }
                _ => Error::files("read", name, source),
            })?;
            let result = work(Files { view: &snapshot, name, folder: &folder });
            if is_locked || !self.has_lock(name) {
                return result;
            }
        }
        let source = io::Error::other("its lock file keeps changing");
        Err(self.failed("read", &self.folder_of(name), source))
    }

    /// Reads a context whose lock the caller holds.
    pub(crate) fn read_locked<T>(
        &self,
        name: &Name,
        work: impl FnOnce(Files<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let folder = self.folder_of(name);
        let failed = |source| Error::files("read", name, source);
        let storage = self.storage(&folder).map_err(|source| failed(open_error(&folder, source)))?;
        let snapshot = Snapshot::of_folder_on_storage(storage, &folder).map_err(failed)?;
        work(Files { view: &snapshot, name, folder: &folder })
    }

    fn has_lock(&self, name: &Name) -> bool {
        self.find.is_some() || self.lock_path(name).exists()
    }

    /// Takes the exclusive locks of some contexts for this thread.
    #[track_caller]
    pub(crate) fn lock(&self, action: &'static str, names: &[&Name]) -> Result<Vec<Guard>, Error> {
        if self.find.is_some() {
            return Ok(Vec::new());
        }
        let failed = |source| Error::files(action, names[0], source);
        let locks = names.iter().map(|name| Lock::open(&self.lock_path(name)));
        let locks = locks.collect::<filetx::Result<Vec<_>>>().map_err(failed)?;
        let wanted: Vec<_> = locks.iter().map(|lock| (lock, LockMode::Exclusive)).collect();
        acquire_all(&wanted, &self.options.wait).map_err(failed)
    }

    /// Moves a folder to the trash, durably, and then deletes it. The caller holds its lock.
    /// Returns the error of the deletion; the next call tries again.
    pub(crate) fn move_to_trash(&self, root: &dyn Storage, name: &Name) -> Result<Option<io::Error>, Error> {
        self.create_folder(root, TRASH)?;
        let trash = RelPath::root().join(TRASH);
        let away = trash.join(self.new_id().to_string());
        // This never replaces a folder: rename replaces empty ones only, and the new name is
        // unique.
        root.rename(&RelPath::root().join(name.as_str()), &away, filetx::RenameMode::Replace)
            .map_err(|source| self.failed("remove", &self.folder_of(name), source))?;
        let synced = root.sync_folder(&RelPath::root()).and_then(|()| root.sync_folder(&trash));
        synced.map_err(|source| Error::Unsynced { name: name.clone(), source })?;
        Ok(self.empty_trash(root).err())
    }

    /// Deletes removed contexts.
    pub(crate) fn empty_trash(&self, root: &dyn Storage) -> io::Result<()> {
        let trash = RelPath::root().join(TRASH);
        match root.list(&trash) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            listed => listed?.iter().try_for_each(|name| remove_tree(root, &trash.join(name))),
        }
    }

    pub(crate) fn failed(&self, action: &'static str, path: &Path, source: io::Error) -> Error {
        Error::Folder { action, path: path.to_owned(), source }
    }
}

/// Deletes a folder tree. Another process may be deleting it too.
fn remove_tree(root: &dyn Storage, path: &RelPath) -> io::Result<()> {
    let gone = |result: io::Result<()>| match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    };
    match root.stat(path)?.map(|found| found.kind) {
        None => Ok(()),
        Some(FileKind::Folder) => {
            let names = match root.list(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                names => names?,
            };
            names.iter().try_for_each(|name| remove_tree(root, &path.join(name)))?;
            gone(root.remove_folder(path))
        }
        Some(_) => gone(root.remove_file(path)),
    }
}

fn open_error(folder: &Path, source: io::Error) -> filetx::Error {
    filetx::Error::Io { step: filetx::Step::Inspect, path: folder.to_owned(), source }
}
