//! Folders that belong to people, changed all-or-nothing over several roots.
//!
//! Everything is published and synced, and the journal gone, before a commit returns. Numbers are those of
//! `docs/design/file-transaction.md`.
//!
//! Lock order: the lock files of all roots exclusively, and those of roots above them shared, by (device, inode).

mod classify;
mod policy;
mod publish;
mod recovery;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::{Open, Rename, Storage};
use crate::journal::pointer;
use crate::journal::record::Record;
use crate::journal::{JOURNAL, Journal, Steps};
use crate::lock::{Guard, Lock, Mode, Wait, acquire_all};
use crate::root::Root;
use crate::tx::{Kept, Transaction};
use crate::txn_dir;
use crate::{Disk, Error, RelPath, Result, Step};

use policy::Staging;
pub use policy::TreeTransaction;

/// How often the set of roots may grow while pending transactions over several roots are followed.
const ROUNDS_MAX: usize = 8;
/// Below this, syncs of single files cost less than waiting for what others have written.
const TOGETHER_MIN: usize = 64;
/// The most roots of one transaction.
pub const ROOTS_MAX: usize = 256;

const COMMIT: Steps = Steps {
    write: Step::WriteJournal,
    sync: Step::SyncJournal,
    place: Step::PlaceJournal,
    sync_folder: Step::SyncJournalFolder,
};

/// How user trees are used.
#[derive(Clone)]
pub struct TreeOptions {
    /// The transaction folder below each root. In a git repository, put it below a folder that git ignores (`.tool/.txn`): there
    /// it is safe from `git clean -xdf`.
    pub home: RelPath,
    /// The mode of new files.
    pub file_mode: u32,
    /// The mode of new folders.
    pub folder_mode: u32,
    /// How to wait for locks.
    pub wait: Wait,
    /// From how many files or folders on they are synced together with all else on their file system, where the system has a call
    /// for it, instead of one by one.
    pub together_min: usize,
}

impl Default for TreeOptions {
    fn default() -> Self {
        let home = RelPath::new(".txn").expect("a plain name");
        let wait = Wait::default();
        Self { home, file_mode: 0o644, folder_mode: 0o755, wait, together_min: TOGETHER_MIN }
    }
}

/// Folders of people, locked for this thread until it is dropped.
#[must_use = "the roots are locked as long as this lives"]
pub struct Trees {
    roots: Vec<Root>,
    options: TreeOptions,
    guards: Vec<Guard>,
    recovered: Vec<Recovered>,
}

/// A transaction that an earlier process left, finished now or waiting to be acknowledged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recovered {
    /// Its id.
    pub id: u128,
    /// What its owner gave to [`TreeTransaction::commit_for`]; empty when nobody waits for it.
    pub owner: Vec<u8>,
    /// Paths that somebody else changed meanwhile. Content of ours that never came to its path is aside; where nothing is, it had been there
    /// before theirs, or there is none of it.
    pub kept: Vec<Kept>,
}

/// Where roots come from.
pub(crate) enum Places {
    /// The file system, with locks.
    Disk,
    /// The caller, who sees to it that nobody else is there.
    Caller(Finder),
}

/// Finds the storage of a root by its path.
pub type Finder = Arc<dyn Fn(&Path) -> io::Result<Arc<dyn Storage>> + Send + Sync>;

impl Trees {
    /// Locks folders that exist, and finishes what an earlier process left unfinished in them.
    #[track_caller]
    pub fn open(paths: &[&Path], options: TreeOptions) -> Result<Self> {
        let canonical = |path: &&Path| path.canonicalize().map_err(Error::io(Step::Inspect, path));
        let paths = paths.iter().map(canonical).collect::<Result<Vec<_>>>()?;
        Self::start(paths, &Places::Disk, options)
    }

    /// Opens roots on any storage. The caller sees to it that nobody else uses them.
    #[track_caller]
    pub fn on_storage(paths: &[&Path], find: Finder, options: TreeOptions) -> Result<Self> {
        let paths = paths.iter().map(|path| path.to_path_buf()).collect();
        Self::start(paths, &Places::Caller(find), options)
    }

    #[track_caller]
    fn start(mut paths: Vec<PathBuf>, places: &Places, options: TreeOptions) -> Result<Self> {
        let given = paths.len();
        if given > ROOTS_MAX {
            return Err(Error::TooLarge { what: "roots of one transaction", limit: ROOTS_MAX as u64 });
        }
        let twice = paths.iter().enumerate().find(|(index, path)| paths[..*index].contains(path));
        if let Some((_, path)) = twice {
            return Err(Error::BadPath { path: path.clone(), reason: "this root is given twice" });
        }
        for _ in 0..ROUNDS_MAX {
            let roots = paths.iter().map(|path| places.root(path, &options)).collect::<Result<Vec<_>>>()?;
            let guards = places.lock(&roots, &options)?;
            let mut missing = named_elsewhere(&roots)?;
            missing.extend(places.unfinished_above(&roots, &options)?);
            if missing.is_empty() {
                let recovered = recovery::recover(&roots, &guards, options.together_min)?;
                let roots = roots.into_iter().take(given).collect();
                return Ok(Self { roots, options, guards, recovered });
            }
            // Locks are taken in one order, so these are given back first.
            drop(guards);
            paths.extend(missing);
        }
        Err(Error::TooLarge {
            what: "unfinished transactions that lead from root to root",
            limit: ROUNDS_MAX as u64,
        })
    }

