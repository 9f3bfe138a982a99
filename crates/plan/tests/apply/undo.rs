//! Undo: of all, of a part, of an undo; and who changed a file since.

use plan::{Changer, Error, FileOutcome, Purpose, State};

use super::fixture::{Ground, actor, bytes, delete, outcomes, write};
use plan::Change;

/// [und-undo]
#[test]
fn an_undo_can_be_undone() {
    let ground = Ground::new();
    ground.write("a/f", "old");
    ground.write("b/gone", "old");
    let before = ground.trees();
    let plan =
        ground.plan(vec![("coder", vec![write("a/f", "new"), delete("b/gone"), write("b/deep/new", "new")])]);
    let _ = ground.apply(plan).unwrap();
    let after = ground.trees();
    let shown = ground.undo_with(plan, |order| order.dry_run = true).unwrap();
    assert_eq!((ground.trees(), ground.state(plan)), (after.clone(), State::Applied));
    let undo = ground.undo(plan).unwrap();
    assert_eq!(shown.files, undo.files);
    assert!(undo.files.iter().all(|file| file.outcome == FileOutcome::Restored));
    assert_eq!(undo.plan.purpose, Purpose::Undo { of: plan });
    assert_eq!((ground.trees(), ground.state(plan)), (before.clone(), State::Undone));
    assert!(matches!(ground.undo(plan).unwrap_err(), Error::IllegalStep { state: State::Undone, .. }));
    let redo = ground.undo(undo.plan.id).unwrap();
    assert_eq!(
        (ground.trees(), ground.state(plan), ground.state(undo.plan.id)),
        (after, State::Applied, State::Undone)
    );
    let _ = ground.undo(redo.plan.id).unwrap();
    assert_eq!(ground.trees(), before);
    assert_eq!(ground.state(undo.plan.id), State::Applied);
}

/// [und-drift]
#[test]
fn files_that_changed_since_are_refused_with_who_changed_them() {
    let ground = Ground::new();
    for path in ["a/plan", "a/outside", "a/both", "a/fine"] {
        ground.write(path, "old");
    }
    let first = ground.plan(vec![(
        "one",
        ["a/plan", "a/outside", "a/both", "a/fine"].map(|path| write(path, "one")).into(),
    )]);
    let _ = ground.apply(first).unwrap();
    let second = ground.plan(vec![("two", vec![write("a/plan", "two"), write("a/both", "two")])]);
    let _ = ground.apply(second).unwrap();
    ground.write("a/outside", "a person");
    ground.write("a/both", "a person");
    let before = ground.trees();
    let error = ground.undo(first).unwrap_err();
    let Error::ChangedSince { files, .. } = &error else { panic!("{error:?}") };
    let by_plan = Changer::Plan { plan: second, actors: vec![actor("two")] };
    let found: Vec<_> =
        files.iter().map(|file| (file.drift.key.path.show().into_owned(), file.by.clone())).collect();
    assert_eq!(
        found,
        [
            ("both".to_owned(), vec![by_plan.clone(), Changer::Outside]),
            ("outside".to_owned(), vec![Changer::Outside]),
            ("plan".to_owned(), vec![by_plan]),
        ]
    );
    assert_eq!(error.code(), "changed-since");
    assert_eq!(ground.trees(), before);
    assert_eq!(ground.state(first), State::Applied);
    // What did not change since can be taken back alone.
    let report = ground.undo_with(first, |order| order.part.paths = vec!["fine".to_owned()]).unwrap();
    assert_eq!(outcomes(&report), [("fine".into(), &FileOutcome::Restored)]);
    assert_eq!((ground.read("a/fine"), ground.state(first)), ("old".into(), State::Applied));
}

/// [und-drift]
#[test]
fn a_plan_that_was_cleaned_up_is_not_taken_for_somebody_outside() {
    let ground = Ground::new();
    ground.write("a/f", "old");
    let [before, first, second] = ["zero", "one", "two"].map(|text| {
        let plan = ground.plan(vec![(text, vec![write("a/f", text)])]);
        let _ = ground.apply(plan).unwrap();
        plan
    });
    for cleaned in [before, second] {
        let plan = ground.plans.get(cleaned).unwrap();
        ground.plans.remove(&plan, plan::Force::No, &actor("ana")).unwrap();
    }
    let error = ground.undo(first).unwrap_err();
    let Error::ChangedSince { files, .. } = &error else { panic!("{error:?}") };
    let by: Vec<_> = files.iter().map(|file| file.by.clone()).collect();
    assert_eq!(by, [[Changer::Cleaned { plans: vec![second] }]]);
}

#[test]
fn undo_of_one_actor_leaves_the_others() {
    let lines: Vec<String> = (0..20).map(|line| format!("line {line}\n")).collect();
    let with = |changes: &[(usize, &str)]| {
        let mut lines = lines.clone();
        changes.iter().for_each(|(line, text)| lines[*line] = format!("{text}\n"));
        lines.concat()
    };
    let ground = Ground::new();
    ground.write("a/f", with(&[]));
    let plan = ground.plan(vec![
        ("one", vec![write("a/f", with(&[(2, "one")])), write("a/one", "one")]),
        ("two", vec![write("a/f", with(&[(17, "two")])), write("a/two", "two")]),
    ]);
    let _ = ground.apply(plan).unwrap();
    let error = ground.undo_with(plan, |order| order.part.actors = vec![actor("three")]).unwrap_err();
    assert_eq!(error.code(), "nothing-to-do");
    let _ = ground.undo_with(plan, |order| order.part.actors = vec![actor("one")]).unwrap();
    assert_eq!(ground.read("a/f"), with(&[(17, "two")]));
    assert!(!ground.root("a/one").exists());
    assert_eq!((ground.read("a/two"), ground.state(plan)), ("two".into(), State::Applied));
}

