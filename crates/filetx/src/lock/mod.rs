//! The process lock: a lock file that processes, and threads of one process, hold in turn.
//!
//! A [`Lock`] is an open lock file. [`Lock::acquire`] locks it with `flock` (never `fcntl`: any close of the file would drop
//! that) and gives a [`Guard`] that belongs to its thread; [`Lock::hold`] gives a [`Held`] that may be shared among threads.
//!
//! Promises:
//! - An exclusive holder is alone, among processes and among the threads of this one. Lock files are told apart by device
//!   and inode, so two paths to one file are one lock.
//! - Every wait ends: by the timeout of its [`Wait`], with [`Error::Busy`] naming the lock and, when known, its holder; at
//!   once with [`Error::AlreadyHeld`] when the thread would wait for itself. A [`Held`] belongs to no thread, so waiting for
//!   one's own ends by the timeout.
//! - A holder that dies, however, frees the lock. A program that is exec'd does not inherit it. A forked child holds nothing:
//!   dropping its copy of a guard unlocks nothing, and its own `acquire` opens the file anew.
//! - A lock whose file was removed or replaced is not taken: `acquire` opens or makes the file that the path names and tries
//!   again. When that happens to a held lock, [`Guard::check`] says so; call it last before the commit point.
//!
//! Limits:
//! - Nothing prevents another program from removing the lock file between `check` and what follows it. Keep lock files where
//!   nothing cleans.
//! - A forked child that neither execs nor exits keeps the parent's lock alive should the parent be killed.
//! - Threads of one process get a free lock in the order they came. Processes that wait are woken in that order too, but one that comes
//!   while the first of them wakes up may be faster. One that had to wait gives way before its next time, so none keeps the others out
//!   by coming back at once. Readers are not held back for a writer. The timeout bounds what is left of that.
//! - On a network file system locks are not sure: refused. See `platform` for what is detected.
//!
//! Order: locks of several roots are taken in the order of [`Lock::id`], which [`acquire_all`] does, so that two processes
//! never wait for each other. Inside, `current` is held while opening the file anew, and no other mutex with it.

mod holder;
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
use crate::{Error, FileId, Kind, Result, Step};
use holder::NOTE_BYTES;
use platform::Access;
use registry::{Caller, Entered, Refused, Registry};
use waiter::Queued;

pub use holder::Holder;

/// Who had to wait gives way before the next time, for this part of that wait, within these bounds: the others wake up and find the lock
/// free.
const GIVE_WAY_PART: u32 = 8;
const GIVE_WAY_MIN: Duration = Duration::from_micros(100);
const GIVE_WAY_MAX: Duration = Duration::from_millis(4);
/// How often opening starts again because the file comes and goes.
const OPEN_TRIES_MAX: usize = 64;
/// How often a lock file that was replaced is opened anew, whatever the timeout.
const REOPENS_MIN: usize = 8;

static REGISTRY: Registry<FileId, Arc<Opened>> = Registry::new();

/// An open lock file.
#[derive(Debug)]
pub struct Lock {
    path: Arc<Path>,
    access: Access,
    /// Another one after the file was replaced, and in a forked child.
    current: Mutex<Arc<Opened>>,
}

/// How a lock is held.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Mode {
    /// Beside other shared holders.
    Shared,
    /// Alone.
    Exclusive,
}

/// How to wait for a lock.
#[derive(Clone)]
pub struct Wait {
    /// How long at most. Zero means one try.
    pub timeout: Duration,
    /// After how long `on_wait` is called.
    pub notice_after: Duration,
    /// Called once for a lock that is waited for, to tell a person. It runs on the waiting thread.
    pub on_wait: Option<OnWait>,
}

/// Tells a person that a lock is waited for.
pub type OnWait = Arc<dyn Fn(&Waiting) + Send + Sync>;

