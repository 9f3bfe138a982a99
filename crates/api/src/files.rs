//! Files that a frontend writes for people, such as manual pages.

use std::path::Path;

use filetx::{Disk, ReplaceOptions};

use crate::Error;

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
