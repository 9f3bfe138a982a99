//! Plans: create, find, step and timeline.

use plan::{Detail, Purpose, State, Status, Step};
use serde_json::json;
use store::{AuditKind, Name, OpenChangesets};

use super::fixture::*;

#[test]
fn a_plan_is_found_by_id_prefix_name_and_latest() {
    let fixture = Fixture::new();
    let name = Name::parse("fix login").unwrap();
    let named = fixture.plans.create(Some(name.clone()), &[&fixture.root], &actor("ana")).unwrap();
    let undo = fixture
        .plans
        .create_for(Purpose::Undo { of: named.id }, None, &[&fixture.root], &actor("ana"))
        .unwrap();
    let find = |text: &str| fixture.plans.find(text).unwrap().id;
    assert_eq!(find(&named.id.to_string()), named.id);
    assert_eq!(find("fix login"), named.id);
    assert_eq!(find("@latest"), named.id, "an undo does not count");
    assert_eq!(undo.purpose, Purpose::Undo { of: named.id });
    let all = [undo.id.to_string(), named.id.to_string(), fixture.plan.id.to_string()];
    let common =
        (1..26).rev().find(|length| all.iter().all(|id| id[..*length] == all[0][..*length])).unwrap();
    assert_eq!(fixture.plans.find(&all[0][..common]).unwrap_err().code(), "ambiguous");
    assert_eq!(fixture.plans.find("nothing").unwrap_err().code(), "not-found");
    assert_eq!(
        fixture.plans.create(Some(name), &[&fixture.root], &actor("bo")).unwrap_err().code(),
        "name-taken"
    );
    let listed: Vec<_> = fixture.plans.list(&[], None).unwrap().iter().map(|plan| plan.id).collect();
    assert_eq!(listed, [undo.id, named.id, fixture.plan.id]);
    assert_eq!(fixture.plans.list(&[], Some(2)).unwrap().len(), 2);
    assert_eq!(fixture.plans.list(&[State::Applied], None).unwrap(), []);
    assert_eq!(fixture.plans.list(&[State::Queued], None).unwrap().len(), 3);
}

#[test]
fn roots_exist_are_distinct_and_do_not_overlap() {
    let fixture = Fixture::new();
    fixture.write("file", "x");
    for bad in ["nowhere", "file"] {
        let error = fixture.plans.create(None, &[&fixture.root.join(bad)], &actor("ana")).unwrap_err();
        assert_eq!(error.code(), "bad-root");
    }
    for roots in [[fixture.folder.path(), &fixture.root], [&fixture.root, fixture.folder.path()]] {
        let error = fixture.plans.create(None, &roots, &actor("ana")).unwrap_err();
        assert_eq!(error.code(), "bad-root");
        assert!(error.to_string().contains("overlaps"), "{error}");
    }
    std::os::unix::fs::symlink(&fixture.root, fixture.folder.path().join("link")).unwrap();
    let roots = [fixture.root.as_path(), &fixture.folder.path().join("link")];
    let plan = fixture.plans.create(None, &roots, &actor("ana")).unwrap();
    assert_eq!(plan.roots, fixture.plan.roots);
    let context = fixture.plans.context(plan.id).unwrap();
    assert_eq!(context.root(&fixture.folder.path().join("link")).unwrap(), plan.roots[0]);
    assert_eq!(context.root(fixture.folder.path()).unwrap_err().code(), "foreign-root");
    assert_eq!(context.roots(), plan.roots);
    assert_eq!(context.plans().owner(), fixture.plans.owner());
}

/// [pln-illegal]
#[test]
fn an_illegal_step_names_the_allowed_states() {
    let fixture = Fixture::new();
    for to in State::ALL.into_iter().filter(|to| !State::Queued.allows(*to)) {
        let error = fixture.plans.step(&fixture.plan, &Step::to(to, &actor("ana"))).unwrap_err();
        assert_eq!(error.code(), "illegal-step");
        assert!(error.to_string().ends_with(": it is queued (created; no actor works on it yet)"), "{error}");
        let plan::Error::IllegalStep { allowed, .. } = error else { panic!("{error}") };
        assert_eq!(allowed, [State::Running, State::Cancelled]);
    }
    assert_eq!(fixture.plans.get(fixture.plan.id).unwrap(), fixture.plan, "nothing changed");
    let cancelled = fixture.plans.cancel(&fixture.plan, &actor("ana"), "no longer wanted").unwrap();
    let error = fixture.plans.step(&cancelled, &Step::to(State::Running, &actor("ana"))).unwrap_err();
    assert!(error.to_string().contains("cannot be worked on: it is cancelled"), "{error}");
}

/// [pln-twice]
#[test]
fn one_of_two_concurrent_steps_wins_and_the_error_names_it() {
    let fixture = Fixture::new();
    let step = |who: &str| fixture.plans.step(&fixture.plan, &Step::to(State::Running, &actor(who)));
    let running = step("ana").unwrap();
    assert_eq!((running.state, running.changed_by.as_str()), (State::Running, "ana"));
    let error = step("bo").unwrap_err();
    assert_eq!(error.code(), "conflict");
    assert!(error.to_string().contains("ana changed it"), "{error}");
}

