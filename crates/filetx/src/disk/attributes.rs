//! Copies the owner and the extended attributes of a file to another.
//!
//! Missing permissions are not errors: an ordinary user can neither change the owner of a file nor
//! label it, and a file system may not support attributes. Every other error is reported. A change
//! of owner clears set-user-id bits, so callers set the mode last.

use std::os::fd::OwnedFd;

use rustix::buffer::spare_capacity;
use rustix::fs::{
    Gid, Stat, Uid, XattrFlags, fchown, fgetxattr, flistxattr, flistxattr_query, fremovexattr, fsetxattr,
};
use rustix::io::{Errno, Result};

use super::system::is_copied;

/// Maximum length of a list of names or of a value on Linux, in bytes.
const ATTRIBUTE_BYTES_MAX: usize = 64 * 1024;

/// Copies the owner of `from` to `to`.
pub(super) fn copy_owner(from: &Stat, to: &OwnedFd, to_stat: &Stat) -> Result<()> {
    let user = (from.st_uid != to_stat.st_uid).then(|| Uid::from_raw(from.st_uid));
    let group = (from.st_gid != to_stat.st_gid).then(|| Gid::from_raw(from.st_gid));
    // Separate calls: a user may be allowed to change the group and not the owner.
    if group.is_some() {
        ignore_refusal(fchown(to, None, group))?;
    }
    if user.is_some() {
        ignore_refusal(fchown(to, user, None))?;
    }
    Ok(())
}

/// Makes the extended attributes of `to` equal to those of `from`. A new file may have inherited
/// entries of a default access list.
pub(super) fn copy_extended(from: &OwnedFd, to: &OwnedFd) -> Result<()> {
    let (wanted, present) = (list(from)?, list(to)?);
    for name in copied_names(&present).filter(|name| copied_names(&wanted).all(|other| other != *name)) {
        ignore_refusal(fremovexattr(to, name))?;
    }
    let mut value = Vec::new();
    for name in copied_names(&wanted) {
        value.clear();
        value.reserve(ATTRIBUTE_BYTES_MAX);
        if ignore_refusal(fgetxattr(from, name, spare_capacity(&mut value)).map(drop))? {
            ignore_refusal(fsetxattr(to, name, &value, XattrFlags::empty()))?;
        }
    }
    Ok(())
}

/// Lists the names of all attributes, each terminated by a NUL byte.
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

fn copied_names(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|byte| *byte == 0).filter(|name| !name.is_empty() && is_copied(name))
}

/// Returns `false` instead of an error if the call is not permitted or not supported.
fn ignore_refusal(result: Result<()>) -> Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(Errno::PERM | Errno::ACCESS | Errno::NOTSUP) => Ok(false),
        Err(error) => Err(error),
    }
}
