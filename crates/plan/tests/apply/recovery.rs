//! Recovery of interrupted applies.

use plan::{Machine, Plans, RecoveryOutcome, State};

use super::fixture::write;
use super::sim::{StoreDir, apply_with_crash, disk, file, host, ready, trees, who};

/// A disk on which an apply was interrupted after its commit point.
fn interrupted_apply() -> (testkit::sim::SimDisk, StoreDir, plan::PlanId) {
    let start = disk(&[("a/f", "old"), ("b/g", "old")]);
    let store_dir = StoreDir::new();
    let plans = Plans::open(store_dir.open());
    let id = ready(&plans, vec![(write("a/f", "new"), file("old")), (write("b/g", "new"), file("old"))]);
    drop(plans);
    let whole = start.fork();
    whole.new_program();
    apply_with_crash(&whole, &store_dir.copy(), id, u64::MAX);
    let exchange = whole.log().iter().position(|call| call.starts_with("exchange")).unwrap() as u64;
    start.new_program();
    start.crash_at(exchange + 1);
    apply_with_crash(&start, &store_dir, id, u64::MAX);
    (start.kill(), store_dir, id)
}

#[test]
fn the_next_apply_to_the_root_finishes_and_reports_it() {
    let (disk, store_dir, id) = interrupted_apply();
    let plans = Plans::open(store_dir.open());
    assert_eq!(plans.get(id).unwrap().state, State::Applying);
    assert_eq!(plans.interrupted(&host(&disk)).unwrap().len(), 1);
    let other = ready(&plans, vec![(write("a/other", "new"), None)]);
    let report =
        plans.apply(&host(&disk), &plans.get(other).unwrap(), &plan::ApplyRequest::by(&who())).unwrap();
    let [recovery] = report.recovered.as_slice() else { panic!("{:?}", report.recovered) };
    assert_eq!((recovery.plan, recovery.outcome), (id, RecoveryOutcome::Finished));
    assert_eq!(plans.get(id).unwrap().state, State::Applied);
    assert_eq!(disk.external_read("b", "g").as_deref(), Some(&b"new"[..]));
    let last = plans.timeline(id).unwrap().pop().unwrap();
    assert_eq!((last.kind.as_str(), last.to), ("plan.applied", Some(State::Applied)));
}

fn elsewhere(disk: &testkit::sim::SimDisk) -> plan::Host {
    let disk = disk.clone();
    let find: filetx::StorageResolver =
        std::sync::Arc::new(move |path: &std::path::Path| Ok(disk.root(path.to_str().unwrap())));
    plan::Host::on_storage(find, Machine { host: "elsewhere".into(), id: "2".into() })
}

#[test]
fn another_machine_does_not_recover_it() {
    let (disk, store_dir, id) = interrupted_apply();
    let plans = Plans::open(store_dir.open());
    let before = trees(&disk);
    // It has roots with the same paths.
    let theirs = super::sim::disk(&[("a/f", "old"), ("b/g", "old")]);
    let elsewhere = elsewhere(&theirs);
    let error = plans.recover_plan(&elsewhere, id, &who()).unwrap_err();
    assert_eq!(error.code(), "other-machine");
    assert!(error.to_string().contains("started on here"), "{error}");
    assert_eq!(plans.interrupted(&elsewhere).unwrap(), []);
    assert_eq!((trees(&disk), plans.get(id).unwrap().state), (before, State::Applying));
    // A dry run does not finish it either, and reports that it is applying.
    let mut request = plan::ApplyRequest::by(&who());
    request.dry_run = true;
    assert_eq!(plans.apply(&elsewhere, &plans.get(id).unwrap(), &request).unwrap_err().code(), "conflict");
    // It does not block applies on that machine.
    let other = ready(&plans, vec![(write("a/other", "new"), None)]);
    let report =
        plans.apply(&elsewhere, &plans.get(other).unwrap(), &plan::ApplyRequest::by(&who())).unwrap();
    assert_eq!((report.plan.state, report.recovered.len()), (State::Applied, 0));
    assert_eq!(plans.get(id).unwrap().state, State::Applying);
}

