//! The database file: permissions, foreign files, damage, newer versions.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::time::Duration;

use store::{EntryStore, PlanStore, SqliteOptions, SqliteStore, Store};
use testkit::folder::{scratch, tree};
use testkit::sim::Node;
use testkit::store_conformance::fixtures::*;

use super::{open, raw};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

#[test]
fn folders_are_0700_and_files_0600() {
    let folder = scratch();
    let home = folder.path().join("deep/home");
    let store = open(&home);
    make_plan(&store);
    assert_eq!((mode(&folder.path().join("deep")), mode(&home)), (0o700, 0o700));
    for name in ["state.db", "state.db-wal", "state.db-shm"] {
        assert_eq!(mode(&home.join(name)), 0o600, "{name}");
    }
    assert_eq!(store.path(), home.join("state.db").canonicalize().unwrap());
}

#[test]
fn written_data_survives_reopening() {
    let folder = scratch();
    let store = open(folder.path());
    let plan = make_plan(&store);
    let clone = store.clone();
    drop(store);
    assert_eq!(clone.plan(plan.id).unwrap(), plan);
    drop(clone);
    assert_eq!(open(folder.path()).plan(plan.id).unwrap(), plan);
}

#[test]
fn stores_on_one_file_share_its_writer() {
    let folder = scratch();
    let first = open(folder.path());
    symlink(folder.path(), folder.path().join("link")).unwrap();
    let second = SqliteStore::open(&folder.path().join("link/state.db")).unwrap();
    make_plan(&first);
    make_plan(&second);
    assert_eq!(first.writer_counts().writes, 2);
    assert_eq!(first.writer_counts(), second.writer_counts());
    assert!(format!("{first:?}").contains("state.db"));
    assert!(format!("{:?}", SqliteOptions::default()).contains("timeout"));
}

/// Asserts that opening is refused with this code and changes no byte.
fn refused_untouched(folder: &Path, code: &str) -> store::Error {
    let before = tree(folder);
    let error = refused(SqliteStore::open(&folder.join("state.db")), code);
    let mut after = tree(folder);
    // SQLite creates an empty -wal file, and its index, to read the file.
    let nothing = |name: &str, node: &Node| {
        name.ends_with("-shm")
            || name.ends_with("-wal") && matches!(node, Node::File { content, .. } if content.is_empty())
    };
    after.retain(|name, node| before.contains_key(name) || !nothing(name, node));
    assert!(after == before, "{:?} {:?}", after.keys(), before.keys());
    error
}

#[test]
fn a_foreign_file_is_refused_untouched() {
    let folder = scratch();
    let path = folder.path().join("state.db");
    fs::write(&path, "dear diary, ".repeat(100)).unwrap();
    refused_untouched(folder.path(), "not-a-store");

    fs::remove_file(&path).unwrap();
    raw(folder.path()).execute_batch("CREATE TABLE recipes (name TEXT)").unwrap();
    let error = refused_untouched(folder.path(), "not-a-store");
    assert!(error.to_string().ends_with("it is the database of another program"), "{error}");

    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    refused_untouched(folder.path(), "not-a-store");
}

#[test]
fn a_folder_that_cannot_be_created_is_an_error() {
    let folder = scratch();
    fs::write(folder.path().join("file"), "").unwrap();
    refused(SqliteStore::open(&folder.path().join("file/state.db")), "store-io");
    symlink("nowhere/at/all", folder.path().join("dangling")).unwrap();
    refused(SqliteStore::open(&folder.path().join("dangling")), "store-io");
}

#[test]
fn a_newer_store_is_refused_untouched() {
    let folder = scratch();
    make_plan(&open(folder.path()));
    raw(folder.path()).execute_batch("PRAGMA user_version = 99").unwrap();
    let error = refused_untouched(folder.path(), "store-newer");
    assert!(error.to_string().contains("version 99; this program supports version 4"), "{error}");
}

