//! Crashes at every call of the simulated disk and of the store, as after a kill or a power cut,
//! then recovery: never half a plan, never a lost acknowledgement.

use std::collections::BTreeMap;

use plan::{Change, ContentInput, PlanId, Plans, State};
use testkit::report::{figure, is_proof};
use testkit::sim::{Node, SimDisk};

use super::fixture::{delete, write};
use super::sim::{StoreDir, apply_with_crash, disk, file, host, ready, trees, undo_with_crash, who};

type Trees = Vec<BTreeMap<String, Node>>;

const START: [(&str, &str); 5] =
    [("a/f", "old"), ("a/gone", "old"), ("a/folder/x", "old"), ("b/g", "old"), ("b/mode", "same")];

fn changes() -> Vec<(Change, Option<ContentInput>)> {
    vec![
        (write("a/f", "new"), file("old")),
        (write("a/deep/new", "new"), None),
        (delete("a/gone"), file("old")),
        (delete("a/folder/x"), file("old")),
        (write("a/folder", "a file now"), None),
        (write("b/g", "new"), file("old")),
        (Change::mode(super::fixture::bytes("b/mode"), 0o755), file("same")),
        (Change::symlink(super::fixture::bytes("b/link"), super::fixture::bytes("g")), None),
    ]
}

struct Case {
    disk: SimDisk,
    store_dir: StoreDir,
    plan: PlanId,
    before: Trees,
    after: Trees,
}

fn case() -> Case {
    let disk = disk(&START);
    let store_dir = StoreDir::new();
    let plans = Plans::open(store_dir.open());
    let plan = ready(&plans, changes());
    drop(plans);
    let before = trees(&disk);
    let done = disk.fork();
    let copy = store_dir.copy();
    assert!(apply_with_crash(&done, &copy, plan, u64::MAX).0);
    let after = trees(&done);
    assert_ne!(before, after);
    Case { disk, store_dir, plan, before, after }
}

impl Case {
    /// Recovers, and checks the result.
    fn check(&self, disk: &SimDisk, store_dir: &StoreDir, acknowledged: bool, what: &str) {
        let store_dir = store_dir.copy();
        let plans = Plans::open(store_dir.open());
        let recovered = plans.recover_plan(&host(disk), self.plan, &who());
        let recovered = recovered.unwrap_or_else(|error| panic!("{what}: {}", testkit::chain(&error)));
        let state = plans.get(self.plan).unwrap().state;
        let now = trees(disk);
        match state {
            State::Applied => assert_eq!(now, self.after, "{what}: applied, {recovered:?}"),
            State::Ready => assert_eq!(now, self.before, "{what}: ready, {recovered:?}"),
            other => panic!("{what}: the plan is {other} after {recovered:?}"),
        }
        assert!(!acknowledged || state == State::Applied, "{what}: an acknowledged apply was lost");
        // A second recovery changes nothing.
        assert_eq!(plans.recover_plan(&host(disk), self.plan, &who()).unwrap(), None, "{what}");
        assert_eq!(trees(disk), now, "{what}");
        // The plan can be applied again.
        if state == State::Ready {
            let request = plan::ApplyRequest::by(&who());
            let applied = plans.apply(&host(disk), &plans.get(self.plan).unwrap(), &request);
            let _ =
                applied.unwrap_or_else(|error| panic!("{what}: applied again, {}", testkit::chain(&error)));
            assert_eq!(trees(disk), self.after, "{what}: applied again");
        }
    }

    fn crash(&self, at_disk_call: Option<u64>, at_store_call: u64, cuts: usize) -> usize {
        let disk = self.disk.fork();
        disk.new_program();
        if let Some(call) = at_disk_call {
            disk.crash_at(call);
        }
        let store_dir = self.store_dir.copy();
        let (acknowledged, _) = apply_with_crash(&disk, &store_dir, self.plan, at_store_call);
        let what = format!("crash at disk call {at_disk_call:?}, store call {at_store_call}");
        self.check(&disk.kill(), &store_dir, acknowledged, &format!("{what}, killed"));
        let mut states = 1;
        for cut in disk.sampled_crash_states(at_disk_call.unwrap_or(at_store_call), cuts) {
            self.check(&cut.disk, &store_dir, acknowledged, &format!("{what}, {}", cut.describe()));
            states += 1;
        }
        states
    }
}

#[test]
fn a_crash_at_any_call_leaves_all_or_nothing() {
    let case = case();
    let whole = case.disk.fork();
    whole.new_program();
    let (_, store_calls) = apply_with_crash(&whole, &case.store_dir.copy(), case.plan, u64::MAX);
    let disk_calls = whole.calls();
    let (step, cuts) = if is_proof() { (1, 40) } else { (5, 2) };
    let mut states = 0;
    for call in (0..disk_calls).step_by(step) {
        states += case.crash(Some(call), u64::MAX, cuts);
    }
    for call in 0..store_calls {
        states += case.crash(None, call, cuts);
    }
    figure("plan apply: simulated crash points", disk_calls.div_ceil(step as u64) + store_calls);
    figure("plan apply: simulated states, 0 half-applied", states);
}