#[test]
fn a_renamed_machine_with_the_journal_finishes_it() {
    let (disk, store_dir, id) = interrupted_apply();
    let plans = Plans::open(store_dir.open());
    assert_eq!(plans.interrupted(&elsewhere(&disk)).unwrap().len(), 1);
    let recovery = plans.recover_plan(&elsewhere(&disk), id, &who()).unwrap().unwrap();
    assert_eq!(recovery.outcome, RecoveryOutcome::Finished);
    assert_eq!(plans.get(id).unwrap().state, State::Applied);
    assert_eq!(disk.external_read("b", "g").as_deref(), Some(&b"new"[..]));
}

#[test]
fn this_machine_has_an_identity() {
    let here = Machine::local();
    assert_eq!(here, Machine::local());
    assert!(!here.host.is_empty());
    assert_eq!(here.to_string(), here.host);
}

#[test]
fn a_failed_sync_after_the_commit_point_is_finished_later() {
    let start = disk(&[("a/f", "old"), ("b/g", "old")]);
    let store_dir = StoreDir::new();
    let plans = Plans::open(store_dir.open());
    let id = ready(&plans, vec![(write("a/f", "new"), file("old")), (write("b/g", "new"), file("old"))]);
    let whole = start.fork();
    whole.new_program();
    drop(plans);
    apply_with_crash(&whole, &store_dir.copy(), id, u64::MAX);
    let calls = whole.calls();
    let (mut cut, mut aborted) = (0, 0);
    for call in 0..calls {
        let disk = start.fork();
        disk.new_program();
        disk.fail_at(call, testkit::sim::Fault::Io, testkit::sim::FaultDuration::Once);
        let store_dir = store_dir.copy();
        let plans = Plans::open(store_dir.open());
        match plans.apply(&host(&disk), &plans.get(id).unwrap(), &plan::ApplyRequest::by(&who())) {
            Ok(report) => assert_eq!(report.plan.state, State::Applied),
            Err(error) if error.code() == "apply-incomplete" => {
                cut += 1;
                assert_eq!(error.outcome(), store::Outcome::Unknown);
                assert_eq!(plans.get(id).unwrap().state, State::Applying);
            }
            Err(error) => {
                assert!(matches!(error, plan::Error::Files { .. }), "{error}");
                aborted += 1;
                assert_eq!(plans.get(id).unwrap().state, State::Ready, "call {call}");
                assert_eq!(disk.external_read("a", "f").as_deref(), Some(&b"old"[..]), "call {call}");
            }
        }
        let recovered = plans.recover_plan(&host(&disk), id, &who()).unwrap();
        let state = plans.get(id).unwrap().state;
        let expected: &[u8] = if state == State::Applied { b"new" } else { b"old" };
        assert!(matches!(state, State::Applied | State::Ready), "call {call}: {state} {recovered:?}");
        for (root, path) in [("a", "f"), ("b", "g")] {
            assert_eq!(disk.external_read(root, path).as_deref(), Some(expected), "call {call}");
        }
    }
    assert!(cut > 0 && aborted > 0, "{cut} cut off, {aborted} aborted, of {calls}");
}

/// Crashes between recording the outcome and removing the completion mark in the root.
#[test]
fn a_completion_mark_with_a_known_outcome_is_removed() {
    let start = disk(&[("a/f", "old")]);
    let store_dir = StoreDir::new();
    let plans = Plans::open(store_dir.open());
    let id = ready(&plans, vec![(write("a/f", "new"), file("old"))]);
    drop(plans);
    let whole = start.fork();
    whole.new_program();
    apply_with_crash(&whole, &store_dir.copy(), id, u64::MAX);
    let remove =
        whole.log().iter().position(|call| call.contains("remove") && call.contains("/done-")).unwrap();
    start.new_program();
    start.crash_at(remove as u64);
    apply_with_crash(&start, &store_dir, id, u64::MAX);
    let disk = start.kill();
    let marks = || {
        let names = disk.external_list("a", ".cleveragents/.txn");
        names.iter().filter(|name| name.starts_with("done-")).count()
    };
    let plans = Plans::open(store_dir.open());
    assert_eq!((plans.get(id).unwrap().state, marks()), (State::Applied, 1));
    let other = ready(&plans, vec![(write("a/other", "new"), None)]);
    let report =
        plans.apply(&host(&disk), &plans.get(other).unwrap(), &plan::ApplyRequest::by(&who())).unwrap();
    assert_eq!((report.recovered, marks()), (vec![], 0));
}

