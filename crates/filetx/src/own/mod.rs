//! Own folders: files that only this program writes, committed with one sync.
//!
//! A commit goes to a journal first; one `fdatasync` of the journal makes it durable. Then the
//! files are written, without a sync. Threads of a process share syncs; the lock of the folder
//! excludes other processes.
//!
//! Lock order: the staging permit, the lock file, the mutex of the commit queue, the folder state.
//! The permit holder acquires the lock file; a leader uses it after that.

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
use crate::journal::watermark::{self, Watermark};
use crate::lock::platform;
use crate::lock::registry::AcquireError;
use crate::lock::{Lock, LockMode, SendGuard, Wait};
use crate::root::Root;
use crate::sync::{self, Mutex, MutexGuard};
use crate::tx::change::{Change, Observed};
use crate::tx::view::Overlay;
use crate::tx::{INLINE_BYTES_MAX, Preserved, Transaction};
use crate::{Error, FileId, RelPath, Result, Step};
use group_commit::{CommitOutcome, GroupCommit};
use in_place::FileHandles;
use state::{FolderState, merge};

pub use policy::FolderTransaction;

/// Transaction folder below an own folder.
pub const TXN_DIR: &str = ".txn";
/// Folder below an own folder for the content that recovery preserves, see
/// [`OwnFolder::take_preserved`].
pub const PRESERVED_DIR: &str = ".txn/kept";
/// Maximum time for which a busy process keeps the lock of a folder.
const LOCK_HOLD_MAX: Duration = Duration::from_millis(100);
/// Pause in which other processes can acquire the lock.
const LOCK_PAUSE: Duration = Duration::from_millis(1);

/// Options of an own folder.
#[derive(Clone)]
pub struct FolderOptions {
    /// Size of a new journal in bytes, preallocated. A larger transaction gets a larger journal.
    pub journal_bytes: u64,
    /// Size in bytes up to which the journal doubles whenever this process alone filled it. A
    /// larger journal needs fewer checkpoints.
    pub journal_bytes_max: u64,
    /// Timeout and notice while waiting for the lock.
    pub wait: Wait,
}

impl Default for FolderOptions {
    fn default() -> Self {
        Self { journal_bytes: 256 * 1024, journal_bytes_max: 2 * 1024 * 1024, wait: Wait::default() }
    }
}

/// A folder of files that only this program writes. Cheap to clone; threads that use clones share
/// syncs.
///
/// Thread and process safe. After a fork, open the folder again in the child.
#[derive(Clone)]
pub struct OwnFolder {
    inner: Arc<Inner>,
}

struct Inner {
    root: Root,
    /// `None` if the caller excludes all other users.
    lock: Option<Lock>,
    /// Canonical path and identity of a folder with a lock.
    identity: Option<(PathBuf, FileId)>,
    options: FolderOptions,
    group: GroupCommit<QueuedCommit>,
    state: Mutex<FolderState>,
    /// The lock, with the time at which it was acquired.
    guard: Mutex<Option<(SendGuard, Instant)>>,
    /// Used by the leader, to publish.
    handles: Mutex<FileHandles>,
}

/// A transaction that waits to be written to the journal.
struct QueuedCommit {
    bytes: Vec<u8>,
    offset: u64,
    watermark: Watermark,
    changes: Arc<[Change]>,
}

/// A durable batch that waits to be published.
struct DurableBatch {
    changes: Vec<Arc<[Change]>>,
    watermark: Watermark,
    watermark_file: Arc<dyn StoredFile>,
}

impl OwnFolder {
    /// Opens an existing folder and recovers it. The file `lock` locks it; the lock file must not
    /// be inside a folder that can be removed.
    #[track_caller]
    pub fn open(folder: &Path, lock: &Path, options: FolderOptions) -> Result<Self> {
        let folder = Self::open_lazy(folder, lock, options)?;
        drop(folder.begin()?);
        Ok(folder)
    }

    /// Like [`open`](Self::open), but locks and recovers the folder only in the first
    /// [`begin`](Self::begin).
    pub fn open_lazy(folder: &Path, lock: &Path, options: FolderOptions) -> Result<Self> {
        let failed = Error::io(Step::Inspect, folder);
        let storage = crate::Disk::open(folder).map_err(failed)?;
        let identity = folder.canonicalize().map_err(failed)?;
        let stat = storage.stat(&RelPath::root()).map_err(failed)?;
        let Some(stat) = stat else { return Err(Error::FolderMoved { folder: folder.to_owned() }) };
        let lock = Lock::open(lock)?;
        Ok(Self::new(Arc::new(storage), folder, Some((lock, (identity, stat.id))), options))
    }

