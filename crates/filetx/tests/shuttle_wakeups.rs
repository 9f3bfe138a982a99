//! Group commit under shuttle: schedules of threads that acquire, queue, lead, drain and release.
//!
//! Shuttle reports a lost wake-up as a deadlock. The model of the journal is a list of written
//! items.
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
    /// Written items, in order.
    journal: Mutex<Vec<usize>>,
    /// Number of the failing step, from 0: every batch has two, writing and publishing.
    fails: Option<usize>,
    steps: AtomicUsize,
    writing: AtomicUsize,
    publishing: AtomicUsize,
    staging: AtomicUsize,
    next: AtomicUsize,
}

/// Use of the permit.
#[derive(Clone, Copy, PartialEq)]
enum Use {
    Commit,
    /// Drains the queue before the commit, as a checkpoint does.
    DrainAndCommit,
    Release,
}

fn visit(world: &World, usage: Use) {
    match world.group.acquire_permit(Duration::from_secs(1), Location::caller()) {
        Err(AcquireError::TimedOut) => return,
        Err(AcquireError::AlreadyHeld(at)) => panic!("this thread has no permit, not at {at}"),
        Ok(()) => {}
    }
    assert_eq!(world.staging.fetch_add(1, Ordering::SeqCst), 0, "one stages at a time");
    if usage == Use::DrainAndCommit {
        world.group.drain();
        assert_eq!(world.writing.load(Ordering::SeqCst), 0, "nothing is written behind a drain");
        assert_eq!(world.publishing.load(Ordering::SeqCst), 0, "nothing is published behind a drain");
    }
    let item = world.next.fetch_add(1, Ordering::SeqCst);
    world.staging.fetch_sub(1, Ordering::SeqCst);
    if usage == Use::Release {
        world.group.release_permit(|| {});
        return;
    }
    let Some(ticket) = world.group.submit(item) else {
        // A batch failed since the permit was acquired.
        world.group.release_permit(|| {});
        return;
    };
    let outcome = world.group.commit(ticket, |batch| write(world, &batch), |()| publish(world), || {}, || {});
    let is_written = world.journal.lock().unwrap().contains(&item);
    match outcome {
        CommitOutcome::Published | CommitOutcome::Pending(_) => {
            assert!(is_written, "{item} was acknowledged")
        }
        CommitOutcome::Unknown(_) | CommitOutcome::Superseded => assert!(!is_written, "{item} was refused"),
        outcome => panic!("no batch ends like this: {outcome:?}"),
    }
}

/// Runs a step, checks that it is the only one, and returns whether it fails.
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

fn explore(uses: [Use; THREADS], fails: Option<usize>) {
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
            let threads = uses.map(|usage| {
                let world = Arc::clone(&world);
                thread::spawn(move || (0..ROUNDS).for_each(|_| visit(&world, usage)))
            });
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            let journal = world.journal.lock().unwrap();
            assert!(journal.is_sorted(), "the order of the turns is kept: {journal:?}");
        },
        SCHEDULES,
    );
}

#[test]
fn items_are_written_once_in_order() {
    explore([Use::Commit; THREADS], None);
}

#[test]
fn draining_and_releasing_threads_do_not_block() {
    explore([Use::Commit, Use::DrainAndCommit, Use::Commit, Use::Release], None);
}

#[test]
fn a_failed_step_supersedes_the_queue_and_wakes_all() {
    for fails in 0..6 {
        explore([Use::Commit, Use::Commit, Use::DrainAndCommit, Use::Commit], Some(fails));
    }
}
