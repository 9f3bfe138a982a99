//! Lock files, held by processes and by the threads of a process.
//!
//! A [`Lock`] is an open lock file. [`Lock::acquire`] locks it with `flock` (not `fcntl`, whose
//! locks end with any close of the file) and returns a [`Guard`] that stays on its thread.
//! [`Lock::acquire_send`] returns a [`SendGuard`] that threads can share.
//!
//! Promises:
//! - An exclusive holder is alone among all processes and threads. Device and inode identify a lock
//!   file, so two paths to one file are one lock.
//! - Every wait ends: after the timeout of its [`Wait`], with [`Error::Busy`], which names the lock
//!   and, if known, its holder; at once, with [`Error::AlreadyHeld`], if the thread would wait for
//!   itself. A [`SendGuard`] has no thread, so waiting for one's own ends by the timeout.
//! - The death of a holder frees the lock. An executed program does not inherit it. A forked child
//!   holds nothing: dropping its copy of a guard unlocks nothing, and its own `acquire` opens the
//!   file again.
//! - A lock file that was removed or replaced is not used: `acquire` opens or creates the file at
//!   the path and tries again. If it happens to a held lock, [`Guard::check`] fails; call it last
//!   before the commit point.
//!
//! Limits:
//! - Another program can remove the lock file between `check` and the next step. Keep lock files
//!   out of folders that are cleaned.
//! - A forked child that neither execs nor exits keeps the lock alive if its parent is killed.
//! - Threads of one process get a free lock in order of arrival. The kernel wakes waiting processes
//!   in that order too, but a process that arrives during a wake-up may be faster. A process that
//!   had to wait backs off before its next attempt, so that it does not starve the others. Readers
//!   do not wait for waiting writers. The timeout bounds the rest.
//! - Locks of network file systems are unreliable and refused. See `platform` for the detection.
//!
//! Lock order: [`acquire_all`] acquires several locks in the order of [`Lock::id`], so that two
//! processes never wait for each other. The mutex `current` is held while the file is opened again,
//! and no other mutex with it.

mod holder;
mod lock_path;
pub(crate) mod platform;
#[cfg(not(feature = "shuttle"))]
pub(crate) mod registry;
#[cfg(feature = "shuttle")]
pub mod registry;
mod waiter;

use std::fs::{File, TryLockError};
use std::marker::PhantomData;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};
use std::{fmt, io, process};

use crate::sync::thread::{self, ThreadId};
use crate::sync::{Mutex, lock};
use crate::{Disk, Error, FileId, FileKind, RelPath, Result, Step};
use holder::NOTE_BYTES;
use lock_path::{LockPath, kind_of};
use platform::Access;
use registry::{AcquireError, Admission, Caller, Registry};
use waiter::PendingLock;

pub use holder::Holder;

/// A process that had to wait backs off before its next attempt for this fraction of the wait,
/// within these bounds.
const BACKOFF_PART: u32 = 8;
const BACKOFF_MIN: Duration = Duration::from_micros(100);
const BACKOFF_MAX: Duration = Duration::from_millis(4);
/// Maximum number of attempts to open a lock file that other programs remove and create.
const OPEN_TRIES_MAX: usize = 64;
/// Number of times that a replaced lock file is opened again, regardless of the timeout.
const REOPENS_MIN: usize = 8;

static REGISTRY: Registry<FileId, Arc<LockFile>> = Registry::new();

/// An open lock file.
#[derive(Debug)]
pub struct Lock {
    path: LockPath,
    access: Access,
    /// Replaced after the file was replaced, and in a forked child.
    current: Mutex<Arc<LockFile>>,
}

/// Mode of a lock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LockMode {
    /// Several holders at once.
    Shared,
    /// One holder.
    Exclusive,
}

/// Options of waiting for a lock.
#[derive(Clone)]
pub struct Wait {
    /// Maximum duration. Zero means one attempt.
    pub timeout: Duration,
    /// Duration after which `on_wait` is called.
    pub notice_after: Duration,
    /// Called at most once per lock, on the waiting thread, to inform a person.
    pub on_wait: Option<OnWait>,
}

/// Callback of a long wait.
pub type OnWait = Arc<dyn Fn(&WaitNotice) + Send + Sync>;

/// A long wait.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitNotice {
    /// The lock file.
    pub lock: PathBuf,
    /// The process that holds the lock, if known.
    pub holder: Option<Holder>,
    /// Duration so far.
    pub waited: Duration,
}

impl Default for Wait {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(30), notice_after: Duration::from_secs(1), on_wait: None }
    }
}

