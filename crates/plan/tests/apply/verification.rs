//! [app-verify]: an apply verifies every path afterwards, and distinguishes drift from a failed
//! verification.

use plan::{ApplyRequest, FileOutcome, Plans, State};

use super::fixture::write;
use super::sim::{StoreDir, disk, file, host, ready, who};

/// A person writes just before each call of the disk, one call per round.
#[test]
fn concurrent_writes_are_reported_as_drift_or_failed_verification() {
    let mut seen = [0; 4];
    let calls = at_call(u64::MAX, &mut seen);
    for call in 0..calls {
        at_call(call, &mut seen);
    }
    let [done, kept, mismatched, drifted] = seen;
    assert!(done > 0 && kept > 0 && mismatched > 0, "done {done}, kept {kept}, mismatched {mismatched}");
    assert_eq!(done + kept + mismatched + drifted, calls + 1);
}

/// Returns the number of calls, and counts the outcomes.
fn at_call(call: u64, seen: &mut [u64; 4]) -> u64 {
    let disk = disk(&[("a/f", "old"), ("b/g", "old")]);
    let store_dir = StoreDir::new();
    let plans = Plans::open(store_dir.open());
    let plan = ready(&plans, vec![(write("a/f", "new"), file("old")), (write("b/g", "new"), file("old"))]);
    disk.new_program();
    disk.on_call(call, |disk| disk.external_write("a", "f", b"edited"));
    let applied = plans.apply(&host(&disk), &plans.get(plan).unwrap(), &ApplyRequest::by(&who()));
    let text = |root: &str, path: &str| format!("{:?}", disk.tree(root)[path]);
    let Ok(report) = applied else {
        assert_eq!(plans.get(plan).unwrap().state, State::Conflict, "call {call}");
        assert!(text("a", "f").contains("edited"), "call {call}");
        seen[3] += 1;
        return disk.calls();
    };
    let of_f = &report.files[0].outcome;
    let (place, state) = match of_f {
        FileOutcome::Applied => (0, State::Applied),
        FileOutcome::Drifted { .. } => (1, State::Conflict),
        FileOutcome::VerifyFailed => (2, State::Conflict),
        other => panic!("call {call}: {other:?}"),
    };
    seen[place] += 1;
    assert_eq!((report.plan.state, &report.files[1].outcome), (state, &FileOutcome::Applied), "call {call}");
    assert_eq!(
        (report.drifted().count(), report.verify_failed().count()),
        (usize::from(place == 1), usize::from(place == 2))
    );
    if call < disk.calls() {
        assert!(text("a", "f").contains("edited"), "call {call}: a person's edit was lost");
    }
    if place == 2 {
        let error = report.plan.detail.error.as_deref().unwrap();
        assert_eq!(error, "1 file was written and held another content afterwards");
        let events = plans.timeline(plan).unwrap();
        let noted = events.iter().find_map(|event| event.body.pointer("/note/mismatched"));
        assert_eq!(noted, Some(&serde_json::json!(["f"])), "{events:?}");
    }
    disk.calls()
}