    /// Opens a folder on any storage. The caller excludes all other users.
    #[track_caller]
    pub fn on_storage(storage: Arc<dyn Storage>, path: &Path, options: FolderOptions) -> Result<Self> {
        let folder = Self::new(storage, path, None, options);
        drop(folder.begin()?);
        Ok(folder)
    }

    fn new(
        storage: Arc<dyn Storage>,
        path: &Path,
        lock: Option<(Lock, (PathBuf, FileId))>,
        options: FolderOptions,
    ) -> Self {
        let (lock, identity) = lock.unzip();
        let txn_dir = RelPath::new(TXN_DIR).expect("a plain name");
        let inner = Inner {
            root: Root { storage, path: path.to_owned(), txn_dir },
            lock,
            identity,
            options,
            group: GroupCommit::new(),
            state: Mutex::new(FolderState::default()),
            guard: Mutex::new(None),
            handles: Mutex::new(FileHandles::default()),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Begins a transaction. Waits for other threads and processes, and recovers the folder after a
    /// crash of one. Fails with [`Error::FolderMoved`] if another process moved or removed the
    /// folder, which it may do while it holds the lock.
    #[track_caller]
    pub fn begin(&self) -> Result<FolderTransaction<'_>> {
        let inner = &*self.inner;
        let timeout = inner.options.wait.timeout;
        inner
            .group
            .acquire_permit(timeout, Location::caller())
            .map_err(|error| inner.permit_error(error, timeout))?;
        let mut permit = StagingPermit { inner, is_held: true, committed: Arc::default() };
        inner.ensure_lock()?;
        let mut state = inner.state();
        if state.open.is_none() {
            state.refresh(&inner.root, inner.options.journal_bytes)?;
        }
        permit.committed = state.overlay.clone();
        drop(state);
        Ok(Transaction::new(vec![inner.root.clone()], permit))
    }

    /// Returns the content that recovery preserved since the last call: edits that no transaction
    /// recorded.
    pub fn take_preserved(&self) -> Vec<Preserved> {
        std::mem::take(&mut self.inner.state().preserved)
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, FolderState> {
        sync::lock(&self.state)
    }

    fn guard(&self) -> MutexGuard<'_, Option<(SendGuard, Instant)>> {
        sync::lock(&self.guard)
    }

    /// Acquires the lock file unless this process holds it already.
    fn ensure_lock(&self) -> Result<()> {
        let Some(lock) = &self.lock else { return Ok(()) };
        let expired = self.guard().as_ref().is_some_and(|(_, since)| since.elapsed() > LOCK_HOLD_MAX);
        if expired {
            self.group.drain();
            *self.guard() = None;
            std::thread::sleep(LOCK_PAUSE);
        }
        if self.guard().is_some() {
            return Ok(());
        }
        let guard = lock.acquire_send(LockMode::Exclusive, &self.options.wait)?;
        self.check_identity()?;
        *self.guard() = Some((guard, Instant::now()));
        self.state().refresh(&self.root, self.options.journal_bytes)
    }

    /// Checks that the path still names the opened folder. A process that moves a folder holds its
    /// lock, and a process that opens it at its new path uses another lock. Writing through the old
    /// handle would be a second writer.
    fn check_identity(&self) -> Result<()> {
        let Some((folder, id)) = &self.identity else { return Ok(()) };
        let now = self.root.with_step(Step::Inspect, &RelPath::root(), platform::folder_id_at(folder))?;
        if now == Some(*id) { Ok(()) } else { Err(Error::FolderMoved { folder: self.root.path.clone() }) }
    }

    fn release(&self) {
        *self.guard() = None;
    }

    fn permit_error(&self, error: AcquireError, waited: Duration) -> Error {
        let lock = self.root.full_path(&self.root.txn_dir);
        match error {
            AcquireError::AlreadyHeld(at) => Error::AlreadyHeld { lock, at },
            AcquireError::TimedOut => Error::Busy { lock, holder: None, waited },
        }
    }

    /// Makes a batch durable with one sync.
    fn write(&self, mut batch: Vec<QueuedCommit>) -> std::result::Result<DurableBatch, CommitOutcome> {
        let root = &self.root;
        let path = root.in_txn_dir(crate::journal::JOURNAL);
        let (file, watermark_file) = {
            let state = self.state();
            let opened = state.open.as_ref().expect("a transaction was queued, so the journal is open");
            (opened.journal.file.clone(), opened.watermark.clone())
        };
        if let Some((guard, _)) = &*self.guard() {
            guard.check().map_err(|error| CommitOutcome::Aborted(Arc::new(error)))?;
        }
        let offset = batch[0].offset;
        let watermark = batch[batch.len() - 1].watermark;
        let bytes = match &mut *batch {
            [one] => std::mem::take(&mut one.bytes),
            many => many.iter().map(|queued| &*queued.bytes).collect::<Vec<_>>().concat(),
        };
        // 8.1, 8.2: this sync is the commit point.
        let unknown = |error| CommitOutcome::Unknown(Arc::new(error));
        root.with_step(Step::AppendRecord, &path, file.write_at(&bytes, offset)).map_err(unknown)?;
        root.sync_data(Step::SyncRecord, &path, &*file).map_err(unknown)?;
        Ok(DurableBatch {
            changes: batch.into_iter().map(|queued| queued.changes).collect(),
            watermark,
            watermark_file,
        })
    }

    /// 8.3: publishes a batch into the files.
    fn publish(&self, batch: DurableBatch) -> CommitOutcome {
        let publish = || {
            let mut handles = sync::lock(&self.handles);
            match &*batch.changes {
                [one] => in_place::publish(&self.root, one, &mut handles)?,
                many => in_place::publish(&self.root, &merge(many), &mut handles)?,
            }
            watermark::write(&self.root, &*batch.watermark_file, batch.watermark)
        };
        match publish() {
            Ok(()) => {
                self.state().mark_published(batch.changes.len());
                CommitOutcome::Published
            }
            Err(error) => CommitOutcome::Pending(Arc::new(error)),
        }
    }
}

/// The right to stage in an own folder, held by one transaction at a time.
pub struct StagingPermit<'a> {
    inner: &'a Inner,
    is_held: bool,
    /// Changes that other threads committed and that are not in the files yet.
    committed: Arc<Overlay>,
}

