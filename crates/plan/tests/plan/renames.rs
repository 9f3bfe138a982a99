//! Renames: two files never get one name without a conflict.

use plan::{ConflictKind, Content, MergeOutcome, PathKey, Strategy};
use store::Time;

use super::fixture::bytes;
use super::merge::{World, check, key};

/// Adds the changeset of one actor.
type Recorder = fn(&mut World);

/// Merges both changesets in both orders, recorded in that order.
fn in_both_orders(one: Recorder, two: Recorder) -> [World; 2] {
    [[one, two], [two, one]].map(|parts| {
        let mut world = World::default();
        parts.iter().for_each(|part| part(&mut world));
        world
    })
}

/// Checks that in both orders the path has one conflict of this kind between one and two, which
/// holds the old names, so that none of these paths can be applied.
#[track_caller]
fn check_clash(one: Recorder, two: Recorder, path: &str, clash: ConflictKind, old_names: &[&str]) {
    for world in in_both_orders(one, two) {
        for strategy in [Strategy::ThreeWay, Strategy::FailOnConflict] {
            let combined = world.combined(strategy);
            let conflicts: Vec<_> = combined.conflicts().collect();
            assert_eq!(conflicts.len(), 1, "{strategy:?} {combined:#?}");
            let mut actors: Vec<&str> =
                conflicts[0].sides.iter().map(|side| side.attribution.actor.as_str()).collect();
            actors.sort_unstable();
            assert_eq!((&conflicts[0].key, conflicts[0].kind), (&key(path), clash), "{strategy:?}");
            assert_eq!(actors, ["one", "two"]);
            let names: Vec<_> = conflicts[0].old_names.iter().map(|name| name.show().into_owned()).collect();
            assert_eq!(names, old_names);
            assert_eq!(combined.changes().count(), 0, "{combined:#?}");
        }
    }
}

/// Checks the result of last-wins in both orders.
#[track_caller]
fn check_last(one: Recorder, two: Recorder, expected: [&[(&str, Option<&str>)]; 2]) {
    let worlds = in_both_orders(one, two);
    // In the first world, two is last.
    for (world, expected) in worlds.iter().zip([expected[1], expected[0]]) {
        let expected: Vec<_> =
            expected.iter().map(|(path, text)| ((*path).to_owned(), text.map(str::to_owned))).collect();
        assert_eq!(world.texts(Strategy::LastWins), expected);
    }
}

fn one_renames(world: &mut World) {
    let old = world.file("old\n");
    world.actor("one").rename("old", "new", old.clone(), old);
}

fn two_makes(world: &mut World) {
    let made = world.file("made\n");
    world.actor("two").change("new", None, made);
}

#[test]
fn a_rename_onto_a_path_that_another_creates_is_a_conflict() {
    check_clash(one_renames, two_makes, "new", ConflictKind::SamePath, &["old"]);
}

#[test]
fn renames_of_two_files_to_one_name_are_a_conflict() {
    fn two(world: &mut World) {
        let other = world.file("other\n");
        world.actor("two").rename("other", "new", other.clone(), other);
    }
    check_clash(one_renames, two, "new", ConflictKind::SamePath, &["old", "other"]);
}

fn one_replaces(world: &mut World) {
    let (a, b) = (world.file("a\n"), world.file("b\n"));
    world.actor("one").replace("a", "b", a.clone(), b, a);
}

#[test]
fn a_rename_onto_a_file_that_another_edits_is_a_conflict() {
    fn two(world: &mut World) {
        let (b, edited) = (world.file("b\n"), world.file("b\nmore\n"));
        world.actor("two").change("b", b, edited);
    }
    check_clash(one_replaces, two, "b", ConflictKind::SamePath, &["a"]);
}

#[test]
fn a_rename_onto_a_file_that_another_deletes_is_a_conflict() {
    fn two(world: &mut World) {
        let b = world.file("b\n");
        world.actor("two").change("b", b, None);
    }
    check_clash(one_replaces, two, "b", ConflictKind::SamePath, &["a"]);
}

/// One renames `a` onto `b`, which two renames: as if one had deleted `b`.
#[test]
fn a_rename_onto_a_file_that_another_renames_is_a_conflict() {
    fn two(world: &mut World) {
        let b = world.file("b\n");
        world.actor("two").rename("b", "c", b.clone(), b);
    }
    check_clash(one_replaces, two, "b", ConflictKind::Renamed, &["a"]);
}

/// An edit of the old name by the actor who created the new one is neither lost nor another
/// conflict.
#[test]
fn an_edit_of_the_old_name_is_held_by_the_conflict_of_the_new_name() {
    fn two(world: &mut World) {
        let (old, edited, made) = (world.file("old\n"), world.file("old\nmore\n"), world.file("made\n"));
        world.actor("two").change("old", old, edited).change("new", None, made);
    }
    check_clash(one_renames, two, "new", ConflictKind::SamePath, &["old"]);
}

#[test]
fn a_rename_equal_to_the_file_that_another_creates_is_merged() {
    fn two(world: &mut World) {
        let same = world.file("old\n");
        world.actor("two").change("new", None, same);
    }
    for world in in_both_orders(one_renames, two) {
        check(&world, &[("new", Some("old\n")), ("old", None)]);
    }
}

/// The actor who loses the name keeps the file.
#[test]
fn with_last_wins_a_losing_rename_keeps_the_old_name() {
    let renamed: &[_] = &[("new", Some("old\n")), ("old", None)];
    check_last(one_renames, two_makes, [renamed, &[("new", Some("made\n"))]]);
}

