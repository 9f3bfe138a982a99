//! Copies a whole folder, with several threads.
//!
//! Promises: reads below `from` and writes below `to`, both by handle, even if files are swapped during
//! the copy; copies symlinks and never follows them; keeps modes and times of files and folders, except
//! of `to` itself, which is private; never opens FIFOs, sockets and devices, but excludes and lists
//! them. A copied file shares blocks with the original where the file system can, and has its holes.
//!
//! Not a transaction, and syncs nothing: an interrupted copy is removed and made again. Hard links
//! become separate files; owners, extended attributes and times of symlinks are not kept. Files removed
//! during the copy are skipped.

use std::ffi::{OsStr, OsString};
use std::fs::{File, FileTimes, Metadata, Permissions};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use rustix::fs::{
    AtFlags, CWD, Dir, Mode, OFlags, SeekFrom, Stat, copy_file_range, mkdirat, openat, readlinkat, seek,
    statat, symlinkat,
};
use rustix::io::Errno;

use filetx::{FileKind, RelPath};

use super::{FileError, FileResult};

const COPY: &str = "copy";
/// The deepest nesting of folders: each level keeps two handles open.
pub const COPY_DEPTH_MAX: usize = plan::FOLDERS_MAX;
/// The most threads of one copy.
const THREADS_MAX: usize = 8;
/// Names in one job, so that threads share a large folder.
const BATCH_NAMES: usize = 64;
/// Bytes copied between two checks for cancellation.
const CHUNK_BYTES: u64 = 8 * 1024 * 1024;
/// The unit in which the system counts blocks.
const BLOCK_BYTES: u64 = 512;
/// The most special files listed.
const NAMED_MAX: usize = 100;

/// Flags to open a folder.
pub(super) const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Options of a copy.
pub struct CopyOptions<'a> {
    /// Number of threads, from 1 to 8.
    pub threads: usize,
    /// Chooses the action for each path, from any thread. Not called below paths that are not copied.
    pub choose: &'a (dyn Fn(&RelPath, FileKind) -> CopyAction + Sync),
    /// The longest file, in bytes. A longer one fails the copy.
    pub file_bytes_max: u64,
    /// Fails the copy with [`FileError::Cancelled`] once set.
    pub cancel: &'a AtomicBool,
}

/// The action for a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CopyAction {
    /// Copy it.
    Copy,
    /// Make a symlink to the original.
    Link,
    /// Exclude it.
    Exclude,
}

/// Counts of a copy.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CopyStats {
    /// Number of files.
    pub files: u64,
    /// Number of files that share blocks with the original.
    pub cloned: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// Number of folders, without the outermost.
    pub folders: u64,
    /// Number of copied symlinks.
    pub symlinks: u64,
    /// Number of symlinks to originals.
    pub links: u64,
    /// Number of excluded FIFOs, sockets and devices.
    pub special: u64,
    /// The first 100 of them.
    pub special_paths: Vec<RelPath>,
}

/// Copies the folder `from` to `to`, which must not exist; its parent must. After an error a part of the
/// copy exists: remove it with [`remove_tree`](super::remove_tree).
pub fn copy_tree(from: &Path, to: &Path, options: &CopyOptions<'_>) -> FileResult<CopyStats> {
    let root = open_root(from, to)?;
    let copy = Copy {
        from,
        options,
        can_clone: AtomicBool::new(true),
        work: Mutex::default(),
        wake: Condvar::new(),
    };
    copy.lock().jobs = copy.list(&Arc::new(root))?;
    std::thread::scope(|scope| {
        for _ in 1..options.threads.clamp(1, THREADS_MAX) {
            scope.spawn(|| copy.work());
        }
        copy.work();
    });
    let work = copy.work.into_inner().unwrap_or_else(PoisonError::into_inner);
    match work.error {
        Some(error) => Err(error),
        None => Ok(work.copied),
    }
}

fn open_root(from: &Path, to: &Path) -> FileResult<Folder> {
    let failed = |path| move |error: Errno| FileError::io(COPY, path, error);
    // The caller's path may lead through symlinks.
    let source =
        openat(CWD, from, FOLDER.difference(OFlags::NOFOLLOW), Mode::empty()).map_err(failed(from))?;
    mkdirat(CWD, to, Mode::RWXU).map_err(failed(to))?;
    let target = openat(CWD, to, FOLDER, Mode::empty()).map_err(failed(to))?;
    Ok(Folder { from: source.into(), to: target.into(), path: RelPath::root(), parent: None })
}

/// A folder being copied. Its last user sets mode and times: earlier, it might not accept files.
struct Folder {
    from: File,
    to: File,
    path: RelPath,
    parent: Option<Arc<Folder>>,
}

/// A job. The newest is done first, so that few folders are open at once.
enum Job {
    Enter { parent: Arc<Folder>, name: OsString },
    Entries { folder: Arc<Folder>, names: Vec<OsString> },
}

#[derive(Default)]
struct Work {
    jobs: Vec<Job>,
    /// Threads at a job, which may add more jobs.
    busy: usize,
    error: Option<FileError>,
    copied: CopyStats,
}

