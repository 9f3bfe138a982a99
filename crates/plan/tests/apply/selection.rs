//! Parts of a plan: by actor and by path.

use plan::{Choice, FileOutcome, Part, PathKey, State, Strategy};

use super::fixture::{Ground, actor, bytes, delete, drifted, outcomes, write};
use plan::Change;

#[test]
fn a_part_by_path_leaves_the_rest_ready() {
    let ground = Ground::new();
    ground.write("a/src/x.rs", "old");
    ground.write("a/docs/y.md", "old");
    let plan = ground.plan(vec![(
        "coder",
        vec![
            write("a/src/x.rs", "new"),
            write("a/src/deep/z.rs", "new"),
            write("a/docs/y.md", "new"),
            delete("a/src/x.rs"),
            write("a/src/x.rs", "newer"),
        ],
    )]);
    let only = |paths: &[&str]| Part {
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        ..Part::default()
    };
    let shown = ground
        .apply_with(plan, |order| {
            order.part = only(&["src"]);
            order.dry_run = true
        })
        .unwrap();
    assert_eq!((shown.files.len(), shown.left), (2, 1));
    let report = ground.apply_with(plan, |order| order.part = only(&["src"])).unwrap();
    assert_eq!((report.plan.state, report.left), (State::Ready, 1));
    assert_eq!(report.files.len(), 2);
    assert_eq!((ground.read("a/src/x.rs"), ground.read("a/docs/y.md")), ("newer".into(), "old".into()));
    // Applied before: nothing of it is left.
    let error = ground.apply_with(plan, |order| order.part = only(&["src/**"])).unwrap_err();
    assert_eq!(error.code(), "nothing-to-do");
    let report = ground.apply_with(plan, |order| order.part = only(&["*.txt", "docs/?.md"])).unwrap();
    assert_eq!((report.plan.state, report.left), (State::Applied, 0));
    assert_eq!(ground.read("a/docs/y.md"), "new");
    let error = ground.apply_with(plan, |order| order.part = only(&["["])).unwrap_err();
    assert_eq!(error.code(), "conflict", "applied plans are not applied again: {error}");
    // And all of it can be undone at once.
    let _ = ground.undo(plan).unwrap();
    assert_eq!((ground.read("a/src/x.rs"), ground.read("a/docs/y.md")), ("old".into(), "old".into()));
    assert!(!ground.root("a/src/deep").exists());
}

#[test]
fn patterns_that_cannot_be_read_are_refused() {
    let ground = Ground::new();
    let plan = ground.plan(vec![("coder", vec![write("a/f", "new")])]);
    let error = ground.apply_with(plan, |order| order.part.paths = vec!["{a".to_owned()]).unwrap_err();
    assert_eq!(error.code(), "bad-pattern");
    assert!(!ground.root("a/f").exists());
}

#[test]
fn a_renamed_file_goes_with_its_old_name() {
    let ground = Ground::new();
    ground.write("a/old", "text");
    ground.write("a/other", "text");
    let plan = ground
        .plan(vec![("coder", vec![Change::rename(bytes("a/old"), bytes("a/new")), write("a/other", "x")])]);
    let report = ground.apply_with(plan, |order| order.part.paths = vec!["new".to_owned()]).unwrap();
    assert_eq!(outcomes(&report), [("new".into(), &FileOutcome::Done), ("old".into(), &FileOutcome::Done)]);
    assert!(!ground.root("a/old").exists());
    assert_eq!(ground.read("a/new"), "text");
}

#[test]
fn one_actor_after_the_other_comes_to_both() {
    let lines: Vec<String> = (0..20).map(|line| format!("line {line}\n")).collect();
    let with = |line: usize, text: &str| {
        let mut lines = lines.clone();
        lines[line] = format!("{text}\n");
        lines.concat()
    };
    let ground = Ground::new();
    ground.write("a/f", lines.concat());
    let plan = ground.plan(vec![
        ("one", vec![write("a/f", with(2, "one")), write("a/mine", "one")]),
        ("two", vec![write("a/f", with(17, "two"))]),
    ]);
    let report = ground.apply_with(plan, |order| order.part.actors = vec![actor("one")]).unwrap();
    assert_eq!(report.plan.state, State::Ready);
    assert_eq!(ground.read("a/f"), with(2, "one"));
    let report = ground.apply(plan).unwrap();
    assert_eq!(report.plan.state, State::Applied);
    let both = ground.read("a/f");
    assert!(both.contains("one\n") && both.contains("two\n"), "{both}");
    assert_eq!(report.files.len(), 1);
}

