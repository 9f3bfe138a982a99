//! What an own folder's journal and files need around a commit: opening, recovery, checkpoints.
//!
//! Whoever uses a shelf has the folder's lock to itself. Numbers are those of `docs/design/file-transaction.md`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use crate::journal::{CAPACITY_BYTES_MIN, JOURNAL, JOURNAL_TMP, Journal, RECORDS_OFFSET, STABILISE, Steps};
use crate::marker::{self, Mark};
use crate::path::At;
use crate::record::Record;
use crate::root::{OUR_FILE_MODE, OUR_FOLDER_MODE, Root};
use crate::state::{Base, Change, Content, Final, Print, Seen};
use crate::storage::{Kind, Open, Stat, StoredFile};
use crate::transaction::Kept;
use crate::view::{Overlay, STAGE};
use crate::{Error, Hash, RelPath, Result, Step};
use crate::{home, in_place};

/// How much staged content may wait for a checkpoint although it is in the files.
const STAGED_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Where content goes that nobody recorded and that stood in the way.
pub(crate) const KEPT: &str = "kept";

const CREATE: Steps = Steps {
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
    left: BTreeMap<RelPath, Option<u64>>,
    /// A file was found not to be as it was left, and whoever asked knows.
    drifted: bool,
    /// Staged content that the records of this epoch lead to.
    staged_bytes: u64,
    /// Whether the epoch began here, after a checkpoint: then all its records are this process's own.
    began_here: bool,
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
        home::prepare(root)?;
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
            self.open = Some(Opened { journal, mark: marker::open(root)?.into() });
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

    /// Whether a record has to wait for a checkpoint although there is room: a file is not what the journal says, and what comes next
    /// builds on it; staged content that is published already takes too much space; or a large record made the journal longer than
    /// `capacity_max`, and whoever opens the folder would read it each time.
    pub(crate) fn wants_checkpoint(&self, capacity_max: u64) -> bool {
        let is_long = || self.open.as_ref().is_some_and(|opened| opened.journal.offset > capacity_max);
        self.drifted || self.staged_bytes > STAGED_BYTES_MAX || is_long()
    }

    /// Goes on with a journal that is durable, with all that it says in the files.
    fn start(&mut self, root: &Root, journal: Journal) -> Result<()> {
        let opened = Opened { journal, mark: marker::open(root)?.into() };
        opened.write_mark(root)?;
        self.open = Some(opened);
        Ok(())
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
        marker::erase(root, &*mark)?;
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
        let current = marker::read(root, &*self.mark)? == Some(ours) && !self.journal.goes_on(root)?;
        (self.journal.chain, self.journal.offset) = (chain, offset);
        Ok(current)
    }

    fn write_mark(&self, root: &Root) -> Result<()> {
        marker::write(root, &*self.mark, Mark { chain: self.journal.chain, offset: self.journal.offset })
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
    match root.open_if_there(&root.in_home(marker::PUBLISHED), Open::Read)? {
        Some(file) => marker::read(root, &*file),
        None => Ok(None),
    }
}

/// Step 10: brings the files to what the records say, and starts a new epoch. Nothing that this finds is taken to be durable:
/// a process may have died, or a sync failed, just before.
fn recover(root: &Root, mut journal: Journal, records: &[Record], kept: &mut Vec<Kept>) -> Result<Journal> {
    tracing::info!(folder = %root.label.display(), records = records.len(), "recovering");
    // 10.1 to 10.4. The records may be in memory only. They must be on the disk before a later one is acknowledged behind
    // them, and after a failed sync the old file cannot be trusted to take them any more.
    if !Step::Stabilise.is_left_out() {
        let (epoch, capacity) = (journal.chain.epoch, journal.capacity);
        // Some systems do not replace a file that is open.
        drop(journal);
        journal = Journal::write_whole(root, epoch, capacity, records, &STABILISE, || Ok(()))?;
    }
    let changes = merge(records);
    for change in &changes {
        if let Some(strange) = foreign(root, change, records)? {
            kept.push(keep_aside(root, &change.path, strange)?);
        }
    }
    // All records are published once more, also those that the mark calls published: as long as that lasts it does not hold.
    marker::erase(root, &*marker::open(root)?)?;
    in_place::publish(root, &changes, &mut in_place::Handles::default())?;
    in_place::sync(root, changes.iter().map(|change| &change.path))?;
    journal.start_epoch(root)?;
    Ok(journal)
}

/// Which part of a file was written by somebody else.
enum Foreign {
    Whole,
    /// The bytes from there on.
    From(u64),
}

/// Whether a path holds something that neither the records nor a tear of them explain: a person may have written it. A tear
/// that mixes ours with long content from before the records cannot be told from that, and is kept too.
fn foreign(root: &Root, change: &Change, records: &[Record]) -> Result<Option<Foreign>> {
    let Some(Stat { kind: Kind::File, len, .. }) = root.stat(&change.path)? else { return Ok(None) };
    let history = || records.iter().flat_map(|record| &record.changes).filter(|one| one.path == change.path);
    let before = &history().next().expect("the change comes from the records").before;
    let mut versions: Vec<Content> = Vec::new();
    if let Seen::File { print: Print::Bytes(bytes), .. } = before {
        versions.push(Content::of_bytes(bytes.clone()));
    }
    for one in history() {
        if let Final::File { content, .. } = &one.after {
            let version =
                versions.last().map_or_else(|| content.clone(), |below| content.clone().over(below.clone()));
            versions.push(version);
        }
    }
    if versions.iter().any(|version| version.base == Base::Path) {
        // A file that grows: what is before the recorded end is ours, however torn; what is behind it is not.
        let len_before = if let Seen::File { len, .. } = before { *len } else { 0 };
        let longest = versions.iter().map(Content::len).chain([len_before]).max().unwrap_or(0);
        return Ok((len > longest).then_some(Foreign::From(longest)));
    }
    let bytes = root.read(&change.path)?.unwrap_or_default();
    let is_as_before = match before {
        Seen::File { len: then, print: Print::Whole(hash), .. } => *then == len && Hash::of(&bytes) == *hash,
        Seen::File { len: then, print: Print::End(_), .. } => *then == len,
        _ => false,
    };
    let versions = versions.iter().map(|version| whole(root, version)).collect::<Result<Vec<_>>>()?;
    Ok((!is_as_before && !is_mixture(&bytes, &versions)).then_some(Foreign::Whole))
}

/// All the bytes of content that does not build on a path's own.
fn whole(root: &Root, content: &Content) -> Result<Vec<u8>> {
    let mut bytes = match &content.base {
        Base::Staged(staged) => root.read(&root.in_home(STAGE).join(staged.name()))?.unwrap_or_default(),
        Base::Nothing | Base::Path => Vec::new(),
    };
    bytes.truncate(content.keep as usize);
    bytes.extend(&content.bytes);
    Ok(bytes)
}

/// Whether every sector begins as one version and goes on as another or as zeros: what a power cut, or a write that stopped
/// half-way, makes of writes that were under way.
fn is_mixture(bytes: &[u8], versions: &[Vec<u8>]) -> bool {
    let sector = crate::record::SECTOR_BYTES;
    bytes.chunks(sector).enumerate().all(|(index, part)| {
        // A longer length that was kept while the bytes were lost reads as zeros at the end.
        let part = &part[..part.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)];
        let zeros: &[u8] = &[];
        let sources = versions.iter().map(|version| version.get(index * sector..).unwrap_or_default());
        // Most sectors are whole: comparing these at once spares looking at each byte.
        if sources.clone().any(|source| source.starts_with(part)) {
            return true;
        }
        let differs = |source: &[u8], at: usize| part[at] != source.get(at).copied().unwrap_or(0);
        let begins = |source: &[u8]| (0..part.len()).find(|at| differs(source, *at)).unwrap_or(part.len());
        let ends = |source: &[u8]| (0..part.len()).rfind(|at| differs(source, *at)).map_or(0, |at| at + 1);
        let longest = sources.clone().chain([zeros]).map(begins).max();
        longest >= sources.chain([zeros]).map(ends).min()
    })
}

