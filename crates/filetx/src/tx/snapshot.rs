//! Snapshots: read files as of one commit, without writing.
//!
//! A reader holds the lock in shared mode, so no commit is in progress. After a crash during a
//! commit, it reads the journal and sees the files as recovery will leave them. Readers work on
//! full and on read-only disks.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::disk::Storage;
use crate::journal::record::Record;
use crate::lock::{Guard, Lock, LockMode, Wait, acquire_all};
use crate::own::state;
use crate::path::{ToTxPath, TxPath};
use crate::root::Root;
use crate::tree::vouch::{Vouch, trusted_pointer, trusted_record};
use crate::tree::{StorageResolver, ancestors, changed_roots};
use crate::tx::change::{Observed, PathState};
use crate::tx::view::{ContentReader, Overlay, View};
use crate::txn_dir;
use crate::{Disk, Error, RelPath, Result, Step};

/// Files as of one commit. Writers of the root wait while a snapshot exists.
#[must_use = "a snapshot keeps the files locked"]
pub struct Snapshot {
    roots: Vec<Root>,
    overlay: Overlay,
    none: Overlay,
    _guards: Vec<Guard>,
}

impl Snapshot {
    /// Reads an [`OwnFolder`](crate::OwnFolder) with its lock file.
    #[track_caller]
    pub fn of_folder(folder: &Path, lock: &Path, wait: &Wait) -> Result<Self> {
        let lock = Lock::open_existing(lock)?.map(|lock| (lock, LockMode::Shared));
        let guards = lock_shared(lock.as_slice(), wait)?;
        Self::start_folder(disk(folder)?, folder, guards)
    }

    /// Reads an own folder on any storage. The caller excludes writers.
    pub fn of_folder_on_storage(storage: Arc<dyn Storage>, path: &Path) -> Result<Self> {
        Self::start_folder(storage, path, Vec::new())
    }

    fn start_folder(storage: Arc<dyn Storage>, path: &Path, guards: Vec<Guard>) -> Result<Self> {
        let txn_dir = RelPath::new(crate::TXN_DIR).expect("a plain name");
        let root = Root { storage, path: path.to_owned(), txn_dir };
        let overlay = state::pending(&root)?;
        Ok(Self { roots: vec![root], overlay, none: Overlay::default(), _guards: guards })
    }

    /// Reads one root of [`Trees`](crate::Trees) with the transaction folder `txn_dir`. Fails if it
    /// has an unfinished transaction for which the caller does not vouch.
    #[track_caller]
    pub fn of_tree(path: &Path, txn_dir: &RelPath, wait: &Wait, vouch: Vouch<'_>) -> Result<Self> {
        let path = path.canonicalize().map_err(Error::io(Step::Inspect, path))?;
        let mut locks = ancestors::locks(&path, txn_dir)?;
        let own = ancestors::reader_lock(&path, txn_dir)?;
        locks.extend(own.map(|lock| (lock, LockMode::Shared)));
        let guards = lock_shared(&locks, wait)?;
        let open = |path: &Path| Disk::open(path).map(|disk| Arc::new(disk) as _);
        Self::start_tree(&path, txn_dir, &open, vouch, guards)
    }

    /// Reads a root on any storage. The caller excludes writers.
    pub fn of_tree_on_storage(
        path: &Path,
        txn_dir: &RelPath,
        find: &StorageResolver,
        vouch: Vouch<'_>,
    ) -> Result<Self> {
        Self::start_tree(path, txn_dir, &**find, vouch, Vec::new())
    }

    fn start_tree(
        path: &Path,
        txn_dir: &RelPath,
        find: &dyn Fn(&Path) -> io::Result<Arc<dyn Storage>>,
        vouch: Vouch<'_>,
        guards: Vec<Guard>,
    ) -> Result<Self> {
        let open = |path: &Path| -> Result<Root> {
            let storage = find(path).map_err(Error::io(Step::Inspect, path))?;
            let root = Root { storage, path: path.to_owned(), txn_dir: txn_dir.clone() };
            txn_dir::check_owner(&root)?;
            Ok(root)
        };
        let root = open(path)?;
        let mut overlay = Overlay::default();
        let mut overlay_record = |record: Record, index: usize| {
            for change in record.changes.into_iter().filter(|change| change.root == index) {
                overlay.apply(TxPath { root: 0, path: change.path }, change.after);
            }
        };
        if let Some(record) = trusted_record(&root, vouch)? {
            let main = changed_roots(&record).first().copied().unwrap_or(0);
            overlay_record(record, main);
        } else if let Some(pointer) = trusted_pointer(&root, vouch)? {
            let record =
                trusted_record(&open(&pointer.main)?, vouch)?.filter(|record| record.id == pointer.id);
            if let Some(record) = record
                && let Some(index) = record.roots.iter().position(|listed| listed == path)
            {
                overlay_record(record, index);
            }
        }
        Ok(Self { roots: vec![root], overlay, none: Overlay::default(), _guards: guards })
    }

    /// The state of a path.
    pub fn path_state(&self, at: impl ToTxPath) -> Result<PathState> {
        self.view().path_state(&self.checked(at)?)
    }

    /// Observes a path, with the hash of a file.
    pub fn observe(&self, at: impl ToTxPath) -> Result<Observed> {
        self.view().observe(&self.checked(at)?)
    }

    /// The content of a file; `None` if the path does not exist.
    pub fn read(&self, at: impl ToTxPath) -> Result<Option<Vec<u8>>> {
        self.view().read(&self.checked(at)?)
    }

    /// Opens a file to read it in pieces; `None` if the path does not exist.
    pub fn open(&self, at: impl ToTxPath) -> Result<Option<ContentReader>> {
        self.view().open(&self.checked(at)?)
    }

    /// The names in a folder, sorted.
    pub fn list(&self, at: impl ToTxPath) -> Result<Vec<OsString>> {
        self.view().list(&self.checked(at)?)
    }

    fn view(&self) -> View<'_> {
        View { roots: &self.roots, overlays: [&self.none, &self.overlay] }
    }

    fn checked(&self, at: impl ToTxPath) -> Result<TxPath> {
        let at = at.to_tx_path()?;
        if at.root != 0 {
            return Err(Error::BadPath {
                path: at.path.as_path().to_owned(),
                reason: "a snapshot has one root",
            });
        }
        Ok(at)
    }
}

fn disk(folder: &Path) -> Result<Arc<dyn Storage>> {
    Ok(Arc::new(Disk::open(folder).map_err(Error::io(Step::Inspect, folder))?))
}

/// Acquires the locks whose files exist. Without a lock file, no writer has used the root.
#[track_caller]
fn lock_shared(locks: &[(Lock, LockMode)], wait: &Wait) -> Result<Vec<Guard>> {
    let locks: Vec<_> = locks.iter().map(|(lock, mode)| (lock, *mode)).collect();
    acquire_all(&locks, wait)
}
