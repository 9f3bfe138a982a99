//! Handles: starting, sealing, taking over, scopes.

use std::sync::Arc;
use std::time::Duration;

use plan::{
    Change, Changeset, PlanExecutionContext, Plans, State, Status, Terms, current_changeset, record_change,
};
use store::{Owner, SqliteOptions, Time};

use super::fixture::*;

fn is_shared_among_threads<T: Send + Sync + Clone>() {}

#[test]
fn handles_are_shared_among_threads() {
    is_shared_among_threads::<Plans>();
    is_shared_among_threads::<PlanExecutionContext>();
    is_shared_among_threads::<Changeset>();
}

/// [chg-persist]
#[test]
fn a_changeset_is_found_right_after_its_start() {
    let ground = Ground::new();
    let changeset = ground.start("coder");
    assert_eq!((changeset.actor(), changeset.plan()), (&actor("coder"), ground.plan.id));
    let found = ground.plans.changesets(ground.plan.id).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].id, found[0].entries, found[0].status), (changeset.id(), 0, Status::Open));
    assert_eq!(ground.plans.get(ground.plan.id).unwrap().state, State::Running);
}

/// [chg-closed]
#[test]
fn a_closed_changeset_refuses_late_entries_from_every_handle() {
    let ground = Ground::new();
    let changeset = ground.start("coder");
    let late = changeset.clone();
    changeset.record(write("a", "1")).unwrap();
    let sealed = changeset.seal().unwrap();
    assert_eq!((sealed.status, sealed.entries), (Status::Sealed, 1));
    assert_eq!(late.record(write("b", "2")).unwrap_err().code(), "changeset-closed");
    assert_eq!(late.seal().unwrap(), sealed, "sealing again changes nothing");
    assert_eq!(late.abandon("too late").unwrap_err().code(), "changeset-closed");
    assert_eq!(ground.plans.entries(changeset.id()).unwrap().len(), 1);
    assert_eq!(ground.store().leases(ground.plan.id).unwrap(), [], "its lease was given back");
    assert_eq!(
        ground.plans.reopen(changeset.id(), &Terms::default()).unwrap_err().code(),
        "changeset-closed"
    );
}

#[test]
fn an_abandoned_changeset_keeps_its_entries_and_does_not_count() {
    let ground = Ground::new();
    let changeset = ground.start("coder");
    changeset.record(write("a", "1")).unwrap();
    let abandoned = changeset.abandon("timed out").unwrap();
    assert_eq!((abandoned.status, abandoned.reason.as_deref()), (Status::Abandoned, Some("timed out")));
    assert_eq!(ground.plans.entries(changeset.id()).unwrap().len(), 1);
    let combined = ground.plans.combine(ground.plan.id, &Default::default(), Default::default()).unwrap();
    assert!(combined.paths.is_empty());
}

/// A store whose clock stands still until it is told to go on.
fn with_clock() -> (Ground, Arc<std::sync::atomic::AtomicI64>) {
    let micros = Arc::new(std::sync::atomic::AtomicI64::new(1_000_000_000));
    let now = Arc::clone(&micros);
    let clock = move || Time::from_micros(now.load(std::sync::atomic::Ordering::SeqCst));
    let mut ground = Ground::new();
    let path = ground.folder.path().join("other/state.db");
    let store = SqliteOptions::default().clock(clock).open(&path).unwrap();
    ground.plans = Plans::open(Arc::new(store));
    ground.plan = ground.plans.create(None, &[&ground.root], &actor("ana")).unwrap();
    ground.context = ground.plans.context(ground.plan.id).unwrap();
    (ground, micros)
}

