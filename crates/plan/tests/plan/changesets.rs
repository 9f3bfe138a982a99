//! Changeset handles: start, seal, take over, scopes.

use std::sync::Arc;
use std::time::Duration;

use plan::{
    Change, Changeset, LeaseOptions, PlanExecutionContext, Plans, State, Status, current_changeset,
    record_change,
};
use store::{Owner, SqliteOptions, Time};

use super::fixture::*;

fn assert_send_sync_clone<T: Send + Sync + Clone>() {}

#[test]
fn handles_are_send_sync_and_clone() {
    assert_send_sync_clone::<Plans>();
    assert_send_sync_clone::<PlanExecutionContext>();
    assert_send_sync_clone::<Changeset>();
}

/// [chg-persist]
#[test]
fn a_started_changeset_is_visible_to_other_processes() {
    let fixture = Fixture::new();
    let changeset = fixture.start("coder");
    assert_eq!((changeset.actor(), changeset.plan()), (&actor("coder"), fixture.plan.id));
    let found = fixture.plans.changesets(fixture.plan.id).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].id, found[0].entries, found[0].status), (changeset.id(), 0, Status::Open));
    assert_eq!(fixture.plans.get(fixture.plan.id).unwrap().state, State::Running);
}

/// [chg-closed]
#[test]
fn a_closed_changeset_refuses_entries_from_every_handle() {
    let fixture = Fixture::new();
    let changeset = fixture.start("coder");
    let late = changeset.clone();
    changeset.record(write("a", "1")).unwrap();
    let sealed = changeset.seal().unwrap();
    assert_eq!((sealed.status, sealed.entries), (Status::Sealed, 1));
    assert_eq!(late.record(write("b", "2")).unwrap_err().code(), "changeset-closed");
    assert_eq!(late.seal().unwrap(), sealed, "sealing again changes nothing");
    assert_eq!(late.abandon("too late").unwrap_err().code(), "changeset-closed");
    assert_eq!(fixture.plans.entries(changeset.id()).unwrap().len(), 1);
    assert_eq!(fixture.store().leases(fixture.plan.id).unwrap(), [], "its lease was given back");
    assert_eq!(
        fixture.plans.reopen(changeset.id(), &LeaseOptions::default()).unwrap_err().code(),
        "changeset-closed"
    );
}

#[test]
fn an_abandoned_changeset_keeps_its_entries_and_is_not_combined() {
    let fixture = Fixture::new();
    let changeset = fixture.start("coder");
    changeset.record(write("a", "1")).unwrap();
    let abandoned = changeset.abandon("timed out").unwrap();
    assert_eq!((abandoned.status, abandoned.reason.as_deref()), (Status::Abandoned, Some("timed out")));
    assert_eq!(fixture.plans.entries(changeset.id()).unwrap().len(), 1);
    let combined = fixture.plans.combine(fixture.plan.id, &Default::default(), Default::default()).unwrap();
    assert!(combined.paths.is_empty());
}

/// A store with a clock that the test advances.
fn with_clock() -> (Fixture, Arc<std::sync::atomic::AtomicI64>) {
    let micros = Arc::new(std::sync::atomic::AtomicI64::new(1_000_000_000));
    let now = Arc::clone(&micros);
    let clock = move || Time::from_micros(now.load(std::sync::atomic::Ordering::SeqCst));
    let mut fixture = Fixture::new();
    let path = fixture.folder.path().join("other/state.db");
    let store = SqliteOptions::default().clock(clock).open(&path).unwrap();
    fixture.plans = Plans::open(Arc::new(store));
    fixture.plan = fixture.plans.create(None, &[&fixture.root], &actor("ana")).unwrap();
    fixture.context = fixture.plans.context(fixture.plan.id).unwrap();
    (fixture, micros)
}

#[test]
fn a_stale_owner_is_fenced_by_its_epoch() {
    let (fixture, micros) = with_clock();
    let first = fixture.start("coder");
    first.record(write("a", "1")).unwrap();
    let other =
        Plans::open(Arc::clone(fixture.plans.store())).with_owner(Owner::parse("another machine").unwrap());
    let held = other.reopen(first.id(), &LeaseOptions::default()).unwrap_err();
    assert_eq!(held.code(), "lease-held");
    micros.fetch_add(61_000_000, std::sync::atomic::Ordering::SeqCst);
    first.record(write("b", "2")).unwrap();
    let second = other.reopen(first.id(), &LeaseOptions::default()).unwrap();
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
    // The new holder builds on the entries of the old one: `a` exists.
    second.record(Change::delete(bytes("a"))).unwrap();
    second.renew(Duration::from_secs(5)).unwrap();
    assert_eq!(second.seal().unwrap().entries, 3);
    let kinds: Vec<String> =
        fixture.plans.timeline(fixture.plan.id).unwrap().into_iter().map(|event| event.kind).collect();
    assert!(kinds.contains(&"lease.taken-over".to_owned()), "{kinds:?}");
    assert_eq!(store::verify(fixture.store(), &[]).unwrap().findings, []);
}

#[test]
fn a_waiting_process_reopens_a_released_changeset_at_once() {
    let fixture = Fixture::new();
    let first = fixture.start("coder");
    first.record(write("a", "1")).unwrap();
    let id = first.id();
    let other = Plans::open(Arc::clone(fixture.plans.store()));
    let options = LeaseOptions { wait: Duration::from_secs(60), ..LeaseOptions::default() };
    let second = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| other.reopen(id, &options).unwrap());
        let late = first.clone();
        first.release().unwrap();
        assert_eq!(late.record(write("b", "1")).unwrap_err().code(), "lease-stale");
        waiting.join().unwrap()
    });
    assert_eq!(second.record(write("a", "2")).unwrap(), 2);
    let entries = fixture.plans.entries(id).unwrap();
    assert_eq!(entries[1].before, entries[0].after);
}

#[test]
fn recording_outside_of_a_scope_is_an_error() {
    let fixture = Fixture::new();
    let changeset = fixture.start("coder");
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
            // A thread started inside a scope is outside of any scope.
            scope.spawn(outside);
        });
    }
    outside();
    assert_eq!(fixture.plans.entries(changeset.id()).unwrap().len(), 1);
}

#[test]
fn starting_a_changeset_sets_no_ambient_state() {
    let fixture = Fixture::new();
    let first = fixture.start("coder");
    let _scope = first.enter();
    let second = fixture.start("tester");
    record_change(write("a", "1")).unwrap();
    assert_eq!(fixture.plans.entries(first.id()).unwrap().len(), 1);
    assert_eq!(fixture.plans.entries(second.id()).unwrap().len(), 0);
}

#[test]
fn scopes_nest_and_end_in_any_order() {
    let fixture = Fixture::new();
    let (first, second) = (fixture.start("coder"), fixture.start("tester"));
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
fn a_changeset_starts_while_others_mark_the_plan_ready() {
    let fixture = Fixture::new();
    std::thread::scope(|scope| {
        for number in 0..4 {
            let fixture = &fixture;
            scope.spawn(move || {
                for _ in 0..25 {
                    let changeset = fixture.start(&format!("actor {number}"));
                    changeset.seal().unwrap();
                    fixture.mark_ready();
                }
            });
        }
    });
    assert_eq!(fixture.plans.changesets(fixture.plan.id).unwrap().len(), 100);
    assert_eq!(fixture.mark_ready().state, State::Ready);
}