#[test]
fn a_damaged_file_is_reported_untouched() {
    let folder = scratch();
    let path = folder.path().join("state.db");
    let store = open(folder.path());
    let plan = make_plan(&store);
    drop(store);
    let whole = fs::read(&path).unwrap();

    // A damaged header: the file is not recognized.
    let mut damaged = whole.clone();
    damaged[..100].fill(0x55);
    fs::write(&path, &damaged).unwrap();
    refused_untouched(folder.path(), "not-a-store");

    // Everything after the first page.
    let mut damaged = whole.clone();
    damaged[4096..].fill(0x55);
    fs::write(&path, &damaged).unwrap();
    refused_untouched(folder.path(), "store-damaged");

    // One page, which is noticed when it is read.
    fs::write(&path, &whole).unwrap();
    let page: usize = raw(folder.path())
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'plans'", [], |row| row.get::<_, i64>(0))
        .unwrap()
        .try_into()
        .unwrap();
    let mut damaged = whole.clone();
    damaged[4096 * (page - 1)..4096 * page].fill(0x55);
    fs::write(&path, &damaged).unwrap();
    let store = open(folder.path());
    refused(store.plan(plan.id), "store-damaged");
    refused(store.create_plan(&new_plan()), "store-damaged");
    assert!(store.check().map_or(true, |corruptions| !corruptions.is_empty()));
    drop(store);
    assert!(fs::read(&path).unwrap() == damaged);

    fs::write(&path, &whole).unwrap();
    assert_eq!(open(folder.path()).plan(plan.id).unwrap(), plan);
}

#[test]
fn the_check_finds_what_constraints_do_not() {
    let folder = scratch();
    let store = open(folder.path());
    let plan = make_plan(&store);
    let (id, epoch) = start(&store, plan.id, "coder");
    store.record(id, epoch, &recording_of(&[("a", b"one"), ("b", b"two")])).unwrap();
    let blob = store::put_blob(&store, &mut vec![7; 3 << 20].as_slice()).unwrap();
    assert_eq!(store.check().unwrap(), []);
    let edit = raw(folder.path());
    edit.execute_batch(
        "PRAGMA foreign_keys = OFF;
         DELETE FROM entries WHERE sequence = 1;
         UPDATE changesets SET last_id = 0;
         DELETE FROM blobs WHERE bytes = 3;
         DELETE FROM blob_chunks WHERE number = 1;
         INSERT INTO blob_chunks VALUES (randomblob(16), 0, 0, 0, x'');
         DELETE FROM plans;",
    )
    .unwrap();
    let corruptions: Vec<String> = store.check().unwrap().iter().map(ToString::to_string).collect();
    for text in [
        "table changesets: a row refers to a missing row",
        "not numbered from 1 to their count",
        "outside the row range of its changeset",
        "entry 2 of changeset",
        &format!("blob {}: it lacks chunks", blob.hash),
        "its chunks belong to no upload or blob",
        "its blob is not in the store",
    ] {
        assert!(corruptions.iter().any(|corruption| corruption.contains(text)), "{text}: {corruptions:#?}");
    }
    assert_eq!(refused(store::read_blob(&store, blob.hash, 4 << 20), "blob-damaged").code(), "blob-damaged");
}

#[test]
fn an_altered_blob_is_never_returned_as_valid() {
    let folder = scratch();
    let store = open(folder.path());
    let small = store::put_blob(&store, &mut &b"small"[..]).unwrap();
    let large = store::put_blob(&store, &mut vec![7; 3 << 20].as_slice()).unwrap();
    let edit = raw(folder.path());
    edit.execute_batch("UPDATE blobs SET data = x'736d616c6d', codec = 0 WHERE data IS NOT NULL").unwrap();
    refused(store::read_blob(&store, small.hash, 100), "blob-damaged");
    refused(store::BlobReader::open(&store, small.hash).map(|_| ()), "blob-damaged");
    edit.execute_batch("UPDATE blob_chunks SET data = (SELECT data FROM blob_chunks WHERE number = 0), bytes = 5 WHERE number = 2")
        .unwrap();
    let mut reader = store::BlobReader::open(&store, large.hash).unwrap();
    assert_eq!(reader.blob().bytes, 3 << 20);
    let error = std::io::copy(&mut reader, &mut std::io::sink()).unwrap_err();
    assert!(error.to_string().contains("is damaged"), "{error}");
}

