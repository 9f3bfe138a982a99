//! Making and removing a sandbox.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use filetx::{FileKind, RelPath};

use super::{
    Choice, Copied, CopyOptions, FileError, FileResult, Ignored, copy_tree, make_private_folder, remove_tree,
};
use crate::{Error, Result};

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The folder that the tree is made from.
    pub root: &'a Path,
    /// The sandbox's own folder, which must not be there.
    pub folder: &'a Path,
    /// What becomes of files that git ignores.
    pub ignored: Ignored,
    /// Folders that are never copied, such as the one in which sandboxes are.
    pub left_out: &'a [PathBuf],
    /// Ends the making once it is set.
    pub cancel: &'a AtomicBool,
}

/// A sandbox that is ready.
#[derive(Clone, Debug)]
pub struct Sandbox {
    /// Its own folder.
    pub folder: PathBuf,
    /// Where the actor works.
    pub tree: PathBuf,
    /// Where its temporary files go.
    pub temporary: PathBuf,
    /// What was copied.
    pub copied: Copied,
    /// What is not as one might expect.
    pub notes: Vec<String>,
}

/// A way to make sandboxes.
pub trait Strategy: Send + Sync {
    /// Its name, as configuration has it.
    fn name(&self) -> &'static str;
    /// Makes one. When that fails or is cancelled, nothing is left.
    fn make(&self, wanted: &Wanted<'_>) -> Result<Sandbox>;
    /// Removes one with all that is in it; one that is gone is fine.
    fn remove(&self, folder: &Path, cancel: &AtomicBool) -> Result<()>;
}

/// Copies all files, sharing blocks where the file system can.
#[derive(Clone, Copy, Debug)]
pub struct CopyTree {
    /// How many threads copy.
    pub threads: usize,
}

impl Strategy for CopyTree {
    fn name(&self) -> &'static str {
        "copy"
    }

    fn make(&self, wanted: &Wanted<'_>) -> Result<Sandbox> {
        let failed = |source| Error::Files {
            doing: "make",
            folder: wanted.folder.to_owned(),
            source: Box::new(source),
        };
        if std::fs::symlink_metadata(wanted.folder).is_ok() {
            return Err(failed(FileError::Exists { path: wanted.folder.to_owned() }));
        }
        let root = wanted.root.canonicalize();
        let root = root.map_err(|error| failed(FileError::io("look at", wanted.root, error)))?;
        let made = self.fill(&root, wanted).map_err(failed);
        if made.is_err() {
            // Never cancelled: it is what was asked for. Should it fail, the first error says more.
            drop(remove_tree(wanted.folder, &AtomicBool::new(false)));
        }
        made
    }

    fn remove(&self, folder: &Path, cancel: &AtomicBool) -> Result<()> {
        let failed =
            |source| Error::Files { doing: "remove", folder: folder.to_owned(), source: Box::new(source) };
        remove_tree(folder, cancel).map_err(failed)
    }
}

impl CopyTree {
    fn fill(&self, root: &Path, wanted: &Wanted<'_>) -> FileResult<Sandbox> {
        let mut notes = Vec::new();
        let ignored = match wanted.ignored {
            Ignored::Copy => HashSet::new(),
            _ => ignored_by_git(root).unwrap_or_else(|| {
                notes.push("git does not know this folder, so nothing counts as ignored".to_owned());
                HashSet::new()
            }),
        };
        if root.join(".git").is_file() {
            notes.push("`.git` is a file that leads out of the root, so it is left out".to_owned());
        }
        let choose = |path: &RelPath, kind: FileKind| match path.as_path() {
            // Git's own lock belongs to whoever holds it, not to the copy.
            path if path == Path::new(".git/index.lock") => Choice::LeaveOut,
            path if path == Path::new(".git") && kind == FileKind::File => Choice::LeaveOut,
            path if is_ours(path) || wanted.left_out.contains(&root.join(path)) => Choice::LeaveOut,
            path if ignored.contains(path) => match wanted.ignored {
                Ignored::Link => Choice::Link,
                _ => Choice::LeaveOut,
            },
            _ => Choice::Copy,
        };
        let [tree, temporary] = ["tree", "tmp"].map(|name| wanted.folder.join(name));
        make_private_folder(&temporary)?;
        let options = CopyOptions { threads: self.threads, choose: &choose, cancel: wanted.cancel };
        let copied = copy_tree(root, &tree, &options)?;
        if copied.special > 0 {
            let named: Vec<_> = copied.special_paths.iter().map(ToString::to_string).collect();
            notes.push(format!(
                "{} FIFOs, sockets or devices are left out: {}",
                copied.special,
                named.join(", ")
            ));
        }
        Ok(Sandbox { folder: wanted.folder.to_owned(), tree, temporary, copied, notes })
    }
}

/// What this program keeps in a root for the length of a transaction.
fn is_ours(path: &Path) -> bool {
    path == Path::new(".cleveragents/.txn")
}

/// The files and folders below a root that git ignores; nothing when git or the repository is missing.
fn ignored_by_git(root: &Path) -> Option<HashSet<PathBuf>> {
    let mut git = Command::new("git");
    // A monitor is a program that the repository names: nothing of it is run.
    git.arg("-C").arg(root).args(["-c", "core.fsmonitor=false", "ls-files", "-z"]);
    git.args(["--others", "--ignored", "--exclude-standard", "--directory"]);
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        git.env_remove(variable);
    }
    let output = git.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let names = output.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let path =
        |name: &[u8]| PathBuf::from(std::ffi::OsStr::from_bytes(name.strip_suffix(b"/").unwrap_or(name)));
    output.status.success().then(|| names.map(path).collect())
}
