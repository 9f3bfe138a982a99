//! Stages targets in one file transaction: deletions first, then folders that become empty, then
//! new contents.
//!
//! Contents are read from the store in batches, so that a thousand small files take a few queries.

use std::collections::BTreeSet;
use std::ffi::OsStr;

use filetx::{Observed, PathState, TreeTransaction, TxPath};
use store::limits::CHUNK_BYTES;
use store::{BlobHash, BlobReader, Content, ContentKind, PathBytes, Store, read_blobs};

use crate::Result;
use crate::apply::drift::{Target, Targets, file_error, folders_above, locate};
use crate::blob_source::UnstoredBlobs;

/// Bytes of contents in one batch.
const BATCH_BYTES_MAX: u64 = 8 << 20;
/// Contents in one batch.
const BATCH_MAX: usize = 256;

/// Stages all targets.
pub(crate) fn stage(
    tx: &mut TreeTransaction<'_>,
    roots: &[PathBytes],
    targets: &Targets,
    unstored: &UnstoredBlobs,
    store: &dyn Store,
) -> Result<()> {
    let mut written = Vec::new();
    let mut emptied = BTreeSet::new();
    let mut needed = BTreeSet::new();
    for (key, target) in targets {
        let at = locate(roots, key)?;
        if let Some(after) = &target.after {
            needed.extend(folders_above(&at));
            written.push((at, target, after));
        } else {
            tx.remove(&at).map_err(file_error)?;
            emptied.extend(folders_above(&at));
        }
    }
    remove_emptied(tx, &emptied, &needed)?;
    let mut rest = written.as_slice();
    while !rest.is_empty() {
        let (batch, tail) = rest.split_at(batch_len(rest));
        stage_batch(tx, batch, unstored, store)?;
        rest = tail;
    }
    Ok(())
}

/// Removes folders that become empty, as version control does; the deepest first.
fn remove_emptied(
    tx: &mut TreeTransaction<'_>,
    emptied: &BTreeSet<TxPath>,
    needed: &BTreeSet<TxPath>,
) -> Result<()> {
    let mut kept: BTreeSet<TxPath> = needed.clone();
    let mut deepest: Vec<&TxPath> = emptied.iter().collect();
    deepest.sort_by_key(|at| std::cmp::Reverse(at.path.depth()));
    for at in deepest {
        if kept.contains(at) {
            continue;
        }
        match tx.remove_folder(at) {
            Ok(()) => {}
            Err(filetx::Error::NotEmpty { .. }) => {
                kept.extend(folders_above(at));
            }
            Err(error) => return Err(file_error(error)),
        }
    }
    Ok(())
}

/// Removes a folder without files, in place of which a file is created.
fn clear_folder(tx: &mut TreeTransaction<'_>, at: &TxPath) -> Result<()> {
    if !matches!(tx.observe(at).map_err(file_error)?, Observed::Folder { .. })
        || tx.path_state(at).map_err(file_error)? == PathState::Absent
    {
        return Ok(());
    }
    for name in tx.list(at).map_err(file_error)? {
        clear_folder(tx, &TxPath { root: at.root, path: at.path.join(name) })?;
    }
    tx.remove_folder(at).map_err(file_error)
}

type Write<'a> = (TxPath, &'a Target, &'a Content);

fn batch_len(rest: &[Write<'_>]) -> usize {
    let mut bytes = 0;
    let fits = rest.iter().take(BATCH_MAX).take_while(|(_, _, after)| {
        bytes += after.bytes;
        bytes <= BATCH_BYTES_MAX
    });
    fits.count().max(1)
}

fn stage_batch(
    tx: &mut TreeTransaction<'_>,
    batch: &[Write<'_>],
    unstored: &UnstoredBlobs,
    store: &dyn Store,
) -> Result<()> {
    let small: Vec<BlobHash> = batch
        .iter()
        .filter(|(_, target, after)| {
            unstored.get(after).is_none() && !is_mode_only(target, after) && after.bytes < CHUNK_BYTES as u64
        })
        .map(|(_, _, after)| after.blob)
        .collect();
    let stored = read_blobs(store, &small)?;
    for (at, target, after) in batch {
        if target.before.is_none() {
            clear_folder(tx, at)?;
        }
        if is_mode_only(target, after) {
            tx.set_mode(at, after.mode).map_err(file_error)?;
        } else if let Some(bytes) =
            unstored.get(after).map(|bytes| &bytes[..]).or(stored.get(&after.blob).map(Vec::as_slice))
        {
            put(tx, at, after, bytes)?;
        } else if after.kind == ContentKind::Symlink {
            let target = store::read_blob(store, after.blob, CHUNK_BYTES)?;
            put(tx, at, after, &target)?;
        } else {
            let mut reader = BlobReader::open(store, after.blob)?;
            tx.put_reader_with_mode(at, after.mode, &mut reader).map_err(file_error)?;
        }
    }
    Ok(())
}

fn put(tx: &mut TreeTransaction<'_>, at: &TxPath, after: &Content, bytes: &[u8]) -> Result<()> {
    match after.kind {
        ContentKind::File => tx.put_with_mode(at, after.mode, bytes).map_err(file_error),
        ContentKind::Symlink => tx.symlink(at, os_str(bytes, at)?).map_err(file_error),
    }
}

/// Returns whether only the permission bits of a file change.
fn is_mode_only(target: &Target, after: &Content) -> bool {
    target.before.as_ref().is_some_and(|before| {
        before.blob == after.blob && before.kind == ContentKind::File && after.kind == ContentKind::File
    })
}

#[cfg(unix)]
fn os_str<'a>(bytes: &'a [u8], _at: &TxPath) -> Result<&'a OsStr> {
    Ok(std::os::unix::ffi::OsStrExt::from_bytes(bytes))
}

#[cfg(not(unix))]
fn os_str<'a>(bytes: &'a [u8], at: &TxPath) -> Result<&'a OsStr> {
    std::str::from_utf8(bytes).map(OsStr::new).map_err(|_| crate::Error::BadPath {
        path: at.path.to_string(),
        reason: "its target is not text".to_owned(),
    })
}
