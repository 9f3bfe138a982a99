//! Migrations from earlier versions: with all data, all or nothing.

use std::time::Duration;

use store::{ChangesetStore, EntryStore, Outcome, PostgresOptions, PostgresStore, Transfer};
use testkit::store_conformance::fixtures::*;

use super::{open, server_or_skip};

/// Turns tables of the newest version into those of version 3.
const TO_VERSION_3: &str = "
    DROP INDEX agents.entries_of_path; DROP INDEX agents.entries_of_new_path;
    ALTER TABLE agents.entries DROP CONSTRAINT entries_sequence_check;
    ALTER TABLE agents.changesets
        DROP CONSTRAINT changesets_status_check, DROP CONSTRAINT changesets_entries_check, DROP CONSTRAINT changesets_digest_check,
        DROP CONSTRAINT changesets_lease_check, DROP CONSTRAINT changesets_end_check;
    UPDATE agents.versions SET version = 3;";

/// Turns these into tables of version 1.
const TO_VERSION_1: &str = "
    DROP FUNCTION agents.record; UPDATE agents.versions SET version = 1;
    ALTER TABLE agents.entries ADD CHECK (sequence >= 1);
    ALTER TABLE agents.changesets
        ADD CHECK (status IN ('open', 'sealed', 'abandoned')), ADD CHECK (entries >= 0), ADD CHECK (length(digest) = 32),
        ADD CHECK ((owner IS NULL) = (expires_at IS NULL)), ADD CHECK ((status = 'open') = (ended_at IS NULL));";

#[test]
fn older_tables_are_migrated_with_their_data() {
    let Some(server) = server_or_skip("postgres-older") else { return };
    for older in [&[TO_VERSION_3, TO_VERSION_1][..], &[TO_VERSION_3]] {
        let database = server.database();
        let store = open(server, &database);
        let (id, epoch) = start(&store, make_plan(&store).id, "coder");
        store.record(id, epoch, &recording(&["a"])).unwrap();
        older.iter().for_each(|sql| _ = server.sql(&database, sql));
        // Without the function, an open store takes the slow path.
        assert_eq!(store.record(id, epoch, &recording(&["b"])).unwrap().first, 2);
        let newer = open(server, &database);
        assert_eq!(newer.schema_version().unwrap(), 5);
        for number in 3..6 {
            assert_eq!(newer.record(id, epoch, &recording(&[&number.to_string()])).unwrap().first, number);
        }
        let found = newer.last_entries(id, &[(path("/project"), path("a"))]).unwrap();
        assert_eq!(found[0].as_ref().map(|entry| entry.sequence), Some(1));
        newer.seal(id, epoch).unwrap();
        assert_eq!(store::verify(&newer, &[]).unwrap().findings, []);
    }
}

#[test]
fn a_migration_may_take_longer_than_a_call_waits() {
    let Some(server) = server_or_skip("postgres-slow-migration") else { return };
    let database = server.database();
    drop(open(server, &database));
    server.sql(&database, TO_VERSION_3);
    // Every statement that changes a table takes longer than the time limit of a call.
    let slow =
        "CREATE FUNCTION slow() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(3); END';
                CREATE EVENT TRIGGER slow ON ddl_command_start EXECUTE FUNCTION slow()";
    server.sql(&database, slow);
    let options = PostgresOptions::default().timeout(Duration::from_secs(2));
    let store = options.open(&server.url(&database)).unwrap();
    assert_eq!(store.schema_version().unwrap(), 5);
}

#[test]
fn an_invalid_row_stops_the_migration_without_changes() {
    let Some(server) = server_or_skip("postgres-broken-rows") else { return };
    for (broken, rule) in [
        ("UPDATE agents.changesets SET status = 'lost', ended_at = started_at", "changesets_status_check"),
        ("UPDATE agents.changesets SET entries = -1", "changesets_entries_check"),
        ("UPDATE agents.changesets SET digest = 'short'", "changesets_digest_check"),
        ("UPDATE agents.changesets SET expires_at = NULL", "changesets_lease_check"),
        ("UPDATE agents.changesets SET ended_at = started_at", "changesets_end_check"),
        ("UPDATE agents.entries SET sequence = 0", "entries_sequence_check"),
    ] {
        let database = server.database();
        let store = open(server, &database);
        let (id, epoch) = start(&store, make_plan(&store).id, "coder");
        store.record(id, epoch, &recording(&["a"])).unwrap();
        drop(store);
        server.sql(&database, TO_VERSION_3);
        server.sql(&database, broken);
        let error = PostgresStore::open(&server.url(&database)).unwrap_err();
        assert_eq!(error.outcome(), Outcome::Aborted);
        let (shown, table) = (testkit::chain(&error), rule.split('_').next().unwrap());
        let named = format!("check constraint \"{rule}\" of relation \"{table}\" is violated by some row");
        assert!(shown.contains(&named), "{broken}: {shown}");
        assert_eq!(server.sql(&database, "SELECT version FROM agents.versions"), "3");
        let constraints = "SELECT count(*) FROM pg_constraint WHERE contype = 'c'
                           AND conrelid IN ('agents.changesets'::regclass, 'agents.entries'::regclass)";
        assert_eq!(server.sql(&database, constraints), "0", "{broken}");
    }
}
