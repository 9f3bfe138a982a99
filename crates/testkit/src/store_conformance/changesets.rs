//! Changesets and entries.

use std::sync::Arc;
use std::time::Duration;

use store::{
    ChangesetId, Content, ContentKind, Epoch, GcMode, GcOptions, Name, NewChangeset, NewEntry, NewNode,
    NodeId, Operation, PathBytes, PlanId, Recorded, Recording, RequestId, Resource, Status, Store, Tool,
};

use super::Case;
use super::fixtures::*;

pub(super) const CASES: &[Case] = &[
    ("a started changeset is durable with its plan", started),
    ("a changeset is found by a prefix of its id", found_by_prefix),
    ("a repeated start has no further effect", repeated_start),
    ("a changeset starts only in an allowed state of the plan", guarded_by_state),
    ("entries read back in order, with the changeset's actor", reads_back),
    ("sequence numbers have no gaps, whatever is refused", dense),
    ("a repeated recording has no further effect", repeated_recording),
    ("a closed changeset takes no more entries", closed),
    ("an entry never refers to a missing blob", blobs_exist),
    ("a recording is atomic", all_or_none),
    ("entries are listed by page", pages),
    ("the last entry of a path is found by each of its paths", last_of_paths),
    ("calls beyond a limit are refused", limits),
    ("concurrent changesets are listed in the order of the audit trail", listed_in_audit_order),
];

fn started(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store);
    let new = new_changeset(plan.id, "coder");
    let lease = store.start_changeset(&new).unwrap();
    assert_eq!((lease.resource, lease.epoch), (Resource::Changeset(new.id), Epoch(1)));
    assert_eq!(lease.owner, new.lease.owner);
    let changeset = store.changeset(new.id).unwrap();
    assert_eq!((changeset.plan, changeset.status, changeset.entries), (plan.id, Status::Open, 0));
    assert_eq!((changeset.ended_at, changeset.reason.as_deref(), changeset.node), (None, None, None));
    let second = start(&**store, plan.id, "tester").0;
    let ids: Vec<_> = store.changesets(plan.id).unwrap().into_iter().map(|changeset| changeset.id).collect();
    assert_eq!(ids, [new.id, second]);
    assert_eq!(kinds(&**store, plan.id), ["plan.created", "changeset.started", "changeset.started"]);
    refused(store.start_changeset(&new_changeset(PlanId::new(), "coder")), "not-found");
    refused(store.changeset(ChangesetId::new()), "not-found");
    refused(store.changesets(PlanId::new()), "not-found");
}

fn found_by_prefix(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store);
    let (first, second) = (start(&**store, plan.id, "coder").0, start(&**store, plan.id, "tester").0);
    let ids = [first, second].map(|id| id.to_string());
    for id in [ids[0].clone(), ids[0].to_lowercase()] {
        assert_eq!(store.find_changeset(&id).unwrap().id, first);
    }
    // Made at almost the same time, the ids share a prefix.
    let error = refused(store.find_changeset(&ids[0][..4]), "ambiguous");
    assert!(error.to_string().ends_with("matches several changesets"), "{error}");
    let store::Error::Ambiguous { candidates, .. } = error else { panic!("{error}") };
    assert!(ids.iter().all(|id| candidates.contains(id)));
    let unique = (1..=26).find(|length| !ids[1].starts_with(&ids[0][..*length])).unwrap();
    assert_eq!(store.find_changeset(&ids[0][..unique]).unwrap().id, first);
    for text in ["7ZZZ", "", "no such id", &ChangesetId::new().to_string()] {
        refused(store.find_changeset(text), "not-found");
    }
}

fn repeated_start(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store);
    let new = new_changeset(plan.id, "coder");
    let lease = store.start_changeset(&new).unwrap();
    assert_eq!(store.start_changeset(&new).unwrap().epoch, lease.epoch);
    assert_eq!(store.changesets(plan.id).unwrap().len(), 1);
    refused(store.start_changeset(&NewChangeset { actor: actor("other"), ..new.clone() }), "id-reused");
    refused(store.start_changeset(&NewChangeset { lease: lease_request("x", LONG), ..new }), "lease-held");
}

