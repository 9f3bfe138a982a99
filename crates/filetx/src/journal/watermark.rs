//! The published mark: how far an own folder's files follow its journal, as long as the system runs.
//!
//! It is written after publishing and never synced. While the system runs, everybody sees what was written, so a mark of this
//! run can be believed; after a power cut files and mark may each be older or newer than the other, so a mark of another run
//! is worth nothing and everything in the journal is published again.
//!
//! | bytes | what |
//! |---|---|
//! | 0..16 | run of the system and of the mount |
//! | 16..24 | epoch |
//! | 24..32 | sequence number of the last published record |
//! | 32..40 | where the next record goes |
//! | 40..72 | checksum of the last published record |
//! | 72..104 | BLAKE3 of the bytes before |

use crate::disk::{Open, StoredFile};
use crate::journal::record::Chain;
use crate::root::{OUR_FILE_MODE, Root, read_range};
use crate::{Hash, Result, Step};

/// The mark's name in the transaction folder.
pub(crate) const PUBLISHED: &str = "published";
const MARK_BYTES: usize = 104;

/// Where publishing stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mark {
    pub chain: Chain,
    pub offset: u64,
}

/// Opens the mark to be written, making it when it is missing.
pub(crate) fn open(root: &Root) -> Result<Box<dyn StoredFile>> {
    let path = root.in_home(PUBLISHED);
    match root.storage.open(&path, Open::Write) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            root.open(Step::MakeHome, &path, Open::Create { mode: OUR_FILE_MODE })
        }
        file => root.name(Step::MakeHome, &path, file),
    }
}

/// What the mark says, when it is whole and of this run of the system.
pub(crate) fn read(root: &Root, file: &dyn StoredFile) -> Result<Option<Mark>> {
    let bytes = root.name(Step::Inspect, &root.in_home(PUBLISHED), read_range(file, 0, MARK_BYTES as u64))?;
    if bytes.len() < MARK_BYTES || Hash::of(&bytes[..72]).0 != bytes[72..] {
        return Ok(None);
    }
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let run = u128::from_le_bytes(bytes[..16].try_into().expect("16 bytes"));
    if root.storage.boot() != Some(run) && !Step::CheckBoot.is_left_out() {
        return Ok(None);
    }
    let last = Hash(bytes[40..72].try_into().expect("32 bytes"));
    Ok(Some(Mark { chain: Chain { epoch: number(16), sequence: number(24), last }, offset: number(32) }))
}

/// Writes the mark. Where runs cannot be told apart there is none to write.
pub(crate) fn write(root: &Root, file: &dyn StoredFile, mark: Mark) -> Result<()> {
    let Some(run) = root.storage.boot() else { return Ok(()) };
    let mut bytes = [0; MARK_BYTES];
    bytes[0..16].copy_from_slice(&run.to_le_bytes());
    bytes[16..24].copy_from_slice(&mark.chain.epoch.to_le_bytes());
    bytes[24..32].copy_from_slice(&mark.chain.sequence.to_le_bytes());
    bytes[32..40].copy_from_slice(&mark.offset.to_le_bytes());
    bytes[40..72].copy_from_slice(&mark.chain.last.0);
    let checksum = Hash::of(&bytes[..72]);
    bytes[72..].copy_from_slice(&checksum.0);
    root.name(Step::PublishInPlace, &root.in_home(PUBLISHED), file.write_at(&bytes, 0))
}

/// Takes the mark back: whoever opens next publishes everything again.
pub(crate) fn erase(root: &Root, file: &dyn StoredFile) -> Result<()> {
    root.name(Step::PublishInPlace, &root.in_home(PUBLISHED), file.write_at(&[0; MARK_BYTES], 0))
}
