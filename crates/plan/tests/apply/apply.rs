//! What an apply does to files, and what it refuses.

use std::os::unix::fs::{PermissionsExt, symlink};

use plan::{Change, Error, FileChange, FileOutcome, Operation, State};
use store::{ContentKind, NewEntry, Recording, RequestId};

use super::fixture::{Ground, actor, bytes, delete, drifted, outcomes, write, write_with_mode};

#[test]
fn every_kind_of_change_over_two_roots() {
    let ground = Ground::new();
    ground.write("a/modify", "old");
    ground.write("a/delete", "old");
    ground.write("a/mode", "same");
    ground.write("b/sub/from", "moved");
    ground.write("b/untouched", "stays");
    let plan = ground.plan(vec![(
        "coder",
        vec![
            write("a/create/deep", "new"),
            write("a/modify", "new"),
            delete("a/delete"),
            Change::mode(bytes("a/mode"), 0o755),
            Change::symlink(bytes("a/link"), "modify"),
            Change::rename(bytes("b/sub/from"), bytes("b/to")),
            write_with_mode("b/run", "#!/bin/sh\n", 0o755),
        ],
    )]);
    let report = ground.apply(plan).unwrap();
    assert_eq!((report.plan.state, report.left), (State::Applied, 0));
    assert!(report.files.iter().all(|file| file.outcome == FileOutcome::Done), "{:?}", outcomes(&report));
    assert_eq!(report.files.len(), 8);
    let change = |path: &str| report.files.iter().find(|file| file.key.path == bytes(path)).unwrap().change;
    assert_eq!(change("mode"), FileChange::Mode);
    assert_eq!(
        (change("modify"), change("delete"), change("to")),
        (FileChange::Modify, FileChange::Delete, FileChange::Create)
    );
    assert_eq!(
        (ground.read("a/create/deep"), ground.read("a/modify"), ground.read("b/to")),
        ("new".into(), "new".into(), "moved".into())
    );
    assert!(
        !ground.root("a/delete").exists() && !ground.root("b/sub").exists(),
        "a folder without files goes"
    );
    let mode = |path: &str| ground.root(path).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("a/mode"), mode("b/run"), mode("a/create/deep")), (0o755, 0o755, 0o644));
    assert_eq!(ground.root("a/link").read_link().unwrap().to_str(), Some("modify"));
    assert_eq!(ground.read("b/untouched"), "stays");
    // Nothing of the transaction is left.
    let home = ground.root("a/.cleveragents/.txn");
    assert_eq!(std::fs::read_dir(home.join("stage")).unwrap().count(), 0);
    assert!(!home.join("journal").exists());
    let marks = std::fs::read_dir(&home)
        .unwrap()
        .filter(|name| name.as_ref().unwrap().file_name().to_string_lossy().starts_with("done"));
    assert_eq!(marks.count(), 0);
}

#[test]
fn folders_become_files_and_files_become_folders() {
    let ground = Ground::new();
    ground.write("a/folder/x", "in folder");
    ground.write("a/folder/deep/y", "in folder");
    ground.write("a/file", "a file");
    let before = ground.trees();
    let plan = ground.plan(vec![(
        "coder",
        vec![
            delete("a/folder/x"),
            delete("a/folder/deep/y"),
            write("a/folder", "a file now").on(None),
            delete("a/file"),
            write("a/file/z", "in a folder now").on(None),
        ],
    )]);
    let report = ground.apply(plan).unwrap();
    assert_eq!(report.kept().count(), 0, "{:?}", outcomes(&report));
    assert_eq!(
        (ground.read("a/folder"), ground.read("a/file/z")),
        ("a file now".into(), "in a folder now".into())
    );
    let report = ground.undo(plan).unwrap();
    assert!(report.files.iter().all(|file| file.outcome == FileOutcome::Restored), "{:?}", outcomes(&report));
    assert_eq!(ground.trees(), before);
    let _ = ground.undo(report.plan.id).unwrap();
    assert_eq!(ground.read("a/file/z"), "in a folder now");
}

#[test]
fn a_folder_with_other_files_does_not_make_way() {
    let ground = Ground::new();
    ground.write("a/folder/x", "in folder");
    let plan = ground.plan(vec![("coder", vec![delete("a/folder/x"), write("a/folder", "file").on(None)])]);
    ground.write("a/folder/theirs", "a person's");
    let before = ground.trees();
    assert_eq!(drifted(&ground.apply(plan).unwrap_err()), ["folder"]);
    assert_eq!(ground.trees(), before);
}

/// [app-empty]
#[test]
fn a_plan_without_changes_is_not_applied() {
    let ground = Ground::new();
    ground.write("a/f", "same");
    let plan = ground.plan(vec![("coder", vec![]), ("tester", vec![write("a/f", "same")])]);
    let error = ground.apply(plan).unwrap_err();
    assert_eq!(error.code(), "nothing-to-do");
    assert_eq!(ground.state(plan), State::Ready);
    assert!(!ground.root("a/.cleveragents/.txn/journal").exists());
}

