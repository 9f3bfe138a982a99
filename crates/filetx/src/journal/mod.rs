//! The journal file: two header slots, then records.
//!
//! | bytes | what |
//! |---|---|
//! | 0..64 | header slot A: magic `filetx\0\n` (8), format version `u32`, zero `u32`, epoch `u64`, capacity `u64`, checksum (32) |
//! | 4096..4160 | header slot B, the same form |
//! | 8192.. | records of the newest epoch, one after the other; behind them zeros, or records of older epochs |
//!
//! The slot with the higher epoch counts. A new epoch goes to the other slot, so a tear of it leaves the older epoch, whose
//! records are all published and synced by then: replaying them again changes nothing.

pub(crate) mod pointer;
pub(crate) mod record;
pub(crate) mod watermark;

use std::sync::Arc;

use crate::disk::{Open, StoredFile};
use crate::root::{OUR_FILE_MODE, Root, read_range};
use crate::{Error, Hash, RelPath, Result, Step};
use record::{BODY_BYTES_MAX, Chain, HEAD_BYTES, Malformed, Record, SECTOR_BYTES};

/// The journal's name in the transaction folder.
pub(crate) const JOURNAL: &str = "journal";
/// The name it has until it is whole.
pub(crate) const JOURNAL_TMP: &str = "journal.tmp";
/// The format this program writes, and the newest it reads.
pub(crate) const VERSION: u32 = 1;

const MAGIC: [u8; 8] = *b"filetx\0\n";
const SLOT_BYTES: usize = 64;
const SLOT_OFFSETS: [u64; 2] = [0, 4096];
/// Where records begin.
pub(crate) const RECORDS_OFFSET: u64 = 8192;

/// An open journal and where its next record goes.
pub(crate) struct Journal {
    pub file: Arc<dyn StoredFile>,
    pub capacity: u64,
    pub chain: Chain,
    /// Where the next record goes.
    pub offset: u64,
}

/// The newest epoch of a journal, and its length.
struct Header {
    epoch: u64,
    capacity: u64,
}

/// The disk steps of writing a journal whole; the same work serves four occasions with different names.
pub(crate) struct Steps {
    pub write: Step,
    pub sync: Step,
    pub place: Step,
    pub sync_folder: Step,
}

/// Those of recovery.
pub(crate) const STABILISE: Steps = Steps {
    write: Step::Stabilise,
    sync: Step::SyncStabilised,
    place: Step::PlaceStabilised,
    sync_folder: Step::SyncStabilisedFolder,
};

impl Journal {
    /// Opens the journal of `root`; `None` when there is none. One that does not read is an error and is left alone.
    pub(crate) fn open(root: &Root, how: Open) -> Result<Option<Self>> {
        Self::open_at(root, &root.in_home(JOURNAL), how)
    }

    /// As `open`, for a journal that has another name by now.
    pub(crate) fn open_at(root: &Root, path: &RelPath, how: Open) -> Result<Option<Self>> {
        let Some(file) = root.open_if_there(path, how)? else { return Ok(None) };
        let header = read_header(root, path, &*file)?;
        let chain = Chain::start(header.epoch);
        Ok(Some(Self { file: file.into(), capacity: header.capacity, chain, offset: RECORDS_OFFSET }))
    }

    /// Reads the records from where this stands to the first that does not fit, and moves there.
    pub(crate) fn scan(&mut self, root: &Root) -> Result<Vec<Record>> {
        let mut records = Vec::new();
        while let Some(record) = self.next(root)? {
            records.push(record);
        }
        Ok(records)
    }

    /// Reads the next record and moves behind it; `None` when what is there does not fit.
    pub(crate) fn next(&mut self, root: &Root) -> Result<Option<Record>> {
        let path = root.in_home(JOURNAL);
        let read = |offset, len| root.name(Step::Inspect, &path, read_range(&*self.file, offset, len));
        let head = read(self.offset, HEAD_BYTES as u64)?;
        let Some(padded) = Record::padded_len(&head) else { return Ok(None) };
        if self.offset + padded as u64 > self.capacity {
            return Ok(None);
        }
        let bytes = read(self.offset, padded as u64)?;
        let damaged = |Malformed(reason)| Error::Damaged { path: root.show(&path), reason };
        let Some((record, chain)) = Record::decode(&bytes, self.chain).map_err(damaged)? else {
            return Ok(None);
        };
        self.chain = chain;
        self.offset += padded as u64;
        Ok(Some(record))
    }

