//! Recovery of user trees: finishing the transactions that an earlier process left.

use super::{Recovered, done_name, mark_done, publish, read_record, touched};
use crate::disk::Open;
use crate::journal::record::Record;
use crate::journal::{JOURNAL_TMP, Journal, STABILISE, pointer};
use crate::lock::Guard;
use crate::root::Root;
use crate::txn_dir::STAGE;
use crate::{Error, Result, Step};

/// Finishes what is pending in the roots, and removes leftovers.
pub(super) fn recover(roots: &[Root], guards: &[Guard], together_min: usize) -> Result<Vec<Recovered>> {
    let mut recovered = Vec::new();
    for root in roots {
        if let Some(record) = read_record(root)? {
            tracing::info!(root = %root.label.display(), changes = record.changes.len(), "recovering");
            recovered.push(roll_forward(roots, root, record, guards, together_min)?);
        }
    }
    for root in roots {
        recovered.extend(unacknowledged(roots, root, &recovered)?);
        // Whatever it pointed to is finished, or was never committed.
        pointer::clear(root)?;
        for name in [JOURNAL_TMP, pointer::POINTER_TMP, publish::COPY] {
            root.remove_if_there(Step::CleanUp, &root.in_home(name))?;
        }
        for name in root.list(&root.in_home(STAGE))? {
            root.remove_tree(Step::CleanUp, &root.in_home(STAGE).join(name))?;
        }
    }
    Ok(recovered)
}

/// Step 10: a journal is there, so the transaction is committed and is carried to its end.
fn roll_forward(
    roots: &[Root],
    main: &Root,
    record: Record,
    guards: &[Guard],
    together_min: usize,
) -> Result<Recovered> {
    let mut of_record = Vec::new();
    let main_index = touched(&record).first().copied().unwrap_or(0);
    for (index, path) in record.roots.iter().enumerate() {
        if index == main_index || !touched(&record).contains(&index) {
            of_record.push(main.clone());
            continue;
        }
        let gone = |reason| Error::RootGone { path: path.clone(), reason };
        let root = roots.iter().find(|root| root.is_at(path)).ok_or_else(|| gone("it was not opened"))?;
        if pointer::read(root)?.is_none_or(|pointer| pointer.id != record.id) {
            return Err(gone("its transaction folder was removed or is another one's"));
        }
        of_record.push(root.clone());
    }
    // 10.1 to 10.4. After a failed sync the pages of the old file may never reach the disk.
    if !Step::Stabilise.is_left_out() {
        let check = || guards.iter().try_for_each(Guard::check);
        Journal::write_whole(main, 1, 0, std::slice::from_ref(&record), &STABILISE, check)?;
    }
    let kept = publish::republish(&of_record, &record, together_min)?;
    mark_done(main, record.id)?;
    if record.owner.is_empty() {
        main.remove_if_there(Step::RemoveDone, &main.in_home(done_name(record.id)))?;
    }
    Ok(Recovered { id: record.id, owner: record.owner, kept })
}

/// Transactions that are done and whose owner has not said that it knows.
fn unacknowledged(roots: &[Root], root: &Root, known: &[Recovered]) -> Result<Vec<Recovered>> {
    let mut found = Vec::new();
    for name in root.list(&root.home)? {
        let Some(id) = name.to_str().and_then(|name| name.strip_prefix("done-")) else { continue };
        let Ok(id) = u128::from_str_radix(id, 16) else { continue };
        if known.iter().any(|recovered| recovered.id == id) {
            continue;
        }
        let path = root.in_home(&name);
        // Whoever made the mark may have died before its sync.
        root.sync_folder(Step::SyncDone, &root.home)?;
        match Journal::open_at(root, &path, Open::Read)?
            .map(|mut journal| journal.next(root))
            .transpose()?
            .flatten()
        {
            Some(record) if !record.owner.is_empty() => {
                let of_record: Option<Vec<Root>> = record
                    .roots
                    .iter()
                    .map(|path| roots.iter().find(|root| root.is_at(path)).cloned())
                    .collect();
                let kept = of_record.map(|roots| publish::kept_aside(&roots, &record)).transpose()?;
                found.push(Recovered { id, owner: record.owner, kept: kept.unwrap_or_default() });
            }
            _ => root.remove_if_there(Step::RemoveDone, &path)?,
        }
    }
    Ok(found)
}
