//! Reopen: one process after the other records, and reads only what it needs.

use std::sync::Arc;

use plan::{Change, Changeset, ChangesetId, LeaseOptions, Plans};

use super::fixture::*;
use super::lossy_store::LossyStore;

fn reopen(plans: &Plans, id: ChangesetId) -> Changeset {
    plans.reopen(id, &LeaseOptions::default()).unwrap()
}

#[test]
fn the_cost_of_a_record_is_independent_of_the_number_of_entries() {
    let counts = [10, 10_000].map(|entries| {
        let fixture = Fixture::new();
        let changeset = fixture.start("coder");
        for first in (0..entries).step_by(1000) {
            let batch = first..(first + 1000).min(entries);
            let change = |number: usize| Change::write(bytes(format!("d/{number}")), "x").with_base(None);
            changeset.record_many(batch.map(change).collect()).unwrap();
        }
        changeset.clone().release().unwrap();
        let lossy = Arc::new(LossyStore::new(Arc::clone(fixture.plans.store())));
        let plans = Plans::open(Arc::clone(&lossy) as _);
        let before = lossy.reads();
        let reopened = reopen(&plans, changeset.id());
        assert_eq!(reopened.record(write("d/3", "again")).unwrap(), entries as u64 + 1);
        assert_eq!(reopened.record(write("new", "x")).unwrap(), entries as u64 + 2);
        lossy.reads() - before
    });
    assert_eq!(counts[0], counts[1]);
}

#[test]
fn a_reopened_changeset_continues_from_its_last_contents() {
    let fixture = Fixture::new();
    fixture.write("a", "a");
    fixture.write("b", "b");
    fixture.write("f", "f");
    let id = fixture.start("coder").id();
    let record = |change| {
        let changeset = reopen(&fixture.plans, id);
        let recorded = changeset.record(change);
        changeset.release().unwrap();
        recorded
    };
    record(Change::rename(bytes("a"), bytes("c"))).unwrap();
    // Present at its new path, absent at the old one.
    record(write("c", "more")).unwrap();
    assert_eq!(record(Change::delete(bytes("a"))).unwrap_err().code(), "path-not-found");
    assert_eq!(record(Change::rename(bytes("b"), bytes("c"))).unwrap_err().code(), "path-exists");
    record(Change::rename(bytes("b"), bytes("a"))).unwrap();
    // A folder may replace a deleted file; paths below it did not exist.
    record(Change::delete(bytes("f"))).unwrap();
    record(write("f/x", "x")).unwrap();
    let entries = fixture.plans.entries(id).unwrap();
    assert_eq!(entries[1].before, entries[0].after);
    assert_eq!(entries[4].before, None);

    let changeset = reopen(&fixture.plans, id);
    let key = |at| fixture.key(at);
    assert_eq!(changeset.last_content(&key("c")).unwrap(), Some(entries[1].after.clone()));
    assert_eq!(changeset.last_content(&key("b")).unwrap(), Some(None));
    assert_eq!(changeset.last_content(&key("nowhere")).unwrap(), None);
    let contents = changeset.last_contents().unwrap();
    let paths: Vec<_> =
        contents.iter().map(|(key, content)| (key.path.show().into_owned(), content.is_some())).collect();
    let expected = [("a", true), ("b", false), ("c", true), ("f", false), ("f/x", true)];
    assert_eq!(paths, expected.map(|(path, is_there)| (path.to_owned(), is_there)));
    assert_eq!(contents[&key("a")], entries[2].after);
}
