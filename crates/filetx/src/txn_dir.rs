//! The transaction folder of a root: created once, durable before its first use.

use std::io;

use crate::disk::OpenMode;
use crate::root::{OUR_FILE_MODE, OUR_FOLDER_MODE, Root};
use crate::{Error, RelPath, Result, Step};

/// Name of the staging folder in the transaction folder.
pub(crate) const STAGE: &str = "stage";
/// Name of the folder in the transaction folder for preserved content.
pub(crate) const KEPT: &str = "kept";

/// Created last: its existence proves that the folder and its name are durable.
const READY: &str = ".gitignore";

/// Creates the transaction folder and the staging folder in it.
pub(crate) fn prepare(root: &Root) -> Result<()> {
    // Git keeps no empty folder: a repository that carries the rest of this one has no `stage`.
    let exists = |name| Ok(root.stat(&root.in_txn_dir(name))?.is_some());
    if exists(READY)? && exists(STAGE)? {
        return Ok(());
    }
    let make = |folder: &RelPath| root.make_folders(Step::MakeTxnDir, folder, OUR_FOLDER_MODE);
    make(&root.in_txn_dir(STAGE))?;
    // `git clean -xdf` would remove the folder, but it skips nested repositories. A nested
    // repository must be below an ignored folder, so this does not apply directly below the root.
    if root.txn_dir.depth() > 1 {
        let git = root.in_txn_dir(".git");
        make(&git.join("objects"))?;
        make(&git.join("refs"))?;
        write(root, &git.join("HEAD"), "ref: refs/heads/none\n")?;
    }
    // A process may have died between creating and syncing an existing folder, so sync all of them,
    // up to the root.
    let mut folder = Some(root.txn_dir.clone());
    while let Some(path) = folder {
        root.sync_folder(Step::SyncTxnDir, &path)?;
        folder = path.parent();
    }
    write(root, &root.in_txn_dir(READY), "*\n")
}

/// Fails if the transaction folder, or a folder above it in the root, belongs to another user. What
/// others wrote is neither read nor locked, and nothing is created beside it.
pub(crate) fn check_owner(root: &Root) -> Result<()> {
    let mut folders: Vec<RelPath> =
        std::iter::successors(Some(root.txn_dir.clone()), RelPath::parent).filter(|f| !f.is_root()).collect();
    // From the root down: folders of others may not be searchable.
    while let Some(folder) = folders.pop() {
        let found = root.with_step(Step::Inspect, &folder, root.storage.restrictions(&folder))?;
        if let Some(owner) = found.other_owner {
            return Err(Error::OtherUser { path: root.full_path(&folder), owner });
        }
    }
    Ok(())
}

fn write(root: &Root, path: &RelPath, text: &str) -> Result<()> {
    match root.storage.open(path, OpenMode::Create { mode: OUR_FILE_MODE }) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        file => {
            let file = root.with_step(Step::MakeTxnDir, path, file)?;
            root.with_step(Step::MakeTxnDir, path, file.write_at(text.as_bytes(), 0))
        }
    }
}
