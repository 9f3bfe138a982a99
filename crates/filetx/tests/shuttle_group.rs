//! Group commit under shuttle: schedules of threads that acquire, submit, write, publish, fail,
//! time out and release.
//!
//! The model of the journal is a list of written items, in order, and the number of published ones.
//! Writing and publishing sometimes fail. An item stores the items that were queued or written when
//! it was staged, and must be written directly after them.
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

/// The model of a transaction: its number, and the numbers it was staged on.
#[derive(Clone, Debug)]
struct Item {
    number: usize,
    staged_on: Vec<usize>,
}

/// The model of the folder.
#[derive(Default)]
struct FolderModel {
    /// Written items, in order.
    journal: Vec<usize>,
    /// Number of published items.
    published: usize,
    /// Submitted and unwritten items, in order.
    queued: Vec<usize>,
    next: usize,
}

struct World {
    group: GroupCommit<Item>,
    folder: Mutex<FolderModel>,
    has_permit: AtomicBool,
    is_writing: AtomicBool,
    is_publishing: AtomicBool,
    idle_calls: AtomicUsize,
    failing: bool,
    broken: Broken,
}

/// Deliberate errors.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Broken {
    Nothing,
    /// A batch is written in reverse.
    Reversed,
    /// The permit holder ends without releasing it.
    KeepsPermit,
    /// A failed write counts as a success.
    FailureIgnored,
    /// The folder state is reset before the group knows of the failure.
    FailureIsEarly,
    /// A thread uses one ticket twice.
    UsesTicketTwice,
}

impl World {
    fn new(failing: bool, broken: Broken) -> Self {
        Self {
            group: GroupCommit::new(),
            folder: Mutex::new(FolderModel::default()),
            has_permit: AtomicBool::new(false),
            is_writing: AtomicBool::new(false),
            is_publishing: AtomicBool::new(false),
            idle_calls: AtomicUsize::new(0),
            failing,
            broken,
        }
    }

    /// Also after a panic: the first one is reported.
    fn folder(&self) -> MutexGuard<'_, FolderModel> {
        self.folder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Called by the group when no thread uses it: the folder would release the lock file.
    fn idle(&self) {
        assert!(!self.has_permit.load(Ordering::SeqCst), "idle while a thread stages");
        self.assert_nothing_in_flight();
        self.idle_calls.fetch_add(1, Ordering::SeqCst);
    }

    fn assert_nothing_in_flight(&self) {
        if std::thread::panicking() {
            // The first panic is reported.
            return;
        }
        assert!(!self.is_writing.load(Ordering::SeqCst), "a batch is being written");
        assert!(!self.is_publishing.load(Ordering::SeqCst), "a batch is being published");
    }

    /// Called by the group after a failure: reads and publishes everything before the next thread
    /// stages.
    fn failed(&self) {
        if self.broken != Broken::FailureIsEarly {
            self.assert_nothing_in_flight();
        }
        let mut folder = self.folder();
        folder.queued.clear();
        folder.published = folder.journal.len();
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
        let mut folder = self.folder();
        if !fails {
            for item in &batch {
                assert_eq!(folder.journal, item.staged_on, "{} was staged on something else", item.number);
                folder.journal.push(item.number);
                folder.queued.retain(|queued| *queued != item.number);
            }
        }
        drop(folder);
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
        let mut folder = self.folder();
        let behind = &folder.journal[folder.published..];
        if self.broken != Broken::FailureIgnored {
            assert!(behind.starts_with(batch), "{batch:?} is published out of order");
        }
        if !fails {
            folder.published += batch.len();
        }
        drop(folder);
        self.is_publishing.store(false, Ordering::SeqCst);
        if fails { CommitOutcome::Pending(Arc::new(Error::Superseded)) } else { CommitOutcome::Published }
    }

    /// Runs one transaction. Returns its number if it is durable.
    fn commit(&self, releases: bool) -> Option<usize> {
        match self.group.acquire_permit(Duration::from_secs(1), Location::caller()) {
            Err(AcquireError::TimedOut) => return None,
            Err(AcquireError::AlreadyHeld(at)) => panic!("this thread has no permit, not from {at}"),
            Ok(()) => {}
        }
        assert!(!self.has_permit.swap(true, Ordering::SeqCst), "two threads have the permit");
        let again = self.group.acquire_permit(Duration::from_secs(1), Location::caller());
        assert!(matches!(again, Err(AcquireError::AlreadyHeld(_))), "one thread got the permit twice");
        if self.broken == Broken::KeepsPermit {
            return None;
        }
        let item = {
            let mut folder = self.folder();
            folder.next += 1;
            let staged_on = [folder.journal.as_slice(), &folder.queued].concat();
            Item { number: folder.next, staged_on }
        };
        thread::yield_now();
        if releases {
            self.has_permit.store(false, Ordering::SeqCst);
            self.group.release_permit(|| self.idle());
            return None;
        }
        let number = item.number;
        self.folder().queued.push(number);
        thread::yield_now();
        self.has_permit.store(false, Ordering::SeqCst);
        let Some(ticket) = self.group.submit(item) else {
            // The batch that this was staged on failed.
            self.folder().queued.retain(|queued| *queued != number);
            self.group.release_permit(|| self.idle());
            return None;
        };
        let failed = || {
            if self.broken != Broken::FailureIsEarly {
                self.failed();
            }
        };
        let publish = |batch: Vec<usize>| self.publish(&batch);
        let outcome = self.group.commit(ticket, |batch| self.write(batch), publish, failed, || self.idle());
        if self.broken == Broken::UsesTicketTwice {
            self.group.commit(ticket, |batch| self.write(batch), publish, || (), || self.idle());
        }
        let is_there = self.folder().journal.contains(&number);
        match outcome {
            CommitOutcome::Published | CommitOutcome::Pending(_) => {
                assert!(is_there, "{number} is durable and not in the journal")
            }
            CommitOutcome::Unknown(_) | CommitOutcome::Superseded => {
                assert!(!is_there, "{number} failed and is in the journal")
            }
            outcome => panic!("{outcome:?}"),
        }
        matches!(outcome, CommitOutcome::Published | CommitOutcome::Pending(_)).then_some(number)
    }
}

