//! Apply: effects on files, and refusals.

use std::os::unix::fs::{PermissionsExt, symlink};

use plan::{Change, ChangeKind, Error, FileOutcome, Operation, State};
use store::{ContentKind, NewEntry, Recording, RequestId};

use super::fixture::{Fixture, actor, bytes, delete, drifted, outcomes, write, write_with_mode};

#[test]
fn every_kind_of_change_is_applied_over_two_roots() {
    let fixture = Fixture::new();
    fixture.write("a/modify", "old");
    fixture.write("a/delete", "old");
    fixture.write("a/mode", "same");
    fixture.write("b/sub/from", "moved");
    fixture.write("b/untouched", "stays");
    let plan = fixture.plan(vec![(
        "coder",
        vec![
            write("a/create/deep", "new"),
            write("a/modify", "new"),
            delete("a/delete"),
            Change::mode(bytes("a/mode"), 0o755),
            Change::symlink(bytes("a/link"), bytes("modify")),
            Change::rename(bytes("b/sub/from"), bytes("b/to")),
            write_with_mode("b/run", "#!/bin/sh\n", 0o755),
        ],
    )]);
    let report = fixture.apply(plan).unwrap();
    assert_eq!((report.plan.state, report.remaining), (State::Applied, 0));
    assert!(report.files.iter().all(|file| file.outcome == FileOutcome::Applied), "{:?}", outcomes(&report));
    assert_eq!(report.files.len(), 7, "a rename is one file");
    let change = |path: &str| report.files.iter().find(|file| file.key.path == bytes(path)).unwrap().change;
    assert_eq!(change("mode"), ChangeKind::Mode);
    assert_eq!(
        (change("modify"), change("delete"), change("to")),
        (ChangeKind::Modify, ChangeKind::Delete, ChangeKind::Rename)
    );
    assert_eq!(
        (fixture.read("a/create/deep"), fixture.read("a/modify"), fixture.read("b/to")),
        ("new".into(), "new".into(), "moved".into())
    );
    assert!(
        !fixture.root("a/delete").exists() && !fixture.root("b/sub").exists(),
        "a folder without files goes"
    );
    let mode = |path: &str| fixture.root(path).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("a/mode"), mode("b/run"), mode("a/create/deep")), (0o755, 0o755, 0o644));
    assert_eq!(fixture.root("a/link").read_link().unwrap().to_str(), Some("modify"));
    assert_eq!(fixture.read("b/untouched"), "stays");
    // The transaction leaves no files.
    let home = fixture.root("a/.cleveragents/.txn");
    assert_eq!(std::fs::read_dir(home.join("stage")).unwrap().count(), 0);
    assert!(!home.join("journal").exists());
    let marks = std::fs::read_dir(&home)
        .unwrap()
        .filter(|name| name.as_ref().unwrap().file_name().to_string_lossy().starts_with("done"));
    assert_eq!(marks.count(), 0);
}

#[test]
fn folders_become_files_and_files_become_folders() {
    let fixture = Fixture::new();
    fixture.write("a/folder/x", "in folder");
    fixture.write("a/folder/deep/y", "in folder");
    fixture.write("a/file", "a file");
    let before = fixture.trees();
    let plan = fixture.plan(vec![(
        "coder",
        vec![
            delete("a/folder/x"),
            delete("a/folder/deep/y"),
            write("a/folder", "a file now").with_base(None),
            delete("a/file"),
            write("a/file/z", "in a folder now").with_base(None),
        ],
    )]);
    let report = fixture.apply(plan).unwrap();
    assert_eq!(report.drifted().count(), 0, "{:?}", outcomes(&report));
    assert_eq!(
        (fixture.read("a/folder"), fixture.read("a/file/z")),
        ("a file now".into(), "in a folder now".into())
    );
    let report = fixture.undo(plan).unwrap();
    assert!(report.files.iter().all(|file| file.outcome == FileOutcome::Restored), "{:?}", outcomes(&report));
    assert_eq!(fixture.trees(), before);
    let _ = fixture.undo(report.plan.id).unwrap();
    assert_eq!(fixture.read("a/file/z"), "in a folder now");
}

#[test]
fn a_folder_with_other_files_is_drift() {
    let fixture = Fixture::new();
    fixture.write("a/folder/x", "in folder");
    let plan =
        fixture.plan(vec![("coder", vec![delete("a/folder/x"), write("a/folder", "file").with_base(None)])]);
    fixture.write("a/folder/theirs", "a person's");
    let before = fixture.trees();
    assert_eq!(drifted(&fixture.apply(plan).unwrap_err()), ["folder"]);
    assert_eq!(fixture.trees(), before);
}

/// [app-empty]
#[test]
fn a_plan_without_changes_has_nothing_to_apply() {
    let fixture = Fixture::new();
    fixture.write("a/f", "same");
    let plan = fixture.plan(vec![("coder", vec![]), ("tester", vec![write("a/f", "same")])]);
    let error = fixture.apply(plan).unwrap_err();
    assert_eq!(error.code(), "nothing-to-do");
    assert_eq!(fixture.state(plan), State::Ready);
    assert!(!fixture.root("a/.cleveragents/.txn/journal").exists());
}