/// A wait that has taken a while.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// The lock file.
    pub lock: PathBuf,
    /// Who holds it, when that is known.
    pub holder: Option<Holder>,
    /// How long we have waited.
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
    /// Opens the lock file, and makes it when it is missing. Its folder must exist.
    pub fn open(path: &Path) -> Result<Lock> {
        let path = absolute(path)?;
        let opened = Opened::open_or_create(&path)?;
        Ok(Self { path, access: Access::Write, current: Mutex::new(Arc::new(opened)) })
    }

    /// Opens the lock file for a reader: nothing is made or written, so it works on a read-only or full disk. `None` when
    /// it is missing.
    pub fn open_existing(path: &Path) -> Result<Option<Lock>> {
        let path = absolute(path)?;
        let opened = Opened::open(&path, Access::Read)?;
        Ok(opened.map(|opened| Self { path, access: Access::Read, current: Mutex::new(Arc::new(opened)) }))
    }

    /// Takes the lock for this thread.
    #[track_caller]
    pub fn acquire(&self, mode: Mode, wait: &Wait) -> Result<Guard> {
        self.acquire_at(mode, wait, Instant::now(), Location::caller())
    }

    /// Takes the lock for an owner that shares it among its threads.
    #[track_caller]
    pub fn hold(&self, mode: Mode, wait: &Wait) -> Result<Held> {
        let hold = Attempt::new(self, mode, wait, Instant::now(), Location::caller(), false).run()?;
        Ok(Held { hold })
    }

    /// Which file this is. Locks of several roots are taken in this order. It changes when the file was replaced.
    pub fn id(&self) -> FileId {
        lock(&self.current).id
    }

    fn acquire_at(
        &self,
        mode: Mode,
        wait: &Wait,
        since: Instant,
        at: &'static Location<'static>,
    ) -> Result<Guard> {
        let hold = Attempt::new(self, mode, wait, since, at, true).run()?;
        Ok(Guard { hold, not_send: PhantomData })
    }

    /// The open file of this process.
    fn current(&self, pid: u32) -> Result<Arc<Opened>> {
        let mut current = lock(&self.current);
        if current.pid != pid {
            // Forked: this open file is the parent's too, and its lock would be the parent's.
            *current = Arc::new(self.open_again()?);
        }
        Ok(Arc::clone(&current))
    }

    /// Opens what the path names now, if `stale` is not that, and another thread has not done so.
    fn refresh(&self, stale: &Opened) -> Result<()> {
        if stale.is_at_path()? {
            return Ok(());
        }
        let mut current = lock(&self.current);
        if current.id == stale.id {
            *current = Arc::new(self.open_again()?);
        }
        Ok(())
    }

    fn open_again(&self) -> Result<Opened> {
        match self.access {
            Access::Read => Opened::open(&self.path, Access::Read)?
                .ok_or_else(|| Error::Missing { path: self.path.to_path_buf() }),
            Access::Write | Access::Create => Opened::open_or_create(&self.path),
        }
    }
}

/// Takes several locks in the order of their ids, so that no two callers wait for each other, within one timeout. A lock that
/// is named twice is taken once, exclusively if either asks for that. On failure those taken are released in reverse.
///
/// The order is that of the files the paths name at the start. Should one be replaced meanwhile, callers may wait for each
/// other until the timeout, or a lock named by two paths be found [held](Error::AlreadyHeld): an error, never two holders.
#[track_caller]
pub fn acquire_all(locks: &[(&Lock, Mode)], wait: &Wait) -> Result<Vec<Guard>> {
    let since = Instant::now();
    let at = Location::caller();
    let mut ordered = Vec::with_capacity(locks.len());
    for (lock, mode) in locks {
        lock.refresh(&*lock.current(process::id())?)?;
        ordered.push((lock.id(), std::cmp::Reverse(*mode), *lock));
    }
    // Exclusive comes first among equals, and stays.
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
    hold: Hold,
    not_send: PhantomData<*const ()>,
}

/// A lock held by an owner that shares it among its threads. Dropping it releases the lock.
#[must_use = "the lock is released when this is dropped"]
#[derive(Debug)]
pub struct Held {
    hold: Hold,
}

impl Guard {
    /// Fails with [`Error::LockGone`] when the path no longer names the locked file, and in a forked child.
    pub fn check(&self) -> Result<()> {
        self.hold.check()
    }
}

