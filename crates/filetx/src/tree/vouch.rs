//! Trust in the files of a transaction folder.
//!
//! Whoever can write to a root can put a journal there: a cloned repository, an actor, another
//! user. Its checksums prove that it is whole, not whose it is. So recovery and snapshots ask the
//! caller, who knows its own transactions, before they follow a journal or a pointer.

use std::path::{Path, PathBuf};

use super::changed_roots;
use crate::disk::OpenMode;
use crate::journal::record::{MalformedRecord, Record};
use crate::journal::{JOURNAL, Journal, pointer};
use crate::root::Root;
use crate::tx::change::{Change, ContentBase, Fingerprint, Observed, TargetState};
use crate::{Error, Hash, RelPath, Result};

/// Decides whether a transaction is ours. Called with the roots locked, before anything is written
/// and before another root is opened.
pub type Vouch<'a> = &'a dyn Fn(&Claim<'_>) -> Verdict;

/// An unfinished transaction that files in a root name. Anyone may have written them.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// The root with the files.
    pub root: &'a Path,
    /// Id of the transaction.
    pub id: u128,
    /// The root with the journal, as the files name it. Differs from `root` for a pointer, and for
    /// the journal of a folder that was moved or copied.
    pub main: &'a Path,
    record: Option<&'a Record>,
}

/// The answer to a [`Claim`].
#[derive(Debug)]
pub enum Verdict {
    /// The transaction is ours, and the journal says what it is to change.
    Trusted,
    /// The transaction is not known: nothing is touched, and the call fails.
    Untrusted {
        /// The reason, without a subject.
        reason: String,
    },
    /// The answer is not available now: nothing is touched, and the call fails.
    Unavailable {
        /// The error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// One change of a claimed transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClaimedChange<'a> {
    /// The root of the path.
    pub root: &'a Path,
    /// The path.
    pub path: &'a RelPath,
    /// The state before.
    pub before: &'a Observed,
    /// The state after.
    pub after: Observed,
}

impl<'a> Claim<'a> {
    pub(super) fn of_record(root: &'a Root, record: &'a Record) -> Self {
        let main = changed_roots(record).first().and_then(|index| record.roots.get(*index));
        let main = main.map_or(root.path.as_path(), PathBuf::as_path);
        Self { root: &root.path, id: record.id, main, record: Some(record) }
    }

    /// Data of the owner; `None` for a pointer.
    pub fn owner(&self) -> Option<&'a [u8]> {
        self.record.map(|record| record.owner.as_slice())
    }

    /// The roots that the journal lists; empty for a pointer.
    pub fn roots(&self) -> &'a [PathBuf] {
        self.record.map_or(&[], |record| record.roots.as_slice())
    }

    /// The changes; `None` for a pointer, which only leads to them.
    pub fn changes(&self) -> Option<Vec<ClaimedChange<'a>>> {
        let record = self.record?;
        let claimed = |change: &'a Change| ClaimedChange {
            root: record.roots.get(change.root).map_or(self.root, PathBuf::as_path),
            path: &change.path,
            before: &change.before,
            after: observed_after(change),
        };
        Some(record.changes.iter().map(claimed).collect())
    }

    /// Fails unless the caller vouches for the transaction.
    pub(super) fn check(&self, file: PathBuf, vouch: Vouch<'_>) -> Result<()> {
        match vouch(self) {
            Verdict::Trusted => Ok(()),
            Verdict::Untrusted { reason } => Err(Error::UntrustedJournal { path: file, reason }),
            Verdict::Unavailable { source } => Err(Error::CannotVouch { path: file, source }),
        }
    }
}

/// Reads the journal of a tree; `None` if there is none. Fails unless the caller vouches for it.
pub(crate) fn trusted_record(root: &Root, vouch: Vouch<'_>) -> Result<Option<Record>> {
    let Some(record) = read_record(root)? else { return Ok(None) };
    Claim::of_record(root, &record).check(root.full_path(&root.in_txn_dir(JOURNAL)), vouch)?;
    Ok(Some(record))
}

/// Reads the pointer of a tree; `None` if there is none. Fails unless the caller vouches for it.
pub(crate) fn trusted_pointer(root: &Root, vouch: Vouch<'_>) -> Result<Option<pointer::Pointer>> {
    let Some(pointer) = pointer::read(root)? else { return Ok(None) };
    let claim = Claim { root: &root.path, id: pointer.id, main: &pointer.main, record: None };
    claim.check(root.full_path(&root.in_txn_dir(pointer::POINTER)), vouch)?;
    Ok(Some(pointer))
}

/// Reads the only record of the journal of a tree.
pub(crate) fn read_record(root: &Root) -> Result<Option<Record>> {
    let Some(mut journal) = Journal::open(root, OpenMode::Read)? else { return Ok(None) };
    let corrupt = |reason| Error::CorruptJournal { path: root.full_path(&root.in_txn_dir(JOURNAL)), reason };
    // The journal was complete and synced before its rename: an invalid record is damage, not a
    // torn write.
    let record = journal.next(root)?.ok_or_else(|| corrupt("its record is invalid"))?;
    record.check_tree(&root.txn_dir).map_err(|MalformedRecord(reason)| corrupt(reason))?;
    Ok(Some(record))
}

/// The state after a change of a tree.
fn observed_after(change: &Change) -> Observed {
    match &change.after {
        TargetState::Absent => Observed::Absent,
        TargetState::Folder { mode } => Observed::Folder { mode: *mode },
        TargetState::Symlink { target } => Observed::Symlink { target: target.clone() },
        TargetState::File { mode, content } => {
            let (len, hash) = match (&content.base, &change.before) {
                // Only the mode changes.
                (ContentBase::Path, Observed::File { len, fingerprint: Fingerprint::Whole(hash), .. }) => {
                    (*len, *hash)
                }
                (ContentBase::Staged(staged), _) => (staged.len, staged.hash),
                _ => (content.len(), Hash::of(&content.bytes)),
            };
            Observed::File { mode: *mode, len, fingerprint: Fingerprint::Whole(hash) }
        }
    }
}