struct Copy<'a> {
    from: &'a Path,
    options: &'a CopyOptions<'a>,
    /// False once the file system refuses to share blocks.
    can_clone: AtomicBool,
    work: Mutex<Work>,
    wake: Condvar,
}

impl Copy<'_> {
    fn lock(&self) -> std::sync::MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One thread: runs jobs until none is left and no thread may add one.
    fn work(&self) {
        while let Some(job) = self.take() {
            let mut copied = CopyStats::default();
            let done = self.run(job, &mut copied);
            let mut work = self.lock();
            work.busy -= 1;
            work.copied.add(copied);
            match done {
                Ok(jobs) => work.jobs.extend(jobs),
                Err(error) => drop(work.error.get_or_insert(error)),
            }
            self.wake.notify_all();
        }
    }

    fn take(&self) -> Option<Job> {
        let mut work = self.lock();
        while work.error.is_none() {
            if let Some(job) = work.jobs.pop() {
                work.busy += 1;
                return Some(job);
            }
            if work.busy == 0 {
                return None;
            }
            work = self.wake.wait(work).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    fn run(&self, job: Job, copied: &mut CopyStats) -> FileResult<Vec<Job>> {
        let mut jobs = Vec::new();
        let mut folder = match job {
            Job::Enter { parent, name } => {
                let path = parent.path.join(&name);
                let Some(folder) = self.at(&path, self.enter(parent, &name, path.clone()))? else {
                    return Ok(jobs);
                };
                copied.folders += 1;
                let folder = Arc::new(folder);
                jobs = self.list(&folder)?;
                folder
            }
            Job::Entries { folder, names } => {
                for name in names {
                    self.check_cancel(&folder.path)?;
                    let path = folder.path.join(&name);
                    let Some(stat) = self.at(&path, stat(&folder.from, &name))? else { continue };
                    let kind = FileKind::of_mode(stat.st_mode);
                    let action = (self.options.choose)(&path, kind);
                    if action == CopyAction::Copy && kind == FileKind::File {
                        self.check_len(&path, stat.st_size as u64)?;
                    }
                    let job = self.at(&path, self.entry(&folder, &name, &path, kind, action, copied))?;
                    jobs.extend(job.flatten());
                }
                folder
            }
        };
        // Complete the folders without further jobs, up to the outermost.
        while let Some(complete) = Arc::into_inner(folder) {
            self.at(&complete.path, complete.finish())?;
            let Some(parent) = complete.parent else { break };
            folder = parent;
        }
        Ok(jobs)
    }

    /// Adds the path to an error. Returns `None` if the path was removed.
    fn at<T>(&self, path: &RelPath, result: io::Result<T>) -> FileResult<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(_) if self.options.cancel.load(Ordering::Relaxed) => Err(self.cancelled(path)),
            Err(error) => Err(FileError::io(COPY, self.from.join(path.as_path()), error)),
        }
    }

    fn check_cancel(&self, path: &RelPath) -> FileResult<()> {
        if self.options.cancel.load(Ordering::Relaxed) { Err(self.cancelled(path)) } else { Ok(()) }
    }

    fn cancelled(&self, path: &RelPath) -> FileError {
        FileError::Cancelled { action: COPY, path: self.from.join(path.as_path()) }
    }

    fn check_len(&self, path: &RelPath, bytes: u64) -> FileResult<()> {
        let limit = self.options.file_bytes_max;
        if bytes <= limit {
            return Ok(());
        }
        Err(FileError::FileTooLarge { path: self.from.join(path.as_path()), bytes, limit })
    }

    fn list(&self, folder: &Arc<Folder>) -> FileResult<Vec<Job>> {
        if folder.path.depth() > COPY_DEPTH_MAX {
            return Err(FileError::TooDeep {
                path: self.from.join(folder.path.as_path()),
                limit: COPY_DEPTH_MAX,
            });
        }
        let names = self.at(&folder.path, names(&folder.from))?.unwrap_or_default();
        let batch = |names: &[OsString]| Job::Entries { folder: Arc::clone(folder), names: names.to_vec() };
        Ok(names.chunks(BATCH_NAMES).map(batch).collect())
    }

    fn enter(&self, parent: Arc<Folder>, name: &OsStr, path: RelPath) -> io::Result<Folder> {
        let from: OwnedFd = openat(&parent.from, name, FOLDER, Mode::empty())?;
        mkdirat(&parent.to, name, Mode::RWXU)?;
        let to: OwnedFd = openat(&parent.to, name, FOLDER, Mode::empty())?;
        Ok(Folder { from: from.into(), to: to.into(), path, parent: Some(parent) })
    }

    /// Copies one entry. Returns a job for a folder.
    fn entry(
        &self,
        folder: &Arc<Folder>,
        name: &OsStr,
        path: &RelPath,
        kind: FileKind,
        action: CopyAction,
        copied: &mut CopyStats,
    ) -> io::Result<Option<Job>> {
        match action {
            CopyAction::Exclude => return Ok(None),
            CopyAction::Link => {
                symlinkat(self.from.join(path.as_path()), &folder.to, name)?;
                copied.links += 1;
                return Ok(None);
            }
            CopyAction::Copy => {}
        }
        match kind {
            FileKind::Folder => {
                return Ok(Some(Job::Enter { parent: Arc::clone(folder), name: name.to_owned() }));
            }
            FileKind::File => self.file(folder, name, copied)?,
            FileKind::Symlink => {
                symlinkat(readlinkat(&folder.from, name, Vec::new())?, &folder.to, name)?;
                copied.symlinks += 1;
            }
            FileKind::Other => {
                copied.special += 1;
                copied.special_paths.push(path.clone());
            }
        }
        Ok(None)
    }

    fn file(&self, folder: &Folder, name: &OsStr, copied: &mut CopyStats) -> io::Result<()> {
        // If it has become a FIFO, this neither blocks nor follows, and reading fails.
        let read = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let from = File::from(openat(&folder.from, name, read, Mode::empty())?);
        let create = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let found = from.metadata()?;
        // With its final mode, as far as the umask allows: then it need not be changed.
        let to = openat(&folder.to, name, create, Mode::from_raw_mode(found.mode() & 0o777))?;
        let to = File::from(to);
        if found.len() > 0 && self.can_clone.load(Ordering::Relaxed) && self.clone(&from, &to) {
            copied.cloned += 1;
            copied.bytes += found.len();
        } else {
            copied.bytes += match found.blocks() * BLOCK_BYTES < found.len() {
                true => self.data(&from, &to, found.len())?,
                false => self.content(&from, &to, found.len())?,
            };
        }
        copied.files += 1;
        keep_times_and_mode(&found, &to)
    }

    fn clone(&self, from: &File, to: &File) -> bool {
        let cloned = share_blocks(from, to);
        // A refusal is final: the files of a tree are on one file system, or on few.
        self.can_clone.store(cloned, Ordering::Relaxed);
        cloned
    }

    /// Copies the parts of a file that are not holes.
    fn data(&self, from: &File, to: &File, len: u64) -> io::Result<u64> {
        let mut end = 0;
        loop {
            let start = match seek(from, SeekFrom::Data(end)) {
                // There is only a hole after it.
                Err(Errno::NXIO) => break,
                start => start?,
            };
            end = seek(from, SeekFrom::Hole(start))?;
            seek(from, SeekFrom::Start(start))?;
            seek(to, SeekFrom::Start(start))?;
            self.part(from, to, end - start)?;
        }
        to.set_len(len.max(end))?;
        Ok(len.max(end))
    }

    /// Copies the content, in the kernel where possible, up to the present end of the file.
    fn content(&self, from: &File, to: &File, len: u64) -> io::Result<u64> {
        let mut bytes = 0;
        // Most files are short: one call copies all, or nothing.
        if (1..CHUNK_BYTES).contains(&len) {
            bytes = copy_file_range(from, None, to, None, len as usize).unwrap_or(0) as u64;
            if bytes == len {
                return Ok(bytes);
            }
        }
        Ok(bytes + self.part(from, to, u64::MAX)?)
    }

    /// Copies up to `len` bytes from the present position to the end of the file.
    fn part(&self, mut from: &File, mut to: &File, len: u64) -> io::Result<u64> {
        let mut bytes = 0;
        loop {
            let wanted = CHUNK_BYTES.min(len - bytes);
            let copied = io::copy(&mut from.by_ref().take(wanted), &mut to)?;
            bytes += copied;
            if copied < wanted || bytes == len {
                return Ok(bytes);
            }
            if self.options.cancel.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::Interrupted.into());
            }
        }
    }
}

