//! Interrupted applies, and who may finish them.

use plan::{Machine, Plans, RecoveryEnd, State};

use super::fixture::write;
use super::sim::{Shelf, apply_mortal, disk, file, ground, ready, trees, who};

/// A disk on which an apply was cut off after its commit point.
fn cut_off() -> (testkit::sim::SimDisk, Shelf, plan::PlanId) {
    let start = disk(&[("a/f", "old"), ("b/g", "old")]);
    let shelf = Shelf::new();
    let plans = Plans::open(shelf.open());
    let id = ready(&plans, vec![(write("a/f", "new"), file("old")), (write("b/g", "new"), file("old"))]);
    drop(plans);
    let whole = start.fork();
    whole.new_program();
    apply_mortal(&whole, &shelf.copy(), id, u64::MAX);
    let exchange = whole.log().iter().position(|call| call.starts_with("exchange")).unwrap() as u64;
    start.new_program();
    start.crash_at(exchange + 1);
    apply_mortal(&start, &shelf, id, u64::MAX);
    (start.kill(), shelf, id)
}

#[test]
fn whoever_names_the_root_next_finishes_it_and_is_told() {
    let (disk, shelf, id) = cut_off();
    let plans = Plans::open(shelf.open());
    assert_eq!(plans.get(id).unwrap().state, State::Applying);
    assert_eq!(plans.interrupted(&ground(&disk)).unwrap().len(), 1);
    let other = ready(&plans, vec![(write("a/other", "new"), None)]);
    let report = plans.apply(&ground(&disk), other, &plan::ApplyOrder::by(&who())).unwrap();
    let [recovery] = report.recovered.as_slice() else { panic!("{:?}", report.recovered) };
    assert_eq!((recovery.plan, recovery.end), (id, RecoveryEnd::Finished));
    assert_eq!(plans.get(id).unwrap().state, State::Applied);
    assert_eq!(disk.person_read("b", "g").as_deref(), Some(&b"new"[..]));
    let last = plans.timeline(id).unwrap().pop().unwrap();
    assert_eq!((last.kind.as_str(), last.to), ("plan.applied", Some(State::Applied)));
}

fn elsewhere(disk: &testkit::sim::SimDisk) -> plan::Ground {
    let disk = disk.clone();
    let find: filetx::Finder =
        std::sync::Arc::new(move |path: &std::path::Path| Ok(disk.root(path.to_str().unwrap())));
    plan::Ground::on_storage(find, Machine { host: "elsewhere".into(), id: "2".into() })
}

#[test]
fn another_machine_leaves_it_alone() {
    let (disk, shelf, id) = cut_off();
    let plans = Plans::open(shelf.open());
    let before = trees(&disk);
    // It has folders of the same names.
    let theirs = super::sim::disk(&[("a/f", "old"), ("b/g", "old")]);
    let elsewhere = elsewhere(&theirs);
    let error = plans.recover_plan(&elsewhere, id, &who()).unwrap_err();
    assert_eq!(error.code(), "other-machine");
    assert!(error.to_string().contains("begun on here"), "{error}");
    assert_eq!(plans.interrupted(&elsewhere).unwrap(), []);
    assert_eq!((trees(&disk), plans.get(id).unwrap().state), (before, State::Applying));
    // A dry run finishes nothing either; it says that it is being applied.
    let mut order = plan::ApplyOrder::by(&who());
    order.dry_run = true;
    assert_eq!(plans.apply(&elsewhere, id, &order).unwrap_err().code(), "conflict");
    // And it is in the way of nothing there.
    let other = ready(&plans, vec![(write("a/other", "new"), None)]);
    let report = plans.apply(&elsewhere, other, &plan::ApplyOrder::by(&who())).unwrap();
    assert_eq!((report.plan.state, report.recovered.len()), (State::Applied, 0));
    assert_eq!(plans.get(id).unwrap().state, State::Applying);
}

