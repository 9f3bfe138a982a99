//! Files of a run, with its base and its sandboxes.
//!
//! ```text
//! <folder>/<plan>/base-<boot id>/<n>/tree              the n-th root when the run started
//! <folder>/<plan>/base-<boot id>/whole                 marks the base as complete
//! <folder>/<plan>/nodes/<node>/<attempt>/sandbox/      tree and temporary files of an actor
//! <folder>/<plan>/nodes/<node>/<attempt>/output        output of an actor
//! <folder>/<plan>/nodes/<node>/<attempt>/stdin         input of an actor
//! <folder>/<plan>/socket-<name>                        socket of the running run
//! ```
//!
//! Every sandbox is a copy of the base, so that all actors start from the same content whatever people
//! do in the roots; and the base keeps the original of each file that an actor changes. Nothing is
//! synced: after a power failure the run makes the base again.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use plan::boot_id;

use crate::sandbox::{FileResult, create_private_file, make_private_folder, remove_tree};
use crate::{CopyStrategy, Error, Ignored, Result, Sandbox, SandboxOptions, SandboxStrategy};

/// Characters of the boot id in a folder name: enough to tell one boot from the next.
const BOOT_CHARS: usize = 8;

/// The files of one run.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    folder: PathBuf,
    strategy: CopyStrategy,
}

impl Layout {
    pub(crate) fn new(folder: PathBuf) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self { folder, strategy: CopyStrategy { threads } }
    }

    /// The folder with all files of the run.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The name of the base of the present boot.
    pub(crate) fn base_name(&self) -> String {
        let boot: String = boot_id().chars().take(BOOT_CHARS).collect();
        format!("base-{boot}")
    }

    fn base(&self) -> PathBuf {
        self.folder.join(self.base_name())
    }

    /// The base of the n-th root.
    pub(crate) fn base_tree(&self, root: usize) -> PathBuf {
        self.base().join(root.to_string()).join("tree")
    }

    /// Makes the base, unless it is complete. Returns remarks, such as excluded files.
    pub(crate) fn make_base(
        &self,
        roots: &[PathBuf],
        ignored: Ignored,
        excluded: &[PathBuf],
        file_bytes_max: u64,
        cancel: &AtomicBool,
    ) -> Result<Vec<String>> {
        let (base, mut notes) = (self.base(), Vec::new());
        if base.join("whole").exists() {
            return Ok(notes);
        }
        self.strategy.remove(&base, cancel)?;
        for (number, root) in roots.iter().enumerate() {
            let folder = base.join(number.to_string());
            let options = SandboxOptions { root, folder: &folder, ignored, excluded, file_bytes_max, cancel };
            let made = self.strategy.make(&options)?;
            notes.extend(made.notes);
        }
        in_sandbox("make", &base, make_private_folder(&base))?;
        in_sandbox("make", &base, create_private_file(&base.join("whole")).map(drop))?;
        Ok(notes)
    }

    /// The folder of an attempt.
    pub(crate) fn attempt(&self, node: &str, attempt: u32) -> PathBuf {
        self.folder.join("nodes").join(node).join(attempt.to_string())
    }

    pub(crate) fn output(&self, node: &str, attempt: u32) -> PathBuf {
        self.attempt(node, attempt).join("output")
    }

    /// Makes a sandbox, as a copy of the base.
    pub(crate) fn make_sandbox(
        &self,
        root: usize,
        node: &str,
        attempt: u32,
        cancel: &AtomicBool,
    ) -> Result<Sandbox> {
        let (base, folder) = (self.base_tree(root), self.attempt(node, attempt).join("sandbox"));
        let options = SandboxOptions {
            root: &base,
            folder: &folder,
            ignored: Ignored::Copy,
            excluded: &[],
            // The base has no longer ones.
            file_bytes_max: u64::MAX,
            cancel,
        };
        self.strategy.make(&options)
    }

    /// Removes the sandbox of a rejected attempt; keeps its output.
    pub(crate) fn remove_sandbox(&self, node: &str, attempt: u32) -> Result<()> {
        self.strategy.remove(&self.attempt(node, attempt).join("sandbox"), &AtomicBool::new(false))
    }

    /// Removes all files.
    pub(crate) fn remove(&self) -> Result<()> {
        in_sandbox("remove", &self.folder, remove_tree(&self.folder, &AtomicBool::new(false)))
    }

    /// Removes all sandboxes and the base; keeps the output.
    pub(crate) fn remove_sandboxes(&self) -> Result<()> {
        for entry in paths_in(&self.folder) {
            if entry.file_name().is_some_and(|name| name.to_string_lossy().starts_with("base-")) {
                in_sandbox("remove", &entry, remove_tree(&entry, &AtomicBool::new(false)))?;
            }
        }
        for node in paths_in(&self.folder.join("nodes")) {
            for attempt in paths_in(&node) {
                let sandbox = attempt.join("sandbox");
                in_sandbox("remove", &sandbox, remove_tree(&sandbox, &AtomicBool::new(false)))?;
            }
        }
        Ok(())
    }
}

/// The paths in a folder; none if it does not exist.
fn paths_in(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// Adds action and folder to an error.
pub(crate) fn in_sandbox<T>(action: &'static str, folder: &Path, result: FileResult<T>) -> Result<T> {
    result.map_err(|source| Error::Sandbox { action, folder: folder.to_owned(), source: Box::new(source) })
}
