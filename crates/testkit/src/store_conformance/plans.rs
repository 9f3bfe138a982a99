//! Plans and nodes.

use std::sync::Arc;

use serde_json::{Value, json};
use store::{
    Name, NewNode, NewPlan, NodeId, NodeStep, OpenChangesets, PlanId, PlanQuery, PlanRemoval, PlanSelector,
    PlanSize, RequestId, Store, Version,
};

use super::Case;
use super::fixtures::*;

pub(super) const CASES: &[Case] = &[
    ("a plan reads back as created", reads_back),
    ("a repeated creation has no further effect", repeated_creation),
    ("a name belongs to one plan", one_name),
    ("a plan is found by id, name, prefix of its id, and as the latest", found),
    ("plans are listed newest first, by page and state", listed),
    ("a step needs the present state and version", compare_and_set),
    ("a repeated step has no further effect", repeated_step),
    ("a step may refuse or abandon open changesets", open_changesets),
    ("a plan is removed by version, and its audit chain remains", removed),
    ("a plan of another size is not removed", removed_by_size),
    ("nodes are created together and step separately", nodes),
    ("calls beyond a limit are refused", limits),
];

fn named(name: &str) -> NewPlan {
    NewPlan { name: Some(Name::parse(name).expect("a plain name")), ..new_plan() }
}

fn reads_back(store: &Arc<dyn Store>) {
    let new = NewPlan { undo_of: Some(PlanId::new()), ..named("fix login") };
    let plan = store.create_plan(&new).unwrap();
    assert_eq!(store.plan(new.id).unwrap(), plan);
    assert_eq!((plan.id, &plan.name, &plan.state), (new.id, &new.name, &new.state));
    assert_eq!((plan.undo_of, &plan.roots, &plan.detail), (new.undo_of, &new.roots, &new.detail));
    assert_eq!((plan.version, &plan.created_by, &plan.changed_by), (Version(1), &new.actor, &new.actor));
    assert_eq!(plan.created_at, plan.changed_at);
    let json = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<store::Plan>(&json).unwrap(), plan);
    refused(store.plan(PlanId::new()), "not-found");
}

fn repeated_creation(store: &Arc<dyn Store>) {
    let new = named("once");
    let plan = store.create_plan(&new).unwrap();
    assert_eq!(store.create_plan(&new).unwrap(), plan);
    store.step_plan(&step(&plan, "ready")).unwrap();
    assert_eq!(store.create_plan(&new).unwrap().state, state("ready"));
    assert_eq!(kinds(&**store, new.id), ["plan.created", "plan.step"]);
    refused(store.create_plan(&NewPlan { name: None, ..new }), "id-reused");
}

fn one_name(store: &Arc<dyn Store>) {
    store.create_plan(&named("one")).unwrap();
    refused(store.create_plan(&named("one")), "name-taken");
    assert_eq!(store.plans(&PlanQuery::default()).unwrap().len(), 1);
    // Plans without a name do not conflict.
    make_plan(&**store);
    make_plan(&**store);
}

fn found(store: &Arc<dyn Store>) {
    let find = |text: &str| store.find_plan(&PlanSelector::from(text));
    refused(find("@latest"), "not-found");
    let first = store.create_plan(&named("first")).unwrap();
    let second = make_plan(&**store);
    let undo = store.create_plan(&NewPlan { undo_of: Some(first.id), ..new_plan() }).unwrap();
    assert_eq!(find("@latest").unwrap().id, second.id);
    assert_eq!(find("first").unwrap().id, first.id);
    for id in [undo.id.to_string(), undo.id.to_string().to_lowercase()] {
        assert_eq!(find(&id).unwrap().id, undo.id);
    }
    // Made at almost the same time, the ids share a prefix.
    let error = refused(find(&first.id.to_string()[..4]), "ambiguous");
    assert!(
        matches!(error, store::Error::Ambiguous { candidates, .. } if candidates.contains(&first.id.to_string()))
    );
    let ids = [first.id, second.id, undo.id].map(|id| id.to_string());
    let unique = (1..=26).find(|length| {
        let prefix = &ids[0][..*length];
        ids.iter().filter(|id| id.starts_with(prefix)).count() == 1
    });
    assert_eq!(find(&ids[0][..unique.unwrap()]).unwrap().id, first.id);
    refused(find("7ZZZ"), "not-found");
    refused(find("no such name"), "not-found");
    refused(find(&PlanId::new().to_string()), "not-found");
}

