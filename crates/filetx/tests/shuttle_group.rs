//! Group commit under shuttle: many schedules of threads that take turns, submit, write, publish, fail, time out and give back.
//!
//! The journal is modelled: a list of what was written, in order, and how much of it was published; writing and publishing sometimes
//! fail. An item knows what was queued or written when it was staged; it may be written only behind exactly that.
#![cfg(feature = "shuttle")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate cleveragents_filetx as filetx;

use std::panic::{Location, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use filetx::Error;
use filetx::group_commit::{CommitOutcome, GroupCommit};
use filetx::registry::AcquireError;
use shuttle::rand::{Rng, thread_rng};
use shuttle::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use shuttle::sync::{Mutex, MutexGuard};
use shuttle::thread;

const SCHEDULES: usize = 5_000;
const THREADS: usize = 3;
const ROUNDS: usize = 2;

/// What stands for a transaction: its number, and the numbers it was staged on.
#[derive(Clone, Debug)]
struct Item {
    number: usize,
    staged_on: Vec<usize>,
}

/// What the folder around a group keeps.
#[derive(Default)]
struct Shelf {
    /// Written for good, in order.
    journal: Vec<usize>,
    /// How many of them are published.
    published: usize,
    /// Submitted and not yet written, in order.
    queued: Vec<usize>,
    next: usize,
}

struct World {
    group: GroupCommit<Item>,
    shelf: Mutex<Shelf>,
    has_turn: AtomicBool,
    is_writing: AtomicBool,
    is_publishing: AtomicBool,
    idle_calls: AtomicUsize,
    failing: bool,
    broken: Broken,
}

/// What is wrong on purpose.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Broken {
    Nothing,
    /// A batch is written in reverse.
    Reversed,
    /// A thread that has the turn dies without giving it back.
    KeepsTurn,
    /// A failed write is taken for a good one.
    FailureIgnored,
    /// What is known is forgotten before the group knows of the failure, while another batch may be under way.
    FailureIsEarly,
    /// A thread settles twice with one ticket.
    SettlesTwice,
}

impl World {
    fn new(failing: bool, broken: Broken) -> Self {
        Self {
            group: GroupCommit::new(),
            shelf: Mutex::new(Shelf::default()),
            has_turn: AtomicBool::new(false),
            is_writing: AtomicBool::new(false),
            is_publishing: AtomicBool::new(false),
            idle_calls: AtomicUsize::new(0),
            failing,
            broken,
        }
    }

    /// Also after a panic: the first one is what counts.
    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs in the group when it thinks that nobody is here: it may let the lock file go.
    fn idle(&self) {
        assert!(!self.has_turn.load(Ordering::SeqCst), "idle while somebody stages");
        self.assert_nothing_under_way();
        self.idle_calls.fetch_add(1, Ordering::SeqCst);
    }

    fn assert_nothing_under_way(&self) {
        if std::thread::panicking() {
            // The first panic is what counts.
            return;
        }
        assert!(!self.is_writing.load(Ordering::SeqCst), "a batch is being written");
        assert!(!self.is_publishing.load(Ordering::SeqCst), "a batch is being published");
    }

    /// Runs in the group after a failure: everything is read again, and published, before anybody stages.
    fn failed(&self) {
        if self.broken != Broken::FailureIsEarly {
            self.assert_nothing_under_way();
        }
        let mut shelf = self.shelf();
        shelf.queued.clear();
        shelf.published = shelf.journal.len();
    }

    fn fails(&self) -> bool {
        self.failing && thread_rng().r#gen::<bool>()
    }

    fn write(&self, mut batch: Vec<Item>) -> Result<Vec<usize>, CommitOutcome> {
        assert!(!self.is_writing.swap(true, Ordering::SeqCst), "two leaders");
        assert!(!batch.is_empty(), "a batch of nothing");
        thread::yield_now();
        if self.broken == Broken::Reversed {
            batch.reverse();
        }
        let fails = self.fails();
        let numbers: Vec<usize> = batch.iter().map(|item| item.number).collect();
        let mut shelf = self.shelf();
        if !fails {
            for item in &batch {
                assert_eq!(shelf.journal, item.staged_on, "{} was staged on something else", item.number);
                shelf.journal.push(item.number);
                shelf.queued.retain(|queued| *queued != item.number);
            }
        }
        drop(shelf);
        if fails && self.broken == Broken::FailureIsEarly {
            self.failed();
            thread::yield_now();
        }
        self.is_writing.store(false, Ordering::SeqCst);
        if fails && self.broken != Broken::FailureIgnored {
            return Err(CommitOutcome::Unknown(Arc::new(Error::Superseded)));
        }
        Ok(numbers)
    }

