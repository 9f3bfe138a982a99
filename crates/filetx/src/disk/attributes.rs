//! Owner and extended attributes of one file, given to another.
//!
//! As far as the process may: an ordinary user cannot give files away or label them, and a file system may have no attributes
//! at all. Those refusals are passed over; every other error is one. The mode is not touched here, and giving a file away clears its
//! set-user-id bits, so callers set the mode last.

use std::os::fd::OwnedFd;

use rustix::buffer::spare_capacity;
use rustix::fs::{
    Gid, Stat, Uid, XattrFlags, fchown, fgetxattr, flistxattr, flistxattr_query, fremovexattr, fsetxattr,
};
use rustix::io::{Errno, Result};

use super::system::is_kept;

/// The most that Linux returns as one list of names, or as one value.
const ATTRIBUTE_BYTES_MAX: usize = 64 * 1024;

/// Gives `to` the owner that `from` has.
pub(super) fn copy_owner(from: &Stat, to: &OwnedFd, to_stat: &Stat) -> Result<()> {
    let user = (from.st_uid != to_stat.st_uid).then(|| Uid::from_raw(from.st_uid));
    let group = (from.st_gid != to_stat.st_gid).then(|| Gid::from_raw(from.st_gid));
    // Each alone: who may not give the file to another user may still give it to one of their own groups.
    if group.is_some() {
        pass_over_refusal(fchown(to, None, group))?;
    }
    if user.is_some() {
        pass_over_refusal(fchown(to, user, None))?;
    }
    Ok(())
}

/// Gives `to` the extended attributes that `from` has, and no others: a file made in a folder with a default access list
/// starts with entries that `from` may not have.
pub(super) fn copy_extended(from: &OwnedFd, to: &OwnedFd) -> Result<()> {
    let (wanted, present) = (list(from)?, list(to)?);
    for name in kept_names(&present).filter(|name| kept_names(&wanted).all(|other| other != *name)) {
        pass_over_refusal(fremovexattr(to, name))?;
    }
    let mut value = Vec::new();
    for name in kept_names(&wanted) {
        value.clear();
        value.reserve(ATTRIBUTE_BYTES_MAX);
        if pass_over_refusal(fgetxattr(from, name, spare_capacity(&mut value)).map(drop))? {
            pass_over_refusal(fsetxattr(to, name, &value, XattrFlags::empty()))?;
        }
    }
    Ok(())
}

/// The names of all attributes, each ended by a NUL byte.
fn list(file: &OwnedFd) -> Result<Vec<u8>> {
    let mut names = Vec::new();
    match flistxattr_query(file) {
        Ok(0) | Err(Errno::NOTSUP) => {}
        Ok(_) => {
            names.reserve(ATTRIBUTE_BYTES_MAX);
            flistxattr(file, spare_capacity(&mut names))?;
        }
        Err(error) => return Err(error),
    }
    Ok(names)
}

fn kept_names(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|byte| *byte == 0).filter(|name| !name.is_empty() && is_kept(name))
}

/// Whether it was done; not being allowed to, or the file system not knowing how, is no error.
fn pass_over_refusal(done: Result<()>) -> Result<bool> {
    match done {
        Ok(()) => Ok(true),
        Err(Errno::PERM | Errno::ACCESS | Errno::NOTSUP) => Ok(false),
        Err(error) => Err(error),
    }
}
