//! What an own folder's journal and files need around a commit: opening, recovery, checkpoints.
//!
//! Whoever uses a shelf has the folder's lock to itself. Numbers are those of `docs/design/file-transaction.md`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::recovery::recover;
use crate::disk::{Open, StoredFile};
use crate::journal::record::Record;
use crate::journal::watermark::{self, Mark};
use crate::journal::{CAPACITY_BYTES_MIN, JOURNAL, JOURNAL_TMP, Journal, Steps};
use crate::path::At;
use crate::root::Root;
use crate::tx::Kept;
use crate::tx::change::{Base, Change, Final, Seen};
use crate::tx::view::Overlay;
use crate::txn_dir::{self, STAGE};
use crate::{Error, RelPath, Result, Step};

pub(super) const CREATE: Steps = Steps {
    write: Step::CreateJournal,
    sync: Step::SyncNewJournal,
    place: Step::CreateJournal,
    sync_folder: Step::SyncNewJournalFolder,
};

/// The state of an own folder in this process, used by one thread at a time.
#[derive(Default)]
pub(crate) struct Shelf {
    /// `None` until the first use and after anything went wrong: then everything is read again.
    pub open: Option<Opened>,
    /// How each path that the epoch's records name was left: a file of this length, or something else.
    pub(super) left: BTreeMap<RelPath, Option<u64>>,
    /// A file was found not to be as it was left, and whoever asked knows.
    pub(super) drifted: bool,
    /// Staged content that the records of this epoch lead to.
    pub(super) staged_bytes: u64,
    /// Whether the epoch began here, after a checkpoint: then all its records are this process's own.
    pub(super) began_here: bool,
    /// What is queued or being written, oldest first: not in the files yet.
    pub queued: VecDeque<Arc<[Change]>>,
    /// The same as one overlay.
    pub overlay: Arc<Overlay>,
    /// What recovery found in the way and put aside.
    pub kept: Vec<Kept>,
}

/// An open journal with its mark.
pub(crate) struct Opened {
    pub journal: Journal,
    pub mark: Arc<dyn StoredFile>,
}

impl Shelf {
    /// Forgets everything: the next use reads it again and recovers what is pending.
    pub(crate) fn reset(&mut self) {
        let kept = std::mem::take(&mut self.kept);
        *self = Shelf { kept, ..Shelf::default() };
    }

    /// Gets ready for a transaction after the lock was taken: others may have committed, or died, in between.
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
        let Some(mut journal) = Journal::open(root, Open::Write)? else {
            clean(root, &BTreeSet::new())?;
            let capacity = capacity.max(CAPACITY_BYTES_MIN);
            let journal = Journal::write_whole(root, 1, capacity, &[], &CREATE, || Ok(()))?;
            return self.start(root, journal);
        };
        let records = scan(root, &mut journal)?;
        if read_mark(root)? == Some(Mark { chain: journal.chain, offset: journal.offset }) {
            // Everything is published, and what the mark covers is durable. Staged files of others were never committed.
            clean(root, &records.iter().map(|record| record.id).collect())?;
            self.learn(&merge(&records));
            self.open = Some(Opened { journal, mark: watermark::open(root)?.into() });
            return Ok(());
        }
        let journal = recover(root, journal, &records, &mut self.kept)?;
        clean(root, &BTreeSet::new())?;
        self.start(root, journal)
    }

    /// Remembers how long files were left, and how much staged content the journal leads to.
    fn learn(&mut self, changes: &[Change]) {
        for change in changes {
            let mut len = None;
            if let Final::File { content, .. } = &change.after {
                len = Some(content.len());
                if let Base::Staged(staged) = &content.base {
                    self.staged_bytes += staged.len;
                }
            }
            match self.left.get_mut(&change.path) {
                Some(left) => *left = len,
                None => drop(self.left.insert(change.path.clone(), len)),
            }
        }
    }

    /// How long a file was left by the epoch's records.
    pub(crate) fn left_len(&self, path: &RelPath) -> Option<u64> {
        self.left.get(path).copied().flatten()
    }

    /// Remembers that a file is not as it was left.
    pub(crate) fn drift(&mut self, path: &RelPath) {
        self.left.insert(path.clone(), None);
        self.drifted = true;
    }

    /// Goes on with a journal that is durable, with all that it says in the files.
    pub(super) fn start(&mut self, root: &Root, journal: Journal) -> Result<()> {
        let opened = Opened { journal, mark: watermark::open(root)?.into() };
        opened.write_mark(root)?;
        self.open = Some(opened);
        Ok(())
    }

    /// Drops the oldest `count` queued transactions: they are in the files now.
    pub(crate) fn published(&mut self, count: usize) {
        let published: Vec<_> = self.queued.drain(..count).collect();
        published.iter().for_each(|changes| self.learn(changes));
        let mut overlay = Overlay::default();
        self.queued.iter().for_each(|changes| overlay.lay_all(changes));
        self.overlay = Arc::new(overlay);
    }
}