#[test]
fn a_stale_owner_is_refused_by_its_epoch() {
    let (ground, micros) = with_clock();
    let first = ground.start("coder");
    first.record(write("a", "1")).unwrap();
    let other =
        Plans::open(Arc::clone(ground.plans.store())).with_owner(Owner::parse("another machine").unwrap());
    let held = other.reopen(first.id(), &Terms::default()).unwrap_err();
    assert_eq!(held.code(), "lease-held");
    micros.fetch_add(61_000_000, std::sync::atomic::Ordering::SeqCst);
    first.record(write("b", "2")).unwrap();
    let second = other.reopen(first.id(), &Terms::default()).unwrap();
    assert!(second.epoch() > first.epoch());
    assert_eq!((second.actor(), second.plan()), (first.actor(), first.plan()));
    for error in [
        first.record(write("c", "3")).unwrap_err(),
        first.seal().unwrap_err(),
        first.renew(Duration::from_secs(5)).unwrap_err(),
        first.clone().release().unwrap_err(),
    ] {
        assert_eq!(error.code(), "lease-stale");
        assert!(error.to_string().contains("another machine"), "{error}");
    }
    // What was recorded before is built on: `a` is there already.
    second.record(Change::delete(bytes("a"))).unwrap();
    second.renew(Duration::from_secs(5)).unwrap();
    assert_eq!(second.seal().unwrap().entries, 3);
    let kinds: Vec<String> =
        ground.plans.timeline(ground.plan.id).unwrap().into_iter().map(|event| event.kind).collect();
    assert!(kinds.contains(&"lease.taken-over".to_owned()), "{kinds:?}");
    assert_eq!(store::verify(ground.store(), &[]).unwrap().findings, []);
}

#[test]
fn a_released_changeset_is_reopened_at_once_by_a_process_that_waits() {
    let ground = Ground::new();
    let first = ground.start("coder");
    first.record(write("a", "1")).unwrap();
    let id = first.id();
    let other = Plans::open(Arc::clone(ground.plans.store()));
    let terms = Terms { wait: Duration::from_secs(60), ..Terms::default() };
    let second = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| other.reopen(id, &terms).unwrap());
        let late = first.clone();
        first.release().unwrap();
        assert_eq!(late.record(write("b", "1")).unwrap_err().code(), "lease-stale");
        waiting.join().unwrap()
    });
    assert_eq!(second.record(write("a", "2")).unwrap(), 2);
    let entries = ground.plans.entries(id).unwrap();
    assert_eq!(entries[1].before, entries[0].after);
}

#[test]
fn outside_of_a_scope_nobody_is_credited() {
    let ground = Ground::new();
    let changeset = ground.start("coder");
    let outside = || {
        let error = record_change(write("a", "1")).unwrap_err();
        assert_eq!(error.code(), "outside-scope");
        assert!(error.to_string().contains("`a`"));
    };
    outside();
    {
        let _scope = changeset.enter();
        assert_eq!(record_change(write("a", "1")).unwrap(), 1);
        std::thread::scope(|scope| {
            // A thread that is started inside is in no scope.
            scope.spawn(outside);
        });
    }
    outside();
    assert_eq!(ground.plans.entries(changeset.id()).unwrap().len(), 1);
}

#[test]
fn starting_sets_nothing_ambient() {
    let ground = Ground::new();
    let first = ground.start("coder");
    let _scope = first.enter();
    let second = ground.start("tester");
    record_change(write("a", "1")).unwrap();
    assert_eq!(ground.plans.entries(first.id()).unwrap().len(), 1);
    assert_eq!(ground.plans.entries(second.id()).unwrap().len(), 0);
}

#[test]
fn scopes_nest_and_end_in_any_order() {
    let ground = Ground::new();
    let (first, second) = (ground.start("coder"), ground.start("tester"));
    let current = || current_changeset().map(|changeset| changeset.id());
    let outer = first.enter();
    let inner = second.enter();
    assert_eq!(current(), Some(second.id()));
    drop(outer);
    assert_eq!(current(), Some(second.id()));
    drop(inner);
    assert_eq!(current(), None);
    let _outer = first.enter();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _inner = second.enter();
        panic!("a user of a pooled thread");
    }));
    assert!(panicked.is_err());
    assert_eq!(current(), Some(first.id()), "a pooled thread does not keep the last user's");
}

#[test]
fn one_changeset_is_started_while_others_settle_the_plan() {
    let ground = Ground::new();
    std::thread::scope(|scope| {
        for number in 0..4 {
            let ground = &ground;
            scope.spawn(move || {
                for _ in 0..25 {
                    let changeset = ground.start(&format!("actor {number}"));
                    changeset.seal().unwrap();
                    ground.settled();
                }
            });
        }
    });
    assert_eq!(ground.plans.changesets(ground.plan.id).unwrap().len(), 100);
    assert_eq!(ground.settled().state, State::Ready);
}
