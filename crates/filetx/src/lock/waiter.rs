//! Waits for a lock file that another process has locked.
//!
//! The kernel wakes the waiters of `flock` in order of arrival and offers no timeout. So a thread
//! waits in `flock` on its own handle, and callers wait for that thread until their own deadline.
//! No caller polls: a free lock is taken at once.
//!
//! Promises:
//! - A thread without callers releases the lock as soon as it gets it.
//! - Until then the next caller for the same lock reuses it: there is at most one thread per file
//!   and mode.
//!
//! Lock order: `WAITERS`, then the `state` of a waiter. These mutexes are always those of std:
//! under shuttle no other process holds the lock file.

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use std::{io, mem, process, thread};

use super::lock_path::LockPath;
use super::platform::{self, Access};
use crate::{FileId, LockMode};

/// Stack size of a waiting thread, in bytes.
const STACK_BYTES: usize = 128 * 1024;

/// The waiting threads. The key includes the process: a forked child has a copy of the map and none
/// of the threads.
static WAITERS: Mutex<BTreeMap<Key, Arc<Waiter>>> = Mutex::new(BTreeMap::new());

type Key = (u32, FileId, LockMode);

/// A thread that waits in `flock`.
struct Waiter {
    state: Mutex<State>,
    changed: Condvar,
}

enum State {
    Waiting {
        has_caller: bool,
    },
    Locked(File),
    Failed(io::Error),
    /// A caller took the result, or the lock was released.
    Finished,
}

/// A request for a lock. Dropping it cancels the request.
pub(crate) struct PendingLock(Arc<Waiter>);

impl PendingLock {
    /// Requests the lock of the file `id` at `path`; `None` if the path names another file.
    pub(crate) fn begin(
        path: &LockPath,
        id: FileId,
        mode: LockMode,
        access: Access,
    ) -> io::Result<Option<PendingLock>> {
        let key = (process::id(), id, mode);
        let mut waiters = lock(&WAITERS);
        if let Some(waiter) = waiters.get(&key)
            && let State::Waiting { has_caller } = &mut *lock(&waiter.state)
        {
            *has_caller = true;
            return Ok(Some(PendingLock(Arc::clone(waiter))));
        }
        let file = match path.open(access) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        if platform::id_of(&file)? != id {
            return Ok(None);
        }
        let state = Mutex::new(State::Waiting { has_caller: true });
        let waiter = Arc::new(Waiter { state, changed: Condvar::new() });
        let thread = thread::Builder::new().name("lock waiter".to_owned()).stack_size(STACK_BYTES);
        let thread_waiter = Arc::clone(&waiter);
        thread.spawn(move || thread_waiter.run(file, key))?;
        waiters.insert(key, Arc::clone(&waiter));
        Ok(Some(PendingLock(waiter)))
    }

    /// Waits for the locked file; `None` after the deadline.
    pub(crate) fn wait_until(&self, deadline: Instant) -> io::Result<Option<File>> {
        let mut state = lock(&self.0.state);
        while let State::Waiting { .. } = *state {
            let remaining = deadline.saturating_duration_since(Instant::now());
            if remaining.is_zero() {
                return Ok(None);
            }
            state = self.0.changed.wait_timeout(state, remaining).unwrap_or_else(PoisonError::into_inner).0;
        }
        match mem::replace(&mut *state, State::Finished) {
            State::Locked(file) => Ok(Some(file)),
            State::Failed(error) => Err(error),
            State::Waiting { .. } | State::Finished => unreachable!("a request ends once"),
        }
    }
}

impl Drop for PendingLock {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        match &mut *state {
            State::Waiting { has_caller } => *has_caller = false,
            State::Locked(file) => release(file),
            State::Failed(_) | State::Finished => {}
        }
    }
}

impl Waiter {
    fn run(&self, file: File, key: Key) {
        let (_, _, mode) = key;
        let result = loop {
            let result = match mode {
                LockMode::Shared => file.lock_shared(),
                LockMode::Exclusive => file.lock(),
            };
            if !matches!(&result, Err(error) if error.kind() == io::ErrorKind::Interrupted) {
                break result;
            }
        };
        let mut waiters = lock(&WAITERS);
        waiters.remove(&key);
        let mut state = lock(&self.state);
        let has_caller = matches!(*state, State::Waiting { has_caller: true });
        *state = match result {
            Ok(()) if has_caller => State::Locked(file),
            Ok(()) => {
                release(&file);
                State::Finished
            }
            Err(error) => State::Failed(error),
        };
        // Unlocked first, so that the woken caller does not wait for these mutexes.
        drop((state, waiters));
        self.changed.notify_all();
    }
}