/// [app-roots], [app-drift]
#[test]
fn one_drifted_file_in_one_root_keeps_all_roots_untouched() {
    let ground = Ground::new();
    ground.write("a/f", "old");
    ground.write("b/g", "old");
    let plan =
        ground.plan(vec![("coder", vec![write("a/f", "new"), write("b/g", "new"), write("b/new", "new")])]);
    ground.write("b/g", "a person's");
    let before = ground.trees();
    let error = ground.apply(plan).unwrap_err();
    assert_eq!(drifted(&error), ["g"]);
    assert!(matches!(error, Error::Drifted { is_merging: false, .. }), "{error}");
    assert_eq!(ground.trees(), before);
    let plan = ground.get(plan);
    assert_eq!(plan.state, State::Conflict);
    assert!(plan.detail.error.unwrap().contains("changed since"));
    // Once the file is as it was, the plan can be applied.
    ground.write("b/g", "old");
    assert_eq!(ground.apply(plan.id).unwrap().plan.state, State::Applied);
    assert_eq!((ground.read("a/f"), ground.read("b/g")), ("new".into(), "new".into()));
}

#[test]
fn what_is_there_already_is_left_alone() {
    let ground = Ground::new();
    ground.write("a/f", "old");
    let plan = ground.plan(vec![("coder", vec![write("a/f", "new"), write("a/g", "new")])]);
    ground.write("a/f", "new");
    let report = ground.apply(plan).unwrap();
    assert_eq!(outcomes(&report), [("f".into(), &FileOutcome::Untouched), ("g".into(), &FileOutcome::Done)]);
    assert_eq!(report.plan.state, State::Applied);
}

/// A dry run touches nothing: not even a lock file comes to be.
#[test]
fn a_dry_run_shows_what_would_happen_and_touches_nothing() {
    let ground = Ground::new();
    ground.write("a/f", "old");
    let plan = ground.plan(vec![("coder", vec![write("a/f", "new"), write("b/g", "new")])]);
    let (before, version) = (testkit::folder::tree(&ground.root("a")), ground.get(plan).version);
    let shown = ground.apply_with(plan, |order| order.dry_run = true).unwrap();
    assert!(shown.dry_run);
    assert_eq!(testkit::folder::tree(&ground.root("a")), before);
    assert_eq!(testkit::folder::tree(&ground.root("b")).len(), 0);
    assert_eq!((ground.get(plan).version, ground.state(plan)), (version, State::Ready));
    let done = ground.apply(plan).unwrap();
    assert_eq!(shown.files, done.files, "a dry run shows exactly what happens");
    ground.write("a/f", "theirs");
    let again = ground.plan(vec![("coder", vec![write("a/f", "newer")])]);
    ground.write("a/f", "theirs 2");
    assert_eq!(drifted(&ground.apply_with(again, |order| order.dry_run = true).unwrap_err()), ["f"]);
    assert_eq!(ground.state(again), State::Ready, "a dry run leaves the plan's state, too");
}

/// [app-dirty]
#[test]
fn other_files_are_byte_identical_afterwards() {
    let ground = Ground::new();
    ground.write("a/f", "old");
    ground.write("a/untracked", "a person's");
    ground.write("a/sub/other", [0xff, 0, 1]);
    symlink("nowhere", ground.root("a/dangling")).unwrap();
    let mut before = ground.trees();
    let plan = ground.plan(vec![("coder", vec![write("a/f", "new"), write("a/sub/new", "new")])]);
    let _ = ground.apply(plan).unwrap();
    let mut after = ground.trees();
    for tree in [&mut before.0, &mut after.0] {
        tree.retain(|path, _| path != "f" && path != "sub/new");
    }
    assert_eq!(after, before);
}

