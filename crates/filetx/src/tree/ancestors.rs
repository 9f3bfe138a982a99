//! Locks of the roots above a root. A transaction of an outer root may change files of an inner one.
//!
//! Roots of other users are neither locked nor followed: anyone may create a folder in `/tmp` and
//! hold its lock, or leave a journal in it.

use std::path::Path;
use std::sync::Arc;

use super::LOCK;
use crate::disk::{FileKind, Storage};
use crate::lock::{Lock, LockMode};
use crate::root::Root;
use crate::txn_dir;
use crate::{Disk, Error, RelPath, Result, Step};

/// The locks of the roots above a root. They exclude transactions of the outer root.
pub(crate) fn locks(path: &Path, txn_dir: &RelPath) -> Result<Vec<(Lock, LockMode)>> {
    let found = path.ancestors().skip(1).filter_map(|above| existing_lock(above, txn_dir).transpose());
    found.map(|lock| lock.map(|lock| (lock, LockMode::Shared))).collect()
}

/// The lock of the folder `above`, if it is a root of this user.
pub(crate) fn existing_lock(above: &Path, txn_dir: &RelPath) -> Result<Option<Lock>> {
    // Most folders are no roots: one call finds out.
    let full_path = above.join(txn_dir.as_path());
    if full_path.symlink_metadata().is_err() {
        return Ok(None);
    }
    let (disk, root) = open(above, txn_dir)?;
    match txn_dir::check_owner(&root) {
        Err(Error::OtherUser { .. }) => return Ok(None),
        checked => checked?,
    }
    // Not through a symlink.
    if root.stat(txn_dir)?.is_none_or(|stat| stat.kind != FileKind::Folder) {
        return Ok(None);
    }
    Lock::open_existing_below(disk, above, &root.in_txn_dir(LOCK))
}

/// The lock of a root, for a reader; `None` if no process has used the root. Fails if the root
/// belongs to another user.
pub(crate) fn reader_lock(path: &Path, txn_dir: &RelPath) -> Result<Option<Lock>> {
    let (disk, root) = open(path, txn_dir)?;
    txn_dir::check_owner(&root)?;
    Lock::open_existing_below(disk, path, &root.in_txn_dir(LOCK))
}

fn open(path: &Path, txn_dir: &RelPath) -> Result<(Arc<Disk>, Root)> {
    let disk = Arc::new(Disk::open_for_lookup(path).map_err(Error::io(Step::OpenLock, path))?);
    let storage = Arc::clone(&disk) as Arc<dyn Storage>;
    Ok((disk, Root { storage, path: path.to_owned(), txn_dir: txn_dir.clone() }))
}
