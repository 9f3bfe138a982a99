//! Files of the caller: those that a frontend writes for people, and those that it names as input.

use std::fs::File;
use std::path::Path;

pub use filetx::read_bounded;
use filetx::{Bounded, Disk, ReplaceOptions};

use crate::Error;

/// Maximum length of a pipe or a device, which has no length of its own.
pub(crate) const STREAM_BYTES_MAX: u64 = 256 << 20;

/// Opens an input file. A pipe or a device is read up to [`STREAM_BYTES_MAX`] bytes.
pub(crate) fn open(path: &Path) -> Result<Bounded<File>, Error> {
    let failed = |source| Error::File { action: "read", path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    let found = file.metadata().map_err(failed)?;
    // Files below /proc have no length either.
    let limit = if found.is_file() && found.len() > 0 { u64::MAX } else { STREAM_BYTES_MAX };
    Ok(Bounded::new(file, limit))
}

/// Writes a file durably, and creates its folder. `new_mode` are the permission bits of a new file.
pub fn write_file(path: &Path, content: &[u8], new_mode: u32) -> Result<(), Error> {
    if let Some(folder) = path.parent() {
        let failed = |source| Error::File { action: "make the folder", path: folder.to_owned(), source };
        Disk::create(folder, 0o755).map_err(failed)?;
    }
    let options = ReplaceOptions { new_mode, ..ReplaceOptions::default() };
    filetx::replace_file(path, content, &options)?;
    Ok(())
}
