//! Concurrent applies: of one plan, to disjoint roots, to one root.

use std::sync::{Arc, Barrier};

use plan::State;

use super::fixture::{Fixture, actor, write};

/// [pln-twice]
#[test]
fn one_of_two_concurrent_applies_wins_and_the_error_names_it() {
    for fixture in (0..5).flat_map(|_| Fixture::of_each_engine("apply-postgres")) {
        let fixture = Arc::new(fixture);
        let plan = fixture.plan(vec![("coder", (0..20).map(|n| write(&format!("a/{n}"), "new")).collect())]);
        let barrier = Arc::new(Barrier::new(4));
        let apply = |name: &'static str| {
            let (fixture, barrier) = (Arc::clone(&fixture), Arc::clone(&barrier));
            std::thread::spawn(move || {
                barrier.wait();
                fixture
                    .apply_with(plan, |request| request.actor = actor(name))
                    .map_err(|error| (error.code(), error.to_string()))
            })
        };
        let threads: Vec<_> = ["one", "two", "three", "four"].map(apply).into_iter().collect();
        let results: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        let winners: Vec<_> = results.iter().filter_map(|result| result.as_ref().ok()).collect();
        assert_eq!(winners.len(), 1);
        let winner = winners[0].plan.changed_by.to_string();
        for (code, text) in results.iter().filter_map(|result| result.as_ref().err()) {
            assert_eq!(*code, "conflict");
            assert!(text.contains(&winner), "{text} names {winner}");
        }
        assert_eq!(fixture.state(plan), State::Applied);
        // The step to *applying* records the machine.
        let log = store::AuditQuery { plan: Some(plan), ..Default::default() };
        let machines: Vec<serde_json::Value> = store::export(fixture.plans.store().as_ref(), log)
            .map(|record| record.unwrap())
            .filter(|record| record.kind == "plan.applying")
            .map(|record| {
                serde_json::from_str::<serde_json::Value>(&record.body.0).unwrap()["note"]["machine"].take()
            })
            .collect();
        assert_eq!(machines, [serde_json::to_value(plan::Machine::local()).unwrap()]);
        assert_eq!(store::verify(fixture.plans.store().as_ref(), &[]).unwrap().findings, []);
    }
}

/// Applies to disjoint roots do not wait for each other ([lck-disjoint]).
#[test]
fn disjoint_roots_do_not_wait_for_each_other() {
    let fixture = Fixture::new();
    let of = |root: &str, text: &str| {
        let plan = fixture.plans.create(None, &[&fixture.root(root)], &actor("ana")).unwrap();
        let changeset = fixture.plans.context(plan.id).unwrap().start_changeset(&actor("coder")).unwrap();
        changeset.record_many(fixture.rooted(vec![write(&format!("{root}/f"), text)])).unwrap();
        changeset.seal().unwrap();
        fixture.plans.mark_ready(plan.id, &actor("ana")).unwrap();
        plan.id
    };
    let (first, second) = (of("a", "1"), of("b", "2"));
    let options = filetx::TreeOptions { txn_dir: plan::txn_dir(), ..filetx::TreeOptions::default() };
    let root = fixture.root("a");
    let held = filetx::Trees::open(&[&root], options, &testkit::journals::trust).unwrap();
    let (asked, applied) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let fixture = &fixture;
        scope.spawn(move || {
            let _ = fixture.apply(second).unwrap();
            asked.send(second).unwrap();
            let _ = fixture.apply(first).unwrap();
            asked.send(first).unwrap();
        });
        assert_eq!(applied.recv().unwrap(), second, "the other root is free");
        assert!(applied.try_recv().is_err());
        drop(held);
        assert_eq!(applied.recv().unwrap(), first, "the first one waited in line");
    });
    assert_eq!((fixture.read("a/f"), fixture.read("b/f")), ("1".into(), "2".into()));
}

/// Its roots have the same paths as ours.
#[test]
fn an_apply_on_another_machine_does_not_block() {
    let fixture = Fixture::new();
    let [theirs, ours] = ["theirs", "ours"]
        .map(|name| fixture.plan(vec![("coder", vec![write(&format!("a/{name}"), "new")])]));
    let plan = fixture.get(theirs);
    let step = store::PlanStep {
        plan: theirs,
        request: store::RequestId::new(),
        from: State::Ready.stored(),
        version: plan.version,
        to: State::Applying.stored(),
        epoch: None,
        open: store::OpenChangesets::Refuse,
        detail: Some(serde_json::json!({ "apply": {
            "machine": { "host": "elsewhere", "id": "2" }, "process": 1, "transaction": format!("{:032x}", 1),
            "changeset": null, "who": "ana", "from": "ready",
        } })),
        kind: store::AuditKind::parse("plan.applying").unwrap(),
        actor: actor("ana"),
        note: serde_json::Value::Null,
    };
    fixture.plans.store().step_plan(&step).unwrap();
    let wait = filetx::Wait {
        notice_after: std::time::Duration::ZERO,
        on_wait: Some(Arc::new(|waiting| panic!("it waited for {}", waiting.lock.display()))),
        ..filetx::Wait::default()
    };
    let request = plan::ApplyRequest::by(&actor("bob"));
    let report =
        fixture.plans.apply(&plan::Host::local(wait), &fixture.plans.get(ours).unwrap(), &request).unwrap();
    assert_eq!((report.plan.state, fixture.state(theirs)), (State::Applied, State::Applying));
}
