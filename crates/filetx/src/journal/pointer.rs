//! The pointer: in every root but the main one, it says where the journal of a transaction over several roots is.
//!
//! | bytes | what |
//! |---|---|
//! | 0..4 | magic `FTXP` |
//! | 4..20 | transaction id |
//! | 20.. | path of the main root |
//! | last 32 | BLAKE3 of the bytes before |
//!
//! It is written whole under another name and renamed, so one that does not read was damaged later.

use std::path::{Path, PathBuf};

use crate::disk::{Open, Rename};
use crate::path::os_string;
use crate::root::{OUR_FILE_MODE, Root};
use crate::{Error, Hash, Result, Step};

/// The pointer's name in the transaction folder.
pub(crate) const POINTER: &str = "pointer";
pub(crate) const POINTER_TMP: &str = "pointer.tmp";
const MAGIC: [u8; 4] = *b"FTXP";

/// Where a transaction's journal is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Pointer {
    pub id: u128,
    pub main: PathBuf,
}

/// Step 4.1 to 4.3.
pub(crate) fn write(root: &Root, id: u128, main: &Path) -> Result<()> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(id.to_le_bytes());
    bytes.extend(main.as_os_str().as_encoded_bytes());
    let checksum = Hash::of(&bytes);
    bytes.extend(checksum.0);
    let (tmp, path) = (root.in_home(POINTER_TMP), root.in_home(POINTER));
    root.remove_if_there(Step::WritePointer, &tmp)?;
    let file = root.open(Step::WritePointer, &tmp, Open::Create { mode: OUR_FILE_MODE })?;
    root.name(Step::WritePointer, &tmp, file.write_at(&bytes, 0))?;
    root.sync_all(Step::SyncPointer, &tmp, &*file)?;
    root.rename(Step::WritePointer, &tmp, &path, Rename::Replace)?;
    root.sync_folder(Step::SyncPointerFolder, &root.home)
}

pub(crate) fn read(root: &Root) -> Result<Option<Pointer>> {
    let path = root.in_home(POINTER);
    let Some(bytes) = root.read(&path)? else { return Ok(None) };
    let damaged = |reason| Error::Damaged { path: root.show(&path), reason };
    let (body, checksum) = bytes.split_last_chunk::<32>().ok_or_else(|| damaged("it is too short"))?;
    if body.len() < 20 || body[..4] != MAGIC || Hash::of(body).0 != *checksum {
        return Err(damaged("its checksum does not hold"));
    }
    let id = u128::from_le_bytes(body[4..20].try_into().expect("16 bytes"));
    Ok(Some(Pointer { id, main: PathBuf::from(os_string(&body[20..])) }))
}

pub(crate) fn clear(root: &Root) -> Result<()> {
    root.remove_if_there(Step::ClearPointer, &root.in_home(POINTER))
}