/// An edit is recorded before another actor renames the file: the edit is kept.
#[test]
fn a_rename_alone_does_not_change_content() {
    fn two(world: &mut World) {
        let (old, edited) = (world.file("old\n"), world.file("edited\n"));
        world.actor("two").change("old", old, edited);
    }
    for world in in_both_orders(one_renames, two) {
        for strategy in [Strategy::ThreeWay, Strategy::FailOnConflict, Strategy::LastWins] {
            let expected = [("new".to_owned(), Some("edited\n".to_owned())), ("old".to_owned(), None)];
            assert_eq!(world.texts(strategy), expected, "{strategy:?}");
        }
    }
}

/// While a renamed file is in conflict, its old name cannot be applied alone.
#[test]
fn a_conflict_under_a_new_name_holds_the_old_name() {
    fn one(world: &mut World) {
        let (old, edited) = (world.file("a\n"), world.file("one\n"));
        world.actor("one").rename("old", "new", old, edited);
    }
    fn two(world: &mut World) {
        let (old, edited) = (world.file("a\n"), world.file("two\n"));
        world.actor("two").change("old", old, edited);
    }
    for world in in_both_orders(one, two) {
        let combined = world.combined(Strategy::ThreeWay);
        let keys: Vec<&PathKey> = combined.paths.keys().collect();
        assert_eq!(keys, [&key("new")]);
        let conflict = combined.conflicts().next().unwrap();
        assert_eq!((conflict.kind, &conflict.old_names), (ConflictKind::Lines, &vec![bytes("old")]));
    }
}

/// A renamed file at the path of a folder is in conflict together with its old name.
#[test]
fn a_renamed_file_at_the_path_of_a_folder_holds_its_old_name() {
    fn two(world: &mut World) {
        let made = world.file("made\n");
        world.actor("two").change("new/below", None, made);
    }
    check_clash(one_renames, two, "new", ConflictKind::Folder, &["old"]);
}

/// Three renames build on each other: `c`, then `b`, then `a`. An edit of the first name follows to
/// the last.
#[test]
fn an_edit_follows_a_chain_of_renames() {
    let mut world = World::default();
    let (text, edited) = (world.file("x\n"), world.file("x\nedited\n"));
    let builds = |world: &mut World, below: Vec<usize>| {
        let below = below.iter().map(|place| world.folded[*place].attribution.changeset).collect();
        world.folded.last_mut().unwrap().builds_on = below;
    };
    world.actor("one").rename("c", "b", text.clone(), text.clone());
    world.actor("two").rename("b", "a", text.clone(), text.clone());
    builds(&mut world, vec![0]);
    world.actor("three").change("c", text.clone(), edited);
    check(&world, &[("a", Some("x\nedited\n")), ("c", None)]);
    // A new file under the first name is not an edit of the renamed file.
    let made = world.file("made\n");
    world.folded.truncate(2);
    world.actor("four").change("c", None, made);
    builds(&mut world, vec![0, 1]);
    check(&world, &[("a", Some("x\n")), ("c", Some("made\n"))]);
}

/// One renames and edits a file; the next, building on that, renames it back.
#[test]
fn a_rename_and_its_reverse_are_no_rename() {
    let mut world = World::default();
    let (text, edited) = (world.file("x\n"), world.file("y\n"));
    world.actor("one").rename("a", "b", text.clone(), edited.clone());
    let below = vec![world.folded[0].attribution.changeset];
    world.actor("two").rename("b", "a", edited.clone(), edited);
    world.folded.last_mut().unwrap().builds_on = below;
    check(&world, &[("a", Some("y\n"))]);
    let combined = world.combined(Strategy::ThreeWay);
    assert_eq!(combined.changes().next().unwrap().1.base, text);
}

/// A person edits the old name between two actors: the base is that edit.
#[test]
fn the_base_of_the_old_name_is_the_last_one_found() {
    let mut world = World::default();
    let (first, second) = (world.file("a\nb\nc\nd\ne\n"), world.file("a\nb\nPERSON\nd\ne\n"));
    let (one, two) = (world.file("ONE\nb\nc\nd\ne\n"), world.file("a\nb\nPERSON\nd\nTWO\n"));
    world.actor("one").rename("old", "new", first, one);
    world.actor("two").change("old", second.clone(), two);
    check(&world, &[("new", Some("ONE\nb\nPERSON\nd\nTWO\n")), ("old", None)]);
    let base = |path: &str| -> Option<Content> {
        match &world.combined(Strategy::ThreeWay).paths[&key(path)] {
            MergeOutcome::Resolved(change) => change.base.clone(),
            MergeOutcome::Conflict(conflict) => panic!("{conflict:?}"),
        }
    };
    assert_eq!((base("old"), base("new")), (second, None));
}

/// The rename comes last: the content that it found under the old name is not lost.
#[test]
fn a_rename_carries_the_content_it_found() {
    let mut world = World::default();
    let (first, second) = (world.file("a\nb\nc\nd\ne\n"), world.file("a\nb\nPERSON\nd\ne\n"));
    let one = world.file("ONE\nb\nc\nd\ne\n");
    world.actor("one").change("old", first, one);
    world.actor("two").rename("old", "new", second.clone(), second);
    check(&world, &[("new", Some("ONE\nb\nPERSON\nd\ne\n")), ("old", None)]);
}

/// The time of recording decides, not the order of the changesets.
#[test]
fn last_wins_uses_the_time_of_recording() {
    let [mut world, _] = in_both_orders(one_renames, two_makes);
    world.folded[0].changes.get_mut(&key("new")).unwrap().at = Time::from_micros(9);
    let texts = world.texts(Strategy::LastWins);
    assert_eq!(texts, [("new".to_owned(), Some("old\n".to_owned())), ("old".to_owned(), None)]);
}
