//! Prune ([cln-keep]).

use std::cell::RefCell;

use plan::{Error, Force, PlanId, PruneReport, Purpose, State, Step};
use store::{AuditKind, OpenChangesets, PlanStep, RequestId};

use super::fixture::{Fixture, actor, write};

/// Prunes, and returns the ids of plans removed, kept and already removed.
fn clean(fixture: &Fixture, dry_run: bool) -> [Vec<PlanId>; 3] {
    ids(fixture.plans.prune::<Error>(&actor("ana"), dry_run, |_| Ok(())).unwrap())
}

fn ids(PruneReport { removed, kept, already_removed }: PruneReport) -> [Vec<PlanId>; 3] {
    [removed, kept, already_removed].map(|plans| plans.iter().map(|plan| plan.id).collect())
}

#[test]
fn prune_keeps_unapplied_work() {
    let fixture = Fixture::new();
    let applied = fixture.plan(vec![("coder", vec![write("a/f", "1")])]);
    let _ = fixture.apply(applied).unwrap();
    let ready = fixture.plan(vec![("coder", vec![write("a/g", "1")])]);
    let cancelled = fixture.plan(vec![("coder", vec![write("a/h", "1")])]);
    fixture.plans.cancel(&fixture.get(cancelled), &actor("ana"), "no").unwrap();
    let empty = fixture.plan(vec![("coder", vec![])]);
    let running = fixture.plans.create(None, &[&fixture.root("a")], &actor("ana")).unwrap();
    let _open = fixture.plans.context(running.id).unwrap().start_changeset(&actor("coder")).unwrap();
    let expected = [vec![empty, applied], vec![running.id, cancelled, ready], vec![]];
    assert_eq!(clean(&fixture, true), expected);
    assert_eq!(clean(&fixture, false), expected);
    let error = fixture.plans.remove(&fixture.get(ready), Force::No, &actor("ana")).unwrap_err();
    assert_eq!(error.code(), "unapplied");
    assert_eq!(fixture.state(ready), State::Ready);
    fixture.plans.remove(&fixture.get(ready), Force::Yes, &actor("ana")).unwrap();
    assert!(fixture.plans.get(ready).is_err());
}

/// [cln-keep] Cancelling abandons open changesets and keeps their entries.
#[test]
fn prune_keeps_changesets_of_cancelled_plans() {
    for fixture in Fixture::of_each_engine("prune_keeps_changesets_of_cancelled_plans") {
        let plan = fixture.plans.create(None, &[&fixture.root("a")], &actor("ana")).unwrap();
        let context = fixture.plans.context(plan.id).unwrap();
        let changeset = context.start_changeset(&actor("coder")).unwrap();
        changeset.record_many(fixture.rooted(vec![write("a/f", "1")])).unwrap();
        let _empty = context.start_changeset(&actor("tester")).unwrap();
        let cancelled = fixture.plans.cancel(&fixture.get(plan.id), &actor("ana"), "no").unwrap();
        let error = fixture.plans.remove(&cancelled, Force::No, &actor("ana")).unwrap_err();
        assert!(matches!(error, Error::Unapplied { changesets: 1, .. }), "{error}");
        assert_eq!(clean(&fixture, true)[1], [plan.id]);
        assert_eq!(clean(&fixture, false)[1], [plan.id]);
        fixture.plans.remove(&cancelled, Force::Yes, &actor("ana")).unwrap();
    }
}

/// [cln-keep] An abandoned change is not applied, and not deleted either.
#[test]
fn prune_keeps_abandoned_changesets() {
    let fixture = Fixture::new();
    let plan = fixture.plans.create(None, &[&fixture.root("a")], &actor("ana")).unwrap();
    let context = fixture.plans.context(plan.id).unwrap();
    let changeset = context.start_changeset(&actor("coder")).unwrap();
    changeset.record_many(fixture.rooted(vec![write("a/f", "1")])).unwrap();
    changeset.abandon("wrong").unwrap();
    assert_eq!(clean(&fixture, false)[1], [plan.id]);
}

#[test]
fn target_logs_are_not_work() {
    let fixture = Fixture::new();
    let id = fixture.plan(vec![("coder", vec![write("a/f", "1"), write("b/g", "1")])]);
    let report = fixture.apply_with(id, |request| request.selection.paths = vec!["f".to_owned()]).unwrap();
    assert_eq!(report.remaining, 1);
    assert_eq!(fixture.plans.changesets(id).unwrap().len(), 2);
    let error = fixture.plans.remove(&fixture.get(id), Force::No, &actor("ana")).unwrap_err();
    assert!(matches!(error, Error::Unapplied { changesets: 1, .. }), "{error}");
}

#[test]
fn a_partial_undo_is_kept_while_its_plan_needs_it() {
    let fixture = Fixture::new();
    fixture.write("a/f", "old");
    let plan =
        fixture.plan(vec![("coder", vec![write("a/f", "new"), write("a/g", "new"), write("a/h", "new")])]);
    let only = |path: &str| vec![path.to_owned()];
    let _ = fixture
        .apply_with(plan, |request| request.selection.paths = vec!["f".to_owned(), "g".to_owned()])
        .unwrap();
    let undo = fixture.undo_with(plan, |request| request.selection.paths = only("f")).unwrap().plan.id;
    let error = fixture.plans.remove(&fixture.get(undo), Force::No, &actor("ana")).unwrap_err();
    assert_eq!(error.code(), "has-dependents");
    let expected = [vec![], vec![undo, plan], vec![]];
    assert_eq!(clean(&fixture, true), expected);
    assert_eq!(clean(&fixture, false), expected);
    // Once the plan is undone as a whole, it needs no partial undo.
    let _ = fixture.undo(plan).unwrap();
    let [removed, kept, _] = clean(&fixture, true);
    assert_eq!((removed.len(), &kept), (2, &vec![plan]));
    assert_eq!(clean(&fixture, false), [removed, kept, vec![]]);
    let report = fixture.apply(plan).unwrap();
    assert_eq!((report.files.len(), report.plan.state), (3, State::Applied));
    // A plan is removed with its undos.
    let _ = fixture.undo_with(plan, |request| request.selection.paths = only("f")).unwrap();
    let expected = clean(&fixture, true);
    assert_eq!(expected[0].len(), 2);
    assert_eq!(clean(&fixture, false), expected);
}

