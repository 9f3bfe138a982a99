//! System calls of locks that std does not offer on every platform.
//!
//! | | Linux | other unix | Windows |
//! |---|---|---|---|
//! | identity of a file | device, inode | device, inode | volume serial number, file index |
//! | network file system | by the magic number | not detected | a UNC path; mapped drives are not detected |
//! | is a process alive | signal 0 | signal 0 | unknown: assumed alive |
//! | is a lock held in shared mode | by `/proc/locks` | unknown: assumed not | unknown: assumed not |
//! | the holder note | in the lock file | in the lock file | in `<lock>.holder`, because locks are mandatory |

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::OnceLock;

use crate::FileId;

pub(crate) use system::*;

/// Mode of opening a lock file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    /// An existing file, read only.
    Read,
    /// An existing file.
    Write,
    /// A new file, private to its owner.
    Create,
}

/// Name of the running program, without its arguments, which may contain secrets.
pub(crate) fn command() -> &'static str {
    static COMMAND: OnceLock<String> = OnceLock::new();
    COMMAND.get_or_init(|| {
        let first = std::env::args_os().next().unwrap_or_default();
        let name = Path::new(&first).file_name().unwrap_or(OsStr::new("unknown"));
        name.to_string_lossy().into_owned()
    })
}

/// Reads the start of a file, up to the length of the buffer.
pub(crate) fn read_start(file: &File, buffer: &mut [u8]) -> io::Result<usize> {
    read_at(file, buffer, 0)
}

#[cfg(unix)]
mod system {
    use std::os::fd::OwnedFd;
    use std::os::unix::fs::{FileExt, MetadataExt};

    use rustix::fs::{Mode, OFlags, Stat};
    use rustix::io::Errno;
    use rustix::process::{Pid, test_kill_process};

    use super::*;

    /// Mode of a lock file, regardless of the umask.
    const LOCK_MODE: Mode = Mode::RUSR.union(Mode::WUSR);

    /// Opens a lock file. Does not follow a symlink, and does not wait for the other end of a FIFO.
    pub(crate) fn open(path: &Path, access: Access) -> io::Result<File> {
        open_with(access, |flags, mode| rustix::fs::open(path, flags, mode))
    }

    /// Opens a lock file by another call of the system.
    pub(crate) fn open_with(
        access: Access,
        open: impl FnOnce(OFlags, Mode) -> rustix::io::Result<OwnedFd>,
    ) -> io::Result<File> {
        let always = OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let (flags, mode) = match access {
            Access::Read => (OFlags::RDONLY, Mode::empty()),
            Access::Write => (OFlags::RDWR, Mode::empty()),
            Access::Create => (OFlags::RDWR | OFlags::CREATE | OFlags::EXCL, LOCK_MODE),
        };
        let file = File::from(open(always | flags, mode)?);
        if access == Access::Create && file.metadata()?.mode() & 0o7777 != LOCK_MODE.bits() {
            rustix::fs::fchmod(&file, LOCK_MODE)?;
        }
        Ok(file)
    }

    pub(crate) fn id_of(file: &File) -> io::Result<FileId> {
        Ok(id(&rustix::fs::fstat(file)?))
    }

