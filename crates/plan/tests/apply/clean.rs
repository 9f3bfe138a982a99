//! [cln-keep]

use plan::{Force, State};

use super::ground::{Ground, actor, write};

#[test]
fn clean_up_keeps_work_that_was_not_applied() {
    let ground = Ground::new();
    let applied = ground.plan(vec![("coder", vec![write("a/f", "1")])]);
    let _ = ground.apply(applied).unwrap();
    let ready = ground.plan(vec![("coder", vec![write("a/g", "1")])]);
    let cancelled = ground.plan(vec![("coder", vec![write("a/h", "1")])]);
    ground.plans.cancel(&ground.get(cancelled), &actor("ana"), "no").unwrap();
    let empty = ground.plan(vec![("coder", vec![])]);
    let running = ground.plans.create(None, &[&ground.root("a")], &actor("ana")).unwrap();
    let _open = ground.plans.context(running.id).unwrap().start_changeset(&actor("coder")).unwrap();
    let cleaned = ground.plans.clean(&actor("ana")).unwrap();
    let (mut removed, mut kept) = (cleaned.removed, cleaned.kept);
    removed.sort();
    kept.sort();
    let mut expected = [vec![applied, empty], vec![ready, cancelled, running.id]];
    expected.iter_mut().for_each(|ids| ids.sort());
    assert_eq!([removed, kept], expected);
    let error = ground.plans.remove(&ground.get(ready), Force::No, &actor("ana")).unwrap_err();
    assert_eq!(error.code(), "unapplied");
    assert_eq!(ground.state(ready), State::Ready);
    ground.plans.remove(&ground.get(ready), Force::Yes, &actor("ana")).unwrap();
    assert!(ground.plans.get(ready).is_err());
}

/// [cln-keep] Cancelling closes what is open, and keeps it.
#[test]
fn clean_up_keeps_what_was_open_when_its_plan_was_cancelled() {
    for ground in Ground::of_each_engine("clean_up_keeps_what_was_open_when_its_plan_was_cancelled") {
        let plan = ground.plans.create(None, &[&ground.root("a")], &actor("ana")).unwrap();
        let context = ground.plans.context(plan.id).unwrap();
        let changeset = context.start_changeset(&actor("coder")).unwrap();
        changeset.record_many(ground.rooted(vec![write("a/f", "1")])).unwrap();
        let _empty = context.start_changeset(&actor("tester")).unwrap();
        let cancelled = ground.plans.cancel(&ground.get(plan.id), &actor("ana"), "no").unwrap();
        let error = ground.plans.remove(&cancelled, Force::No, &actor("ana")).unwrap_err();
        assert!(matches!(error, plan::Error::Unapplied { changesets: 1, .. }), "{error}");
        assert!(!ground.plans.is_done(&cancelled).unwrap());
        assert_eq!(ground.plans.clean(&actor("ana")).unwrap().kept, [plan.id]);
        ground.plans.remove(&cancelled, Force::Yes, &actor("ana")).unwrap();
    }
}

/// [cln-keep] That a change is not to be applied does not say that it may be deleted.
#[test]
fn clean_up_keeps_what_its_actor_abandoned() {
    let ground = Ground::new();
    let plan = ground.plans.create(None, &[&ground.root("a")], &actor("ana")).unwrap();
    let context = ground.plans.context(plan.id).unwrap();
    let changeset = context.start_changeset(&actor("coder")).unwrap();
    changeset.record_many(ground.rooted(vec![write("a/f", "1")])).unwrap();
    changeset.abandon("wrong").unwrap();
    assert_eq!(ground.plans.clean(&actor("ana")).unwrap().kept, [plan.id]);
}

#[test]
fn what_an_apply_wrote_down_is_nobodys_work() {
    let ground = Ground::new();
    let id = ground.plan(vec![("coder", vec![write("a/f", "1"), write("b/g", "1")])]);
    let report = ground.apply_with(id, |order| order.part.paths = vec!["f".to_owned()]).unwrap();
    assert_eq!(report.left, 1);
    assert_eq!(ground.plans.changesets(id).unwrap().len(), 2);
    let error = ground.plans.remove(&ground.get(id), Force::No, &actor("ana")).unwrap_err();
    assert!(matches!(error, plan::Error::Unapplied { changesets: 1, .. }), "{error}");
}

#[test]
fn an_undo_of_a_part_stays_as_long_as_the_plan_tells_by_it_what_is_left() {
    let ground = Ground::new();
    ground.write("a/f", "old");
    let plan =
        ground.plan(vec![("coder", vec![write("a/f", "new"), write("a/g", "new"), write("a/h", "new")])]);
    let only = |path: &str| vec![path.to_owned()];
    let _ = ground.apply_with(plan, |order| order.part.paths = vec!["f".to_owned(), "g".to_owned()]).unwrap();
    let undo = ground.undo_with(plan, |order| order.part.paths = only("f")).unwrap().plan.id;
    let error = ground.plans.remove(&ground.get(undo), Force::No, &actor("ana")).unwrap_err();
    assert_eq!(error.code(), "still-needed");
    let cleaned = ground.plans.clean(&actor("ana")).unwrap();
    assert_eq!((cleaned.removed.len(), cleaned.kept.len()), (0, 2));
    // With nothing of it left, the plan needs no undo any more.
    let _ = ground.undo(plan).unwrap();
    let cleaned = ground.plans.clean(&actor("ana")).unwrap();
    assert_eq!((cleaned.removed.len(), cleaned.kept), (2, vec![plan]));
    let report = ground.apply(plan).unwrap();
    assert_eq!((report.files.len(), report.plan.state), (3, State::Applied));
    // A plan goes with its undos.
    let _ = ground.undo_with(plan, |order| order.part.paths = only("f")).unwrap();
    assert_eq!(ground.plans.clean(&actor("ana")).unwrap().removed.len(), 2);
}

#[test]
fn a_plan_that_was_just_made_stays_unless_it_is_named() {
    let ground = Ground::new();
    let plan = ground.plans.create(None, &[&ground.root("a")], &actor("ana")).unwrap();
    assert_eq!(ground.plans.clean(&actor("bob")).unwrap().kept, [plan.id]);
    ground.plans.remove(&plan, Force::No, &actor("ana")).unwrap();
    assert!(ground.plans.list(&[], None).unwrap().is_empty());
}
