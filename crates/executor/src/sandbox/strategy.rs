//! Making and removing a sandbox.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use filetx::{FileKind, RelPath};

use super::{
    CopyAction, CopyOptions, CopyStats, FileError, FileResult, Ignored, copy_tree, git_reader,
    make_private_folder, remove_tree,
};
use crate::{Error, Result};

/// Options of a new sandbox.
#[derive(Clone, Copy, Debug)]
pub struct SandboxOptions<'a> {
    /// The folder to copy.
    pub root: &'a Path,
    /// The folder of the sandbox, which must not exist.
    pub folder: &'a Path,
    /// Treatment of files that git ignores.
    pub ignored: Ignored,
    /// Folders to exclude, such as the one with all sandboxes.
    pub excluded: &'a [PathBuf],
    /// The longest file, in bytes. A longer one fails the copy.
    pub file_bytes_max: u64,
    /// Cancels the copy once set.
    pub cancel: &'a AtomicBool,
}

/// A sandbox, ready for an actor.
#[derive(Clone, Debug)]
pub struct Sandbox {
    /// The folder of the sandbox.
    pub folder: PathBuf,
    /// The tree where the actor works.
    pub tree: PathBuf,
    /// The folder for its temporary files.
    pub temporary: PathBuf,
    /// Counts of copied files.
    pub copied: CopyStats,
    /// Remarks, such as excluded files.
    pub notes: Vec<String>,
}

/// A way to make sandboxes.
pub trait SandboxStrategy: Send + Sync {
    /// Its name in configuration.
    fn name(&self) -> &'static str;
    /// Makes a sandbox. Leaves nothing if that fails or is cancelled.
    fn make(&self, options: &SandboxOptions<'_>) -> Result<Sandbox>;
    /// Removes a sandbox, if it exists.
    fn remove(&self, folder: &Path, cancel: &AtomicBool) -> Result<()>;
}

/// Copies all files, sharing blocks where the file system can.
#[derive(Clone, Copy, Debug)]
pub struct CopyStrategy {
    /// Number of threads.
    pub threads: usize,
}

impl SandboxStrategy for CopyStrategy {
    fn name(&self) -> &'static str {
        "copy"
    }

    fn make(&self, options: &SandboxOptions<'_>) -> Result<Sandbox> {
        let failed = |source| Error::Sandbox {
            action: "make",
            folder: options.folder.to_owned(),
            source: Box::new(source),
        };
        if std::fs::symlink_metadata(options.folder).is_ok() {
            return Err(failed(FileError::Exists { path: options.folder.to_owned() }));
        }
        let root = options.root.canonicalize();
        let root = root.map_err(|error| failed(FileError::io("read", options.root, error)))?;
        let made = self.fill(&root, options).map_err(failed);
        if made.is_err() {
            // Not cancelled: it is part of cancelling. If it fails, the first error says more.
            drop(remove_tree(options.folder, &AtomicBool::new(false)));
        }
        made
    }

    fn remove(&self, folder: &Path, cancel: &AtomicBool) -> Result<()> {
        let failed =
            |source| Error::Sandbox { action: "remove", folder: folder.to_owned(), source: Box::new(source) };
        remove_tree(folder, cancel).map_err(failed)
    }
}

impl CopyStrategy {
    fn fill(&self, root: &Path, options: &SandboxOptions<'_>) -> FileResult<Sandbox> {
        let mut notes = Vec::new();
        let ignored = match options.ignored {
            Ignored::Copy => HashSet::new(),
            _ => ignored_by_git(root).unwrap_or_else(|reason| {
                let refusal = reason.map_or("does not know this folder".to_owned(), |reason| {
                    format!("does not read this folder ({reason})")
                });
                notes.push(format!("git {refusal}, so no file counts as ignored"));
                HashSet::new()
            }),
        };
        if root.join(".git").is_file() {
            notes.push("`.git` is a file that points outside the root, so it is excluded".to_owned());
        }
        let choose = |path: &RelPath, kind: FileKind| match path.as_path() {
            // The lock belongs to a running git, not to the copy.
            path if path == Path::new(".git/index.lock") => CopyAction::Exclude,
            path if path == Path::new(".git") && kind == FileKind::File => CopyAction::Exclude,
            path if is_transaction_folder(path) || options.excluded.contains(&root.join(path)) => {
                CopyAction::Exclude
            }
            path if ignored.contains(path) => match options.ignored {
                Ignored::Link => CopyAction::Link,
                _ => CopyAction::Exclude,
            },
            _ => CopyAction::Copy,
        };
        let [tree, temporary] = ["tree", "tmp"].map(|name| options.folder.join(name));
        make_private_folder(&temporary)?;
        let copy = CopyOptions {
            threads: self.threads,
            choose: &choose,
            file_bytes_max: options.file_bytes_max,
            cancel: options.cancel,
        };
        let copied = copy_tree(root, &tree, &copy)?;
        if copied.special > 0 {
            let named: Vec<_> = copied.special_paths.iter().map(ToString::to_string).collect();
            notes.push(format!(
                "{} FIFOs, sockets or devices are excluded: {}",
                copied.special,
                named.join(", ")
            ));
        }
        Ok(Sandbox { folder: options.folder.to_owned(), tree, temporary, copied, notes })
    }
}

/// The folder of this program's transactions in a root.
fn is_transaction_folder(path: &Path) -> bool {
    path == Path::new(".cleveragents/.txn")
}

/// The files and folders below a root that git ignores. Returns git's reason if it does not read the
/// root, or none outside a repository.
fn ignored_by_git(root: &Path) -> std::result::Result<HashSet<PathBuf>, Option<String>> {
    let mut git = git_reader(root, "ls-files").ok_or(None)?;
    git.args(["-z", "--others", "--ignored", "--exclude-standard", "--directory"]);
    let output = git.output().map_err(|error| Some(error.to_string()))?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr);
        return Err(reason.lines().next().map(ToOwned::to_owned));
    }
    let names = output.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let path =
        |name: &[u8]| PathBuf::from(std::ffi::OsStr::from_bytes(name.strip_suffix(b"/").unwrap_or(name)));
    Ok(names.map(path).collect())
}