impl fmt::Debug for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wait")
            .field("timeout", &self.timeout)
            .field("notice_after", &self.notice_after)
            .finish_non_exhaustive()
    }
}

impl Lock {
    /// Opens the lock file, or creates it. Its folder must exist.
    pub fn open(path: &Path) -> Result<Lock> {
        Self::open_at(absolute(path)?)
    }

    /// Opens the lock file at `path` below the folder `root`, which is open as `disk`, or creates
    /// it. Follows no symlink below the folder.
    pub(crate) fn open_below(disk: Arc<Disk>, root: &Path, path: &RelPath) -> Result<Lock> {
        Self::open_at(LockPath::below(disk, root, path))
    }

    fn open_at(path: LockPath) -> Result<Lock> {
        let opened = LockFile::open_or_create(&path)?;
        Ok(Self { path, access: Access::Write, current: Mutex::new(Arc::new(opened)) })
    }

    /// Opens the lock file for a reader, or returns `None` if it is missing. Writes nothing, so it
    /// works on a read-only or full disk.
    pub fn open_existing(path: &Path) -> Result<Option<Lock>> {
        Self::open_existing_at(absolute(path)?)
    }

    /// Like [`open_existing`](Self::open_existing), below an open folder.
    pub(crate) fn open_existing_below(disk: Arc<Disk>, root: &Path, path: &RelPath) -> Result<Option<Lock>> {
        Self::open_existing_at(LockPath::below(disk, root, path))
    }

    fn open_existing_at(path: LockPath) -> Result<Option<Lock>> {
        let opened = LockFile::open(&path, Access::Read)?;
        let current = opened.map(|opened| Mutex::new(Arc::new(opened)));
        Ok(current.map(|current| Self { path, access: Access::Read, current }))
    }

    /// Acquires the lock for this thread.
    #[track_caller]
    pub fn acquire(&self, mode: LockMode, wait: &Wait) -> Result<Guard> {
        self.acquire_at(mode, wait, Instant::now(), Location::caller())
    }

    /// Acquires the lock for an owner that shares it among its threads.
    #[track_caller]
    pub fn acquire_send(&self, mode: LockMode, wait: &Wait) -> Result<SendGuard> {
        let entry = Attempt::new(self, mode, wait, Instant::now(), Location::caller(), false).run()?;
        Ok(SendGuard { entry })
    }

    /// Identity of the lock file, which orders locks. It changes if the file is replaced.
    pub fn id(&self) -> FileId {
        lock(&self.current).id
    }

    fn acquire_at(
        &self,
        mode: LockMode,
        wait: &Wait,
        since: Instant,
        at: &'static Location<'static>,
    ) -> Result<Guard> {
        let entry = Attempt::new(self, mode, wait, since, at, true).run()?;
        Ok(Guard { entry, _not_send: PhantomData })
    }

    /// The open file of this process.
    fn current(&self, pid: u32) -> Result<Arc<LockFile>> {
        let mut current = lock(&self.current);
        if current.pid != pid {
            // After a fork, this open file and its lock belong to the parent too.
            *current = Arc::new(self.open_again()?);
        }
        Ok(Arc::clone(&current))
    }

    /// Opens the file at the path if it is not `stale` and no other thread opened it yet.
    fn refresh(&self, stale: &LockFile) -> Result<()> {
        if stale.is_at_path()? {
            return Ok(());
        }
        let mut current = lock(&self.current);
        if current.id == stale.id {
            *current = Arc::new(self.open_again()?);
        }
        Ok(())
    }

    fn open_again(&self) -> Result<LockFile> {
        match self.access {
            Access::Read => LockFile::open(&self.path, Access::Read)?
                .ok_or_else(|| Error::NotFound { path: self.path.full().to_path_buf() }),
            Access::Write | Access::Create => LockFile::open_or_create(&self.path),
        }
    }
}

/// Acquires several locks within one timeout, in the order of their ids, so that no two callers
/// wait for each other. A lock that is listed twice is acquired once, in exclusive mode if one of
/// the two asks for it. A failure releases the acquired ones in reverse order.
///
/// If another program replaces a lock file during the call, callers may wait for each other until
/// the timeout, or the call may fail with [`Error::AlreadyHeld`]. There are never two holders.
#[track_caller]
pub fn acquire_all(locks: &[(&Lock, LockMode)], wait: &Wait) -> Result<Vec<Guard>> {
    let since = Instant::now();
    let at = Location::caller();
    let mut ordered = Vec::with_capacity(locks.len());
    for (lock, mode) in locks {
        lock.refresh(&*lock.current(process::id())?)?;
        ordered.push((lock.id(), std::cmp::Reverse(*mode), *lock));
    }
    // Exclusive sorts before shared, so it is the one that stays.
    ordered.sort_by_key(|(id, mode, _)| (*id, *mode));
    ordered.dedup_by_key(|(id, ..)| *id);
    let mut guards = Vec::with_capacity(ordered.len());
    for (_, mode, lock) in ordered {
        match lock.acquire_at(mode.0, wait, since, at) {
            Ok(guard) => guards.push(guard),
            Err(error) => {
                while guards.pop().is_some() {}
                return Err(error);
            }
        }
    }
    Ok(guards)
}

