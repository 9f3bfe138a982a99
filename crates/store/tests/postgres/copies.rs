//! A store is copied to the other engine and back, whole or not at all.

use store::limits::CHUNK_BYTES;
use store::{
    Counts, Epoch, NewNode, NodeId, Resource, SqliteStore, Store, Transfer, copy, put_blob, read_blob,
};
use testkit::folder::scratch;
use testkit::store_conformance::fixtures::*;

use super::{open, server_or_skip};

/// Something in every table: also a plan that was removed, leases, a reason with any character, a long content.
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
    let wish = recording_of(&[("a", b"one"), ("b", b"two")]);
    store.record(id, epoch, &wish).unwrap();
    for number in 0..600 {
        store.record(id, epoch, &recording(&[&number.to_string()])).unwrap();
    }
    let resource = Resource::Plan(plan.id);
    let lease = store.acquire(resource, &holding("one", LONG)).unwrap();
    store.release(&lease).unwrap();
    let long = put_blob(store, &mut b"long ".repeat(CHUNK_BYTES / 2).as_slice()).unwrap().hash;
    let gone = make_plan(store);
    store.remove_plan(gone.id, gone.version, store::RequestId::new(), &actor("ana")).unwrap();
    (id, epoch, long, wish)
}

#[test]
fn a_store_is_copied_to_the_other_engine_and_back() {
    let Some(server) = server_or_skip("postgres-copies") else { return };
    let folder = scratch();
    let source = SqliteStore::open(&folder.path().join("source.db")).unwrap();
    let (id, epoch, long, wish) = fill(&source);
    let middle = open(server, &server.database());
    let counts = copy(&source, &middle).unwrap();
    assert_eq!(counts, Counts { plans: 1, nodes: 1, changesets: 2, entries: 602, contents: 3, records: 7 });
    let back = SqliteStore::open(&folder.path().join("back.db")).unwrap();
    assert_eq!(copy(&middle, &back).unwrap(), counts);
    // Done again, it changes nothing.
    assert_eq!(copy(&source, &middle).unwrap(), counts);
    assert_eq!(copy(&middle, &back).unwrap(), counts);
    for store in [&middle as &dyn Transfer, &back] {
        for plan in source.plans(&store::PlanQuery::default()).unwrap() {
            assert_eq!(store.plan(plan.id).unwrap(), plan);
            assert_eq!(store.nodes(plan.id).unwrap(), source.nodes(plan.id).unwrap());
            assert_eq!(store.changesets(plan.id).unwrap(), source.changesets(plan.id).unwrap());
            assert_eq!(store.leases(plan.id).unwrap(), source.leases(plan.id).unwrap());
            // Epochs stay, so that whoever held a lease before is refused here, too.
            let lease = store.acquire(Resource::Plan(plan.id), &holding("two", LONG)).unwrap();
            assert_eq!(lease.epoch, Epoch(3));
        }
        assert_eq!(all_entries(store, id), all_entries(&source, id));
        assert_eq!(read_blob(store, long, 1 << 24).unwrap(), read_blob(&source, long, 1 << 24).unwrap());
        // Requests stay, too: asked again, it is the first answer. And it goes on where it was.
        assert_eq!(store.record(id, epoch, &wish).unwrap().first, 1);
        assert_eq!(store.record(id, epoch, &recording(&["more"])).unwrap().first, 603);
        store.seal(id, epoch).unwrap();
        assert_eq!(store::verify(store, &[]).unwrap().findings, []);
        assert_eq!(store.check().unwrap(), []);
    }
    assert_eq!((middle.schema_version().unwrap(), back.schema_version().unwrap()), (2, 1));
}

#[test]
fn a_copy_that_was_cut_off_goes_on() {
    let Some(server) = server_or_skip("postgres-copies-again") else { return };
    let folder = scratch();
    let source = SqliteStore::open(&folder.path().join("source.db")).unwrap();
    let (id, ..) = fill(&source);
    let (middle, back) =
        (open(server, &server.database()), SqliteStore::open(&folder.path().join("back.db")).unwrap());
    for to in [&middle as &dyn Transfer, &back] {
        // As far as the first page of entries.
        for table in &store::TABLES[..4] {
            to.put_rows(table, &source.rows(table, None).unwrap()).unwrap();
        }
        assert_eq!(copy(&source, to).unwrap().entries, 602);
        assert_eq!(all_entries(to, id), all_entries(&source, id));
    }
    // Somebody worked in the copy: it is a store of its own.
    make_plan(&middle);
    assert_eq!(copy(&source, &middle).unwrap_err().code(), "not-a-copy");
    // Something came into it that nobody can see in the chains.
    put_blob(&back, &mut &b"stray"[..]).unwrap();
    assert_eq!(copy(&source, &back).unwrap_err().code(), "not-a-copy");
}
