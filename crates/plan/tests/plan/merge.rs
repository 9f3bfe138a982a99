//! Merge: each rule of docs/design/plans.md, on contents in memory.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use plan::{
    Attribution, BlobSource, ChangesetDelta, Combined, CombinedChange, Conflict, ConflictHunk, ConflictKind,
    Content, ContentKind, Error, FinalChange, MergeOutcome, OverlaySource, PathKey, Result, Strategy,
    TEXT_BYTES_MAX, combine,
};
use store::{BlobHash, ChangesetId, Time};

use super::fixture::{actor, bytes};

/// Contents in memory, and changesets that use them.
#[derive(Default)]
pub(crate) struct World {
    contents: HashMap<BlobHash, Arc<[u8]>>,
    pub folded: Vec<ChangesetDelta>,
}

impl BlobSource for World {
    fn bytes(&self, content: &Content) -> Result<Arc<[u8]>> {
        if content.bytes > TEXT_BYTES_MAX {
            return Err(Error::ContentTooLarge { bytes: content.bytes, limit: TEXT_BYTES_MAX });
        }
        Ok(Arc::clone(&self.contents[&content.blob]))
    }
}

pub(crate) fn key(path: &str) -> PathKey {
    PathKey { root: bytes("/srv"), path: bytes(path) }
}

impl World {
    pub(crate) fn file(&mut self, text: impl AsRef<[u8]>) -> Option<Content> {
        self.with_mode(text, 0o644)
    }

    fn with_mode(&mut self, text: impl AsRef<[u8]>, mode: u32) -> Option<Content> {
        let text = text.as_ref();
        let blob = BlobHash::of(text);
        self.contents.insert(blob, text.into());
        Some(Content { kind: ContentKind::File, blob, bytes: text.len() as u64, mode })
    }

    fn symlink(&mut self, target: &str) -> Option<Content> {
        self.file(target).map(|content| Content { kind: ContentKind::Symlink, mode: 0o777, ..content })
    }

    /// Adds the changeset of an actor.
    pub(crate) fn actor(&mut self, name: &str) -> &mut Self {
        let credit = Attribution { actor: actor(name), changeset: ChangesetId::new() };
        self.folded.push(ChangesetDelta {
            attribution: credit,
            builds_on: Vec::new(),
            changes: BTreeMap::new(),
        });
        self
    }

    /// Adds a change of a path to the last changeset.
    pub(crate) fn change(&mut self, path: &str, base: Option<Content>, after: Option<Content>) -> &mut Self {
        let at = Time::from_micros(self.folded.len() as i64);
        let change = FinalChange {
            base,
            after,
            renamed_from: None,
            renamed_base: None,
            at,
            sequence: 1,
            resolves: false,
        };
        self.last().insert(key(path), change);
        self
    }

    pub(crate) fn rename(
        &mut self,
        from: &str,
        to: &str,
        base: Option<Content>,
        after: Option<Content>,
    ) -> &mut Self {
        self.replace(from, to, base, None, after)
    }

    /// Adds a rename onto an existing path.
    pub(crate) fn replace(
        &mut self,
        from: &str,
        to: &str,
        base: Option<Content>,
        there: Option<Content>,
        after: Option<Content>,
    ) -> &mut Self {
        self.change(from, base.clone(), None).change(to, there, after);
        let change = self.last().get_mut(&key(to)).unwrap();
        change.renamed_from = Some(bytes(from));
        change.renamed_base = base;
        self
    }

    fn last(&mut self) -> &mut BTreeMap<PathKey, FinalChange> {
        &mut self.folded.last_mut().unwrap().changes
    }

    pub(crate) fn combined(&self, strategy: Strategy) -> Combined {
        combine(&self.folded, strategy, self).unwrap()
    }