#[test]
fn a_step_is_idempotent_by_its_request_id() {
    let fixture = Fixture::new();
    let step = Step::to(State::Running, &actor("ana"));
    let first = fixture.plans.step(&fixture.plan, &step).unwrap();
    assert_eq!(fixture.plans.step(&fixture.plan, &step).unwrap(), first);
}

#[test]
fn unknown_fields_of_a_detail_are_preserved() {
    let fixture = Fixture::new();
    let extra = json!({"later": [1, 2]}).as_object().unwrap().clone();
    let detail = Detail { error: Some("disk full".into()), merge: None, extra };
    let step = Step::to(State::Running, &actor("ana")).detail(detail.clone());
    let running = fixture.plans.step(&fixture.plan, &step).unwrap();
    assert_eq!(running.detail, detail);
    let ready = fixture.plans.step(&running, &Step::to(State::Ready, &actor("ana"))).unwrap();
    assert_eq!(ready.detail, detail, "a step without detail leaves it");
    let roots: Vec<_> = ready.roots.iter().map(|root| root.show()).collect();
    let expected = json!({
        "id": ready.id, "name": ready.name, "state": "ready", "state_description": State::Ready.description(), "roots": roots,
        "created_by": "ana", "created_at": ready.created_at, "changed_by": "ana", "changed_at": ready.changed_at,
        "error": "disk full",
    });
    assert_eq!(serde_json::to_value(&ready).unwrap(), expected, "JSON omits the rest of the detail");
}

/// [pln-swallow]
#[test]
fn an_unreadable_detail_is_an_error() {
    let fixture = Fixture::new();
    let stored = |state: &str, detail| store::Plan {
        state: store::State::parse(state).unwrap(),
        detail,
        ..fixture.store().plan(fixture.plan.id).unwrap()
    };
    assert_eq!(plan::Plan::from_stored(stored("flying", json!({}))).unwrap_err().code(), "unknown-state");
    let error = plan::Plan::from_stored(stored("ready", json!({"error": 7}))).unwrap_err();
    assert_eq!(error.code(), "plan-detail");
    assert_eq!(plan::Plan::from_stored(stored("ready", json!(null))).unwrap().detail, Detail::default());
}

#[test]
fn cancel_abandons_open_changesets_and_keeps_entries() {
    let fixture = Fixture::new();
    let (first, second) = (fixture.start("coder"), fixture.start("tester"));
    first.record(write("a", "1")).unwrap();
    second.seal().unwrap();
    let running = fixture.plans.get(fixture.plan.id).unwrap();
    let cancelled = fixture.plans.cancel(&running, &actor("ana"), "wrong branch").unwrap();
    assert_eq!(cancelled.state, State::Cancelled);
    assert_eq!(first.record(write("b", "2")).unwrap_err().code(), "changeset-closed");
    assert_eq!(fixture.plans.changeset(first.id()).unwrap().status, Status::Abandoned);
    assert_eq!(fixture.plans.entries(first.id()).unwrap().len(), 1);
    let error = fixture.context.start_changeset(&actor("coder")).unwrap_err();
    assert_eq!(error.code(), "illegal-step");
    let reasons: Vec<_> = fixture
        .plans
        .timeline(fixture.plan.id)
        .unwrap()
        .into_iter()
        .filter_map(|event| event.error)
        .collect();
    assert!(reasons.contains(&"wrong branch".to_owned()), "{reasons:?}");
}

#[test]
fn a_plan_is_ready_when_its_changesets_are_closed_and_running_with_the_next() {
    let fixture = Fixture::new();
    assert_eq!(fixture.mark_ready().state, State::Queued);
    let (first, second) = (fixture.start("coder"), fixture.start("tester"));
    first.seal().unwrap();
    assert_eq!(fixture.mark_ready().state, State::Running, "one is open");
    second.abandon("not needed").unwrap();
    assert_eq!(fixture.mark_ready().state, State::Ready);
    let third = fixture.start("coder");
    assert_eq!(fixture.mark_ready().state, State::Running);
    third.seal().unwrap();
    assert_eq!(fixture.mark_ready().state, State::Ready);
}

#[test]
fn timeline_has_every_step_with_its_actor_and_entry_count() {
    let fixture = Fixture::new();
    fixture.sealed("coder", vec![write("a", "1"), write("b", "2")]);
    let ready = fixture.mark_ready();
    let step = Step::to(State::Conflict, &actor("ana"))
        .kind(AuditKind::parse("apply").unwrap())
        .note(json!({"error": "a was changed outside"}))
        .open(OpenChangesets::Refuse);
    fixture.plans.step(&ready, &step).unwrap();
    let events = fixture.plans.timeline(fixture.plan.id).unwrap();
    let seen: Vec<_> = events
        .iter()
        .map(|event| {
            (event.sequence, event.kind.as_str(), event.actor.as_str(), event.from, event.to, event.entries)
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
    assert_eq!(fixture.plans.timeline(store::PlanId::new()).unwrap_err().code(), "not-found");
}

#[test]
fn many_plans_are_listed_over_pages() {
    let fixture = Fixture::new();
    let count = store::limits::PAGE_MAX + 1;
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..count / 8 + 1 {
                    fixture.plans.create(None, &[], &actor("ana")).unwrap();
                }
            });
        }
    });
    assert!(fixture.plans.list(&[State::Queued], None).unwrap().len() > count);
    assert_eq!(fixture.plans.list(&[], Some(count)).unwrap().len(), count);
}
