//! The roles of `docs/many-machines.md`: its statements, and what each role may do.

use std::time::Duration;

use store::{
    BlobStore, ChangesetStore, EntryStore, GcMode, GcOptions, LeaseStore, NodeStore, PlanRemoval, PlanStore,
    PostgresStore, RequestId, Resource, Store, put_blob,
};
use testkit::store_conformance::fixtures::*;

use super::server_or_skip;

const PAGE: &str = include_str!("../../../../docs/many-machines.md");

/// Returns the statements of each block of SQL on the page.
fn blocks() -> Vec<Vec<&'static str>> {
    let blocks = PAGE.split("```sql\n").skip(1).map(|block| block.split("```").next().unwrap_or_default());
    let statements = |block: &'static str| block.split(';').map(str::trim).filter(|sql| !sql.is_empty());
    blocks.map(|block| statements(block).collect()).collect()
}

#[test]
fn the_roles_of_the_page_suffice_and_cannot_alter_the_audit_trail() {
    let Some(server) = server_or_skip("postgres-roles") else { return };
    let [create, grant] = &blocks()[..] else { panic!("the page has two blocks of statements") };
    create.iter().for_each(|sql| drop(server.sql("postgres", sql)));
    drop(PostgresStore::open(&server.url_of("agents_owner", "agents")).unwrap());
    grant.iter().for_each(|sql| drop(server.sql("agents", &format!("SET ROLE agents_owner; {sql}"))));

    let store = PostgresStore::open(&server.url_of("agents", "agents")).unwrap();
    let plan = make_plan(&store);
    store.create_nodes(plan.id, &[], &actor("ana")).unwrap();
    let (id, epoch) = start(&store, plan.id, "coder");
    for path in ["a", "b"] {
        store.record(id, epoch, &recording_of(&[(path, path.as_bytes())])).unwrap();
    }
    store.seal(id, epoch).unwrap();
    let lease = store.acquire(Resource::Plan(plan.id), &lease_request("me", LONG)).unwrap();
    store.release(&store.renew(&lease, LONG).unwrap()).unwrap();
    put_blob(&store, &mut &vec![7; 3 << 20][..]).unwrap();
    let version = store.step_plan(&step(&plan, "ready")).unwrap();
    let (request, actor) = (RequestId::new(), actor("ana"));
    store.remove_plan(&PlanRemoval { plan: plan.id, request, version, size: None, actor }).unwrap();
    let collected =
        store.collect_garbage(&GcOptions { grace: Duration::ZERO, mode: GcMode::Remove }).unwrap();
    assert!(collected.blobs > 0, "{collected:?}");
    assert_eq!(store.check().unwrap(), []);
    assert_eq!(store::verify(&store, &[]).unwrap().findings, []);

    for sql in [
        "UPDATE agents.audit SET who = 'x'",
        "DELETE FROM agents.audit",
        "DELETE FROM agents.audit_heads",
        "UPDATE agents.versions SET version = 1",
        "TRUNCATE agents.entries",
        "DROP TABLE agents.plans",
        "ALTER TABLE agents.entries DISABLE TRIGGER ALL",
        "CREATE TABLE agents.mine (x int)",
        "CREATE SCHEMA mine",
    ] {
        let refused = format!(
            "SET ROLE agents; DO $$ BEGIN {sql}; RAISE 'allowed';
             EXCEPTION WHEN insufficient_privilege THEN NULL; END $$"
        );
        server.sql("agents", &refused);
    }
}

#[test]
fn every_example_verifies_the_server() {
    let examples: Vec<&str> =
        PAGE.lines().filter(|line| line.starts_with("$ ") && line.contains("postgres://")).collect();
    assert!(examples.len() >= 4, "{examples:?}");
    for example in examples {
        assert!(example.contains("?sslmode=verify-full'"), "{example}");
    }
}