    /// Identity of the file at `path`; `None` if it does not exist.
    pub(crate) fn id_at(path: &Path) -> io::Result<Option<FileId>> {
        match file_id(path) {
            Ok(id) => Ok(Some(id)),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Identity of the folder at `path`; `None` if it does not exist.
    pub(crate) fn folder_id_at(path: &Path) -> io::Result<Option<FileId>> {
        id_at(path)
    }

    /// Requests only the inode. After a request for times, the next write of the holder note costs
    /// a third more than acquiring the lock, because the kernel updates the time.
    #[cfg(target_os = "linux")]
    fn file_id(path: &Path) -> rustix::io::Result<FileId> {
        use rustix::fs::{AtFlags, CWD, StatxFlags, makedev, statx};
        let found = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::INO)?;
        Ok(FileId { device: makedev(found.stx_dev_major, found.stx_dev_minor), inode: found.stx_ino })
    }

    #[cfg(not(target_os = "linux"))]
    fn file_id(path: &Path) -> rustix::io::Result<FileId> {
        Ok(id(&rustix::fs::lstat(path)?))
    }

    #[cfg_attr(target_os = "linux", expect(clippy::unnecessary_cast, reason = "the types differ elsewhere"))]
    fn id(stat: &Stat) -> FileId {
        FileId { device: stat.st_dev as u64, inode: stat.st_ino as u64 }
    }

    pub(crate) fn is_alive(pid: u32) -> bool {
        let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
        // EPERM means a process of another user.
        test_kill_process(pid) != Err(Errno::SRCH)
    }

    /// Returns true if readers hold the lock of a file, if the system reports it.
    pub(crate) fn is_locked_shared(id: FileId) -> bool {
        cfg!(target_os = "linux")
            && std::fs::read_to_string("/proc/locks").is_ok_and(|locks| lists_shared(&locks, id))
    }

    /// A line of `/proc/locks`: `1: FLOCK  ADVISORY  READ 42 fe:00:1234 0 EOF` (device in
    /// hexadecimal, inode in decimal).
    fn lists_shared(locks: &str, id: FileId) -> bool {
        let (major, minor) = (rustix::fs::major(id.device), rustix::fs::minor(id.device));
        let file = format!("{major:02x}:{minor:02x}:{}", id.inode);
        locks.lines().any(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            matches!(fields[..], [_, "FLOCK", _, "READ", _, found, ..] if found == file)
        })
    }

    /// Opens the file with the holder note, if it is not the lock file.
    pub(crate) fn open_note(_path: &Path, _access: Access) -> Option<File> {
        None
    }

    pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        file.read_at(buffer, offset)
    }

    pub(crate) fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
        file.write_at(bytes, offset)
    }

    /// Name of the network file system of a file; `None` for a local one.
    #[cfg(target_os = "linux")]
    pub(crate) fn network(file: &File, _path: &Path) -> io::Result<Option<&'static str>> {
        Ok(network_name(rustix::fs::fstatfs(file)?.f_type as u32))
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn network(_file: &File, _path: &Path) -> io::Result<Option<&'static str>> {
        Ok(None)
    }

    /// The magic numbers of linux/magic.h and of the headers of the file systems.
    ///
    /// FUSE is missing: most FUSE file systems are local, the kernel implements `flock` unless the
    /// file system overrides it, and sshfs cannot be distinguished from a local one.
    #[cfg(target_os = "linux")]
    fn network_name(magic: u32) -> Option<&'static str> {
        Some(match magic {
            0x6969 => "nfs",
            0x517b => "smb",
            0xfe53_4d42 => "smb2",
            0xff53_4d42 => "cifs",
            0x5346_414f | 0x6b41_4653 => "afs",
            0x0102_1997 => "9p",
            0x00c3_6400 => "ceph",
            0x0bd0_0bd0 => "lustre",
            _ => return None,
        })
    }

    #[cfg(all(test, target_os = "linux"))]
    mod tests {
        use super::*;

        #[test]
        fn network_file_systems_are_detected_by_magic_number() {
            let known = [
                0x6969,
                0x517b,
                0xfe53_4d42,
                0xff53_4d42,
                0x6b41_4653,
                0x5346_414f,
                0x0102_1997,
                0x00c3_6400,
            ];
            assert!(known.into_iter().all(|magic| network_name(magic).is_some()));
            assert_eq!(network_name(0x0bd0_0bd0), Some("lustre"));
            for (local, magic) in [("ext4", 0xef53), ("tmpfs", 0x0102_1994), ("fuse", 0x6573_5546)] {
                assert_eq!(network_name(magic), None, "{local}");
            }
        }

        #[test]
        fn shared_locks_are_found_in_proc_locks() {
            let id = FileId { device: rustix::fs::makedev(0xfe, 1), inode: 1234 };
            let check = |locks: &str| lists_shared(locks, id);
            assert!(check("9: POSIX junk\n\n1: FLOCK  ADVISORY  READ 42 fe:01:1234 0 EOF\n"));
            assert!(!check("1: FLOCK  ADVISORY  WRITE 42 fe:01:1234 0 EOF\n"), "held alone");
            assert!(!check("1: -> FLOCK  ADVISORY  READ 42 fe:01:1234 0 EOF\n"), "waits");
            assert!(!check("1: FLOCK  ADVISORY  READ 42 fe:01:12345 0 EOF\n"), "another file");
            assert!(!check("1: FLOCK  ADVISORY  READ 42 fe:02:1234 0 EOF\n"), "another disk");
            assert!(!check(""));
        }

        #[test]
        fn dead_processes_are_not_alive() {
            assert!(is_alive(std::process::id()));
            assert!(is_alive(1), "also when it is another user's");
            let mut child = std::process::Command::new("true").spawn().unwrap();
            child.wait().unwrap();
            assert!(!is_alive(child.id()));
            assert!(!is_alive(0) && !is_alive(u32::MAX));
        }
    }

    /// Returns true if an error means that a path leads through a symlink.
    pub(crate) fn is_through_symlink(error: &io::Error) -> bool {
        error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
    }
}

