//! Undo: of all, of a selection, of an undo; and modified files.

use plan::{ChangeKind, Error, FileOutcome, ModifiedBy, Purpose, Report, State};

use super::fixture::{Fixture, actor, bytes, delete, outcomes, write};
use plan::Change;

/// [und-undo]
#[test]
fn an_undo_can_be_undone() {
    let fixture = Fixture::new();
    fixture.write("a/f", "old");
    fixture.write("b/gone", "old");
    let before = fixture.trees();
    let plan = fixture
        .plan(vec![("coder", vec![write("a/f", "new"), delete("b/gone"), write("b/deep/new", "new")])]);
    let _ = fixture.apply(plan).unwrap();
    let after = fixture.trees();
    let shown = fixture.undo_with(plan, |request| request.dry_run = true).unwrap();
    assert_eq!((fixture.trees(), fixture.state(plan)), (after.clone(), State::Applied));
    let undo = fixture.undo(plan).unwrap();
    assert_eq!(shown.files, undo.files);
    assert!(undo.files.iter().all(|file| file.outcome == FileOutcome::Restored));
    assert_eq!(undo.plan.purpose, Purpose::Undo { of: plan });
    assert_eq!((fixture.trees(), fixture.state(plan)), (before.clone(), State::Undone));
    assert!(matches!(fixture.undo(plan).unwrap_err(), Error::IllegalStep { state: State::Undone, .. }));
    let redo = fixture.undo(undo.plan.id).unwrap();
    assert_eq!(
        (fixture.trees(), fixture.state(plan), fixture.state(undo.plan.id)),
        (after, State::Applied, State::Undone)
    );
    let _ = fixture.undo(redo.plan.id).unwrap();
    assert_eq!(fixture.trees(), before);
    assert_eq!(fixture.state(undo.plan.id), State::Applied);
}

/// [und-drift]
#[test]
fn undo_refuses_modified_files_and_names_their_authors() {
    let fixture = Fixture::new();
    for path in ["a/plan", "a/outside", "a/both", "a/fine"] {
        fixture.write(path, "old");
    }
    let first = fixture.plan(vec![(
        "one",
        ["a/plan", "a/outside", "a/both", "a/fine"].map(|path| write(path, "one")).into(),
    )]);
    let _ = fixture.apply(first).unwrap();
    let second = fixture.plan(vec![("two", vec![write("a/plan", "two"), write("a/both", "two")])]);
    let _ = fixture.apply(second).unwrap();
    fixture.write("a/outside", "a person");
    fixture.write("a/both", "a person");
    let before = fixture.trees();
    let error = fixture.undo(first).unwrap_err();
    let Error::ModifiedSinceApply { files, .. } = &error else { panic!("{error:?}") };
    let by_plan = ModifiedBy::Plan { plan: second, actors: vec![actor("two")] };
    let found: Vec<_> =
        files.iter().map(|file| (file.drift.key.path.show().into_owned(), file.by.clone())).collect();
    assert_eq!(
        found,
        [
            ("both".to_owned(), vec![by_plan.clone(), ModifiedBy::Outside]),
            ("outside".to_owned(), vec![ModifiedBy::Outside]),
            ("plan".to_owned(), vec![by_plan]),
        ]
    );
    assert_eq!(error.code(), "modified-since-apply");
    assert_eq!(fixture.trees(), before);
    assert_eq!(fixture.state(first), State::Applied);
    // Unmodified files can be undone alone.
    let report =
        fixture.undo_with(first, |request| request.selection.paths = vec!["fine".to_owned()]).unwrap();
    assert_eq!(outcomes(&report), [("fine".into(), &FileOutcome::Restored)]);
    assert_eq!((fixture.read("a/fine"), fixture.state(first)), ("old".into(), State::Applied));
}

/// [und-drift]
#[test]
fn changes_of_pruned_plans_are_not_attributed_to_outsiders() {
    let fixture = Fixture::new();
    fixture.write("a/f", "old");
    let [before, first, second] = ["zero", "one", "two"].map(|text| {
        let plan = fixture.plan(vec![(text, vec![write("a/f", text)])]);
        let _ = fixture.apply(plan).unwrap();
        plan
    });
    for cleaned in [before, second] {
        let plan = fixture.plans.get(cleaned).unwrap();
        fixture.plans.remove(&plan, plan::Force::No, &actor("ana")).unwrap();
    }
    let error = fixture.undo(first).unwrap_err();
    let Error::ModifiedSinceApply { files, .. } = &error else { panic!("{error:?}") };
    let by: Vec<_> = files.iter().map(|file| file.by.clone()).collect();
    assert_eq!(by, [[ModifiedBy::Pruned { plans: vec![second] }]]);
}

