//! Changes that two actors made alike, and chains of undos: what is reverted, and what stays.

use plan::{Change, PlanId, State};

use super::fixture::{Ground, actor, bytes, delete, write};

fn lines(changes: &[(usize, &str)]) -> String {
    let mut lines: Vec<String> = (0..20).map(|line| format!("line {line}\n")).collect();
    changes.iter().for_each(|(line, text)| lines[*line] = format!("{text}\n"));
    lines.concat()
}

fn undo_of(ground: &Ground, plan: PlanId, name: &str) -> PlanId {
    ground.undo_with(plan, |order| order.part.actors = vec![actor(name)]).unwrap().plan.id
}

fn apply_of(ground: &Ground, plan: PlanId, name: &str) {
    let _ = ground.apply_with(plan, |order| order.part.actors = vec![actor(name)]).unwrap();
}

fn files(ground: &Ground) -> Vec<(String, String)> {
    let is_there = |name: &&&str| ground.root("a").join(name).exists();
    let read = |name: &&str| ((*name).to_owned(), ground.read(&format!("a/{name}")));
    ["f", "g", "new"].iter().filter(is_there).map(read).collect()
}

/// Undoes the second of two actors who did the same, then the first; applied at once, and one after the other.
fn check(changes: impl Fn() -> Vec<Change>, other: impl Fn() -> Vec<Change>) {
    for at_once in [true, false] {
        let ground = Ground::new();
        ground.write("a/f", lines(&[]));
        ground.write("a/g", lines(&[]));
        let before = files(&ground);
        let plan = ground.plan(vec![("one", changes()), ("other", other()), ("two", changes())]);
        if at_once {
            let _ = ground.apply(plan).unwrap();
        } else {
            for name in ["one", "two", "other"] {
                if name != "other" || !other().is_empty() {
                    apply_of(&ground, plan, name);
                }
            }
        }
        let applied = files(&ground);
        let undo = undo_of(&ground, plan, "two");
        assert_eq!((files(&ground), ground.state(plan)), (applied.clone(), State::Applied));
        // Undoing the undo changes no file either; then the other way round.
        let _ = ground.undo(undo).unwrap();
        assert_eq!((files(&ground), ground.state(undo)), (applied.clone(), State::Undone));
        undo_of(&ground, plan, "one");
        assert_eq!(files(&ground), applied);
        undo_of(&ground, plan, "two");
        let alone = files(&ground);
        if !other().is_empty() {
            assert_eq!(ground.state(plan), State::Applied);
            undo_of(&ground, plan, "other");
        }
        assert_eq!((files(&ground), ground.state(plan)), (before, State::Undone));
        // The third alone comes to what was there without the two.
        if !other().is_empty() {
            let again = ground.plan(vec![("one", changes()), ("other", other()), ("two", changes())]);
            apply_of(&ground, again, "other");
            assert_eq!(files(&ground), alone);
        }
    }
}

fn other() -> Vec<Change> {
    vec![write("a/g", lines(&[(3, "other")]))]
}

#[test]
fn undo_of_an_actor_leaves_lines_that_another_made_as_well() {
    let changes = || vec![write("a/f", lines(&[(2, "same")]))];
    check(changes, Vec::new);
    check(changes, other);
    check(changes, || vec![write("a/f", lines(&[(15, "other")]))]);
}

#[test]
fn undo_of_an_actor_leaves_files_that_another_created_as_well() {
    check(|| vec![write("a/new", "same\n")], other);
}

#[test]
fn undo_of_an_actor_leaves_deletions_that_another_made_as_well() {
    check(|| vec![delete("a/f")], other);
}

#[test]
fn undo_of_an_actor_leaves_renames_that_another_made_as_well() {
    let changes = || vec![Change::rename(bytes("a/f"), bytes("a/new"))];
    check(changes, other);
    check(changes, || vec![write("a/f", lines(&[(7, "other")]))]);
}

#[test]
fn undo_of_an_actor_takes_its_own_lines_and_leaves_shared_ones() {
    let ground = Ground::new();
    ground.write("a/f", lines(&[]));
    let plan = ground.plan(vec![
        ("one", vec![write("a/f", lines(&[(2, "same"), (6, "one")]))]),
        ("two", vec![write("a/f", lines(&[(2, "same"), (15, "two")]))]),
    ]);
    let _ = ground.apply(plan).unwrap();
    undo_of(&ground, plan, "two");
    assert_eq!(ground.read("a/f"), lines(&[(2, "same"), (6, "one")]));
    undo_of(&ground, plan, "one");
    assert_eq!((ground.read("a/f"), ground.state(plan)), (lines(&[]), State::Undone));
}

