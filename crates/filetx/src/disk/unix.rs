//! The real disk: one root folder of a Unix file system.
//!
//! Promises: never reads or writes outside of the root (see `confined.rs`); never opens a FIFO,
//! socket or device; modes are exact regardless of the umask; every sync is counted.
//!
//! No locks, retries or fallbacks: a refusal of the system is an error. The transaction handles
//! concurrent changes *inside* the root.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::OnceLock;

use rustix::fs::{
    Access, AtFlags, Dir, Mode, OFlags, RawMode, RenameFlags, accessat, fchmod, fstat, linkat, mkdirat,
    readlinkat, renameat, renameat_with, statat, symlinkat, unlinkat,
};
use rustix::io::{Errno, retry_on_intr};

use super::confined::ConfinedDir;
use super::sync_count::count_sync;
use super::{
    FileKind, FsSync, OpenMode, RenameMode, Restrictions, Stat, Storage, StoredFile, attributes, system,
};
use crate::RelPath;

/// One root folder on the real disk.
#[derive(Debug)]
pub struct Disk {
    dir: ConfinedDir,
    boot_id: OnceLock<Option<u128>>,
}

impl Disk {
    /// Opens an existing folder. The path `root` may contain symlinks; paths below it may not.
    pub fn open(root: &Path) -> io::Result<Self> {
        Ok(Self { dir: ConfinedDir::open_root(root)?, boot_id: OnceLock::new() })
    }

    /// Opens an existing folder to look up paths below it, which needs no read permission. The root
    /// itself can be neither listed nor synced.
    pub(crate) fn open_for_lookup(root: &Path) -> io::Result<Self> {
        Ok(Self { dir: ConfinedDir::open_root_for_lookup(root)?, boot_id: OnceLock::new() })
    }

    /// Opens a file with the given flags, without following a symlink.
    pub(crate) fn open_with(&self, path: &RelPath, flags: OFlags, mode: Mode) -> rustix::io::Result<OwnedFd> {
        self.dir.open(path, flags, mode)
    }

