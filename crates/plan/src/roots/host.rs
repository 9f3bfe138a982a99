//! Access to the roots of plans on one machine.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use filetx::{
    Claim, Decided, Decision, Disk, RelPath, Snapshot, Storage, StorageResolver, TreeOptions, Trees, Vouch,
    Wait,
};
use store::PathBytes;

use crate::roots::{system_path, txn_dir};
use crate::{Error, Machine, Plans, Result};

/// The machine that holds the roots, with the options for its file transactions. Cheap to clone.
#[derive(Clone)]
pub struct Host {
    options: TreeOptions,
    finder: Option<StorageResolver>,
    machine: Machine,
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.machine.fmt(f)
    }
}

impl Host {
    /// The disks of this machine. `wait` limits the wait for locks.
    pub fn local(wait: Wait) -> Self {
        let options = TreeOptions { txn_dir: txn_dir(), wait, ..TreeOptions::default() };
        Self { options, finder: None, machine: Machine::local() }
    }

    /// Any storage, such as a simulated disk. The caller makes sure that no other process uses it.
    pub fn on_storage(finder: StorageResolver, machine: Machine) -> Self {
        Self { finder: Some(finder), machine, ..Self::local(Wait::default()) }
    }

    /// Changes the options of file transactions.
    #[must_use]
    pub fn with_options(self, change: impl FnOnce(&mut TreeOptions)) -> Self {
        let mut options = self.options.clone();
        change(&mut options);
        Self { options, ..self }
    }

    /// The machine.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Locks roots, and finishes interrupted transactions in them for which the plans vouch.
    #[track_caller]
    pub(crate) fn open(&self, plans: &Plans, roots: &[PathBytes]) -> Result<Trees> {
        let paths: Vec<PathBuf> = roots.iter().map(system_path).collect();
        let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
        let vouch = |claim: &Claim<'_>| plans.vouch(self, claim);
        let opened = match &self.finder {
            None => Trees::open(&paths, self.options.clone(), &vouch),
            Some(finder) => Trees::on_storage(&paths, finder.clone(), self.options.clone(), &vouch),
        };
        opened.map_err(|source| Error::Files { source: Box::new(source) })
    }

    /// Reads a root as it will be once interrupted transactions are finished. Writes nothing.
    #[track_caller]
    pub(crate) fn snapshot(&self, plans: &Plans, root: &PathBytes) -> filetx::Result<Snapshot> {
        self.snapshot_with(root, &|claim| plans.vouch(self, claim))
    }

    /// Reads a root, with interrupted transactions for which `vouch` vouches.
    #[track_caller]
    pub(crate) fn snapshot_with(&self, root: &PathBytes, vouch: Vouch<'_>) -> filetx::Result<Snapshot> {
        let path = system_path(root);
        match &self.finder {
            None => Snapshot::of_tree(&path, &self.options.txn_dir, &self.options.wait, vouch),
            Some(finder) => Snapshot::of_tree_on_storage(&path, &self.options.txn_dir, finder, vouch),
        }
    }

    /// Carries out the decision of a person about a transaction in one root.
    #[track_caller]
    pub(crate) fn decide(
        &self,
        root: &Path,
        id: Option<u128>,
        decision: Decision,
        approve: Vouch<'_>,
    ) -> filetx::Result<Decided> {
        Trees::decide(root, &self.options, id, decision, approve)
    }

    /// The mode of new folders.
    pub(crate) fn folder_mode(&self) -> u32 {
        self.options.folder_mode
    }

    /// The inode of a root; `None` if the root cannot be read.
    pub(crate) fn inode(&self, root: &PathBytes) -> Option<u64> {
        let storage = self.resolver()(&system_path(root)).ok()?;
        Some(storage.stat(&RelPath::root()).ok()??.id.inode)
    }

    /// Returns whether files in a root name a transaction. A root that cannot be read has none.
    pub(crate) fn mentions(&self, root: &PathBytes, id: u128) -> bool {
        Trees::mentions(&system_path(root), &self.options, &self.resolver(), id).unwrap_or(false)
    }

    fn resolver(&self) -> StorageResolver {
        let on_disk = || -> StorageResolver {
            Arc::new(|path: &Path| Ok(Arc::new(Disk::open(path)?) as Arc<dyn Storage>))
        };
        self.finder.clone().unwrap_or_else(on_disk)
    }
}