/// Lines, some of them another text.
fn lines(changes: &[(usize, &str)]) -> String {
    let mut lines: Vec<String> = (0..20).map(|line| format!("line {line}\n")).collect();
    changes.iter().for_each(|(line, text)| lines[*line] = format!("{text}\n"));
    lines.concat()
}

fn of(name: &str) -> impl FnOnce(&mut plan::ApplyOrder) {
    let part = Part { actors: vec![actor(name)], ..Part::default() };
    move |order| order.part = part
}

fn only(path: &str) -> impl FnOnce(&mut plan::ApplyOrder) {
    let part = Part { paths: vec![path.to_owned()], ..Part::default() };
    move |order| order.part = part
}

#[test]
fn one_actors_part_and_then_the_others_come_to_both() {
    let ground = Ground::new();
    ground.write("a/f", lines(&[]));
    let plan = ground.plan(vec![
        ("one", vec![write("a/f", lines(&[(2, "one")]))]),
        ("two", vec![write("a/f", lines(&[(17, "two")]))]),
    ]);
    let _ = ground.apply_with(plan, of("one")).unwrap();
    let report = ground.apply_with(plan, of("two")).unwrap();
    assert_eq!(ground.read("a/f"), lines(&[(2, "one"), (17, "two")]));
    assert_eq!((report.plan.state, report.left), (State::Applied, 0));
    // And back, one after the other, in any order.
    let _ = ground.undo_with(plan, |order| order.part.actors = vec![actor("one")]).unwrap();
    assert_eq!(ground.read("a/f"), lines(&[(17, "two")]));
    let _ = ground.undo(plan).unwrap();
    assert_eq!((ground.read("a/f"), ground.state(plan)), (lines(&[]), State::Undone));
}

#[test]
fn one_actors_part_over_lines_of_another_is_a_conflict() {
    let ground = Ground::new();
    ground.write("a/f", lines(&[]));
    let plan = ground.plan(vec![
        ("one", vec![write("a/f", lines(&[(2, "one")]))]),
        ("two", vec![write("a/f", lines(&[(2, "two")]))]),
    ]);
    let _ = ground.apply_with(plan, of("one")).unwrap();
    for dry_run in [true, false] {
        let error = ground
            .apply_with(plan, |order| {
                of("two")(order);
                order.dry_run = dry_run
            })
            .unwrap_err();
        assert_eq!(error.code(), "conflicts");
    }
    assert_eq!(ground.read("a/f"), lines(&[(2, "one")]));
}

#[test]
fn an_edit_of_a_file_whose_new_name_has_landed_goes_to_the_new_name() {
    let ground = Ground::new();
    ground.write("a/old", lines(&[]));
    let plan = ground.plan(vec![
        ("mover", vec![Change::rename(bytes("a/old"), bytes("a/new"))]),
        ("editor", vec![write("a/old", lines(&[(3, "edited")]))]),
    ]);
    let _ = ground.apply_with(plan, of("mover")).unwrap();
    let report = ground.apply_with(plan, of("editor")).unwrap();
    assert_eq!(outcomes(&report), [("new".into(), &FileOutcome::Done)]);
    assert_eq!(ground.read("a/new"), lines(&[(3, "edited")]));
    assert!(!ground.root("a/old").exists());
    assert_eq!(report.plan.state, State::Applied);
}

#[test]
fn a_file_that_gets_another_name_takes_along_what_has_landed() {
    let ground = Ground::new();
    ground.write("a/old", lines(&[]));
    let plan = ground.plan(vec![
        ("mover", vec![Change::rename(bytes("a/old"), bytes("a/new"))]),
        ("editor", vec![write("a/old", lines(&[(3, "edited")]))]),
    ]);
    let _ = ground.apply_with(plan, of("editor")).unwrap();
    let report = ground.apply_with(plan, of("mover")).unwrap();
    assert_eq!((report.plan.state, ground.read("a/new")), (State::Applied, lines(&[(3, "edited")])));
    assert!(!ground.root("a/old").exists());
    let _ = ground.undo(plan).unwrap();
    assert_eq!(ground.read("a/old"), lines(&[]));
}

