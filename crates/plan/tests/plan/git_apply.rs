//! Patches: round trips through the real `git apply`.

use std::collections::BTreeMap;

use plan::{
    Change, ChangeKind, FileDiff, OverlaySource, Selection, Sign, StoredBlobs, Strategy, diffs, write_patch,
};
use testkit::report::{figure, is_proof};
use testkit::seed;
use testkit::trees::{Node, Revision, Step, Tree, git, git_apply, make, read};

use super::fixture::*;

/// The change of a plan for a step.
fn change(step: Step) -> Change {
    match step {
        Step::Delete(path) => Change::delete(bytes(path)),
        Step::Rename(from, to) => Change::rename(bytes(from), bytes(to)),
        Step::Mode(path, mode) => Change::mode(bytes(path), mode),
        Step::Write(path, content, mode) => {
            let content = plan::ContentSource::Bytes(content);
            Change::new(bytes(path), plan::Edit::Write { content, mode: Some(mode) })
        }
        Step::Symlink(path, target) => Change::symlink(bytes(path), bytes(target)),
    }
}

impl Fixture {
    pub(crate) fn diffs(&self) -> Vec<FileDiff> {
        let combined = self.plans.combine(self.plan.id, &Selection::default(), Strategy::ThreeWay).unwrap();
        let stored = StoredBlobs(self.store());
        let contents = OverlaySource { overlay: &combined.unstored, base: &stored };
        combined.diff_entries().iter().flat_map(|shown| diffs(shown, &contents).unwrap()).collect()
    }

    pub(crate) fn patch(&self) -> Vec<u8> {
        let mut patch = Vec::new();
        self.diffs().iter().for_each(|diff| write_patch(&mut patch, diff).unwrap());
        patch
    }
}

/// Records the changes from one tree to another, and checks that git applies and reverts them.
fn round_trip(revision: &Revision) {
    let fixture = Fixture::new();
    let Revision { old, new, .. } = revision;
    make(&fixture.root, old);
    let changes: Vec<Change> = revision.steps().into_iter().map(change).collect();
    if changes.is_empty() {
        return;
    }
    fixture.sealed("coder", changes);
    let patch = fixture.patch();
    let target = fixture.folder.path().join("target");
    std::fs::create_dir(&target).unwrap();
    make(&target, old);
    if patch.is_empty() {
        assert_eq!(old, new);
        return;
    }
    let shown = || String::from_utf8_lossy(&patch).into_owned();
    git_apply(&target, &patch).unwrap_or_else(|error| panic!("git refused: {error}\n{}", shown()));
    assert_eq!(&read(&target), new, "{}", shown());
    let back = git(&target, &["apply", "-R", "--whitespace=nowarn", ".git/patch"]).output().unwrap();
    assert!(back.status.success(), "{}\n{}", String::from_utf8_lossy(&back.stderr), shown());
    // When git reverts a patch, it restores a deleted symlink as a file: compare the contents only.
    let contents = |tree: &Tree| -> BTreeMap<Vec<u8>, Vec<u8>> {
        let content = |node: &Node| match node {
            Node::File(content, _) | Node::Symlink(content) => content.clone(),
        };
        tree.iter().map(|(path, node)| (path.clone(), content(node))).collect()
    };
    assert_eq!(contents(&read(&target)), contents(old), "{}", shown());
}

#[test]
fn generated_trees_go_through_git_apply_and_back() {
    let kept = seed::from_env_or(5);
    let _replay = seed::Replay::new("cleveragents-plan", "generated_trees", kept);
    let mut random = fastrand::Rng::with_seed(kept);
    let rounds = if is_proof() { 3_000 } else { 60 };
    for _ in 0..rounds {
        round_trip(&Revision::random(&mut random));
    }
    figure("generated trees through git apply and back", rounds);
}