    fn publish(&self, batch: &[usize]) -> CommitOutcome {
        assert!(!self.is_publishing.swap(true, Ordering::SeqCst), "two publish");
        thread::yield_now();
        let fails = self.fails();
        let mut shelf = self.shelf();
        let behind = &shelf.journal[shelf.published..];
        if self.broken != Broken::FailureIgnored {
            assert!(behind.starts_with(batch), "{batch:?} is published out of order");
        }
        if !fails {
            shelf.published += batch.len();
        }
        drop(shelf);
        self.is_publishing.store(false, Ordering::SeqCst);
        if fails { CommitOutcome::Pending(Arc::new(Error::Superseded)) } else { CommitOutcome::Published }
    }

    /// One transaction. Tells whether it is durable.
    fn commit(&self, gives_back: bool) -> Option<usize> {
        match self.group.acquire_permit(Duration::from_secs(1), Location::caller()) {
            Err(AcquireError::TimedOut) => return None,
            Err(AcquireError::AlreadyHeld(at)) => panic!("this thread has no turn, not from {at}"),
            Ok(()) => {}
        }
        assert!(!self.has_turn.swap(true, Ordering::SeqCst), "two threads have the turn");
        let again = self.group.acquire_permit(Duration::from_secs(1), Location::caller());
        assert!(matches!(again, Err(AcquireError::AlreadyHeld(_))), "the turn was given twice to one thread");
        if self.broken == Broken::KeepsTurn {
            return None;
        }
        let item = {
            let mut shelf = self.shelf();
            shelf.next += 1;
            let staged_on = [shelf.journal.as_slice(), &shelf.queued].concat();
            Item { number: shelf.next, staged_on }
        };
        thread::yield_now();
        if gives_back {
            self.has_turn.store(false, Ordering::SeqCst);
            self.group.release_permit(|| self.idle());
            return None;
        }
        let number = item.number;
        self.shelf().queued.push(number);
        thread::yield_now();
        self.has_turn.store(false, Ordering::SeqCst);
        let Some(ticket) = self.group.submit(item) else {
            // What this was staged on failed meanwhile. Its place is forgotten with everything else.
            self.shelf().queued.retain(|queued| *queued != number);
            self.group.release_permit(|| self.idle());
            return None;
        };
        let failed = || {
            if self.broken != Broken::FailureIsEarly {
                self.failed();
            }
        };
        let publish = |batch: Vec<usize>| self.publish(&batch);
        let fate = self.group.commit(ticket, |batch| self.write(batch), publish, failed, || self.idle());
        if self.broken == Broken::SettlesTwice {
            self.group.commit(ticket, |batch| self.write(batch), publish, || (), || self.idle());
        }
        let is_there = self.shelf().journal.contains(&number);
        match fate {
            CommitOutcome::Published | CommitOutcome::Pending(_) => {
                assert!(is_there, "{number} is durable and not in the journal")
            }
            CommitOutcome::Unknown(_) | CommitOutcome::Superseded => {
                assert!(!is_there, "{number} failed and is in the journal")
            }
            fate => panic!("{fate:?}"),
        }
        matches!(fate, CommitOutcome::Published | CommitOutcome::Pending(_)).then_some(number)
    }
}

fn body(threads: usize, failing: bool, broken: Broken) {
    let world = Arc::new(World::new(failing, broken));
    // In one round nobody meets a turn of its own.
    let rounds = if broken == Broken::KeepsTurn { 1 } else { ROUNDS };
    let threads: Vec<_> = (0..threads)
        .map(|index| {
            let world = Arc::clone(&world);
            thread::spawn(move || {
                let commit = |round| world.commit((index + round) % 4 == 3);
                (0..rounds).filter_map(commit).collect::<Vec<_>>()
            })
        })
        .collect();
    let mut durable: Vec<usize> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    durable.sort_unstable();
    let shelf = world.shelf();
    assert!(shelf.journal.is_sorted(), "written in another order than submitted: {:?}", shelf.journal);
    assert_eq!(shelf.journal, durable, "each durable item is written once");
    assert_eq!(shelf.queued, [0; 0], "something was never written");
    assert_eq!(shelf.published, shelf.journal.len(), "something was never published");
    assert!(world.idle_calls.load(Ordering::SeqCst) > 0, "the last one out lets the lock go");
    drop(shelf);
    world
        .group
        .acquire_permit(Duration::from_secs(1), Location::caller())
        .expect("a free turn is had at once");
    world.group.drain();
    world.group.release_permit(|| ());
}

fn schedules() -> usize {
    if testkit::report::is_proof() { 10 * SCHEDULES } else { SCHEDULES }
}

