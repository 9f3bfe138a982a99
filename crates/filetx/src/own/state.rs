//! State of an own folder in this process: its open journal and the changes that are not in the
//! files yet.
//!
//! The caller holds the lock of the folder. Step numbers are those of
//! `docs/design/file-transaction.md`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::recovery::recover;
use crate::disk::{OpenMode, StoredFile};
use crate::journal::record::Record;
use crate::journal::watermark::{self, Watermark};
use crate::journal::{CAPACITY_BYTES_MIN, JOURNAL, JOURNAL_TMP, Journal, JournalSteps};
use crate::path::TxPath;
use crate::root::Root;
use crate::tx::Preserved;
use crate::tx::change::{Change, ContentBase, Observed, TargetState};
use crate::tx::view::Overlay;
use crate::txn_dir::{self, STAGE};
use crate::{Error, RelPath, Result, Step};

pub(super) const CREATE: JournalSteps = JournalSteps {
    write: Step::CreateJournal,
    sync: Step::SyncNewJournal,
    place: Step::CreateJournal,
    sync_folder: Step::SyncNewJournalFolder,
};

/// The state of an own folder in this process, used by one thread at a time.
#[derive(Default)]
pub(crate) struct FolderState {
    /// `None` before the first use and after a failure: the next use reads the folder again.
    pub open: Option<OpenJournal>,
    /// The paths that records of the epoch name, each with the length of its file; `None` if
    /// unknown or removed.
    pub(super) recorded_lens: BTreeMap<RelPath, Option<u64>>,
    /// Another program changed a file, and the caller was informed.
    pub(super) modified_externally: bool,
    /// Total length of the staged files that records of the epoch name.
    pub(super) staged_bytes: u64,
    /// This process started the epoch, so it wrote all its records.
    pub(super) began_here: bool,
    /// Transactions that are queued or being written, oldest first.
    pub queued: VecDeque<Arc<[Change]>>,
    /// The same transactions as one overlay.
    pub overlay: Arc<Overlay>,
    /// Content that recovery preserved.
    pub preserved: Vec<Preserved>,
}

/// An open journal with its watermark file.
pub(crate) struct OpenJournal {
    pub journal: Journal,
    pub watermark: Arc<dyn StoredFile>,
}

impl FolderState {
    /// Drops the state: the next use reads the folder again and recovers it.
    pub(crate) fn reset(&mut self) {
        let preserved = std::mem::take(&mut self.preserved);
        *self = FolderState { preserved, ..FolderState::default() };
    }

    /// Prepares for a transaction after acquiring the lock: other processes may have committed or
    /// crashed before.
    pub(crate) fn refresh(&mut self, root: &Root, capacity: u64) -> Result<()> {
        if let Some(opened) = &mut self.open
            && opened.is_current(root)?
        {
            return Ok(());
        }
        self.reset();
        self.reopen(root, capacity)
    }

    fn reopen(&mut self, root: &Root, capacity: u64) -> Result<()> {
        txn_dir::prepare(root)?;
        let Some(mut journal) = Journal::open(root, OpenMode::Write)? else {
            clean(root, &BTreeSet::new())?;
            let capacity = capacity.max(CAPACITY_BYTES_MIN);
            let journal = Journal::create(root, 1, capacity, &[], &CREATE, || Ok(()))?;
            return self.start(root, journal);
        };
        let records = scan(root, &mut journal)?;
        if read_watermark(root)? == Some(Watermark { chain: journal.chain, offset: journal.offset }) {
            // All records are published and durable. Staged files of other transactions were never
            // committed.
            clean(root, &records.iter().map(|record| record.id).collect())?;
            self.record_lens(&merge(&records));
            self.open = Some(OpenJournal { journal, watermark: watermark::open(root)?.into() });
            return Ok(());
        }
        let journal = recover(root, journal, &records, &mut self.preserved)?;
        clean(root, &BTreeSet::new())?;
        self.start(root, journal)
    }

    /// Records the lengths of files and of the staged content that the journal names.
    fn record_lens(&mut self, changes: &[Change]) {
        for change in changes {
            let mut len = None;
            if let TargetState::File { content, .. } = &change.after {
                len = Some(content.len());
                if let ContentBase::Staged(staged) = &content.base {
                    self.staged_bytes += staged.len;
                }
            }
            match self.recorded_lens.get_mut(&change.path) {
                Some(recorded) => *recorded = len,
                None => drop(self.recorded_lens.insert(change.path.clone(), len)),
            }
        }
    }

    /// Length of a file as the records of the epoch wrote it.
    pub(crate) fn recorded_len(&self, path: &RelPath) -> Option<u64> {
        self.recorded_lens.get(path).copied().flatten()
    }

    /// Notes that another program changed a file.
    pub(crate) fn forget_len(&mut self, path: &RelPath) {
        self.recorded_lens.insert(path.clone(), None);
        self.modified_externally = true;
    }

    /// Continues with a durable journal whose records are all in the files.
    pub(super) fn start(&mut self, root: &Root, journal: Journal) -> Result<()> {
        let opened = OpenJournal { journal, watermark: watermark::open(root)?.into() };
        opened.write_watermark(root)?;
        self.open = Some(opened);
        Ok(())
    }

    /// Drops the oldest `count` queued transactions, which are in the files now.
    pub(crate) fn mark_published(&mut self, count: usize) {
        let published: Vec<_> = self.queued.drain(..count).collect();
        published.iter().for_each(|changes| self.record_lens(changes));
        let mut overlay = Overlay::default();
        self.queued.iter().for_each(|changes| overlay.apply_all(changes));
        self.overlay = Arc::new(overlay);
    }
}

