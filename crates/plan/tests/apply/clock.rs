//! A clock that goes back changes neither the last change nor the cause of a modification.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use filetx::Wait;
use plan::{Error, ModifiedBy, PlanId, Plans, State, Strategy};
use store::{PlanSelector, SqliteOptions, Time};
use testkit::folder::scratch;

use super::fixture::{Fixture, actor, write};

/// A fixture whose clock stands still, and the clock in microseconds.
fn with_clock() -> (Fixture, Arc<AtomicI64>) {
    let now = Arc::new(AtomicI64::new(1_700_000_000_000_000));
    let folder = scratch();
    for root in ["a", "b"] {
        std::fs::create_dir(folder.path().join(root)).unwrap();
    }
    let clock = Arc::clone(&now);
    let options = SqliteOptions::default().clock(move || Time::from_micros(clock.load(Ordering::SeqCst)));
    let store = options.open(&folder.path().join("state.db")).unwrap();
    let (plans, host) = (Plans::open(Arc::new(store)), plan::Host::local(Wait::default()));
    (Fixture { folder, plans, host }, now)
}

/// Sets the clock back by an hour.
fn set_back(clock: &AtomicI64) {
    clock.fetch_sub(3_600_000_000, Ordering::SeqCst);
}

#[test]
fn last_wins_takes_the_newer_record() {
    let (fixture, clock) = with_clock();
    fixture.write("a/f", "old");
    let plan = fixture.plans.create(None, &[&fixture.root("a")], &actor("ana")).unwrap().id;
    for name in ["one", "two"] {
        clock.fetch_add(1_000_000, Ordering::SeqCst);
        let changeset = fixture.plans.context(plan).unwrap().start_changeset(&actor(name)).unwrap();
        clock.fetch_add(1_000_000, Ordering::SeqCst);
        changeset.record_many(fixture.rooted(vec![write("a/f", name)])).unwrap();
        changeset.seal().unwrap();
        set_back(&clock);
    }
    assert_eq!(fixture.plans.mark_ready(plan, &actor("ana")).unwrap().state, State::Ready);
    let _ = fixture.apply_with(plan, |request| request.strategy = Strategy::LastWins).unwrap();
    assert_eq!(fixture.read("a/f"), "two");
}

#[test]
fn an_undo_names_the_later_plan() {
    let (fixture, clock) = with_clock();
    fixture.write("a/f", "old");
    let apply = |content: &str| -> PlanId {
        clock.fetch_add(1_000_000, Ordering::SeqCst);
        let plan = fixture.plan(vec![("coder", vec![write("a/f", content)])]);
        let _ = fixture.apply(plan).unwrap();
        plan
    };
    let first = apply("1");
    set_back(&clock);
    let second = apply("2");
    set_back(&clock);
    let third = apply("3");
    assert_eq!(fixture.plans.find(PlanSelector::Latest).unwrap().id, third);
    let causes = || match fixture.undo(first).unwrap_err() {
        Error::ModifiedSinceApply { files, .. } => files[0].by.clone(),
        error => panic!("{error}"),
    };
    let by = |plan| ModifiedBy::Plan { plan, actors: vec![actor("coder")] };
    assert_eq!(causes(), [by(second), by(third)]);
    fixture.write("a/f", "by hand");
    assert_eq!(causes(), [ModifiedBy::Outside]);
}