    /// Begins a transaction over all roots.
    pub fn begin(&mut self) -> TreeTransaction<'_> {
        Transaction::new(self.roots.clone(), Staging::new(self))
    }

    /// What was finished when the roots were opened, and what its owner has not acknowledged yet.
    pub fn recovered(&self) -> &[Recovered] {
        &self.recovered
    }

    /// Forgets a transaction whose owner has recorded the outcome.
    pub fn acknowledge(&mut self, id: u128) -> Result<()> {
        for root in &self.roots {
            root.remove_if_there(Step::RemoveDone, &root.in_home(done_name(id)))?;
        }
        self.recovered.retain(|recovered| recovered.id != id);
        Ok(())
    }
}

impl Places {
    fn root(&self, path: &Path, options: &TreeOptions) -> Result<Root> {
        let storage: io::Result<Arc<dyn Storage>> = match self {
            Places::Disk => Disk::open(path).map(|disk| Arc::new(disk) as Arc<dyn Storage>),
            Places::Caller(find) => find(path),
        };
        let storage = storage.map_err(Error::io(Step::Inspect, path))?;
        let root = Root { storage, label: path.to_owned(), home: options.home.clone() };
        txn_dir::prepare(&root)?;
        Ok(root)
    }

    /// Roots that these are inside of and that a transaction was left unfinished in: it may be half in these.
    fn unfinished_above(&self, roots: &[Root], options: &TreeOptions) -> Result<BTreeSet<PathBuf>> {
        let mut unfinished = BTreeSet::new();
        if let Places::Caller(_) = self {
            return Ok(unfinished);
        }
        for above in roots.iter().flat_map(|root| root.label.ancestors().skip(1)) {
            let is_root = roots.iter().any(|root| root.is_at(above));
            if !is_root && above.join(options.home.as_path()).join(LOCK).exists() {
                let root = self.root(above, options)?;
                if root.stat(&root.in_home(JOURNAL))?.is_some() || pointer::read(&root)?.is_some() {
                    unfinished.insert(above.to_owned());
                }
            }
        }
        Ok(unfinished)
    }

    #[track_caller]
    fn lock(&self, roots: &[Root], options: &TreeOptions) -> Result<Vec<Guard>> {
        if let Places::Caller(_) = self {
            return Ok(Vec::new());
        }
        let mut locks = Vec::new();
        for root in roots {
            let name = root.show(&root.in_home(LOCK));
            locks.push((Lock::open(&name)?, Mode::Exclusive));
            locks.extend(locks_above(&root.label, &options.home)?);
        }
        let locks: Vec<_> = locks.iter().map(|(lock, mode)| (lock, *mode)).collect();
        acquire_all(&locks, &options.wait)
    }
}

/// The locks of roots that a root is inside of: a transaction of the outer one must not run at the same time.
pub(crate) fn locks_above(path: &Path, home: &RelPath) -> Result<Vec<(Lock, Mode)>> {
    let lock_of = |above: &Path| Lock::open_existing(&above.join(home.as_path()).join(LOCK));
    let found = path.ancestors().skip(1).filter_map(|above| lock_of(above).transpose());
    found.map(|lock| lock.map(|lock| (lock, Mode::Shared))).collect()
}

/// The lock's name in the transaction folder.
pub(crate) const LOCK: &str = "lock";

pub(crate) fn done_name(id: u128) -> String {
    format!("done-{id:032x}")
}

/// Roots that unfinished transactions of these roots name and that are not among them.
fn named_elsewhere(roots: &[Root]) -> Result<BTreeSet<PathBuf>> {
    let mut named = BTreeSet::new();
    for root in roots {
        named.extend(pointer::read(root)?.map(|pointer| pointer.main));
        if let Some(record) = read_record(root)? {
            named.extend(touched(&record).into_iter().skip(1).map(|index| record.roots[index].clone()));
        }
    }
    named.retain(|path| !roots.iter().any(|root| root.is_at(path)));
    Ok(named)
}

/// The one record of a tree's journal.
pub(crate) fn read_record(root: &Root) -> Result<Option<Record>> {
    let Some(mut journal) = Journal::open(root, Open::Read)? else { return Ok(None) };
    // It was renamed into place whole and synced: a record that does not fit is damage, not a tear.
    let damaged =
        || Error::Damaged { path: root.show(&root.in_home(JOURNAL)), reason: "its record does not hold" };
    journal.next(root)?.ok_or_else(damaged).map(Some)
}

/// The roots a record changes, the main one first.
pub(crate) fn touched(record: &Record) -> BTreeSet<usize> {
    record.changes.iter().map(|change| change.root).collect()
}

/// Step 6.1, 6.2: from here on the transaction is never carried out again.
fn mark_done(main: &Root, id: u128) -> Result<()> {
    main.rename(Step::MarkDone, &main.in_home(JOURNAL), &main.in_home(done_name(id)), Rename::Replace)?;
    main.sync_folder(Step::SyncDone, &main.home)
}
