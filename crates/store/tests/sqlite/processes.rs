//! Several processes on one store, and killed processes.

use std::path::Path;

use store::{ChangesetId, ChangesetStore, EntryStore, PlanId, PlanQuery, PlanStore, Store};
use testkit::children::{Process, role, send, start as start_process, wait_for_parent};
use testkit::folder::scratch;
use testkit::report::{figure, is_proof};
use testkit::store_conformance::fixtures::*;

use super::open;

const PROCESSES: usize = 8;
const RECORDS: usize = 50;

#[test]
fn child() {
    match role() {
        None => {}
        Some((role, folder)) if role == "first" => open_together(&folder),
        Some((role, folder)) if role == "record" => record(&folder),
        Some((role, folder)) if role == "come and go" => come_and_go(&folder),
        Some((role, folder)) => record_until_killed(&folder, role.parse().unwrap()),
    }
}

fn start(role: &str, folder: &Path) -> Process {
    start_process("processes::child", role, folder)
}

/// Returns the only plan of the store.
fn the_plan(store: &dyn Store) -> PlanId {
    store.plans(&PlanQuery::default()).unwrap()[0].id
}

fn open_together(folder: &Path) {
    send("ready");
    wait_for_parent();
    make_plan(&open(folder));
}

/// Each store may be the first to be opened, or the last to be closed, of all processes.
fn come_and_go(folder: &Path) {
    send("ready");
    wait_for_parent();
    for _ in 0..if is_proof() { 500 } else { 30 } {
        let store = open(folder);
        make_plan(&store);
        the_plan(&store);
    }
}

fn record(folder: &Path) {
    send("ready");
    wait_for_parent();
    let store = open(folder);
    let name = format!("process {}", std::process::id());
    let (id, epoch) = testkit::store_conformance::fixtures::start(&store, the_plan(&store), &name);
    for number in 0..RECORDS {
        let recorded = store.record(id, epoch, &recording(&[&format!("{name}/{number}")])).unwrap();
        assert_eq!(recorded.first, number as u64 + 1);
    }
    store.seal(id, epoch).unwrap();
    send(&id.to_string());
}

/// Runs four threads with a changeset each, and reports what was acknowledged.
fn record_until_killed(folder: &Path, round: usize) {
    let store = open(folder);
    let plan = the_plan(&store);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let store = &store;
            scope.spawn(move || {
                let name = format!("{round}.{thread}");
                let (id, epoch) = testkit::store_conformance::fixtures::start(store, plan, &name);
                loop {
                    let recorded = store.record(id, epoch, &recording_of(&[("a", name.as_bytes())])).unwrap();
                    send(&format!("{id} {}", recorded.first));
                }
            });
        }
    });
}

fn begin_together(role: &str, folder: &Path) -> Vec<Process> {
    let mut processes: Vec<_> = (0..PROCESSES).map(|_| start(role, folder)).collect();
    for process in &mut processes {
        assert_eq!(process.receive(), "ready");
    }
    processes.iter_mut().for_each(Process::notify);
    processes
}

#[test]
fn concurrent_creation_succeeds_in_all_processes() {
    for _ in 0..if is_proof() { 200 } else { 20 } {
        let folder = scratch();
        for process in begin_together("first", folder.path()) {
            process.finish();
        }
        let store = open(folder.path());
        assert_eq!(store.plans(&PlanQuery::default()).unwrap().len(), PROCESSES);
        assert_eq!(store.check().unwrap(), []);
    }
}

#[test]
fn concurrent_opening_and_closing_always_succeeds() {
    let folder = scratch();
    for process in begin_together("come and go", folder.path()) {
        process.finish();
    }
    assert_eq!(open(folder.path()).check().unwrap(), []);
}

#[test]
fn processes_share_a_store_and_keep_their_entries() {
    let folder = scratch();
    let store = open(folder.path());
    let plan = make_plan(&store);
    let mut processes = begin_together("record", folder.path());
    let ids: Vec<ChangesetId> =
        processes.iter_mut().map(|process| process.receive().parse().unwrap()).collect();
    for (process, id) in processes.into_iter().zip(&ids) {
        let name = format!("process {}", process.id());
        process.finish();
        let entries = all_entries(&store, *id);
        assert_eq!(entries.len(), RECORDS);
        for (number, entry) in entries.iter().enumerate() {
            assert_eq!((entry.actor.as_str(), entry.sequence), (name.as_str(), number as u64 + 1));
            assert_eq!(entry.path.show(), format!("{name}/{number}"));
        }
    }
    assert_eq!(store.changesets(plan.id).unwrap().len(), PROCESSES);
    assert_eq!(store::verify(&store, &[]).unwrap().findings, []);
    assert_eq!(store.check().unwrap(), []);
}

#[test]
fn acknowledged_writes_of_a_killed_process_are_durable() {
    let rounds = if is_proof() { 200 } else { 12 };
    let folder = scratch();
    let plan = make_plan(&open(folder.path())).id;
    let mut random = fastrand::Rng::with_seed(testkit::seed::from_env_or(7120));
    let mut acknowledged = Vec::new();
    for round in 0..rounds {
        let mut process = start(&round.to_string(), folder.path());
        for _ in 0..random.usize(1..120) {
            let word = process.receive();
            let (id, sequence) = word.split_once(' ').unwrap();
            acknowledged.push((id.parse::<ChangesetId>().unwrap(), sequence.parse::<u64>().unwrap()));
        }
        process.kill();
        // Reopened each time, as the next process would.
        let store = open(folder.path());
        for (id, sequence) in &acknowledged {
            assert!(store.changeset(*id).unwrap().entries >= *sequence, "round {round}");
        }
        assert_eq!(store::verify(&store, &[]).unwrap().findings, [], "round {round}");
        assert_eq!(store.check().unwrap(), [], "round {round}");
    }
    let store = open(folder.path());
    for changeset in store.changesets(plan).unwrap() {
        let entries = all_entries(&store, changeset.id);
        assert_eq!(entries.len() as u64, changeset.entries);
        assert!(entries.iter().all(|entry| entry.actor == changeset.actor));
    }
    figure("records acknowledged to killed processes, all there", acknowledged.len());
}