/// A lock held by this thread. Dropping it releases the lock.
#[must_use = "the lock is released when the guard is dropped"]
#[derive(Debug)]
pub struct Guard {
    entry: HeldEntry,
    _not_send: PhantomData<*const ()>,
}

/// A lock held by an owner that shares it among its threads. Dropping it releases the lock.
#[must_use = "the lock is released when this is dropped"]
#[derive(Debug)]
pub struct SendGuard {
    entry: HeldEntry,
}

impl Guard {
    /// Fails with [`Error::LockFileReplaced`] if the path no longer names the locked file, and in a
    /// forked child.
    pub fn check(&self) -> Result<()> {
        self.entry.check()
    }
}

impl SendGuard {
    /// Fails with [`Error::LockFileReplaced`] if the path no longer names the locked file, and in a
    /// forked child.
    pub fn check(&self) -> Result<()> {
        self.entry.check()
    }
}

/// The entry of a guard in the registry.
#[derive(Debug)]
struct HeldEntry {
    file: Arc<LockFile>,
    owner: Option<ThreadId>,
}

impl HeldEntry {
    fn check(&self) -> Result<()> {
        if self.file.pid == process::id() && self.file.is_at_path()? {
            return Ok(());
        }
        Err(Error::LockFileReplaced { lock: self.file.path.full().to_path_buf() })
    }
}

impl Drop for HeldEntry {
    fn drop(&mut self) {
        if self.file.pid != process::id() {
            // A forked child: the lock belongs to the parent. The last `Arc` closes our copy of the
            // file.
            return;
        }
        let Some((opened, transition)) = REGISTRY.leave(self.file.id, self.owner, thread::current().id())
        else {
            return;
        };
        // The order matters: the next thread may lock the same open file, and this unlock must not
        // release it.
        // 1. Unlock. A local file system does not refuse; on a network file system, closing the
        //    file unlocks it.
        let _ = opened.file.unlock();
        // 2. Admit other threads of this process.
        drop(transition);
    }
}

/// One call of `acquire` or `acquire_send`.
struct Attempt<'a> {
    lock: &'a Lock,
    mode: LockMode,
    wait: &'a Wait,
    caller: Caller,
    since: Instant,
    deadline: Instant,
    notified: bool,
}

impl<'a> Attempt<'a> {
    fn new(
        lock: &'a Lock,
        mode: LockMode,
        wait: &'a Wait,
        since: Instant,
        at: &'static Location<'static>,
        thread_bound: bool,
    ) -> Self {
        let caller = Caller { pid: process::id(), thread: thread::current().id(), at, thread_bound };
        let deadline = deadline(since, wait.timeout);
        let notified = wait.on_wait.is_none();
        Self { lock, mode, wait, caller, since, deadline, notified }
    }

    fn run(mut self) -> Result<HeldEntry> {
        for reopens in 0.. {
            let opened = self.lock.current(self.caller.pid)?;
            if let Some(kind) = opened.network {
                return Err(Error::NetworkFileSystem { path: self.lock.path.full().to_path_buf(), kind });
            }
            // A locked file that is not at the path protects nothing.
            match self.lock_in_order(&opened)? {
                Some(entry) if entry.file.is_at_path()? => return Ok(entry),
                _ => self.lock.refresh(&opened)?,
            }
            if reopens >= REOPENS_MIN && Instant::now() >= self.deadline {
                break;
            }
        }
        Err(Error::LockFileReplaced { lock: self.lock.path.full().to_path_buf() })
    }

    /// Locks this file, whatever its name. Returns `None` if another process holds it and the path
    /// names another file.
    fn lock_in_order(&mut self, opened: &Arc<LockFile>) -> Result<Option<HeldEntry>> {
        let (mode, owner) = (self.mode, self.caller.thread_bound.then_some(self.caller.thread));
        match self.enter(opened)? {
            Admission::Joined(opened) => Ok(Some(HeldEntry { file: opened, owner })),
            Admission::Transition(transition) => {
                let Some(opened) = self.lock_file(opened)? else { return Ok(None) };
                if mode == LockMode::Exclusive {
                    opened.write_note(self.caller.pid);
                }
                transition.complete(mode, &self.caller, Arc::clone(&opened));
                Ok(Some(HeldEntry { file: opened, owner }))
            }
        }
    }

