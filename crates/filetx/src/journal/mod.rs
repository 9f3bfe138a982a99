//! The journal file: two header slots, then records.
//!
//! | bytes | content |
//! |---|---|
//! | 0..64 | header slot A: magic `filetx\0\n` (8), format version `u32`, zero `u32`, epoch `u64`, capacity `u64`, checksum (32) |
//! | 4096..4160 | header slot B, the same form |
//! | 8192.. | records of the newest epoch in sequence; then zeros, or records of older epochs |
//!
//! The slot with the higher epoch is valid. A new epoch goes to the other slot, so a torn write of
//! it leaves the older epoch. Its records are published and synced by then: replaying them changes
//! nothing.

pub(crate) mod pointer;
pub(crate) mod record;
pub(crate) mod watermark;

use std::sync::Arc;

use crate::disk::{OpenMode, StoredFile};
use crate::root::{OUR_FILE_MODE, Root, read_range};
use crate::{Error, Hash, RelPath, Result, Step};
use record::{BODY_BYTES_MAX, Chain, HEAD_BYTES, MalformedRecord, Record, SECTOR_BYTES};

/// Name of the journal in the transaction folder.
pub(crate) const JOURNAL: &str = "journal";
/// Name of a journal that is not complete.
pub(crate) const JOURNAL_TMP: &str = "journal.tmp";
/// Format version that this program writes, and the newest that it reads.
pub(crate) const VERSION: u32 = 1;

/// Largest valid epoch. No program lives to write a larger one, so no epoch overflows.
const EPOCH_MAX: u64 = u64::MAX / 2;

const MAGIC: [u8; 8] = *b"filetx\0\n";
const SLOT_BYTES: usize = 64;
const SLOT_OFFSETS: [u64; 2] = [0, 4096];
/// Offset of the first record.
pub(crate) const RECORDS_OFFSET: u64 = 8192;

/// An open journal.
pub(crate) struct Journal {
    pub file: Arc<dyn StoredFile>,
    pub capacity: u64,
    pub chain: Chain,
    /// Offset of the next record.
    pub offset: u64,
}

/// The newest header slot of a journal.
struct Header {
    epoch: u64,
    capacity: u64,
}

/// The steps of creating a journal, which differ by purpose.
pub(crate) struct JournalSteps {
    pub write: Step,
    pub sync: Step,
    pub place: Step,
    pub sync_folder: Step,
}

/// The steps of recovery.
pub(crate) const STABILISE: JournalSteps = JournalSteps {
    write: Step::Stabilise,
    sync: Step::SyncStabilised,
    place: Step::PlaceStabilised,
    sync_folder: Step::SyncStabilisedFolder,
};

impl Journal {
    /// Opens the journal of `root`; `None` if it has none. Fails if the header is corrupt.
    pub(crate) fn open(root: &Root, mode: OpenMode) -> Result<Option<Self>> {
        Self::open_at(root, &root.in_txn_dir(JOURNAL), mode)
    }

    /// Opens a journal with another name.
    pub(crate) fn open_at(root: &Root, path: &RelPath, mode: OpenMode) -> Result<Option<Self>> {
        let Some(file) = root.open_if_exists(path, mode)? else { return Ok(None) };
        let header = read_header(root, path, &*file)?;
        let chain = Chain::start(header.epoch);
        Ok(Some(Self { file: file.into(), capacity: header.capacity, chain, offset: RECORDS_OFFSET }))
    }

    /// Reads the remaining records up to the first that is not in the chain.
    pub(crate) fn scan(&mut self, root: &Root) -> Result<Vec<Record>> {
        let mut records = Vec::new();
        while let Some(record) = self.next(root)? {
            records.push(record);
        }
        Ok(records)
    }

    /// Reads the next record and advances; `None` at the end of the chain.
    pub(crate) fn next(&mut self, root: &Root) -> Result<Option<Record>> {
        let path = root.in_txn_dir(JOURNAL);
        let read = |offset, len| root.with_step(Step::Inspect, &path, read_range(&*self.file, offset, len));
        let head = read(self.offset, HEAD_BYTES as u64)?;
        let Some(padded) = Record::padded_len(&head) else { return Ok(None) };
        let end = self.offset.checked_add(padded as u64).filter(|end| *end <= self.capacity);
        let Some(end) = end else { return Ok(None) };
        let bytes = read(self.offset, padded as u64)?;
        let corrupt = |MalformedRecord(reason)| Error::CorruptJournal { path: root.full_path(&path), reason };
        let Some((record, chain)) = Record::decode(&bytes, self.chain).map_err(corrupt)? else {
            return Ok(None);
        };
        self.chain = chain;
        self.offset = end;
        Ok(Some(record))
    }

    /// Returns true if another record of this epoch follows. Advances over it. A record of an older
    /// epoch is recognised by its head alone.
    pub(crate) fn has_next(&mut self, root: &Root) -> Result<bool> {
        let path = root.in_txn_dir(JOURNAL);
        let head =
            root.with_step(Step::Inspect, &path, read_range(&*self.file, self.offset, HEAD_BYTES as u64))?;
        Ok(head.get(8..16) == Some(&self.chain.epoch.to_le_bytes()[..]) && self.next(root)?.is_some())
    }