/// Unlocks the file. Closing it is not enough: a forked child may have it open too.
fn release(file: &File) {
    // A local file system does not refuse; on a network file system, closing the file unlocks it.
    let _ = file.unlock();
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(test, not(feature = "shuttle")))]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use super::*;

    /// A locked file. For `flock`, another open file is like another process.
    struct Scene {
        _folder: tempfile::TempDir,
        path: PathBuf,
        holder: File,
    }

    impl Scene {
        fn new() -> Self {
            let folder = tempfile::tempdir().expect("a plain folder");
            let path = folder.path().join("lock");
            let holder = platform::open(&path, Access::Create).expect("a plain folder");
            holder.lock().expect("a plain folder");
            Self { _folder: folder, path, holder }
        }

        fn lock_path(&self) -> LockPath {
            LockPath::at(&self.path).expect("a plain folder")
        }

        fn begin(&self, mode: LockMode) -> Option<PendingLock> {
            let id = platform::id_of(&self.holder).expect("a plain folder");
            PendingLock::begin(&self.lock_path(), id, mode, Access::Write).expect("a plain folder")
        }

        fn threads(&self) -> usize {
            let id = platform::id_of(&self.holder).expect("a plain folder");
            lock(&WAITERS).keys().filter(|(_, of, _)| *of == id).count()
        }

        /// Locks the file again, which blocks until it is free.
        fn assert_is_released(&self) {
            platform::open(&self.path, Access::Write)
                .expect("a plain folder")
                .lock()
                .expect("a plain folder");
        }
    }

    fn far_deadline() -> Instant {
        Instant::now() + Duration::from_secs(600)
    }

    #[test]
    fn a_waiter_gets_the_lock_when_it_is_released() {
        for mode in [LockMode::Shared, LockMode::Exclusive] {
            let scene = Scene::new();
            let request = scene.begin(mode).unwrap();
            assert!(request.wait_until(Instant::now()).unwrap().is_none(), "it is held");
            scene.holder.unlock().unwrap();
            let file = request.wait_until(far_deadline()).unwrap().unwrap();
            assert!(scene.holder.try_lock().is_err(), "it is held again");
            drop((request, file));
            scene.assert_is_released();
        }
    }

    #[test]
    fn cancelled_requests_leave_one_thread_and_no_lock() {
        let scene = Scene::new();
        for _ in 0..100 {
            let request = scene.begin(LockMode::Exclusive).unwrap();
            assert!(request.wait_until(Instant::now()).unwrap().is_none());
        }
        assert_eq!(scene.threads(), 1);
        drop(scene.begin(LockMode::Shared).unwrap());
        assert_eq!(scene.threads(), 2, "each mode has its own thread");
        scene.holder.unlock().unwrap();
        scene.assert_is_released();
    }

    #[test]
    fn a_new_request_reuses_the_thread_of_a_cancelled_one() {
        let scene = Scene::new();
        drop(scene.begin(LockMode::Exclusive).unwrap());
        let request = scene.begin(LockMode::Exclusive).unwrap();
        assert_eq!(scene.threads(), 1);
        scene.holder.unlock().unwrap();
        assert!(request.wait_until(far_deadline()).unwrap().is_some());
        assert_eq!(scene.threads(), 0);
    }

    #[test]
    fn a_lock_without_a_request_is_released() {
        let scene = Scene::new();
        let request = scene.begin(LockMode::Exclusive).unwrap();
        scene.holder.unlock().unwrap();
        while scene.threads() > 0 {
            thread::yield_now();
        }
        drop(request);
        scene.assert_is_released();
    }

    #[test]
    fn a_replaced_lock_file_is_not_waited_for() {
        let scene = Scene::new();
        std::fs::remove_file(&scene.path).unwrap();
        assert!(scene.begin(LockMode::Exclusive).is_none());
        platform::open(&scene.path, Access::Create).unwrap();
        assert!(scene.begin(LockMode::Exclusive).is_none());
        std::fs::remove_file(&scene.path).unwrap();
        std::fs::create_dir(&scene.path).unwrap();
        let id = platform::id_of(&scene.holder).unwrap();
        assert!(PendingLock::begin(&scene.lock_path(), id, LockMode::Shared, Access::Write).is_err());
    }
}
