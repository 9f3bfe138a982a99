//! Probes before the commit point: after it, a path that cannot be replaced would leave the roots
//! half-published. The probes read metadata and touch nothing.
//!
//! They follow the rules of the kernel for renaming, removing and `chmod`. A restriction that appears
//! between the probe and publishing, and rules of security modules, are found only by publishing.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::disk::{FileKind, Restrictions};
use crate::error::Obstacle;
use crate::root::Root;
use crate::tx::change::{Change, Content, ContentBase, Observed, TargetState};
use crate::txn_dir::STAGE;
use crate::{Error, RelPath, Result, Step};

/// Checks that this process can make every change of a transaction.
pub(super) fn check_changes(roots: &[Root], changes: &[Change]) -> Result<()> {
    let mut folders = BTreeMap::new();
    for change in changes {
        let root = &roots[change.root];
        // Displaced files move into it.
        if let Entry::Vacant(folder) = folders.entry((change.root, root.txn_dir.clone())) {
            let stage = root.in_txn_dir(STAGE);
            refuse(root, &stage, flag(&restrictions(root, &stage)?))?;
            folder.insert(Restrictions::default());
        }
        let parent = (change.root, change.path.parent().expect("a change is below the root"));
        let folder = match folders.get(&parent) {
            Some(folder) => *folder,
            None => {
                let folder = restrictions(root, &parent.1)?;
                folders.insert(parent, folder);
                folder
            }
        };
        let target = restrictions(root, &change.path)?;
        refuse(root, &change.path, obstacle(change, &folder, &target))?;
    }
    Ok(())
}

/// Checks that a file can be renamed from the transaction folder to this folder.
pub(super) fn check_parent(root: &Root, parent: &RelPath, txn_dir_mount: u64) -> Result<()> {
    // The nearest existing folder. This transaction creates the ones below it, possibly in place of
    // a file.
    let mut folder = parent.clone();
    let mount = loop {
        match root.stat(&folder)? {
            Some(stat) if stat.kind == FileKind::Folder => break stat.mount,
            _ => folder = folder.parent().expect("the root is a folder"),
        }
    };
    if txn_dir_mount != mount {
        return Err(Error::CrossMount { path: root.full_path(&folder) });
    }
    let found = restrictions(root, &folder)?;
    refuse(root, &folder, found.is_immutable.then_some(Obstacle::Immutable))?;
    root.with_step(Step::Inspect, &folder, root.storage.check_writable(&folder))
}

/// The rules of the kernel, for one change.
fn obstacle(change: &Change, folder: &Restrictions, target: &Restrictions) -> Option<Obstacle> {
    let is_mode_only = match &change.after {
        TargetState::File { content: Content { base, .. }, .. } => *base == ContentBase::Path,
        TargetState::Folder { .. } => matches!(change.before, Observed::Folder { .. }),
        TargetState::Absent | TargetState::Symlink { .. } => false,
    };
    let owner_of = |found: &Restrictions| found.other_owner.filter(|_| !found.acts_as_owner);
    match owner_of(target) {
        _ if change.before == Observed::Absent => None,
        _ if flag(target).is_some() => flag(target),
        Some(owner) if is_mode_only => Some(Obstacle::OtherOwner { owner }),
        _ if is_mode_only => None,
        _ if folder.is_append_only => Some(Obstacle::FolderAppendOnly),
        Some(owner) if folder.is_sticky && owner_of(folder).is_some() => {
            Some(Obstacle::StickyFolder { owner })
        }
        _ => None,
    }
}

fn flag(found: &Restrictions) -> Option<Obstacle> {
    match found {
        Restrictions { is_immutable: true, .. } => Some(Obstacle::Immutable),
        Restrictions { is_append_only: true, .. } => Some(Obstacle::AppendOnly),
        _ => None,
    }
}

fn restrictions(root: &Root, path: &RelPath) -> Result<Restrictions> {
    root.with_step(Step::Inspect, path, root.storage.restrictions(path))
}

fn refuse(root: &Root, path: &RelPath, obstacle: Option<Obstacle>) -> Result<()> {
    match obstacle {
        Some(obstacle) => Err(Error::CannotReplace { path: root.full_path(path), obstacle }),
        None => Ok(()),
    }
}