#[test]
fn special_cases_of_git_go_through_git_apply() {
    let file = |content: &[u8]| Node::File(content.to_vec(), false);
    let tree = |things: &[(&[u8], Node)]| -> Tree {
        things.iter().map(|(path, node)| (path.to_vec(), node.clone())).collect()
    };
    let round_trip = |old: &Tree, new: &Tree, renames: &[(Vec<u8>, Vec<u8>)]| {
        round_trip(&Revision { old: old.clone(), new: new.clone(), renames: renames.to_vec() });
    };
    let check = |old: Node, new: Node| round_trip(&tree(&[(b"f", old)]), &tree(&[(b"f", new)]), &[]);
    check(file(b""), file(b"a"));
    check(file(b"a"), file(b""));
    check(file(b"a\n"), file(b"a"));
    check(file(b"a"), file(b"a\nb"));
    check(file(b"a\r\nb\r\n"), file(b"a\r\nB\r\n"));
    check(file(b"\0"), file(b"text\n"));
    check(file(b"text\n"), file(&[0; 1000]));
    check(file(b"a\n"), Node::File(b"a\n".to_vec(), true));
    check(file(b"a\n"), Node::File(b"b\n".to_vec(), true));
    check(Node::Symlink(b"a".to_vec()), Node::Symlink(b"b".to_vec()));
    check(Node::Symlink(b"a".to_vec()), file(b"a"));
    check(file(b"\0a"), Node::Symlink(b"a".to_vec()));
    round_trip(&Tree::new(), &tree(&[(b"empty", file(b"")), (b"sp ace", file(b""))]), &[]);
    round_trip(&tree(&[(b"empty", file(b""))]), &Tree::new(), &[]);
    round_trip(&tree(&[(b"a", file(b"x\n"))]), &tree(&[(b"a/b", file(b"x\n"))]), &[]);
    round_trip(
        &tree(&[(b"a b", file(b"\0x"))]),
        &tree(&[(b"c d", file(b"\0y"))]),
        &[(b"a b".to_vec(), b"c d".to_vec())],
    );
}

/// git does not accept a rename onto an existing path: the patch changes one and deletes the other.
#[test]
fn a_rename_onto_another_file_is_a_change_and_a_deletion() {
    let fixture = Fixture::new();
    fixture.write("a", "a\n");
    fixture.write("b", "b\n");
    fixture.sealed("coder", vec![Change::delete(bytes("b")), Change::rename(bytes("a"), bytes("b"))]);
    let shown: Vec<_> =
        fixture.diffs().iter().map(|diff| (diff.key.path.show().into_owned(), diff.change)).collect();
    assert_eq!(shown, [("a".to_owned(), ChangeKind::Delete), ("b".to_owned(), ChangeKind::Modify)]);
    git_apply(&fixture.root, &fixture.patch()).unwrap();
    assert_eq!(read(&fixture.root), Tree::from([(b"b".to_vec(), Node::File(b"a\n".to_vec(), false))]));
}