    /// Creates a journal with its records under a temporary name and renames it, so it is complete
    /// or absent. `capacity` grows as needed to hold the records.
    pub(crate) fn create(
        root: &Root,
        epoch: u64,
        capacity: u64,
        records: &[Record],
        steps: &JournalSteps,
        before_rename: impl FnOnce() -> Result<()>,
    ) -> Result<Self> {
        let tmp = root.in_txn_dir(JOURNAL_TMP);
        root.remove_if_exists(steps.write, &tmp)?;
        let file = root.open(steps.write, &tmp, OpenMode::Create { mode: OUR_FILE_MODE })?;
        let mut chain = Chain::start(epoch);
        let mut offset = RECORDS_OFFSET;
        for record in records {
            let (bytes, after) = record.encode(chain);
            if bytes.len() > BODY_BYTES_MAX {
                return Err(Error::LimitExceeded {
                    what: "the journal of a transaction",
                    limit: BODY_BYTES_MAX as u64,
                });
            }
            root.with_step(steps.write, &tmp, file.write_at(&bytes, offset))?;
            chain = after;
            offset += bytes.len() as u64;
        }
        // Written zeros, not a hole: a later record then changes no metadata, so its sync is one
        // write.
        let capacity = capacity.max(offset);
        let zeros = vec![0; (capacity - offset) as usize];
        root.with_step(steps.write, &tmp, file.write_at(&zeros, offset))?;
        root.with_step(steps.write, &tmp, file.write_at(&header_bytes(epoch, capacity), slot_offset(epoch)))?;
        root.with_step(steps.write, &tmp, file.write_at(&[0; SLOT_BYTES], slot_offset(epoch + 1)))?;
        root.sync_all(steps.sync, &tmp, &*file)?;
        before_rename()?;
        root.rename(steps.place, &tmp, &root.in_txn_dir(JOURNAL), crate::RenameMode::Replace)?;
        root.sync_folder(steps.sync_folder, &root.txn_dir)?;
        Ok(Self { file: file.into(), capacity, chain, offset })
    }

    /// Starts a new epoch, which ends the validity of all earlier records.
    pub(crate) fn start_epoch(&mut self, root: &Root) -> Result<()> {
        let path = root.in_txn_dir(JOURNAL);
        let epoch = self.chain.epoch + 1;
        let slot = header_bytes(epoch, self.capacity);
        root.with_step(Step::WriteEpoch, &path, self.file.write_at(&slot, slot_offset(epoch)))?;
        root.sync_data(Step::SyncEpoch, &path, &*self.file)?;
        self.chain = Chain::start(epoch);
        self.offset = RECORDS_OFFSET;
        Ok(())
    }

    /// Returns true if a record of `bytes` bytes fits.
    pub(crate) fn has_room(&self, bytes: u64) -> bool {
        self.offset + bytes <= self.capacity
    }
}

/// Epochs alternate between the slots.
fn slot_offset(epoch: u64) -> u64 {
    SLOT_OFFSETS[(epoch % 2) as usize]
}

fn header_bytes(epoch: u64, capacity: u64) -> [u8; SLOT_BYTES] {
    let mut bytes = [0; SLOT_BYTES];
    bytes[0..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[16..24].copy_from_slice(&epoch.to_le_bytes());
    bytes[24..32].copy_from_slice(&capacity.to_le_bytes());
    let checksum = Hash::of(&bytes[..32]);
    bytes[32..].copy_from_slice(&checksum.0);
    bytes
}

/// Reads the newer valid slot. A slot of a newer format version makes the whole journal
/// unsupported.
fn read_header(root: &Root, path: &RelPath, file: &dyn StoredFile) -> Result<Header> {
    let mut newest: Option<Header> = None;
    for offset in SLOT_OFFSETS {
        let bytes = root.with_step(Step::Inspect, path, read_range(file, offset, SLOT_BYTES as u64))?;
        if bytes.len() < SLOT_BYTES || bytes[0..8] != MAGIC {
            continue;
        }
        // Checked before the checksum: a newer format may use another one.
        let version = u32::from_le_bytes(bytes[8..12].try_into().expect("four bytes"));
        if version > VERSION {
            return Err(Error::UnsupportedVersion {
                path: root.full_path(path),
                found: version,
                known: VERSION,
            });
        }
        if Hash::of(&bytes[..32]).0 != bytes[32..] {
            continue;
        }
        let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let header = Header { epoch: number(16), capacity: number(24) };
        if header.epoch > EPOCH_MAX {
            continue;
        }
        if newest.as_ref().is_none_or(|newest| newest.epoch < header.epoch) {
            newest = Some(header);
        }
    }
    newest.ok_or_else(|| Error::CorruptJournal {
        path: root.full_path(path),
        reason: "neither header slot is valid",
    })
}

/// Minimum size of a journal, in bytes.
pub(crate) const CAPACITY_BYTES_MIN: u64 = RECORDS_OFFSET + 4 * SECTOR_BYTES as u64;