#[test]
fn undo_of_one_actor_keeps_the_others() {
    let lines: Vec<String> = (0..20).map(|line| format!("line {line}\n")).collect();
    let with = |changes: &[(usize, &str)]| {
        let mut lines = lines.clone();
        changes.iter().for_each(|(line, text)| lines[*line] = format!("{text}\n"));
        lines.concat()
    };
    let fixture = Fixture::new();
    fixture.write("a/f", with(&[]));
    let plan = fixture.plan(vec![
        ("one", vec![write("a/f", with(&[(2, "one")])), write("a/one", "one")]),
        ("two", vec![write("a/f", with(&[(17, "two")])), write("a/two", "two")]),
    ]);
    let _ = fixture.apply(plan).unwrap();
    let error =
        fixture.undo_with(plan, |request| request.selection.actors = vec![actor("three")]).unwrap_err();
    assert_eq!(error.code(), "nothing-to-do");
    let _ = fixture.undo_with(plan, |request| request.selection.actors = vec![actor("one")]).unwrap();
    assert_eq!(fixture.read("a/f"), with(&[(17, "two")]));
    assert!(!fixture.root("a/one").exists());
    assert_eq!((fixture.read("a/two"), fixture.state(plan)), ("two".into(), State::Applied));
}

#[test]
fn undo_of_changes_that_others_built_on_is_a_conflict() {
    let fixture = Fixture::new();
    fixture.write("a/f", "1\n2\n3\n");
    // The second changeset builds on the first.
    let plan = fixture.plans.create(None, &[&fixture.root("a")], &actor("ana")).unwrap();
    let context = fixture.plans.context(plan.id).unwrap();
    let piece = |text: &str| Some(plan::ContentInput::file(text.as_bytes(), 0o644).unwrap());
    for (name, base, text) in
        [("one", "1\n2\n3\n", "1\none\n3\n"), ("two", "1\none\n3\n", "1\none and two\n3\n")]
    {
        let changeset = context.start_changeset(&actor(name)).unwrap();
        let change = fixture.rooted(vec![write("a/f", text)]).pop().unwrap();
        changeset.record(change.with_base(piece(base))).unwrap();
        changeset.seal().unwrap();
    }
    fixture.plans.mark_ready(plan.id, &actor("ana")).unwrap();
    let _ = fixture.apply(plan.id).unwrap();
    let error =
        fixture.undo_with(plan.id, |request| request.selection.actors = vec![actor("one")]).unwrap_err();
    assert_eq!(error.code(), "dependent-changes");
    assert!(error.to_string().contains("the changes of one to `f`: two changed"), "{error}");
    assert_eq!(fixture.read("a/f"), "1\none and two\n3\n");
    let _ = fixture.undo_with(plan.id, |request| request.selection.actors = vec![actor("two")]).unwrap();
    assert_eq!(fixture.read("a/f"), "1\none\n3\n");
}

#[test]
fn an_unapplied_plan_cannot_be_undone() {
    let fixture = Fixture::new();
    let plan = fixture.plan(vec![("coder", vec![write("a/f", "new")])]);
    assert!(matches!(fixture.undo(plan).unwrap_err(), Error::IllegalStep { state: State::Ready, .. }));
}

#[test]
fn changes_reverted_by_hand_are_unchanged_by_undo() {
    let fixture = Fixture::new();
    fixture.write("a/f", "old");
    let plan = fixture.plan(vec![("coder", vec![write("a/f", "new")])]);
    let _ = fixture.apply(plan).unwrap();
    fixture.write("a/f", "old");
    assert_eq!(fixture.undo(plan).unwrap_err().code(), "nothing-to-do");
    let shown = fixture.undo_with(plan, |request| request.dry_run = true).unwrap();
    assert_eq!(outcomes(&shown), [("f".into(), &FileOutcome::Unchanged)]);
}