    /// Opens a folder, or creates it with its missing parents, each with this mode, durably.
    pub fn create(root: &Path, mode: u32) -> io::Result<Self> {
        match Self::open(root) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make_durable_folder(root, mode)?;
                Self::open(root)
            }
            opened => opened,
        }
    }

    /// Opens a plain file.
    fn open_plain(&self, path: &RelPath, access: OFlags) -> io::Result<OwnedFd> {
        // Check first: even a non-blocking open releases the writer of a FIFO or rewinds a tape.
        // This check may follow a symlink or be outdated, so it can only refuse; the confined open
        // decides.
        let found = match self.dir.cached_folder_of(path) {
            Some((folder, name)) => system::stat(folder, name),
            None => system::stat(self.dir.root(), path.as_path().as_os_str()),
        };
        if let Ok(found) = found {
            check_plain(&found)?;
        }
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = self.dir.open(path, flags, Mode::empty())?;
        check_plain(&system::stat_open(&file)?)?;
        Ok(file)
    }

    fn create_plain(&self, path: &RelPath, mode: Mode) -> io::Result<OwnedFd> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = self.dir.open(path, flags, mode)?;
        // The umask may have cleared bits.
        fchmod(&file, mode).inspect_err(|_| drop(self.remove_file(path)))?;
        Ok(file)
    }

    /// Opens a folder, to list it or as a base of relative paths.
    pub fn open_folder(&self, folder: &RelPath) -> io::Result<OwnedFd> {
        Ok(self.dir.open(folder, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
    }
}

impl Storage for Disk {
    fn stat(&self, path: &RelPath) -> io::Result<Option<Stat>> {
        let found = self.dir.folder_of(path).and_then(|(folder, name)| system::stat(folder, name));
        match found {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn open(&self, path: &RelPath, mode: OpenMode) -> io::Result<Box<dyn StoredFile>> {
        let file = match mode {
            OpenMode::Read => self.open_plain(path, OFlags::RDONLY)?,
            OpenMode::Write => self.open_plain(path, OFlags::RDWR)?,
            OpenMode::Create { mode } => self.create_plain(path, to_mode(mode))?,
        };
        Ok(Box::new(DiskFile(file.into())))
    }

    fn list(&self, folder: &RelPath) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::new(self.open_folder(folder)?)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push(OsStr::from_bytes(name).to_owned());
            }
        }
        Ok(names)
    }

    fn read_link(&self, path: &RelPath) -> io::Result<OsString> {
        let (folder, name) = self.dir.folder_of(path)?;
        Ok(OsString::from_vec(readlinkat(folder, name, Vec::new())?.into_bytes()))
    }

    fn make_folder(&self, path: &RelPath, mode: u32) -> io::Result<()> {
        let (folder, name) = self.dir.folder_of(path)?;
        mkdirat(&folder, name, to_mode(mode))?;
        // The umask may have cleared bits, and the parent may have passed on its set-group-id bit.
        Ok(system::set_mode_pinned(&system::pin(folder, name)?, to_mode(mode))?)
    }

    fn make_symlink(&self, target: &OsStr, path: &RelPath) -> io::Result<()> {
        let (folder, name) = self.dir.folder_of(path)?;
        Ok(symlinkat(target, folder, name)?)
    }

    fn link(&self, from: &RelPath, to: &RelPath) -> io::Result<()> {
        let (from_folder, from_name) = self.dir.folder_of(from)?;
        let (to_folder, to_name) = self.dir.folder_of(to)?;
        Ok(linkat(from_folder, from_name, to_folder, to_name, AtFlags::empty())?)
    }

    fn rename(&self, from: &RelPath, to: &RelPath, mode: RenameMode) -> io::Result<()> {
        let (from_folder, from_name) = self.dir.folder_of(from)?;
        let (to_folder, to_name) = self.dir.folder_of(to)?;
        let flags = match mode {
            RenameMode::Replace => return Ok(renameat(from_folder, from_name, to_folder, to_name)?),
            RenameMode::NoReplace => RenameFlags::NOREPLACE,
            RenameMode::Exchange => RenameFlags::EXCHANGE,
        };
        renameat_with(from_folder, from_name, to_folder, to_name, flags).map_err(|error| match error {
            // File systems and kernels without the flag return one of these.
            Errno::INVAL | Errno::NOSYS | Errno::NOTSUP => io::ErrorKind::Unsupported.into(),
            error => error.into(),
        })
    }

    fn remove_file(&self, path: &RelPath) -> io::Result<()> {
        let (folder, name) = self.dir.folder_of(path)?;
        Ok(unlinkat(folder, name, AtFlags::empty())?)
    }

    fn remove_folder(&self, path: &RelPath) -> io::Result<()> {
        let (folder, name) = self.dir.folder_of(path)?;
        Ok(unlinkat(folder, name, AtFlags::REMOVEDIR)?)
    }

    fn set_mode(&self, path: &RelPath, mode: u32) -> io::Result<()> {
        let (folder, name) = self.dir.folder_of(path)?;
        let pinned = system::pin(folder, name)?;
        match system::stat_open(&pinned)?.kind {
            FileKind::File | FileKind::Folder => Ok(system::set_mode_pinned(&pinned, to_mode(mode))?),
            FileKind::Symlink | FileKind::Other => Err(refused("neither a plain file nor a folder")),
        }
    }

    fn copy_attributes(&self, from: &RelPath, to: &RelPath) -> io::Result<()> {
        let to = self.open_plain(to, OFlags::RDONLY)?;
        let to_stat = fstat(&to)?;
        match self.open_plain(from, OFlags::RDONLY) {
            Ok(from) => {
                attributes::copy_owner(&fstat(&from)?, &to, &to_stat)?;
                attributes::copy_extended(&from, &to)?;
            }
            // An unreadable file has unreadable attributes. Its owner is readable.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let (folder, name) = self.dir.folder_of(from)?;
                let from_stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
                attributes::copy_owner(&from_stat, &to, &to_stat)?;
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn sync_folder(&self, folder: &RelPath) -> io::Result<()> {
        if folder.is_root() {
            return sync(self.dir.root());
        }
        sync(&self.open_folder(folder)?.into())
    }

    fn check_writable(&self, folder: &RelPath) -> io::Result<()> {
        // Also fails on a read-only mount.
        let folder = self.open_folder(folder)?;
        Ok(accessat(folder, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)?)
    }

    fn restrictions(&self, path: &RelPath) -> io::Result<Restrictions> {
        let found = self.dir.folder_of(path).and_then(|(folder, name)| system::restrictions(folder, name));
        match found {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(Restrictions::default()),
            found => Ok(found?),
        }
    }

    fn cache_handle(&self, folder: &RelPath) -> io::Result<()> {
        Ok(self.dir.cache_handle(folder)?)
    }

    fn fs_sync(&self) -> io::Result<Option<Box<dyn FsSync>>> {
        // A new handle: the kernel reports a lost write once to each open handle.
        let root = self.open_folder(&RelPath::root())?;
        Ok(system::syncfs_reports_errors(&root).then(|| Box::new(DiskFsSync(root)) as Box<dyn FsSync>))
    }

    fn boot_id(&self) -> Option<u128> {
        *self.boot_id.get_or_init(|| system::boot_id(self.dir.root()))
    }
}

/// One open plain file on the real disk.
struct DiskFile(File);

impl StoredFile for DiskFile {
    fn stat(&self) -> io::Result<Stat> {
        Ok(system::stat_open(&self.0)?)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        Ok(retry_on_intr(|| rustix::io::pread(&self.0, &mut *buffer, offset))?)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        count_sync();
        self.0.sync_data()
    }

    fn sync_all(&self) -> io::Result<()> {
        sync(&self.0)
    }
}

/// `syncfs` of a file system, since this handle was opened.
struct DiskFsSync(OwnedFd);

impl FsSync for DiskFsSync {
    fn sync(&self) -> io::Result<()> {
        count_sync();
        Ok(system::sync_file_system(&self.0)?)
    }
}

/// Uses `sync_all` of std, which flushes the drive on macOS too.
fn sync(file: &File) -> io::Result<()> {
    count_sync();
    file.sync_all()
}

fn make_durable_folder(path: &Path, mode: u32) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().ok_or_else(|| refused("not a valid name of a folder"))?;
    let name = RelPath::root().join(name);
    let parent = Disk::create(parent, mode)?;
    match parent.make_folder(&name, mode) {
        // Another process created it, and may not have synced it yet.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => made?,
    }
    parent.sync_folder(&RelPath::root())
}

fn check_plain(found: &Stat) -> io::Result<()> {
    match found.kind {
        FileKind::File => Ok(()),
        _ => Err(refused("not a plain file")),
    }
}

fn refused(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}

fn to_mode(mode: u32) -> Mode {
    Mode::from_raw_mode((mode & 0o7777) as RawMode)
}
