//! What Linux does its own way.

use std::ffi::OsStr;
use std::fs;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::OnceLock;

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, ResolveFlags, Statx, StatxFlags, chmodat, fstatfs, makedev, openat, openat2,
    statx,
};
use rustix::io::Result;

use super::{FileId, Kind, Stat};

/// A handle on a folder, to name things in it. Needs no read permission.
pub(super) const HANDLE: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// A handle on anything, without opening it.
const NODE: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// What a [`Stat`] holds, and no times: once somebody has asked for a file's times, the next write has to note its own exactly, which
/// changes the inode every time.
const ASKED: StatxFlags = StatxFlags::TYPE
    .union(StatxFlags::MODE)
    .union(StatxFlags::NLINK)
    .union(StatxFlags::INO)
    .union(StatxFlags::SIZE)
    .union(StatxFlags::MNT_ID);
/// `STATX_MNT_ID_UNIQUE` of the kernel's headers.
const MNT_ID_UNIQUE: StatxFlags = StatxFlags::from_bits_retain(0x4000);

/// Whether the kernel resolves confined. Asked once: older kernels lack the call, and some containers forbid it.
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
    statx(folder, name, flags, ASKED).map(|found| from_statx(&found))
}

pub(super) fn stat_open(file: impl AsFd) -> Result<Stat> {
    statx(file, "", AtFlags::EMPTY_PATH, ASKED).map(|found| from_statx(&found))
}

fn from_statx(found: &Statx) -> Stat {
    let device = makedev(found.stx_dev_major, found.stx_dev_minor);
    // Kernels before 5.8 do not tell the mount; the device is then the nearest thing.
    let tells_mount = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::MNT_ID);
    Stat {
        kind: Kind::of_mode(found.stx_mode.into()),
        mode: u32::from(found.stx_mode) & 0o7777,
        len: found.stx_size,
        links: found.stx_nlink.into(),
        id: FileId { device, inode: found.stx_ino },
        mount: if tells_mount { found.stx_mnt_id } else { device },
    }
}

/// A handle that stays on what it was opened on, so that a symlink put there later is not followed.
pub(super) fn pin(folder: impl AsFd, name: &OsStr) -> Result<OwnedFd> {
    openat(folder, name, NODE, Mode::empty())
}

/// By the handle's name in `/proc`: this works for files their owner may not read, where opening them would not, and
/// follows nothing, because the handle is already on the file.
pub(super) fn set_mode_pinned(pinned: &OwnedFd, mode: Mode) -> Result<()> {
    chmodat(CWD, format!("/proc/self/fd/{}", pinned.as_raw_fd()), mode, AtFlags::empty())
}

/// The run of the system and the mount: a disk that was taken off and mounted again may have lost what was not synced,
/// although the system ran on. Kernels before 6.8 do not number mounts uniquely; there it is the run alone.
pub(super) fn boot(root: impl AsFd) -> Option<u128> {
    static BOOT: OnceLock<Option<u128>> = OnceLock::new();
    let boot = *BOOT.get_or_init(|| {
        let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        u128::from_str_radix(&id.trim().replace('-', ""), 16).ok()
    });
    let found = statx(root, "", AtFlags::EMPTY_PATH, MNT_ID_UNIQUE).ok()?;
    let tells_mount = StatxFlags::from_bits_retain(found.stx_mask).contains(MNT_ID_UNIQUE);
    boot.map(|boot| if tells_mount { boot ^ u128::from(found.stx_mnt_id) } else { boot })
}

/// File systems on which `syncfs` waits for everything and notes what it could not write: ext2 to 4, XFS, Btrfs, F2FS. Not overlay,
/// network or FUSE file systems, where it may do nothing at all; and not tmpfs, where there is nothing to wait for.
const SYNCED_WHOLE: [u64; 4] = [0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010];
/// The first kernel on which `syncfs` reports all that went wrong since its handle was opened: lost pages since 5.8, and what the file
/// system itself says since 5.17.
const TELLS_SINCE: (u32, u32) = (5, 17);

/// Whether one `syncfs` is as good as a sync of each file.
pub(super) fn tells_what_was_lost(root: impl AsFd) -> bool {
    static TELLS: OnceLock<bool> = OnceLock::new();
    let kernel_tells = *TELLS.get_or_init(|| {
        let release = rustix::system::uname().release().to_string_lossy().into_owned();
        is_since(&release, TELLS_SINCE)
    });
    kernel_tells && fstatfs(root).is_ok_and(|found| SYNCED_WHOLE.contains(&(found.f_type as u64)))
}

pub(super) fn sync_file_system(root: impl AsFd) -> Result<()> {
    rustix::fs::syncfs(root)
}

/// Whether a kernel's name for itself, like `6.8.0-45-generic`, is of this version or later.
fn is_since(release: &str, since: (u32, u32)) -> bool {
    let mut numbers = release.split(|character: char| !character.is_ascii_digit()).map(str::parse);
    matches!((numbers.next(), numbers.next()), (Some(Ok(major)), Some(Ok(minor))) if (major, minor) >= since)
}

/// What a replaced file keeps. Not `trusted.*`, which belongs to the file system's layers; not the two signatures over the
/// content, which would be wrong for new content.
pub(super) fn is_kept(name: &[u8]) -> bool {
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
    fn kernels_are_told_apart_by_their_numbers() {
        for release in ["5.17.0", "6.8.0-45-generic", "6.18", "10.1-rc1"] {
            assert!(is_since(release, (5, 17)), "{release}");
        }
        for release in ["5.16.20", "4.19.0-amd64", "5", "", "next"] {
            assert!(!is_since(release, (5, 17)), "{release}");
        }
    }
}