impl Drop for StagingPermit<'_> {
    fn drop(&mut self) {
        if self.is_held {
            self.inner.group.release_permit(|| self.inner.release());
        }
    }
}

impl Inner {
    /// Assigns a record its offset in the journal. Only the permit holder calls this.
    fn enqueue(&self, mut record: Record) -> Result<QueuedCommit> {
        let mut state = self.state();
        let Some(opened) = &state.open else { return Err(Error::Superseded) };
        let (mut bytes, mut chain) = record.encode(opened.journal.chain);
        let FolderOptions { journal_bytes, journal_bytes_max, .. } = self.options;
        let capacity_max = journal_bytes_max.max(journal_bytes).max(CAPACITY_BYTES_MIN);
        if !opened.journal.has_room(bytes.len() as u64) || state.needs_checkpoint(capacity_max) {
            drop(state);
            self.group.drain();
            state = self.state();
            if state.open.is_none() {
                return Err(Error::Superseded);
            }
            // The checkpoint drops the previous records, so the state before must be in this
            // record, which may get longer.
            for change in record.changes.iter_mut().filter(|change| change.before == Observed::PreviousRecord)
            {
                change.before = self.root.observe_content(&change.path, INLINE_BYTES_MAX as u64)?;
            }
            let (longer, _) = record.encode(chain);
            if let Err(error) = state.checkpoint(&self.root, longer.len() as u64, capacity_max, record.id) {
                state.reset();
                return Err(error);
            }
            let opened = state.open.as_ref().expect("the checkpoint left it open");
            (bytes, chain) = record.encode(opened.journal.chain);
        }
        let opened = state.open.as_mut().expect("it was just there");
        let offset = opened.journal.offset;
        opened.journal.chain = chain;
        opened.journal.offset += bytes.len() as u64;
        let watermark = Watermark { chain, offset: opened.journal.offset };
        let changes: Arc<[Change]> = record.changes.into();
        Arc::make_mut(&mut state.overlay).apply_all(&changes);
        state.queued.push_back(changes.clone());
        Ok(QueuedCommit { bytes, offset, watermark, changes })
    }
}
