//! Recording by one process after the other: each reopens the changeset, and reads only what it needs.

use std::sync::Arc;

use plan::{Change, Changeset, ChangesetId, Plans, Terms};

use super::fixture::*;
use super::lossy_store::Through;

fn reopen(plans: &Plans, id: ChangesetId) -> Changeset {
    plans.reopen(id, &Terms::default()).unwrap()
}

#[test]
fn a_record_reads_the_same_at_10_and_at_10000_entries() {
    let counts = [10, 10_000].map(|entries| {
        let ground = Ground::new();
        let changeset = ground.start("coder");
        for first in (0..entries).step_by(1000) {
            let batch = first..(first + 1000).min(entries);
            let change = |number: usize| Change::write(bytes(format!("d/{number}")), "x").on(None);
            changeset.record_many(batch.map(change).collect()).unwrap();
        }
        changeset.clone().release().unwrap();
        let through = Arc::new(Through::new(Arc::clone(ground.plans.store())));
        let plans = Plans::open(Arc::clone(&through) as _);
        let before = through.reads();
        let reopened = reopen(&plans, changeset.id());
        assert_eq!(reopened.record(write("d/3", "again")).unwrap(), entries as u64 + 1);
        assert_eq!(reopened.record(write("new", "x")).unwrap(), entries as u64 + 2);
        through.reads() - before
    });
    assert_eq!(counts[0], counts[1]);
}

#[test]
fn a_reopened_changeset_goes_on_from_what_it_left() {
    let ground = Ground::new();
    ground.write("a", "a");
    ground.write("b", "b");
    ground.write("f", "f");
    let id = ground.start("coder").id();
    let record = |change| {
        let changeset = reopen(&ground.plans, id);
        let recorded = changeset.record(change);
        changeset.release().unwrap();
        recorded
    };
    record(Change::rename(bytes("a"), bytes("c"))).unwrap();
    // Found by its new path, and gone from the old one.
    record(write("c", "more")).unwrap();
    assert_eq!(record(Change::delete(bytes("a"))).unwrap_err().code(), "not-there");
    assert_eq!(record(Change::rename(bytes("b"), bytes("c"))).unwrap_err().code(), "already-there");
    record(Change::rename(bytes("b"), bytes("a"))).unwrap();
    // A file that was removed has room for a folder, in which nothing was.
    record(Change::delete(bytes("f"))).unwrap();
    record(write("f/x", "x")).unwrap();
    let entries = ground.plans.entries(id).unwrap();
    assert_eq!(entries[1].before, entries[0].after);
    assert_eq!(entries[4].before, None);

    let changeset = reopen(&ground.plans, id);
    let key = |at| ground.key(at);
    assert_eq!(changeset.left_at(&key("c")).unwrap(), Some(entries[1].after.clone()));
    assert_eq!(changeset.left_at(&key("b")).unwrap(), Some(None));
    assert_eq!(changeset.left_at(&key("nowhere")).unwrap(), None);
    let left = changeset.left().unwrap();
    let paths: Vec<_> =
        left.iter().map(|(key, left)| (key.path.show().into_owned(), left.is_some())).collect();
    let expected = [("a", true), ("b", false), ("c", true), ("f", false), ("f/x", true)];
    assert_eq!(paths, expected.map(|(path, is_there)| (path.to_owned(), is_there)));
    assert_eq!(left[&key("a")], entries[2].after);
}
