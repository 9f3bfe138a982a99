//! All calls lock rows in one order, so they cannot deadlock.

use std::thread;

use testkit::store_conformance::fixtures::*;

use super::{open, server_or_skip};

/// Records nothing into all changesets, with the database function of the store. Rows come in
/// physical order unless they are sorted.
const RECORD: &str = "
    SET enable_indexscan = off;
    DO $$ BEGIN WHILE NOT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND database =
        (SELECT oid FROM pg_database WHERE datname = current_database())) LOOP PERFORM pg_sleep(0.01); END LOOP; END $$;
    SELECT agents.record(clock_timestamp(), array_agg(id ORDER BY id), array_agg(epoch ORDER BY id),
        array_agg(entries ORDER BY id), array_agg(digest ORDER BY id), array_agg(entries ORDER BY id),
        array_agg(digest ORDER BY id), '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}') FROM agents.changesets";

#[test]
fn a_group_that_waits_for_its_first_changeset_holds_none_of_the_others() {
    let Some(server) = server_or_skip("postgres-lock-order") else { return };
    let database = server.database();
    let store = open(server, &database);
    let plan = make_plan(&store).id;
    let mut ids = ["one", "two"].map(|name| start(&store, plan, name).0);
    ids.sort();
    let [first, last] = ids;
    // Move the row with the smaller id behind the other: a change of an indexed column writes a new
    // row version.
    let as_uuid =
        |id: store::ChangesetId| id.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let (first, last) = (as_uuid(first), as_uuid(last));
    server.sql(&database, &format!("UPDATE agents.changesets SET started_at = started_at + interval '1 microsecond' WHERE id = '{first}'"));
    let other = format!(
        "BEGIN;
         SELECT FROM agents.changesets WHERE id = '{first}' FOR UPDATE;
         SELECT pg_advisory_xact_lock(1);
         DO $$ BEGIN WHILE NOT EXISTS (SELECT FROM pg_locks JOIN pg_stat_activity USING (pid)
             WHERE NOT granted AND datname = current_database()) LOOP PERFORM pg_sleep(0.01); END LOOP; END $$;
         SELECT FROM agents.changesets WHERE id = '{last}' FOR UPDATE NOWAIT;
         COMMIT;"
    );
    thread::scope(|scope| {
        let record = scope.spawn(|| server.sql(&database, RECORD));
        server.sql(&database, &other);
        assert_eq!(record.join().unwrap(), "t");
    });
}
