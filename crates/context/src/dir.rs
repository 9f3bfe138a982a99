//! The folder of all contexts: where things are, locks, and what opens a context to be read or written.
//!
//! ```text
//! contexts/<name>/        one context: its files, and the journal in .txn/
//! contexts/.locks/        one lock file per name, never removed: a lock must not be in a folder that can be
//! contexts/.trash/        removed contexts on their way out
//! ```
//!
//! Lock order: the locks of several contexts are taken together, by (device, inode); no call waits for one lock while it holds another, but
//! for a fork, which reads its source in short turns while it holds the new context. The source exists and the new one does not, so two forks
//! cannot want each other's.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use filetx::{
    Disk, Finder, FolderOptions, Guard, Kind, Lock, Mode, OwnFolder, RelPath, Snapshot, Storage, Wait,
    acquire_all,
};
use jiff::Timestamp;

use crate::files::Files;
use crate::{Error, MessageId, Name, Notice};

const LOCKS: &str = ".locks";
const TRASH: &str = ".trash";
/// Folders are for their owner.
const FOLDER_MODE: u32 = 0o700;
/// How often reading starts again because a first writer appeared.
const READS_MAX: usize = 4;

/// Tells the time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// How contexts are used.
#[derive(Clone)]
pub struct Options {
    /// How to wait for a context's lock.
    pub wait: Wait,
    /// Bytes of each context's journal: the larger, the rarer a checkpoint.
    pub journal_bytes: u64,
    /// Where the time comes from.
    pub clock: Clock,
}

impl Default for Options {
    fn default() -> Self {
        let now = || {
            let now = Timestamp::now();
            // Milliseconds, as ids have them.
            Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
        };
        Self { wait: Wait::default(), journal_bytes: 256 * 1024, clock: Arc::new(now) }
    }
}

/// The folder of all contexts.
pub(crate) struct Ground {
    pub(crate) folder: PathBuf,
    find: Option<Finder>,
    pub(crate) options: Options,
}

impl Ground {
    pub(crate) fn new(folder: &Path, find: Option<Finder>, options: Options) -> Ground {
        Ground { folder: folder.to_owned(), find, options }
    }

    pub(crate) fn now(&self) -> Timestamp {
        (self.options.clock)()
    }