    /// Waits for the other threads of this process.
    fn enter(&mut self, opened: &LockFile) -> Result<Admission<'static, FileId, Arc<LockFile>>> {
        loop {
            match REGISTRY.enter(opened.id, self.mode, &self.caller, self.next_wakeup()) {
                Ok(entered) => return Ok(entered),
                Err(AcquireError::AlreadyHeld(at)) => {
                    return Err(Error::AlreadyHeld { lock: self.lock.path.full().to_path_buf(), at });
                }
                Err(AcquireError::TimedOut) => self.check_timeout(opened)?,
            }
        }
    }

    /// Waits for other processes. Returns the locked file: this one, or another handle of it.
    fn lock_file(&mut self, opened: &Arc<LockFile>) -> Result<Option<Arc<LockFile>>> {
        let waited = Duration::from_micros(opened.waited_us.swap(0, Ordering::Relaxed));
        if !waited.is_zero() {
            thread::sleep((waited / BACKOFF_PART).clamp(BACKOFF_MIN, BACKOFF_MAX));
        }
        let failed = Error::io(Step::Lock, opened.path.full());
        let tried = match self.mode {
            LockMode::Shared => opened.file.try_lock_shared(),
            LockMode::Exclusive => opened.file.try_lock(),
        };
        match tried {
            Ok(()) => return Ok(Some(Arc::clone(opened))),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        self.check_timeout(opened)?;
        let access = if opened.writable { Access::Write } else { Access::Read };
        let Some(request) = PendingLock::begin(&opened.path, opened.id, self.mode, access).map_err(failed)?
        else {
            return Ok(None);
        };
        loop {
            if let Some(file) = request.wait_until(self.next_wakeup()).map_err(failed)? {
                tracing::debug!(lock = %opened.path.full().display(), waited = ?self.since.elapsed(), "waited for a lock");
                opened.waited_us.store(self.since.elapsed().as_micros() as u64, Ordering::Relaxed);
                return LockFile::new(&opened.path, file, access).map(Arc::new).map(Some);
            }
            self.check_timeout(opened)?;
        }
    }

    /// Fails after the timeout, and calls `on_wait` once during a long wait.
    fn check_timeout(&mut self, opened: &LockFile) -> Result<()> {
        let now = Instant::now();
        let waited = now - self.since;
        if now >= self.deadline {
            let (lock, holder) = (self.lock.path.full().to_path_buf(), opened.holder());
            tracing::warn!(lock = %lock.display(), ?waited, "gave up waiting for a lock");
            return Err(Error::Busy { lock, holder, waited });
        }
        if !self.notified && now >= self.notice_at() {
            self.notified = true;
            if let Some(on_wait) = &self.wait.on_wait {
                on_wait(&WaitNotice {
                    lock: self.lock.path.full().to_path_buf(),
                    holder: opened.holder(),
                    waited,
                });
            }
        }
        Ok(())
    }

    /// Time of the timeout or of the notice.
    fn next_wakeup(&self) -> Instant {
        if self.notified { self.deadline } else { self.deadline.min(self.notice_at()) }
    }

    fn notice_at(&self) -> Instant {
        deadline(self.since, self.wait.notice_after)
    }
}

/// An open lock file of one process.
#[derive(Debug)]
struct LockFile {
    path: LockPath,
    file: File,
    /// The file with the holder note, if it is not the lock file.
    note: Option<File>,
    writable: bool,
    id: FileId,
    /// Id of the process that opened it. A forked child shares the file with its parent.
    pid: u32,
    /// Name of the network file system, if it is on one.
    network: Option<&'static str>,
    /// Duration of the last wait for other processes, in microseconds.
    waited_us: AtomicU64,
}

impl LockFile {
    fn open_or_create(path: &LockPath) -> Result<Self> {
        for _ in 0..OPEN_TRIES_MAX {
            if let Some(opened) = Self::open(path, Access::Write)? {
                return Ok(opened);
            }
            match path.open(Access::Create) {
                Ok(file) => return Self::new(path, file, Access::Create),
                // Another process created it first.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(cannot_open(path.full(), error)),
            }
        }
        Err(Error::LockFileReplaced { lock: path.full().to_path_buf() })
    }