fn body(threads: usize, failing: bool, broken: Broken) {
    let world = Arc::new(World::new(failing, broken));
    // One round, so that no thread meets its own permit.
    let rounds = if broken == Broken::KeepsPermit { 1 } else { ROUNDS };
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
    let folder = world.folder();
    assert!(folder.journal.is_sorted(), "written in another order than submitted: {:?}", folder.journal);
    assert_eq!(folder.journal, durable, "each durable item is written once");
    assert_eq!(folder.queued, [0; 0], "something was never written");
    assert_eq!(folder.published, folder.journal.len(), "something was never published");
    assert!(world.idle_calls.load(Ordering::SeqCst) > 0, "the last one out lets the lock go");
    drop(folder);
    world
        .group
        .acquire_permit(Duration::from_secs(1), Location::caller())
        .expect("a free permit is acquired at once");
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
fn submitted_items_are_written_once_in_order() {
    explore(THREADS, false, Broken::Nothing);
}

#[test]
fn a_failed_batch_fails_only_commits_staged_on_it() {
    explore(THREADS, true, Broken::Nothing);
}

#[test]
fn four_threads_make_progress() {
    explore(4, true, Broken::Nothing);
}

/// The permit holder waits for the batch in flight, which needs no permit.
#[test]
fn after_a_drain_nothing_is_in_flight() {
    let body = || {
        let world = Arc::new(World::new(false, Broken::Nothing));
        let writer = {
            let world = Arc::clone(&world);
            thread::spawn(move || (0..ROUNDS).filter_map(|_| world.commit(false)).count())
        };
        if world.group.acquire_permit(Duration::from_secs(1), Location::caller()).is_ok() {
            world.group.drain();
            assert_eq!(world.folder().queued, [0; 0]);
            world.assert_nothing_in_flight();
            thread::yield_now();
            world.assert_nothing_in_flight();
            world.group.release_permit(|| ());
        }
        writer.join().unwrap();
    };
    shuttle::check_random(body, schedules());
    shuttle::check_pct(body, schedules(), 3);
}

/// Waiting threads detect the panic of their leader: they are not durable, and no thread waits
/// forever.
#[test]
fn a_panicking_leader_blocks_no_thread() {
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
                    let commit = || group.commit(ticket, write, |()| die(), || (), || ());
                    let committed = catch_unwind(std::panic::AssertUnwindSafe(commit));
                    match (panics_in, committed) {
                        (_, Err(_) | Ok(CommitOutcome::Superseded)) => {}
                        (Phase::Write, Ok(CommitOutcome::Unknown(_))) => {}
                        (Phase::Publish, Ok(CommitOutcome::Pending(_))) => {}
                        (_, outcome) => panic!("{outcome:?} when {panics_in:?} panics"),
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

/// Phase of a leader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Write,
    Publish,
}

/// The failure that shuttle reports for a broken variant.
fn failure(broken: Broken) -> String {
    let failing = matches!(broken, Broken::FailureIgnored | Broken::FailureIsEarly);
    let panic = catch_unwind(|| explore(THREADS, failing, broken)).expect_err("the broken variant passed");
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string())).unwrap_or_default()
}

#[test]
fn a_reversed_batch_is_detected() {
    let failure = failure(Broken::Reversed);
    assert!(failure.contains("was staged on something else"), "{failure}");
}

#[test]
fn a_permit_that_is_never_released_is_detected() {
    let failure = failure(Broken::KeepsPermit);
    // The other threads wait forever, or time out and never release the lock.
    assert!(failure.contains("deadlock") || failure.contains("lets the lock go"), "{failure}");
}

#[test]
fn an_ignored_failure_is_detected() {
    let failure = failure(Broken::FailureIgnored);
    assert!(failure.contains("durable and not in the journal") || failure.contains("staged on"), "{failure}");
}

#[test]
fn a_premature_failure_handler_is_detected() {
    let failure = failure(Broken::FailureIsEarly);
    assert!(
        ["was staged on something else", "out of order", "never published", "never written"]
            .iter()
            .any(|found| failure.contains(found)),
        "{failure}"
    );
}

#[test]
fn a_ticket_used_twice_is_detected() {
    let failure = failure(Broken::UsesTicketTwice);
    assert!(failure.contains("deadlock"), "{failure}");
}
