//! Drift: edits of people since a plan was recorded, refused or merged.

use plan::{Error, FileOutcome, State, Strategy};

use super::fixture::{Fixture, drifted, outcomes, write};

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
fn merge_drift_merges_edits_of_other_lines() {
    let fixture = Fixture::new();
    fixture.write("a/f", with(&[]));
    let plan =
        fixture.plan(vec![("coder", vec![write("a/f", with(&[(3, "coder")])), write("b/new", "new")])]);
    fixture.write("a/f", with(&[(20, "a person")]));
    assert_eq!(drifted(&fixture.apply(plan).unwrap_err()), ["f"]);
    let shown = fixture
        .apply_with(plan, |request| {
            request.merge_drift = true;
            request.dry_run = true
        })
        .unwrap();
    let report = fixture.apply_with(plan, |request| request.merge_drift = true).unwrap();
    assert_eq!(shown.files, report.files);
    assert_eq!(report.plan.state, State::Applied);
    assert_eq!(fixture.read("a/f"), with(&[(3, "coder"), (20, "a person")]));
    // Undo keeps the edit of the person.
    let report = fixture.undo(plan).unwrap();
    assert_eq!(
        outcomes(&report),
        [("f".into(), &FileOutcome::Restored), ("new".into(), &FileOutcome::Restored)]
    );
    assert_eq!(fixture.read("a/f"), with(&[(20, "a person")]));
    assert!(!fixture.root("b/new").exists());
}

#[test]
fn merge_drift_refuses_edits_of_the_same_lines() {
    let fixture = Fixture::new();
    fixture.write("a/f", with(&[]));
    fixture.write("a/gone", "old");
    let plan =
        fixture.plan(vec![("coder", vec![write("a/f", with(&[(3, "coder")])), write("a/gone", "new")])]);
    fixture.write("a/f", with(&[(3, "a person")]));
    std::fs::remove_file(fixture.root("a/gone")).unwrap();
    let before = fixture.trees();
    let error = fixture.apply_with(plan, |request| request.merge_drift = true).unwrap_err();
    assert_eq!(drifted(&error), ["f", "gone"]);
    assert_eq!(fixture.trees(), before);
}

#[test]
fn conflicting_actors_leave_all_files_unchanged() {
    let fixture = Fixture::new();
    fixture.write("a/f", with(&[]));
    let plan = fixture.plan(vec![
        ("one", vec![write("a/f", with(&[(3, "one")])), write("b/g", "new")]),
        ("two", vec![write("a/f", with(&[(3, "two")]))]),
    ]);
    let before = fixture.trees();
    let error = fixture.apply(plan).unwrap_err();
    let Error::Conflicts { conflicts, .. } = &error else { panic!("{error}") };
    let actors: Vec<&str> = conflicts[0].sides.iter().map(|side| side.attribution.actor.as_str()).collect();
    assert_eq!(actors, ["one", "two"]);
    assert_eq!(fixture.trees(), before);
    assert_eq!(fixture.state(plan), State::Conflict);
    // Last-wins resolves the conflict, and undo reverts what it applied.
    let _ = fixture.apply_with(plan, |request| request.strategy = Strategy::LastWins).unwrap();
    assert_eq!(fixture.read("a/f"), with(&[(3, "two")]));
    let _ = fixture.undo(plan).unwrap();
    assert_eq!(fixture.trees(), before);
}

#[test]
fn changes_of_several_actors_are_merged() {
    let fixture = Fixture::new();
    fixture.write("a/f", with(&[]));
    let plan = fixture.plan(vec![
        ("one", vec![write("a/f", with(&[(3, "one")]))]),
        ("two", vec![write("a/f", with(&[(20, "two")]))]),
    ]);
    let report = fixture.apply(plan).unwrap();
    assert_eq!(report.files[0].authors.len(), 2);
    assert_eq!(fixture.read("a/f"), with(&[(3, "one"), (20, "two")]));
}
