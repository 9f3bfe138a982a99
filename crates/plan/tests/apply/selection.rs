//! Partial applies, selected by actor and by path.

use plan::{Choice, FileOutcome, PathKey, Selection, State, Strategy};

use super::fixture::{Fixture, actor, bytes, delete, drifted, outcomes, write};
use plan::Change;

#[test]
fn a_selection_by_path_leaves_the_rest_ready() {
    let fixture = Fixture::new();
    fixture.write("a/src/x.rs", "old");
    fixture.write("a/docs/y.md", "old");
    let plan = fixture.plan(vec![(
        "coder",
        vec![
            write("a/src/x.rs", "new"),
            write("a/src/deep/z.rs", "new"),
            write("a/docs/y.md", "new"),
            delete("a/src/x.rs"),
            write("a/src/x.rs", "newer"),
        ],
    )]);
    let only = |paths: &[&str]| Selection {
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        ..Selection::default()
    };
    let shown = fixture
        .apply_with(plan, |request| {
            request.selection = only(&["src"]);
            request.dry_run = true
        })
        .unwrap();
    assert_eq!((shown.files.len(), shown.remaining), (2, 1));
    let report = fixture.apply_with(plan, |request| request.selection = only(&["src"])).unwrap();
    assert_eq!((report.plan.state, report.remaining), (State::Ready, 1));
    assert_eq!(report.files.len(), 2);
    assert_eq!((fixture.read("a/src/x.rs"), fixture.read("a/docs/y.md")), ("newer".into(), "old".into()));
    // Already applied: nothing remains.
    let error = fixture.apply_with(plan, |request| request.selection = only(&["src/**"])).unwrap_err();
    assert_eq!(error.code(), "nothing-to-do");
    let report =
        fixture.apply_with(plan, |request| request.selection = only(&["*.txt", "docs/?.md"])).unwrap();
    assert_eq!((report.plan.state, report.remaining), (State::Applied, 0));
    assert_eq!(fixture.read("a/docs/y.md"), "new");
    let error = fixture.apply_with(plan, |request| request.selection = only(&["["])).unwrap_err();
    assert_eq!(error.code(), "conflict", "applied plans are not applied again: {error}");
    // The whole plan can be undone at once.
    let _ = fixture.undo(plan).unwrap();
    assert_eq!((fixture.read("a/src/x.rs"), fixture.read("a/docs/y.md")), ("old".into(), "old".into()));
    assert!(!fixture.root("a/src/deep").exists());
}

#[test]
fn invalid_patterns_are_refused() {
    let fixture = Fixture::new();
    let plan = fixture.plan(vec![("coder", vec![write("a/f", "new")])]);
    let error =
        fixture.apply_with(plan, |request| request.selection.paths = vec!["{a".to_owned()]).unwrap_err();
    assert_eq!(error.code(), "bad-pattern");
    assert!(!fixture.root("a/f").exists());
}

#[test]
fn a_renamed_file_is_selected_by_either_name() {
    let fixture = Fixture::new();
    fixture.write("a/old", "text");
    fixture.write("a/other", "text");
    let plan = fixture
        .plan(vec![("coder", vec![Change::rename(bytes("a/old"), bytes("a/new")), write("a/other", "x")])]);
    let report =
        fixture.apply_with(plan, |request| request.selection.paths = vec!["new".to_owned()]).unwrap();
    assert_eq!(outcomes(&report), [("new".into(), &FileOutcome::Applied)]);
    assert_eq!(report.files[0].renamed_from, Some(bytes("old")));
    assert!(!fixture.root("a/old").exists());
    assert_eq!(fixture.read("a/new"), "text");
}

#[test]
fn applying_actors_one_by_one_equals_applying_both() {
    let lines: Vec<String> = (0..20).map(|line| format!("line {line}\n")).collect();
    let with = |line: usize, text: &str| {
        let mut lines = lines.clone();
        lines[line] = format!("{text}\n");
        lines.concat()
    };
    let fixture = Fixture::new();
    fixture.write("a/f", lines.concat());
    let plan = fixture.plan(vec![
        ("one", vec![write("a/f", with(2, "one")), write("a/mine", "one")]),
        ("two", vec![write("a/f", with(17, "two"))]),
    ]);
    let report = fixture.apply_with(plan, |request| request.selection.actors = vec![actor("one")]).unwrap();
    assert_eq!(report.plan.state, State::Ready);
    assert_eq!(fixture.read("a/f"), with(2, "one"));
    let report = fixture.apply(plan).unwrap();
    assert_eq!(report.plan.state, State::Applied);
    let both = fixture.read("a/f");
    assert!(both.contains("one\n") && both.contains("two\n"), "{both}");
    assert_eq!(report.files.len(), 1);
}

