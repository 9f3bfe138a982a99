//! Recovery of user trees: finishes the transactions of an earlier process.

use super::{RecoveredTransaction, changed_roots, done_name, mark_done, publish};
use crate::disk::OpenMode;
use crate::journal::record::Record;
use crate::journal::{JOURNAL_TMP, Journal, STABILISE, pointer};
use crate::lock::Guard;
use crate::root::Root;
use crate::txn_dir::STAGE;
use crate::{Error, Result, Step};

/// Finishes pending transactions in the roots and removes leftovers. `records` are the journals
/// that were vouched for, each with the index of its root: the files may have changed since.
pub(super) fn recover(
    roots: &[Root],
    records: Vec<(usize, Record)>,
    guards: &[Guard],
    syncfs_threshold: usize,
) -> Result<Vec<RecoveredTransaction>> {
    let mut recovered = Vec::new();
    for (index, record) in records {
        let root = &roots[index];
        tracing::info!(root = %root.path.display(), changes = record.changes.len(), "recovering");
        recovered.push(roll_forward(roots, root, record, guards, syncfs_threshold)?);
    }
    for root in roots {
        recovered.extend(unacknowledged(roots, root, &recovered)?);
        // Its transaction is finished, or was never committed. A process that died may have
        // removed it without the sync; a single root has none.
        if roots.len() > 1 {
            pointer::clear(root)?;
        }
        for name in [JOURNAL_TMP, pointer::POINTER_TMP, publish::COPY] {
            root.remove_if_exists(Step::CleanUp, &root.in_txn_dir(name))?;
        }
        for name in root.list(&root.in_txn_dir(STAGE))? {
            root.remove_tree(Step::CleanUp, &root.in_txn_dir(STAGE).join(name))?;
        }
    }
    Ok(recovered)
}

/// Step 10: finishes a committed transaction.
fn roll_forward(
    roots: &[Root],
    main: &Root,
    record: Record,
    guards: &[Guard],
    syncfs_threshold: usize,
) -> Result<RecoveredTransaction> {
    let mut record_roots = Vec::new();
    let main_index = changed_roots(&record).first().copied().unwrap_or(0);
    for (index, path) in record.roots.iter().enumerate() {
        if index == main_index || !changed_roots(&record).contains(&index) {
            record_roots.push(main.clone());
            continue;
        }
        let unavailable = |reason| Error::RootUnavailable { path: path.clone(), reason };
        let root =
            roots.iter().find(|root| root.is_at(path)).ok_or_else(|| unavailable("it was not opened"))?;
        if pointer::read(root)?.is_none_or(|pointer| pointer.id != record.id) {
            return Err(unavailable("its transaction folder was removed or replaced"));
        }
        record_roots.push(root.clone());
    }
    // 10.1 to 10.4. After a failed sync, the old file may never become durable.
    if !Step::Stabilise.is_skipped() {
        let check = || guards.iter().try_for_each(Guard::check);
        Journal::create(main, 1, 0, std::slice::from_ref(&record), &STABILISE, check)?;
    }
    let preserved = publish::republish(&record_roots, &record, syncfs_threshold)?;
    mark_done(main, record.id)?;
    if record.owner.is_empty() {
        main.remove_if_exists(Step::RemoveDone, &main.in_txn_dir(done_name(record.id)))?;
    }
    Ok(RecoveredTransaction { id: record.id, owner: record.owner, preserved })
}

/// Finished transactions that wait for the acknowledgement of their owner.
fn unacknowledged(
    roots: &[Root],
    root: &Root,
    reported: &[RecoveredTransaction],
) -> Result<Vec<RecoveredTransaction>> {
    let mut found = Vec::new();
    for name in root.list(&root.txn_dir)? {
        let Some(id) = name.to_str().and_then(|name| name.strip_prefix("done-")) else { continue };
        let Ok(id) = u128::from_str_radix(id, 16) else { continue };
        if reported.iter().any(|recovered| recovered.id == id) {
            continue;
        }
        let path = root.in_txn_dir(&name);
        // The process that renamed it may have died before the sync.
        root.sync_folder(Step::SyncDone, &root.txn_dir)?;
        match Journal::open_at(root, &path, OpenMode::Read)?
            .map(|mut journal| journal.next(root))
            .transpose()?
            .flatten()
        {
            Some(record) if !record.owner.is_empty() && record.check_tree(&root.txn_dir).is_ok() => {
                let record_roots: Option<Vec<Root>> = record
                    .roots
                    .iter()
                    .map(|path| roots.iter().find(|root| root.is_at(path)).cloned())
                    .collect();
                let preserved =
                    record_roots.map(|roots| publish::find_preserved(&roots, &record)).transpose()?;
                found.push(RecoveredTransaction {
                    id,
                    owner: record.owner,
                    preserved: preserved.unwrap_or_default(),
                });
            }
            _ => root.remove_if_exists(Step::RemoveDone, &path)?,
        }
    }
    Ok(found)
}