    /// Opens an existing lock file; `None` if it is missing.
    fn open(path: &LockPath, access: Access) -> Result<Option<Self>> {
        match path.open(access) {
            Ok(file) => Self::new(path, file, access).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => match path.kind() {
                Some(kind) if kind != FileKind::File => Err(wrong_kind(path.full(), kind)),
                _ => Err(cannot_open(path.full(), error)),
            },
        }
    }

    fn new(path: &LockPath, file: File, access: Access) -> Result<Self> {
        let failed = |error| cannot_open(path.full(), error);
        let kind = kind_of(file.metadata().map_err(failed)?.file_type());
        if kind != FileKind::File {
            return Err(wrong_kind(path.full(), kind));
        }
        let id = platform::id_of(&file).map_err(failed)?;
        let network = platform::network(&file, path.full()).map_err(failed)?;
        let note = platform::open_note(path.full(), access);
        let writable = access != Access::Read;
        let (pid, waited_us) = (process::id(), AtomicU64::new(0));
        Ok(Self { path: path.clone(), file, note, writable, id, pid, network, waited_us })
    }

    fn is_at_path(&self) -> Result<bool> {
        let id = self.path.id().map_err(Error::io(Step::Lock, self.path.full()))?;
        Ok(id == Some(self.id))
    }

    fn note_file(&self) -> &File {
        self.note.as_ref().unwrap_or(&self.file)
    }

    /// Writes the holder note. The note is only advice, so errors are ignored.
    fn write_note(&self, pid: u32) {
        if self.writable {
            let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            let note = Holder::encode(pid, since.as_secs(), platform::command());
            let _ = platform::write_at(self.note_file(), &note, 0);
        }
    }

    /// Reads the holder from the note, unless it is stale: the process died, or readers hold the
    /// lock after it.
    fn holder(&self) -> Option<Holder> {
        if platform::is_locked_shared(self.id) {
            return None;
        }
        let mut note = [0; NOTE_BYTES];
        let len = platform::read_start(self.note_file(), &mut note).ok()?;
        Holder::decode(&note[..len]).filter(|holder| platform::is_alive(holder.pid))
    }
}

fn absolute(path: &Path) -> Result<LockPath> {
    LockPath::at(path).map_err(|error| cannot_open(path, error))
}

/// `since` plus `duration`, at most one year.
fn deadline(since: Instant, duration: Duration) -> Instant {
    const NEVER: Duration = Duration::from_secs(60 * 60 * 24 * 365);
    since + duration.min(NEVER)
}

fn cannot_open(path: &Path, source: io::Error) -> Error {
    Error::io(Step::OpenLock, path)(source)
}

fn wrong_kind(path: &Path, found: FileKind) -> Error {
    Error::WrongFileKind { path: path.to_path_buf(), found, expected: "a lock file" }
}

#[cfg(all(test, not(feature = "shuttle")))]
mod tests {
    use super::*;

    /// Tests have no network file system, so this one sets the name directly.
    #[test]
    fn a_network_file_system_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = LockPath::at(&folder.path().join("lock")).unwrap();
        let opened = LockFile { network: Some("nfs"), ..LockFile::open_or_create(&path).unwrap() };
        let lock = Lock { path, access: Access::Write, current: Mutex::new(Arc::new(opened)) };
        let error = lock.acquire(LockMode::Shared, &Wait::default()).unwrap_err();
        assert!(matches!(error, Error::NetworkFileSystem { kind: "nfs", .. }), "{error}");
    }

    #[test]
    fn debug_output_of_a_wait_omits_its_callback() {
        let shown = format!("{:?}", Wait::default());
        assert_eq!(shown, "Wait { timeout: 30s, notice_after: 1s, .. }");
    }

    #[test]
    fn long_durations_are_capped() {
        let now = Instant::now();
        assert!(deadline(now, Duration::MAX) > now);
        assert_eq!(deadline(now, Duration::ZERO), now);
    }

    #[test]
    fn guards_and_panics_release_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let lock = Lock::open(&folder.path().join("lock")).unwrap();
        let wait = Wait::default();
        drop(lock.acquire(LockMode::Exclusive, &wait).unwrap());
        drop(lock.acquire_send(LockMode::Shared, &wait).unwrap());
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _guard = lock.acquire(LockMode::Exclusive, &wait).unwrap();
            panic!("with the lock");
        }));
        assert!(panicked.is_err());
        drop(lock.acquire(LockMode::Exclusive, &Wait { timeout: Duration::ZERO, ..wait }).unwrap());
    }
}
