//! The conformance suite of the test kit on SQLite.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use store::{SqliteOptions, SqliteStore, Store, Time};
use testkit::folder::scratch;
use testkit::report::figure;
use testkit::store_conformance;

#[test]
fn sqlite_passes_the_conformance_suite() {
    let folders = RefCell::new(Vec::new());
    let cases = store_conformance::run(|| {
        let folder = scratch();
        let store: Arc<dyn Store> =
            Arc::new(SqliteStore::open(&folder.path().join("home/state.db")).unwrap());
        folders.borrow_mut().push(folder);
        store
    });
    figure("rules of the store that SQLite keeps", cases);
    assert_eq!(cases, folders.borrow().len());
}

#[test]
fn concurrent_calls_are_linearizable() {
    let folder = scratch();
    let calls = store_conformance::linearizability::check(|| Arc::new(super::open(folder.path())));
    figure("calls of eight clients that one order explains, SQLite", calls);
}

/// Runs a check with a clock that goes back.
fn with_clock(check: impl FnOnce(&dyn Store, &dyn Fn())) {
    let folder = scratch();
    let now = Arc::new(AtomicI64::new(1_000_000_000));
    let clock = Arc::clone(&now);
    let options = SqliteOptions::default().clock(move || Time::from_micros(clock.load(Ordering::SeqCst)));
    let store = options.open(&folder.path().join("state.db")).unwrap();
    check(&store, &|| now.store(940_000_000, Ordering::SeqCst));
    assert_eq!(store::verify(&store, &[]).unwrap().findings, []);
}

#[test]
fn changesets_stay_in_order_when_the_clock_goes_back() {
    with_clock(|store, go_back| store_conformance::changeset_order::check(store, go_back));
}

#[test]
fn changesets_start_after_others_ended_when_the_clock_goes_back() {
    with_clock(|store, go_back| store_conformance::changeset_order::check_ends(store, go_back));
}

#[test]
fn plans_stay_in_order_when_the_clock_goes_back() {
    with_clock(|store, go_back| store_conformance::changeset_order::check_plans(store, go_back));
}