/// [app-roots], [app-drift]
#[test]
fn one_drifted_file_leaves_all_roots_unchanged() {
    let fixture = Fixture::new();
    fixture.write("a/f", "old");
    fixture.write("b/g", "old");
    let plan =
        fixture.plan(vec![("coder", vec![write("a/f", "new"), write("b/g", "new"), write("b/new", "new")])]);
    fixture.write("b/g", "a person's");
    let before = fixture.trees();
    let error = fixture.apply(plan).unwrap_err();
    assert_eq!(drifted(&error), ["g"]);
    assert!(matches!(error, Error::Drifted { is_merging: false, .. }), "{error}");
    assert_eq!(fixture.trees(), before);
    let plan = fixture.get(plan);
    assert_eq!(plan.state, State::Conflict);
    assert!(plan.detail.error.unwrap().contains("changed since"));
    // Once the file has its base content again, the plan can be applied.
    fixture.write("b/g", "old");
    assert_eq!(fixture.apply(plan.id).unwrap().plan.state, State::Applied);
    assert_eq!((fixture.read("a/f"), fixture.read("b/g")), ("new".into(), "new".into()));
}

#[test]
fn a_file_that_already_has_the_content_is_unchanged() {
    let fixture = Fixture::new();
    fixture.write("a/f", "old");
    let plan = fixture.plan(vec![("coder", vec![write("a/f", "new"), write("a/g", "new")])]);
    fixture.write("a/f", "new");
    let report = fixture.apply(plan).unwrap();
    assert_eq!(
        outcomes(&report),
        [("f".into(), &FileOutcome::Unchanged), ("g".into(), &FileOutcome::Applied)]
    );
    assert_eq!(report.plan.state, State::Applied);
}

/// A dry run writes nothing, not even a lock file.
#[test]
fn a_dry_run_reports_the_outcome_and_writes_nothing() {
    let fixture = Fixture::new();
    fixture.write("a/f", "old");
    let plan = fixture.plan(vec![("coder", vec![write("a/f", "new"), write("b/g", "new")])]);
    let (before, version) = (testkit::folder::tree(&fixture.root("a")), fixture.get(plan).version);
    let shown = fixture.apply_with(plan, |request| request.dry_run = true).unwrap();
    assert!(shown.dry_run);
    assert_eq!(testkit::folder::tree(&fixture.root("a")), before);
    assert_eq!(testkit::folder::tree(&fixture.root("b")).len(), 0);
    assert_eq!((fixture.get(plan).version, fixture.state(plan)), (version, State::Ready));
    let done = fixture.apply(plan).unwrap();
    assert_eq!(shown.files, done.files, "a dry run shows exactly what happens");
    fixture.write("a/f", "theirs");
    let again = fixture.plan(vec![("coder", vec![write("a/f", "newer")])]);
    fixture.write("a/f", "theirs 2");
    assert_eq!(drifted(&fixture.apply_with(again, |request| request.dry_run = true).unwrap_err()), ["f"]);
    assert_eq!(fixture.state(again), State::Ready, "a dry run leaves the plan's state, too");
}

/// [app-dirty]
#[test]
fn other_files_stay_byte_identical() {
    let fixture = Fixture::new();
    fixture.write("a/f", "old");
    fixture.write("a/untracked", "a person's");
    fixture.write("a/sub/other", [0xff, 0, 1]);
    symlink("nowhere", fixture.root("a/dangling")).unwrap();
    let mut before = fixture.trees();
    let plan = fixture.plan(vec![("coder", vec![write("a/f", "new"), write("a/sub/new", "new")])]);
    let _ = fixture.apply(plan).unwrap();
    let mut after = fixture.trees();
    for tree in [&mut before.0, &mut after.0] {
        tree.retain(|path, _| path != "f" && path != "sub/new");
    }
    assert_eq!(after, before);
}

