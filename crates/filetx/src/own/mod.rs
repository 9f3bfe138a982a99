//! A folder of files that only this program writes, committed with one sync.
//!
//! Commits go to a journal first; one `fdatasync` of it makes them durable, then the files themselves are written, not synced.
//! The threads of a process share syncs; processes take turns by the folder's lock.
//!
//! Lock order: the turn, then the lock file, then the queue's mutex, then the shelf. A leader has the lock file by the turn that
//! took it.

mod checkpoint;
#[cfg(not(feature = "shuttle"))]
mod group_commit;
#[cfg(feature = "shuttle")]
pub mod group_commit;
mod in_place;
mod policy;
mod recovery;
pub(crate) mod state;

use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::disk::{Storage, StoredFile};
use crate::journal::CAPACITY_BYTES_MIN;
use crate::journal::record::Record;
use crate::journal::watermark::{self, Mark};
use crate::lock::platform;
use crate::lock::registry::Refused;
use crate::lock::{Held, Lock, Mode, Wait};
use crate::root::Root;
use crate::sync::{self, Mutex, MutexGuard};
use crate::tx::change::{Change, Seen};
use crate::tx::view::Overlay;
use crate::tx::{INLINE_BYTES_MAX, Kept, Transaction};
use crate::{Error, FileId, RelPath, Result, Step};
use group_commit::{CommitOutcome, GroupCommit};
use in_place::Handles;
use state::{Shelf, merge};

pub use policy::FolderTransaction;

/// The transaction folder below an own folder.
pub const FOLDER_HOME: &str = ".txn";
/// Folder below an own folder that holds the content recovery preserved, see [`OwnFolder::take_kept`].
pub const FOLDER_KEPT: &str = ".txn/kept";
/// How long a busy process keeps a folder's lock before it lets others have a chance.
const LEASE_MAX: Duration = Duration::from_millis(100);
/// How long that chance is.
const PAUSE: Duration = Duration::from_millis(1);

/// How an own folder is used.
#[derive(Clone)]
pub struct FolderOptions {
    /// Bytes of a new journal, preallocated. It is as large as the largest transaction needs, at least.
    pub journal_bytes: u64,
    /// Up to how many bytes the journal doubles each time this process has filled it alone: the larger, the rarer a checkpoint.
    pub journal_bytes_max: u64,
    /// How to wait for the lock.
    pub wait: Wait,
}

impl Default for FolderOptions {
    fn default() -> Self {
        Self { journal_bytes: 256 * 1024, journal_bytes_max: 2 * 1024 * 1024, wait: Wait::default() }
    }
}

/// A folder of files that only this program writes. Cheap to clone; threads that share one share syncs.
///
/// Thread and process safe. After a fork, open it anew in the child.
#[derive(Clone)]
pub struct OwnFolder {
    inner: Arc<Inner>,
}

struct Inner {
    root: Root,
    /// `None` when the caller sees to it that nobody else is here.
    lock: Option<Lock>,
    /// Where a folder with a lock is, without symlinks, and which folder that was.
    place: Option<(PathBuf, FileId)>,
    options: FolderOptions,
    group: GroupCommit<Queued>,
    shelf: Mutex<Shelf>,
    held: Mutex<Option<(Held, Instant)>>,
    /// Of the leader, who publishes.
    handles: Mutex<Handles>,
}

/// A transaction on its way into the journal.
struct Queued {
    bytes: Vec<u8>,
    offset: u64,
    mark: Mark,
    changes: Arc<[Change]>,
}

/// A batch that is durable, on its way into the files.
struct Written {
    changes: Vec<Arc<[Change]>>,
    mark: Mark,
    mark_file: Arc<dyn StoredFile>,
}

impl OwnFolder {
    /// Opens a folder that exists, locked by the file `lock`, which must not be inside a folder that can be removed. What an
    /// earlier process left unfinished is finished.
    #[track_caller]
    pub fn open(folder: &Path, lock: &Path, options: FolderOptions) -> Result<Self> {
        let folder = Self::at(folder, lock, options)?;
        drop(folder.begin()?);
        Ok(folder)
    }

