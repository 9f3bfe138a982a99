//! Group commit under shuttle: many schedules of threads that take the turn, queue, lead, drain and give back.
//!
//! A lost wake-up shows as a deadlock, which shuttle reports. The journal is modelled: a list that batches are appended to.
#![cfg(feature = "shuttle")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate cleveragents_filetx as filetx;

use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use filetx::Error;
use filetx::group_commit::{CommitOutcome, GroupCommit};
use filetx::registry::AcquireError;
use shuttle::sync::Mutex;
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::thread;

const SCHEDULES: usize = 5_000;
const THREADS: usize = 4;
const ROUNDS: usize = 2;

struct World {
    group: GroupCommit<usize>,
    /// What was written, in order.
    journal: Mutex<Vec<usize>>,
    /// Which step fails, counted from 0: every batch has two, writing and publishing.
    fails: Option<usize>,
    steps: AtomicUsize,
    writing: AtomicUsize,
    publishing: AtomicUsize,
    staging: AtomicUsize,
    next: AtomicUsize,
}

/// What a thread does with its turn.
#[derive(Clone, Copy, PartialEq)]
enum Act {
    Commit,
    /// Waits until the queue is empty before it commits, as a checkpoint does.
    DrainAndCommit,
    GiveBack,
}

fn visit(world: &World, act: Act) {
    match world.group.acquire_permit(Duration::from_secs(1), Location::caller()) {
        Err(AcquireError::TimedOut) => return,
        Err(AcquireError::AlreadyHeld(at)) => panic!("this thread has no turn, not at {at}"),
        Ok(()) => {}
    }
    assert_eq!(world.staging.fetch_add(1, Ordering::SeqCst), 0, "one stages at a time");
    if act == Act::DrainAndCommit {
        world.group.drain();
        assert_eq!(world.writing.load(Ordering::SeqCst), 0, "nothing is written behind a drain");
        assert_eq!(world.publishing.load(Ordering::SeqCst), 0, "nothing is published behind a drain");
    }
    let item = world.next.fetch_add(1, Ordering::SeqCst);
    world.staging.fetch_sub(1, Ordering::SeqCst);
    if act == Act::GiveBack {
        world.group.release_permit(|| {});
        return;
    }
    let Some(ticket) = world.group.submit(item) else {
        // A batch failed since the turn was taken.
        world.group.release_permit(|| {});
        return;
    };
    let fate = world.group.commit(ticket, |batch| write(world, &batch), |()| publish(world), || {}, || {});
    let is_written = world.journal.lock().unwrap().contains(&item);
    match fate {
        CommitOutcome::Published | CommitOutcome::Pending(_) => {
            assert!(is_written, "{item} was acknowledged")
        }
        CommitOutcome::Unknown(_) | CommitOutcome::Superseded => assert!(!is_written, "{item} was refused"),
        fate => panic!("no batch ends like this: {fate:?}"),
    }
}

/// Runs a step of which only one is under way at a time, and says whether it fails.
fn step(world: &World, running: &AtomicUsize) -> bool {
    assert_eq!(running.fetch_add(1, Ordering::SeqCst), 0, "one at a time");
    thread::yield_now();
    running.fetch_sub(1, Ordering::SeqCst);
    world.fails == Some(world.steps.fetch_add(1, Ordering::SeqCst))
}

fn write(world: &World, batch: &[usize]) -> Result<(), CommitOutcome> {
    if step(world, &world.writing) {
        return Err(CommitOutcome::Unknown(Arc::new(Error::Superseded)));
    }
    world.journal.lock().unwrap().extend(batch);
    Ok(())
}

fn publish(world: &World) -> CommitOutcome {
    if step(world, &world.publishing) {
        CommitOutcome::Pending(Arc::new(Error::Superseded))
    } else {
        CommitOutcome::Published
    }
}

fn explore(acts: [Act; THREADS], fails: Option<usize>) {
    shuttle::check_random(
        move || {
            let world = Arc::new(World {
                group: GroupCommit::new(),
                journal: Mutex::default(),
                fails,
                steps: AtomicUsize::new(0),
                writing: AtomicUsize::new(0),
                publishing: AtomicUsize::new(0),
                staging: AtomicUsize::new(0),
                next: AtomicUsize::new(0),
            });
            let threads = acts.map(|act| {
                let world = Arc::clone(&world);
                thread::spawn(move || (0..ROUNDS).for_each(|_| visit(&world, act)))
            });
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            let journal = world.journal.lock().unwrap();
            assert!(journal.is_sorted(), "the order of the turns is kept: {journal:?}");
        },
        SCHEDULES,
    );
}

#[test]
fn every_item_is_written_once_and_in_order() {
    explore([Act::Commit; THREADS], None);
}

#[test]
fn a_thread_that_drains_or_gives_back_blocks_nobody() {
    explore([Act::Commit, Act::DrainAndCommit, Act::Commit, Act::GiveBack], None);
}

#[test]
fn a_failed_step_fails_what_was_staged_on_it_and_wakes_everybody() {
    for fails in 0..6 {
        explore([Act::Commit, Act::Commit, Act::DrainAndCommit, Act::Commit], Some(fails));
    }
}