/// Two agree, and what the first undo left is changed by the second: undoing the first undo is refused, not half done.
#[test]
fn undo_of_an_undo_whose_file_went_on_is_refused() {
    let ground = Ground::new();
    ground.write("a/f", lines(&[]));
    let changes = || vec![write("a/f", lines(&[(2, "same")]))];
    let plan = ground.plan(vec![("one", changes()), ("two", changes())]);
    let _ = ground.apply(plan).unwrap();
    let first = undo_of(&ground, plan, "one");
    let second = undo_of(&ground, plan, "two");
    assert_eq!(ground.read("a/f"), lines(&[]));
    assert_eq!(ground.undo(first).unwrap_err().code(), "changed-since");
    let _ = ground.undo(second).unwrap();
    let _ = ground.undo(first).unwrap();
    assert_eq!((ground.read("a/f"), ground.state(plan)), (lines(&[(2, "same")]), State::Applied));
    undo_of(&ground, plan, "two");
    assert_eq!(ground.read("a/f"), lines(&[(2, "same")]));
    undo_of(&ground, plan, "one");
    assert_eq!((ground.read("a/f"), ground.state(plan)), (lines(&[]), State::Undone));
}

/// Plan `p` changes two files, `q` changes one of them back; gives both, applied.
fn back_and_forth(ground: &Ground) -> (PlanId, PlanId) {
    ground.write("a/f", "1\n");
    ground.write("a/g", "1\n");
    let p = ground.plan(vec![("one", vec![write("a/f", "1\n2\n"), write("a/g", "2\n")])]);
    let _ = ground.apply(p).unwrap();
    let q = ground.plan(vec![("two", vec![write("a/f", "1\n")])]);
    let _ = ground.apply(q).unwrap();
    (p, q)
}

#[test]
fn a_chain_of_undos_reverts_a_file_that_the_first_found_reverted() {
    let ground = Ground::new();
    let (p, q) = back_and_forth(&ground);
    let undo = ground.undo(p).unwrap().plan.id;
    let held = || (ground.read("a/f"), ground.read("a/g"), ground.state(p));
    let text = |f: &str, g: &str, state| (f.to_owned(), g.to_owned(), state);
    assert_eq!(held(), text("1\n", "1\n", State::Undone));
    let _ = ground.undo(undo).unwrap();
    assert_eq!(held(), text("1\n", "2\n", State::Applied));
    let _ = ground.undo(q).unwrap();
    assert_eq!(held(), text("1\n2\n", "2\n", State::Applied));
    let _ = ground.undo(p).unwrap();
    assert_eq!(held(), text("1\n", "1\n", State::Undone));
    assert_eq!(ground.undo(p).unwrap_err().code(), "illegal-step");
}

#[test]
fn a_file_that_comes_back_after_its_plan_was_undone_can_be_undone_again() {
    let ground = Ground::new();
    let (p, q) = back_and_forth(&ground);
    let _ = ground.undo(p).unwrap();
    assert_eq!(ground.undo(p).unwrap_err().code(), "illegal-step", "nothing of it is there");
    let _ = ground.undo(q).unwrap();
    assert_eq!(ground.read("a/f"), "1\n2\n");
    let again = ground.undo(p).unwrap();
    assert_eq!(again.files.len(), 1);
    assert_eq!(
        (ground.read("a/f"), ground.read("a/g"), ground.state(p)),
        ("1\n".into(), "1\n".into(), State::Undone)
    );
    assert_eq!(ground.undo(p).unwrap_err().code(), "illegal-step");
}

/// A redo brings back what was undone at each path, not what was undone elsewhere.
#[test]
fn an_undone_undo_leaves_to_apply_what_was_left_before() {
    let ground = Ground::new();
    ground.write("a/f", lines(&[]));
    let plan = ground.plan(vec![
        ("one", vec![write("a/f", lines(&[(2, "one")]))]),
        ("two", vec![write("a/f", lines(&[(15, "two")])), write("a/g", "two")]),
    ]);
    apply_of(&ground, plan, "one");
    let _ = ground.apply_with(plan, |order| order.part.paths = vec!["g".to_owned()]).unwrap();
    let undo = ground.undo(plan).unwrap();
    let _ = ground.undo(undo.plan.id).unwrap();
    let report = ground.apply(plan).unwrap();
    assert_eq!((report.plan.state, ground.read("a/f")), (State::Applied, lines(&[(2, "one"), (15, "two")])));
}

#[test]
fn undo_of_a_new_name_restores_the_old_one() {
    let ground = Ground::new();
    ground.write("a/f", lines(&[]));
    let plan = ground.plan(vec![("one", vec![Change::rename(bytes("a/f"), bytes("a/new"))])]);
    let _ = ground.apply(plan).unwrap();
    let _ = ground.undo_with(plan, |order| order.part.paths = vec!["new".to_owned()]).unwrap();
    assert_eq!(files(&ground), [("f".to_owned(), lines(&[]))]);
}