    pub(crate) fn text(&self, combined: &Combined, content: &Content) -> String {
        let bytes = OverlaySource { overlay: &combined.unstored, base: self }.bytes(content).unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    /// The texts of all changes; panics on a conflict.
    pub(crate) fn texts(&self, strategy: Strategy) -> Vec<(String, Option<String>)> {
        let combined = self.combined(strategy);
        assert_eq!(combined.conflicts().collect::<Vec<_>>(), Vec::<&Conflict>::new());
        let text =
            |change: &CombinedChange| change.after.as_ref().map(|content| self.text(&combined, content));
        combined.changes().map(|(key, change)| (key.path.show().into_owned(), text(change))).collect()
    }

    /// The only conflict; panics if there are others.
    fn clash(&self) -> Conflict {
        let combined = self.combined(Strategy::ThreeWay);
        let mut conflicts: Vec<Conflict> = combined.conflicts().cloned().collect();
        assert_eq!(conflicts.len(), 1, "{conflicts:#?}");
        conflicts.remove(0)
    }
}

pub(crate) fn check(world: &World, expected: &[(&str, Option<&str>)]) {
    let expected: Vec<(String, Option<String>)> =
        expected.iter().map(|(path, text)| ((*path).to_owned(), text.map(str::to_owned))).collect();
    assert_eq!(world.texts(Strategy::ThreeWay), expected);
}

/// [par-seq]
#[test]
fn edits_of_different_lines_merge_in_any_order() {
    for order in [["one", "two"], ["two", "one"]] {
        let mut world = World::default();
        let base = world.file("a\nb\nc\nd\n");
        for name in order {
            let text = if name == "one" { "A\nb\nc\nd\n" } else { "a\nb\nc\nD\n" };
            let after = world.file(text);
            world.actor(name).change("f", base.clone(), after);
        }
        check(&world, &[("f", Some("A\nb\nc\nD\n"))]);
    }
}

/// [par-conflict]
#[test]
fn overlapping_edits_are_a_conflict_with_hunks_and_actors() {
    let mut world = World::default();
    let (base, one, two) = (world.file("a\nb\nc\n"), world.file("a\nx\nc\n"), world.file("a\ny\nc\n"));
    world.actor("one").change("f", base.clone(), one.clone()).actor("two").change("f", base.clone(), two);
    let conflict = world.clash();
    assert_eq!(
        (conflict.kind, conflict.key.clone(), conflict.base.clone()),
        (ConflictKind::Lines, key("f"), base)
    );
    let actors: Vec<&str> = conflict.sides.iter().map(|side| side.attribution.actor.as_str()).collect();
    assert_eq!((actors, &conflict.sides[0].after), (vec!["one", "two"], &one));
    let hunk = &conflict.hunks[0];
    assert_eq!(
        (hunk.line, &hunk.base[0], &hunk.ours[0], &hunk.theirs[0]),
        (2, &b"b\n".to_vec(), &b"x\n".to_vec(), &b"y\n".to_vec())
    );
    let json = serde_json::to_value(&conflict).unwrap();
    assert_eq!((json["path"].as_str(), json["kind"].as_str()), (Some("f"), Some("lines")));
    assert_eq!(json["sides"][1]["actor"], "two");
}

/// Line, our lines and their lines of every conflict hunk, with the names of the actors.
fn sides(world: &World) -> Vec<(u64, String, String)> {
    let side = |authors: &[Attribution], lines: &[Vec<u8>]| {
        let actors: Vec<&str> = authors.iter().map(|author| author.actor.as_str()).collect();
        format!("{}: {}", actors.join(", "), String::from_utf8(lines.concat()).unwrap().trim_end())
    };
    let conflict = world.clash();
    let hunk = |hunk: &ConflictHunk| {
        (hunk.line, side(&hunk.ours_by, &hunk.ours), side(&hunk.theirs_by, &hunk.theirs))
    };
    conflict.hunks.iter().map(hunk).collect()
}

/// A text of 20 lines, some of them changed.
fn twenty(world: &mut World, changed: &[(usize, &str)]) -> Option<Content> {
    let line = |number| changed.iter().find(|(line, _)| *line == number).map(|(_, text)| (*text).to_owned());
    let lines = (1..=20).map(|number| line(number).unwrap_or_else(|| format!("line {number}")) + "\n");
    let text: String = lines.collect();
    world.file(text)
}

/// [par-conflict]: an actor who edits other lines is not part of the conflict.
#[test]
fn a_conflict_names_only_the_actors_who_changed_its_lines() {
    let edits = [("one", vec![(5, "ONE")]), ("two", vec![(5, "TWO")]), ("three", vec![(15, "THREE")])];
    for order in [[0, 1, 2], [0, 2, 1], [2, 0, 1]] {
        let mut world = World::default();
        let base = twenty(&mut world, &[]);
        for (name, changed) in order.map(|place| edits[place].clone()) {
            let after = twenty(&mut world, &changed);
            world.actor(name).change("f", base.clone(), after);
        }
        assert_eq!(sides(&world), [(5, "one: ONE".to_owned(), "two: TWO".to_owned())], "{order:?}");
    }
}

#[test]
fn every_conflict_of_a_file_is_reported() {
    let mut world = World::default();
    let base = twenty(&mut world, &[]);
    let edits: [(&str, &[_]); 4] = [
        ("one", &[(5, "ONE"), (10, "same")]),
        ("two", &[(5, "TWO"), (15, "TWO")]),
        ("three", &[(15, "THREE")]),
        ("four", &[(10, "FOUR")]),
    ];
    for (name, changed) in edits {
        let after = twenty(&mut world, changed);
        world.actor(name).change("f", base.clone(), after);
    }
    let same = twenty(&mut world, &[(10, "same")]);
    world.actor("five").change("f", base, same);
    let clash = |line, one: &str, two: &str| (line, one.to_owned(), two.to_owned());
    let expected = [
        clash(5, "one: ONE", "two: TWO"),
        clash(10, "one, five: same", "four: FOUR"),
        clash(15, "two: TWO", "three: THREE"),
    ];
    assert_eq!(sides(&world), expected);
    let json = serde_json::to_value(world.clash()).unwrap();
    let hunk = &json["hunks"][0];
    assert_eq!(
        (&hunk["ours_by"][0]["actor"], &hunk["theirs_by"][0]["actor"]),
        (&"one".into(), &"two".into())
    );
}

#[test]
fn lines_changed_outside_belong_to_no_actor() {
    let mut world = World::default();
    let (first, second) = (twenty(&mut world, &[]), twenty(&mut world, &[(5, "PERSON")]));
    let (one, two) = (twenty(&mut world, &[(5, "ONE")]), twenty(&mut world, &[(5, "PERSON"), (15, "TWO")]));
    world.actor("one").change("f", first, one).actor("two").change("f", second, two);
    assert_eq!(sides(&world), [(5, "one: ONE".to_owned(), ": PERSON".to_owned())]);
}

/// [par-base]: a person edits the file between two actors; each edit has its own base.
#[test]
fn each_edit_is_merged_against_its_own_base() {
    let mut world = World::default();
    let (first, second) = (world.file("a\nb\nc\nd\ne\n"), world.file("a\nb\nPERSON\nd\ne\n"));
    let (one, two) = (world.file("ONE\nb\nc\nd\ne\n"), world.file("a\nb\nPERSON\nd\nTWO\n"));
    world.actor("one").change("f", first, one).actor("two").change("f", second.clone(), two);
    check(&world, &[("f", Some("ONE\nb\nPERSON\nd\nTWO\n"))]);
    let combined = world.combined(Strategy::ThreeWay);
    let (_, change) = combined.changes().next().unwrap();
    assert_eq!(change.base, second, "the root is expected to hold what the last one found there");
    assert_eq!(change.authors.len(), 2);
}

#[test]
fn a_change_that_builds_on_another_is_applied_after_it() {
    let mut world = World::default();
    let (base, one, two) = (world.file("a\n"), world.file("b\n"), world.file("c\n"));
    world.actor("one").change("f", base.clone(), one.clone()).actor("two").change("f", one, two);
    check(&world, &[("f", Some("c\n"))]);
    for strategy in [Strategy::ThreeWay, Strategy::FailOnConflict, Strategy::LastWins] {
        let combined = world.combined(strategy);
        assert_eq!(combined.changes().next().unwrap().1.base, base, "{strategy:?}");
    }
}

#[test]
fn equal_changes_are_merged_into_one() {
    let mut world = World::default();
    let (base, same) = (world.file("a"), world.file("b"));
    for name in ["one", "two"] {
        world.actor(name).change("f", base.clone(), same.clone()).change("new", None, same.clone()).change(
            "gone",
            base.clone(),
            None,
        );
    }
    check(&world, &[("f", Some("b")), ("gone", None), ("new", Some("b"))]);
    assert_eq!(world.texts(Strategy::FailOnConflict).len(), 3);
}

#[test]
fn a_change_that_reverts_itself_is_omitted() {
    let mut world = World::default();
    let (old, new) = (world.file("a"), world.file("b"));
    world.actor("one").change("f", old.clone(), new.clone()).actor("two").change("f", new, old);
    check(&world, &[]);
}

fn clash_of(make: impl Fn(&mut World) -> [(Option<Content>, Option<Content>); 2]) -> ConflictKind {
    let clash = |swap: bool| {
        let mut world = World::default();
        let mut sides = make(&mut world);
        if swap {
            sides.reverse();
        }
        let [one, two] = sides;
        world.actor("one").change("f", one.0, one.1).actor("two").change("f", two.0, two.1);
        world.clash().kind
    };
    assert_eq!(clash(false), clash(true), "the order does not matter");
    clash(false)
}

#[test]
fn changes_conflict_by_kind() {
    let against = |base: Option<Content>, one, two| [(base.clone(), one), (base, two)];
    assert_eq!(clash_of(|w| against(w.file("a"), w.file("b"), None)), ConflictKind::Deleted);
    assert_eq!(clash_of(|w| against(None, w.file("a\n"), w.file("b\n"))), ConflictKind::Created);
    assert_eq!(clash_of(|w| against(None, w.file("a\n"), w.file("\0"))), ConflictKind::Created);
    assert_eq!(clash_of(|w| against(None, w.file("a"), w.with_mode("a", 0o755))), ConflictKind::Mode);
    assert_eq!(clash_of(|w| against(None, w.file("a"), w.symlink("a"))), ConflictKind::FileType);
    assert_eq!(clash_of(|w| against(None, w.symlink("b"), w.symlink("a"))), ConflictKind::FileType);
    assert_eq!(clash_of(|w| against(w.symlink("c"), w.symlink("b"), w.symlink("a"))), ConflictKind::FileType);
    assert_eq!(clash_of(|w| against(w.file("c"), w.symlink("b"), w.file("a"))), ConflictKind::FileType);
    assert_eq!(clash_of(|w| against(w.file("\0a"), w.file("\0b"), w.file("\0c"))), ConflictKind::Binary);
    assert_eq!(
        clash_of(|w| against(w.file("a"), w.with_mode("a", 0o755), w.with_mode("a", 0o600))),
        ConflictKind::Mode
    );
    let long = |w: &mut World| w.file("long").map(|content| Content { bytes: TEXT_BYTES_MAX + 1, ..content });
    assert_eq!(clash_of(|w| against(w.file("a"), w.file("b"), long(w))), ConflictKind::Binary);
}

#[test]
fn permission_bits_and_content_merge_independently() {
    let mut world = World::default();
    let (base, mode, text) = (world.file("a\n"), world.with_mode("a\n", 0o755), world.file("b\n"));
    world.actor("one").change("f", base.clone(), mode).actor("two").change("f", base, text);
    check(&world, &[("f", Some("b\n"))]);
    let combined = world.combined(Strategy::ThreeWay);
    assert_eq!(combined.changes().next().unwrap().1.after.as_ref().unwrap().mode, 0o755);
}

#[test]
fn an_edit_follows_a_rename() {
    let mut world = World::default();
    let base = world.file("a\nb\nc\nd\n");
    let (one, two) = (world.file("A\nb\nc\nd\n"), world.file("a\nb\nc\nD\n"));
    world.actor("one").rename("old", "new", base.clone(), one).actor("two").change("old", base.clone(), two);
    check(&world, &[("new", Some("A\nb\nc\nD\n")), ("old", None)]);
    let combined = world.combined(Strategy::ThreeWay);
    let shown = combined.diff_entries();
    assert_eq!(shown.len(), 1);
    assert_eq!(
        (shown[0].renamed_from.clone(), &shown[0].old, shown[0].authors.len()),
        (Some(bytes("old")), &base, 2)
    );
    let new = combined.changes().find(|(at, _)| **at == key("new")).unwrap().1;
    assert_eq!(new.base, None, "nothing may be there under the new name");
}

#[test]
fn equal_renames_are_merged() {
    let mut world = World::default();
    let base = world.file("a\nb\nc\nd\n");
    let (one, two) = (world.file("A\nb\nc\nd\n"), world.file("a\nb\nc\nD\n"));
    world.actor("one").rename("old", "new", base.clone(), one).actor("two").rename("old", "new", base, two);
    check(&world, &[("new", Some("A\nb\nc\nD\n")), ("old", None)]);
}

#[test]
fn different_renames_or_a_rename_and_a_deletion_conflict() {
    let mut world = World::default();
    let base = world.file("a");
    world.actor("one").rename("old", "x", base.clone(), base.clone());
    world.actor("two").rename("old", "y", base.clone(), base.clone());
    let conflict = world.clash();
    assert_eq!((conflict.kind, &conflict.key), (ConflictKind::Renamed, &key("old")));
    let others: Vec<_> = conflict.others.iter().map(|other| other.path.show().into_owned()).collect();
    assert_eq!(others, ["x", "y"]);
    let mut world = World::default();
    let base = world.file("a");
    world.actor("one").rename("old", "x", base.clone(), base.clone());
    world.actor("two").change("old", base, None);
    assert_eq!(world.clash().kind, ConflictKind::Renamed);
}

#[test]
fn a_file_at_the_path_of_a_folder_is_a_conflict() {
    let mut world = World::default();
    let text = world.file("x");
    world.actor("one").change("a", None, text.clone()).change("a-b", None, text.clone());
    world.actor("two").change("a/b/c", None, text);
    let conflict = world.clash();
    assert_eq!((conflict.kind, &conflict.key), (ConflictKind::Folder, &key("a")));
    assert_eq!(conflict.others[0].path, bytes("a/b/c"));
    assert_eq!(conflict.sides.len(), 2);
    assert_eq!(world.combined(Strategy::ThreeWay).changes().count(), 1, "the other path is not concerned");
}

#[test]
fn files_within_files_are_one_conflict() {
    let mut world = World::default();
    let text = world.file("x");
    world.actor("one").change("a", None, text.clone()).change("a/b/c", None, text.clone());
    world.actor("two").change("a/b", None, text);
    let conflict = world.clash();
    let others: Vec<_> = conflict.others.iter().map(|other| other.path.show().into_owned()).collect();
    assert_eq!((conflict.key, others), (key("a"), vec!["a/b".to_owned(), "a/b/c".to_owned()]));
}

#[test]
fn files_swapped_by_one_actor_merge_with_edits_of_another() {
    let mut world = World::default();
    let (a, b) = (world.file("a1\na2\na3\n"), world.file("b1\nb2\nb3\n"));
    let edited = world.file("a1\na2\na3\nmore\n");
    // The contents of `a` and `b` are swapped: both paths exist, so neither file was renamed.
    world.actor("one").change("a", a.clone(), b.clone()).change("b", b, a.clone());
    world.actor("two").change("a", a, edited);
    assert_eq!(world.clash().kind, ConflictKind::Lines);
}

#[test]
fn three_actors_edit_rename_and_edit() {
    let mut world = World::default();
    let base = world.file("1\n2\n3\n4\n5\n6\n7\n");
    let (first, last) = (world.file("one\n2\n3\n4\n5\n6\n7\n"), world.file("1\n2\n3\n4\n5\n6\nseven\n"));
    world.actor("one").change("old", base.clone(), first);
    world.actor("two").rename("old", "new", base.clone(), base.clone());
    world.actor("three").change("old", base, last);
    check(&world, &[("new", Some("one\n2\n3\n4\n5\n6\nseven\n")), ("old", None)]);
}

#[test]
fn a_content_that_cannot_be_read_is_an_error() {
    struct Nothing;
    impl BlobSource for Nothing {
        fn bytes(&self, content: &Content) -> Result<Arc<[u8]>> {
            Err(store::Error::MissingBlob { hash: content.blob }.into())
        }
    }
    let mut world = World::default();
    let (base, one, two) = (world.file("a\n"), world.file("b\n"), world.file("c\n"));
    world.actor("one").change("f", base.clone(), one).actor("two").change("f", base, two);
    let error = combine(&world.folded, Strategy::ThreeWay, &Nothing).unwrap_err();
    assert_eq!(error.code(), "blob-missing");
    let combined = combine(&world.folded[..1], Strategy::ThreeWay, &Nothing).unwrap();
    assert_eq!(plan::diffs(&combined.diff_entries()[0], &Nothing).unwrap_err().code(), "blob-missing");
}

#[test]
fn a_folder_may_replace_a_deleted_file() {
    let mut world = World::default();
    let text = world.file("x");
    world.actor("one").change("a", text.clone(), None).change("a/b", None, text);
    check(&world, &[("a", None), ("a/b", Some("x"))]);
}

#[test]
fn strategies() {
    let mut world = World::default();
    let (base, one, two) =
        (world.file("a\nb\nc\nd\n"), world.file("A\nb\nc\nd\n"), world.file("a\nb\nc\nD\n"));
    world.actor("one").change("f", base.clone(), one.clone()).change("only", None, one);
    world.actor("two").change("f", base, two);
    let combined = world.combined(Strategy::FailOnConflict);
    let conflicts: Vec<_> =
        combined.conflicts().map(|conflict| (conflict.kind, conflict.key.clone())).collect();
    assert_eq!(conflicts, [(ConflictKind::MultipleChanges, key("f"))]);
    assert!(matches!(combined.paths[&key("only")], MergeOutcome::Resolved(_)));
    let texts = world.texts(Strategy::LastWins);
    assert_eq!(texts[0], ("f".to_owned(), Some("a\nb\nc\nD\n".to_owned())));
    // The change recorded last, not the changeset started last.
    world.folded[0].changes.get_mut(&key("f")).unwrap().at = Time::from_micros(9);
    let texts = world.texts(Strategy::LastWins);
    assert_eq!(texts[0], ("f".to_owned(), Some("A\nb\nc\nd\n".to_owned())));
}

/// A change that builds on two others is merged against their merge result, and its root base is
/// theirs. The control does not state on which changesets it builds: their result counts as an edit
/// of a person.
#[test]
fn a_change_that_builds_on_others_has_their_root_base() {
    let mut world = World::default();
    let text = |lines: [&str; 4]| lines.map(|line| format!("{line}\n\n\n")).concat();
    let base = world.file(text(["a", "b", "c", "d"]));
    for (name, lines) in
        [("one", ["A", "b", "c", "d"]), ("two", ["a", "B", "c", "d"]), ("apart", ["a", "b", "C", "d"])]
    {
        let after = world.file(text(lines));
        world.actor(name).change("f", base.clone(), after);
    }
    let (from, after) = (world.file(text(["A", "B", "c", "d"])), world.file(text(["A", "B", "c", "D"])));
    world.actor("on both").change("f", from.clone(), after);
    let root_base = |world: &World, strategy| {
        let combined = world.combined(strategy);
        let change = combined.changes().next().map(|(_, change)| change.clone()).unwrap();
        change.base
    };
    assert_eq!(root_base(&world, Strategy::ThreeWay), from, "the control");
    let below = world.folded[..2].iter().map(|folded| folded.attribution.changeset).collect();
    world.folded.last_mut().unwrap().builds_on = below;
    check(&world, &[("f", Some(&text(["A", "B", "C", "D"])))]);
    for strategy in [Strategy::ThreeWay, Strategy::LastWins] {
        assert_eq!(root_base(&world, strategy), base);
    }
}

/// A file that is edited, and then renamed by a change that builds on the edit, goes from the
/// content in the root to the edited content under the new name.
#[test]
fn a_rename_that_builds_on_an_edit_has_the_root_base() {
    let mut world = World::default();
    let (base, edited) = (world.file("a\n"), world.file("A\n"));
    world.actor("one").change("f", base.clone(), edited.clone());
    let below = vec![world.folded[0].attribution.changeset];
    world.actor("two").rename("f", "g", edited.clone(), edited.clone());
    world.folded.last_mut().unwrap().builds_on = below;
    let combined = world.combined(Strategy::ThreeWay);
    let changes: Vec<_> = combined
        .changes()
        .map(|(key, change)| (key.clone(), change.base.clone(), change.after.clone()))
        .collect();
    assert_eq!(changes, [(key("f"), base, None), (key("g"), None, edited)]);
}