#[test]
fn what_is_recorded_after_a_part_has_landed_is_left_to_apply() {
    let ground = Ground::new();
    ground.write("a/f", "old");
    let plan = ground.plan(vec![("one", vec![write("a/f", "one"), write("a/g", "one")])]);
    let _ = ground.apply_with(plan, only("f")).unwrap();
    let later = ground.plans.context(plan).unwrap().start_changeset(&actor("two")).unwrap();
    later.record_many(ground.rooted(vec![write("a/f", "two")])).unwrap();
    later.seal().unwrap();
    ground.plans.settle(plan, &actor("ana")).unwrap();
    let report = ground.apply(plan).unwrap();
    assert_eq!((ground.read("a/f"), ground.read("a/g")), ("two".into(), "one".into()));
    assert_eq!((report.plan.state, report.left), (State::Applied, 0));
    let _ = ground.undo(plan).unwrap();
    assert_eq!(ground.read("a/f"), "old");
}

#[test]
fn a_part_that_was_undone_is_left_to_apply() {
    let ground = Ground::new();
    ground.write("a/f", "old");
    let plan = ground.plan(vec![("one", vec![write("a/f", "new"), write("a/g", "new")])]);
    let _ = ground.apply_with(plan, only("f")).unwrap();
    let undo = ground.undo(plan).unwrap();
    assert_eq!((ground.read("a/f"), ground.state(plan)), ("old".into(), State::Ready));
    assert_eq!(ground.apply_with(plan, |order| order.dry_run = true).unwrap().files.len(), 2);
    // The undo undone, it has landed again.
    let redo = ground.undo(undo.plan.id).unwrap();
    assert_eq!((ground.read("a/f"), ground.state(undo.plan.id)), ("new".into(), State::Undone));
    assert_eq!(ground.apply_with(plan, |order| order.dry_run = true).unwrap().files.len(), 1);
    let _ = ground.undo(redo.plan.id).unwrap();
    let report = ground.apply(plan).unwrap();
    assert_eq!((ground.read("a/f"), ground.read("a/g")), ("new".into(), "new".into()));
    assert_eq!(report.plan.state, State::Applied);
}

#[test]
fn a_dry_run_says_how_much_will_be_left() {
    let ground = Ground::new();
    ground.write("a/f", lines(&[]));
    let plan = ground.plan(vec![
        ("one", vec![write("a/f", lines(&[(2, "one")])), write("a/mine", "one")]),
        ("two", vec![write("a/f", lines(&[(17, "two")]))]),
    ]);
    let shown = ground
        .apply_with(plan, |order| {
            of("one")(order);
            order.dry_run = true
        })
        .unwrap();
    let report = ground.apply_with(plan, of("one")).unwrap();
    assert_eq!((shown.left, shown.files.len()), (1, 2));
    assert_eq!((report.left, report.files.len()), (1, 2));
}

