//! Leases.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use store::{
    ChangesetId, Epoch, Lease, Name, NewChangeset, NewNode, NodeId, NodeStep, RequestId, Resource, Store,
    Version,
};

use super::Case;
use super::fixtures::*;

pub(super) const CASES: &[Case] = &[
    ("a lease has one holder", one_holder),
    ("an expired lease is taken over, and its previous holder is refused", taken_over),
    ("an expired lease that was not taken stays valid", expired_not_taken),
    ("a released lease is free, and its previous holder is refused", released),
    ("a lease on a plan guards its steps", guards_steps),
    ("a lease on a plan guards its nodes and their changesets", guards_nodes),
    ("held leases are listed", listed),
    ("of concurrent requests for a lease, one succeeds", one_winner),
];

fn one_holder(store: &Arc<dyn Store>) {
    let resource = Resource::Plan(make_plan(&**store).id);
    let lease = store.acquire(resource, &lease_request("one", LONG)).unwrap();
    assert_eq!((lease.resource, lease.owner.as_str(), lease.epoch), (resource, "one", Epoch(1)));
    let error = refused(store.acquire(resource, &lease_request("two", LONG)), "lease-held");
    assert!(error.to_string().contains("is held by one until 2"), "{error}");
    // A repeated call of the holder returns the same lease.
    assert_eq!(store.acquire(resource, &lease_request("one", LONG)).unwrap().epoch, Epoch(1));
    refused(store.acquire(Resource::Changeset(ChangesetId::new()), &lease_request("one", LONG)), "not-found");
    refused(store.acquire(Resource::Node(NodeId::new()), &lease_request("one", LONG)), "not-found");
    refused(store.acquire(Resource::Plan(store::PlanId::new()), &lease_request("one", LONG)), "not-found");
}

fn taken_over(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store);
    let mut new = new_changeset(plan.id, "old");
    new.lease.duration = Duration::ZERO;
    let old = store.start_changeset(&new).unwrap();
    store.record(new.id, old.epoch, &recording(&["a"])).unwrap();

    let fresh = store.acquire(old.resource, &lease_request("fresh", LONG)).unwrap();
    assert_eq!(fresh.epoch, Epoch(2));
    let error = refused(store.record(new.id, old.epoch, &recording(&["late"])), "lease-stale");
    assert!(error.to_string().ends_with("epoch 1 is stale, it is now 2, held by fresh"), "{error}");
    refused(store.seal(new.id, old.epoch), "lease-stale");
    refused(store.abandon(new.id, old.epoch, "late"), "lease-stale");
    refused(store.renew(&old, LONG), "lease-stale");
    refused(store.release(&old), "lease-stale");
    refused(store.acquire(old.resource, &lease_request("old", LONG)), "lease-held");
    assert_eq!(store.record(new.id, fresh.epoch, &recording(&["b"])).unwrap().first, 2);
    store.seal(new.id, fresh.epoch).unwrap();
    // Sealed by another holder, so this is not a repeated call.
    refused(store.seal(new.id, old.epoch), "changeset-closed");
    assert_eq!(
        kinds(&**store, plan.id),
        ["plan.created", "changeset.started", "lease.taken-over", "changeset.sealed"]
    );
}

fn expired_not_taken(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store);
    let mut new = new_changeset(plan.id, "slow");
    new.lease.duration = Duration::ZERO;
    let lease = store.start_changeset(&new).unwrap();
    store.record(new.id, lease.epoch, &recording(&["a"])).unwrap();
    let renewed = store.renew(&lease, LONG).unwrap();
    assert_eq!(renewed.epoch, lease.epoch);
    assert!(renewed.expires_at > lease.expires_at);
    refused(store.acquire(lease.resource, &lease_request("other", LONG)), "lease-held");
    refused(store.renew(&lease, 2 * store::limits::LEASE_MAX), "limit-exceeded");
    assert_eq!(
        store.acquire(lease.resource, &lease_request("slow", Duration::ZERO)).unwrap().epoch,
        lease.epoch
    );
}

fn released(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store);
    let new = new_changeset(plan.id, "one");
    let lease = store.start_changeset(&new).unwrap();
    store.release(&lease).unwrap();
    store.release(&lease).unwrap();
    refused(store.record(new.id, lease.epoch, &recording(&["a"])), "lease-stale");
    let next = store.acquire(lease.resource, &lease_request("two", LONG)).unwrap();
    assert!(next.epoch > lease.epoch);
    refused(store.release(&lease), "lease-stale");
    refused(store.renew(&lease, LONG), "lease-stale");
    store.record(new.id, next.epoch, &recording(&["a"])).unwrap();
    // Nothing was taken over.
    assert_eq!(kinds(&**store, plan.id), ["plan.created", "changeset.started"]);
}

