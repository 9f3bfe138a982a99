//! The conformance suite of the test kit on SQLite.

use std::cell::RefCell;
use std::sync::Arc;

use store::{SqliteStore, Store};
use testkit::folder::scratch;
use testkit::notes::figure;
use testkit::store_conformance;

#[test]
fn sqlite_does_what_every_engine_does() {
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
fn calls_at_the_same_time_have_an_order_that_explains_them() {
    let folder = scratch();
    let calls = store_conformance::linear::check(|| Arc::new(super::open(folder.path())));
    figure("calls of eight clients that one order explains, SQLite", calls);
}
