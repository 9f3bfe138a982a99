//! Waiting for a lock file that another process has locked.
//!
//! The kernel wakes those who wait in `flock` in the order they came, and lets none of them stop waiting. So a thread waits there, on an
//! open file of its own, and whoever wants the lock waits for that thread for as long as it likes. Nobody has to ask again and again: a
//! lock that comes free is taken at once, and waiting costs nothing.
//!
//! Promises:
//! - A thread that nobody waits for any more lets the lock go as soon as it gets it.
//! - Until then the next one who wants the same waits for it: there is one thread at most for a file and mode, however often a wait was
//!   given up.
//!
//! Order: `WAITERS`, then a waiter's `state`. Under shuttle nothing else has the lock file, so these are std's own.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use std::{io, mem, process, thread};

use super::platform::{self, Access};
use crate::{FileId, Mode};

/// The thread does little.
const STACK_BYTES: usize = 128 * 1024;

/// The threads that wait. With the process, as a forked child has a copy of the map and none of the threads.
static WAITERS: Mutex<BTreeMap<Key, Arc<Waiter>>> = Mutex::new(BTreeMap::new());

type Key = (u32, FileId, Mode);

/// A thread that waits for a lock.
struct Waiter {
    state: Mutex<State>,
    changed: Condvar,
}

enum State {
    Waiting {
        is_awaited: bool,
    },
    Locked(File),
    Failed(io::Error),
    /// What came of it was taken, or let go.
    Over,
}

/// A place among those who wait for a lock. Dropping it gives the wait up.
pub(crate) struct Queued(Arc<Waiter>);

impl Queued {
    /// Begins to wait for the lock on the file `id` at `path`; `None` when the path names another one now.
    pub(crate) fn begin(path: &Path, id: FileId, mode: Mode, access: Access) -> io::Result<Option<Queued>> {
        let key = (process::id(), id, mode);
        let mut waiters = lock(&WAITERS);
        if let Some(waiter) = waiters.get(&key)
            && let State::Waiting { is_awaited } = &mut *lock(&waiter.state)
        {
            *is_awaited = true;
            return Ok(Some(Queued(Arc::clone(waiter))));
        }
        let file = match platform::open(path, access) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        if platform::id_of(&file)? != id {
            return Ok(None);
        }
        let state = Mutex::new(State::Waiting { is_awaited: true });
        let waiter = Arc::new(Waiter { state, changed: Condvar::new() });
        let thread = thread::Builder::new().name("lock waiter".to_owned()).stack_size(STACK_BYTES);
        let ours = Arc::clone(&waiter);
        thread.spawn(move || ours.run(file, key))?;
        waiters.insert(key, Arc::clone(&waiter));
        Ok(Some(Queued(waiter)))
    }

