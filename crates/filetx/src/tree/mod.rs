//! User trees: folders that belong to people, changed all-or-nothing over several roots.
//!
//! A commit returns after everything is published and synced and the journal is done. Step numbers
//! are those of `docs/design/file-transaction.md`.
//!
//! Lock order: the lock files of all roots (exclusive) and of the roots above them (shared), by
//! (device, inode).

pub(crate) mod ancestors;
mod classify;
mod decision;
mod policy;
mod probe;
mod publish;
mod recovery;
pub(crate) mod vouch;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::{RenameMode, Storage};
use crate::journal::record::Record;
use crate::journal::{JOURNAL, JournalSteps, pointer};
use crate::lock::{Guard, Lock, LockMode, Wait, acquire_all};
use crate::root::Root;
use crate::tx::{Preserved, Transaction};
use crate::txn_dir;
use crate::{Disk, Error, RelPath, Result, Step};

pub use decision::{Decided, Decision};
use policy::TreeStaging;
pub use policy::TreeTransaction;
pub use vouch::{Claim, ClaimedChange, Verdict, Vouch};
use vouch::{read_record, trusted_pointer, trusted_record};

/// Maximum number of times that pending transactions may add roots to the set.
const ROUNDS_MAX: usize = 8;
/// Default of [`TreeOptions::syncfs_threshold`]. For fewer files, separate syncs cost less than
/// syncing the writes of other programs.
const SYNCFS_THRESHOLD: usize = 64;
/// Maximum number of roots of one transaction.
pub const ROOTS_MAX: usize = 256;

const COMMIT: JournalSteps = JournalSteps {
    write: Step::WriteJournal,
    sync: Step::SyncJournal,
    place: Step::PlaceJournal,
    sync_folder: Step::SyncJournalFolder,
};

/// Options of user trees.
#[derive(Clone)]
pub struct TreeOptions {
    /// Transaction folder below each root. In a git repository, choose a path below an ignored
    /// folder (`.tool/.txn`): `git clean -xdf` does not remove it there.
    pub txn_dir: RelPath,
    /// Mode of new files.
    pub file_mode: u32,
    /// Mode of new folders.
    pub folder_mode: u32,
    /// Timeout and notice while waiting for locks.
    pub wait: Wait,
    /// Number of files or folders from which one `syncfs` replaces their own syncs, on systems
    /// where it reports all errors.
    pub syncfs_threshold: usize,
}

impl Default for TreeOptions {
    fn default() -> Self {
        let txn_dir = RelPath::new(".txn").expect("a plain name");
        let wait = Wait::default();
        Self { txn_dir, file_mode: 0o644, folder_mode: 0o755, wait, syncfs_threshold: SYNCFS_THRESHOLD }
    }
}

/// Folders that belong to people, locked for this thread until dropped.
#[must_use = "the roots stay locked until this is dropped"]
pub struct Trees {
    roots: Vec<Root>,
    options: TreeOptions,
    guards: Vec<Guard>,
    recovered: Vec<RecoveredTransaction>,
}

/// A transaction of an earlier process that recovery finished, or that waits for its
/// acknowledgement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecoveredTransaction {
    /// Id of the transaction.
    pub id: u128,
    /// Data that its owner passed to [`TreeTransaction::commit_for`]; empty without an owner.
    pub owner: Vec<u8>,
    /// Paths that another program changed. The content of the transaction is preserved unless it
    /// was published before that change, or the transaction has none for the path.
    pub preserved: Vec<Preserved>,
}

/// Source of the roots.
pub(crate) enum RootSource {
    /// The file system, with locks.
    Disk,
    /// The caller, who excludes all other users.
    Caller(StorageResolver),
}

/// Opens the storage of a root by its path.
pub type StorageResolver = Arc<dyn Fn(&Path) -> io::Result<Arc<dyn Storage>> + Send + Sync>;

impl Trees {
    /// Locks existing folders and finishes unfinished transactions in them, if the caller vouches
    /// for them. Otherwise nothing is touched, and the call fails.
    #[track_caller]
    pub fn open(paths: &[&Path], options: TreeOptions, vouch: Vouch<'_>) -> Result<Self> {
        let canonical = |path: &&Path| path.canonicalize().map_err(Error::io(Step::Inspect, path));
        let paths = paths.iter().map(canonical).collect::<Result<Vec<_>>>()?;
        Self::start(paths, &RootSource::Disk, options, vouch)
    }

