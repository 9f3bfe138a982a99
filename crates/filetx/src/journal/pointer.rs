//! The pointer: leads from every other root of a transaction to the main root, which holds the
//! journal.
//!
//! | bytes | content |
//! |---|---|
//! | 0..4 | magic `FTXP` |
//! | 4..20 | transaction id |
//! | 20.. | path of the main root |
//! | last 32 | BLAKE3 of all bytes before |
//!
//! It is created under a temporary name and renamed, so an invalid pointer was damaged later.

use std::path::{Path, PathBuf};

use crate::disk::{OpenMode, RenameMode};
use crate::path::os_string;
use crate::root::{OUR_FILE_MODE, Root};
use crate::{Error, Hash, Result, Step};

/// Name of the pointer in the transaction folder.
pub(crate) const POINTER: &str = "pointer";
pub(crate) const POINTER_TMP: &str = "pointer.tmp";
const MAGIC: [u8; 4] = *b"FTXP";

/// The location of the journal of a transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Pointer {
    pub id: u128,
    pub main: PathBuf,
}

/// Steps 4.1 to 4.3: writes the pointer, durably.
pub(crate) fn write(root: &Root, id: u128, main: &Path) -> Result<()> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(id.to_le_bytes());
    bytes.extend(main.as_os_str().as_encoded_bytes());
    let checksum = Hash::of(&bytes);
    bytes.extend(checksum.0);
    let (tmp, path) = (root.in_txn_dir(POINTER_TMP), root.in_txn_dir(POINTER));
    root.remove_if_exists(Step::WritePointer, &tmp)?;
    let file = root.open(Step::WritePointer, &tmp, OpenMode::Create { mode: OUR_FILE_MODE })?;
    root.with_step(Step::WritePointer, &tmp, file.write_at(&bytes, 0))?;
    root.sync_all(Step::SyncPointer, &tmp, &*file)?;
    root.rename(Step::WritePointer, &tmp, &path, RenameMode::Replace)?;
    root.sync_folder(Step::SyncPointerFolder, &root.txn_dir)
}

pub(crate) fn read(root: &Root) -> Result<Option<Pointer>> {
    let path = root.in_txn_dir(POINTER);
    let Some(bytes) = root.read(&path)? else { return Ok(None) };
    let corrupt = |reason| Error::CorruptJournal { path: root.full_path(&path), reason };
    let (body, checksum) = bytes.split_last_chunk::<32>().ok_or_else(|| corrupt("it is too short"))?;
    if body.len() < 20 || body[..4] != MAGIC || Hash::of(body).0 != *checksum {
        return Err(corrupt("its checksum is wrong"));
    }
    let id = u128::from_le_bytes(body[4..20].try_into().expect("16 bytes"));
    Ok(Some(Pointer { id, main: PathBuf::from(os_string(&body[20..])) }))
}

/// Steps 6.3 and 6.4: removes the pointer, durably. The owner of the transaction forgets it
/// afterwards, and would not vouch for a pointer that a power cut brings back.
pub(crate) fn clear(root: &Root) -> Result<()> {
    root.remove_if_exists(Step::ClearPointer, &root.in_txn_dir(POINTER))?;
    root.sync_folder(Step::SyncCleared, &root.txn_dir)
}