fn guarded_by_state(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store);
    let new = NewChangeset {
        plan_states: vec![state("queued"), state("running")],
        ..new_changeset(plan.id, "coder")
    };
    store.start_changeset(&new).unwrap();
    store.step_plan(&step(&plan, "ready")).unwrap();
    let error =
        refused(store.start_changeset(&NewChangeset { id: ChangesetId::new(), ..new }), "wrong-state");
    assert!(error.to_string().contains("is ready"), "{error}");

    let other = make_plan(&**store);
    let node = NewNode {
        id: NodeId::new(),
        name: Name::parse("n").unwrap(),
        state: state("queued"),
        detail: serde_json::Value::Null,
    };
    store.create_nodes(other.id, std::slice::from_ref(&node), &actor("ana")).unwrap();
    let foreign = NewChangeset { node: Some(node.id), ..new_changeset(plan.id, "coder") };
    refused(store.start_changeset(&foreign), "not-found");
}

fn reads_back(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store);
    let (id, epoch) = start(&**store, plan.id, "coder");
    let (old, new) = (packed(b"old\n"), packed(b"new\n"));
    let file = |operation, before, after| NewEntry { operation, before, after, ..deletion("src/a") };
    let link = Content { kind: ContentKind::Symlink, mode: 0o777, ..content(&old) };
    let entries = vec![
        file(Operation::Create, None, Some(content(&new))),
        file(Operation::Modify, Some(content(&old)), Some(content(&new))),
        file(Operation::Delete, Some(content(&old)), None),
        file(Operation::Rename { to: path("src/b") }, Some(content(&old)), Some(content(&new))),
        file(Operation::Mode, Some(content(&old)), Some(Content { mode: 0o755, ..content(&old) })),
        file(Operation::Create, None, Some(link)),
        NewEntry {
            path: PathBytes::parse(vec![b'x', 0xff, b'\n']).unwrap(),
            tool: Some(Tool::parse("editor").unwrap()),
            ..deletion("x")
        },
    ];
    let recording = Recording { request: RequestId::new(), entries: entries.clone(), blobs: vec![old, new] };
    assert_eq!(store.record(id, epoch, &recording).unwrap(), Recorded { first: 1, count: 7 });
    let recorded = all_entries(&**store, id);
    assert_eq!(recorded.len(), 7);
    for (sequence, (entry, new)) in (1..).zip(recorded.iter().zip(&entries)) {
        assert!(entry.matches(new), "{entry:?}");
        assert_eq!((entry.sequence, entry.actor.as_str(), entry.changeset), (sequence, "coder", id));
    }
    let json = serde_json::to_string(&recorded).unwrap();
    assert_eq!(serde_json::from_str::<Vec<store::ChangeEntry>>(&json).unwrap(), recorded);
    assert_eq!(store.changeset(id).unwrap().entries, 7);
}

fn dense(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store);
    let (one, first) = start(&**store, plan.id, "one");
    let (two, second) = start(&**store, plan.id, "two");
    store.record(one, first, &recording(&["a", "b"])).unwrap();
    refused(store.record(one, Epoch(9), &recording(&["no"])), "lease-stale");
    let missing = NewEntry { after: Some(content(&packed(b"nowhere"))), ..deletion("no") };
    let recording_missing = Recording { entries: vec![deletion("no"), missing], ..recording(&[]) };
    refused(store.record(one, first, &recording_missing), "blob-missing");
    assert_eq!(store.record(two, second, &recording(&["c"])).unwrap().first, 1);
    assert_eq!(store.record(one, first, &recording(&["d"])).unwrap().first, 3);
    assert_eq!(store.record(one, first, &recording(&[])).unwrap(), Recorded { first: 4, count: 0 });
    let paths: Vec<_> =
        all_entries(&**store, one).iter().map(|entry| entry.path.show().into_owned()).collect();
    assert_eq!(paths, ["a", "b", "d"]);
}

fn repeated_recording(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store);
    let (id, epoch) = start(&**store, plan.id, "coder");
    let once = recording_of(&[("a", b"1"), ("b", b"2")]);
    let recorded = store.record(id, epoch, &once).unwrap();
    store.record(id, epoch, &recording(&["c"])).unwrap();
    assert_eq!(store.record(id, epoch, &once).unwrap(), recorded);
    assert_eq!(store.changeset(id).unwrap().entries, 3);
    let other = Recording { request: once.request, ..recording(&["x", "y"]) };
    refused(store.record(id, epoch, &other), "id-reused");
    let fewer = Recording { request: once.request, entries: once.entries[..1].to_vec(), blobs: Vec::new() };
    refused(store.record(id, epoch, &fewer), "id-reused");
    // A repeated call gets the first answer, even if the changeset is closed.
    store.seal(id, epoch).unwrap();
    assert_eq!(store.record(id, epoch, &once).unwrap(), recorded);
}

