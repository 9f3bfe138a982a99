//! Copying a store to the other engine and back.

use std::path::Path;

use store::limits::CHUNK_BYTES;
use store::{
    ChangesetStore, EntryStore, Epoch, LeaseStore, NewNode, NodeId, NodeStore, PlanStore, Resource,
    RowCounts, SqliteStore, Store, Transfer, copy, put_blob, read_blob,
};
use testkit::folder::scratch;
use testkit::postgres::Server;
use testkit::store_conformance::fixtures::*;

use super::{open, server_or_skip};

/// Fills every table, with a removed plan, leases, a reason with arbitrary characters, and a long
/// blob.
fn fill(store: &dyn Store) -> (store::ChangesetId, Epoch, store::BlobHash, store::Recording) {
    let plan = make_plan(store);
    let node = NewNode {
        id: NodeId::new(),
        name: store::Name::parse("build").unwrap(),
        state: state("waiting"),
        detail: serde_json::Value::Null,
    };
    store.create_nodes(plan.id, std::slice::from_ref(&node), &actor("ana")).unwrap();
    let (given_up, epoch) = start(store, plan.id, "coder");
    store.abandon(given_up, epoch, "nul \0 and é").unwrap();
    let (id, epoch) = start(store, plan.id, "coder");
    let request = recording_of(&[("a", b"one"), ("b", b"two")]);
    store.record(id, epoch, &request).unwrap();
    for number in 0..600 {
        store.record(id, epoch, &recording(&[&number.to_string()])).unwrap();
    }
    let resource = Resource::Plan(plan.id);
    let lease = store.acquire(resource, &lease_request("one", LONG)).unwrap();
    store.release(&lease).unwrap();
    let long = put_blob(store, &mut b"long ".repeat(CHUNK_BYTES / 2).as_slice()).unwrap().hash;
    let gone = make_plan(store);
    store.remove_plan(&removal(&gone)).unwrap();
    (id, epoch, long, request)
}

#[test]
fn a_store_is_copied_to_the_other_engine_and_back() {
    let Some(server) = server_or_skip("postgres-copies") else { return };
    let folder = scratch();
    let source = SqliteStore::open(&folder.path().join("source.db")).unwrap();
    let (id, epoch, long, request) = fill(&source);
    let middle = open(server, &server.database());
    let counts = copy(&source, &middle).unwrap();
    assert_eq!(counts, RowCounts { plans: 1, nodes: 1, changesets: 2, entries: 602, blobs: 3, records: 7 });
    let back = SqliteStore::open(&folder.path().join("back.db")).unwrap();
    assert_eq!(copy(&middle, &back).unwrap(), counts);
    // A repeated copy changes nothing.
    assert_eq!(copy(&source, &middle).unwrap(), counts);
    assert_eq!(copy(&middle, &back).unwrap(), counts);
    for store in [&middle as &dyn Transfer, &back] {
        for plan in source.plans(&store::PlanQuery::default()).unwrap() {
            assert_eq!(store.plan(plan.id).unwrap(), plan);
            assert_eq!(store.nodes(plan.id).unwrap(), source.nodes(plan.id).unwrap());
            assert_eq!(store.changesets(plan.id).unwrap(), source.changesets(plan.id).unwrap());
            assert_eq!(store.leases(plan.id).unwrap(), source.leases(plan.id).unwrap());
            // Epochs are copied: the previous holder of a lease is refused here, too.
            let lease = store.acquire(Resource::Plan(plan.id), &lease_request("two", LONG)).unwrap();
            assert_eq!(lease.epoch, Epoch(3));
        }
        assert_eq!(all_entries(store, id), all_entries(&source, id));
        assert_eq!(read_blob(store, long, 1 << 24).unwrap(), read_blob(&source, long, 1 << 24).unwrap());
        // Requests are copied: a repeated call returns the first answer, and recording continues.
        assert_eq!(store.record(id, epoch, &request).unwrap().first, 1);
        assert_eq!(store.record(id, epoch, &recording(&["more"])).unwrap().first, 603);
        store.seal(id, epoch).unwrap();
        assert_eq!(store::verify(store, &[]).unwrap().findings, []);
        assert_eq!(store.check().unwrap(), []);
    }
    assert_eq!((middle.schema_version().unwrap(), back.schema_version().unwrap()), (5, 4));
}

/// Tables that a copy writes to.
const WRITTEN: [&str; 7] = ["plans", "nodes", "changesets", "entries", "audit", "audit_heads", "blobs"];

