//! Plans, changesets and entries for tests of a store.

use std::fmt::Debug;
use std::sync::Barrier;
use std::time::Duration;

use serde_json::{Value, json};
use store::{
    Actor, AuditKind, ChangeEntry, ChangesetId, Content, ContentKind, Epoch, Error, LeaseRequest,
    NewChangeset, NewEntry, NewPlan, OpenChangesets, Operation, Owner, PackedBlob, PathBytes, Plan, PlanId,
    PlanRemoval, PlanStep, Recording, RequestId, Result, State, Store, Version,
};

/// Longer than any test.
pub const LONG: Duration = Duration::from_secs(3600);

/// Makes an actor.
pub fn actor(text: &str) -> Actor {
    Actor::parse(text).expect("tests use plain actors")
}

/// Makes a state.
pub fn state(text: &str) -> State {
    State::parse(text).expect("tests use plain states")
}

/// Makes a path.
pub fn path(text: &str) -> PathBytes {
    PathBytes::parse(text).expect("tests use plain paths")
}

/// Makes a request for a lease.
pub fn lease_request(owner: &str, duration: Duration) -> LeaseRequest {
    LeaseRequest { owner: Owner::parse(owner).expect("tests use plain owners"), duration }
}

/// Makes a running plan without a name.
pub fn new_plan() -> NewPlan {
    NewPlan {
        id: PlanId::new(),
        name: None,
        state: state("running"),
        undo_of: None,
        roots: vec![path("/project")],
        detail: json!({"n": 1}),
        actor: actor("ana"),
    }
}

/// Stores such a plan.
pub fn make_plan(store: &dyn Store) -> Plan {
    store.create_plan(&new_plan()).expect("a plan is made")
}

/// Makes a step of a plan from its present state.
pub fn step(plan: &Plan, to: &str) -> PlanStep {
    PlanStep {
        plan: plan.id,
        request: RequestId::new(),
        from: plan.state.clone(),
        version: plan.version,
        to: state(to),
        epoch: None,
        open: OpenChangesets::Leave,
        detail: None,
        kind: AuditKind::parse("plan.step").expect("a plain kind"),
        actor: actor("ben"),
        note: Value::Null,
    }
}

/// Makes the removal of a plan of any size.
pub fn removal(plan: &Plan) -> PlanRemoval {
    PlanRemoval {
        plan: plan.id,
        request: RequestId::new(),
        version: plan.version,
        size: None,
        actor: actor("ana"),
    }
}

/// Makes a changeset of an actor, with an owner of the same name.
pub fn new_changeset(plan: PlanId, name: &str) -> NewChangeset {
    NewChangeset {
        id: ChangesetId::new(),
        plan,
        node: None,
        actor: actor(name),
        lease: lease_request(name, LONG),
        plan_states: Vec::new(),
        plan_epoch: None,
    }
}

/// Starts such a changeset.
pub fn start(store: &dyn Store, plan: PlanId, name: &str) -> (ChangesetId, Epoch) {
    let new = new_changeset(plan, name);
    (new.id, store.start_changeset(&new).expect("a changeset starts").epoch)
}

/// Makes a deletion, which needs no blob.
pub fn deletion(at: &str) -> NewEntry {
    let root = path("/project");
    NewEntry { root, path: path(at), operation: Operation::Delete, before: None, after: None, tool: None }
}

/// Makes the content that refers to a blob.
pub fn content(blob: &PackedBlob) -> Content {
    Content {
        kind: ContentKind::File,
        blob: blob.hash(),
        bytes: u64::from(blob.chunk().bytes()),
        mode: 0o644,
    }
}

/// Packs a small blob.
pub fn packed(bytes: &[u8]) -> PackedBlob {
    PackedBlob::new(bytes).expect("it fits into a chunk")
}

/// Makes a recording without blobs.
pub fn recording(paths: &[&str]) -> Recording {
    let entries = paths.iter().map(|at| deletion(at)).collect();
    Recording { request: RequestId::new(), entries, blobs: Vec::new() }
}

/// Makes a recording of new files, with their blobs.
pub fn recording_of(contents: &[(&str, &[u8])]) -> Recording {
    let blobs: Vec<PackedBlob> = contents.iter().map(|(_, bytes)| packed(bytes)).collect();
    let entry = |((at, _), blob): (&(&str, &[u8]), &PackedBlob)| NewEntry {
        operation: Operation::Create,
        after: Some(content(blob)),
        ..deletion(at)
    };
    let entries = contents.iter().zip(&blobs).map(entry).collect();
    Recording { request: RequestId::new(), entries, blobs }
}

/// Returns all entries of a changeset.
pub fn all_entries(store: &dyn Store, id: ChangesetId) -> Vec<ChangeEntry> {
    let mut entries: Vec<ChangeEntry> = Vec::new();
    loop {
        let page = store.entries(id, entries.len() as u64, 1000).expect("entries are listed");
        if page.is_empty() {
            return entries;
        }
        entries.extend(page);
    }
}

/// Returns the kinds of a plan's audit records, in order.
pub fn kinds(store: &dyn Store, plan: PlanId) -> Vec<String> {
    let query = store::AuditQuery { plan: Some(plan), ..Default::default() };
    store::export(store, query).map(|record| record.expect("audit is read").kind).collect()
}

/// Asserts that a call was refused with this code, and changed nothing.
#[track_caller]
pub fn refused<T: Debug>(result: Result<T>, code: &str) -> Error {
    let error = result.expect_err("this is refused");
    assert_eq!(error.code(), code, "{error}");
    assert_eq!(error.outcome(), store::Outcome::Aborted);
    error
}

/// Returns the version of a plan.
pub fn version(store: &dyn Store, plan: PlanId) -> Version {
    store.plan(plan).expect("it is there").version
}

/// Runs threads that start together, and returns their results.
pub fn together<T: Send>(threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let barrier = Barrier::new(threads);
    let run = &|number| {
        barrier.wait();
        work(number)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|number| scope.spawn(move || run(number))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread ends well")).collect()
    })
}
