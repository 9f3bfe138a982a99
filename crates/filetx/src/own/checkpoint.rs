//! Checkpoints of an own folder: what the journal holds is synced in the files, then a new epoch starts.

use std::collections::BTreeSet;

use super::in_place;
use super::state::{CREATE, Opened, Shelf, clean};
use crate::Result;
use crate::journal::{Journal, RECORDS_OFFSET, watermark};
use crate::root::Root;

/// How much staged content may wait for a checkpoint although it is in the files.
const STAGED_BYTES_MAX: u64 = 64 * 1024 * 1024;

impl Shelf {
    /// Whether a record has to wait for a checkpoint although there is room: a file is not what the journal says, and what comes next
    /// builds on it; staged content that is published already takes too much space; or a large record made the journal longer than
    /// `capacity_max`, and whoever opens the folder would read it each time.
    pub(crate) fn wants_checkpoint(&self, capacity_max: u64) -> bool {
        let is_long = || self.open.as_ref().is_some_and(|opened| opened.journal.offset > capacity_max);
        self.drifted || self.staged_bytes > STAGED_BYTES_MAX || is_long()
    }

    /// Makes room in the journal for `bytes`: what it holds is synced in the files, then a new epoch starts, in a larger journal of up
    /// to `capacity_max` bytes when this process filled it alone, in a smaller one when a large record had made it longer than that. Nothing may be queued. Staged files of `transaction` stay.
    pub(crate) fn checkpoint(
        &mut self,
        root: &Root,
        bytes: u64,
        capacity_max: u64,
        transaction: u128,
    ) -> Result<()> {
        let was_filled_here = self.began_here && !self.wants_checkpoint(capacity_max);
        let opened = self.open.take().expect("a transaction is under way, so the journal is open");
        let Opened { mut journal, mark } = opened;
        // A sync that fails gives up what it was to write, and a second one would not notice: then the journal alone has it,
        // and has to be published again.
        watermark::erase(root, &*mark)?;
        in_place::sync(root, self.left.keys())?;
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
            journal = Journal::write_whole(root, epoch, capacity, &[], &CREATE, || Ok(()))?;
        }
        self.left.clear();
        (self.drifted, self.staged_bytes, self.began_here) = (false, 0, true);
        clean(root, &BTreeSet::from([transaction]))?;
        self.start(root, journal)
    }
}