    pub(crate) fn fresh_id(&self) -> MessageId {
        MessageId::fresh(None, self.now())
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

    /// The folder of all contexts; `None` when it does not exist yet.
    pub(crate) fn root(&self) -> Result<Option<Arc<dyn Storage>>, Error> {
        match self.storage(&self.folder) {
            Ok(root) => Ok(Some(root)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(self.failed("open", &self.folder, source)),
        }
    }

    /// The folder of all contexts, made with what belongs in it if it is missing.
    pub(crate) fn prepare(&self) -> Result<Arc<dyn Storage>, Error> {
        let failed = |source| self.failed("make", &self.folder, source);
        if self.find.is_none() {
            Disk::create(&self.folder, FOLDER_MODE).map_err(failed)?;
        }
        let root = self.storage(&self.folder).map_err(|source| self.failed("open", &self.folder, source))?;
        if !self.is_folder(&*root, LOCKS)? {
            // Whoever made the folder may have died before it was durable. The locks come after that, so where they are it is; they need
            // not survive a power cut themselves.
            if self.find.is_none() {
                self.sync_around().map_err(failed)?;
            }
            self.make_missing(&*root, LOCKS)?;
        }
        Ok(root)
    }

    /// Makes the names of the folder of all contexts and of the home folder around it durable.
    fn sync_around(&self) -> io::Result<()> {
        let folder = std::path::absolute(&self.folder)?;
        folder
            .ancestors()
            .skip(1)
            .take(2)
            .try_for_each(|around| Disk::open(around)?.sync_folder(&RelPath::root()))
    }

    /// Makes the names of all contexts durable: of one that another tool made nobody knows whether it is.
    pub(crate) fn sync_names(&self, root: &dyn Storage) -> Result<(), Error> {
        root.sync_folder(&RelPath::root()).map_err(|source| self.failed("sync", &self.folder, source))
    }

    fn is_folder(&self, root: &dyn Storage, name: &str) -> Result<bool, Error> {
        let found = root.stat(&RelPath::root().join(name));
        let found = found.map_err(|source| self.failed("look at", &self.folder.join(name), source))?;
        Ok(found.is_some_and(|found| found.kind == Kind::Folder))
    }

    /// Makes a folder right below; whether it was missing. It is durable then.
    pub(crate) fn make_folder(&self, root: &dyn Storage, name: &str) -> Result<bool, Error> {
        let is_new = !self.is_folder(root, name)? && self.make_missing(root, name)?;
        // Also when it was there: who made it may have died before this.
        self.sync_names(root)?;
        Ok(is_new)
    }

    /// Makes a folder right below that was not there a moment ago; whether nobody else did.
    fn make_missing(&self, root: &dyn Storage, name: &str) -> Result<bool, Error> {
        match root.make_folder(&RelPath::root().join(name), FOLDER_MODE) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && self.is_folder(root, name)? => {
                Ok(false)
            }
            made => {
                made.map(|()| true).map_err(|source| self.failed("make", &self.folder.join(name), source))
            }
        }
    }

    /// Whether there is a folder of this name.
    pub(crate) fn has_folder(&self, name: &Name) -> Result<bool, Error> {
        let Some(root) = self.root()? else { return Ok(false) };
        self.is_folder(&*root, name.as_str())
    }

    /// The names of all folders that may be contexts, sorted.
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

    /// Opens the folder of a context to be written; [`Error::NotFound`] where there is none.
    #[track_caller]
    pub(crate) fn writer(&self, doing: &'static str, name: &Name) -> Result<OwnFolder, Error> {
        let missing = || Error::NotFound { name: name.clone() };
        let root = self.root()?.ok_or_else(missing)?;
        if !self.is_folder(&*root, name.as_str())? {
            return Err(missing());
        }
        if !self.is_folder(&*root, LOCKS)? {
            self.prepare()?;
        }
        self.own_folder(name).map_err(|source| Error::not_begun(doing, name, source))
    }

    /// Opens a context's folder, which exists, to be written. What a killed process left there is finished when a change begins.
    #[track_caller]
    pub(crate) fn own_folder(&self, name: &Name) -> filetx::Result<OwnFolder> {
        let (journal_bytes, wait) = (self.options.journal_bytes, self.options.wait.clone());
        let options = FolderOptions { journal_bytes, wait, ..FolderOptions::default() };
        let folder = self.folder_of(name);
        match &self.find {
            None => OwnFolder::at(&folder, &self.lock_path(name), options),
            Some(find) => {
                let storage = find(&folder).map_err(|source| not_opened(&folder, source))?;
                OwnFolder::on_storage(storage, &folder, options)
            }
        }
    }

    /// Content that recovery preserved in a context's folder, sorted by file name.
    pub(crate) fn preserved(&self, name: &Name) -> Result<Vec<Notice>, Error> {
        let folder = self.folder_of(name);
        let kept = RelPath::new(filetx::FOLDER_KEPT).expect("a plain path");
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

    /// Reads a context as of one commit. Nothing is written, so this works on a read-only or full disk.
    #[track_caller]
    pub(crate) fn read<T>(
        &self,
        name: &Name,
        mut work: impl FnMut(Files<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let missing = || Error::NotFound { name: name.clone() };
        for _ in 0..READS_MAX {
            if !self.has_folder(name)? {
                return Err(missing());
            }
            // Who writes makes the lock file first. Without it nothing holds writers back, and one may have come meanwhile.
            let is_locked = self.has_lock(name);
            let folder = self.folder_of(name);
            let snapshot = match &self.find {
                None => Snapshot::of_folder(&folder, &self.lock_path(name), &self.options.wait),
                Some(find) => find(&folder)
                    .map_err(|source| not_opened(&folder, source))
                    .and_then(|storage| Snapshot::of_folder_on_storage(storage, &folder)),
            };
            let snapshot = snapshot.map_err(|source| match &source {
                // Removed since the look above.
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
        let source = io::Error::other("its lock file comes and goes");
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
        let storage = self.storage(&folder).map_err(|source| failed(not_opened(&folder, source)))?;
        let snapshot = Snapshot::of_folder_on_storage(storage, &folder).map_err(failed)?;
        work(Files { view: &snapshot, name, folder: &folder })
    }

    fn has_lock(&self, name: &Name) -> bool {
        self.find.is_some() || self.lock_path(name).exists()
    }

    /// Takes the locks of some contexts, whole, for this thread.
    #[track_caller]
    pub(crate) fn lock(&self, doing: &'static str, names: &[&Name]) -> Result<Vec<Guard>, Error> {
        if self.find.is_some() {
            return Ok(Vec::new());
        }
        let failed = |source| Error::files(doing, names[0], source);
        let locks = names.iter().map(|name| Lock::open(&self.lock_path(name)));
        let locks = locks.collect::<filetx::Result<Vec<_>>>().map_err(failed)?;
        let wanted: Vec<_> = locks.iter().map(|lock| (lock, Mode::Exclusive)).collect();
        acquire_all(&wanted, &self.options.wait).map_err(failed)
    }

    /// Moves a folder away, durably, and then deletes what was in it. The caller holds its lock. What could not be deleted is tried again by
    /// whoever comes next, and returned.
    pub(crate) fn discard(&self, root: &dyn Storage, name: &Name) -> Result<Option<io::Error>, Error> {
        self.make_folder(root, TRASH)?;
        let trash = RelPath::root().join(TRASH);
        let away = trash.join(self.fresh_id().to_string());
        // A folder is never replaced by this, as only an empty one could be and the new name is not taken.
        root.rename(&RelPath::root().join(name.as_str()), &away, filetx::Rename::Replace)
            .map_err(|source| self.failed("remove", &self.folder_of(name), source))?;
        let synced = root.sync_folder(&RelPath::root()).and_then(|()| root.sync_folder(&trash));
        synced.map_err(|source| Error::Unsynced { name: name.clone(), source })?;
        Ok(self.empty_trash(root).err())
    }

    /// Deletes what was removed.
    pub(crate) fn empty_trash(&self, root: &dyn Storage) -> io::Result<()> {
        let trash = RelPath::root().join(TRASH);
        match root.list(&trash) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            listed => listed?.iter().try_for_each(|name| erase(root, &trash.join(name))),
        }
    }

    pub(crate) fn failed(&self, doing: &'static str, path: &Path, source: io::Error) -> Error {
        Error::Folder { doing, path: path.to_owned(), source }
    }
}

/// Deletes a folder with all that is in it. Somebody else may be at it too.
fn erase(root: &dyn Storage, path: &RelPath) -> io::Result<()> {
    let gone = |result: io::Result<()>| match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    };
    match root.stat(path)?.map(|found| found.kind) {
        None => Ok(()),
        Some(Kind::Folder) => {
            let names = match root.list(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                names => names?,
            };
            names.iter().try_for_each(|name| erase(root, &path.join(name)))?;
            gone(root.remove_folder(path))
        }
        Some(_) => gone(root.remove_file(path)),
    }
}

fn not_opened(folder: &Path, source: io::Error) -> filetx::Error {
    filetx::Error::Io { step: filetx::Step::Inspect, path: folder.to_owned(), source }
}