#[test]
fn a_machine_with_another_name_that_has_the_journal_finishes_it() {
    let (disk, shelf, id) = cut_off();
    let plans = Plans::open(shelf.open());
    assert_eq!(plans.interrupted(&elsewhere(&disk)).unwrap().len(), 1);
    let recovery = plans.recover_plan(&elsewhere(&disk), id, &who()).unwrap().unwrap();
    assert_eq!(recovery.end, RecoveryEnd::Finished);
    assert_eq!(plans.get(id).unwrap().state, State::Applied);
    assert_eq!(disk.person_read("b", "g").as_deref(), Some(&b"new"[..]));
}

#[test]
fn this_machine_is_told_apart() {
    let here = Machine::here();
    assert_eq!(here, Machine::here());
    assert!(!here.host.is_empty());
    assert_eq!(here.to_string(), here.host);
}

#[test]
fn a_sync_that_fails_after_the_commit_point_is_cut_off_and_finished_later() {
    let start = disk(&[("a/f", "old"), ("b/g", "old")]);
    let shelf = Shelf::new();
    let plans = Plans::open(shelf.open());
    let id = ready(&plans, vec![(write("a/f", "new"), file("old")), (write("b/g", "new"), file("old"))]);
    let whole = start.fork();
    whole.new_program();
    drop(plans);
    apply_mortal(&whole, &shelf.copy(), id, u64::MAX);
    let calls = whole.calls();
    let (mut cut, mut aborted) = (0, 0);
    for call in 0..calls {
        let disk = start.fork();
        disk.new_program();
        disk.fail_at(call, testkit::sim::Fault::Io, testkit::sim::Lasts::Once);
        let shelf = shelf.copy();
        let plans = Plans::open(shelf.open());
        match plans.apply(&ground(&disk), id, &plan::ApplyOrder::by(&who())) {
            Ok(report) => assert_eq!(report.plan.state, State::Applied),
            Err(error) if error.code() == "cut-off" => {
                cut += 1;
                assert_eq!(error.outcome(), store::Outcome::Unknown);
                assert_eq!(plans.get(id).unwrap().state, State::Applying);
            }
            Err(error) => {
                assert!(matches!(error, plan::Error::Files { .. }), "{error}");
                aborted += 1;
                assert_eq!(plans.get(id).unwrap().state, State::Ready, "call {call}");
                assert_eq!(disk.person_read("a", "f").as_deref(), Some(&b"old"[..]), "call {call}");
            }
        }
        let recovered = plans.recover_plan(&ground(&disk), id, &who()).unwrap();
        let state = plans.get(id).unwrap().state;
        let expected: &[u8] = if state == State::Applied { b"new" } else { b"old" };
        assert!(matches!(state, State::Applied | State::Ready), "call {call}: {state} {recovered:?}");
        for (root, path) in [("a", "f"), ("b", "g")] {
            assert_eq!(disk.person_read(root, path).as_deref(), Some(expected), "call {call}");
        }
    }
    assert!(cut > 0 && aborted > 0, "{cut} cut off, {aborted} aborted, of {calls}");
}

/// Killed between recording the outcome and removing the mark in the root.
#[test]
fn a_mark_whose_outcome_is_known_is_let_go() {
    let start = disk(&[("a/f", "old")]);
    let shelf = Shelf::new();
    let plans = Plans::open(shelf.open());
    let id = ready(&plans, vec![(write("a/f", "new"), file("old"))]);
    drop(plans);
    let whole = start.fork();
    whole.new_program();
    apply_mortal(&whole, &shelf.copy(), id, u64::MAX);
    let remove =
        whole.log().iter().position(|call| call.contains("remove") && call.contains("/done-")).unwrap();
    start.new_program();
    start.crash_at(remove as u64);
    apply_mortal(&start, &shelf, id, u64::MAX);
    let disk = start.kill();
    let marks = || {
        let names = disk.person_list("a", ".cleveragents/.txn");
        names.iter().filter(|name| name.starts_with("done-")).count()
    };
    let plans = Plans::open(shelf.open());
    assert_eq!((plans.get(id).unwrap().state, marks()), (State::Applied, 1));
    let other = ready(&plans, vec![(write("a/other", "new"), None)]);
    let report = plans.apply(&ground(&disk), other, &plan::ApplyOrder::by(&who())).unwrap();
    assert_eq!((report.recovered, marks()), (vec![], 0));
}