    /// As [`open`](Self::open), but takes no lock and finishes nothing before the first [`begin`](Self::begin).
    pub fn at(folder: &Path, lock: &Path, options: FolderOptions) -> Result<Self> {
        let failed = Error::io(Step::Inspect, folder);
        let storage = crate::Disk::open(folder).map_err(failed)?;
        let place = folder.canonicalize().map_err(failed)?;
        let stat = storage.stat(&RelPath::root()).map_err(failed)?;
        let Some(stat) = stat else { return Err(Error::FolderGone { folder: folder.to_owned() }) };
        let lock = Lock::open(lock)?;
        Ok(Self::new(Arc::new(storage), folder, Some((lock, (place, stat.id))), options))
    }

    /// Opens a folder on any storage. The caller sees to it that nobody else uses it.
    #[track_caller]
    pub fn on_storage(storage: Arc<dyn Storage>, label: &Path, options: FolderOptions) -> Result<Self> {
        let folder = Self::new(storage, label, None, options);
        drop(folder.begin()?);
        Ok(folder)
    }

    fn new(
        storage: Arc<dyn Storage>,
        label: &Path,
        lock: Option<(Lock, (PathBuf, FileId))>,
        options: FolderOptions,
    ) -> Self {
        let (lock, place) = lock.unzip();
        let home = RelPath::new(FOLDER_HOME).expect("a plain name");
        let inner = Inner {
            root: Root { storage, label: label.to_owned(), home },
            lock,
            place,
            options,
            group: GroupCommit::new(),
            shelf: Mutex::new(Shelf::default()),
            held: Mutex::new(None),
            handles: Mutex::new(Handles::default()),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Begins a transaction, waiting for other threads' and processes' turns. What a process that died left unfinished is
    /// finished first. A folder that was moved or removed since it was opened is [`Error::FolderGone`]: whoever does that holds the
    /// folder's lock meanwhile.
    #[track_caller]
    pub fn begin(&self) -> Result<FolderTransaction<'_>> {
        let inner = &*self.inner;
        let timeout = inner.options.wait.timeout;
        inner
            .group
            .acquire_permit(timeout, Location::caller())
            .map_err(|error| inner.no_turn(error, timeout))?;
        let mut turn = Turn { inner, has_it: true, below: Arc::default() };
        inner.ensure_lock()?;
        let mut shelf = inner.shelf();
        if shelf.open.is_none() {
            shelf.refresh(&inner.root, inner.options.journal_bytes)?;
        }
        turn.below = shelf.overlay.clone();
        drop(shelf);
        Ok(Transaction::new(vec![inner.root.clone()], turn))
    }

    /// What recovery found in the way of its files since this was last asked: content that nobody recorded, put aside.
    pub fn take_kept(&self) -> Vec<Kept> {
        std::mem::take(&mut self.inner.shelf().kept)
    }
}

impl Inner {
    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        sync::lock(&self.shelf)
    }

