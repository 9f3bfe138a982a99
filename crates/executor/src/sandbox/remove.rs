//! Removing a whole folder, whatever was made in it.
//!
//! Promises: nothing outside the folder is removed, by symlinks or by folders that are swapped meanwhile; it works at any depth and with
//! two handles, because folders inside folders are first moved up to the outermost; folders that their owner may not enter are
//! entered nevertheless.

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
/// How often a folder is gone through again because something was put into it meanwhile.
const ROUNDS_MAX: usize = 16;

/// Removes a folder with all that is in it; one that is gone is fine, a symlink in its place is an error. Ends with
/// [`FileError::Cancelled`] once `cancel` is set; calling it again goes on.
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

/// Goes through the names of the outermost folder until there are none. A folder among them gives its own folders up to the outermost,
/// loses its files, and goes.
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
            // Should something have been put into it meanwhile, the next time around sees it.
            match unlinkat(top, &name, AtFlags::REMOVEDIR) {
                Ok(()) | Err(Errno::NOTEMPTY) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Whether it is gone; a folder is not removed.
fn remove_file(folder: &File, name: &OsStr) -> io::Result<bool> {
    match unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        // Linux says the first, other systems the second.
        Err(Errno::ISDIR | Errno::PERM) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Moves a folder to the outermost one, under a name that is free there.
fn move_up(top: &File, folder: &File, name: &OsStr, moved: &mut u64) -> io::Result<()> {
    // To be moved elsewhere a folder must be one that its owner may change.
    drop(open(folder, name)?);
    loop {
        *moved += 1;
        // A folder takes the place of an empty one only, and of nothing else.
        match renameat(folder, name, top, format!(".removed-{moved}")) {
            Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => {}
            renamed => return Ok(renamed?),
        }
    }
}

/// Opens a folder and makes sure that its owner may change it, first by a handle that needs no permission.
fn open(parent: impl AsFd, name: &OsStr) -> io::Result<File> {
    let pin = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let pinned = File::from(openat(parent, name, pin, Mode::empty())?);
    if pinned.metadata()?.permissions().mode() & 0o700 != 0o700 {
        // By the handle's name in `/proc`, which follows nothing: the handle is on the folder already.
        let by_handle = format!("/proc/self/fd/{}", pinned.as_raw_fd());
        std::fs::set_permissions(by_handle, Permissions::from_mode(0o700))?;
    }
    Ok(openat(&pinned, ".", FOLDER, Mode::empty())?.into())
}
