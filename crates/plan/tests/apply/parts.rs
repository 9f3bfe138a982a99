//! Parts of a plan: by actor and by path.

use plan::{FileOutcome, Part, State};

use super::ground::{Ground, actor, bytes, delete, outcomes, write};
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
    assert!(error.hint().is_some());
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