    fn held(&self) -> MutexGuard<'_, Option<(Held, Instant)>> {
        sync::lock(&self.held)
    }

    /// Takes the lock file unless this process has it from an earlier turn.
    fn ensure_lock(&self) -> Result<()> {
        let Some(lock) = &self.lock else { return Ok(()) };
        let expired = self.held().as_ref().is_some_and(|(_, since)| since.elapsed() > LEASE_MAX);
        if expired {
            self.group.drain();
            *self.held() = None;
            std::thread::sleep(PAUSE);
        }
        if self.held().is_some() {
            return Ok(());
        }
        let held = lock.hold(Mode::Exclusive, &self.options.wait)?;
        self.check_place()?;
        *self.held() = Some((held, Instant::now()));
        self.shelf().refresh(&self.root, self.options.journal_bytes)
    }

    /// The path still leads to the folder that was opened. Who moves or removes a folder has its lock; who opens it where it
    /// is now takes another lock, so going on by the handle would be a second writer, or one into the void.
    fn check_place(&self) -> Result<()> {
        let Some((folder, id)) = &self.place else { return Ok(()) };
        let now = self.root.name(Step::Inspect, &RelPath::root(), platform::folder_id_at(folder))?;
        if now == Some(*id) { Ok(()) } else { Err(Error::FolderGone { folder: self.root.label.clone() }) }
    }

    fn release(&self) {
        *self.held() = None;
    }

    fn no_turn(&self, error: Refused, waited: Duration) -> Error {
        let lock = self.root.show(&self.root.home);
        match error {
            Refused::AlreadyHeld(at) => Error::AlreadyHeld { lock, at },
            Refused::TimedOut => Error::Busy { lock, holder: None, waited },
        }
    }

    /// Makes a batch durable with one sync.
    fn write(&self, mut batch: Vec<Queued>) -> std::result::Result<Written, CommitOutcome> {
        let root = &self.root;
        let path = root.in_home(crate::journal::JOURNAL);
        let (file, mark_file) = {
            let shelf = self.shelf();
            let opened = shelf.open.as_ref().expect("a transaction was queued, so the journal is open");
            (opened.journal.file.clone(), opened.mark.clone())
        };
        if let Some((held, _)) = &*self.held() {
            held.check().map_err(|error| CommitOutcome::Aborted(Arc::new(error)))?;
        }
        let offset = batch[0].offset;
        let mark = batch[batch.len() - 1].mark;
        let bytes = match &mut *batch {
            [one] => std::mem::take(&mut one.bytes),
            many => many.iter().map(|queued| &*queued.bytes).collect::<Vec<_>>().concat(),
        };
        // 8.1, 8.2: behind this sync lies the commit point.
        let unknown = |error| CommitOutcome::Unknown(Arc::new(error));
        root.name(Step::AppendRecord, &path, file.write_at(&bytes, offset)).map_err(unknown)?;
        root.sync_data(Step::SyncRecord, &path, &*file).map_err(unknown)?;
        Ok(Written { changes: batch.into_iter().map(|queued| queued.changes).collect(), mark, mark_file })
    }

    /// 8.3: brings a batch into the files.
    fn publish(&self, batch: Written) -> CommitOutcome {
        let publish = || {
            let mut handles = sync::lock(&self.handles);
            match &*batch.changes {
                [one] => in_place::publish(&self.root, one, &mut handles)?,
                many => in_place::publish(&self.root, &merge(many), &mut handles)?,
            }
            watermark::write(&self.root, &*batch.mark_file, batch.mark)
        };
        match publish() {
            Ok(()) => {
                self.shelf().published(batch.changes.len());
                CommitOutcome::Published
            }
            Err(error) => CommitOutcome::Pending(Arc::new(error)),
        }
    }
}

/// The right to stage in an own folder.
pub struct Turn<'a> {
    inner: &'a Inner,
    has_it: bool,
    /// What other threads committed and is not in the files yet.
    below: Arc<Overlay>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if self.has_it {
            self.inner.group.release_permit(|| self.inner.release());
        }
    }
}

impl Inner {
    /// Gives a record its place in the journal. Only the thread that has the turn calls this.
    fn enqueue(&self, mut record: Record) -> Result<Queued> {
        let mut shelf = self.shelf();
        let Some(opened) = &shelf.open else { return Err(Error::Superseded) };
        let (mut bytes, mut chain) = record.encode(opened.journal.chain);
        let FolderOptions { journal_bytes, journal_bytes_max, .. } = self.options;
        let capacity_max = journal_bytes_max.max(journal_bytes).max(CAPACITY_BYTES_MIN);
        if !opened.journal.has_room(bytes.len() as u64) || shelf.wants_checkpoint(capacity_max) {
            drop(shelf);
            self.group.drain();
            shelf = self.shelf();
            if shelf.open.is_none() {
                return Err(Error::Superseded);
            }
            // What this builds on will no longer be in the journal's records, so it goes into this one, which may get longer.
            for change in record.changes.iter_mut().filter(|change| change.before == Seen::Ours) {
                change.before = self.root.see_bytes(&change.path, INLINE_BYTES_MAX as u64)?;
            }
            let (longer, _) = record.encode(chain);
            if let Err(error) = shelf.checkpoint(&self.root, longer.len() as u64, capacity_max, record.id) {
                shelf.reset();
                return Err(error);
            }
            let opened = shelf.open.as_ref().expect("the checkpoint left it open");
            (bytes, chain) = record.encode(opened.journal.chain);
        }
        let opened = shelf.open.as_mut().expect("it was just there");
        let offset = opened.journal.offset;
        opened.journal.chain = chain;
        opened.journal.offset += bytes.len() as u64;
        let mark = Mark { chain, offset: opened.journal.offset };
        let changes: Arc<[Change]> = record.changes.into();
        Arc::make_mut(&mut shelf.overlay).lay_all(&changes);
        shelf.queued.push_back(changes.clone());
        Ok(Queued { bytes, offset, mark, changes })
    }
}
