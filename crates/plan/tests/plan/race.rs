//! [chg-race]: threads start changesets and record concurrently. Every change is in the changeset
//! of its actor.
//!
//! Barriers force the schedule: all start, then all record. Two controls append to the changeset
//! that was started last, with and without a mutex around the list; both misattribute every time.

use std::sync::{Barrier, Mutex};

use plan::{Changeset, record_change};
use testkit::report::{figure, is_proof};

use super::fixture::*;

const THREADS: usize = 32;
/// The number of rounds.
const ROUNDS: usize = 10;

fn records_per_round() -> usize {
    if is_proof() { 100 } else { 20 }
}

/// An implementation of changesets. `Handle` is the result of a start.
trait Recorder: Sync {
    type Handle: Send + Sync;
    fn start(&self, actor: &str) -> Self::Handle;
    fn record(&self, handle: &Self::Handle, path: String);
}

/// In each round all threads start, then all record. Each path names its actor.
fn run(recorder: &impl Recorder) {
    let barrier = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let barrier = &barrier;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let handle = recorder.start(&format!("actor {thread}"));
                    barrier.wait();
                    for number in 0..records_per_round() {
                        recorder.record(&handle, format!("actor {thread}/{round}-{number}"));
                    }
                    barrier.wait();
                }
            });
        }
    });
}

/// Counts entries, and those with a wrong actor.
fn misattributed<'a>(entries: impl IntoIterator<Item = (&'a str, &'a str)>) -> (usize, usize) {
    let (mut all, mut wrong) = (0, 0);
    for (actor, path) in entries {
        all += 1;
        wrong += usize::from(path.split('/').next() != Some(actor));
    }
    (all, wrong)
}

/// A control: `changesets[-1].append(entry)`. Each access to the list is safe; the sequence is not.
#[derive(Default)]
struct LastOfList(Mutex<Vec<(String, Vec<String>)>>);

impl Recorder for LastOfList {
    type Handle = ();

    fn start(&self, actor: &str) {
        self.0.lock().unwrap().push((actor.to_owned(), Vec::new()));
    }

    fn record(&self, (): &(), path: String) {
        let last = self.0.lock().unwrap().len() - 1;
        self.0.lock().unwrap()[last].1.push(path);
    }
}

/// A control: a mutex around both accesses. The entry still goes to the changeset started last.
#[derive(Default)]
struct LastUnderMutex(Mutex<Vec<(String, Vec<String>)>>);

impl Recorder for LastUnderMutex {
    type Handle = ();

    fn start(&self, actor: &str) {
        self.0.lock().unwrap().push((actor.to_owned(), Vec::new()));
    }

    fn record(&self, (): &(), path: String) {
        self.0.lock().unwrap().last_mut().unwrap().1.push(path);
    }
}

fn attributed(list: &[(String, Vec<String>)]) -> impl Iterator<Item = (&str, &str)> {
    list.iter().flat_map(|(actor, paths)| paths.iter().map(move |path| (actor.as_str(), path.as_str())))
}

#[test]
fn the_last_started_changeset_misattributes_every_time() {
    let expected = THREADS * ROUNDS * records_per_round();
    // In each round, only the thread that started last records correctly.
    let wrong = expected / THREADS * (THREADS - 1);
    let naive = LastOfList::default();
    run(&naive);
    assert_eq!(misattributed(attributed(&naive.0.into_inner().unwrap())), (expected, wrong));
    let locked = LastUnderMutex::default();
    run(&locked);
    assert_eq!(misattributed(attributed(&locked.0.into_inner().unwrap())), (expected, wrong));
    figure(
        "entries credited to the wrong actor by the usual way, with and without a mutex",
        format!("{wrong} of {expected}"),
    );
}

/// Half of the records go through the handle, half through a scope.
impl Recorder for Fixture {
    type Handle = Changeset;

    fn start(&self, actor: &str) -> Changeset {
        Fixture::start(self, actor)
    }

    fn record(&self, changeset: &Changeset, path: String) {
        let change = write(&path, &path).with_base(None);
        if path.ends_with(['0', '2', '4', '6', '8']) {
            changeset.record(change).unwrap();
        } else {
            let _scope = changeset.enter();
            record_change(change).unwrap();
        }
    }
}

#[test]
fn handles_attribute_every_entry_correctly() {
    let fixture = Fixture::new();
    run(&fixture);
    let mut entries = Vec::new();
    for changeset in fixture.plans.changesets(fixture.plan.id).unwrap() {
        let found = fixture.plans.entries(changeset.id).unwrap();
        assert!(found.iter().zip(1..).all(|(entry, sequence)| entry.sequence == sequence), "no gaps");
        assert_eq!(found.len(), records_per_round());
        entries
            .extend(found.into_iter().map(|entry| (entry.actor.to_string(), entry.path.show().into_owned())));
    }
    let pairs = entries.iter().map(|(actor, path)| (actor.as_str(), path.as_str()));
    let expected = THREADS * ROUNDS * records_per_round();
    assert_eq!(misattributed(pairs), (expected, 0));
    assert_eq!(store::verify(fixture.store(), &[]).unwrap().findings, []);
    figure("entries of 32 threads credited to the wrong actor", format!("0 of {expected}"));
}

/// Threads of one handle change one path: each entry builds on the previous one.
#[test]
fn changes_of_one_path_build_on_each_other() {
    let fixture = Fixture::new();
    let changeset = fixture.start("coder");
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let changeset = changeset.clone();
            scope.spawn(move || {
                for number in 0..25 {
                    let others = write(&format!("own/{thread}/{number}"), "x").with_base(None);
                    changeset.record_many(vec![write("same", format!("{thread} {number}")), others]).unwrap();
                }
            });
        }
    });
    let entries = fixture.plans.entries(changeset.id()).unwrap();
    let same: Vec<_> = entries.iter().filter(|entry| entry.path == bytes("same")).collect();
    assert_eq!((entries.len(), same.len()), (400, 200));
    assert_eq!(same[0].before, None);
    assert!(same.windows(2).all(|pair| pair[1].before == pair[0].after));
}
