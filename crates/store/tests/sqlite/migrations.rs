//! Migrations from earlier versions: with all data, all or nothing.

use std::fs;
use std::path::Path;

use store::{BlobHash, BlobStore, ChangeEntry, ChangesetId, EntryStore, Epoch, SqliteStore, Store};
use testkit::children::{command, role};
use testkit::folder::scratch;
use testkit::report::skipped;
use testkit::store_conformance::fixtures::*;
use testkit::strace::{Call, Inject, describe, run, unusable};

use super::{open, raw};

const MIGRATIONS: [&str; 3] = [
    include_str!("../../src/sqlite/migrations/0001.sql"),
    include_str!("../../src/sqlite/migrations/0002.sql"),
    include_str!("../../src/sqlite/migrations/0003.sql"),
];

/// Blobs in era 0 (settled) and in later eras, as version 2 stored them.
const ERAS: &str = "INSERT INTO blob_numbers SELECT number % 4, hash, number FROM blobs";

/// Turns a store into one of an earlier version.
fn downgrade(folder: &Path, version: usize) {
    let (path, old) = (folder.join("state.db"), folder.join("old.db"));
    let connection = rusqlite::Connection::open(&old).unwrap();
    for sql in &MIGRATIONS[..version] {
        connection.execute_batch(sql).unwrap();
    }
    connection.execute("ATTACH ?1 AS newer", [path.to_str().unwrap()]).unwrap();
    let tables = "SELECT group_concat(name) FROM newer.sqlite_schema WHERE type = 'table'";
    let tables: String = connection.query_row(tables, [], |row| row.get(0)).unwrap();
    assert!(tables.contains("blobs"), "{tables}");
    for table in tables.split(',') {
        connection.execute_batch(&format!("INSERT INTO {table} SELECT * FROM newer.{table}")).unwrap();
    }
    if version == 2 {
        connection.execute_batch(ERAS).unwrap();
    }
    connection
        .execute_batch(&format!(
            "DETACH newer; PRAGMA application_id = 0x61677374; PRAGMA user_version = {version};"
        ))
        .unwrap();
    drop(connection);
    fs::rename(old, path).unwrap();
}

/// A changeset with entries, and small and large blobs.
struct Filled {
    changeset: ChangesetId,
    epoch: Epoch,
    entries: Vec<ChangeEntry>,
    hashes: Vec<BlobHash>,
}

const LARGE_BYTES: usize = 3 << 20;

fn large() -> Vec<u8> {
    vec![7; LARGE_BYTES]
}

fn fill(folder: &Path) -> Filled {
    let store = open(folder);
    let plan = make_plan(&store);
    let (changeset, epoch) = start(&store, plan.id, "coder");
    let contents: [(&str, &[u8]); 5] =
        [("a", b"one"), ("b", b"two"), ("c", b"three"), ("d", b"four"), ("e", b"five")];
    store.record(changeset, epoch, &recording_of(&contents)).unwrap();
    store::put_blob(&store, &mut large().as_slice()).unwrap();
    let (entries, hashes) = (store.entries(changeset, 0, 100).unwrap(), store.blob_hashes(None).unwrap());
    assert_eq!((entries.len(), hashes.len()), (5, 6));
    Filled { changeset, epoch, entries, hashes }
}

/// Asserts that all data is there and recording continues.
fn check(folder: &Path, filled: &Filled) {
    let store = open(folder);
    assert_eq!(store.blob_hashes(None).unwrap(), filled.hashes);
    for hash in &filled.hashes {
        store::read_blob(&store, *hash, LARGE_BYTES).unwrap();
    }
    assert_eq!(store.entries(filled.changeset, 0, 100).unwrap(), filled.entries);
    assert_eq!(store.check().unwrap(), []);
    assert_eq!(store::verify(&store, &[]).unwrap().findings, []);
}

#[test]
fn an_earlier_store_keeps_its_blobs_and_stores_none_twice() {
    for version in 1..=MIGRATIONS.len() {
        let folder = scratch();
        let filled = fill(folder.path());
        downgrade(folder.path(), version);
        check(folder.path(), &filled);

        let store = open(folder.path());
        let recording = recording_of(&[("f", b"one"), ("g", b"six")]);
        store.record(filled.changeset, filled.epoch, &recording).unwrap();
        store::put_blob(&store, &mut &b"two"[..]).unwrap();
        store::put_blob(&store, &mut large().as_slice()).unwrap();
        assert_eq!(store.blob_hashes(None).unwrap().len(), filled.hashes.len() + 1);
        assert_eq!(store.check().unwrap(), []);
    }
}

#[test]
fn a_failed_migration_changes_nothing() {
    let folder = scratch();
    fill(folder.path());
    downgrade(folder.path(), 2);
    let dump = || -> (i64, i64) {
        let sql =
            "SELECT (SELECT count(*) FROM blob_numbers), (SELECT user_version FROM pragma_user_version)";
        raw(folder.path()).query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
    };
    // An invalid store: a duplicate hash.
    raw(folder.path())
        .execute_batch("INSERT INTO blobs SELECT 100, hash, bytes, chunks, codec, data, upload, touched_at FROM blobs LIMIT 1")
        .unwrap();
    let before = dump();
    let error = SqliteStore::open(&folder.path().join("state.db")).unwrap_err();
    assert!(
        testkit::chain(&error).contains("UNIQUE constraint failed: blobs.hash"),
        "{}",
        testkit::chain(&error)
    );
    assert_eq!(dump(), before);
    raw(folder.path()).execute_batch("DELETE FROM blobs WHERE number = 100").unwrap();
    open(folder.path());
}

#[test]
fn child() {
    if let Some((role, folder)) = role() {
        assert_eq!(role, "migrate");
        drop(open(&folder));
    }
}

#[test]
fn a_killed_migration_is_redone_at_the_next_open() {
    if let Some(reason) = unusable() {
        return skipped("store-killed-migration", &reason);
    }
    for name in ["pwrite64", "fdatasync"] {
        for nth in 1.. {
            let folder = scratch();
            let filled = fill(folder.path());
            downgrade(folder.path(), 2);
            let at = Call { name: name.to_owned(), nth, arguments: String::new() };
            let ended = run(&command("migrations::child", "migrate", folder.path()), &at, Inject::Kill);
            check(folder.path(), &filled);
            if !ended.killed {
                assert_eq!(ended.code, Some(0), "{}: {ended:?}", describe(&at, Inject::Kill));
                assert!(nth > 1, "it was never killed at {name}");
                break;
            }
        }
    }
}
