//! The real disk: one root folder of a Unix file system.
//!
//! Promises: nothing outside the root is read or written, at check time or later (see `confined.rs`); a FIFO, socket or
//! device is never opened; modes are exact whatever the umask; every sync is counted.
//!
//! It does not lock, retry or fall back: what the system refuses is an error. It does not guard against someone who changes
//! files *inside* the root while it works; that is the transaction's business.

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

use super::confined::Beneath;
use super::sync_count::count_sync;
use super::{Kind, Open, Rename, Stat, Storage, StoredFile, Watch, attributes, system};
use crate::RelPath;

/// One root folder on the real disk.
#[derive(Debug)]
pub struct Disk {
    beneath: Beneath,
    boot: OnceLock<Option<u128>>,
}

impl Disk {
    /// Opens an existing folder. `root` itself may lead through symlinks; nothing below it may.
    pub fn open(root: &Path) -> io::Result<Self> {
        Ok(Self { beneath: Beneath::open_root(root)?, boot: OnceLock::new() })
    }

    /// Opens a folder; when it does not exist it is made, with its missing parents, each with this mode and each durable.
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
        // Look first: even an open that does not wait lets a writer at a FIFO go on, or rewinds a tape. This look may be
        // led astray through a symlink or be outdated at once, so it can only refuse; the confined open decides.
        let seen = match self.beneath.remembered_folder_of(path) {
            Some((folder, name)) => system::stat(folder, name),
            None => system::stat(self.beneath.root(), path.as_path().as_os_str()),
        };
        if let Ok(seen) = seen {
            check_plain(&seen)?;
        }
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = self.beneath.open(path, flags, Mode::empty())?;
        check_plain(&system::stat_open(&file)?)?;
        Ok(file)
    }

    fn create_plain(&self, path: &RelPath, mode: Mode) -> io::Result<OwnedFd> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = self.beneath.open(path, flags, mode)?;
        // The umask took bits away.
        fchmod(&file, mode).inspect_err(|_| drop(self.remove_file(path)))?;
        Ok(file)
    }

    /// Opens a folder, to list it or to name things in it.
    pub fn open_folder(&self, folder: &RelPath) -> io::Result<OwnedFd> {
        Ok(self.beneath.open(folder, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
    }
}

impl Storage for Disk {
    fn stat(&self, path: &RelPath) -> io::Result<Option<Stat>> {
        let found = self.beneath.folder_of(path).and_then(|(folder, name)| system::stat(folder, name));
        match found {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn open(&self, path: &RelPath, how: Open) -> io::Result<Box<dyn StoredFile>> {
        let file = match how {
            Open::Read => self.open_plain(path, OFlags::RDONLY)?,
            Open::Write => self.open_plain(path, OFlags::RDWR)?,
            Open::Create { mode } => self.create_plain(path, to_mode(mode))?,
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
        let (folder, name) = self.beneath.folder_of(path)?;
        Ok(OsString::from_vec(readlinkat(folder, name, Vec::new())?.into_bytes()))
    }

    fn make_folder(&self, path: &RelPath, mode: u32) -> io::Result<()> {
        let (folder, name) = self.beneath.folder_of(path)?;
        mkdirat(&folder, name, to_mode(mode))?;
        // The umask took bits away, and a parent may have handed its group bit down.
        Ok(system::set_mode_pinned(&system::pin(folder, name)?, to_mode(mode))?)
    }

    fn make_symlink(&self, target: &OsStr, path: &RelPath) -> io::Result<()> {
        let (folder, name) = self.beneath.folder_of(path)?;
        Ok(symlinkat(target, folder, name)?)
    }

    fn link(&self, from: &RelPath, to: &RelPath) -> io::Result<()> {
        let (from_folder, from_name) = self.beneath.folder_of(from)?;
        let (to_folder, to_name) = self.beneath.folder_of(to)?;
        Ok(linkat(from_folder, from_name, to_folder, to_name, AtFlags::empty())?)
    }

    fn rename(&self, from: &RelPath, to: &RelPath, how: Rename) -> io::Result<()> {
        let (from_folder, from_name) = self.beneath.folder_of(from)?;
        let (to_folder, to_name) = self.beneath.folder_of(to)?;
        let flags = match how {
            Rename::Replace => return Ok(renameat(from_folder, from_name, to_folder, to_name)?),
            Rename::NoReplace => RenameFlags::NOREPLACE,
            Rename::Exchange => RenameFlags::EXCHANGE,
        };
        renameat_with(from_folder, from_name, to_folder, to_name, flags).map_err(|error| match error {
            // The three ways in which file systems and kernels say that they do not know the flag.
            Errno::INVAL | Errno::NOSYS | Errno::NOTSUP => io::ErrorKind::Unsupported.into(),
            error => error.into(),
        })
    }

    fn remove_file(&self, path: &RelPath) -> io::Result<()> {
        let (folder, name) = self.beneath.folder_of(path)?;
        Ok(unlinkat(folder, name, AtFlags::empty())?)
    }

    fn remove_folder(&self, path: &RelPath) -> io::Result<()> {
        let (folder, name) = self.beneath.folder_of(path)?;
        Ok(unlinkat(folder, name, AtFlags::REMOVEDIR)?)
    }

    fn set_mode(&self, path: &RelPath, mode: u32) -> io::Result<()> {
        let (folder, name) = self.beneath.folder_of(path)?;
        let pinned = system::pin(folder, name)?;
        match system::stat_open(&pinned)?.kind {
            Kind::File | Kind::Folder => Ok(system::set_mode_pinned(&pinned, to_mode(mode))?),
            Kind::Symlink | Kind::Other => Err(refused("neither a plain file nor a folder")),
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
            // The attributes of a file that may not be read may not be read either. Its owner is no secret.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let (folder, name) = self.beneath.folder_of(from)?;
                let from_stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
                attributes::copy_owner(&from_stat, &to, &to_stat)?;
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn sync_folder(&self, folder: &RelPath) -> io::Result<()> {
        if folder.is_root() {
            return sync(self.beneath.root());
        }
        sync(&self.open_folder(folder)?.into())
    }

    fn check_writable(&self, folder: &RelPath) -> io::Result<()> {
        // On a read-only mount this fails too, whoever asks.
        let folder = self.open_folder(folder)?;
        Ok(accessat(folder, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)?)
    }

    fn remember(&self, folder: &RelPath) -> io::Result<()> {
        Ok(self.beneath.remember(folder)?)
    }

    fn watch(&self) -> io::Result<Option<Box<dyn Watch>>> {
        // Opened anew: what was lost is told once to each who had a handle by then.
        let root = self.open_folder(&RelPath::root())?;
        Ok(system::tells_what_was_lost(&root).then(|| Box::new(DiskWatch(root)) as Box<dyn Watch>))
    }

    fn boot(&self) -> Option<u128> {
        *self.boot.get_or_init(|| system::boot(self.beneath.root()))
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

/// Everything on a file system since this handle was opened.
struct DiskWatch(OwnedFd);

impl Watch for DiskWatch {
    fn sync(&self) -> io::Result<()> {
        count_sync();
        Ok(system::sync_file_system(&self.0)?)
    }
}

/// The standard library's sync, because on macOS it asks the drive as well.
fn sync(file: &File) -> io::Result<()> {
    count_sync();
    file.sync_all()
}

fn make_durable_folder(path: &Path, mode: u32) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().ok_or_else(|| refused("not a name that a folder could get"))?;
    let name = RelPath::root().join(name);
    let parent = Disk::create(parent, mode)?;
    match parent.make_folder(&name, mode) {
        // Someone else made it just now; whether they have synced it we cannot know.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => made?,
    }
    parent.sync_folder(&RelPath::root())
}

fn check_plain(found: &Stat) -> io::Result<()> {
    match found.kind {
        Kind::File => Ok(()),
        _ => Err(refused("not a plain file")),
    }
}

fn refused(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

fn to_mode(mode: u32) -> Mode {
    Mode::from_raw_mode((mode & 0o7777) as RawMode)
}
