//! Many threads share syncs, and each gets its own answer.

use std::sync::Mutex;

use store::Store;
use testkit::folder::scratch;
use testkit::notes::{figure, is_proof};
use testkit::store_conformance::fixtures::*;

use super::{open, raw};

const THREADS: usize = 32;

#[test]
fn threads_share_syncs_and_keep_their_entries() {
    let records = if is_proof() { 1000 } else { 100 };
    let folder = scratch();
    let store = open(folder.path());
    let plan = make_plan(&store);
    let before = store.writer_counts();
    let ids = together(THREADS, |number| {
        let (id, epoch) = start(&store, plan.id, &format!("actor {number}"));
        for record in 0..records {
            store.record(id, epoch, &recording(&[&format!("{number}/{record}")])).unwrap();
        }
        id
    });
    for (number, id) in ids.into_iter().enumerate() {
        let entries = all_entries(&store, id);
        assert_eq!(entries.len(), records);
        for (record, entry) in entries.iter().enumerate() {
            assert_eq!(entry.sequence, record as u64 + 1);
            assert_eq!(entry.path.show(), format!("{number}/{record}"));
            assert_eq!(entry.actor.as_str(), format!("actor {number}"));
        }
    }
    let after = store.writer_counts();
    let (groups, writes) = (after.groups - before.groups, after.writes - before.writes);
    assert_eq!(writes, (THREADS * (records + 1)) as u64);
    assert!(groups < writes / 2, "{groups} syncs for {writes} writes");
    figure("syncs per 1000 durable records of 32 threads", groups * 1000 / writes);
}

#[test]
fn one_that_is_refused_harms_no_other_of_its_group() {
    let folder = scratch();
    let store = open(folder.path());
    let plan = make_plan(&store);
    let (id, epoch) = start(&store, plan.id, "coder");
    // While somebody else writes, all of them queue.
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