impl OpenJournal {
    /// Returns true if no other process wrote since this one did.
    fn is_current(&mut self, root: &Root) -> Result<bool> {
        // A journal that was replaced or removed has no name.
        let stat = root.with_step(Step::Inspect, &root.in_txn_dir(JOURNAL), self.journal.file.stat())?;
        if stat.links == 0 {
            return Ok(false);
        }
        let ours = Watermark { chain: self.journal.chain, offset: self.journal.offset };
        let (chain, offset) = (ours.chain, ours.offset);
        let current =
            watermark::read(root, &*self.watermark)? == Some(ours) && !self.journal.has_next(root)?;
        (self.journal.chain, self.journal.offset) = (chain, offset);
        Ok(current)
    }

    fn write_watermark(&self, root: &Root) -> Result<()> {
        watermark::write(
            root,
            &*self.watermark,
            Watermark { chain: self.journal.chain, offset: self.journal.offset },
        )
    }
}

/// The records that are not in the files yet, as an overlay for readers. Writes nothing.
pub(crate) fn pending(root: &Root) -> Result<Overlay> {
    let mut overlay = Overlay::default();
    let Some(mut journal) = Journal::open(root, OpenMode::Read)? else { return Ok(overlay) };
    if let Some(watermark) = read_watermark(root)?.filter(|watermark| watermark.is_in(&journal)) {
        (journal.chain, journal.offset) = (watermark.chain, watermark.offset);
    }
    for record in scan(root, &mut journal)? {
        overlay.apply_all(&record.changes);
    }
    Ok(overlay)
}

/// The records of a journal. Refuses a journal that names anything but files of the folder: another
/// program wrote it.
fn scan(root: &Root, journal: &mut Journal) -> Result<Vec<Record>> {
    let records = journal.scan(root)?;
    let is_file = |change: &Change| {
        change.path.depth() == 1
            && !change.path.is_within(&root.txn_dir)
            && matches!(change.after, TargetState::Absent | TargetState::File { .. })
    };
    if records.iter().flat_map(|record| &record.changes).all(is_file) {
        return Ok(records);
    }
    let reason = "a record names a path that is not a file of the folder";
    Err(Error::CorruptJournal { path: root.full_path(&root.in_txn_dir(JOURNAL)), reason })
}

/// Reads the watermark, if its file exists.
fn read_watermark(root: &Root) -> Result<Option<Watermark>> {
    match root.open_if_exists(&root.in_txn_dir(watermark::PUBLISHED), OpenMode::Read)? {
        Some(file) => watermark::read(root, &*file),
        None => Ok(None),
    }
}

/// Merges transactions into one change per path. Publishing in place ignores the state before.
pub(crate) fn merge<C: AsRef<[Change]>>(transactions: &[C]) -> Vec<Change> {
    let mut overlay = Overlay::default();
    transactions.iter().for_each(|changes| overlay.apply_all(changes.as_ref()));
    let change = |(at, after): (TxPath, TargetState)| Change {
        root: 0,
        path: at.path,
        before: Observed::PreviousRecord,
        after,
    };
    overlay.into_iter().map(change).collect()
}

/// Removes leftovers: an incomplete journal, and staged files of all transactions but those in
/// `keep`.
pub(super) fn clean(root: &Root, keep: &BTreeSet<u128>) -> Result<()> {
    root.remove_if_exists(Step::CleanUp, &root.in_txn_dir(JOURNAL_TMP))?;
    root.remove_if_exists(Step::CleanUp, &root.in_txn_dir("unshared"))?;
    let stage = root.in_txn_dir(STAGE);
    if root.stat(&stage)?.is_none() {
        return Ok(());
    }
    let kept: BTreeSet<String> = keep.iter().map(|id| format!("{id:032x}-")).collect();
    for name in root.list(&stage)? {
        let is_kept = name.to_str().is_some_and(|name| kept.iter().any(|prefix| name.starts_with(prefix)));
        if !is_kept {
            root.remove_if_exists(Step::CleanUp, &stage.join(name))?;
        }
    }
    Ok(())
}

#[cfg(all(test, not(feature = "shuttle")))]
mod tests {
    use super::*;
    use crate::tx::change::Content;

    /// Another program wrote such a record. Neither recovery nor a reader uses it.
    #[test]
    fn a_record_of_anything_but_a_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Arc::new(crate::Disk::open(folder.path()).unwrap());
        let txn_dir = RelPath::new(crate::TXN_DIR).unwrap();
        let root = Root { storage, path: folder.path().to_owned(), txn_dir };
        txn_dir::prepare(&root).unwrap();
        let symlink = TargetState::Symlink { target: "x".into() };
        let file = TargetState::File { mode: 0o600, content: Content::of_bytes(b"x".to_vec()) };
        for (path, after) in
            [("link", symlink), ("folder", TargetState::Folder { mode: 0o700 }), ("a/b", file)]
        {
            let change =
                Change { root: 0, path: RelPath::new(path).unwrap(), before: Observed::Absent, after };
            let record = Record { id: 1, owner: Vec::new(), roots: Vec::new(), changes: vec![change] };
            drop(Journal::create(&root, 1, CAPACITY_BYTES_MIN, &[record], &CREATE, || Ok(())).unwrap());
            for error in [
                FolderState::default().refresh(&root, CAPACITY_BYTES_MIN).unwrap_err(),
                pending(&root).map(drop).unwrap_err(),
            ] {
                assert!(matches!(error, Error::CorruptJournal { .. }), "{path}: {error}");
            }
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "only the transaction folder");
        }
    }
}