/// What was resolved is the same for every part: whoever was not taken does not come back by being applied alone.
#[test]
fn a_resolution_is_part_of_every_part_that_it_is_about() {
    let resolved = |take: &str, changes: Vec<(&str, Vec<Change>)>, path: &str| {
        let ground = Ground::new();
        ground.write("a/f", "old\n");
        ground.write("a/apart", "old\n");
        let plan = ground.plan(changes);
        let key = PathKey { root: ground.root_bytes("a"), path: bytes(path) };
        let choice = Choice::Take(actor(take));
        let strategy = Strategy::ThreeWay;
        let _ = ground.plans.resolve(&ground.get(plan), &key, &choice, strategy, &actor("ana")).unwrap();
        (ground, plan)
    };
    let same_lines = || {
        vec![
            ("one", vec![write("a/f", "one\n"), write("a/mine", "one\n")]),
            ("two", vec![write("a/f", "two\n")]),
            ("three", vec![write("a/apart", "three\n")]),
        ]
    };
    let (ground, plan) = resolved("two", same_lines(), "f");
    let _ = ground.apply_with(plan, |order| order.part.actors = vec![actor("one")]).unwrap();
    assert_eq!((ground.read("a/f"), ground.read("a/mine")), ("two\n".into(), "one\n".into()));
    let report = ground.apply(plan).unwrap();
    assert_eq!((report.plan.state, ground.read("a/f")), (State::Applied, "two\n".into()));
    // Who has no part in it does not bring it along.
    let (ground, plan) = resolved("two", same_lines(), "f");
    let _ = ground.apply_with(plan, |order| order.part.actors = vec![actor("three")]).unwrap();
    assert_eq!((ground.read("a/f"), ground.read("a/apart")), ("old\n".into(), "three\n".into()));
    // A file that was renamed is one file under all its names.
    let renamed = || {
        vec![
            ("one", vec![Change::rename(bytes("a/f"), bytes("a/new")), write("a/new", "one\n")]),
            ("two", vec![write("a/f", "two\n")]),
        ]
    };
    for part in ["one", "two"] {
        let (ground, plan) = resolved("one", renamed(), "new");
        let report = ground.apply_with(plan, |order| order.part.actors = vec![actor(part)]).unwrap();
        assert_eq!((report.plan.state, ground.read("a/new")), (State::Applied, "one\n".into()));
        assert!(!ground.root("a/f").exists());
    }
    let names = || {
        let rename = |to: &str| vec![Change::rename(bytes("a/f"), bytes(to))];
        vec![("one", rename("a/x")), ("two", rename("a/y"))]
    };
    for part in ["one", "two"] {
        let (ground, plan) = resolved("two", names(), "f");
        let _ = ground.apply_with(plan, |order| order.part.actors = vec![actor(part)]).unwrap();
        assert_eq!(ground.read("a/y"), "old\n");
        assert!(!ground.root("a/f").exists() && !ground.root("a/x").exists());
    }
}

/// What landed by an earlier choice, or by none, is not taken for what a person did.
#[test]
fn a_resolution_after_a_part_has_landed_counts() {
    let ground = Ground::new();
    let resolve = |plan, take: &str| {
        let key = PathKey { root: ground.root_bytes("a"), path: bytes("f") };
        let choice = Choice::Take(actor(take));
        let _ = ground
            .plans
            .resolve(&ground.get(plan), &key, &choice, Strategy::ThreeWay, &actor("ana"))
            .unwrap();
    };
    let plan = || {
        ground.write("a/f", "old\n");
        ground.write("a/apart", "old\n");
        ground.plan(vec![
            ("one", vec![write("a/f", "one\n")]),
            ("two", vec![write("a/f", "two\n"), write("a/apart", "two\n")]),
        ])
    };
    let apply = |plan, text: &str| {
        let report = ground.apply(plan).unwrap();
        assert_eq!((report.plan.state, report.left, ground.read("a/f")), (State::Applied, 0, text.into()));
        let _ = ground.undo(plan).unwrap();
        assert_eq!((ground.read("a/f"), ground.state(plan)), ("old\n".into(), State::Undone));
    };
    // One's part, and then it is two's that is taken.
    let first = plan();
    let _ = ground.apply_with(first, of("one")).unwrap();
    assert_eq!(ground.apply(first).unwrap_err().code(), "conflicts");
    resolve(first, "two");
    apply(first, "two\n");
    // The file alone by a choice that somebody thinks better of.
    let second = plan();
    resolve(second, "one");
    let _ = ground.apply_with(second, only("f")).unwrap();
    assert_eq!(ground.read("a/f"), "one\n");
    resolve(second, "two");
    apply(second, "two\n");
    // And what a person did to it then is still in the way.
    let third = plan();
    resolve(third, "one");
    let _ = ground.apply_with(third, only("f")).unwrap();
    resolve(third, "two");
    ground.write("a/f", "a person\n");
    assert_eq!(ground.apply(third).unwrap_err().code(), "drifted");
    assert_eq!(ground.read("a/f"), "a person\n");
}