fn closed(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store);
    let (id, epoch) = start(&**store, plan.id, "coder");
    store.record(id, epoch, &recording(&["a"])).unwrap();
    refused(store.seal(id, Epoch(7)), "lease-stale");
    let sealed = store.seal(id, epoch).unwrap();
    assert_eq!((sealed.status, sealed.entries), (Status::Sealed, 1));
    assert!(sealed.ended_at.is_some());
    assert_eq!(store.seal(id, epoch).unwrap(), sealed);
    let error = refused(store.record(id, epoch, &recording(&["late"])), "changeset-closed");
    assert!(error.to_string().ends_with("is sealed"), "{error}");
    refused(store.abandon(id, epoch, "late"), "changeset-closed");
    refused(store.acquire(Resource::Changeset(id), &lease_request("other", LONG)), "changeset-closed");

    let (id, epoch) = start(&**store, plan.id, "slow");
    let abandoned = store.abandon(id, epoch, "timed out").unwrap();
    assert_eq!((abandoned.status, abandoned.reason.as_deref()), (Status::Abandoned, Some("timed out")));
    assert_eq!(store.abandon(id, epoch, "timed out").unwrap(), abandoned);
    refused(store.seal(id, epoch), "changeset-closed");
    refused(store.record(id, epoch, &recording(&["late"])), "changeset-closed");
    refused(store.seal(ChangesetId::new(), epoch), "not-found");
    assert_eq!(
        kinds(&**store, plan.id)[1..],
        ["changeset.started", "changeset.sealed", "changeset.started", "changeset.abandoned"]
    );
}

fn blobs_exist(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store);
    let (id, epoch) = start(&**store, plan.id, "coder");
    let blob = packed(b"content");
    let refers = |content: Content| Recording {
        entries: vec![NewEntry { before: Some(content), ..deletion("a") }],
        ..recording(&[])
    };
    let error = refused(store.record(id, epoch, &refers(content(&blob))), "blob-missing");
    assert!(error.to_string().contains(&blob.hash().to_string()));
    store.put_blob(&blob).unwrap();
    store.record(id, epoch, &refers(content(&blob))).unwrap();
    refused(store.record(id, epoch, &refers(Content { bytes: 1, ..content(&blob) })), "blob-missing");

    // Nor a blob that was there a moment ago.
    let gone = packed(b"brought, and dropped with its plan");
    let other = make_plan(&**store);
    let (brought, its_epoch) = start(&**store, other.id, "coder");
    store.record(brought, its_epoch, &recording_of(&[("a", b"brought, and dropped with its plan")])).unwrap();
    store.remove_plan(&removal(&other)).unwrap();
    let all = GcOptions { mode: GcMode::Remove, grace: Duration::ZERO };
    assert_eq!(store.collect_garbage(&all).unwrap().blobs, 1);
    refused(store.record(id, epoch, &refers(content(&gone))), "blob-missing");
}

fn all_or_none(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store);
    let (id, epoch) = start(&**store, plan.id, "coder");
    let mut half = recording_of(&[("a", b"kept nowhere")]);
    half.entries.push(NewEntry { after: Some(content(&packed(b"nowhere"))), ..deletion("b") });
    refused(store.record(id, epoch, &half), "blob-missing");
    assert_eq!(store.changeset(id).unwrap().entries, 0);
    assert_eq!(store.blob(half.blobs[0].hash()).unwrap(), None);
    assert_eq!(all_entries(&**store, id), []);
}

fn pages(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store);
    let (id, epoch) = start(&**store, plan.id, "coder");
    store.record(id, epoch, &recording(&["a", "b", "c", "d"])).unwrap();
    let sequences = |after, limit| -> Vec<u64> {
        store.entries(id, after, limit).unwrap().iter().map(|entry| entry.sequence).collect()
    };
    assert_eq!(sequences(0, 3), [1, 2, 3]);
    assert_eq!(sequences(3, 3), [4]);
    assert_eq!(sequences(4, 3), [0; 0]);
    refused(store.entries(ChangesetId::new(), 0, 1), "not-found");
}

