//! System calls of Linux.

use std::ffi::OsStr;
use std::fs;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::OnceLock;

use rustix::fs::StatxAttributes;
use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, ResolveFlags, Statx, StatxFlags, chmodat, fstatfs, makedev, openat, openat2,
    statx,
};
use rustix::io::Result;
use rustix::process::geteuid;
use rustix::thread::{CapabilitySet, capabilities};

use super::{FileId, FileKind, Restrictions, STICKY, Stat};

/// Flags of a folder handle for path lookups. Needs no read permission.
pub(super) const HANDLE: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// Flags of a handle on any file, without opening it.
const NODE: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The fields of a [`Stat`], without times: after a request for times, the kernel updates the inode
/// at every write.
const FIELDS: StatxFlags = StatxFlags::TYPE
    .union(StatxFlags::MODE)
    .union(StatxFlags::NLINK)
    .union(StatxFlags::INO)
    .union(StatxFlags::SIZE)
    .union(StatxFlags::MNT_ID);
/// `STATX_MNT_ID_UNIQUE` of the kernel's headers.
const MNT_ID_UNIQUE: StatxFlags = StatxFlags::from_bits_retain(0x4000);

/// Returns true if the kernel supports `openat2`. Tested once: older kernels lack it, and some
/// containers forbid it.
pub(super) fn resolves_beneath(root: BorrowedFd<'_>) -> bool {
    static RESOLVES: OnceLock<bool> = OnceLock::new();
    *RESOLVES.get_or_init(|| open_beneath(root, Path::new("."), HANDLE, Mode::empty()).is_ok())
}

pub(super) fn open_beneath(root: BorrowedFd<'_>, path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    openat2(root, path, flags, mode, resolve)
}

pub(super) fn stat(folder: impl AsFd, name: &OsStr) -> Result<Stat> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    statx(folder, name, flags, FIELDS).map(|found| from_statx(&found))
}

pub(super) fn stat_open(file: impl AsFd) -> Result<Stat> {
    statx(file, "", AtFlags::EMPTY_PATH, FIELDS).map(|found| from_statx(&found))
}

fn from_statx(found: &Statx) -> Stat {
    let device = makedev(found.stx_dev_major, found.stx_dev_minor);
    // Kernels before 5.8 have no mount id; use the device instead.
    let has_mount_id = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::MNT_ID);
    Stat {
        kind: FileKind::of_mode(found.stx_mode.into()),
        mode: u32::from(found.stx_mode) & 0o7777,
        len: found.stx_size,
        links: found.stx_nlink.into(),
        id: FileId { device, inode: found.stx_ino },
        mount: if has_mount_id { found.stx_mnt_id } else { device },
    }
}

pub(super) fn restrictions(folder: impl AsFd, name: &OsStr) -> Result<Restrictions> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    let found = statx(folder, name, flags, StatxFlags::MODE | StatxFlags::UID)?;
    let is_other = found.stx_uid != geteuid().as_raw();
    Ok(Restrictions {
        other_owner: is_other.then_some(found.stx_uid),
        acts_as_owner: !is_other || has_owner_capability(),
        is_sticky: u32::from(found.stx_mode) & STICKY != 0,
        is_immutable: found.stx_attributes.contains(StatxAttributes::IMMUTABLE),
        is_append_only: found.stx_attributes.contains(StatxAttributes::APPEND),
    })
}

/// Returns true if this thread may act as the owner of any file. Root may lack the capability.
fn has_owner_capability() -> bool {
    capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::FOWNER))
}

/// Opens a handle that stays on its file, so that a later symlink at the path is not followed.
pub(super) fn pin(folder: impl AsFd, name: &OsStr) -> Result<OwnedFd> {
    openat(folder, name, NODE, Mode::empty())
}

/// Sets the mode through `/proc`, which works for files that their owner may not read. Follows no
/// symlink: the handle is on the file.
pub(super) fn set_mode_pinned(pinned: &OwnedFd, mode: Mode) -> Result<()> {
    chmodat(CWD, format!("/proc/self/fd/{}", pinned.as_raw_fd()), mode, AtFlags::empty())
}

/// The id of the boot and of the mount: a disk that was removed and mounted again may have lost
/// unsynced writes. Kernels before 6.8 have no unique mount ids; there it is the boot alone.
pub(super) fn boot_id(root: impl AsFd) -> Option<u128> {
    static BOOT: OnceLock<Option<u128>> = OnceLock::new();
    let boot = *BOOT.get_or_init(|| {
        let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        u128::from_str_radix(&id.trim().replace('-', ""), 16).ok()
    });
    let found = statx(root, "", AtFlags::EMPTY_PATH, MNT_ID_UNIQUE).ok()?;
    let has_mount_id = StatxFlags::from_bits_retain(found.stx_mask).contains(MNT_ID_UNIQUE);
    boot.map(|boot| if has_mount_id { boot ^ u128::from(found.stx_mnt_id) } else { boot })
}

/// Magic numbers of file systems whose `syncfs` waits for all writes and reports failed ones: ext2
/// to 4, XFS, Btrfs, F2FS. Not overlay, network or FUSE file systems, where it may do nothing, and
/// not tmpfs, which has no disk.
const SYNCFS_FILE_SYSTEMS: [u64; 4] = [0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010];
/// First kernel whose `syncfs` reports all errors since its handle was opened: lost pages since
/// 5.8, errors of the file system since 5.17.
const SYNCFS_ERRORS_SINCE: (u32, u32) = (5, 17);

/// Returns true if one `syncfs` gives the same guarantee as a sync of each file.
pub(super) fn syncfs_reports_errors(root: impl AsFd) -> bool {
    static REPORTS: OnceLock<bool> = OnceLock::new();
    let kernel_reports = *REPORTS.get_or_init(|| {
        let release = rustix::system::uname().release().to_string_lossy().into_owned();
        is_since(&release, SYNCFS_ERRORS_SINCE)
    });
    kernel_reports && fstatfs(root).is_ok_and(|found| SYNCFS_FILE_SYSTEMS.contains(&(found.f_type as u64)))
}

pub(super) fn sync_file_system(root: impl AsFd) -> Result<()> {
    rustix::fs::syncfs(root)
}

/// Returns true if a kernel release, such as `6.8.0-45-generic`, is this version or later.
fn is_since(release: &str, since: (u32, u32)) -> bool {
    let mut numbers = release.split(|character: char| !character.is_ascii_digit()).map(str::parse);
    matches!((numbers.next(), numbers.next()), (Some(Ok(major)), Some(Ok(minor))) if (major, minor) >= since)
}

/// Returns true if a replaced file keeps an attribute. Not `trusted.*`, which belongs to the layers
/// of the file system, and not the two signatures of the content.
pub(super) fn is_copied(name: &[u8]) -> bool {
    match name {
        b"system.posix_acl_access" | b"system.posix_acl_default" => true,
        b"security.ima" | b"security.evm" => false,
        _ => name.starts_with(b"user.") || name.starts_with(b"security."),
    }
}

#[cfg(test)]
mod tests {
    use super::is_since;

    #[test]
    fn kernel_releases_compare_by_number() {
        for release in ["5.17.0", "6.8.0-45-generic", "6.18", "10.1-rc1"] {
            assert!(is_since(release, (5, 17)), "{release}");
        }
        for release in ["5.16.20", "4.19.0-amd64", "5", "", "next"] {
            assert!(!is_since(release, (5, 17)), "{release}");
        }
    }
}