#[test]
fn a_diff_has_hunks_and_counts() {
    let fixture = Fixture::new();
    fixture.write("f", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n");
    fixture.write("old", "x\n");
    fixture.write("b", "\0\0");
    let text = "1\ntwo\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n15b\n16\n";
    let changes = vec![
        write("f", text),
        Change::rename(bytes("old"), bytes("new")),
        write("b", "\0"),
        write_with_mode("tool", "#!\n", 0o755),
    ];
    fixture.sealed("coder", changes);
    let diffs = fixture.diffs();
    let seen: Vec<_> = diffs
        .iter()
        .map(|diff| {
            (
                diff.key.path.show().into_owned(),
                diff.change,
                diff.binary,
                diff.added,
                diff.removed,
                diff.hunks.len(),
            )
        })
        .collect();
    let expected = [
        ("b".into(), ChangeKind::Modify, true, 0, 0, 0),
        ("f".into(), ChangeKind::Modify, false, 2, 1, 2),
        ("new".into(), ChangeKind::Rename, false, 0, 0, 0),
        ("tool".into(), ChangeKind::Create, false, 1, 0, 1),
    ];
    assert_eq!(seen, expected);
    let hunk = &diffs[1].hunks[0];
    assert_eq!((hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines), (1, 5, 1, 5));
    assert_eq!((hunk.lines[1].sign, hunk.lines[1].text.as_slice()), (Sign::Removed, &b"2\n"[..]));
    let json = serde_json::to_value(&diffs).unwrap();
    assert_eq!(json[1]["hunks"][0]["lines"][2], serde_json::json!({"sign": "+", "text": "two\n"}));
    assert_eq!((json[0]["old"]["bytes"].as_u64(), json[0]["new"]["bytes"].as_u64()), (Some(2), Some(1)));
    assert_eq!(json[2]["renamed_from"], "old");
    assert_eq!(json[3]["authors"][0]["actor"], "coder");
}

#[test]
fn modes_and_large_files_that_git_cannot_express_are_marked() {
    let fixture = Fixture::new();
    fixture.write("f", "x");
    fixture.sealed("coder", vec![Change::mode(bytes("f"), 0o600)]);
    assert_eq!(String::from_utf8(fixture.patch()).unwrap(), "# mode 0644 becomes 0600: f\n");
    let fixture = Fixture::new();
    fixture.write("f", "x\n");
    fixture.sealed("coder", vec![write_with_mode("f", "y\n", 0o600)]);
    git_apply(&fixture.root, &fixture.patch()).unwrap();
    assert_eq!(std::fs::read(fixture.root.join("f")).unwrap(), b"y\n");
}

#[test]
fn permission_bits_of_new_files_are_in_a_comment() {
    let fixture = Fixture::new();
    fixture.write("known", "x\n");
    let new = |path: &str, mode| write_with_mode(path, "x\n", mode);
    fixture.sealed(
        "coder",
        vec![
            new("group", 0o655),
            new("odd \" name", 0o4755),
            new("plain", 0o644),
            new("secret", 0o600),
            new("tool", 0o755),
            write_with_mode("empty", "", 0o640),
            Change::symlink(bytes("link"), bytes("plain")),
            Change::mode(bytes("known"), 0o700),
        ],
    );
    let patch = fixture.patch();
    let text = String::from_utf8_lossy(&patch).into_owned();
    let comments: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
    let expected = [
        "# mode 0640: empty",
        "# mode 0655: group",
        "# mode 0644 becomes 0700: known",
        "# mode 4755: \"odd \\\" name\"",
        "# mode 0600: secret",
    ];
    assert_eq!(comments, expected, "{text}");
    assert!(text.contains("diff --git a/known b/known\nold mode 100644\nnew mode 100755\n"), "{text}");
    git_apply(&fixture.root, &patch).unwrap();
    assert_eq!(read(&fixture.root).len(), 8);
}

/// [chg-content]: git must not silently skip a file that is too large for the patch.
#[test]
fn git_rejects_a_patch_with_a_file_that_is_too_large() {
    let long = |byte: u8| vec![byte; plan::TEXT_BYTES_MAX as usize + 1];
    let check = |before: Option<Vec<u8>>, change: Vec<Change>, shown: &str| {
        let fixture = Fixture::new();
        fixture.write("a text", "old\n");
        if let Some(before) = before {
            fixture.write("long", before);
        }
        let tree = read(&fixture.root);
        fixture.sealed("coder", vec![write("a text", "new\n")]);
        fixture.sealed("painter", change);
        let patch = fixture.patch();
        let text = String::from_utf8_lossy(&patch);
        assert!(text.contains(shown), "{text}");
        let refused = git_apply(&fixture.root, &patch).unwrap_err();
        assert!(refused.contains("without full index line"), "{refused}");
        assert_eq!(read(&fixture.root), tree, "nothing was touched");
        assert!(fixture.diffs().iter().any(|diff| diff.binary));
    };
    let changed = "\nBinary files a/long and b/long differ\n";
    check(Some(b"x".to_vec()), vec![write("long", long(b'a'))], changed);
    check(Some(long(b'a')), vec![write("long", long(0))], changed);
    check(Some(long(b'a')), vec![write("long", "x")], changed);
    check(None, vec![write("long", long(b'a'))], "\nBinary files /dev/null and b/long differ\n");
    check(
        Some(long(b'a')),
        vec![Change::delete(bytes("long"))],
        "\nBinary files a/long and /dev/null differ\n",
    );
    let renamed = vec![Change::rename(bytes("long"), bytes("new")), write("new", long(b'b'))];
    check(Some(long(b'a')), renamed, "\nBinary files a/long and b/new differ\n");
}

#[test]
fn a_diff_selects_by_actor_and_changeset() {
    let fixture = Fixture::new();
    let first = fixture.sealed("one", vec![write("a", "1")]);
    fixture.sealed("two", vec![write("b", "2")]);
    let paths = |selection: Selection| -> Vec<String> {
        let combined = fixture.plans.combine(fixture.plan.id, &selection, Strategy::ThreeWay).unwrap();
        combined.diff_entries().iter().map(|shown| shown.key.path.show().into_owned()).collect()
    };
    assert_eq!(paths(Selection::default()), ["a", "b"]);
    assert_eq!(paths(Selection { actors: vec![actor("two")], ..Selection::default() }), ["b"]);
    assert_eq!(paths(Selection { changesets: vec![first], ..Selection::default() }), ["a"]);
    let other = fixture.plans.create(None, &[&fixture.root], &actor("ana")).unwrap();
    let foreign = Selection { changesets: vec![first], ..Selection::default() };
    assert_eq!(
        fixture.plans.combine(other.id, &foreign, Strategy::ThreeWay).unwrap_err().code(),
        "foreign-changeset"
    );
}