#[test]
fn what_cannot_be_taken_out_of_a_file_is_a_conflict() {
    let ground = Ground::new();
    ground.write("a/f", "1\n2\n3\n");
    // The second builds on the first.
    let plan = ground.plans.create(None, &[&ground.root("a")], &actor("ana")).unwrap();
    let context = ground.plans.context(plan.id).unwrap();
    let piece = |text: &str| Some(plan::Piece::file(text.as_bytes(), 0o644).unwrap());
    for (name, base, text) in
        [("one", "1\n2\n3\n", "1\none\n3\n"), ("two", "1\none\n3\n", "1\none and two\n3\n")]
    {
        let changeset = context.start_changeset(&actor(name)).unwrap();
        let change = ground.rooted(vec![write("a/f", text)]).pop().unwrap();
        changeset.record(change.on(piece(base))).unwrap();
        changeset.seal().unwrap();
    }
    ground.plans.settle(plan.id, &actor("ana")).unwrap();
    let _ = ground.apply(plan.id).unwrap();
    let error = ground.undo_with(plan.id, |order| order.part.actors = vec![actor("one")]).unwrap_err();
    assert_eq!(error.code(), "entangled");
    assert!(error.to_string().contains("for one alone: two changed"), "{error}");
    assert_eq!(ground.read("a/f"), "1\none and two\n3\n");
    let _ = ground.undo_with(plan.id, |order| order.part.actors = vec![actor("two")]).unwrap();
    assert_eq!(ground.read("a/f"), "1\none\n3\n");
}

#[test]
fn what_was_never_applied_cannot_be_undone() {
    let ground = Ground::new();
    let plan = ground.plan(vec![("coder", vec![write("a/f", "new")])]);
    assert!(matches!(ground.undo(plan).unwrap_err(), Error::IllegalStep { state: State::Ready, .. }));
}

#[test]
fn what_somebody_took_back_by_hand_is_left_alone() {
    let ground = Ground::new();
    ground.write("a/f", "old");
    let plan = ground.plan(vec![("coder", vec![write("a/f", "new")])]);
    let _ = ground.apply(plan).unwrap();
    ground.write("a/f", "old");
    assert_eq!(ground.undo(plan).unwrap_err().code(), "nothing-to-do");
    let shown = ground.undo_with(plan, |order| order.dry_run = true).unwrap();
    assert_eq!(outcomes(&shown), [("f".into(), &FileOutcome::Untouched)]);
}

#[test]
fn undo_of_a_rename_leaves_the_edits_of_others_under_the_old_name() {
    let ground = Ground::new();
    ground.write("a/old", "1\n2\n3\n4\n5\n");
    let plan = ground.plan(vec![
        ("mover", vec![Change::rename(bytes("a/old"), bytes("a/new"))]),
        ("editor", vec![write("a/old", "1\n2\n3\n4\nfive\n")]),
    ]);
    let _ = ground.apply(plan).unwrap();
    assert_eq!(ground.read("a/new"), "1\n2\n3\n4\nfive\n");
    let _ = ground.undo_with(plan, |order| order.part.actors = vec![actor("mover")]).unwrap();
    assert_eq!(ground.read("a/old"), "1\n2\n3\n4\nfive\n");
    assert!(!ground.root("a/new").exists());
    let _ = ground.undo(plan).unwrap();
    assert_eq!((ground.read("a/old"), ground.state(plan)), ("1\n2\n3\n4\n5\n".into(), State::Undone));
}

#[test]
fn undo_in_parts_ends_like_undo_at_once() {
    let ground = Ground::new();
    ground.write("a/f", "old");
    let before = ground.trees();
    let plan =
        ground.plan(vec![("one", vec![write("a/f", "new"), write("a/g", "new"), write("b/h", "new")])]);
    let _ = ground.apply(plan).unwrap();
    for path in ["f", "h"] {
        let _ = ground.undo_with(plan, |order| order.part.paths = vec![path.to_owned()]).unwrap();
        assert_eq!(ground.state(plan), State::Applied);
    }
    let last = ground.undo(plan).unwrap();
    assert_eq!((ground.trees(), ground.state(plan)), (before, State::Undone));
    let _ = ground.undo(last.plan.id).unwrap();
    assert_eq!((ground.read("a/g"), ground.state(plan)), ("new".into(), State::Applied));
    assert_eq!(ground.read("a/f"), "old");
}

#[test]
fn an_undo_beside_a_file_that_somebody_took_back_is_whole() {
    let ground = Ground::new();
    ground.write("a/f", "old");
    let plan = ground.plan(vec![("one", vec![write("a/f", "new"), write("a/g", "new")])]);
    let _ = ground.apply(plan).unwrap();
    ground.write("a/f", "old");
    let _ = ground.undo(plan).unwrap();
    assert_eq!((ground.read("a/f"), ground.state(plan)), ("old".into(), State::Undone));
}

#[test]
fn a_file_that_was_as_wanted_before_the_plan_is_nothing_to_take_back() {
    let ground = Ground::new();
    let plan = ground.plan(vec![("one", vec![write("a/f", "new"), write("a/g", "new")])]);
    ground.write("a/f", "new");
    let _ = ground.apply(plan).unwrap();
    let _ = ground.undo(plan).unwrap();
    assert_eq!((ground.read("a/f"), ground.state(plan)), ("new".into(), State::Undone));
    assert!(!ground.root("a/g").exists());
}