/// [app-ignored], [chg-foreign]: apply refuses entries that no handle would record.
#[test]
fn apply_refuses_foreign_and_protected_entries() {
    for (root, path) in [
        ("a", ".git/config"),
        ("a", "x/.GIT/hooks/pre-commit"),
        ("a", ".cleveragents/config.toml"),
        ("c", "f"),
        ("a", "../out"),
        ("a", "/etc/passwd"),
    ] {
        let fixture = Fixture::new();
        std::fs::create_dir(fixture.root("c")).unwrap();
        fixture.write("a/.git/config", "old");
        let plan =
            fixture.plans.create(None, &[&fixture.root("a"), &fixture.root("b")], &actor("ana")).unwrap();
        let changeset = fixture.plans.context(plan.id).unwrap().start_changeset(&actor("coder")).unwrap();
        changeset.record_many(fixture.rooted(vec![write("b/fine", "new")])).unwrap();
        let blob = store::PackedBlob::new(b"bad").unwrap();
        let content = store::Content { kind: ContentKind::File, blob: blob.hash(), bytes: 3, mode: 0o644 };
        let entry = NewEntry {
            root: fixture.root_bytes(root),
            path: bytes(path),
            operation: Operation::Create,
            before: None,
            after: Some(content),
            tool: None,
        };
        let recording = Recording { request: RequestId::new(), entries: vec![entry], blobs: vec![blob] };
        fixture.plans.store().record(changeset.id(), changeset.epoch(), &recording).unwrap();
        changeset.seal().unwrap();
        fixture.plans.mark_ready(plan.id, &actor("ana")).unwrap();
        let before = fixture.trees();
        let error = fixture.apply(plan.id).unwrap_err();
        assert_eq!(error.code(), "bad-path", "{root}/{path}: {error}");
        assert_eq!(fixture.trees(), before, "{path}");
        assert!(!fixture.root("b/fine").exists());
        assert_eq!(fixture.read("a/.git/config"), "old");
    }
}

/// [app-partial]: a staging failure leaves files and plan unchanged.
#[test]
fn an_error_while_staging_leaves_files_and_plan_unchanged() {
    let fixture = Fixture::new();
    fixture.write("a/f", "old");
    fixture.write("b/sub/g", "old");
    let plan = fixture.plan(vec![("coder", vec![write("a/f", "new"), write("b/sub/g", "new")])]);
    // Damage a content in the store: the apply fails after it has started.
    let before = fixture.trees();
    let folder = fixture.folder.path().join("state.db");
    rusqlite_damage(&folder);
    let error = fixture.apply(plan).unwrap_err();
    assert_eq!(error.code(), "blob-damaged", "{error}");
    assert_eq!(fixture.trees(), before);
    let plan = fixture.get(plan);
    assert_eq!(plan.state, State::Ready);
    let last = fixture.plans.timeline(plan.id).unwrap().pop().unwrap();
    assert_eq!((last.kind.as_str(), last.to), ("plan.apply-aborted", Some(State::Ready)));
    assert!(last.error.unwrap().contains("damaged"));
}

fn rusqlite_damage(path: &std::path::Path) {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.execute("UPDATE blobs SET data = x'00', codec = 0", []).unwrap();
}

#[test]
fn apply_is_refused_in_other_states() {
    let fixture = Fixture::new();
    let plan = fixture.plans.create(None, &[&fixture.root("a")], &actor("ana")).unwrap();
    let error = fixture.apply(plan.id).unwrap_err();
    assert!(matches!(error, Error::IllegalStep { state: State::Queued, .. }), "{error}");
}

#[test]
fn a_missing_root_is_an_error_without_effect() {
    let fixture = Fixture::new();
    let plan = fixture.plan(vec![("coder", vec![write("a/f", "new"), write("b/g", "new")])]);
    std::fs::remove_dir_all(fixture.root("b")).unwrap();
    let error = fixture.apply(plan).unwrap_err();
    assert!(matches!(error, Error::Files { .. }), "{error}");
    assert!(!fixture.root("a/f").exists());
    assert_eq!(fixture.state(plan), State::Ready);
}

#[test]
fn many_large_contents_are_staged_in_batches() {
    let fixture = Fixture::new();
    let large = vec![7_u8; 3 << 20];
    let mut changes = vec![write("a/large", &large), Change::symlink(bytes("a/link"), bytes("large"))];
    changes.extend((0..600).map(|number| write(&format!("a/many/{number}"), format!("text {number}"))));
    changes.push(write("a/exact", vec![1_u8; 1 << 20]));
    let plan = fixture.plan(vec![("coder", changes)]);
    let report = fixture.apply(plan).unwrap();
    assert_eq!((report.files.len(), report.drifted().count()), (603, 0));
    assert_eq!(std::fs::read(fixture.root("a/large")).unwrap(), large);
    assert_eq!(fixture.read("a/many/599"), "text 599");
}

#[test]
fn a_file_at_the_path_of_a_folder_is_drift() {
    let fixture = Fixture::new();
    let plan = fixture.plan(vec![("coder", vec![write("a/notes/deep/one", "new"), write("a/other", "new")])]);
    fixture.write("a/notes", "a person's");
    for dry_run in [true, false] {
        let error = fixture.apply_with(plan, |request| request.dry_run = dry_run).unwrap_err();
        assert_eq!(drifted(&error), ["notes/deep/one"]);
        let Error::Drifted { drifts, .. } = &error else { panic!("{error:?}") };
        assert!(
            drifts[0].description.starts_with("below `notes`, which is a file"),
            "{}",
            drifts[0].description
        );
    }
    assert!(!fixture.root("a/other").exists());
    std::fs::remove_file(fixture.root("a/notes")).unwrap();
    let _ = fixture.apply(plan).unwrap();
    assert_eq!(fixture.read("a/notes/deep/one"), "new");
}
