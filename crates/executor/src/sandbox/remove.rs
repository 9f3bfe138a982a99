//! Removes a whole folder, whatever it contains.
//!
//! Promises: removes nothing outside the folder, even if symlinks or folders are swapped during the
//! call; works at any depth with two handles, by moving inner folders up to the outermost; enters
//! folders that lack permissions of their owner.

use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, renameat, unlinkat};
use rustix::io::Errno;

use super::copy::{FOLDER, names};
use super::{FileError, FileResult};

pub(super) const REMOVE: &str = "remove";
/// Passes over a folder into which others put new files.
const ROUNDS_MAX: usize = 16;

/// Removes a folder, if it exists, with its content. Fails on a symlink. Fails with
/// [`FileError::Cancelled`] once `cancel` is set; another call continues.
pub fn remove_tree(folder: &Path, cancel: &AtomicBool) -> FileResult<()> {
    let failed = |source: io::Error| match cancel.load(Ordering::Relaxed) {
        true => FileError::Cancelled { action: REMOVE, path: folder.to_owned() },
        false => FileError::io(REMOVE, folder, source),
    };
    let top = match open(CWD, folder.as_os_str()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        top => top.map_err(failed)?,
    };
    let mut moved = 0;
    for _ in 0..ROUNDS_MAX {
        empty(&top, cancel, &mut moved).map_err(failed)?;
        match unlinkat(CWD, folder, AtFlags::REMOVEDIR) {
            Err(Errno::NOTEMPTY) => {}
            removed => return removed.map_err(|error| failed(error.into())),
        }
    }
    Err(failed(Errno::NOTEMPTY.into()))
}

/// Empties the outermost folder. Of each folder in it, removes the files, moves the folders up to the
/// outermost, and removes the folder.
fn empty(top: &File, cancel: &AtomicBool, moved: &mut u64) -> io::Result<()> {
    loop {
        let found = names(top)?;
        if found.is_empty() {
            return Ok(());
        }
        for name in found {
            if cancel.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            if remove_file(top, &name)? {
                continue;
            }
            let folder = open(top, &name)?;
            for inner in names(&folder)? {
                if !remove_file(&folder, &inner)? {
                    move_up(top, &folder, &inner, moved)?;
                }
            }
            // The next pass sees files that others put into it.
            match unlinkat(top, &name, AtFlags::REMOVEDIR) {
                Ok(()) | Err(Errno::NOTEMPTY) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Removes a file or symlink. Returns false for a folder.
fn remove_file(folder: &File, name: &OsStr) -> io::Result<bool> {
    match unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        // Linux returns the first, other systems the second.
        Err(Errno::ISDIR | Errno::PERM) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Moves a folder up to the outermost one, to a free name.
fn move_up(top: &File, folder: &File, name: &OsStr, moved: &mut u64) -> io::Result<()> {
    // Moving a folder needs write permission on it: `open` grants that.
    drop(open(folder, name)?);
    loop {
        *moved += 1;
        // A rename of a folder replaces an empty folder only.
        match renameat(folder, name, top, format!(".removed-{moved}")) {
            Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => {}
            renamed => return Ok(renamed?),
        }
    }
}

/// Opens a folder, and grants its owner all permissions through a handle that needs none.
fn open(parent: impl AsFd, name: &OsStr) -> io::Result<File> {
    let pin = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let pinned = File::from(openat(parent, name, pin, Mode::empty())?);
    if pinned.metadata()?.permissions().mode() & 0o700 != 0o700 {
        // The path in `/proc` leads to the opened folder, whatever its name leads to now.
        let by_handle = format!("/proc/self/fd/{}", pinned.as_raw_fd());
        std::fs::set_permissions(by_handle, Permissions::from_mode(0o700))?;
    }
    Ok(openat(&pinned, ".", FOLDER, Mode::empty())?.into())
}