/// Lines, some of them changed.
fn lines(changes: &[(usize, &str)]) -> String {
    let mut lines: Vec<String> = (0..20).map(|line| format!("line {line}\n")).collect();
    changes.iter().for_each(|(line, text)| lines[*line] = format!("{text}\n"));
    lines.concat()
}

fn of(name: &str) -> impl FnOnce(&mut plan::ApplyRequest) {
    let part = Selection { actors: vec![actor(name)], ..Selection::default() };
    move |request| request.selection = part
}

fn only(path: &str) -> impl FnOnce(&mut plan::ApplyRequest) {
    let part = Selection { paths: vec![path.to_owned()], ..Selection::default() };
    move |request| request.selection = part
}

#[test]
fn applying_one_actor_then_the_others_equals_applying_all() {
    let fixture = Fixture::new();
    fixture.write("a/f", lines(&[]));
    let plan = fixture.plan(vec![
        ("one", vec![write("a/f", lines(&[(2, "one")]))]),
        ("two", vec![write("a/f", lines(&[(17, "two")]))]),
    ]);
    let _ = fixture.apply_with(plan, of("one")).unwrap();
    let report = fixture.apply_with(plan, of("two")).unwrap();
    assert_eq!(fixture.read("a/f"), lines(&[(2, "one"), (17, "two")]));
    assert_eq!((report.plan.state, report.remaining), (State::Applied, 0));
    // Undo, one after the other, in any order.
    let _ = fixture.undo_with(plan, |request| request.selection.actors = vec![actor("one")]).unwrap();
    assert_eq!(fixture.read("a/f"), lines(&[(17, "two")]));
    let _ = fixture.undo(plan).unwrap();
    assert_eq!((fixture.read("a/f"), fixture.state(plan)), (lines(&[]), State::Undone));
}

#[test]
fn a_selected_actor_conflicts_with_applied_lines_of_another() {
    let fixture = Fixture::new();
    fixture.write("a/f", lines(&[]));
    let plan = fixture.plan(vec![
        ("one", vec![write("a/f", lines(&[(2, "one")]))]),
        ("two", vec![write("a/f", lines(&[(2, "two")]))]),
    ]);
    let _ = fixture.apply_with(plan, of("one")).unwrap();
    for dry_run in [true, false] {
        let error = fixture
            .apply_with(plan, |request| {
                of("two")(request);
                request.dry_run = dry_run
            })
            .unwrap_err();
        assert_eq!(error.code(), "conflicts");
    }
    assert_eq!(fixture.read("a/f"), lines(&[(2, "one")]));
}

#[test]
fn an_edit_follows_an_applied_rename() {
    let fixture = Fixture::new();
    fixture.write("a/old", lines(&[]));
    let plan = fixture.plan(vec![
        ("mover", vec![Change::rename(bytes("a/old"), bytes("a/new"))]),
        ("editor", vec![write("a/old", lines(&[(3, "edited")]))]),
    ]);
    let _ = fixture.apply_with(plan, of("mover")).unwrap();
    let report = fixture.apply_with(plan, of("editor")).unwrap();
    assert_eq!(outcomes(&report), [("new".into(), &FileOutcome::Applied)]);
    assert_eq!(fixture.read("a/new"), lines(&[(3, "edited")]));
    assert!(!fixture.root("a/old").exists());
    assert_eq!(report.plan.state, State::Applied);
}

#[test]
fn a_rename_carries_applied_changes() {
    let fixture = Fixture::new();
    fixture.write("a/old", lines(&[]));
    let plan = fixture.plan(vec![
        ("mover", vec![Change::rename(bytes("a/old"), bytes("a/new"))]),
        ("editor", vec![write("a/old", lines(&[(3, "edited")]))]),
    ]);
    let _ = fixture.apply_with(plan, of("editor")).unwrap();
    let report = fixture.apply_with(plan, of("mover")).unwrap();
    assert_eq!((report.plan.state, fixture.read("a/new")), (State::Applied, lines(&[(3, "edited")])));
    assert!(!fixture.root("a/old").exists());
    let _ = fixture.undo(plan).unwrap();
    assert_eq!(fixture.read("a/old"), lines(&[]));
}