fn last_of_paths(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store);
    let ((id, epoch), (other, other_epoch)) =
        (start(&**store, plan.id, "coder"), start(&**store, plan.id, "tester"));
    let odd =
        [path("a \"b\"\n\\ü/c"), PathBytes::parse([0xff, b'/', b'a']).unwrap(), path(&"x".repeat(4000))];
    let at = |root: &str, at: &PathBytes| NewEntry { root: path(root), path: at.clone(), ..deletion("a") };
    let rename = |from: &str, to: &PathBytes| NewEntry {
        operation: Operation::Rename { to: to.clone() },
        ..deletion(from)
    };
    let record = |id, epoch, entries| {
        let recording = Recording { request: RequestId::new(), entries, blobs: Vec::new() };
        store.record(id, epoch, &recording).unwrap();
    };
    let (a, b, c) = (path("a"), path("b"), path("c"));
    record(id, epoch, vec![deletion("a"), deletion("b"), at("/elsewhere", &a), deletion("a")]);
    record(
        id,
        epoch,
        vec![rename("a", &c), rename("c", &odd[0]), at("/project", &odd[1]), at("/project", &odd[2])],
    );
    record(other, other_epoch, vec![deletion("a"), deletion("d")]);
    let last = |changeset, paths: &[(&str, &PathBytes)]| -> Vec<Option<u64>> {
        let paths: Vec<_> = paths.iter().map(|(root, at)| (path(root), (*at).clone())).collect();
        let found = store.last_entries(changeset, &paths).unwrap();
        let all = all_entries(&**store, changeset);
        assert!(found.iter().flatten().all(|entry| *entry == all[entry.sequence as usize - 1]));
        found.into_iter().map(|entry| entry.map(|entry| entry.sequence)).collect()
    };
    let (here, d) = ("/project", path("d"));
    let asked =
        [(here, &a), (here, &b), (here, &c), ("/elsewhere", &a), ("/elsewhere", &b), (here, &d), (here, &a)];
    assert_eq!(last(id, &asked), [Some(5), Some(2), Some(6), Some(3), None, None, Some(5)]);
    assert_eq!(last(id, &odd.each_ref().map(|odd| (here, odd))), [Some(6), Some(7), Some(8)]);
    assert_eq!(last(other, &[(here, &a), (here, &b), (here, &d)]), [Some(1), None, Some(2)]);
    assert_eq!(last(id, &[]), []);
    // Found by its new path, which it has left again.
    record(id, epoch, vec![rename("d", &a)]);
    assert_eq!(last(id, &[(here, &a), (here, &d)]), [Some(9), Some(9)]);
    refused(store.last_entries(ChangesetId::new(), &[]), "not-found");
}

fn limits(store: &Arc<dyn Store>) {
    use store::limits::{ENTRIES_MAX, LEASE_MAX, REASON_BYTES_MAX};
    let plan = make_plan(&**store);
    let (id, epoch) = start(&**store, plan.id, "coder");
    let many = Recording { entries: vec![deletion("a"); ENTRIES_MAX + 1], ..recording(&[]) };
    refused(store.record(id, epoch, &many), "limit-exceeded");
    refused(store.abandon(id, epoch, &"x".repeat(REASON_BYTES_MAX + 1)), "limit-exceeded");
    let long = NewChangeset { lease: lease_request("x", 2 * LEASE_MAX), ..new_changeset(plan.id, "coder") };
    refused(store.start_changeset(&long), "limit-exceeded");
    // Noise, which does not compress; each blob alone is within the limit.
    let mut random = fastrand::Rng::with_seed(7);
    let blob = packed(&std::iter::repeat_with(|| random.u8(..)).take(1 << 20).collect::<Vec<u8>>());
    let heavy = Recording { blobs: vec![blob; 17], ..recording(&["a"]) };
    refused(store.record(id, epoch, &heavy), "limit-exceeded");
    assert_eq!(store.changeset(id).unwrap().entries, 0);
}

fn listed_in_audit_order(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store).id;
    together(8, |number| {
        for _ in 0..5 {
            start(&**store, plan, &format!("actor {number}"));
        }
    });
    let query = store::AuditQuery { plan: Some(plan), ..Default::default() };
    let audited =
        store.audit(&query).unwrap().into_iter().filter(|record| record.kind == "changeset.started");
    let audited: Vec<(String, store::Time)> = audited.map(|record| (record.actor, record.at)).collect();
    let listed = store.changesets(plan).unwrap();
    let listed = listed.iter().map(|changeset| (changeset.actor.to_string(), changeset.started_at));
    assert_eq!(listed.collect::<Vec<_>>(), audited);
    assert!(audited.is_sorted_by(|(_, one), (_, next)| one < next));
}