/// Crashes at every call of the store after the files were changed.
fn crash_after_publish(then: impl Fn(&testkit::sim::SimDisk, &Plans, plan::PlanId, &plan::Error)) -> usize {
    let start = disk(&[("a/f", "1\n2\n3\n"), ("b/g", "old")]);
    let store_dir = StoreDir::new();
    let plans = Plans::open(store_dir.open());
    let id = ready(
        &plans,
        vec![(write("a/f", "1\n2\nthree\n"), file("1\n2\n3\n")), (write("b/g", "new"), file("old"))],
    );
    drop(plans);
    let whole = start.fork();
    whole.new_program();
    let (_, calls) = apply_with_crash(&whole, &store_dir.copy(), id, u64::MAX);
    let mut cut = 0;
    for call in 0..calls {
        let (disk, store_dir) = (start.fork(), store_dir.copy());
        disk.new_program();
        let store = super::crashing_store::CrashingStore::new(store_dir.open(), &disk, call);
        let mortal = Plans::open(std::sync::Arc::new(store));
        let Err(error) = mortal.apply(
            &host(&disk),
            &Plans::open(store_dir.open()).get(id).unwrap(),
            &plan::ApplyRequest::by(&who()),
        ) else {
            continue;
        };
        drop(mortal);
        let disk = disk.kill();
        let plans = Plans::open(store_dir.open());
        let is_published = disk.external_read("b", "g").as_deref() == Some(b"new");
        if is_published && plans.get(id).unwrap().state == State::Applying {
            then(&disk, &plans, id, &error);
            cut += 1;
        }
    }
    cut
}

fn claims_no_effect(text: &str) -> bool {
    ["no file was changed", "nothing was applied", "nothing was undone"]
        .iter()
        .any(|claim| text.contains(claim))
}

#[test]
fn a_failure_after_the_commit_point_is_an_incomplete_apply() {
    let cut = crash_after_publish(|_, _, _, error| {
        assert_eq!((error.code(), error.outcome()), ("apply-incomplete", store::Outcome::Unknown), "{error}");
        assert!(!claims_no_effect(&error_chain(error)), "{}", error_chain(error));
    });
    assert!(cut > 0);
}

#[test]
fn an_edit_after_an_incomplete_apply_is_modified_since_apply() {
    let cut = crash_after_publish(|disk, plans, id, _| {
        disk.external_write("a", "f", b"mine\n2\nthree\n");
        let recovery = plans.recover_plan(&host(disk), id, &who()).unwrap().unwrap();
        assert_eq!((recovery.outcome, recovery.drifted.len()), (RecoveryOutcome::Finished, 0));
        let error =
            plans.undo(&host(disk), &plans.get(id).unwrap(), &plan::UndoRequest::by(&who())).unwrap_err();
        assert_eq!(error.code(), "modified-since-apply");
        assert_eq!(disk.external_read("b", "g").as_deref(), Some(&b"new"[..]), "nothing is half undone");
    });
    assert!(cut > 0);
}

/// The text of an error with its causes.
fn error_chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[test]
fn a_failed_recovery_does_not_claim_to_have_no_effect() {
    let (start, store_dir, id) = interrupted_apply();
    let mut failed = 0;
    for without_journal in [false, true] {
        let start = start.fork();
        if without_journal {
            for root in ["a", "b"] {
                start.external_remove(root, ".cleveragents");
            }
        }
        for call in 0..100 {
            let (disk, store_dir) = (start.fork(), store_dir.copy());
            disk.new_program();
            disk.fail_at(call, testkit::sim::Fault::Io, testkit::sim::FaultDuration::Once);
            let plans = Plans::open(store_dir.open());
            if let Err(error) = plans.recover_plan(&host(&disk), id, &who()) {
                let text = error_chain(&error);
                assert!(!claims_no_effect(&text), "call {call}: {text}");
                assert_eq!(plans.get(id).unwrap().state, State::Applying, "call {call}: {text}");
                failed += 1;
            }
        }
    }
    assert!(failed > 0);
}
