//! Undo of identical changes of two actors, and chains of undos.

use plan::{Change, PlanId, State};

use super::fixture::{Fixture, actor, bytes, delete, write};

fn lines(changes: &[(usize, &str)]) -> String {
    let mut lines: Vec<String> = (0..20).map(|line| format!("line {line}\n")).collect();
    changes.iter().for_each(|(line, text)| lines[*line] = format!("{text}\n"));
    lines.concat()
}

fn undo_of(fixture: &Fixture, plan: PlanId, name: &str) -> PlanId {
    fixture.undo_with(plan, |request| request.selection.actors = vec![actor(name)]).unwrap().plan.id
}

fn apply_of(fixture: &Fixture, plan: PlanId, name: &str) {
    let _ = fixture.apply_with(plan, |request| request.selection.actors = vec![actor(name)]).unwrap();
}

fn files(fixture: &Fixture) -> Vec<(String, String)> {
    let is_there = |name: &&&str| fixture.root("a").join(name).exists();
    let read = |name: &&str| ((*name).to_owned(), fixture.read(&format!("a/{name}")));
    ["f", "g", "new"].iter().filter(is_there).map(read).collect()
}

/// Undoes the second of two actors with identical changes, then the first; applied together, and
/// one after the other.
fn check(changes: impl Fn() -> Vec<Change>, other: impl Fn() -> Vec<Change>) {
    for at_once in [true, false] {
        let fixture = Fixture::new();
        fixture.write("a/f", lines(&[]));
        fixture.write("a/g", lines(&[]));
        let before = files(&fixture);
        let plan = fixture.plan(vec![("one", changes()), ("other", other()), ("two", changes())]);
        if at_once {
            let _ = fixture.apply(plan).unwrap();
        } else {
            for name in ["one", "two", "other"] {
                if name != "other" || !other().is_empty() {
                    apply_of(&fixture, plan, name);
                }
            }
        }
        let applied = files(&fixture);
        let undo = undo_of(&fixture, plan, "two");
        assert_eq!((files(&fixture), fixture.state(plan)), (applied.clone(), State::Applied));
        // Undoing the undo changes no file either. Then the other order.
        let _ = fixture.undo(undo).unwrap();
        assert_eq!((files(&fixture), fixture.state(undo)), (applied.clone(), State::Undone));
        undo_of(&fixture, plan, "one");
        assert_eq!(files(&fixture), applied);
        undo_of(&fixture, plan, "two");
        let alone = files(&fixture);
        if !other().is_empty() {
            assert_eq!(fixture.state(plan), State::Applied);
            undo_of(&fixture, plan, "other");
        }
        assert_eq!((files(&fixture), fixture.state(plan)), (before, State::Undone));
        // The third actor alone has the same result as without the two.
        if !other().is_empty() {
            let again = fixture.plan(vec![("one", changes()), ("other", other()), ("two", changes())]);
            apply_of(&fixture, again, "other");
            assert_eq!(files(&fixture), alone);
        }
    }
}

fn other() -> Vec<Change> {
    vec![write("a/g", lines(&[(3, "other")]))]
}

#[test]
fn undo_of_an_actor_keeps_identical_lines_of_another() {
    let changes = || vec![write("a/f", lines(&[(2, "same")]))];
    check(changes, Vec::new);
    check(changes, other);
    check(changes, || vec![write("a/f", lines(&[(15, "other")]))]);
}

#[test]
fn undo_of_an_actor_keeps_identical_files_of_another() {
    check(|| vec![write("a/new", "same\n")], other);
}

#[test]
fn undo_of_an_actor_keeps_identical_deletions_of_another() {
    check(|| vec![delete("a/f")], other);
}

#[test]
fn undo_of_an_actor_keeps_identical_renames_of_another() {
    let changes = || vec![Change::rename(bytes("a/f"), bytes("a/new"))];
    check(changes, other);
    check(changes, || vec![write("a/f", lines(&[(7, "other")]))]);
}

#[test]
fn undo_of_an_actor_reverts_its_lines_and_keeps_shared_ones() {
    let fixture = Fixture::new();
    fixture.write("a/f", lines(&[]));
    let plan = fixture.plan(vec![
        ("one", vec![write("a/f", lines(&[(2, "same"), (6, "one")]))]),
        ("two", vec![write("a/f", lines(&[(2, "same"), (15, "two")]))]),
    ]);
    let _ = fixture.apply(plan).unwrap();
    undo_of(&fixture, plan, "two");
    assert_eq!(fixture.read("a/f"), lines(&[(2, "same"), (6, "one")]));
    undo_of(&fixture, plan, "one");
    assert_eq!((fixture.read("a/f"), fixture.state(plan)), (lines(&[]), State::Undone));
}

/// After two undos of identical changes, undoing the first undo is refused as a whole.
#[test]
fn undo_of_an_undo_is_refused_after_a_later_change() {
    let fixture = Fixture::new();
    fixture.write("a/f", lines(&[]));
    let changes = || vec![write("a/f", lines(&[(2, "same")]))];
    let plan = fixture.plan(vec![("one", changes()), ("two", changes())]);
    let _ = fixture.apply(plan).unwrap();
    let first = undo_of(&fixture, plan, "one");
    let second = undo_of(&fixture, plan, "two");
    assert_eq!(fixture.read("a/f"), lines(&[]));
    assert_eq!(fixture.undo(first).unwrap_err().code(), "modified-since-apply");
    let _ = fixture.undo(second).unwrap();
    let _ = fixture.undo(first).unwrap();
    assert_eq!((fixture.read("a/f"), fixture.state(plan)), (lines(&[(2, "same")]), State::Applied));
    undo_of(&fixture, plan, "two");
    assert_eq!(fixture.read("a/f"), lines(&[(2, "same")]));
    undo_of(&fixture, plan, "one");
    assert_eq!((fixture.read("a/f"), fixture.state(plan)), (lines(&[]), State::Undone));
}

