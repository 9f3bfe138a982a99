//! Group commit under shuttle: many schedules of threads that take the turn, queue, lead, drain and give back.
//!
//! A lost wake-up shows as a deadlock, which shuttle reports. The journal is modelled: a list that flushes append to.
#![cfg(feature = "shuttle")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use filetx::Error;
use filetx::group::{Fate, Group, NoTurn};
use shuttle::sync::Mutex;
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::thread;

const SCHEDULES: usize = 5_000;
const THREADS: usize = 4;
const ROUNDS: usize = 2;

struct World {
    group: Group<usize>,
    /// What was flushed, in order.
    journal: Mutex<Vec<usize>>,
    /// Which flush fails, counted from 0.
    fails: Option<usize>,
    flushes: AtomicUsize,
    flushing: AtomicUsize,
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
    match world.group.take_turn(Duration::from_secs(1), Location::caller()) {
        Err(NoTurn::Busy) => return,
        Err(NoTurn::AlreadyHeld(at)) => panic!("this thread has no turn, not at {at}"),
        Ok(()) => {}
    }
    assert_eq!(world.staging.fetch_add(1, Ordering::SeqCst), 0, "one stages at a time");
    if act == Act::DrainAndCommit {
        world.group.drain();
        assert_eq!(world.flushing.load(Ordering::SeqCst), 0, "nothing is flushed behind a drain");
    }
    let item = world.next.fetch_add(1, Ordering::SeqCst);
    world.staging.fetch_sub(1, Ordering::SeqCst);
    if act == Act::GiveBack {
        world.group.give_back(|| {});
        return;
    }
    let Some(ticket) = world.group.submit(item) else {
        // A flush failed since the turn was taken.
        world.group.give_back(|| {});
        return;
    };
    let fate = world.group.settle(ticket, |batch| flush(world, &batch), || {}, || {});
    let is_written = world.journal.lock().unwrap().contains(&item);
    match fate {
        Fate::Durable => assert!(is_written, "{item} was acknowledged"),
        Fate::Unknown(_) | Fate::Superseded => assert!(!is_written, "{item} was refused"),
        fate => panic!("no flush ends like this: {fate:?}"),
    }
}

fn flush(world: &World, batch: &[usize]) -> Fate {
    assert_eq!(world.flushing.fetch_add(1, Ordering::SeqCst), 0, "one leads at a time");
    thread::yield_now();
    let fails = world.fails == Some(world.flushes.fetch_add(1, Ordering::SeqCst));
    if !fails {
        world.journal.lock().unwrap().extend(batch);
    }
    world.flushing.fetch_sub(1, Ordering::SeqCst);
    if fails { Fate::Unknown(Arc::new(Error::Superseded)) } else { Fate::Durable }
}

fn explore(acts: [Act; THREADS], fails: Option<usize>) {
    shuttle::check_random(
        move || {
            let world = Arc::new(World {
                group: Group::new(),
                journal: Mutex::default(),
                fails,
                flushes: AtomicUsize::new(0),
                flushing: AtomicUsize::new(0),
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
fn every_item_is_flushed_once_and_in_order() {
    explore([Act::Commit; THREADS], None);
}

#[test]
fn a_thread_that_drains_or_gives_back_blocks_nobody() {
    explore([Act::Commit, Act::DrainAndCommit, Act::Commit, Act::GiveBack], None);
}

#[test]
fn a_failed_flush_fails_what_was_staged_on_it_and_wakes_everybody() {
    for fails in 0..3 {
        explore([Act::Commit, Act::Commit, Act::DrainAndCommit, Act::Commit], Some(fails));
    }
}
