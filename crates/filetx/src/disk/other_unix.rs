//! System calls of macOS and other Unix systems.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, fchmod, fstat, openat, statat};
use rustix::io::{Errno, Result};

use super::{FileId, FileKind, Restrictions, STICKY, Stat};

/// Flags of a folder handle for path lookups.
pub(super) const HANDLE: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

pub(super) fn resolves_beneath(_root: BorrowedFd<'_>) -> bool {
    false
}

/// Never called, because [`resolves_beneath`] returns `false`.
pub(super) fn open_beneath(_: BorrowedFd<'_>, _: &Path, _: OFlags, _: Mode) -> Result<OwnedFd> {
    Err(Errno::NOSYS)
}

pub(super) fn stat(folder: impl AsFd, name: &OsStr) -> Result<Stat> {
    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map(|found| from_stat(&found))
}

pub(super) fn stat_open(file: impl AsFd) -> Result<Stat> {
    fstat(file).map(|found| from_stat(&found))
}

fn from_stat(found: &rustix::fs::Stat) -> Stat {
    let device = found.st_dev as u64;
    Stat {
        kind: FileKind::of_mode(found.st_mode),
        mode: u32::from(found.st_mode) & 0o7777,
        len: found.st_size as u64,
        links: found.st_nlink.into(),
        id: FileId { device, inode: found.st_ino },
        mount: device,
    }
}

/// Without the flags of files: rustix does not report them here.
pub(super) fn restrictions(folder: impl AsFd, name: &OsStr) -> Result<Restrictions> {
    let found = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let user = rustix::process::geteuid();
    let is_other = found.st_uid != user.as_raw();
    Ok(Restrictions {
        other_owner: is_other.then_some(found.st_uid),
        acts_as_owner: !is_other || user.is_root(),
        is_sticky: u32::from(found.st_mode) & STICKY != 0,
        ..Restrictions::default()
    })
}

/// Opens a handle that stays on its file. Fails for a file that its owner may not read.
pub(super) fn pin(folder: impl AsFd, name: &OsStr) -> Result<OwnedFd> {
    openat(
        folder,
        name,
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC,
        Mode::empty(),
    )
}

pub(super) fn set_mode_pinned(pinned: &OwnedFd, mode: Mode) -> Result<()> {
    fchmod(pinned, mode)
}

pub(super) fn boot_id(_root: impl AsFd) -> Option<u128> {
    None
}

pub(super) fn is_copied(_name: &[u8]) -> bool {
    true
}

/// These systems give no such guarantee.
pub(super) fn syncfs_reports_errors(_root: impl AsFd) -> bool {
    false
}

/// Never called, because [`syncfs_reports_errors`] returns `false`.
pub(super) fn sync_file_system(_root: impl AsFd) -> Result<()> {
    Err(Errno::NOSYS)
}