impl Held {
    /// Fails with [`Error::LockGone`] when the path no longer names the locked file, and in a forked child.
    pub fn check(&self) -> Result<()> {
        self.hold.check()
    }
}

/// What guards have in common: an entry in the registry, to be left.
#[derive(Debug)]
struct Hold {
    opened: Arc<Opened>,
    owner: Option<ThreadId>,
}

impl Hold {
    fn check(&self) -> Result<()> {
        if self.opened.pid == process::id() && self.opened.is_at_path()? {
            return Ok(());
        }
        Err(Error::LockGone { lock: self.opened.path.to_path_buf() })
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if self.opened.pid != process::id() {
            // A forked child: the lock is the parent's. Our copy of the open file closes with the last `Arc`.
            return;
        }
        let Some((opened, turn)) = REGISTRY.leave(self.opened.id, self.owner, thread::current().id()) else {
            return;
        };
        // The order matters: who enters after the turn may lock through the same open file, and must not be unlocked.
        // 1. Unlock. A local file system has no reason to refuse; on a network one, closing the file unlocks it.
        let _ = opened.file.unlock();
        // 2. Let others of this process in.
        drop(turn);
    }
}

/// One call of `acquire` or `hold`.
struct Attempt<'a> {
    lock: &'a Lock,
    mode: Mode,
    wait: &'a Wait,
    caller: Caller,
    since: Instant,
    until: Instant,
    noticed: bool,
}

impl<'a> Attempt<'a> {
    fn new(
        lock: &'a Lock,
        mode: Mode,
        wait: &'a Wait,
        since: Instant,
        at: &'static Location<'static>,
        bound: bool,
    ) -> Self {
        let caller = Caller { pid: process::id(), thread: thread::current().id(), at, bound };
        let until = later(since, wait.timeout);
        let noticed = wait.on_wait.is_none();
        Self { lock, mode, wait, caller, since, until, noticed }
    }

    fn run(mut self) -> Result<Hold> {
        for reopens in 0.. {
            let opened = self.lock.current(self.caller.pid)?;
            if let Some(kind) = opened.network {
                return Err(Error::NetworkFileSystem { path: self.lock.path.to_path_buf(), kind });
            }
            // What is locked and not what others find at the path protects nothing.
            match self.take(&opened)? {
                Some(hold) if hold.opened.is_at_path()? => return Ok(hold),
                _ => self.lock.refresh(&opened)?,
            }
            if reopens >= REOPENS_MIN && Instant::now() >= self.until {
                break;
            }
        }
        Err(Error::LockGone { lock: self.lock.path.to_path_buf() })
    }

    /// Takes the lock on this file, wherever its name went. `None` when it must be waited for and has lost its name.
    fn take(&mut self, opened: &Arc<Opened>) -> Result<Option<Hold>> {
        let (mode, owner) = (self.mode, self.caller.bound.then_some(self.caller.thread));
        match self.enter(opened)? {
            Entered::Joined(opened) => Ok(Some(Hold { opened, owner })),
            Entered::Turn(turn) => {
                let Some(opened) = self.lock_file(opened)? else { return Ok(None) };
                if mode == Mode::Exclusive {
                    opened.write_note(self.caller.pid);
                }
                turn.settle(mode, &self.caller, Arc::clone(&opened));
                Ok(Some(Hold { opened, owner }))
            }
        }
    }

