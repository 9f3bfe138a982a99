//! The ground that plans are applied to: where roots are found, how they are locked, and on which machine.

use std::path::{Path, PathBuf};

use filetx::{Finder, Snapshot, TreeOptions, Trees, Wait};
use store::PathBytes;

use crate::roots::{system_path, transaction_home};
use crate::{Error, Machine, Result};

/// Where roots are. Cheap to clone.
#[derive(Clone)]
pub struct Ground {
    options: TreeOptions,
    finder: Option<Finder>,
    machine: Machine,
}

impl Ground {
    /// The disks of this machine. Locks are waited for like this.
    pub fn here(wait: Wait) -> Self {
        let options = TreeOptions { home: transaction_home(), wait, ..TreeOptions::default() };
        Self { options, finder: None, machine: Machine::here() }
    }

    /// Any storage. The caller sees to it that nobody else uses it.
    pub fn on_storage(finder: Finder, machine: Machine) -> Self {
        Self { finder: Some(finder), machine, ..Self::here(Wait::default()) }
    }

    /// With other options: how many files are synced together, modes of folders.
    #[must_use]
    pub fn with_options(self, change: impl FnOnce(&mut TreeOptions)) -> Self {
        let mut options = self.options.clone();
        change(&mut options);
        Self { options, ..self }
    }

    /// On which machine it is.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Locks roots, and finishes what an earlier process left unfinished in them.
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

    /// Looks at a root as it will be when what was left unfinished is finished. Nothing is written.
    #[track_caller]
    pub(crate) fn look(&self, root: &PathBytes) -> Result<Snapshot> {
        let path = system_path(root);
        let opened = match &self.finder {
            None => Snapshot::of_tree(&path, &self.options.home, &self.options.wait),
            Some(finder) => Snapshot::of_tree_on_storage(&path, &self.options.home, finder),
        };
        opened.map_err(|source| Error::Files { source: Box::new(source) })
    }
}
