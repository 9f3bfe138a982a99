//! Making, finding, stepping and following plans.

use plan::{Detail, Purpose, State, Status, Step};
use serde_json::json;
use store::{Kind, Name, OpenChangesets};

use super::fixture::*;

#[test]
fn a_plan_is_found_by_id_prefix_name_and_latest() {
    let ground = Ground::new();
    let name = Name::parse("fix login").unwrap();
    let named = ground.plans.create(Some(name.clone()), &[&ground.root], &actor("ana")).unwrap();
    let undo = ground
        .plans
        .create_for(Purpose::Undo { of: named.id }, None, &[&ground.root], &actor("ana"))
        .unwrap();
    let find = |text: &str| ground.plans.find(text).unwrap().id;
    assert_eq!(find(&named.id.to_string()), named.id);
    assert_eq!(find("fix login"), named.id);
    assert_eq!(find("@latest"), named.id, "an undo does not count");
    assert_eq!(undo.purpose, Purpose::Undo { of: named.id });
    let all = [undo.id.to_string(), named.id.to_string(), ground.plan.id.to_string()];
    let common =
        (1..26).rev().find(|length| all.iter().all(|id| id[..*length] == all[0][..*length])).unwrap();
    assert_eq!(ground.plans.find(&all[0][..common]).unwrap_err().code(), "ambiguous");
    assert_eq!(ground.plans.find("nothing").unwrap_err().code(), "not-found");
    assert_eq!(
        ground.plans.create(Some(name), &[&ground.root], &actor("bo")).unwrap_err().code(),
        "name-taken"
    );
    let listed: Vec<_> = ground.plans.list(&[], None).unwrap().iter().map(|plan| plan.id).collect();
    assert_eq!(listed, [undo.id, named.id, ground.plan.id]);
    assert_eq!(ground.plans.list(&[], Some(2)).unwrap().len(), 2);
    assert_eq!(ground.plans.list(&[State::Applied], None).unwrap(), []);
    assert_eq!(ground.plans.list(&[State::Queued], None).unwrap().len(), 3);
}

#[test]
fn a_root_is_a_folder_that_is_there_stands_once_and_is_in_no_other() {
    let ground = Ground::new();
    ground.write("file", "x");
    for bad in ["nowhere", "file"] {
        let error = ground.plans.create(None, &[&ground.root.join(bad)], &actor("ana")).unwrap_err();
        assert_eq!(error.code(), "bad-root");
    }
    for roots in [[ground.folder.path(), &ground.root], [&ground.root, ground.folder.path()]] {
        let error = ground.plans.create(None, &roots, &actor("ana")).unwrap_err();
        assert_eq!(error.code(), "bad-root");
        assert!(error.to_string().contains("inside"), "{error}");
    }
    std::os::unix::fs::symlink(&ground.root, ground.folder.path().join("link")).unwrap();
    let roots = [ground.root.as_path(), &ground.folder.path().join("link")];
    let plan = ground.plans.create(None, &roots, &actor("ana")).unwrap();
    assert_eq!(plan.roots, ground.plan.roots);
    let context = ground.plans.context(plan.id).unwrap();
    assert_eq!(context.root(&ground.folder.path().join("link")).unwrap(), plan.roots[0]);
    assert_eq!(context.root(ground.folder.path()).unwrap_err().code(), "foreign-root");
    assert_eq!(context.roots(), plan.roots);
    assert_eq!(context.plans().owner(), ground.plans.owner());
}

/// [pln-illegal]
#[test]
fn a_step_that_the_table_does_not_allow_names_those_it_does() {
    let ground = Ground::new();
    for to in State::ALL.into_iter().filter(|to| !State::Queued.allows(*to)) {
        let error = ground.plans.step(&ground.plan, &Step::to(to, &actor("ana"))).unwrap_err();
        assert_eq!(error.code(), "illegal-step");
        assert!(error.to_string().ends_with(": it is queued (made; nobody works on it yet)"), "{error}");
        let plan::Error::IllegalStep { allowed, .. } = error else { panic!("{error}") };
        assert_eq!(allowed, [State::Running, State::Cancelled]);
    }
    assert_eq!(ground.plans.get(ground.plan.id).unwrap(), ground.plan, "nothing changed");
    let cancelled = ground.plans.cancel(&ground.plan, &actor("ana"), "no longer wanted").unwrap();
    let error = ground.plans.step(&cancelled, &Step::to(State::Running, &actor("ana"))).unwrap_err();
    assert!(error.to_string().contains("cannot be worked on: it is cancelled"), "{error}");
}

/// [pln-twice]
#[test]
fn of_two_that_step_the_same_plan_one_wins_and_the_other_is_told_who() {
    let ground = Ground::new();
    let step = |who: &str| ground.plans.step(&ground.plan, &Step::to(State::Running, &actor(who)));
    let running = step("ana").unwrap();
    assert_eq!((running.state, running.changed_by.as_str()), (State::Running, "ana"));
    let error = step("bo").unwrap_err();
    assert_eq!(error.code(), "conflict");
    assert!(error.to_string().contains("since ana changed it"), "{error}");
}

#[test]
fn a_step_asked_twice_with_one_request_happens_once() {
    let ground = Ground::new();
    let step = Step::to(State::Running, &actor("ana"));
    let first = ground.plans.step(&ground.plan, &step).unwrap();
    assert_eq!(ground.plans.step(&ground.plan, &step).unwrap(), first);
}