fn guards_steps(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store);
    let resource = Resource::Plan(plan.id);
    let old = store.acquire(resource, &lease_request("old", Duration::ZERO)).unwrap();
    let fresh = store.acquire(resource, &lease_request("fresh", LONG)).unwrap();
    let with = |lease: &Lease| store::PlanStep { epoch: Some(lease.epoch), ..step(&plan, "ready") };
    refused(store.step_plan(&with(&old)), "lease-stale");
    assert_eq!(store.plan(plan.id).unwrap(), plan);
    store.step_plan(&with(&fresh)).unwrap();
    refused(store.step_plan(&with(&fresh)), "conflict");
}

/// Nodes are guarded by the lease on their plan, and so are their changesets.
fn guards_nodes(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store);
    let resource = Resource::Plan(plan.id);
    let (node, name) = (NodeId::new(), Name::parse("n").unwrap());
    let new = NewNode { id: node, name, state: state("queued"), detail: Value::Null };
    store.create_nodes(plan.id, &[new], &actor("old")).unwrap();
    let old = store.acquire(resource, &lease_request("old", LONG)).unwrap();
    let changeset = |lease: &Lease| NewChangeset {
        node: Some(node),
        plan_epoch: Some(lease.epoch),
        ..new_changeset(plan.id, "old")
    };
    let new = changeset(&old);
    let of_old = store.start_changeset(&new).unwrap();
    // A changeset without a node is not part of the run.
    let (own, own_epoch) = start(&**store, plan.id, "person");
    let old = store.renew(&old, Duration::ZERO).unwrap();
    let fresh = store.acquire(resource, &lease_request("fresh", LONG)).unwrap();

    let with = |lease: &Lease| NodeStep {
        node,
        request: RequestId::new(),
        from: state("queued"),
        version: Version(1),
        to: state("running"),
        epoch: Some(lease.epoch),
        detail: None,
        actor: actor("old"),
        note: Value::Null,
    };
    refused(store.step_node(&with(&old)), "lease-stale");
    assert_eq!(store.node(node).unwrap().version, Version(1));
    refused(store.start_changeset(&changeset(&old)), "lease-stale");
    refused(store.record(new.id, of_old.epoch, &recording(&["a"])), "lease-stale");
    refused(store.seal(new.id, of_old.epoch), "lease-stale");
    refused(store.abandon(new.id, of_old.epoch, "late"), "lease-stale");
    refused(store.renew(&of_old, LONG), "lease-stale");
    assert_eq!(store.changesets(plan.id).unwrap().len(), 2);
    store.record(own, own_epoch, &recording(&["a"])).unwrap();

    assert_eq!(store.step_node(&with(&fresh)).unwrap(), Version(2));
    refused(store.step_node(&with(&fresh)), "conflict");
    let taken = store.acquire(Resource::Changeset(new.id), &lease_request("fresh", LONG)).unwrap();
    assert_eq!(store.seal(new.id, taken.epoch).unwrap().entries, 0);
    let again = store.acquire(resource, &lease_request("fresh", LONG)).unwrap();
    let kept = store.start_changeset(&changeset(&again)).unwrap();
    store.acquire(resource, &lease_request("fresh", LONG)).unwrap();
    store.renew(&kept, LONG).unwrap();
}

fn listed(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store);
    assert_eq!(store.leases(plan.id).unwrap(), []);
    let of_plan = store.acquire(Resource::Plan(plan.id), &lease_request("one", LONG)).unwrap();
    let new = new_changeset(plan.id, "two");
    let of_changeset = store.start_changeset(&new).unwrap();
    let (sealed, epoch) = start(&**store, plan.id, "three");
    store.seal(sealed, epoch).unwrap();
    let other = make_plan(&**store);
    store.acquire(Resource::Plan(other.id), &lease_request("one", LONG)).unwrap();
    let leases = store.leases(plan.id).unwrap();
    assert_eq!(leases, [of_plan, of_changeset]);
    let json = serde_json::to_string(&leases).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Lease>>(&json).unwrap(), leases);
}

fn one_winner(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store);
    let resource = Resource::Plan(plan.id);
    store.acquire(resource, &lease_request("dead", Duration::ZERO)).unwrap();
    let winners: usize = std::thread::scope(|scope| {
        let take =
            |number: usize| store.acquire(resource, &lease_request(&format!("owner {number}"), LONG)).is_ok();
        let threads: Vec<_> = (0..8).map(|number| scope.spawn(move || take(number))).collect();
        threads.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum()
    });
    assert_eq!(winners, 1);
    assert_eq!(kinds(&**store, plan.id), ["plan.created", "lease.taken-over"]);
}
