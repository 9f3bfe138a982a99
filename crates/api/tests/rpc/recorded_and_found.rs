//! Changes that an actor recorded itself, and changes found in its sandbox.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use cleveragents::Edit;

use crate::fixture::{Actor, Fixture};

/// Plays one actor; what it recorded and what `file` holds when that was applied.
fn check(work: impl Fn(&Actor) + Sync, entries: &[&str], file: Option<&str>) {
    let fixture = Fixture::new();
    fs::write(fixture.path("project/other"), "other\n").unwrap();
    let summary = fixture.play(&["work"], "", work);
    assert_eq!(fixture.entries(&summary, "work"), entries);
    if entries.is_empty() {
        return;
    }
    assert_eq!(fixture.applied(&summary, "file").as_deref(), file);
}

#[test]
fn an_identical_change_is_recorded_once() {
    let both = |actor: &Actor| {
        actor.write("file", "new\n");
        actor.record_text("file", "new\n").unwrap();
    };
    check(both, &["modify file 8 4"], Some("new\n"));
    let gone = |actor: &Actor| {
        actor.record("file", Edit::Delete).unwrap();
        fs::remove_file(actor.tree("file")).unwrap();
    };
    check(gone, &["delete file 8 -"], None);
    let moved = |actor: &Actor| {
        fs::rename(actor.tree("file"), actor.tree("moved")).unwrap();
        actor.record("file", Edit::RenameTo("moved".to_owned())).unwrap();
    };
    check(moved, &["rename file to moved 8 8"], None);
    let link = |actor: &Actor| {
        actor.record("link", Edit::Symlink("file".to_owned())).unwrap();
        symlink("file", actor.tree("link")).unwrap();
    };
    check(link, &["create link - 4"], Some("one\ntwo\n"));
}

#[test]
fn a_recorded_path_unchanged_in_the_sandbox_stays() {
    check(|actor| drop(actor.record_text("file", "new\n").unwrap()), &["modify file 8 4"], Some("new\n"));
    check(|actor| drop(actor.record("file", Edit::Delete).unwrap()), &["delete file 8 -"], None);
}

#[test]
fn a_change_in_the_sandbox_builds_on_the_record() {
    let further = |actor: &Actor| {
        actor.record_text("file", "recorded\n").unwrap();
        actor.write("file", "in the copy\n");
    };
    check(further, &["modify file 8 9", "modify file 9 12"], Some("in the copy\n"));
    let back = |actor: &Actor| {
        actor.record("file", Edit::Delete).unwrap();
        actor.write("file", "still there\n");
    };
    check(back, &["delete file 8 -", "create file - 12"], Some("still there\n"));
    let gone = |actor: &Actor| {
        actor.record_text("file", "recorded\n").unwrap();
        fs::remove_file(actor.tree("file")).unwrap();
    };
    check(gone, &["modify file 8 9", "delete file 9 -"], None);
    let mode = |actor: &Actor| {
        actor.record_text("file", "new\n").unwrap();
        actor.write("file", "new\n");
        fs::set_permissions(actor.tree("file"), fs::Permissions::from_mode(0o755)).unwrap();
    };
    check(mode, &["modify file 8 4", "mode file 4 4"], Some("new\n"));
    let link = |actor: &Actor| {
        actor.record("link", Edit::Symlink("other".to_owned())).unwrap();
        symlink("file", actor.tree("link")).unwrap();
    };
    check(link, &["create link - 5", "modify link 5 4"], Some("one\ntwo\n"));
}

#[test]
fn a_half_recorded_rename_is_split() {
    let old = |actor: &Actor| {
        actor.record_text("file", "other content\n").unwrap();
        fs::rename(actor.tree("file"), actor.tree("moved")).unwrap();
    };
    check(old, &["modify file 8 14", "delete file 14 -", "create moved - 8"], None);
    let new = |actor: &Actor| {
        actor.record_text("moved", "one\ntwo\n").unwrap();
        fs::rename(actor.tree("file"), actor.tree("moved")).unwrap();
    };
    check(new, &["create moved - 8", "delete file 8 -"], None);
}