#[cfg(windows)]
mod system {
    use std::fs::OpenOptions;
    use std::os::windows::fs::{FileExt, OpenOptionsExt};
    use std::path::{Component, Prefix};

    use winapi_util::file::information;

    use super::*;

    /// Opens a link, not its target.
    const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
    const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;

    pub(crate) fn open(path: &Path, access: Access) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(access != Access::Read).create_new(access == Access::Create);
        options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(path)
    }

    pub(crate) fn id_of(file: &File) -> io::Result<FileId> {
        let information = information(file)?;
        Ok(FileId { device: information.volume_serial_number(), inode: information.file_index() })
    }

    /// Identity of the file at `path`; `None` if it does not exist.
    pub(crate) fn id_at(path: &Path) -> io::Result<Option<FileId>> {
        match open(path, Access::Read) {
            Ok(file) => id_of(&file).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Identity of the folder at `path`; `None` if it does not exist. Opening a folder needs a
    /// special flag.
    pub(crate) fn folder_id_at(path: &Path) -> io::Result<Option<FileId>> {
        let flags = FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS;
        match OpenOptions::new().read(true).custom_flags(flags).open(path) {
            Ok(file) => id_of(&file).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Unknown: std has no call for it.
    pub(crate) fn is_alive(_pid: u32) -> bool {
        true
    }

    /// Unknown on this system.
    pub(crate) fn is_locked_shared(_id: FileId) -> bool {
        false
    }

    /// Opens the file with the holder note, if it is not the lock file.
    pub(crate) fn open_note(path: &Path, access: Access) -> Option<File> {
        let mut name = path.as_os_str().to_owned();
        name.push(".holder");
        let write = access != Access::Read;
        OpenOptions::new().read(true).write(write).create(write).truncate(false).open(name).ok()
    }

    pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        file.seek_read(buffer, offset)
    }

    pub(crate) fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
        file.seek_write(bytes, offset)
    }

    pub(crate) fn network(_file: &File, path: &Path) -> io::Result<Option<&'static str>> {
        let Some(Component::Prefix(prefix)) = path.components().next() else { return Ok(None) };
        Ok(matches!(prefix.kind(), Prefix::UNC(..) | Prefix::VerbatimUNC(..)).then_some("a network share"))
    }

    /// Always `false`: std has no name for the error, and `cap-std` rejects such paths.
    pub(crate) fn is_through_symlink(_error: &io::Error) -> bool {
        false
    }
}