impl Folder {
    fn finish(&self) -> io::Result<()> {
        keep_times_and_mode(&self.from.metadata()?, &self.to)?;
        match self.parent {
            Some(_) => Ok(()),
            None => self.to.set_permissions(Permissions::from_mode(0o700)),
        }
    }
}

impl CopyStats {
    fn add(&mut self, other: CopyStats) {
        self.files += other.files;
        self.cloned += other.cloned;
        self.bytes += other.bytes;
        self.folders += other.folders;
        self.symlinks += other.symlinks;
        self.links += other.links;
        self.special += other.special;
        let room = NAMED_MAX.saturating_sub(self.special_paths.len());
        self.special_paths.extend(other.special_paths.into_iter().take(room));
    }
}

fn keep_times_and_mode(found: &Metadata, to: &File) -> io::Result<()> {
    to.set_times(FileTimes::new().set_accessed(found.accessed()?).set_modified(found.modified()?))?;
    // Reading is cheaper than changing.
    match to.metadata()?.permissions() == found.permissions() {
        true => Ok(()),
        false => to.set_permissions(found.permissions()),
    }
}

fn stat(folder: &File, name: &OsStr) -> io::Result<Stat> {
    Ok(statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?)
}

/// The names in a folder, in any order.
pub(super) fn names(folder: &File) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(OsStr::from_bytes(name).to_owned());
        }
    }
    Ok(names)
}

fn share_blocks(from: &File, to: &File) -> bool {
    rustix::fs::ioctl_ficlone(to, from).is_ok()
}