fn listed(store: &Arc<dyn Store>) {
    let plans: Vec<_> = (0..5).map(|_| make_plan(&**store)).collect();
    store.step_plan(&step(&plans[1], "ready")).unwrap();
    let ids = |query: &PlanQuery| -> Vec<PlanId> {
        store.plans(query).unwrap().into_iter().map(|plan| plan.id).collect()
    };
    let newest_first: Vec<PlanId> = plans.iter().rev().map(|plan| plan.id).collect();
    assert_eq!(ids(&PlanQuery::default()), newest_first);
    let page = PlanQuery { after: Some(newest_first[1]), limit: Some(2), ..PlanQuery::default() };
    assert_eq!(ids(&page), newest_first[2..4]);
    let ready = PlanQuery { states: vec![state("ready"), state("failed")], ..PlanQuery::default() };
    assert_eq!(ids(&ready), [plans[1].id]);
    let all = store.plans(&PlanQuery::default()).unwrap();
    for seen in &all {
        let since = PlanQuery { changed_since: Some(seen.changed_at), ..PlanQuery::default() };
        let later = all.iter().filter(|plan| plan.changed_at >= seen.changed_at).map(|plan| plan.id);
        assert_eq!(ids(&since), later.collect::<Vec<_>>());
        // The second plan was changed last, though it was not created last.
        assert!(ids(&since).contains(&plans[1].id));
        assert_eq!(ids(&PlanQuery { states: vec![state("failed")], ..since }), []);
    }
    refused(store.plans(&PlanQuery { after: Some(PlanId::new()), ..PlanQuery::default() }), "not-found");
}

fn compare_and_set(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store);
    let mut change = step(&plan, "ready");
    change.detail = Some(json!({"n": 2}));
    assert_eq!(store.step_plan(&change).unwrap(), Version(2));
    let after = store.plan(plan.id).unwrap();
    assert_eq!((after.state.as_str(), &after.detail, after.version), ("ready", &json!({"n": 2}), Version(2)));
    assert_eq!((after.changed_by.as_str(), after.created_by.as_str()), ("ben", "ana"));

    let error = refused(store.step_plan(&step(&plan, "cancelled")), "conflict");
    assert!(error.to_string().contains("ready (version 2): ben"), "{error}");
    let mut wrong_state = step(&after, "applying");
    wrong_state.from = state("running");
    refused(store.step_plan(&wrong_state), "conflict");
    assert_eq!(store.plan(plan.id).unwrap(), after);
    assert_eq!(kinds(&**store, plan.id), ["plan.created", "plan.step"]);
    let mut nowhere = step(&plan, "ready");
    nowhere.plan = PlanId::new();
    refused(store.step_plan(&nowhere), "not-found");
}

fn repeated_step(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store);
    let change = step(&plan, "ready");
    assert_eq!(store.step_plan(&change).unwrap(), Version(2));
    assert_eq!(store.step_plan(&change).unwrap(), Version(2));
    let ready = store.plan(plan.id).unwrap();
    store.step_plan(&step(&ready, "applying")).unwrap();
    // Also when the plan has advanced since.
    assert_eq!(store.step_plan(&change).unwrap(), Version(2));
    assert_eq!(version(&**store, plan.id), Version(3));
    refused(store.step_plan(&store::PlanStep { to: state("failed"), ..change.clone() }), "id-reused");
    let other = make_plan(&**store);
    refused(
        store.step_plan(&store::PlanStep { request: change.request, ..step(&other, "ready") }),
        "id-reused",
    );
}

fn open_changesets(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store);
    let (first, epoch) = start(&**store, plan.id, "one");
    let (second, _) = start(&**store, plan.id, "two");
    store.record(first, epoch, &recording(&["a"])).unwrap();
    store
        .seal(
            second,
            store.acquire(store::Resource::Changeset(second), &lease_request("two", LONG)).unwrap().epoch,
        )
        .unwrap();

    let refuse = store::PlanStep { open: OpenChangesets::Refuse, ..step(&plan, "ready") };
    let error = refused(store.step_plan(&refuse), "changesets-open");
    assert!(error.to_string().contains(&first.to_string()), "{error}");
    assert_eq!(store.plan(plan.id).unwrap(), plan);

    let abandon = store::PlanStep { open: OpenChangesets::Abandon, ..step(&plan, "cancelled") };
    store.step_plan(&abandon).unwrap();
    let (first, second) = (store.changeset(first).unwrap(), store.changeset(second).unwrap());
    assert_eq!((first.status, first.entries), (store::Status::Abandoned, 1));
    assert_eq!(first.reason.as_deref(), Some("the plan became cancelled"));
    assert_eq!(second.status, store::Status::Sealed);
    refused(store.record(first.id, epoch, &recording(&["b"])), "changeset-closed");
    let cancelled = store.plan(plan.id).unwrap();
    store.step_plan(&store::PlanStep { open: OpenChangesets::Refuse, ..step(&cancelled, "failed") }).unwrap();
}

fn removed(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store);
    let node = NewNode {
        id: NodeId::new(),
        name: Name::parse("n").unwrap(),
        state: state("queued"),
        detail: Value::Null,
    };
    store.create_nodes(plan.id, std::slice::from_ref(&node), &actor("ana")).unwrap();
    let new = store::NewChangeset { node: Some(node.id), ..new_changeset(plan.id, "coder") };
    let epoch = store.start_changeset(&new).unwrap().epoch;
    store.record(new.id, epoch, &recording(&["a", "b"])).unwrap();
    let asked = removal(&plan);
    refused(store.remove_plan(&PlanRemoval { version: Version(7), ..asked.clone() }), "conflict");
    store.remove_plan(&asked).unwrap();
    store.remove_plan(&asked).unwrap();
    refused(store.remove_plan(&PlanRemoval { plan: PlanId::new(), ..asked }), "id-reused");
    refused(store.remove_plan(&removal(&plan)), "not-found");
    refused(store.plan(plan.id), "not-found");
    refused(store.node(node.id), "not-found");
    refused(store.changeset(new.id), "not-found");
    refused(store.record(new.id, epoch, &recording(&["c"])), "not-found");
    assert_eq!(
        kinds(&**store, plan.id),
        ["plan.created", "nodes.created", "changeset.started", "plan.removed"]
    );
    assert_eq!(store::verify(&**store, &[]).unwrap().findings, []);
}