/// Cut off at every call of the store that comes after the files were changed.
fn cut_off_after_publishing(
    then: impl Fn(&testkit::sim::SimDisk, &Plans, plan::PlanId, &plan::Error),
) -> usize {
    let start = disk(&[("a/f", "1\n2\n3\n"), ("b/g", "old")]);
    let shelf = Shelf::new();
    let plans = Plans::open(shelf.open());
    let id = ready(
        &plans,
        vec![(write("a/f", "1\n2\nthree\n"), file("1\n2\n3\n")), (write("b/g", "new"), file("old"))],
    );
    drop(plans);
    let whole = start.fork();
    whole.new_program();
    let (_, calls) = apply_mortal(&whole, &shelf.copy(), id, u64::MAX);
    let mut cut = 0;
    for call in 0..calls {
        let (disk, shelf) = (start.fork(), shelf.copy());
        disk.new_program();
        let store = super::crashing_store::Mortal::new(shelf.open(), &disk, call);
        let mortal = Plans::open(std::sync::Arc::new(store));
        let Err(error) = mortal.apply(&ground(&disk), id, &plan::ApplyOrder::by(&who())) else { continue };
        drop(mortal);
        let disk = disk.kill();
        let plans = Plans::open(shelf.open());
        let is_published = disk.person_read("b", "g").as_deref() == Some(b"new");
        if is_published && plans.get(id).unwrap().state == State::Applying {
            then(&disk, &plans, id, &error);
            cut += 1;
        }
    }
    cut
}

#[test]
fn a_failure_after_files_were_changed_says_that_it_was_cut_off() {
    let cut = cut_off_after_publishing(|_, _, _, error| {
        assert_eq!((error.code(), error.outcome()), ("cut-off", store::Outcome::Unknown), "{error}");
        assert!(!whole_text(error).contains("nothing was touched"), "{}", whole_text(error));
    });
    assert!(cut > 0);
}

#[test]
fn what_a_person_changes_after_it_had_landed_is_a_change_since() {
    let cut = cut_off_after_publishing(|disk, plans, id, _| {
        disk.person_write("a", "f", b"mine\n2\nthree\n");
        let recovery = plans.recover_plan(&ground(disk), id, &who()).unwrap().unwrap();
        assert_eq!((recovery.end, recovery.kept.len()), (RecoveryEnd::Finished, 0));
        let error = plans.undo(&ground(disk), id, &plan::UndoOrder::by(&who())).unwrap_err();
        assert_eq!(error.code(), "changed-since");
        assert_eq!(disk.person_read("b", "g").as_deref(), Some(&b"new"[..]), "nothing is half undone");
    });
    assert!(cut > 0);
}

/// An error with its causes.
fn whole_text(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[test]
fn a_recovery_that_fails_does_not_say_that_nothing_was_touched() {
    let (start, shelf, id) = cut_off();
    let mut failed = 0;
    for without_journal in [false, true] {
        let start = start.fork();
        if without_journal {
            for root in ["a", "b"] {
                start.person_remove(root, ".cleveragents");
            }
        }
        for call in 0..100 {
            let (disk, shelf) = (start.fork(), shelf.copy());
            disk.new_program();
            disk.fail_at(call, testkit::sim::Fault::Io, testkit::sim::Lasts::Once);
            let plans = Plans::open(shelf.open());
            if let Err(error) = plans.recover_plan(&ground(&disk), id, &who()) {
                let text = whole_text(&error);
                assert!(!text.contains("nothing was touched"), "call {call}: {text}");
                assert_eq!(plans.get(id).unwrap().state, State::Applying, "call {call}: {text}");
                failed += 1;
            }
        }
    }
    assert!(failed > 0);
}
