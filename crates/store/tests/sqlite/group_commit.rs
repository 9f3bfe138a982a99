//! Threads share syncs, and each gets its own answer.

use std::sync::Mutex;

use store::EntryStore;
use testkit::folder::scratch;
use testkit::report::figure;
use testkit::store_conformance::fixtures::*;
use testkit::store_conformance::group_commit;

use super::{open, raw};

#[test]
fn threads_share_syncs_and_keep_their_entries() {
    let folder = scratch();
    let store = open(folder.path());
    let syncs = group_commit::check(&store, || store.writer_counts(), false);
    figure("syncs per 1000 durable records of 32 threads", syncs);
}

#[test]
fn a_refused_write_does_not_affect_its_group() {
    let folder = scratch();
    let store = open(folder.path());
    let plan = make_plan(&store);
    let (id, epoch) = start(&store, plan.id, "coder");
    // While another connection writes, all of them queue.
    let other = Mutex::new(raw(folder.path()));
    other.lock().unwrap().execute_batch("BEGIN IMMEDIATE").unwrap();
    let results = together(9, |number| {
        if number == 8 {
            other.lock().unwrap().execute_batch("ROLLBACK").unwrap();
            return None;
        }
        let epoch = if number % 2 == 0 { epoch } else { store::Epoch(9) };
        Some(store.record(id, epoch, &recording(&[&number.to_string()])))
    });
    for (number, result) in results.into_iter().flatten().enumerate() {
        if number % 2 == 0 {
            result.unwrap();
        } else {
            refused(result, "lease-stale");
        }
    }
    let entries = all_entries(&store, id);
    assert_eq!(entries.iter().map(|entry| entry.sequence).collect::<Vec<_>>(), [1, 2, 3, 4]);
}