fn removed_by_size(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store);
    let seen =
        |changesets, entries| PlanRemoval { size: Some(PlanSize { changesets, entries }), ..removal(&plan) };
    // Neither starting a changeset nor recording changes the version of the plan.
    let (id, epoch) = start(&**store, plan.id, "coder");
    refused(store.remove_plan(&seen(0, 0)), "plan-changed");
    store.record(id, epoch, &recording(&["a", "b"])).unwrap();
    refused(store.remove_plan(&seen(1, 0)), "plan-changed");
    refused(store.remove_plan(&seen(1, 1)), "plan-changed");
    assert_eq!(store.plan(plan.id).unwrap(), plan);
    assert_eq!(all_entries(&**store, id).len(), 2);
    let asked = seen(1, 2);
    store.remove_plan(&asked).unwrap();
    store.remove_plan(&asked).unwrap();
    refused(store.plan(plan.id), "not-found");
}

fn nodes(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store);
    let who = actor("ana");
    let new = |name: &str| NewNode {
        id: NodeId::new(),
        name: Name::parse(name).unwrap(),
        state: state("queued"),
        detail: json!({"needs": []}),
    };
    let both = [new("one"), new("two")];
    store.create_nodes(plan.id, &both, &who).unwrap();
    store.create_nodes(plan.id, &both, &who).unwrap();
    refused(store.create_nodes(plan.id, &[new("three"), new("one")], &who), "name-taken");
    refused(store.create_nodes(PlanId::new(), &[new("one")], &who), "not-found");
    let other = make_plan(&**store);
    refused(store.create_nodes(other.id, &both, &who), "id-reused");
    let nodes = store.nodes(plan.id).unwrap();
    assert_eq!(nodes.iter().map(|node| node.name.as_str()).collect::<Vec<_>>(), ["one", "two"]);
    assert_eq!(store.node(both[1].id).unwrap(), nodes[1]);
    assert_eq!((nodes[0].plan, nodes[0].version, &nodes[0].detail), (plan.id, Version(1), &both[0].detail));
    refused(store.nodes(PlanId::new()), "not-found");

    let lease = store.acquire(store::Resource::Plan(plan.id), &lease_request("worker", LONG)).unwrap();
    let change = NodeStep {
        node: both[0].id,
        request: RequestId::new(),
        from: state("queued"),
        version: Version(1),
        to: state("running"),
        epoch: Some(lease.epoch),
        detail: Some(json!(3)),
        actor: actor("worker"),
        note: Value::Null,
    };
    assert_eq!(store.step_node(&change).unwrap(), Version(2));
    assert_eq!(store.step_node(&change).unwrap(), Version(2));
    refused(store.step_node(&NodeStep { to: state("failed"), ..change.clone() }), "id-reused");
    let again = NodeStep { request: RequestId::new(), ..change.clone() };
    refused(store.step_node(&again), "conflict");
    let stale = NodeStep { epoch: Some(store::Epoch(0)), ..again.clone() };
    refused(store.step_node(&stale), "lease-stale");
    refused(store.step_node(&NodeStep { node: NodeId::new(), ..again }), "not-found");
    let node = store.node(both[0].id).unwrap();
    assert_eq!(
        (node.state.as_str(), &node.detail, node.changed_by.as_str()),
        ("running", &json!(3), "worker")
    );
    assert_eq!(kinds(&**store, plan.id), ["plan.created", "nodes.created", "node.step"]);
}

fn limits(store: &Arc<dyn Store>) {
    use store::limits::{DETAIL_BYTES_MAX, NODES_MAX, ROOTS_MAX};
    refused(
        store.create_plan(&NewPlan { roots: vec![path("/r"); ROOTS_MAX + 1], ..new_plan() }),
        "limit-exceeded",
    );
    let long = Value::String("x".repeat(DETAIL_BYTES_MAX));
    refused(store.create_plan(&NewPlan { detail: long.clone(), ..new_plan() }), "limit-exceeded");
    let plan = make_plan(&**store);
    let mut change = step(&plan, "ready");
    change.note = long;
    refused(store.step_plan(&change), "limit-exceeded");
    assert_eq!(store.plan(plan.id).unwrap(), plan);
    let node = NewNode {
        id: NodeId::new(),
        name: Name::parse("n").unwrap(),
        state: state("queued"),
        detail: Value::Null,
    };
    refused(store.create_nodes(plan.id, &vec![node; NODES_MAX + 1], &actor("ana")), "limit-exceeded");
}