/// [app-ignored], [chg-foreign]: entries that no handle of ours would have recorded are refused when the plan is applied.
#[test]
fn foreign_and_protected_entries_are_refused_at_the_apply() {
    for (root, path) in [
        ("a", ".git/config"),
        ("a", "x/.GIT/hooks/pre-commit"),
        ("a", ".cleveragents/config.toml"),
        ("c", "f"),
        ("a", "../out"),
        ("a", "/etc/passwd"),
    ] {
        let ground = Ground::new();
        std::fs::create_dir(ground.root("c")).unwrap();
        ground.write("a/.git/config", "old");
        let plan = ground.plans.create(None, &[&ground.root("a"), &ground.root("b")], &actor("ana")).unwrap();
        let changeset = ground.plans.context(plan.id).unwrap().start_changeset(&actor("coder")).unwrap();
        changeset.record_many(ground.rooted(vec![write("b/fine", "new")])).unwrap();
        let blob = store::PackedBlob::new(b"bad").unwrap();
        let content = store::Content { kind: ContentKind::File, blob: blob.hash(), bytes: 3, mode: 0o644 };
        let entry = NewEntry {
            root: ground.root_bytes(root),
            path: bytes(path),
            operation: Operation::Create,
            before: None,
            after: Some(content),
            tool: None,
        };
        let recording = Recording { request: RequestId::new(), entries: vec![entry], blobs: vec![blob] };
        ground.plans.store().record(changeset.id(), changeset.epoch(), &recording).unwrap();
        changeset.seal().unwrap();
        ground.plans.settle(plan.id, &actor("ana")).unwrap();
        let before = ground.trees();
        let error = ground.apply(plan.id).unwrap_err();
        assert_eq!(error.code(), "bad-path", "{root}/{path}: {error}");
        assert_eq!(ground.trees(), before, "{path}");
        assert!(!ground.root("b/fine").exists());
        assert_eq!(ground.read("a/.git/config"), "old");
    }
}

/// [app-partial]: what cannot be staged leaves everything as it was, and the plan where it was.
#[test]
fn an_error_while_staging_leaves_all_files_and_the_plan_as_they_were() {
    let ground = Ground::new();
    ground.write("a/f", "old");
    ground.write("b/sub/g", "old");
    let plan = ground.plan(vec![("coder", vec![write("a/f", "new"), write("b/sub/g", "new")])]);
    // Damage a content in the store: the apply finds out after it has begun.
    let before = ground.trees();
    let folder = ground.folder.path().join("state.db");
    rusqlite_damage(&folder);
    let error = ground.apply(plan).unwrap_err();
    assert_eq!(error.code(), "blob-damaged", "{error}");
    assert_eq!(ground.trees(), before);
    let plan = ground.get(plan);
    assert_eq!(plan.state, State::Ready);
    let last = ground.plans.timeline(plan.id).unwrap().pop().unwrap();
    assert_eq!((last.kind.as_str(), last.to), ("plan.apply-aborted", Some(State::Ready)));
    assert!(last.error.unwrap().contains("damaged"));
}

fn rusqlite_damage(path: &std::path::Path) {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.execute("UPDATE blobs SET data = x'00', codec = 0", []).unwrap();
}

#[test]
fn states_that_cannot_be_applied_are_refused_with_those_that_can() {
    let ground = Ground::new();
    let plan = ground.plans.create(None, &[&ground.root("a")], &actor("ana")).unwrap();
    let error = ground.apply(plan.id).unwrap_err();
    assert!(matches!(error, Error::IllegalStep { state: State::Queued, .. }), "{error}");
}

#[test]
fn a_root_that_is_gone_is_an_error_that_touches_nothing() {
    let ground = Ground::new();
    let plan = ground.plan(vec![("coder", vec![write("a/f", "new"), write("b/g", "new")])]);
    std::fs::remove_dir_all(ground.root("b")).unwrap();
    let error = ground.apply(plan).unwrap_err();
    assert!(matches!(error, Error::Files { .. }), "{error}");
    assert!(!ground.root("a/f").exists());
    assert_eq!(ground.state(plan), State::Ready);
}

#[test]
fn large_and_many_contents_come_in_batches() {
    let ground = Ground::new();
    let large = vec![7_u8; 3 << 20];
    let mut changes = vec![write("a/large", &large), Change::symlink(bytes("a/link"), "large")];
    changes.extend((0..600).map(|number| write(&format!("a/many/{number}"), format!("text {number}"))));
    changes.push(write("a/exact", vec![1_u8; 1 << 20]));
    let plan = ground.plan(vec![("coder", changes)]);
    let report = ground.apply(plan).unwrap();
    assert_eq!((report.files.len(), report.kept().count()), (603, 0));
    assert_eq!(std::fs::read(ground.root("a/large")).unwrap(), large);
    assert_eq!(ground.read("a/many/599"), "text 599");
}

#[test]
fn a_file_where_a_new_path_needs_a_folder_is_told_before_anything_is_touched() {
    let ground = Ground::new();
    let plan = ground.plan(vec![("coder", vec![write("a/notes/deep/one", "new"), write("a/other", "new")])]);
    ground.write("a/notes", "a person's");
    for dry_run in [true, false] {
        let error = ground.apply_with(plan, |order| order.dry_run = dry_run).unwrap_err();
        assert_eq!(drifted(&error), ["notes/deep/one"]);
        let Error::Drifted { drifts, .. } = &error else { panic!("{error:?}") };
        assert!(drifts[0].found.starts_with("below `notes`, which is a file"), "{}", drifts[0].found);
    }
    assert!(!ground.root("a/other").exists());
    std::fs::remove_file(ground.root("a/notes")).unwrap();
    let _ = ground.apply(plan).unwrap();
    assert_eq!(ground.read("a/notes/deep/one"), "new");
}