    /// Waits for the other threads of this process.
    fn enter(&mut self, opened: &Opened) -> Result<Entered<'static, FileId, Arc<Opened>>> {
        loop {
            match REGISTRY.enter(opened.id, self.mode, &self.caller, self.wakes_at()) {
                Ok(entered) => return Ok(entered),
                Err(Refused::AlreadyHeld(at)) => {
                    return Err(Error::AlreadyHeld { lock: self.lock.path.to_path_buf(), at });
                }
                Err(Refused::TimedOut) => self.still_waiting(opened)?,
            }
        }
    }

    /// Waits for other processes. Gives the open file that is locked: this one, or another one of the same file.
    fn lock_file(&mut self, opened: &Arc<Opened>) -> Result<Option<Arc<Opened>>> {
        let waited = Duration::from_micros(opened.waited_us.swap(0, Ordering::Relaxed));
        if !waited.is_zero() {
            thread::sleep((waited / GIVE_WAY_PART).clamp(GIVE_WAY_MIN, GIVE_WAY_MAX));
        }
        let failed = Error::io(Step::Lock, &opened.path);
        let tried = match self.mode {
            Mode::Shared => opened.file.try_lock_shared(),
            Mode::Exclusive => opened.file.try_lock(),
        };
        match tried {
            Ok(()) => return Ok(Some(Arc::clone(opened))),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        self.still_waiting(opened)?;
        let access = if opened.writable { Access::Write } else { Access::Read };
        let Some(queued) = Queued::begin(&opened.path, opened.id, self.mode, access).map_err(failed)? else {
            return Ok(None);
        };
        loop {
            if let Some(file) = queued.until(self.wakes_at()).map_err(failed)? {
                tracing::debug!(lock = %opened.path.display(), waited = ?self.since.elapsed(), "waited for a lock");
                opened.waited_us.store(self.since.elapsed().as_micros() as u64, Ordering::Relaxed);
                return Opened::new(&opened.path, file, access).map(Arc::new).map(Some);
            }
            self.still_waiting(opened)?;
        }
    }

    /// Gives up when the time is over, and tells a person, once, when it is taking a while.
    fn still_waiting(&mut self, opened: &Opened) -> Result<()> {
        let now = Instant::now();
        let waited = now - self.since;
        if now >= self.until {
            let (lock, holder) = (self.lock.path.to_path_buf(), opened.holder());
            tracing::warn!(lock = %lock.display(), ?waited, "gave up waiting for a lock");
            return Err(Error::Busy { lock, holder, waited });
        }
        if !self.noticed && now >= self.notice_at() {
            self.noticed = true;
            if let Some(on_wait) = &self.wait.on_wait {
                on_wait(&Waiting { lock: self.lock.path.to_path_buf(), holder: opened.holder(), waited });
            }
        }
        Ok(())
    }

    /// When a wait ends, or there is something to tell about it.
    fn wakes_at(&self) -> Instant {
        if self.noticed { self.until } else { self.until.min(self.notice_at()) }
    }

    fn notice_at(&self) -> Instant {
        later(self.since, self.wait.notice_after)
    }
}

/// An open lock file of one process.
#[derive(Debug)]
struct Opened {
    path: Arc<Path>,
    file: File,
    /// Where the note is, when it is not in the file itself.
    note: Option<File>,
    writable: bool,
    id: FileId,
    /// The process that opened it: a forked child shares it with its parent.
    pid: u32,
    /// The network file system it is on. Asked once: a file does not move.
    network: Option<&'static str>,
    /// How long this process waited for others the last time; 0 when it did not.
    waited_us: AtomicU64,
}

impl Opened {
    fn open_or_create(path: &Arc<Path>) -> Result<Self> {
        for _ in 0..OPEN_TRIES_MAX {
            if let Some(opened) = Self::open(path, Access::Write)? {
                return Ok(opened);
            }
            match platform::open(path, Access::Create) {
                Ok(file) => return Self::new(path, file, Access::Create),
                // Another one made it first.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(cannot_open(path, error)),
            }
        }
        Err(Error::LockGone { lock: path.to_path_buf() })
    }

    /// `None` when nothing is there.
    fn open(path: &Arc<Path>, access: Access) -> Result<Option<Self>> {
        match platform::open(path, access) {
            Ok(file) => Self::new(path, file, access).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => match std::fs::symlink_metadata(path) {
                Ok(found) if !found.is_file() => Err(wrong_kind(path, found.file_type())),
                _ => Err(cannot_open(path, error)),
            },
        }
    }

    fn new(path: &Arc<Path>, file: File, access: Access) -> Result<Self> {
        let failed = |error| cannot_open(path, error);
        let kind = file.metadata().map_err(failed)?.file_type();
        if !kind.is_file() {
            return Err(wrong_kind(path, kind));
        }
        let id = platform::id_of(&file).map_err(failed)?;
        let network = platform::network(&file, path).map_err(failed)?;
        let note = platform::open_note(path, access);
        let writable = access != Access::Read;
        let (pid, waited_us) = (process::id(), AtomicU64::new(0));
        Ok(Self { path: Arc::clone(path), file, note, writable, id, pid, network, waited_us })
    }

