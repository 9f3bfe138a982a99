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
    assert!(error.hint().unwrap().contains("--force"));
    assert_eq!(ground.state(ready), State::Ready);
    ground.plans.remove(&ground.get(ready), Force::Yes, &actor("ana")).unwrap();
    assert!(ground.plans.get(ready).is_err());
}