    /// Whether another record of this epoch follows; afterwards this stands somewhere else. Behind the last record there may be one
    /// of an older epoch, which its head tells without reading all of it.
    pub(crate) fn goes_on(&mut self, root: &Root) -> Result<bool> {
        let path = root.in_home(JOURNAL);
        let head =
            root.name(Step::Inspect, &path, read_range(&*self.file, self.offset, HEAD_BYTES as u64))?;
        Ok(head.get(8..16) == Some(&self.chain.epoch.to_le_bytes()[..]) && self.next(root)?.is_some())
    }

    /// Writes a whole journal under another name and moves it into place: it is there with all its records, or not at all.
    /// `capacity` is rounded up to hold them.
    pub(crate) fn write_whole(
        root: &Root,
        epoch: u64,
        capacity: u64,
        records: &[Record],
        steps: &Steps,
        before_placing: impl FnOnce() -> Result<()>,
    ) -> Result<Self> {
        let tmp = root.in_home(JOURNAL_TMP);
        root.remove_if_there(steps.write, &tmp)?;
        let file = root.open(steps.write, &tmp, Open::Create { mode: OUR_FILE_MODE })?;
        let mut chain = Chain::start(epoch);
        let mut offset = RECORDS_OFFSET;
        for record in records {
            let (bytes, after) = record.encode(chain);
            if bytes.len() > BODY_BYTES_MAX {
                return Err(Error::TooLarge {
                    what: "a transaction's journal",
                    limit: BODY_BYTES_MAX as u64,
                });
            }
            root.name(steps.write, &tmp, file.write_at(&bytes, offset))?;
            chain = after;
            offset += bytes.len() as u64;
        }
        // Zeros that are written, not a hole: a later record then changes no metadata, so its sync is one write.
        let capacity = capacity.max(offset);
        let zeros = vec![0; (capacity - offset) as usize];
        root.name(steps.write, &tmp, file.write_at(&zeros, offset))?;
        root.name(steps.write, &tmp, file.write_at(&header_bytes(epoch, capacity), slot_offset(epoch)))?;
        root.name(steps.write, &tmp, file.write_at(&[0; SLOT_BYTES], slot_offset(epoch + 1)))?;
        root.sync_all(steps.sync, &tmp, &*file)?;
        before_placing()?;
        root.rename(steps.place, &tmp, &root.in_home(JOURNAL), crate::Rename::Replace)?;
        root.sync_folder(steps.sync_folder, &root.home)?;
        Ok(Self { file: file.into(), capacity, chain, offset })
    }

    /// Starts a new epoch: no record written so far is replayed any more.
    pub(crate) fn start_epoch(&mut self, root: &Root) -> Result<()> {
        let path = root.in_home(JOURNAL);
        let epoch = self.chain.epoch + 1;
        let slot = header_bytes(epoch, self.capacity);
        root.name(Step::WriteEpoch, &path, self.file.write_at(&slot, slot_offset(epoch)))?;
        root.sync_data(Step::SyncEpoch, &path, &*self.file)?;
        self.chain = Chain::start(epoch);
        self.offset = RECORDS_OFFSET;
        Ok(())
    }

    /// Whether `bytes` more fit.
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

/// The newer of the two slots that hold. A slot that a newer program wrote makes the whole journal unknown.
fn read_header(root: &Root, path: &RelPath, file: &dyn StoredFile) -> Result<Header> {
    let mut newest: Option<Header> = None;
    for offset in SLOT_OFFSETS {
        let bytes = root.name(Step::Inspect, path, read_range(file, offset, SLOT_BYTES as u64))?;
        if bytes.len() < SLOT_BYTES || bytes[0..8] != MAGIC {
            continue;
        }
        // The version comes before the checksum: a newer format may have another one.
        let version = u32::from_le_bytes(bytes[8..12].try_into().expect("four bytes"));
        if version > VERSION {
            return Err(Error::UnknownVersion { path: root.show(path), found: version, known: VERSION });
        }
        if Hash::of(&bytes[..32]).0 != bytes[32..] {
            continue;
        }
        let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let header = Header { epoch: number(16), capacity: number(24) };
        if newest.as_ref().is_none_or(|newest| newest.epoch < header.epoch) {
            newest = Some(header);
        }
    }
    newest.ok_or_else(|| Error::Damaged { path: root.show(path), reason: "neither header slot holds" })
}

/// The least room a journal has for records.
pub(crate) const CAPACITY_BYTES_MIN: u64 = RECORDS_OFFSET + 4 * SECTOR_BYTES as u64;
