//! The registry under shuttle: schedules of threads that enter, wait, time out and leave.
//!
//! The model of `flock`: an open file is a cell with its lock mode, compared with all other open
//! files of the process, as the system does. Like `flock`, the model knows nothing of threads.
#![cfg(feature = "shuttle")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate cleveragents_filetx as filetx;

use std::panic::{Location, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use filetx::LockMode;
use filetx::registry::{AcquireError, Admission, Caller, Registry};
use shuttle::sync::Mutex;
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::thread;

const SCHEDULES: usize = 3_000;
const THREADS: usize = 3;
const ROUNDS: usize = 2;

/// The lock of each open file.
type Files = Mutex<[Option<LockMode>; 2]>;

#[derive(Default)]
struct World {
    registry: Registry<u8, usize>,
    files: Files,
    readers: AtomicUsize,
    writers: AtomicUsize,
}

/// Time of the unlock.
#[derive(Clone, Copy, PartialEq)]
enum Unlock {
    /// Before other threads enter: correct.
    InTurn,
    /// After other threads enter: wrong, because the next thread may have locked the same open
    /// file.
    AfterTurn,
    /// Without waking other threads: wrong.
    Never,
}

fn caller(thread_bound: bool) -> Caller {
    Caller { pid: 1, thread: thread::current().id(), at: Location::caller(), thread_bound }
}

/// The rule of `flock`: an open file converts its own lock and conflicts with others.
fn try_flock(files: &Files, file: usize, mode: LockMode) -> bool {
    let mut files = files.lock().unwrap();
    let other = files[1 - file];
    let free = other.is_none() || (other, mode) == (Some(LockMode::Shared), LockMode::Shared);
    if free {
        files[file] = Some(mode);
    }
    free
}

/// One acquire and release through an open file, as in `Lock`. Returns whether it entered.
fn visit(world: &World, file: usize, mode: LockMode, thread_bound: bool, unlock: Unlock) -> bool {
    let me = caller(thread_bound);
    match world.registry.enter(0, mode, &me, Instant::now()) {
        Err(AcquireError::TimedOut) => return false,
        Err(AcquireError::AlreadyHeld(at)) => panic!("this thread holds nothing, not at {at}"),
        Ok(Admission::Joined(_)) => assert_eq!(mode, LockMode::Shared),
        Ok(Admission::Transition(transition)) => {
            assert!(try_flock(&world.files, file, mode), "within a process the registry decides");
            transition.complete(mode, &me, file);
        }
    }
    inside(world, mode);
    let owner = thread_bound.then_some(me.thread);
    if let Some((file, transition)) = world.registry.leave(0, owner, me.thread) {
        match unlock {
            Unlock::InTurn => {
                world.files.lock().unwrap()[file] = None;
                drop(transition);
            }
            Unlock::AfterTurn => {
                drop(transition);
                world.files.lock().unwrap()[file] = None;
            }
            Unlock::Never => std::mem::forget(transition),
        }
    }
    true
}

/// The invariant: a writer is alone, and the file is locked for every thread inside.
fn inside(world: &World, mode: LockMode) {
    let (mine, others) = match mode {
        LockMode::Shared => (&world.readers, &world.writers),
        LockMode::Exclusive => (&world.writers, &world.readers),
    };
    let before = mine.fetch_add(1, Ordering::SeqCst);
    assert!(mode == LockMode::Shared || before == 0, "two writers");
    thread::yield_now();
    assert_eq!(others.load(Ordering::SeqCst), 0, "a writer beside a reader");
    assert!(world.files.lock().unwrap().contains(&Some(mode)), "inside without a lock of the system");
    mine.fetch_sub(1, Ordering::SeqCst);
}

fn explore(rounds: usize, unlock: Unlock) {
    let body = move || {
        let world = Arc::new(World::default());
        let threads: Vec<_> = (0..THREADS)
            .map(|index| {
                let world = Arc::clone(&world);
                thread::spawn(move || {
                    for round in 0..rounds {
                        let mode =
                            if (index + round) % 3 == 0 { LockMode::Exclusive } else { LockMode::Shared };
                        visit(&world, (index + round) % 2, mode, index != 1, unlock);
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        if unlock != Unlock::Never {
            assert!(world.registry.is_empty());
            assert_eq!(*world.files.lock().unwrap(), [None, None]);
            assert!(
                visit(&world, 0, LockMode::Exclusive, true, Unlock::InTurn),
                "a free lock is had at once"
            );
        }
    };
    shuttle::check_random(body, SCHEDULES);
    shuttle::check_pct(body, SCHEDULES, 3);
}

#[test]
fn a_writer_is_alone_and_every_thread_enters_or_times_out() {
    explore(ROUNDS, Unlock::InTurn);
}

/// The failure that shuttle reports for a broken variant.
fn failure(rounds: usize, unlock: Unlock) -> String {
    let panic = catch_unwind(|| explore(rounds, unlock)).expect_err("the broken variant passed");
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string())).unwrap_or_default()
}

#[test]
fn unlocking_after_the_transition_is_detected() {
    let failure = failure(ROUNDS, Unlock::AfterTurn);
    assert!(failure.contains("lock of the system") || failure.contains("the registry decides"), "{failure}");
}

/// One round, so that no thread meets its own transition: waiting threads are never woken.
#[test]
fn a_lost_wake_up_is_detected() {
    let failure = failure(1, Unlock::Never);
    assert!(failure.contains("deadlock"), "{failure}");
}