#[test]
fn undo_of_a_rename_keeps_edits_of_others_under_the_old_name() {
    let fixture = Fixture::new();
    fixture.write("a/old", "1\n2\n3\n4\n5\n");
    let plan = fixture.plan(vec![
        ("mover", vec![Change::rename(bytes("a/old"), bytes("a/new"))]),
        ("editor", vec![write("a/old", "1\n2\n3\n4\nfive\n")]),
    ]);
    let _ = fixture.apply(plan).unwrap();
    assert_eq!(fixture.read("a/new"), "1\n2\n3\n4\nfive\n");
    let _ = fixture.undo_with(plan, |request| request.selection.actors = vec![actor("mover")]).unwrap();
    assert_eq!(fixture.read("a/old"), "1\n2\n3\n4\nfive\n");
    assert!(!fixture.root("a/new").exists());
    let _ = fixture.undo(plan).unwrap();
    assert_eq!((fixture.read("a/old"), fixture.state(plan)), ("1\n2\n3\n4\n5\n".into(), State::Undone));
}

#[test]
fn partial_undos_equal_one_undo() {
    let fixture = Fixture::new();
    fixture.write("a/f", "old");
    let before = fixture.trees();
    let plan =
        fixture.plan(vec![("one", vec![write("a/f", "new"), write("a/g", "new"), write("b/h", "new")])]);
    let _ = fixture.apply(plan).unwrap();
    for path in ["f", "h"] {
        let _ = fixture.undo_with(plan, |request| request.selection.paths = vec![path.to_owned()]).unwrap();
        assert_eq!(fixture.state(plan), State::Applied);
    }
    let last = fixture.undo(plan).unwrap();
    assert_eq!((fixture.trees(), fixture.state(plan)), (before, State::Undone));
    let _ = fixture.undo(last.plan.id).unwrap();
    assert_eq!((fixture.read("a/g"), fixture.state(plan)), ("new".into(), State::Applied));
    assert_eq!(fixture.read("a/f"), "old");
}

#[test]
fn undo_completes_beside_a_file_reverted_by_hand() {
    let fixture = Fixture::new();
    fixture.write("a/f", "old");
    let plan = fixture.plan(vec![("one", vec![write("a/f", "new"), write("a/g", "new")])]);
    let _ = fixture.apply(plan).unwrap();
    fixture.write("a/f", "old");
    let _ = fixture.undo(plan).unwrap();
    assert_eq!((fixture.read("a/f"), fixture.state(plan)), ("old".into(), State::Undone));
}

#[test]
fn a_file_unchanged_by_the_plan_has_nothing_to_undo() {
    let fixture = Fixture::new();
    let plan = fixture.plan(vec![("one", vec![write("a/f", "new"), write("a/g", "new")])]);
    fixture.write("a/f", "new");
    let _ = fixture.apply(plan).unwrap();
    let _ = fixture.undo(plan).unwrap();
    assert_eq!((fixture.read("a/f"), fixture.state(plan)), ("new".into(), State::Undone));
    assert!(!fixture.root("a/g").exists());
}

/// Each report names both paths of a rename, without another read of the store.
#[test]
fn apply_undo_and_redo_report_a_rename_once() {
    let fixture = Fixture::new();
    fixture.write("a/old", "1\n2\n3\n4\n5\n");
    let plan = fixture.plan(vec![
        ("mover", vec![Change::rename(bytes("a/old"), bytes("a/new"))]),
        ("editor", vec![write("a/old", "1\n2\n3\n4\nfive\n")]),
    ]);
    let check = |report: &Report, path: &str, from: &str| {
        let [file] = report.files.as_slice() else { panic!("{:?}", report.files) };
        let paths = (file.key.path.clone(), file.renamed_from.clone(), file.change);
        assert_eq!(paths, (bytes(path), Some(bytes(from)), ChangeKind::Rename));
        assert!(file.before.is_some() && file.after.is_some() && file.before != file.after);
        let mut actors: Vec<&str> = file.authors.iter().map(|author| author.actor.as_str()).collect();
        actors.sort_unstable();
        assert_eq!(actors, ["editor", "mover"]);
    };
    check(&fixture.apply_with(plan, |request| request.dry_run = true).unwrap(), "new", "old");
    check(&fixture.apply(plan).unwrap(), "new", "old");
    check(&fixture.undo_with(plan, |request| request.dry_run = true).unwrap(), "old", "new");
    let undo = fixture.undo(plan).unwrap();
    check(&undo, "old", "new");
    let redo = fixture.undo(undo.plan.id).unwrap();
    let [file] = redo.files.as_slice() else { panic!("{:?}", redo.files) };
    assert_eq!((&file.key.path, &file.renamed_from), (&bytes("new"), &Some(bytes("old"))));
    assert_eq!((fixture.read("a/new"), fixture.state(plan)), ("1\n2\n3\n4\nfive\n".into(), State::Applied));
}
