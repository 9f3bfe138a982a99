//! The record cache of the writer matches the file, even if another process changes it.

use store::{BlobStore, EntryStore, NewEntry, Recording, Store};
use testkit::folder::scratch;
use testkit::store_conformance::fixtures::*;

use super::{open, raw};

const CONTENT: &[u8] = b"a content";

/// An entry that refers to a blob which is already in the store.
fn refers() -> Recording {
    let entry = NewEntry { after: Some(content(&packed(CONTENT))), ..deletion("a") };
    Recording { entries: vec![entry], ..recording(&[]) }
}

/// Records twice to fill the cache, changes the file from outside, and records once more.
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
fn changes_of_another_process_invalidate_the_cache() {
    refused(
        after("UPDATE changesets SET status = 'sealed', ended_at = 1, owner = NULL, expires_at = NULL"),
        "changeset-closed",
    );
    refused(after("UPDATE changesets SET epoch = epoch + 1"), "lease-stale");
    assert_eq!(after("UPDATE changesets SET entries = 7").unwrap().first, 8);
}

#[test]
fn a_blob_removed_by_another_process_is_missing() {
    refused(after("DELETE FROM blobs"), "blob-missing");
}

#[test]
fn unrelated_writes_of_another_process_change_nothing() {
    assert_eq!(after("UPDATE plans SET changed_by = 'somebody'").unwrap().first, 3);
}

#[test]
fn a_blob_stored_by_another_process_is_not_stored_again() {
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
