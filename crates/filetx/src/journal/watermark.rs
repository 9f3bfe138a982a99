//! The watermark: the last record of the journal that is in the files of an own folder, valid until
//! the system restarts.
//!
//! It is written after publishing and never synced. While the system runs, every process sees all
//! writes, so a watermark of this boot is valid. After a power cut, the files and the watermark may
//! each be older than the other, so a watermark of another boot is ignored and all records are
//! published again.
//!
//! | bytes | content |
//! |---|---|
//! | 0..16 | id of the boot and of the mount |
//! | 16..24 | epoch |
//! | 24..32 | sequence number of the last published record |
//! | 32..40 | offset of the next record |
//! | 40..72 | checksum of the last published record |
//! | 72..104 | BLAKE3 of bytes 0..72 |

use crate::disk::{OpenMode, StoredFile};
use crate::journal::Journal;
use crate::journal::record::Chain;
use crate::root::{OUR_FILE_MODE, Root, read_range};
use crate::{Hash, Result, Step};

/// Name of the watermark file in the transaction folder.
pub(crate) const PUBLISHED: &str = "published";
const WATERMARK_BYTES: usize = 104;

/// Position of the last published record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Watermark {
    pub chain: Chain,
    pub offset: u64,
}

impl Watermark {
    /// Returns true if this may be a position in a journal.
    pub(crate) fn is_in(&self, journal: &Journal) -> bool {
        self.chain.epoch == journal.chain.epoch && self.offset <= journal.capacity
    }
}

/// Opens the watermark file for writing, and creates it if it is missing.
pub(crate) fn open(root: &Root) -> Result<Box<dyn StoredFile>> {
    let path = root.in_txn_dir(PUBLISHED);
    match root.storage.open(&path, OpenMode::Write) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            root.open(Step::MakeTxnDir, &path, OpenMode::Create { mode: OUR_FILE_MODE })
        }
        file => root.with_step(Step::MakeTxnDir, &path, file),
    }
}

/// Reads the watermark, if it is valid and of this boot.
pub(crate) fn read(root: &Root, file: &dyn StoredFile) -> Result<Option<Watermark>> {
    let bytes = root.with_step(
        Step::Inspect,
        &root.in_txn_dir(PUBLISHED),
        read_range(file, 0, WATERMARK_BYTES as u64),
    )?;
    if bytes.len() < WATERMARK_BYTES || Hash::of(&bytes[..72]).0 != bytes[72..] {
        return Ok(None);
    }
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let boot_id = u128::from_le_bytes(bytes[..16].try_into().expect("16 bytes"));
    if root.storage.boot_id() != Some(boot_id) && !Step::CheckBoot.is_skipped() {
        return Ok(None);
    }
    let last_checksum = Hash(bytes[40..72].try_into().expect("32 bytes"));
    Ok(Some(Watermark {
        chain: Chain { epoch: number(16), sequence: number(24), last_checksum },
        offset: number(32),
    }))
}

/// Writes the watermark. Does nothing where the system has no boot id.
pub(crate) fn write(root: &Root, file: &dyn StoredFile, watermark: Watermark) -> Result<()> {
    let Some(boot_id) = root.storage.boot_id() else { return Ok(()) };
    let mut bytes = [0; WATERMARK_BYTES];
    bytes[0..16].copy_from_slice(&boot_id.to_le_bytes());
    bytes[16..24].copy_from_slice(&watermark.chain.epoch.to_le_bytes());
    bytes[24..32].copy_from_slice(&watermark.chain.sequence.to_le_bytes());
    bytes[32..40].copy_from_slice(&watermark.offset.to_le_bytes());
    bytes[40..72].copy_from_slice(&watermark.chain.last_checksum.0);
    let checksum = Hash::of(&bytes[..72]);
    bytes[72..].copy_from_slice(&checksum.0);
    root.with_step(Step::PublishInPlace, &root.in_txn_dir(PUBLISHED), file.write_at(&bytes, 0))
}

/// Erases the watermark: the next open publishes all records again.
pub(crate) fn erase(root: &Root, file: &dyn StoredFile) -> Result<()> {
    root.with_step(Step::PublishInPlace, &root.in_txn_dir(PUBLISHED), file.write_at(&[0; WATERMARK_BYTES], 0))
}