    /// Opens roots on any storage. The caller excludes all other users.
    #[track_caller]
    pub fn on_storage(
        paths: &[&Path],
        resolver: StorageResolver,
        options: TreeOptions,
        vouch: Vouch<'_>,
    ) -> Result<Self> {
        let paths = paths.iter().map(|path| path.to_path_buf()).collect();
        Self::start(paths, &RootSource::Caller(resolver), options, vouch)
    }

    #[track_caller]
    fn start(
        mut paths: Vec<PathBuf>,
        source: &RootSource,
        options: TreeOptions,
        vouch: Vouch<'_>,
    ) -> Result<Self> {
        let requested = paths.len();
        if requested > ROOTS_MAX {
            return Err(Error::LimitExceeded { what: "roots of one transaction", limit: ROOTS_MAX as u64 });
        }
        let duplicate = paths.iter().enumerate().find(|(index, path)| paths[..*index].contains(path));
        if let Some((_, path)) = duplicate {
            return Err(Error::BadPath { path: path.clone(), reason: "this root is given twice" });
        }
        for _ in 0..ROUNDS_MAX {
            let roots = paths.iter().map(|path| source.root(path, &options)).collect::<Result<Vec<_>>>()?;
            let guards = source.lock(&roots, &options)?;
            let pending = Pending::find(&roots, vouch)?;
            let mut missing = pending.missing_roots(&roots);
            missing.extend(source.unfinished_ancestors(&roots, &options, vouch)?);
            if missing.is_empty() {
                let recovered =
                    recovery::recover(&roots, pending.records, &guards, options.syncfs_threshold)?;
                let roots = roots.into_iter().take(requested).collect();
                return Ok(Self { roots, options, guards, recovered });
            }
            // Locks are acquired in one order, so release these first.
            drop(guards);
            paths.extend(missing);
        }
        Err(Error::LimitExceeded {
            what: "the chain of roots of unfinished transactions",
            limit: ROUNDS_MAX as u64,
        })
    }

    /// Returns true if files in a root name this transaction, as unfinished or as not acknowledged.
    /// Follows nothing, waits for no lock and writes nothing; anyone may have written these files.
    pub fn mentions(path: &Path, options: &TreeOptions, find: &StorageResolver, id: u128) -> Result<bool> {
        let root = RootSource::Caller(find.clone()).existing_root(path, options)?;
        Ok(read_record(&root)?.is_some_and(|record| record.id == id)
            || pointer::read(&root)?.is_some_and(|pointer| pointer.id == id)
            || root.stat(&root.in_txn_dir(done_name(id)))?.is_some())
    }

    /// Carries out the decision of a person about the unfinished transaction `id` in one root, for which
    /// nobody vouches. Touches no other root. `approve` is asked about the journal under the lock.
    /// Without an id, sets aside a journal or pointer that cannot be read.
    #[track_caller]
    pub fn decide(
        path: &Path,
        options: &TreeOptions,
        id: Option<u128>,
        decision: Decision,
        approve: Vouch<'_>,
    ) -> Result<Decided> {
        decision::decide(path, options, id, decision, approve)
    }

    /// Begins a transaction over all roots.
    pub fn begin(&mut self) -> TreeTransaction<'_> {
        Transaction::new(self.roots.clone(), TreeStaging::new(self))
    }

    /// Transactions that recovery finished when the roots were opened, and those without
    /// acknowledgement.
    pub fn recovered(&self) -> &[RecoveredTransaction] {
        &self.recovered
    }

    /// Removes the trace of a transaction after its owner recorded the outcome.
    pub fn acknowledge(&mut self, id: u128) -> Result<()> {
        for root in &self.roots {
            root.remove_if_exists(Step::RemoveDone, &root.in_txn_dir(done_name(id)))?;
        }
        self.recovered.retain(|recovered| recovered.id != id);
        Ok(())
    }
}

impl RootSource {
    /// Opens a root, and creates its transaction folder.
    fn root(&self, path: &Path, options: &TreeOptions) -> Result<Root> {
        let root = self.existing_root(path, options)?;
        txn_dir::prepare(&root)?;
        Ok(root)
    }

    /// Opens a root. Writes nothing.
    fn existing_root(&self, path: &Path, options: &TreeOptions) -> Result<Root> {
        let storage: io::Result<Arc<dyn Storage>> = match self {
            RootSource::Disk => Disk::open(path).map(|disk| Arc::new(disk) as Arc<dyn Storage>),
            RootSource::Caller(resolver) => resolver(path),
        };
        let storage = storage.map_err(Error::io(Step::Inspect, path))?;
        let root = Root { storage, path: path.to_owned(), txn_dir: options.txn_dir.clone() };
        txn_dir::check_owner(&root)?;
        Ok(root)
    }