/// Keeps content where a person finds it. The name comes from the content: doing it again after a crash makes no second one.
fn keep_aside(root: &Root, path: &RelPath, what: Foreign) -> Result<Kept> {
    let folder = root.in_home(KEPT);
    root.make_folders(Step::Keep, &folder, OUR_FOLDER_MODE)?;
    let mut bytes = root.read(path)?.unwrap_or_default();
    if let Foreign::From(offset) = what {
        bytes.drain(..offset as usize);
    }
    let name = path.name().expect("a change is below the root").display().to_string();
    let cut: String = name.chars().take(50).collect();
    let aside = folder.join(format!("{:?}-{cut}", Hash::of(&bytes)));
    root.remove_if_there(Step::Keep, &aside)?;
    let file = root.open(Step::Keep, &aside, Open::Create { mode: OUR_FILE_MODE })?;
    root.name(Step::Keep, &aside, file.write_at(&bytes, 0))?;
    root.sync_all(Step::SyncKept, &aside, &*file)?;
    root.sync_folder(Step::SyncKept, &folder)?;
    root.sync_folder(Step::SyncKept, &root.home)?;
    Ok(Kept { path: root.show(path), aside: Some(root.show(&aside)) })
}

/// Several transactions as one change per path. What was there before plays no part in publishing in place.
pub(crate) fn merge<C: AsRef<[Change]>>(transactions: &[C]) -> Vec<Change> {
    let mut overlay = Overlay::default();
    transactions.iter().for_each(|changes| overlay.lay_all(changes.as_ref()));
    let change = |(at, after): (At, Final)| Change { root: 0, path: at.path, before: Seen::Ours, after };
    overlay.into_iter().map(change).collect()
}

/// Removes leftovers: an unfinished journal, and staged files but those of the transactions to keep.
fn clean(root: &Root, keep: &BTreeSet<u128>) -> Result<()> {
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

    /// Whoever wrote such a record is another program: nothing is touched, and a reader does not guess either.
    #[test]
    fn a_record_that_names_no_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Arc::new(crate::Disk::open(folder.path()).unwrap());
        let home = RelPath::new(crate::FOLDER_HOME).unwrap();
        let root = Root { storage, label: folder.path().to_owned(), home };
        home::prepare(&root).unwrap();
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
