//! Real folders as values, and copies of them.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, DirEntry};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use filetx::{PathState, RelPath, Snapshot, TreeOptions, Wait};

use crate::journals::trust;
use tempfile::TempDir;

use crate::sim::Node;

/// The contents of a folder, by relative path.
pub type Tree = BTreeMap<String, Node>;

/// Makes a temporary folder, in memory if possible, so that no test waits for a disk.
pub fn scratch() -> TempDir {
    let in_memory = tempfile::tempdir_in("/dev/shm").ok();
    in_memory.unwrap_or_else(|| tempfile::tempdir().expect("a temporary folder is made"))
}

/// Returns all contents of a folder, except those named `without`.
pub fn tree_without(root: &Path, without: &str) -> Tree {
    let mut tree = Tree::new();
    visit(root, &mut |entry| {
        let path = entry.path();
        if entry.file_name() == without {
            return false;
        }
        let name =
            path.strip_prefix(root).expect("it is below").to_str().expect("tests use plain names").to_owned();
        tree.insert(name, node(&path));
        true
    });
    tree
}

/// Returns all contents of a folder.
pub fn tree(root: &Path) -> Tree {
    tree_without(root, "")
}

/// The files of a context without an open transaction.
pub const CONTEXT: [&str; 10] = [
    ".txn",
    ".txn/.gitignore",
    ".txn/journal",
    ".txn/published",
    ".txn/stage",
    "global_context.json",
    "messages.index",
    "messages.jsonl",
    "metadata.json",
    "state.json",
];

/// Lists the files of an idle own folder that are neither in `quiet` nor staged content of a record
/// in its journal.
pub fn leftovers(folder: &Path, quiet: &[&str]) -> Vec<String> {
    let journal = fs::read(folder.join(".txn/journal")).unwrap_or_default();
    let is_recorded = |path: &String| {
        let id = path.strip_prefix(".txn/stage/").and_then(|name| name.split('-').next());
        let id = id.and_then(|id| u128::from_str_radix(id, 16).ok()).map(u128::to_le_bytes);
        id.is_some_and(|id| journal.windows(id.len()).any(|found| found == id))
    };
    tree(folder).into_keys().filter(|path| !quiet.contains(&&**path) && !is_recorded(path)).collect()
}

fn node(path: &Path) -> Node {
    let found = fs::symlink_metadata(path).expect("it was listed");
    let mode = found.mode() & 0o7777;
    if found.is_dir() {
        Node::Folder { mode }
    } else if found.is_symlink() {
        Node::Symlink { target: fs::read_link(path).expect("a symlink reads").into() }
    } else if found.is_file() {
        Node::File { mode, content: fs::read(path).expect("a file reads") }
    } else {
        Node::Other
    }
}

/// Makes `to` a copy of the folder `from`, with modes, symlinks and hard links. Replaces what is at
/// `to`.
pub fn copy(from: &Path, to: &Path) {
    if fs::symlink_metadata(to).is_ok() {
        fs::remove_dir_all(to).expect("the old copy goes");
    }
    fs::create_dir(to).expect("a copy begins");
    let mut named: HashMap<u64, PathBuf> = HashMap::new();
    let mut modes = vec![(to.to_owned(), fs::metadata(from).expect("the original is there").permissions())];
    visit(from, &mut |entry| {
        let source = entry.path();
        let target = to.join(source.strip_prefix(from).expect("it is below"));
        let found = fs::symlink_metadata(&source).expect("it was listed");
        if found.is_dir() {
            fs::create_dir(&target).expect("a folder is made");
            // Set modes last, since files cannot be created in a read-only folder.
            modes.push((target, found.permissions()));
        } else if found.is_symlink() {
            symlink(fs::read_link(&source).expect("a symlink reads"), &target).expect("a symlink is made");
        } else if let Some(first) = named.get(&found.ino()) {
            fs::hard_link(first, &target).expect("a second name is given");
        } else {
            fs::copy(&source, &target).expect("a file is copied");
            named.insert(found.ino(), target);
        }
        true
    });
    for (path, mode) in modes.into_iter().rev() {
        fs::set_permissions(path, fs::Permissions::from_mode(mode.mode())).expect("a mode is set");
    }
}

/// Visits all contents of a folder, parents first; descends only where `each` returns true.
fn visit(folder: &Path, each: &mut dyn FnMut(&DirEntry) -> bool) {
    for entry in fs::read_dir(folder).expect("a folder lists") {
        let entry = entry.expect("a folder lists");
        if each(&entry) && entry.file_type().expect("it was listed").is_dir() {
            visit(&entry.path(), each);
        }
    }
}

/// Returns what a reader sees of several user trees in one folder, each below its name.
pub fn tree_of_roots(folder: &Path, roots: &[&str]) -> filetx::Result<Tree> {
    let mut all = Tree::new();
    for root in roots {
        let snapshot =
            Snapshot::of_tree(&folder.join(root), &TreeOptions::default().txn_dir, &Wait::default(), &trust)?;
        all.extend(tree_of(&snapshot)?.into_iter().map(|(path, node)| (format!("{root}/{path}"), node)));
    }
    Ok(all)
}

/// Returns what a reader sees.
pub fn tree_of(snapshot: &Snapshot) -> filetx::Result<Tree> {
    let mut tree = Tree::new();
    let mut folders = vec![RelPath::root()];
    while let Some(folder) = folders.pop() {
        for name in snapshot.list(&folder)? {
            let path = folder.join(&name);
            let node = match snapshot.path_state(&path)? {
                PathState::File { mode, .. } => {
                    Node::File { mode, content: snapshot.read(&path)?.unwrap_or_default() }
                }
                PathState::Folder { mode } => {
                    folders.push(path.clone());
                    Node::Folder { mode }
                }
                PathState::Symlink { target } => Node::Symlink { target },
                _ => Node::Other,
            };
            tree.insert(path.to_string(), node);
        }
    }
    Ok(tree)
}
