//! Access to the roots of plans on one machine.

use std::path::{Path, PathBuf};

use filetx::{Snapshot, StorageResolver, TreeOptions, Trees, Wait};
use store::PathBytes;

use crate::roots::{system_path, txn_dir};
use crate::{Error, Machine, Result};

/// The machine that holds the roots, with the options for its file transactions. Cheap to clone.
#[derive(Clone)]
pub struct Host {
    options: TreeOptions,
    finder: Option<StorageResolver>,
    machine: Machine,
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

    /// Locks roots, and finishes interrupted transactions in them.
    #[track_caller]
    pub(crate) fn open(&self, roots: &[PathBytes]) -> Result<Trees> {
        let paths: Vec<PathBuf> = roots.iter().map(system_path).collect();
        let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
        let opened = match &self.finder {
            None => Trees::open(&paths, self.options.clone()),
            Some(finder) => Trees::on_storage(&paths, finder.clone(), self.options.clone()),
        };
        opened.map_err(|source| Error::Files { source: Box::new(source) })
    }

    /// Reads a root as it will be once interrupted transactions are finished. Writes nothing.
    #[track_caller]
    pub(crate) fn snapshot(&self, root: &PathBytes) -> Result<Snapshot> {
        let path = system_path(root);
        let opened = match &self.finder {
            None => Snapshot::of_tree(&path, &self.options.txn_dir, &self.options.wait),
            Some(finder) => Snapshot::of_tree_on_storage(&path, &self.options.txn_dir, finder),
        };
        opened.map_err(|source| Error::Files { source: Box::new(source) })
    }
}