/// Installs triggers that count written rows in both databases.
fn count_writes(server: &Server, database: &str, file: &Path) {
    server.sql(
        database,
        "CREATE SEQUENCE written; CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
             'BEGIN PERFORM nextval(''public.written''); RETURN NULL; END'",
    );
    let sqlite = rusqlite::Connection::open(file).unwrap();
    sqlite.execute_batch("CREATE TABLE written (row)").unwrap();
    for table in WRITTEN {
        server.sql(
            database,
            &format!(
                "CREATE TRIGGER note AFTER INSERT OR UPDATE ON agents.{table} FOR EACH ROW EXECUTE FUNCTION note()"
            ),
        );
        let note = "BEGIN INSERT INTO written VALUES (1); END";
        let at = |act: &str| format!("CREATE TRIGGER {act}_{table} AFTER {act} ON {table} {note};");
        // The row of a changeset is updated with each of its entries, to store the last row id.
        let update = if table == "changesets" { String::new() } else { at("UPDATE") };
        sqlite.execute_batch(&(at("INSERT") + &update)).unwrap();
    }
}

/// Returns the number of rows written since, in PostgreSQL and in SQLite.
fn written(server: &Server, database: &str, file: &Path) -> [u64; 2] {
    let sqlite = rusqlite::Connection::open(file).unwrap();
    let rows: i64 = sqlite.query_row("SELECT count(*) FROM written", [], |row| row.get(0)).unwrap();
    // An unused sequence has the last value 1, too.
    let next = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM written";
    [server.sql(database, next).parse().unwrap(), rows.unsigned_abs()]
}

#[test]
fn a_resumed_copy_writes_only_missing_rows() {
    let Some(server) = server_or_skip("postgres-copies-count") else { return };
    let folder = scratch();
    let (from, to) = (folder.path().join("source.db"), folder.path().join("back.db"));
    let source = SqliteStore::open(&from).unwrap();
    let (id, epoch, ..) = fill(&source);
    let database = server.database();
    let (middle, back) = (open(server, &database), SqliteStore::open(&to).unwrap());
    count_writes(server, &database, &to);
    for target in [&middle as &dyn Transfer, &back] {
        // Interrupted after the first page of entries: 500 of 602.
        for table in &store::TABLES[..4] {
            target.put_rows(table, &source.rows(table, None).unwrap()).unwrap();
        }
    }
    // A plan, a node, two changesets, and the page.
    assert_eq!(written(server, &database, &to), [504; 2]);
    for target in [&middle as &dyn Transfer, &back] {
        copy(&source, target).unwrap();
    }
    // The remaining entries, seven audit records, two heads, three blobs. A long blob is uploaded
    // first and named at the end.
    let all = 504 + 102 + 7 + 2 + 3;
    assert_eq!(written(server, &database, &to), [all; 2]);
    for target in [&middle as &dyn Transfer, &back] {
        copy(&source, target).unwrap();
    }
    assert_eq!(written(server, &database, &to), [all; 2], "nothing is written again");
    // The source continues, and so does the copy: one entry, and the row of its changeset.
    source.record(id, epoch, &recording(&["more"])).unwrap();
    copy(&source, &middle).unwrap();
    assert_eq!(written(server, &database, &to)[0], all + 2);
    assert_eq!(all_entries(&middle, id), all_entries(&source, id));
}

#[test]
fn an_interrupted_copy_is_resumed() {
    let Some(server) = server_or_skip("postgres-copies-again") else { return };
    let folder = scratch();
    let source = SqliteStore::open(&folder.path().join("source.db")).unwrap();
    let (id, ..) = fill(&source);
    let (middle, back) =
        (open(server, &server.database()), SqliteStore::open(&folder.path().join("back.db")).unwrap());
    for to in [&middle as &dyn Transfer, &back] {
        // Up to the first page of entries.
        for table in &store::TABLES[..4] {
            to.put_rows(table, &source.rows(table, None).unwrap()).unwrap();
        }
        assert_eq!(copy(&source, to).unwrap().entries, 602);
        assert_eq!(all_entries(to, id), all_entries(&source, id));
    }
    // The copy has a plan that the source lacks.
    make_plan(&middle);
    assert_eq!(copy(&source, &middle).unwrap_err().code(), "not-a-copy");
    // The copy has a blob that the source lacks, which no chain shows.
    put_blob(&back, &mut &b"stray"[..]).unwrap();
    assert_eq!(copy(&source, &back).unwrap_err().code(), "not-a-copy");
}