    fn is_at_path(&self) -> Result<bool> {
        let id = platform::id_at(&self.path).map_err(Error::io(Step::Lock, &self.path))?;
        Ok(id == Some(self.id))
    }

    fn note_file(&self) -> &File {
        self.note.as_ref().unwrap_or(&self.file)
    }

    /// Says who holds the lock. It is advice, so a full disk or a torn write is no error.
    fn write_note(&self, pid: u32) {
        if self.writable {
            let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            let note = Holder::encode(pid, since.as_secs(), platform::command());
            let _ = platform::write_at(self.note_file(), &note, 0);
        }
    }

    /// Who holds the lock, as far as its note can be believed: a dead process holds nothing, and readers leave the note of
    /// the last writer.
    fn holder(&self) -> Option<Holder> {
        if platform::is_locked_shared(self.id) {
            return None;
        }
        let mut note = [0; NOTE_BYTES];
        let len = platform::read_start(self.note_file(), &mut note).ok()?;
        Holder::decode(&note[..len]).filter(|holder| platform::is_alive(holder.pid))
    }
}

/// A relative path would mean another file after a change of folder.
fn absolute(path: &Path) -> Result<Arc<Path>> {
    let absolute = std::path::absolute(path).map_err(|error| cannot_open(path, error))?;
    Ok(absolute.into())
}

/// `since` plus `duration`, or as good as never.
fn later(since: Instant, duration: Duration) -> Instant {
    const NEVER: Duration = Duration::from_secs(60 * 60 * 24 * 365);
    since + duration.min(NEVER)
}

fn cannot_open(path: &Path, source: io::Error) -> Error {
    Error::io(Step::OpenLock, path)(source)
}

fn wrong_kind(path: &Path, found: std::fs::FileType) -> Error {
    let found = match found {
        found if found.is_dir() => Kind::Folder,
        found if found.is_symlink() => Kind::Symlink,
        _ => Kind::Other,
    };
    Error::WrongKind { path: path.to_path_buf(), found, expected: "a lock file" }
}

#[cfg(all(test, not(feature = "shuttle")))]
mod tests {
    use super::*;

    /// No network file system is at hand in a test, so the answer of the system is replaced.
    #[test]
    fn a_network_file_system_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path: Arc<Path> = folder.path().join("lock").into();
        let opened = Opened { network: Some("nfs"), ..Opened::open_or_create(&path).unwrap() };
        let lock = Lock { path, access: Access::Write, current: Mutex::new(Arc::new(opened)) };
        let error = lock.acquire(Mode::Shared, &Wait::default()).unwrap_err();
        assert!(matches!(error, Error::NetworkFileSystem { kind: "nfs", .. }), "{error}");
    }

    #[test]
    fn a_wait_is_shown_without_its_callback() {
        let shown = format!("{:?}", Wait::default());
        assert_eq!(shown, "Wait { timeout: 30s, notice_after: 1s, .. }");
    }

    #[test]
    fn endless_durations_are_cut() {
        let now = Instant::now();
        assert!(later(now, Duration::MAX) > now);
        assert_eq!(later(now, Duration::ZERO), now);
    }

    #[test]
    fn a_lock_is_free_after_every_guard_and_every_panic() {
        let folder = tempfile::tempdir().unwrap();
        let lock = Lock::open(&folder.path().join("lock")).unwrap();
        let wait = Wait::default();
        drop(lock.acquire(Mode::Exclusive, &wait).unwrap());
        drop(lock.hold(Mode::Shared, &wait).unwrap());
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _guard = lock.acquire(Mode::Exclusive, &wait).unwrap();
            panic!("with the lock");
        }));
        assert!(panicked.is_err());
        drop(lock.acquire(Mode::Exclusive, &Wait { timeout: Duration::ZERO, ..wait }).unwrap());
    }
}
