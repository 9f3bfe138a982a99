//! The store's file: its path, its permissions, and its durability.
//!
//! The one module outside `filetx` that creates a folder and a file. Everything else is done by
//! SQLite, which gives the -wal and -shm files the mode of the main file.
//!
//! This module never opens an existing file: closing it would drop all POSIX locks of the process
//! on it, including those of SQLite.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::room;
use crate::{Error, Result};

/// Creates the folder (0700) and an empty file (0600) if they do not exist, and returns the
/// canonical path.
pub(crate) fn prepare(path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path).map_err(failed("find", path))?;
    if let Some(folder) = path.parent() {
        make_folder(folder).map_err(failed("make the folder", folder))?;
    }
    match make_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(failed("make", &path)(error));
        }
        _ => {}
    }
    let real = path.canonicalize().map_err(failed("find", &path))?;
    if !fs::metadata(&real).map_err(failed("look at", &real))?.is_file() {
        return Err(Error::NotAStore { path, reason: "it is not a file" });
    }
    Ok(real)
}

/// Identifies a file: two names of one file have the same identity, a file and its replacement do
/// not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity(u64, u64);

#[cfg(unix)]
pub(crate) fn identity(path: &Path) -> Result<Identity> {
    use std::os::unix::fs::MetadataExt;
    let found = fs::metadata(path).map_err(failed("look at", path))?;
    Ok(Identity(found.dev(), found.ino()))
}

/// Windows does not let an open file be removed or replaced.
#[cfg(not(unix))]
pub(crate) fn identity(path: &Path) -> Result<Identity> {
    fs::metadata(path).map_err(failed("look at", path))?;
    Ok(Identity(0, 0))
}

/// Makes the names of a new store durable: SQLite syncs its files, but not the folders above them.
/// Skips upper folders that are not readable, since we did not create them.
pub(crate) fn sync_folders(path: &Path) -> Result<()> {
    for (distance, folder) in path.ancestors().skip(1).enumerate() {
        match sync_folder(folder) {
            Err(error) if distance == 0 => return Err(failed("sync the folder", folder)(error)),
            _ => {}
        }
    }
    Ok(())
}

/// Fails if the disk of the store has no room for SQLite's shared memory.
pub(crate) fn check_room(path: &Path, action: &'static str) -> Result<()> {
    room::check(path).map_err(failed(action, path))
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| {
        let is_full = matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
        let source = Arc::new(source);
        if is_full { Error::Full { path, action, source } } else { Error::Io { action, path, source } }
    }
}

#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "the folder of the store, which SQLite does not make")]
fn make_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(unix)]
#[expect(
    clippy::disallowed_methods,
    reason = "an empty file with the right mode, which SQLite would not give it"
)]
fn make_file(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    // The umask may have removed bits.
    file.set_permissions(fs::Permissions::from_mode(0o600))
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    fs::File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
#[expect(clippy::disallowed_methods, reason = "the folder of the store, which SQLite does not make")]
fn make_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

#[cfg(not(unix))]
#[expect(clippy::disallowed_methods, reason = "an empty file, so that all systems do the same")]
fn make_file(path: &Path) -> io::Result<()> {
    fs::OpenOptions::new().write(true).create_new(true).open(path).map(drop)
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    // The file system journals names; there is nothing to call.
    Ok(())
}