#[test]
fn a_new_plan_is_removed_only_by_name() {
    let fixture = Fixture::new();
    let plan = fixture.plans.create(None, &[&fixture.root("a")], &actor("ana")).unwrap();
    assert_eq!(clean(&fixture, false)[1], [plan.id]);
    fixture.plans.remove(&plan, Force::No, &actor("ana")).unwrap();
    assert!(fixture.plans.list(&[], None).unwrap().is_empty());
}

#[test]
fn prune_continues_when_plans_change_concurrently() {
    let fixture = Fixture::new();
    let applied = ["a/1", "a/2", "a/3", "a/4"].map(|path| {
        let plan = fixture.plan(vec![("coder", vec![write(path, "1")])]);
        let _ = fixture.apply(plan).unwrap();
        plan
    });
    let [first, removed, changed, last] = applied;
    let pruned = RefCell::new(Vec::new());
    let on_removed = |plan| {
        pruned.borrow_mut().push(plan);
        if plan == first {
            fixture.plans.remove(&fixture.get(removed), Force::No, &actor("bob"))?;
            let _ = fixture.undo(changed)?;
        }
        Ok::<_, Error>(())
    };
    let cleaned = ids(fixture.plans.prune(&actor("ana"), false, on_removed).unwrap());
    assert_eq!(cleaned, [vec![last, first], vec![changed], vec![removed]]);
    assert_eq!(pruned.into_inner(), [first, last]);
    assert_eq!(fixture.state(changed), State::Undone);
}

/// Creates an undo as a kill leaves it, in this state.
fn interrupted_undo(fixture: &Fixture, of: PlanId, state: State) -> PlanId {
    let undo = fixture.plans.create_for(Purpose::Undo { of }, None, &[&fixture.root("a")], &actor("bob"));
    let undo = undo.unwrap().id;
    if state != State::Queued {
        let changeset = fixture.plans.context(undo).unwrap().start_changeset(&actor("bob")).unwrap();
        changeset.record_many(fixture.rooted(vec![write("a/f", "old")])).unwrap();
        if state == State::Ready {
            changeset.seal().unwrap();
            fixture.plans.mark_ready(undo, &actor("bob")).unwrap();
        }
    }
    assert_eq!(fixture.state(undo), state);
    undo
}

#[test]
fn an_interrupted_undo_is_pruned_and_cannot_be_applied() {
    for state in [State::Queued, State::Running, State::Ready] {
        let fixture = Fixture::new();
        fixture.write("a/f", "old");
        let plan = fixture.plan(vec![("coder", vec![write("a/f", "new")])]);
        let _ = fixture.apply(plan).unwrap();
        let undo = interrupted_undo(&fixture, plan, state);
        assert!(fixture.get(undo).is_unfinished_undo());
        let error = fixture.apply(undo).unwrap_err();
        assert_eq!(error.code(), "unfinished-undo");
        let error = fixture.apply_with(undo, |request| request.dry_run = true).unwrap_err();
        assert_eq!(error.code(), "unfinished-undo");
        assert_eq!(fixture.read("a/f"), "new");
        // A process may be about to apply it, so only its name removes it at once.
        assert_eq!(clean(&fixture, false), [vec![plan], vec![undo], vec![]]);
        fixture.plans.remove(&fixture.get(undo), Force::No, &actor("ana")).unwrap();
        assert!(fixture.plans.get(undo).is_err());
    }
}

#[test]
fn a_plan_is_kept_while_it_is_being_undone() {
    let fixture = Fixture::new();
    fixture.write("a/f", "old");
    let plan = fixture.plan(vec![("coder", vec![write("a/f", "new")])]);
    let _ = fixture.apply(plan).unwrap();
    let undo = interrupted_undo(&fixture, plan, State::Ready);
    fixture.plans.step(&fixture.get(undo), &Step::to(State::Applying, &actor("bob"))).unwrap();
    // The plan names its undo, as an undo does before it changes a file.
    let named = fixture.get(plan);
    let step = PlanStep {
        plan,
        request: RequestId::new(),
        from: named.state.stored(),
        version: named.version,
        to: named.state.stored(),
        epoch: None,
        open: OpenChangesets::Leave,
        detail: Some(serde_json::json!({ "undoing": [undo] })),
        kind: AuditKind::parse("plan.undoing").unwrap(),
        actor: actor("bob"),
        note: serde_json::Value::Null,
    };
    fixture.plans.store().step_plan(&step).unwrap();
    for force in [Force::No, Force::Yes] {
        let error = fixture.plans.remove(&fixture.get(plan), force, &actor("ana")).unwrap_err();
        assert_eq!(error.code(), "being-undone");
    }
    assert_eq!(clean(&fixture, false), [vec![], vec![undo, plan], vec![]]);
}