#[test]
fn a_timeout_names_the_action() {
    let folder = scratch();
    let path = folder.path().join("state.db");
    let store = SqliteOptions::default().timeout(Duration::from_millis(20)).open(&path).unwrap();
    let plan = make_plan(&store);
    let other = raw(folder.path());
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = refused(store.step_plan(&step(&plan, "ready")), "store-busy");
    let shown = format!("{error} {error:?}");
    assert!(shown.contains("to change a plan's state"), "{shown}");
    assert!(!shown.contains("locked"), "{shown}");
    assert!(std::error::Error::source(&error).is_none());
    // Readers do not wait for the writer.
    assert_eq!(store.plan(plan.id).unwrap(), plan);
    other.execute_batch("ROLLBACK").unwrap();
    store.step_plan(&step(&plan, "ready")).unwrap();
}

#[test]
fn times_come_from_the_configured_clock() {
    let folder = scratch();
    let time: store::Time = "2026-01-31T09:30:00Z".parse().unwrap();
    let store = SqliteOptions::default().clock(move || time).open(&folder.path().join("state.db")).unwrap();
    assert_eq!(make_plan(&store).created_at, time);
}

#[test]
fn an_existing_folder_keeps_its_mode() {
    let folder = scratch();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o750)).unwrap();
    make_plan(&open(folder.path()));
    assert_eq!(mode(folder.path()), 0o750);
}

#[test]
fn a_removed_or_replaced_file_is_not_written_to() {
    let folder = scratch();
    let path = folder.path().join("state.db");
    let store = open(folder.path());
    make_plan(&store);
    fs::rename(&path, folder.path().join("away.db")).unwrap();
    refused(store.create_plan(&new_plan()), "store-removed");
    // Opening it now creates a new file with its own writer.
    let fresh = open(folder.path());
    let plan = make_plan(&fresh);
    assert_eq!(fresh.plans(&store::PlanQuery::default()).unwrap(), [plan]);
    refused(store.create_plan(&new_plan()), "store-removed");
}

/// A process that was stopped while it opened the store holds this lock.
#[test]
fn child() {
    if let Some((_, folder)) = testkit::children::role() {
        let shared_memory = folder.join("state.db-shm");
        let file =
            fs::File::options().read(true).write(true).create(true).truncate(false).open(shared_memory);
        let file = file.unwrap();
        rustix::fs::fcntl_lock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
        testkit::children::send("held");
        testkit::children::wait_for_parent();
    }
}

#[test]
fn a_process_stopped_while_opening_makes_the_store_busy() {
    let folder = scratch();
    drop(open(folder.path()));
    let mut holder = testkit::children::start("files::child", "hold", folder.path());
    assert_eq!(holder.receive(), "held");
    let options = SqliteOptions::default().timeout(Duration::from_millis(100));
    let error = options.clone().open(&folder.path().join("state.db")).unwrap_err();
    assert_eq!((error.code(), error.outcome()), ("store-busy", store::Outcome::Aborted), "{error:?}");
    holder.finish();
    make_plan(&options.open(&folder.path().join("state.db")).unwrap());
}

#[test]
fn missing_and_unexpected_tables_are_damage() {
    let folder = scratch();
    let store = open(folder.path());
    raw(folder.path()).execute_batch("DROP TABLE audit").unwrap();
    let error = store.create_plan(&new_plan()).unwrap_err();
    assert_eq!(error.code(), "store-damaged", "{error:?}");
    assert!(testkit::chain(&error).contains("no such table: audit"), "{error:?}");

    for version in [0, 1] {
        let folder = scratch();
        drop(open(folder.path()));
        raw(folder.path()).pragma_update(None, "user_version", version).unwrap();
        let error = SqliteStore::open(&folder.path().join("state.db")).unwrap_err();
        let shown = testkit::chain(&error);
        assert_eq!(error.code(), "store-damaged", "{shown}");
        assert!(shown.contains("already exists") || shown.contains("duplicate column"), "{shown}");
        assert!(shown.len() < 300, "{shown}");
    }
}