fn explore(threads: usize, failing: bool, broken: Broken) {
    shuttle::check_random(move || body(threads, failing, broken), schedules());
    shuttle::check_pct(move || body(threads, failing, broken), schedules(), 3);
    if broken == Broken::Nothing {
        let name = format!(
            "shuttle schedules, group commit, {threads} threads{}",
            if failing { ", failing" } else { "" }
        );
        testkit::report::figure(&name, 2 * schedules());
    }
}

#[test]
fn what_is_submitted_is_written_once_in_order() {
    explore(THREADS, false, Broken::Nothing);
}

#[test]
fn a_failed_batch_takes_along_what_was_staged_on_it_and_nothing_else() {
    explore(THREADS, true, Broken::Nothing);
}

#[test]
fn four_threads_come_through() {
    explore(4, true, Broken::Nothing);
}

/// Whoever has the turn waits for those that are being written, who need no turn.
#[test]
fn a_drain_under_the_turn_finds_nothing_under_way() {
    let body = || {
        let world = Arc::new(World::new(false, Broken::Nothing));
        let writer = {
            let world = Arc::clone(&world);
            thread::spawn(move || (0..ROUNDS).filter_map(|_| world.commit(false)).count())
        };
        if world.group.acquire_permit(Duration::from_secs(1), Location::caller()).is_ok() {
            world.group.drain();
            assert_eq!(world.shelf().queued, [0; 0]);
            world.assert_nothing_under_way();
            thread::yield_now();
            world.assert_nothing_under_way();
            world.group.release_permit(|| ());
        }
        writer.join().unwrap();
    };
    shuttle::check_random(body, schedules());
    shuttle::check_pct(body, schedules(), 3);
}

/// A leader that panics is seen by those who wait for it: they are not durable, and nobody waits for ever.
#[test]
fn a_leader_that_panics_blocks_nobody() {
    let body = |panics_in: Phase| {
        let group = Arc::new(GroupCommit::<usize>::new());
        let threads: Vec<_> = (0..THREADS)
            .map(|index| {
                let group = Arc::clone(&group);
                thread::spawn(move || {
                    while group.acquire_permit(Duration::from_secs(1), Location::caller()).is_err() {}
                    let Some(ticket) = group.submit(index) else {
                        return group.release_permit(|| ());
                    };
                    let write = |_| if panics_in == Phase::Write { die() } else { Ok(()) };
                    let settle = || group.commit(ticket, write, |()| die(), || (), || ());
                    let settled = catch_unwind(std::panic::AssertUnwindSafe(settle));
                    match (panics_in, settled) {
                        (_, Err(_) | Ok(CommitOutcome::Superseded)) => {}
                        (Phase::Write, Ok(CommitOutcome::Unknown(_))) => {}
                        (Phase::Publish, Ok(CommitOutcome::Pending(_))) => {}
                        (_, fate) => panic!("{fate:?} when {panics_in:?} panics"),
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    };
    for phase in [Phase::Write, Phase::Publish] {
        shuttle::check_random(move || body(phase), schedules());
    }
}

fn die() -> ! {
    std::panic::resume_unwind(Box::new("on purpose"))
}

/// What a leader does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Write,
    Publish,
}

/// What shuttle says of a broken variant.
fn failure(broken: Broken) -> String {
    let failing = matches!(broken, Broken::FailureIgnored | Broken::FailureIsEarly);
    let panic = catch_unwind(|| explore(THREADS, failing, broken)).expect_err("the broken variant passed");
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string())).unwrap_or_default()
}

#[test]
fn a_batch_in_reverse_is_found() {
    let failure = failure(Broken::Reversed);
    assert!(failure.contains("was staged on something else"), "{failure}");
}

#[test]
fn a_turn_that_is_never_given_back_is_found() {
    let failure = failure(Broken::KeepsTurn);
    // The others wait for ever, or their time is over and nobody is left to let the lock go.
    assert!(failure.contains("deadlock") || failure.contains("lets the lock go"), "{failure}");
}

#[test]
fn a_failure_that_is_taken_for_success_is_found() {
    let failure = failure(Broken::FailureIgnored);
    assert!(failure.contains("durable and not in the journal") || failure.contains("staged on"), "{failure}");
}

#[test]
fn a_failure_that_is_dealt_with_too_early_is_found() {
    let failure = failure(Broken::FailureIsEarly);
    assert!(
        ["was staged on something else", "out of order", "never published", "never written"]
            .iter()
            .any(|found| failure.contains(found)),
        "{failure}"
    );
}

#[test]
fn a_ticket_settled_twice_is_found() {
    let failure = failure(Broken::SettlesTwice);
    assert!(failure.contains("deadlock"), "{failure}");
}
