//! [cln-keep]

use std::cell::RefCell;

use plan::{Cleaned, Error, Force, PlanId, State};

use super::fixture::{Ground, actor, write};

/// Plans that a clean-up removed, kept and found gone, by id.
fn clean(ground: &Ground, dry_run: bool) -> [Vec<PlanId>; 3] {
    ids(ground.plans.clean::<Error>(&actor("ana"), dry_run, |_| Ok(())).unwrap())
}

fn ids(Cleaned { removed, kept, gone }: Cleaned) -> [Vec<PlanId>; 3] {
    [removed, kept, gone].map(|plans| plans.iter().map(|plan| plan.id).collect())
}

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
    let expected = [vec![empty, applied], vec![running.id, cancelled, ready], vec![]];
    assert_eq!(clean(&ground, true), expected);
    assert_eq!(clean(&ground, false), expected);
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
        assert!(matches!(error, Error::Unapplied { changesets: 1, .. }), "{error}");
        assert_eq!(clean(&ground, true)[1], [plan.id]);
        assert_eq!(clean(&ground, false)[1], [plan.id]);
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
    assert_eq!(clean(&ground, false)[1], [plan.id]);
}

#[test]
fn what_an_apply_wrote_down_is_nobodys_work() {
    let ground = Ground::new();
    let id = ground.plan(vec![("coder", vec![write("a/f", "1"), write("b/g", "1")])]);
    let report = ground.apply_with(id, |order| order.part.paths = vec!["f".to_owned()]).unwrap();
    assert_eq!(report.left, 1);
    assert_eq!(ground.plans.changesets(id).unwrap().len(), 2);
    let error = ground.plans.remove(&ground.get(id), Force::No, &actor("ana")).unwrap_err();
    assert!(matches!(error, Error::Unapplied { changesets: 1, .. }), "{error}");
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
    let expected = [vec![], vec![undo, plan], vec![]];
    assert_eq!(clean(&ground, true), expected);
    assert_eq!(clean(&ground, false), expected);
    // With nothing of it left, the plan needs no undo any more.
    let _ = ground.undo(plan).unwrap();
    let [removed, kept, _] = clean(&ground, true);
    assert_eq!((removed.len(), &kept), (2, &vec![plan]));
    assert_eq!(clean(&ground, false), [removed, kept, vec![]]);
    let report = ground.apply(plan).unwrap();
    assert_eq!((report.files.len(), report.plan.state), (3, State::Applied));
    // A plan goes with its undos.
    let _ = ground.undo_with(plan, |order| order.part.paths = only("f")).unwrap();
    let expected = clean(&ground, true);
    assert_eq!(expected[0].len(), 2);
    assert_eq!(clean(&ground, false), expected);
}

#[test]
fn a_plan_that_was_just_made_stays_unless_it_is_named() {
    let ground = Ground::new();
    let plan = ground.plans.create(None, &[&ground.root("a")], &actor("ana")).unwrap();
    assert_eq!(clean(&ground, false)[1], [plan.id]);
    ground.plans.remove(&plan, Force::No, &actor("ana")).unwrap();
    assert!(ground.plans.list(&[], None).unwrap().is_empty());
}

#[test]
fn clean_up_goes_on_when_someone_changes_or_removes_plans_meanwhile() {
    let ground = Ground::new();
    let applied = ["a/1", "a/2", "a/3", "a/4"].map(|path| {
        let plan = ground.plan(vec![("coder", vec![write(path, "1")])]);
        let _ = ground.apply(plan).unwrap();
        plan
    });
    let [first, removed, changed, last] = applied;
    let told = RefCell::new(Vec::new());
    let on_removed = |plan| {
        told.borrow_mut().push(plan);
        if plan == first {
            ground.plans.remove(&ground.get(removed), Force::No, &actor("bob"))?;
            let _ = ground.undo(changed)?;
        }
        Ok::<_, Error>(())
    };
    let cleaned = ids(ground.plans.clean(&actor("ana"), false, on_removed).unwrap());
    assert_eq!(cleaned, [vec![last, first], vec![changed], vec![removed]]);
    assert_eq!(told.into_inner(), [first, last]);
    assert_eq!(ground.state(changed), State::Undone);
}
