//! Decisions of a person about a transaction for which nobody vouches: in one root, under its lock.
//!
//! Until the last step the journal stays, and still nobody vouches for it. So a crash leaves the
//! decision to the person again: each of them can be carried out after part of any other.

use std::path::{Path, PathBuf};

use super::publish::{self, RolledBack};
use super::vouch::{Claim, Vouch, read_record};
use super::{RootSource, TreeOptions, changed_roots, done_name, mark_done};
use crate::disk::{FileKind, RenameMode};
use crate::journal::record::Record;
use crate::journal::{JOURNAL, pointer};
use crate::root::{OUR_FOLDER_MODE, Root};
use crate::tx::Preserved;
use crate::txn_dir::{KEPT, STAGE};
use crate::{Error, Result, Step};

/// A decision about an unfinished transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// Make the changes that are missing.
    Finish,
    /// Restore the states before, from the content that publishing displaced.
    RollBack,
    /// Leave the files as they are, and move the transaction out of the way.
    SetAside,
}

/// Result of a decision.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Decided {
    /// Paths that another program changed, and that keep its content.
    pub preserved: Vec<Preserved>,
    /// Paths that have their new state.
    pub published: Vec<PathBuf>,
    /// Paths that have their old state.
    pub pending: Vec<PathBuf>,
    /// The folder with the journal and the staged content, if it was set aside.
    pub set_aside: Option<PathBuf>,
    /// Other roots of the transaction, which were not touched.
    pub other_roots: Vec<PathBuf>,
}

/// Carries out a decision about the transaction `id` in one root. No other root is touched. `approve` is
/// asked about the journal under the lock. Without an id, the journal or pointer is unreadable and can
/// only be set aside.
pub(super) fn decide(
    path: &Path,
    options: &TreeOptions,
    id: Option<u128>,
    decision: Decision,
    approve: Vouch<'_>,
) -> Result<Decided> {
    let path = path.canonicalize().map_err(Error::io(Step::Inspect, path))?;
    let source = RootSource::Disk;
    let root = source.existing_root(&path, options)?;
    let _guards = source.lock(std::slice::from_ref(&root), options)?;
    let Some(id) = id else { return set_unreadable_aside(&root, decision) };
    let Some(record) = read_record(&root)? else { return decide_pointer(&root, id, decision) };
    if record.id != id {
        return Err(replaced(&root, JOURNAL));
    }
    Claim::of_record(&root, &record).check(root.full_path(&root.in_txn_dir(JOURNAL)), approve)?;
    let changed = changed_roots(&record);
    let index = changed.first().copied().unwrap_or(0);
    let other_roots = changed.iter().skip(1).map(|index| record.roots[*index].clone()).collect();
    let decided = match decision {
        Decision::Finish => {
            let preserved = publish::republish_root(&root, &record, index, options.syncfs_threshold)?;
            forget(&root, &record)?;
            Decided { preserved, ..Decided::default() }
        }
        Decision::RollBack => {
            let RolledBack { restored, kept } = publish::roll_back_root(&root, &record, index)?;
            forget(&root, &record)?;
            let preserved = kept.into_iter().map(|path| Preserved { path, preserved_at: None }).collect();
            Decided { preserved, pending: restored, ..Decided::default() }
        }
        Decision::SetAside => {
            let (published, pending, preserved) = publish::progress_of_root(&root, &record, index)?;
            let set_aside = Some(set_aside(&root, &folder_name(id), JOURNAL)?);
            Decided { published, pending, preserved, set_aside, ..Decided::default() }
        }
    };
    Ok(Decided { other_roots, ..decided })
}

/// A pointer names no change: it can only be set aside.
fn decide_pointer(root: &Root, id: u128, decision: Decision) -> Result<Decided> {
    let pointer = pointer::read(root)?.filter(|pointer| pointer.id == id);
    let pointer = pointer.ok_or_else(|| replaced(root, pointer::POINTER))?;
    if decision != Decision::SetAside {
        let reason = "its journal is in this folder; it can only be set aside in others";
        return Err(Error::RootUnavailable { path: pointer.main, reason });
    }
    let set_aside = Some(set_aside(root, &folder_name(id), pointer::POINTER)?);
    Ok(Decided { set_aside, other_roots: vec![pointer.main], ..Decided::default() })
}

/// Sets aside a journal or pointer that cannot be read, which says nothing about the files.
fn set_unreadable_aside(root: &Root, decision: Decision) -> Result<Decided> {
    let (name, error) = match (read_record(root).err(), pointer::read(root).err()) {
        (Some(error), _) => (JOURNAL, error),
        (None, Some(error)) => (pointer::POINTER, error),
        (None, None) => return Err(replaced(root, JOURNAL)),
    };
    if decision != Decision::SetAside || !matches!(error, Error::CorruptJournal { .. }) {
        return Err(error);
    }
    for number in 1.. {
        let folder = format!("unreadable-{number}");
        if root.stat(&root.in_txn_dir(KEPT).join(&folder))?.is_none() {
            return Ok(Decided { set_aside: Some(set_aside(root, &folder, name)?), ..Decided::default() });
        }
    }
    unreachable!("some number is free")
}

/// The folder for the contents of a transaction.
fn folder_name(id: u128) -> String {
    format!("{id:032x}")
}

fn replaced(root: &Root, name: &str) -> Error {
    let reason = "it is not the one that was shown".to_owned();
    Error::UntrustedJournal { path: root.full_path(&root.in_txn_dir(name)), reason }
}

/// Ends the transaction: all paths of this root are durable.
fn forget(root: &Root, record: &Record) -> Result<()> {
    mark_done(root, record.id)?;
    root.remove_if_exists(Step::RemoveDone, &root.in_txn_dir(done_name(record.id)))?;
    for name in root.list(&root.in_txn_dir(STAGE))? {
        root.remove_tree(Step::CleanUp, &root.in_txn_dir(STAGE).join(name))?;
    }
    Ok(())
}

/// Moves the staged and displaced content, and then the journal or pointer, to a folder for people.
/// The content first: the next open removes what is staged without a journal.
fn set_aside(root: &Root, folder: &str, name: &str) -> Result<PathBuf> {
    let folder = root.in_txn_dir(KEPT).join(folder);
    root.make_folders(Step::Preserve, &folder, OUR_FOLDER_MODE)?;
    let stage = root.in_txn_dir(STAGE);
    if root.stat(&stage)?.is_some_and(|stat| stat.kind == FileKind::Folder) {
        for name in root.list(&stage)? {
            root.rename(Step::Preserve, &stage.join(&name), &folder.join(&name), RenameMode::Replace)?;
        }
    }
    root.sync_folder(Step::SyncPreserved, &folder)?;
    root.rename(Step::Preserve, &root.in_txn_dir(name), &folder.join(name), RenameMode::Replace)?;
    for changed in [&folder, &root.in_txn_dir(KEPT), &root.txn_dir] {
        root.sync_folder(Step::SyncPreserved, changed)?;
    }
    Ok(root.full_path(&folder))
}