    /// Roots of this user above these with an unfinished transaction, which may be partly published
    /// here.
    fn unfinished_ancestors(
        &self,
        roots: &[Root],
        options: &TreeOptions,
        vouch: Vouch<'_>,
    ) -> Result<BTreeSet<PathBuf>> {
        let mut unfinished = BTreeSet::new();
        if let RootSource::Caller(_) = self {
            return Ok(unfinished);
        }
        for above in roots.iter().flat_map(|root| root.path.ancestors().skip(1)) {
            let is_root = roots.iter().any(|root| root.is_at(above));
            if !is_root && ancestors::existing_lock(above, &options.txn_dir)?.is_some() {
                let root = self.existing_root(above, options)?;
                if trusted_record(&root, vouch)?.is_some() || trusted_pointer(&root, vouch)?.is_some() {
                    unfinished.insert(above.to_owned());
                }
            }
        }
        Ok(unfinished)
    }

    #[track_caller]
    fn lock(&self, roots: &[Root], options: &TreeOptions) -> Result<Vec<Guard>> {
        if let RootSource::Caller(_) = self {
            return Ok(Vec::new());
        }
        let mut locks = Vec::new();
        for root in roots {
            locks.push((open_lock(root)?, LockMode::Exclusive));
            locks.extend(ancestors::locks(&root.path, &options.txn_dir)?);
        }
        let locks: Vec<_> = locks.iter().map(|(lock, mode)| (lock, *mode)).collect();
        acquire_all(&locks, &options.wait)
    }
}

/// Opens the lock of a root, relative to a handle of the folder, so that a transaction folder that
/// was swapped for a symlink gets no lock file elsewhere.
fn open_lock(root: &Root) -> Result<Lock> {
    let disk = Disk::open_for_lookup(&root.path).map_err(Error::io(Step::OpenLock, &root.path))?;
    let found = disk.stat(&RelPath::root()).map_err(Error::io(Step::OpenLock, &root.path))?;
    if found.map(|stat| stat.id) != root.stat(&RelPath::root())?.map(|stat| stat.id) {
        return Err(Error::FolderMoved { folder: root.path.clone() });
    }
    Lock::open_below(Arc::new(disk), &root.path, &root.in_txn_dir(LOCK))
}

/// Name of the lock file in the transaction folder.
pub(crate) const LOCK: &str = "lock";

pub(crate) fn done_name(id: u128) -> String {
    format!("done-{id:032x}")
}

/// Unfinished transactions of open roots, for which the caller vouches.
struct Pending {
    /// The journals, each with the index of its root.
    records: Vec<(usize, Record)>,
    /// Roots with journals that pointers lead to.
    mains: BTreeSet<PathBuf>,
}

impl Pending {
    fn find(roots: &[Root], vouch: Vouch<'_>) -> Result<Self> {
        let mut pending = Self { records: Vec::new(), mains: BTreeSet::new() };
        for (index, root) in roots.iter().enumerate() {
            pending.mains.extend(trusted_pointer(root, vouch)?.map(|pointer| pointer.main));
            pending.records.extend(trusted_record(root, vouch)?.map(|record| (index, record)));
        }
        Ok(pending)
    }

    /// Roots that the transactions name and that are not open.
    fn missing_roots(&self, roots: &[Root]) -> BTreeSet<PathBuf> {
        let mut missing = self.mains.clone();
        for (_, record) in &self.records {
            let others = changed_roots(record).into_iter().skip(1);
            missing.extend(others.map(|index| record.roots[index].clone()));
        }
        missing.retain(|path| !roots.iter().any(|root| root.is_at(path)));
        missing
    }
}

/// Indexes of the roots that a record changes. The first one is the main root.
pub(crate) fn changed_roots(record: &Record) -> BTreeSet<usize> {
    record.changes.iter().map(|change| change.root).collect()
}

/// Steps 6.1 and 6.2: marks the transaction as done, so that recovery never repeats it.
fn mark_done(main: &Root, id: u128) -> Result<()> {
    main.rename(
        Step::MarkDone,
        &main.in_txn_dir(JOURNAL),
        &main.in_txn_dir(done_name(id)),
        RenameMode::Replace,
    )?;
    main.sync_folder(Step::SyncDone, &main.txn_dir)
}