impl Opened {
    /// Whether nobody else wrote since this process did.
    fn is_current(&mut self, root: &Root) -> Result<bool> {
        // A journal that was replaced or removed has no name any more.
        let stat = root.name(Step::Inspect, &root.in_home(JOURNAL), self.journal.file.stat())?;
        if stat.links == 0 {
            return Ok(false);
        }
        let ours = Mark { chain: self.journal.chain, offset: self.journal.offset };
        let (chain, offset) = (ours.chain, ours.offset);
        let current = watermark::read(root, &*self.mark)? == Some(ours) && !self.journal.goes_on(root)?;
        (self.journal.chain, self.journal.offset) = (chain, offset);
        Ok(current)
    }

    fn write_mark(&self, root: &Root) -> Result<()> {
        watermark::write(root, &*self.mark, Mark { chain: self.journal.chain, offset: self.journal.offset })
    }
}

/// What the records not in the files yet come to, read without writing anything; for readers.
pub(crate) fn pending(root: &Root) -> Result<Overlay> {
    let mut overlay = Overlay::default();
    let Some(mut journal) = Journal::open(root, Open::Read)? else { return Ok(overlay) };
    if let Some(mark) = read_mark(root)?.filter(|mark| mark.chain.epoch == journal.chain.epoch) {
        (journal.chain, journal.offset) = (mark.chain, mark.offset);
    }
    for record in scan(root, &mut journal)? {
        overlay.lay_all(&record.changes);
    }
    Ok(overlay)
}

/// The records of a journal. One that names something else than a file of the folder was not written by this program.
fn scan(root: &Root, journal: &mut Journal) -> Result<Vec<Record>> {
    let records = journal.scan(root)?;
    let is_file = |change: &Change| {
        change.path.depth() == 1 && matches!(change.after, Final::Absent | Final::File { .. })
    };
    if records.iter().flat_map(|record| &record.changes).all(is_file) {
        return Ok(records);
    }
    let reason = "a record names something else than a file of the folder";
    Err(Error::Damaged { path: root.show(&root.in_home(JOURNAL)), reason })
}

/// The published mark, without making one.
fn read_mark(root: &Root) -> Result<Option<Mark>> {
    match root.open_if_there(&root.in_home(watermark::PUBLISHED), Open::Read)? {
        Some(file) => watermark::read(root, &*file),
        None => Ok(None),
    }
}

/// Several transactions as one change per path. What was there before plays no part in publishing in place.
pub(crate) fn merge<C: AsRef<[Change]>>(transactions: &[C]) -> Vec<Change> {
    let mut overlay = Overlay::default();
    transactions.iter().for_each(|changes| overlay.lay_all(changes.as_ref()));
    let change = |(at, after): (At, Final)| Change { root: 0, path: at.path, before: Seen::Ours, after };
    overlay.into_iter().map(change).collect()
}

/// Removes leftovers: an unfinished journal, and staged files but those of the transactions to keep.
pub(super) fn clean(root: &Root, keep: &BTreeSet<u128>) -> Result<()> {
    root.remove_if_there(Step::CleanUp, &root.in_home(JOURNAL_TMP))?;
    root.remove_if_there(Step::CleanUp, &root.in_home("unshared"))?;
    let stage = root.in_home(STAGE);
    if root.stat(&stage)?.is_none() {
        return Ok(());
    }
    let kept: BTreeSet<String> = keep.iter().map(|id| format!("{id:032x}-")).collect();
    for name in root.list(&stage)? {
        let is_kept = name.to_str().is_some_and(|name| kept.iter().any(|prefix| name.starts_with(prefix)));
        if !is_kept {
            root.remove_if_there(Step::CleanUp, &stage.join(name))?;
        }
    }
    Ok(())
}

#[cfg(all(test, not(feature = "shuttle")))]
mod tests {
    use super::*;
    use crate::tx::change::Content;

    /// Whoever wrote such a record is another program: nothing is touched, and a reader does not guess either.
    #[test]
    fn a_record_that_names_no_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Arc::new(crate::Disk::open(folder.path()).unwrap());
        let home = RelPath::new(crate::FOLDER_HOME).unwrap();
        let root = Root { storage, label: folder.path().to_owned(), home };
        txn_dir::prepare(&root).unwrap();
        let symlink = Final::Symlink { target: "x".into() };
        let file = Final::File { mode: 0o600, content: Content::of_bytes(b"x".to_vec()) };
        for (path, after) in [("link", symlink), ("folder", Final::Folder { mode: 0o700 }), ("a/b", file)] {
            let change = Change { root: 0, path: RelPath::new(path).unwrap(), before: Seen::Absent, after };
            let record = Record { id: 1, owner: Vec::new(), roots: Vec::new(), changes: vec![change] };
            drop(Journal::write_whole(&root, 1, CAPACITY_BYTES_MIN, &[record], &CREATE, || Ok(())).unwrap());
            for error in [
                Shelf::default().refresh(&root, CAPACITY_BYTES_MIN).unwrap_err(),
                pending(&root).map(drop).unwrap_err(),
            ] {
                assert!(matches!(error, Error::Damaged { .. }), "{path}: {error}");
            }
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "only the transaction folder");
        }
    }
}