/// Applies plan `p`, which changes two files, and `q`, which changes one of them back.
fn change_and_change_back(fixture: &Fixture) -> (PlanId, PlanId) {
    fixture.write("a/f", "1\n");
    fixture.write("a/g", "1\n");
    let p = fixture.plan(vec![("one", vec![write("a/f", "1\n2\n"), write("a/g", "2\n")])]);
    let _ = fixture.apply(p).unwrap();
    let q = fixture.plan(vec![("two", vec![write("a/f", "1\n")])]);
    let _ = fixture.apply(q).unwrap();
    (p, q)
}

#[test]
fn a_chain_of_undos_reverts_a_file_that_was_already_reverted() {
    let fixture = Fixture::new();
    let (p, q) = change_and_change_back(&fixture);
    let undo = fixture.undo(p).unwrap().plan.id;
    let held = || (fixture.read("a/f"), fixture.read("a/g"), fixture.state(p));
    let text = |f: &str, g: &str, state| (f.to_owned(), g.to_owned(), state);
    assert_eq!(held(), text("1\n", "1\n", State::Undone));
    let _ = fixture.undo(undo).unwrap();
    assert_eq!(held(), text("1\n", "2\n", State::Applied));
    let _ = fixture.undo(q).unwrap();
    assert_eq!(held(), text("1\n2\n", "2\n", State::Applied));
    let _ = fixture.undo(p).unwrap();
    assert_eq!(held(), text("1\n", "1\n", State::Undone));
    assert_eq!(fixture.undo(p).unwrap_err().code(), "illegal-step");
}

#[test]
fn a_restored_change_can_be_undone_again() {
    let fixture = Fixture::new();
    let (p, q) = change_and_change_back(&fixture);
    let _ = fixture.undo(p).unwrap();
    assert_eq!(fixture.undo(p).unwrap_err().code(), "illegal-step", "nothing of it is there");
    let _ = fixture.undo(q).unwrap();
    assert_eq!(fixture.read("a/f"), "1\n2\n");
    let again = fixture.undo(p).unwrap();
    assert_eq!(again.files.len(), 1);
    assert_eq!(
        (fixture.read("a/f"), fixture.read("a/g"), fixture.state(p)),
        ("1\n".into(), "1\n".into(), State::Undone)
    );
    assert_eq!(fixture.undo(p).unwrap_err().code(), "illegal-step");
}

/// A redo restores at each path only the changes that were undone there.
#[test]
fn undo_of_an_undo_restores_the_remaining_work() {
    let fixture = Fixture::new();
    fixture.write("a/f", lines(&[]));
    let plan = fixture.plan(vec![
        ("one", vec![write("a/f", lines(&[(2, "one")]))]),
        ("two", vec![write("a/f", lines(&[(15, "two")])), write("a/g", "two")]),
    ]);
    apply_of(&fixture, plan, "one");
    let _ = fixture.apply_with(plan, |request| request.selection.paths = vec!["g".to_owned()]).unwrap();
    let undo = fixture.undo(plan).unwrap();
    let _ = fixture.undo(undo.plan.id).unwrap();
    let report = fixture.apply(plan).unwrap();
    assert_eq!((report.plan.state, fixture.read("a/f")), (State::Applied, lines(&[(2, "one"), (15, "two")])));
}

#[test]
fn undo_of_a_rename_restores_the_old_name() {
    let fixture = Fixture::new();
    fixture.write("a/f", lines(&[]));
    let plan = fixture.plan(vec![("one", vec![Change::rename(bytes("a/f"), bytes("a/new"))])]);
    let _ = fixture.apply(plan).unwrap();
    let _ = fixture.undo_with(plan, |request| request.selection.paths = vec!["new".to_owned()]).unwrap();
    assert_eq!(files(&fixture), [("f".to_owned(), lines(&[]))]);
}

/// The paths that an undo leaves as they are have more bytes than a detail may have.
#[test]
fn an_undo_leaves_any_number_of_identical_files() {
    let fixture = Fixture::new();
    let folder = format!("a/{}", format!("{}/", "d".repeat(240)).repeat(12));
    let changes = || (0..400).map(|at| write(&format!("{folder}{at}"), "same")).collect::<Vec<_>>();
    let plan = fixture.plan(vec![("one", changes()), ("two", changes())]);
    let _ = fixture.apply(plan).unwrap();
    let undo = undo_of(&fixture, plan, "two");
    assert_eq!(fixture.read(&format!("{folder}399")), "same");
    // The undo can be undone, and the rest can be undone.
    let _ = fixture.undo(undo).unwrap();
    undo_of(&fixture, plan, "two");
    undo_of(&fixture, plan, "one");
    assert_eq!(fixture.state(plan), State::Undone);
    assert!(!fixture.root("a").join(format!("{}399", &folder[2..])).exists());
}
