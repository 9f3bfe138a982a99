//! Verification finds altered rows in PostgreSQL. The rules are those of every engine; unreadable
//! values are specific.

use store::{ChangesetStore, EntryStore, Fault, PostgresStore, scrub, verify};
use testkit::store_conformance::fixtures::*;

use super::{open, server_or_skip};

/// Makes a plan with 5 records.
fn trail(store: &PostgresStore) {
    let plan = make_plan(store);
    for name in ["one", "two"] {
        let (id, epoch) = start(store, plan.id, name);
        store.record(id, epoch, &recording_of(&[("a", b"one"), ("b", name.as_bytes())])).unwrap();
        store.seal(id, epoch).unwrap();
    }
    assert_eq!(verify(store, &[]).unwrap().findings, []);
    assert_eq!(scrub(store).unwrap(), []);
}

#[test]
fn altered_rows_are_found() {
    let Some(server) = server_or_skip("postgres-tampering") else { return };
    let second = "changeset = (SELECT id FROM agents.changesets WHERE actor = 'two')";
    for (sql, expected) in [
        ("UPDATE agents.changesets SET status = 'abandoned' WHERE actor = 'two'", (5, Fault::RowAltered)),
        ("UPDATE agents.changesets SET started_at = started_at - interval '1 s' WHERE actor = 'two'", (4, Fault::RowAltered)),
        ("ALTER TABLE agents.changesets DROP CONSTRAINT changesets_status_check, DROP CONSTRAINT changesets_end_check;
          UPDATE agents.changesets SET status = 'on' WHERE actor = 'two'", (4, Fault::Unreadable)),
        ("ALTER TABLE agents.changesets DROP CONSTRAINT changesets_digest_check; UPDATE agents.changesets SET digest = '' WHERE actor = 'two'", (4, Fault::Unreadable)),
        ("DELETE FROM agents.changesets WHERE actor = 'two'", (4, Fault::RowMissing)),
        (
            "INSERT INTO agents.changesets (id, plan, actor, status, digest, started_at, ended_at, epoch)
             SELECT gen_random_uuid(), plan, 'bot', status, digest, started_at, ended_at, epoch FROM agents.changesets LIMIT 1",
            (5, Fault::Unrecorded),
        ),
        ("UPDATE agents.plans SET state = 'applied'", (1, Fault::RowAltered)),
        ("UPDATE agents.plans SET detail = '{'", (1, Fault::Unreadable)),
        (
            "DELETE FROM agents.entries; DELETE FROM agents.changesets; DELETE FROM agents.plans",
            (1, Fault::RowMissing),
        ),
        ("UPDATE agents.entries SET form = '[]' WHERE SECOND AND sequence = 1", (5, Fault::Unreadable)),
        ("UPDATE agents.entries SET sequence = 1::bigint << 60 WHERE SECOND AND sequence = 2", (5, Fault::EntriesAltered)),
        ("UPDATE agents.audit SET at = 'infinity' WHERE sequence = 3", (3, Fault::Altered)),
        ("UPDATE agents.audit_heads SET sequence = -1", (5, Fault::WrongHead)),
        (
            "INSERT INTO agents.audit SELECT plan, -1, at, NULL, kind, who, body, previous, hash FROM agents.audit WHERE sequence = 1",
            (0, Fault::Orphan),
        ),
    ] {
        let database = server.database();
        let store = open(server, &database);
        trail(&store);
        server.sql(&database, &sql.replace("SECOND", second));
        let findings = verify(&store, &[]).unwrap().findings;
        let found: Vec<_> = findings.iter().map(|finding| (finding.sequence, finding.fault)).collect();
        assert_eq!(found, [expected], "{sql}");
    }
}

#[test]
fn altered_blobs_are_found() {
    let Some(server) = server_or_skip("postgres-contents") else { return };
    for sql in [
        "UPDATE agents.blobs SET data = 'two' WHERE data = 'one'",
        "UPDATE agents.blobs SET codec = 7 WHERE data = 'one'",
    ] {
        let database = server.database();
        let store = open(server, &database);
        trail(&store);
        server.sql(&database, sql);
        let corruptions = scrub(&store).unwrap();
        assert_eq!(corruptions.len(), 1, "{sql}: {corruptions:?}");
        assert_eq!(corruptions[0].location, format!("blob {}", store::BlobHash::of(b"one")));
    }
}