    /// The file, locked; `None` when that takes longer than `until`.
    pub(crate) fn until(&self, until: Instant) -> io::Result<Option<File>> {
        let mut state = lock(&self.0.state);
        while let State::Waiting { .. } = *state {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            state = self.0.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        match mem::replace(&mut *state, State::Over) {
            State::Locked(file) => Ok(Some(file)),
            State::Failed(error) => Err(error),
            State::Waiting { .. } | State::Over => unreachable!("a wait ends once"),
        }
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        match &mut *state {
            State::Waiting { is_awaited } => *is_awaited = false,
            State::Locked(file) => let_go(file),
            State::Failed(_) | State::Over => {}
        }
    }
}

impl Waiter {
    fn run(&self, file: File, key: Key) {
        let (_, _, mode) = key;
        let result = loop {
            let result = match mode {
                Mode::Shared => file.lock_shared(),
                Mode::Exclusive => file.lock(),
            };
            if !matches!(&result, Err(error) if error.kind() == io::ErrorKind::Interrupted) {
                break result;
            }
        };
        let mut waiters = lock(&WAITERS);
        waiters.remove(&key);
        let mut state = lock(&self.state);
        let is_awaited = matches!(*state, State::Waiting { is_awaited: true });
        *state = match result {
            Ok(()) if is_awaited => State::Locked(file),
            Ok(()) => {
                let_go(&file);
                State::Over
            }
            Err(error) => State::Failed(error),
        };
        // Whoever wakes is not to wait again, for these.
        drop((state, waiters));
        self.changed.notify_all();
    }
}

/// Unlocks rather than closes: a child that was forked meanwhile has the file open too.
fn let_go(file: &File) {
    // A local file system has no reason to refuse; on a network one, closing the file unlocks it.
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

    /// A lock file that somebody else holds: another open file is to `flock` what another process is.
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

        fn begin(&self, mode: Mode) -> Option<Queued> {
            let id = platform::id_of(&self.holder).expect("a plain folder");
            Queued::begin(&self.path, id, mode, Access::Write).expect("a plain folder")
        }

        fn threads(&self) -> usize {
            let id = platform::id_of(&self.holder).expect("a plain folder");
            lock(&WAITERS).keys().filter(|(_, of, _)| *of == id).count()
        }

        /// Takes the lock anew, which ends when nobody else has it.
        fn assert_comes_free(&self) {
            platform::open(&self.path, Access::Write)
                .expect("a plain folder")
                .lock()
                .expect("a plain folder");
        }
    }

    fn far() -> Instant {
        Instant::now() + Duration::from_secs(600)
    }

    #[test]
    fn who_waits_gets_the_lock_when_it_comes_free() {
        for mode in [Mode::Shared, Mode::Exclusive] {
            let scene = Scene::new();
            let queued = scene.begin(mode).unwrap();
            assert!(queued.until(Instant::now()).unwrap().is_none(), "it is held");
            scene.holder.unlock().unwrap();
            let file = queued.until(far()).unwrap().unwrap();
            assert!(scene.holder.try_lock().is_err(), "it is held again");
            drop((queued, file));
            scene.assert_comes_free();
        }
    }

    #[test]
    fn waits_that_are_given_up_leave_one_thread_and_no_lock() {
        let scene = Scene::new();
        for _ in 0..100 {
            let queued = scene.begin(Mode::Exclusive).unwrap();
            assert!(queued.until(Instant::now()).unwrap().is_none());
        }
        assert_eq!(scene.threads(), 1);
        drop(scene.begin(Mode::Shared).unwrap());
        assert_eq!(scene.threads(), 2, "another mode is another wait");
        scene.holder.unlock().unwrap();
        scene.assert_comes_free();
    }

    #[test]
    fn a_wait_that_was_given_up_is_taken_over() {
        let scene = Scene::new();
        drop(scene.begin(Mode::Exclusive).unwrap());
        let queued = scene.begin(Mode::Exclusive).unwrap();
        assert_eq!(scene.threads(), 1);
        scene.holder.unlock().unwrap();
        assert!(queued.until(far()).unwrap().is_some());
        assert_eq!(scene.threads(), 0);
    }

    #[test]
    fn a_lock_that_nobody_took_over_is_let_go() {
        let scene = Scene::new();
        let queued = scene.begin(Mode::Exclusive).unwrap();
        scene.holder.unlock().unwrap();
        while scene.threads() > 0 {
            thread::yield_now();
        }
        drop(queued);
        scene.assert_comes_free();
    }

    #[test]
    fn a_file_that_lost_its_name_is_not_waited_for() {
        let scene = Scene::new();
        std::fs::remove_file(&scene.path).unwrap();
        assert!(scene.begin(Mode::Exclusive).is_none());
        platform::open(&scene.path, Access::Create).unwrap();
        assert!(scene.begin(Mode::Exclusive).is_none());
        std::fs::remove_file(&scene.path).unwrap();
        std::fs::create_dir(&scene.path).unwrap();
        let id = platform::id_of(&scene.holder).unwrap();
        assert!(Queued::begin(&scene.path, id, Mode::Shared, Access::Write).is_err());
    }
}
