//! Where the files of a run are, and the trees among them.
//!
//! ```text
//! <folder>/<plan>/base-<run of the system>/<n>/tree    the n-th root as it was when the run began
//! <folder>/<plan>/base-<run of the system>/whole       says that all of these are whole
//! <folder>/<plan>/nodes/<node>/<attempt>/sandbox/      an actor's tree and temporary files
//! <folder>/<plan>/nodes/<node>/<attempt>/output        what it printed
//! <folder>/<plan>/nodes/<node>/<attempt>/stdin         what it reads
//! <folder>/<plan>/socket-<name>                         by what actors speak to the run, as long as it lives
//! ```
//!
//! Every actor's sandbox is made from the base, so that all start from the same content, whatever people do in the roots meanwhile; and the
//! base still has the bytes of what an actor changed. Nothing of it is synced: after a power cut it is made anew.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use plan::boot_id;

use crate::sandbox::{FileResult, create_private_file, make_private_folder, remove_tree};
use crate::{CopyTree, Error, Ignored, Result, Sandbox, Strategy, Wanted};

/// How much of the name of a run of the system is used: enough to tell it from the one before.
const BOOT_CHARS: usize = 8;

/// The files of one plan's run.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    folder: PathBuf,
    strategy: CopyTree,
}

impl Layout {
    pub(crate) fn new(folder: PathBuf) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self { folder, strategy: CopyTree { threads } }
    }

    /// All of them are in here.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The base of this run of the system, by name.
    pub(crate) fn base_name(&self) -> String {
        let boot: String = boot_id().chars().take(BOOT_CHARS).collect();
        format!("base-{boot}")
    }

    fn base(&self) -> PathBuf {
        self.folder.join(self.base_name())
    }

    /// The tree of the base for the n-th root.
    pub(crate) fn base_tree(&self, root: usize) -> PathBuf {
        self.base().join(root.to_string()).join("tree")
    }

    /// Makes the base, unless it is there and whole. Gives what is not as one might expect about it.
    pub(crate) fn make_base(
        &self,
        roots: &[PathBuf],
        ignored: Ignored,
        left_out: &[PathBuf],
        cancel: &AtomicBool,
    ) -> Result<Vec<String>> {
        let (base, mut notes) = (self.base(), Vec::new());
        if base.join("whole").exists() {
            return Ok(notes);
        }
        self.strategy.remove(&base, cancel)?;
        for (number, root) in roots.iter().enumerate() {
            let folder = base.join(number.to_string());
            let made = self.strategy.make(&Wanted { root, folder: &folder, ignored, left_out, cancel })?;
            notes.extend(made.notes);
        }
        files("make", &base, make_private_folder(&base))?;
        files("make", &base, create_private_file(&base.join("whole")).map(drop))?;
        Ok(notes)
    }

    /// The folder of an attempt.
    pub(crate) fn attempt(&self, node: &str, attempt: u32) -> PathBuf {
        self.folder.join("nodes").join(node).join(attempt.to_string())
    }

    pub(crate) fn output(&self, node: &str, attempt: u32) -> PathBuf {
        self.attempt(node, attempt).join("output")
    }

    /// Makes a sandbox from the base.
    pub(crate) fn make_sandbox(
        &self,
        root: usize,
        node: &str,
        attempt: u32,
        cancel: &AtomicBool,
    ) -> Result<Sandbox> {
        let (base, folder) = (self.base_tree(root), self.attempt(node, attempt).join("sandbox"));
        let wanted = Wanted { root: &base, folder: &folder, ignored: Ignored::Copy, left_out: &[], cancel };
        self.strategy.make(&wanted)
    }

    /// Removes the sandbox of an attempt that does not count. Its output stays.
    pub(crate) fn remove_sandbox(&self, node: &str, attempt: u32) -> Result<()> {
        self.strategy.remove(&self.attempt(node, attempt).join("sandbox"), &AtomicBool::new(false))
    }

    /// Removes everything.
    pub(crate) fn remove(&self) -> Result<()> {
        files("remove", &self.folder, remove_tree(&self.folder, &AtomicBool::new(false)))
    }

    /// Removes all sandboxes and the base. Outputs stay.
    pub(crate) fn remove_sandboxes(&self) -> Result<()> {
        for entry in listed(&self.folder) {
            if entry.file_name().is_some_and(|name| name.to_string_lossy().starts_with("base-")) {
                files("remove", &entry, remove_tree(&entry, &AtomicBool::new(false)))?;
            }
        }
        for node in listed(&self.folder.join("nodes")) {
            for attempt in listed(&node) {
                let sandbox = attempt.join("sandbox");
                files("remove", &sandbox, remove_tree(&sandbox, &AtomicBool::new(false)))?;
            }
        }
        Ok(())
    }
}

/// What is in a folder; nothing when it is not there.
fn listed(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// Says which folder it is about.
pub(crate) fn files<T>(doing: &'static str, folder: &Path, result: FileResult<T>) -> Result<T> {
    result.map_err(|source| Error::Files { doing, folder: folder.to_owned(), source: Box::new(source) })
}
