//! Checkpoints of an own folder: sync the files that the journal names, then start a new epoch.

use std::collections::BTreeSet;

use super::in_place;
use super::state::{CREATE, FolderState, OpenJournal, clean};
use crate::Result;
use crate::journal::{Journal, RECORDS_OFFSET, watermark};
use crate::root::Root;

/// Maximum length of published staged content before a checkpoint removes it, in bytes.
const STAGED_BYTES_MAX: u64 = 64 * 1024 * 1024;

impl FolderState {
    /// Returns true if the next record needs a checkpoint first although it fits: another program
    /// changed a file that the record may build on; published staged content takes too much space;
    /// or a large record made the journal longer than `capacity_max`, and every open would read all
    /// of it.
    pub(crate) fn needs_checkpoint(&self, capacity_max: u64) -> bool {
        let is_long = || self.open.as_ref().is_some_and(|opened| opened.journal.offset > capacity_max);
        self.modified_externally || self.staged_bytes > STAGED_BYTES_MAX || is_long()
    }

    /// Makes room in the journal for `bytes`: syncs the files that it names, then starts a new
    /// epoch. The journal doubles, up to `capacity_max` bytes, if this process filled it alone, and
    /// shrinks if a large record had made it longer. The commit queue must be empty. Staged files
    /// of `transaction` stay.
    pub(crate) fn checkpoint(
        &mut self,
        root: &Root,
        bytes: u64,
        capacity_max: u64,
        transaction: u128,
    ) -> Result<()> {
        let was_filled_here = self.began_here && !self.needs_checkpoint(capacity_max);
        let opened = self.open.take().expect("a transaction has begun, so the journal is open");
        let OpenJournal { mut journal, watermark: watermark_file } = opened;
        // A failed sync drops the writes, and a second sync would not report it: then only the
        // journal holds them, and it must be published again.
        watermark::erase(root, &*watermark_file)?;
        in_place::sync(root, self.recorded_lens.keys())?;
        let mut capacity = journal.capacity.min(capacity_max);
        if was_filled_here {
            capacity = (2 * capacity).min(capacity_max);
        }
        if RECORDS_OFFSET + bytes > capacity {
            capacity = (RECORDS_OFFSET + bytes).next_power_of_two();
        }
        if capacity == journal.capacity {
            journal.start_epoch(root)?;
        } else {
            let epoch = journal.chain.epoch + 1;
            // Some systems do not replace a file that is open.
            drop(journal);
            journal = Journal::create(root, epoch, capacity, &[], &CREATE, || Ok(()))?;
        }
        self.recorded_lens.clear();
        (self.modified_externally, self.staged_bytes, self.began_here) = (false, 0, true);
        clean(root, &BTreeSet::from([transaction]))?;
        self.start(root, journal)
    }
}