/// An undo, and the undo of that: after a crash at any call, plan and files agree.
#[test]
fn after_a_crash_at_any_call_of_an_undo_plan_and_files_agree() {
    let case = case();
    assert!(apply_with_crash(&case.disk, &case.store_dir, case.plan, u64::MAX).0);
    let undone = (case.disk.fork(), case.store_dir.copy());
    assert!(undo_with_crash(&undone.0, &undone.1, case.plan, u64::MAX).0);
    let undo = {
        let plans = Plans::open(undone.1.open()).list(&[State::Applied], None).unwrap();
        plans.iter().find(|plan| plan.purpose == plan::Purpose::Undo { of: case.plan }).unwrap().id
    };
    let mut points = 0;
    for (disk, store_dir, id) in [(&case.disk, &case.store_dir, case.plan), (&undone.0, &undone.1, undo)] {
        let whole = disk.fork();
        whole.new_program();
        let (_, store_calls) = undo_with_crash(&whole, &store_dir.copy(), id, u64::MAX);
        let disk_calls =
            (0..whole.calls()).step_by(if is_proof() { 1 } else { 7 }).map(|call| (Some(call), u64::MAX));
        for (disk_call, store_call) in disk_calls.chain((0..store_calls).map(|call| (None, call))) {
            let what = format!("undo of {id} crashed at disk call {disk_call:?}, store call {store_call}");
            let (disk, store_dir) = (disk.fork(), store_dir.copy());
            disk.new_program();
            if let Some(call) = disk_call {
                disk.crash_at(call);
            }
            undo_with_crash(&disk, &store_dir, id, store_call);
            let disk = disk.kill();
            let plans = Plans::open(store_dir.open());
            plans.recover(&host(&disk), &plans.get(case.plan).unwrap().roots).unwrap();
            plans.recover_plan(&host(&disk), case.plan, &who()).unwrap();
            let state = plans.get(case.plan).unwrap().state;
            match trees(&disk) {
                now if now == case.before => assert_eq!(state, State::Undone, "{what}"),
                now if now == case.after => assert_eq!(state, State::Applied, "{what}"),
                now => panic!("{what}: {state}, {now:?}"),
            }
            // It can be undone from any state.
            if state == State::Applied {
                let request = plan::UndoRequest::by(&who());
                let undone = plans.undo(&host(&disk), &plans.get(case.plan).unwrap(), &request);
                let _ =
                    undone.unwrap_or_else(|error| panic!("{what}: undone again, {}", testkit::chain(&error)));
                assert_eq!(trees(&disk), case.before, "{what}: undone again");
            }
            points += 1;
        }
    }
    figure("plan undo: simulated crash points", points);
}

/// The transaction folder is removed after the crash, as `git clean -xdf` may do ([lck-clean]):
/// still all or nothing.
#[test]
fn a_crash_and_a_removed_transaction_folder_leave_all_or_nothing() {
    let case = case();
    let whole = case.disk.fork();
    whole.new_program();
    apply_with_crash(&whole, &case.store_dir.copy(), case.plan, u64::MAX);
    let (mut finished, mut untouched) = (0, 0);
    for call in (0..whole.calls()).step_by(if is_proof() { 1 } else { 3 }) {
        let disk = case.disk.fork();
        disk.new_program();
        disk.crash_at(call);
        let store_dir = case.store_dir.copy();
        apply_with_crash(&disk, &store_dir, case.plan, u64::MAX);
        let disk = disk.kill();
        for root in ["a", "b"] {
            disk.external_remove(root, ".cleveragents");
        }
        let half = trees(&disk);
        case.check(&disk, &store_dir, false, &format!("crash at {call}, .txn removed"));
        finished += usize::from(half != case.before && half != case.after);
        untouched += usize::from(half == case.before);
    }
    assert!(
        finished > 0 && untouched > 0,
        "{finished} half-applied trees were finished, {untouched} were untouched"
    );
    figure("plan apply: half-applied trees finished from stored contents", finished);
}

/// Recovery never overwrites an edit made after the crash.
#[test]
fn recovery_keeps_an_edit_made_after_the_crash() {
    let case = case();
    let whole = case.disk.fork();
    whole.new_program();
    apply_with_crash(&whole, &case.store_dir.copy(), case.plan, u64::MAX);
    let mut conflicts = 0;
    for call in (0..whole.calls()).step_by(if is_proof() { 1 } else { 4 }) {
        for (root, path) in [("a", "f"), ("b", "g"), ("a", "deep/new")] {
            let disk = case.disk.fork();
            disk.new_program();
            disk.crash_at(call);
            let store_dir = case.store_dir.copy();
            apply_with_crash(&disk, &store_dir, case.plan, u64::MAX);
            let disk = disk.kill();
            disk.external_replace(root, path, b"a person's");
            let plans = Plans::open(store_dir.open());
            let recovered = plans.recover_plan(&host(&disk), case.plan, &who()).unwrap();
            assert_eq!(
                disk.external_read(root, path).as_deref(),
                Some(&b"a person's"[..]),
                "crash at {call}, {path}"
            );
            let state = plans.get(case.plan).unwrap().state;
            let others = |trees: &Trees| {
                let mut trees = trees.clone();
                trees.iter_mut().for_each(|tree| tree.retain(|name, _| name != path && name != "deep"));
                trees
            };
            let expected = match state {
                State::Ready => &case.before,
                State::Conflict | State::Applied => &case.after,
                other => panic!("crash at {call}: {other}"),
            };
            assert_eq!(others(&trees(&disk)), others(expected), "crash at {call}, {path}: {state}");
            if state == State::Conflict {
                conflicts += 1;
                let drifted = recovered.unwrap().drifted;
                assert_eq!(drifted.len(), 1, "{drifted:?}");
            }
        }
    }
    assert!(conflicts > 0, "at some point the edit came after the commit point");
    figure("plan apply: edits between crash and recovery that stayed", conflicts);
}