#[test]
fn changes_recorded_after_a_partial_apply_remain() {
    let fixture = Fixture::new();
    fixture.write("a/f", "old");
    let plan = fixture.plan(vec![("one", vec![write("a/f", "one"), write("a/g", "one")])]);
    let _ = fixture.apply_with(plan, only("f")).unwrap();
    let later = fixture.plans.context(plan).unwrap().start_changeset(&actor("two")).unwrap();
    later.record_many(fixture.rooted(vec![write("a/f", "two")])).unwrap();
    later.seal().unwrap();
    fixture.plans.mark_ready(plan, &actor("ana")).unwrap();
    let report = fixture.apply(plan).unwrap();
    assert_eq!((fixture.read("a/f"), fixture.read("a/g")), ("two".into(), "one".into()));
    assert_eq!((report.plan.state, report.remaining), (State::Applied, 0));
    let _ = fixture.undo(plan).unwrap();
    assert_eq!(fixture.read("a/f"), "old");
}

#[test]
fn an_undone_selection_remains_to_apply() {
    let fixture = Fixture::new();
    fixture.write("a/f", "old");
    let plan = fixture.plan(vec![("one", vec![write("a/f", "new"), write("a/g", "new")])]);
    let _ = fixture.apply_with(plan, only("f")).unwrap();
    let undo = fixture.undo(plan).unwrap();
    assert_eq!((fixture.read("a/f"), fixture.state(plan)), ("old".into(), State::Ready));
    assert_eq!(fixture.apply_with(plan, |request| request.dry_run = true).unwrap().files.len(), 2);
    // Undoing the undo applies it again.
    let redo = fixture.undo(undo.plan.id).unwrap();
    assert_eq!((fixture.read("a/f"), fixture.state(undo.plan.id)), ("new".into(), State::Undone));
    assert_eq!(fixture.apply_with(plan, |request| request.dry_run = true).unwrap().files.len(), 1);
    let _ = fixture.undo(redo.plan.id).unwrap();
    let report = fixture.apply(plan).unwrap();
    assert_eq!((fixture.read("a/f"), fixture.read("a/g")), ("new".into(), "new".into()));
    assert_eq!(report.plan.state, State::Applied);
}

#[test]
fn a_dry_run_counts_the_remaining_paths() {
    let fixture = Fixture::new();
    fixture.write("a/f", lines(&[]));
    let plan = fixture.plan(vec![
        ("one", vec![write("a/f", lines(&[(2, "one")])), write("a/mine", "one")]),
        ("two", vec![write("a/f", lines(&[(17, "two")]))]),
    ]);
    let shown = fixture
        .apply_with(plan, |request| {
            of("one")(request);
            request.dry_run = true
        })
        .unwrap();
    let report = fixture.apply_with(plan, of("one")).unwrap();
    assert_eq!((shown.remaining, shown.files.len()), (1, 2));
    assert_eq!((report.remaining, report.files.len()), (1, 2));
}

