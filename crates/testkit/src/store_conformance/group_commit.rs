//! Threads share transactions, and each gets its own answer.

use store::{Store, WriterCounts};

use super::fixtures::*;
use crate::report::is_proof;

const THREADS: usize = 32;

/// Runs 32 threads that record into a changeset each. `counts` returns the counters of the writer;
/// with `beside`, they do not include the start of a changeset. Returns the transactions per 1000
/// recordings.
pub fn check(store: &dyn Store, counts: impl Fn() -> WriterCounts, beside: bool) -> u64 {
    let records = if is_proof() { 1000 } else { 100 };
    let plan = make_plan(store);
    let before = counts();
    let ids = together(THREADS, |number| {
        let (id, epoch) = start(store, plan.id, &format!("actor {number}"));
        for record in 0..records {
            store.record(id, epoch, &recording(&[&format!("{number}/{record}")])).unwrap();
        }
        id
    });
    for (number, id) in ids.into_iter().enumerate() {
        let entries = all_entries(store, id);
        assert_eq!(entries.len(), records);
        for (record, entry) in entries.iter().enumerate() {
            assert_eq!(entry.sequence, record as u64 + 1);
            assert_eq!(entry.path.show(), format!("{number}/{record}"));
            assert_eq!(entry.actor.as_str(), format!("actor {number}"));
        }
    }
    let after = counts();
    let (groups, writes) = (after.groups - before.groups, after.writes - before.writes);
    assert_eq!(writes, (THREADS * (records + usize::from(!beside))) as u64);
    assert!(groups < writes / 2, "{groups} transactions for {writes} writes");
    groups * 1000 / writes
}