#[test]
fn detail_is_kept_with_fields_that_nobody_knows() {
    let ground = Ground::new();
    let more = json!({"later": [1, 2]}).as_object().unwrap().clone();
    let detail = Detail { error: Some("disk full".into()), merge: None, more };
    let step = Step::to(State::Running, &actor("ana")).detail(detail.clone());
    let running = ground.plans.step(&ground.plan, &step).unwrap();
    assert_eq!(running.detail, detail);
    let ready = ground.plans.step(&running, &Step::to(State::Ready, &actor("ana"))).unwrap();
    assert_eq!(ready.detail, detail, "a step without detail leaves it");
    let roots: Vec<_> = ready.roots.iter().map(|root| root.show()).collect();
    let told = json!({
        "id": ready.id, "name": ready.name, "state": "ready", "meaning": State::Ready.meaning(), "roots": roots,
        "created_by": "ana", "created_at": ready.created_at, "changed_by": "ana", "changed_at": ready.changed_at,
        "error": "disk full",
    });
    assert_eq!(serde_json::to_value(&ready).unwrap(), told, "programs are not told the rest of the detail");
}

/// [pln-swallow]
#[test]
fn what_cannot_be_read_is_an_error_not_a_guess() {
    let ground = Ground::new();
    let stored = |state: &str, detail| store::Plan {
        state: store::State::parse(state).unwrap(),
        detail,
        ..ground.store().plan(ground.plan.id).unwrap()
    };
    assert_eq!(plan::Plan::from_stored(stored("flying", json!({}))).unwrap_err().code(), "unknown-state");
    let error = plan::Plan::from_stored(stored("ready", json!({"error": 7}))).unwrap_err();
    assert_eq!(error.code(), "plan-detail");
    assert_eq!(plan::Plan::from_stored(stored("ready", json!(null))).unwrap().detail, Detail::default());
}

#[test]
fn cancelling_abandons_open_changesets_and_keeps_what_was_recorded() {
    let ground = Ground::new();
    let (first, second) = (ground.start("coder"), ground.start("tester"));
    first.record(write("a", "1")).unwrap();
    second.seal().unwrap();
    let running = ground.plans.get(ground.plan.id).unwrap();
    let cancelled = ground.plans.cancel(&running, &actor("ana"), "wrong branch").unwrap();
    assert_eq!(cancelled.state, State::Cancelled);
    assert_eq!(first.record(write("b", "2")).unwrap_err().code(), "changeset-closed");
    assert_eq!(ground.plans.changeset(first.id()).unwrap().status, Status::Abandoned);
    assert_eq!(ground.plans.entries(first.id()).unwrap().len(), 1);
    let error = ground.context.start_changeset(&actor("coder")).unwrap_err();
    assert_eq!(error.code(), "illegal-step");
    let reasons: Vec<_> =
        ground.plans.timeline(ground.plan.id).unwrap().into_iter().filter_map(|event| event.error).collect();
    assert!(reasons.contains(&"wrong branch".to_owned()), "{reasons:?}");
}

#[test]
fn a_plan_is_ready_when_its_changesets_are_closed_and_runs_again_with_the_next() {
    let ground = Ground::new();
    assert_eq!(ground.settled().state, State::Queued);
    let (first, second) = (ground.start("coder"), ground.start("tester"));
    first.seal().unwrap();
    assert_eq!(ground.settled().state, State::Running, "one is open");
    second.abandon("not needed").unwrap();
    assert_eq!(ground.settled().state, State::Ready);
    let third = ground.start("coder");
    assert_eq!(ground.settled().state, State::Running);
    third.seal().unwrap();
    assert_eq!(ground.settled().state, State::Ready);
}

#[test]
fn the_timeline_has_every_step_with_who_and_how_many_entries() {
    let ground = Ground::new();
    ground.sealed("coder", vec![write("a", "1"), write("b", "2")]);
    let ready = ground.settled();
    let step = Step::to(State::Conflict, &actor("ana"))
        .kind(Kind::parse("apply").unwrap())
        .note(json!({"error": "a was changed outside"}))
        .open(OpenChangesets::Refuse);
    ground.plans.step(&ready, &step).unwrap();
    let events = ground.plans.timeline(ground.plan.id).unwrap();
    let seen: Vec<_> = events
        .iter()
        .map(|event| {
            (event.sequence, event.kind.as_str(), event.who.as_str(), event.from, event.to, event.entries)
        })
        .collect();
    let expected = [
        (1, "plan.created", "ana", None, Some(State::Queued), None),
        (2, "plan.step", "coder", Some(State::Queued), Some(State::Running), None),
        (3, "changeset.started", "coder", None, None, None),
        (4, "changeset.sealed", "coder", None, None, Some(2)),
        (5, "plan.step", "ana", Some(State::Running), Some(State::Ready), None),
        (6, "apply", "ana", Some(State::Ready), Some(State::Conflict), None),
    ];
    assert_eq!(seen, expected);
    assert_eq!(events[5].error.as_deref(), Some("a was changed outside"));
    assert!(events[3].changeset.is_some());
    assert_eq!(ground.plans.timeline(store::PlanId::new()).unwrap_err().code(), "not-found");
}

#[test]
fn many_plans_are_listed_over_pages() {
    let ground = Ground::new();
    let count = store::limits::PAGE_MAX + 1;
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..count / 8 + 1 {
                    ground.plans.create(None, &[], &actor("ana")).unwrap();
                }
            });
        }
    });
    assert!(ground.plans.list(&[State::Queued], None).unwrap().len() > count);
    assert_eq!(ground.plans.list(&[], Some(count)).unwrap().len(), count);
}