/// A resolution holds for every selection: a rejected change does not return by selecting its
/// actor.
#[test]
fn a_resolution_applies_to_every_selection_it_concerns() {
    let resolved = |take: &str, changes: Vec<(&str, Vec<Change>)>, path: &str| {
        let fixture = Fixture::new();
        fixture.write("a/f", "old\n");
        fixture.write("a/apart", "old\n");
        let plan = fixture.plan(changes);
        let key = PathKey { root: fixture.root_bytes("a"), path: bytes(path) };
        let choice = Choice::Take(actor(take));
        let strategy = Strategy::ThreeWay;
        let _ = fixture.plans.resolve(&fixture.get(plan), &key, &choice, strategy, &actor("ana")).unwrap();
        (fixture, plan)
    };
    let same_lines = || {
        vec![
            ("one", vec![write("a/f", "one\n"), write("a/mine", "one\n")]),
            ("two", vec![write("a/f", "two\n")]),
            ("three", vec![write("a/apart", "three\n")]),
        ]
    };
    let (fixture, plan) = resolved("two", same_lines(), "f");
    let _ = fixture.apply_with(plan, |request| request.selection.actors = vec![actor("one")]).unwrap();
    assert_eq!((fixture.read("a/f"), fixture.read("a/mine")), ("two\n".into(), "one\n".into()));
    let report = fixture.apply(plan).unwrap();
    assert_eq!((report.plan.state, fixture.read("a/f")), (State::Applied, "two\n".into()));
    // An actor who is not part of the conflict does not bring the resolution.
    let (fixture, plan) = resolved("two", same_lines(), "f");
    let _ = fixture.apply_with(plan, |request| request.selection.actors = vec![actor("three")]).unwrap();
    assert_eq!((fixture.read("a/f"), fixture.read("a/apart")), ("old\n".into(), "three\n".into()));
    // A renamed file is one file under all its names.
    let renamed = || {
        vec![
            ("one", vec![Change::rename(bytes("a/f"), bytes("a/new")), write("a/new", "one\n")]),
            ("two", vec![write("a/f", "two\n")]),
        ]
    };
    for part in ["one", "two"] {
        let (fixture, plan) = resolved("one", renamed(), "new");
        let report =
            fixture.apply_with(plan, |request| request.selection.actors = vec![actor(part)]).unwrap();
        assert_eq!((report.plan.state, fixture.read("a/new")), (State::Applied, "one\n".into()));
        assert!(!fixture.root("a/f").exists());
    }
    let names = || {
        let rename = |to: &str| vec![Change::rename(bytes("a/f"), bytes(to))];
        vec![("one", rename("a/x")), ("two", rename("a/y"))]
    };
    for part in ["one", "two"] {
        let (fixture, plan) = resolved("two", names(), "f");
        let _ = fixture.apply_with(plan, |request| request.selection.actors = vec![actor(part)]).unwrap();
        assert_eq!(fixture.read("a/y"), "old\n");
        assert!(!fixture.root("a/f").exists() && !fixture.root("a/x").exists());
    }
}

/// Content applied by an earlier resolution, or by none, does not count as an edit of a person.
#[test]
fn a_resolution_after_a_partial_apply_takes_effect() {
    let fixture = Fixture::new();
    let resolve = |plan, take: &str| {
        let key = PathKey { root: fixture.root_bytes("a"), path: bytes("f") };
        let choice = Choice::Take(actor(take));
        let _ = fixture
            .plans
            .resolve(&fixture.get(plan), &key, &choice, Strategy::ThreeWay, &actor("ana"))
            .unwrap();
    };
    let plan = || {
        fixture.write("a/f", "old\n");
        fixture.write("a/apart", "old\n");
        fixture.plan(vec![
            ("one", vec![write("a/f", "one\n")]),
            ("two", vec![write("a/f", "two\n"), write("a/apart", "two\n")]),
        ])
    };
    let apply = |plan, text: &str| {
        let report = fixture.apply(plan).unwrap();
        assert_eq!(
            (report.plan.state, report.remaining, fixture.read("a/f")),
            (State::Applied, 0, text.into())
        );
        let _ = fixture.undo(plan).unwrap();
        assert_eq!((fixture.read("a/f"), fixture.state(plan)), ("old\n".into(), State::Undone));
    };
    // Apply one, then choose two.
    let first = plan();
    let _ = fixture.apply_with(first, of("one")).unwrap();
    assert_eq!(fixture.apply(first).unwrap_err().code(), "conflicts");
    resolve(first, "two");
    apply(first, "two\n");
    // Apply the file alone, then change the resolution.
    let second = plan();
    resolve(second, "one");
    let _ = fixture.apply_with(second, only("f")).unwrap();
    assert_eq!(fixture.read("a/f"), "one\n");
    resolve(second, "two");
    apply(second, "two\n");
    // An edit of a person is still drift.
    let third = plan();
    resolve(third, "one");
    let _ = fixture.apply_with(third, only("f")).unwrap();
    resolve(third, "two");
    fixture.write("a/f", "a person\n");
    assert_eq!(fixture.apply(third).unwrap_err().code(), "drifted");
    assert_eq!(fixture.read("a/f"), "a person\n");
}

