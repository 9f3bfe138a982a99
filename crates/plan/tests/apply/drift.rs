//! Merging: of actors, and of what people changed since.

use plan::{Error, FileOutcome, State, Strategy};

use super::fixture::{Ground, drifted, outcomes, write};

fn lines() -> Vec<String> {
    (0..30).map(|line| format!("line {line}\n")).collect()
}

fn with(changes: &[(usize, &str)]) -> String {
    let mut lines = lines();
    for (line, text) in changes {
        lines[*line] = format!("{text}\n");
    }
    lines.concat()
}

#[test]
fn edits_of_other_lines_are_merged_when_asked_for() {
    let ground = Ground::new();
    ground.write("a/f", with(&[]));
    let plan = ground.plan(vec![("coder", vec![write("a/f", with(&[(3, "coder")])), write("b/new", "new")])]);
    ground.write("a/f", with(&[(20, "a person")]));
    assert_eq!(drifted(&ground.apply(plan).unwrap_err()), ["f"]);
    let shown = ground
        .apply_with(plan, |order| {
            order.merge_drift = true;
            order.dry_run = true
        })
        .unwrap();
    let report = ground.apply_with(plan, |order| order.merge_drift = true).unwrap();
    assert_eq!(shown.files, report.files);
    assert_eq!(report.plan.state, State::Applied);
    assert_eq!(ground.read("a/f"), with(&[(3, "coder"), (20, "a person")]));
    // Undo leaves the person's edit.
    let report = ground.undo(plan).unwrap();
    assert_eq!(
        outcomes(&report),
        [("f".into(), &FileOutcome::Restored), ("new".into(), &FileOutcome::Restored)]
    );
    assert_eq!(ground.read("a/f"), with(&[(20, "a person")]));
    assert!(!ground.root("b/new").exists());
}

#[test]
fn edits_of_the_same_lines_stay_conflicts() {
    let ground = Ground::new();
    ground.write("a/f", with(&[]));
    ground.write("a/gone", "old");
    let plan =
        ground.plan(vec![("coder", vec![write("a/f", with(&[(3, "coder")])), write("a/gone", "new")])]);
    ground.write("a/f", with(&[(3, "a person")]));
    std::fs::remove_file(ground.root("a/gone")).unwrap();
    let before = ground.trees();
    let error = ground.apply_with(plan, |order| order.merge_drift = true).unwrap_err();
    assert_eq!(drifted(&error), ["f", "gone"]);
    assert_eq!(ground.trees(), before);
}

#[test]
fn actors_that_clash_leave_everything_untouched() {
    let ground = Ground::new();
    ground.write("a/f", with(&[]));
    let plan = ground.plan(vec![
        ("one", vec![write("a/f", with(&[(3, "one")])), write("b/g", "new")]),
        ("two", vec![write("a/f", with(&[(3, "two")]))]),
    ]);
    let before = ground.trees();
    let error = ground.apply(plan).unwrap_err();
    let Error::Conflicts { conflicts, .. } = &error else { panic!("{error}") };
    let actors: Vec<&str> = conflicts[0].sides.iter().map(|side| side.credit.actor.as_str()).collect();
    assert_eq!(actors, ["one", "two"]);
    assert_eq!(ground.trees(), before);
    assert_eq!(ground.state(plan), State::Conflict);
    // Another strategy settles it, and undo knows what was taken.
    let _ = ground.apply_with(plan, |order| order.strategy = Strategy::LastWins).unwrap();
    assert_eq!(ground.read("a/f"), with(&[(3, "two")]));
    let _ = ground.undo(plan).unwrap();
    assert_eq!(ground.trees(), before);
}

#[test]
fn actors_that_go_together_are_merged() {
    let ground = Ground::new();
    ground.write("a/f", with(&[]));
    let plan = ground.plan(vec![
        ("one", vec![write("a/f", with(&[(3, "one")]))]),
        ("two", vec![write("a/f", with(&[(20, "two")]))]),
    ]);
    let report = ground.apply(plan).unwrap();
    assert_eq!(report.files[0].credits.len(), 2);
    assert_eq!(ground.read("a/f"), with(&[(3, "one"), (20, "two")]));
}
