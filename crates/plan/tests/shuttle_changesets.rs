//! [chg-race] under shuttle: many schedules of threads that start, record into and seal changesets
//! through one context.
//!
//! The store is a model in memory with atomic calls. The handles are the real code, with the
//! mutexes of shuttle. The control appends to the changeset started last: shuttle finds a schedule
//! that misattributes.
#![cfg(feature = "shuttle")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate cleveragents_plan as plan;

mod model;

use std::panic::catch_unwind;
use std::sync::Arc;

use model::ModelStore;
use plan::{
    Actor, Change, Changeset, Content, ContentKind, ContentSource, Edit, Operation, PathBytes, Plans, State,
    Status, record_change,
};
use shuttle::sync::Mutex;
use shuttle::thread;
use store::{BlobHash, Store};
use testkit::report::{figure, is_proof};

const THREADS: usize = 4;

fn schedules() -> usize {
    if is_proof() { 200_000 } else { 30_000 }
}

fn actor(number: usize) -> Actor {
    Actor::parse(format!("actor {number}")).unwrap()
}

/// A change whose content names its actor.
fn change(path: &str, by: usize, base: Option<plan::ContentInput>) -> Change {
    let text = format!("{by}");
    let content =
        Content { kind: ContentKind::File, blob: BlobHash::of(text.as_bytes()), bytes: 1, mode: 0o644 };
    let edit = Edit::Write { content: ContentSource::Stored(content), mode: None };
    let change = Change::new(PathBytes::parse(path).unwrap(), edit);
    Change { base: plan::Base::Explicit(base), ..change }
}

fn plans() -> (Plans, Arc<ModelStore>, plan::PlanExecutionContext) {
    let store = Arc::new(ModelStore::default());
    let plans = Plans::open(Arc::clone(&store) as Arc<dyn Store>);
    let plan = plans.create(None, &[std::path::Path::new("/")], &actor(9)).unwrap();
    let context = plans.context(plan.id).unwrap();
    (plans, store, context)
}

/// Each thread starts, records through handle and scope, seals, is refused afterwards, and marks
/// the plan ready.
fn own_changesets() {
    let (plans, _, context) = plans();
    let threads: Vec<_> = (0..THREADS)
        .map(|number| {
            let (plans, context) = (plans.clone(), context.clone());
            thread::spawn(move || {
                let changeset = context.start_changeset(&actor(number)).unwrap();
                changeset.record(change(&format!("{number}/a"), number, None)).unwrap();
                {
                    let _scope = changeset.enter();
                    record_change(change(&format!("{number}/b"), number, None)).unwrap();
                }
                assert_eq!(record_change(change("x", number, None)).unwrap_err().code(), "outside-scope");
                assert_eq!(changeset.seal().unwrap().entries, 2);
                assert_eq!(
                    changeset.record(change("x", number, None)).unwrap_err().code(),
                    "changeset-closed"
                );
                plans.mark_ready(context.plan(), &actor(number)).unwrap();
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let changesets = plans.changesets(context.plan()).unwrap();
    assert_eq!(changesets.len(), THREADS);
    for changeset in changesets {
        assert_eq!(changeset.status, Status::Sealed);
        let entries = plans.entries(changeset.id).unwrap();
        for (entry, sequence) in entries.iter().zip(1..) {
            assert_eq!(entry.sequence, sequence);
            assert!(changeset.actor.as_str().ends_with(entry.path.show().split('/').next().unwrap()));
        }
    }
    // The thread that closed the last changeset made the plan ready.
    assert_eq!(plans.get(context.plan()).unwrap().state, State::Ready);
}

/// All threads record into one changeset, some of them the same path; one seals it at a random
/// moment.
fn one_changeset() {
    let (plans, _, context) = plans();
    let changeset = context.start_changeset(&actor(0)).unwrap();
    let first = change("same", 0, None);
    changeset.record(first).unwrap();
    let threads: Vec<_> = (0..THREADS)
        .map(|number| {
            let changeset: Changeset = changeset.clone();
            thread::spawn(move || {
                if number == 0 {
                    changeset.seal().unwrap();
                    return;
                }
                let same = Change { base: plan::Base::Current, ..change("same", number, None) };
                let own = change(&format!("{number}"), number, None);
                match changeset.record_many(vec![own, same]) {
                    Ok(recorded) => assert_eq!(recorded.count, 2),
                    Err(error) => assert_eq!(error.code(), "changeset-closed"),
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let entries = plans.entries(changeset.id()).unwrap();
    assert!(entries.iter().zip(1..).all(|(entry, sequence)| entry.sequence == sequence));
    let same: Vec<_> = entries.iter().filter(|entry| entry.path.show() == "same").collect();
    assert!(same.windows(2).all(|pair| pair[1].before == pair[0].after), "each builds on the one before");
    assert!(same.iter().skip(1).all(|entry| entry.operation == Operation::Modify));
    assert_eq!(plans.changeset(changeset.id()).unwrap().status, Status::Sealed);
}

#[test]
fn every_entry_is_in_the_changeset_of_its_actor() {
    shuttle::check_random(own_changesets, schedules());
    figure("shuttle schedules, changesets of 4 threads", schedules());
}

#[test]
fn changes_of_one_path_build_on_each_other_until_sealed() {
    shuttle::check_random(one_changeset, schedules());
    figure("shuttle schedules, one changeset of 4 threads", schedules());
}

/// The changesets of the control: each actor, with the actors of its entries.
type List = Mutex<Vec<(usize, Vec<usize>)>>;

/// `changesets[-1].append(entry)`, with a mutex around the list.
fn append_to_last_started() {
    let list: Arc<List> = Arc::default();
    let threads: Vec<_> = (0..THREADS)
        .map(|number| {
            let list = Arc::clone(&list);
            thread::spawn(move || {
                list.lock().unwrap().push((number, Vec::new()));
                list.lock().unwrap().last_mut().unwrap().1.push(number);
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert!(list.lock().unwrap().iter().all(|(actor, entries)| entries == &[*actor]));
}

#[test]
fn shuttle_finds_the_misattribution_of_the_control() {
    assert!(catch_unwind(|| shuttle::check_random(append_to_last_started, 1_000)).is_err());
}