/// The edit of a person was merged with the first apply, and is in no changeset.
#[test]
fn a_later_apply_keeps_merged_edits() {
    let fixture = Fixture::new();
    fixture.write("a/f", lines(&[]));
    let plan = fixture.plan(vec![
        ("one", vec![write("a/f", lines(&[(2, "one")]))]),
        ("two", vec![write("a/f", lines(&[(17, "two")]))]),
    ]);
    fixture.write("a/f", lines(&[(10, "a person")]));
    let merged = |name: &'static str| {
        move |request: &mut plan::ApplyRequest| {
            of(name)(request);
            request.merge_drift = true;
        }
    };
    let _ = fixture.apply_with(plan, merged("one")).unwrap();
    assert_eq!(fixture.read("a/f"), lines(&[(2, "one"), (10, "a person")]));
    let report = fixture.apply_with(plan, of("two")).unwrap();
    assert_eq!(fixture.read("a/f"), lines(&[(2, "one"), (10, "a person"), (17, "two")]));
    assert_eq!(report.plan.state, State::Applied);
    let _ = fixture.undo(plan).unwrap();
    assert_eq!(fixture.read("a/f"), lines(&[(10, "a person")]));
}

#[test]
fn a_later_apply_over_merged_edits_is_refused_until_undone() {
    let fixture = Fixture::new();
    fixture.write("a/f", lines(&[]));
    let plan = fixture.plan(vec![
        ("one", vec![write("a/f", lines(&[(17, "one")]))]),
        ("two", vec![write("a/f", lines(&[(2, "two")]))]),
    ]);
    fixture.write("a/f", lines(&[(2, "a person")]));
    let merged = |request: &mut plan::ApplyRequest| {
        of("one")(request);
        request.merge_drift = true;
    };
    let report = fixture.apply_with(plan, merged).unwrap();
    assert_eq!((report.remaining, fixture.read("a/f")), (1, lines(&[(2, "a person"), (17, "one")])));
    let error = fixture.apply(plan).unwrap_err();
    assert_eq!(drifted(&error), ["f"]);
    assert!(matches!(error, plan::Error::Drifted { is_merging: true, .. }), "{error}");
    // Undo, remove the edit, and apply all.
    let _ = fixture.undo(plan).unwrap();
    assert_eq!(fixture.read("a/f"), lines(&[(2, "a person")]));
    fixture.write("a/f", lines(&[]));
    let report = fixture.apply(plan).unwrap();
    assert_eq!((report.plan.state, fixture.read("a/f")), (State::Applied, lines(&[(2, "two"), (17, "one")])));
}

/// The changes of the actors had to be merged first, and no changeset has the merged content.
#[test]
fn a_later_apply_keeps_edits_of_merged_content() {
    let fixture = Fixture::new();
    fixture.write("a/f", lines(&[]));
    let plan = fixture.plan(vec![
        ("one", vec![write("a/f", lines(&[(2, "one")]))]),
        ("three", vec![write("a/f", lines(&[(6, "three")]))]),
        ("two", vec![write("a/f", lines(&[(17, "two")]))]),
    ]);
    fixture.write("a/f", lines(&[(11, "a person")]));
    let _ = fixture
        .apply_with(plan, |request| {
            request.selection.actors = vec![actor("one"), actor("two")];
            request.merge_drift = true;
        })
        .unwrap();
    assert_eq!(fixture.read("a/f"), lines(&[(2, "one"), (11, "a person"), (17, "two")]));
    let report = fixture.apply_with(plan, of("three")).unwrap();
    assert_eq!(fixture.read("a/f"), lines(&[(2, "one"), (6, "three"), (11, "a person"), (17, "two")]));
    assert_eq!(report.plan.state, State::Applied);
}

#[test]
fn a_plan_without_conflicts_has_no_error() {
    let fixture = Fixture::new();
    fixture.write("a/f", "old\n");
    let plan = fixture.plan(vec![("one", vec![write("a/f", "one\n")]), ("two", vec![write("a/f", "two\n")])]);
    assert_eq!(fixture.apply(plan).unwrap_err().code(), "conflicts");
    assert!(fixture.get(plan).detail.error.is_some());
    let key = PathKey { root: fixture.root_bytes("a"), path: bytes("f") };
    let choice = Choice::Take(actor("two"));
    let resolved =
        fixture.plans.resolve(&fixture.get(plan), &key, &choice, Strategy::ThreeWay, &actor("ana"));
    let resolved = resolved.unwrap();
    assert_eq!((resolved.state, resolved.detail.error), (State::Ready, None));
}