/// What a person did was merged with the first part, and is not in what actors made of the file.
#[test]
fn a_later_part_keeps_what_a_person_did_before() {
    let ground = Ground::new();
    ground.write("a/f", lines(&[]));
    let plan = ground.plan(vec![
        ("one", vec![write("a/f", lines(&[(2, "one")]))]),
        ("two", vec![write("a/f", lines(&[(17, "two")]))]),
    ]);
    ground.write("a/f", lines(&[(10, "a person")]));
    let merged = |name: &'static str| {
        move |order: &mut plan::ApplyOrder| {
            of(name)(order);
            order.merge_drift = true;
        }
    };
    let _ = ground.apply_with(plan, merged("one")).unwrap();
    assert_eq!(ground.read("a/f"), lines(&[(2, "one"), (10, "a person")]));
    let report = ground.apply_with(plan, of("two")).unwrap();
    assert_eq!(ground.read("a/f"), lines(&[(2, "one"), (10, "a person"), (17, "two")]));
    assert_eq!(report.plan.state, State::Applied);
    let _ = ground.undo(plan).unwrap();
    assert_eq!(ground.read("a/f"), lines(&[(10, "a person")]));
}

#[test]
fn a_later_part_over_lines_of_a_person_is_refused_and_there_is_a_way_out() {
    let ground = Ground::new();
    ground.write("a/f", lines(&[]));
    let plan = ground.plan(vec![
        ("one", vec![write("a/f", lines(&[(17, "one")]))]),
        ("two", vec![write("a/f", lines(&[(2, "two")]))]),
    ]);
    ground.write("a/f", lines(&[(2, "a person")]));
    let merged = |order: &mut plan::ApplyOrder| {
        of("one")(order);
        order.merge_drift = true;
    };
    let report = ground.apply_with(plan, merged).unwrap();
    assert_eq!((report.left, ground.read("a/f")), (1, lines(&[(2, "a person"), (17, "one")])));
    let error = ground.apply(plan).unwrap_err();
    assert_eq!(drifted(&error), ["f"]);
    assert!(matches!(error, plan::Error::Drifted { is_merging: true, .. }), "{error}");
    // What has landed is taken back, the person gives way, and all of it lands.
    let _ = ground.undo(plan).unwrap();
    assert_eq!(ground.read("a/f"), lines(&[(2, "a person")]));
    ground.write("a/f", lines(&[]));
    let report = ground.apply(plan).unwrap();
    assert_eq!((report.plan.state, ground.read("a/f")), (State::Applied, lines(&[(2, "two"), (17, "one")])));
}

/// The same where what actors made of the file had to be merged first, which is nowhere as such.
#[test]
fn a_later_part_keeps_what_a_person_did_before_to_what_was_merged() {
    let ground = Ground::new();
    ground.write("a/f", lines(&[]));
    let plan = ground.plan(vec![
        ("one", vec![write("a/f", lines(&[(2, "one")]))]),
        ("three", vec![write("a/f", lines(&[(6, "three")]))]),
        ("two", vec![write("a/f", lines(&[(17, "two")]))]),
    ]);
    ground.write("a/f", lines(&[(11, "a person")]));
    let _ = ground
        .apply_with(plan, |order| {
            order.part.actors = vec![actor("one"), actor("two")];
            order.merge_drift = true;
        })
        .unwrap();
    assert_eq!(ground.read("a/f"), lines(&[(2, "one"), (11, "a person"), (17, "two")]));
    let report = ground.apply_with(plan, of("three")).unwrap();
    assert_eq!(ground.read("a/f"), lines(&[(2, "one"), (6, "three"), (11, "a person"), (17, "two")]));
    assert_eq!(report.plan.state, State::Applied);
}

#[test]
fn a_plan_whose_last_conflict_was_resolved_tells_of_none() {
    let ground = Ground::new();
    ground.write("a/f", "old\n");
    let plan = ground.plan(vec![("one", vec![write("a/f", "one\n")]), ("two", vec![write("a/f", "two\n")])]);
    assert_eq!(ground.apply(plan).unwrap_err().code(), "conflicts");
    assert!(ground.get(plan).detail.error.is_some());
    let key = PathKey { root: ground.root_bytes("a"), path: bytes("f") };
    let choice = Choice::Take(actor("two"));
    let resolved = ground.plans.resolve(&ground.get(plan), &key, &choice, Strategy::ThreeWay, &actor("ana"));
    let resolved = resolved.unwrap();
    assert_eq!((resolved.state, resolved.detail.error), (State::Ready, None));
}
