//! Room on the disk for SQLite's shared memory.
//!
//! The -shm file is mapped into memory. If the disk is full or a quota exceeded, writing to a part that
//! has no blocks yet ends the process with SIGBUS, where `write` would return an error: with blocks
//! smaller than a page, and on file systems that allocate blocks for every change. So room is
//! reserved, and given back, before SQLite touches the file.

use std::io;
use std::path::Path;

/// Bytes that SQLite needs before its next write would fail properly: several pages of the -shm file
/// with what the file system needs to find them.
pub(crate) const ROOM_BYTES: u64 = 128 << 10;

/// Fails if the folder of a file has no room.
#[cfg(target_os = "linux")]
pub(crate) fn check(path: &Path) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, Mode, OFlags, fallocate, open};

    let Some(folder) = path.parent() else { return Ok(()) };
    // A file without a name vanishes when it is closed.
    let file = match open(folder, OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR)
    {
        // Not offered by this file system, or the folder cannot be written to: SQLite reports that.
        Err(error) if !is_full(error) => return Ok(()),
        file => file?,
    };
    match fallocate(&file, FallocateFlags::empty(), 0, ROOM_BYTES) {
        Err(error) if is_full(error) => Err(error.into()),
        _ => Ok(()),
    }
}

#[cfg(target_os = "linux")]
fn is_full(error: rustix::io::Errno) -> bool {
    [rustix::io::Errno::NOSPC, rustix::io::Errno::DQUOT].contains(&error)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn check(_: &Path) -> io::Result<()> {
    Ok(())
}
