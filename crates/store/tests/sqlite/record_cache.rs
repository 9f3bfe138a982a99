//! What the writer keeps in memory of changesets and contents is what the file has, whoever changed it.

use store::{BlobStore, EntryStore, NewEntry, Recording, Store};
use testkit::folder::scratch;
use testkit::store_conformance::fixtures::*;

use super::{open, raw};

const CONTENT: &[u8] = b"a content";

/// An entry that refers to a content which is in the store already.
fn refers() -> Recording {
    let entry = NewEntry { after: Some(content(&packed(CONTENT))), ..deletion("a") };
    Recording { entries: vec![entry], ..recording(&[]) }
}

/// Records twice, so that everything is known, has somebody else change the file, and records once more.
fn after(change: &str) -> store::Result<store::Recorded> {
    let folder = scratch();
    let store = open(folder.path());
    let plan = make_plan(&store);
    let (id, epoch) = start(&store, plan.id, "coder");
    store.record(id, epoch, &recording_of(&[("a", CONTENT)])).unwrap();
    assert_eq!(store.record(id, epoch, &refers()).unwrap().first, 2);
    raw(folder.path()).execute_batch(change).unwrap();
    store.record(id, epoch, &refers())
}

#[test]
fn what_another_process_did_to_a_changeset_is_seen() {
    refused(
        after("UPDATE changesets SET status = 'sealed', ended_at = 1, owner = NULL, expires_at = NULL"),
        "changeset-closed",
    );
    refused(after("UPDATE changesets SET epoch = epoch + 1"), "lease-stale");
    assert_eq!(after("UPDATE changesets SET entries = 7").unwrap().first, 8);
}

#[test]
fn a_content_that_another_process_removed_is_missed() {
    refused(after("DELETE FROM blobs"), "blob-missing");
}

#[test]
fn what_another_process_did_elsewhere_changes_nothing() {
    assert_eq!(after("UPDATE plans SET changed_by = 'somebody'").unwrap().first, 3);
}

#[test]
fn a_content_that_another_process_stored_is_not_stored_again() {
    let folder = scratch();
    let store = open(folder.path());
    let plan = make_plan(&store);
    let (id, epoch) = start(&store, plan.id, "coder");
    store.record(id, epoch, &recording_of(&[("a", CONTENT)])).unwrap();
    let hash = packed(b"123").hash();
    raw(folder.path())
        .execute_batch(&format!(
            "INSERT INTO blobs (hash, bytes, chunks, codec, data, touched_at)
             SELECT x'{hash}', 3, 1, 0, x'313233', touched_at FROM blobs LIMIT 1"
        ))
        .unwrap();
    store.record(id, epoch, &recording_of(&[("a", b"123"), ("b", CONTENT)])).unwrap();
    assert_eq!(store.blob_hashes(None).unwrap().len(), 2);
    assert_eq!(store.check().unwrap(), []);
}
