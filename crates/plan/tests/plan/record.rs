//! Records: bases, operations and refusals.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;

use plan::{Change, ChangeEntry, ContentInput, ContentKind, ContentSource, Edit, Operation, PathBytes, Tool};
use store::limits::CHUNK_BYTES;
use store::read_blob;

use super::fixture::*;

impl Fixture {
    /// Records one change into a new changeset, and returns the entry.
    fn recorded(&self, change: Change) -> ChangeEntry {
        let changeset = self.start("coder");
        changeset.record(change).unwrap();
        self.plans.entries(changeset.id()).unwrap().remove(0)
    }

    /// Returns the error code of a refused change, and checks that nothing was recorded.
    fn refused(&self, change: Change) -> String {
        let changeset = self.start("coder");
        let error = changeset.record(change).unwrap_err();
        assert_eq!(self.plans.changeset(changeset.id()).unwrap().entries, 0);
        error.code().to_owned()
    }

    fn text(&self, content: &Option<plan::Content>) -> Option<String> {
        let content = content.as_ref()?;
        Some(String::from_utf8(read_blob(self.store(), content.blob, 1 << 20).unwrap()).unwrap())
    }
}

#[test]
fn the_default_base_is_the_content_in_the_root() {
    let fixture = Fixture::new();
    fixture.write("a", "old");
    let changeset = fixture.start("coder");
    changeset.record(write("a", "new").with_tool(Tool::parse("editor").unwrap())).unwrap();
    fixture.write("a", "somebody else's");
    changeset.record(write("a", "newer")).unwrap();
    let entries = fixture.plans.entries(changeset.id()).unwrap();
    assert_eq!(fixture.text(&entries[0].before).as_deref(), Some("old"));
    assert_eq!(entries[0].tool.as_ref().unwrap().as_str(), "editor");
    assert_eq!(entries[1].before, entries[0].after, "it builds on the one before, not on the root");
    assert_eq!(entries[1].operation, Operation::Modify);
}

#[test]
fn the_operation_depends_on_the_base() {
    let fixture = Fixture::new();
    fixture.write("there", "x");
    assert_eq!(fixture.recorded(write("new", "x")).operation, Operation::Create);
    assert_eq!(fixture.recorded(write("there", "y")).operation, Operation::Modify);
    assert_eq!(fixture.recorded(Change::delete(bytes("there"))).operation, Operation::Delete);
    assert_eq!(fixture.recorded(Change::mode(bytes("there"), 0o755)).operation, Operation::Mode);
    let renamed = fixture.recorded(Change::rename(bytes("there"), bytes("elsewhere")));
    assert_eq!(renamed.operation, Operation::Rename { to: bytes("elsewhere") });
    assert_eq!(renamed.before, renamed.after);
}

#[test]
fn a_missing_path_cannot_be_deleted_renamed_or_change_mode() {
    let fixture = Fixture::new();
    fixture.write("there", "x");
    let not_there = [
        Change::delete(bytes("a")),
        Change::rename(bytes("a"), bytes("b")),
        Change::mode(bytes("a"), 0o755),
        Change::delete(bytes("there")).with_base(None),
    ];
    for change in not_there {
        assert_eq!(fixture.refused(change), "path-not-found");
    }
    let changeset = fixture.start("coder");
    changeset.record(Change::delete(bytes("there"))).unwrap();
    assert_eq!(changeset.record(Change::delete(bytes("there"))).unwrap_err().code(), "path-not-found");
    changeset.record(write("there", "again")).unwrap();
    let entries = fixture.plans.entries(changeset.id()).unwrap();
    assert_eq!((entries[1].operation.clone(), &entries[1].before), (Operation::Create, &None));
}

#[test]
fn a_rename_onto_an_existing_path_is_refused() {
    let fixture = Fixture::new();
    fixture.write("a", "1");
    fixture.write("b", "2");
    assert_eq!(fixture.refused(Change::rename(bytes("a"), bytes("b"))), "path-exists");
    let changeset = fixture.start("coder");
    changeset.record(Change::delete(bytes("b"))).unwrap();
    changeset.record(Change::rename(bytes("a"), bytes("b"))).unwrap();
    changeset.record(write("b", "3")).unwrap();
    let entries = fixture.plans.entries(changeset.id()).unwrap();
    assert_eq!(entries[2].before, entries[1].after);
}

#[test]
fn modes_are_kept_unless_given() {
    let fixture = Fixture::new();
    fixture.write("tool", "x");
    std::fs::set_permissions(fixture.root.join("tool"), PermissionsExt::from_mode(0o755)).unwrap();
    let mode = |change| fixture.recorded(change).after.unwrap().mode;
    assert_eq!(mode(write("tool", "y")), 0o755);
    assert_eq!(mode(write("new", "y")), 0o644);
    assert_eq!(mode(write_with_mode("tool", "y", 0o600)), 0o600);
    assert_eq!(mode(Change::mode(bytes("tool"), 0o644)), 0o644);
    let stored = fixture.recorded(write("x", "y")).after.unwrap();
    let edit = Edit::Write { content: ContentSource::Stored(stored.clone()), mode: None };
    assert_eq!(fixture.recorded(Change::new(bytes("copy"), edit)).after.unwrap().blob, stored.blob);
}

#[test]
fn symlinks_are_recorded_as_such_and_never_followed() {
    let fixture = Fixture::new();
    fixture.write("a", "x");
    std::os::unix::fs::symlink("/etc/passwd", fixture.root.join("link")).unwrap();
    let entry = fixture.recorded(Change::symlink(bytes("link"), bytes("a")));
    let (before, after) = (entry.before.clone().unwrap(), entry.after.clone().unwrap());
    assert_eq!((before.kind, after.kind), (ContentKind::Symlink, ContentKind::Symlink));
    assert_eq!(fixture.text(&entry.before).as_deref(), Some("/etc/passwd"));
    assert_eq!(fixture.text(&entry.after).as_deref(), Some("a"));
    let entry = fixture.recorded(Change::symlink(bytes("a"), bytes("link")));
    assert_eq!((entry.operation, entry.before.unwrap().kind), (Operation::Modify, ContentKind::File));
    let entry = fixture.recorded(write("link", "a file now"));
    assert_eq!((entry.after.unwrap().mode, entry.before.unwrap().mode), (0o644, 0o777));
    assert_eq!(fixture.refused(Change::mode(bytes("link"), 0o755)), "wrong-kind");
    assert!(PathBytes::parse("").is_err() && PathBytes::parse("a\0b").is_err(), "a target is a path");
}

#[test]
fn names_are_bytes() {
    let fixture = Fixture::new();
    for name in [&b"\xff\xfe"[..], b"new\nline", b"sp ace/\xc3\xa9", b"-rf"] {
        let entry = fixture.recorded(Change::write(bytes(name), "x"));
        assert_eq!(entry.path.as_bytes(), name);
    }
}

/// [app-ignored], [sec-escape], [sec-fifo]
#[test]
fn paths_out_of_the_root_or_into_protected_folders_are_refused() {
    let fixture = Fixture::new();
    std::fs::create_dir(fixture.folder.path().join("outside")).unwrap();
    std::fs::write(fixture.folder.path().join("outside/secret"), "s").unwrap();
    std::os::unix::fs::symlink(fixture.folder.path().join("outside"), fixture.root.join("link")).unwrap();
    for path in [
        "../outside/secret",
        "/etc/passwd",
        "a/../../b",
        "./a",
        "a//b",
        "a/",
        ".git/config",
        "a/.GIT/x",
        ".cleveragents/x",
    ] {
        assert_eq!(fixture.refused(write(path, "x")), "bad-path", "{path}");
        fixture.write("there", "x");
        assert_eq!(fixture.refused(Change::rename(bytes("there"), bytes(path))), "bad-path", "{path}");
    }
    // A path through a symlinked folder is refused.
    assert_eq!(fixture.refused(write("link/secret", "x")), "bad-path");
    assert_eq!(fixture.refused(write("link/deep/er", "x")), "bad-path");
    let changeset = fixture.start("coder");
    changeset.record_many(vec![Change::delete(bytes("link")), write("link/secret", "x")]).unwrap();
    changeset.record(write("link/another", "x")).unwrap();
    assert!(fixture.plans.entries(changeset.id()).unwrap()[1..].iter().all(|entry| entry.before.is_none()));
    std::fs::create_dir(fixture.root.join("folder")).unwrap();
    assert_eq!(fixture.refused(write("folder", "x")), "wrong-kind");
    assert_eq!(fixture.refused(Change::delete(bytes("folder"))), "wrong-kind");
    let status = std::process::Command::new("mkfifo").arg(fixture.root.join("pipe")).status().unwrap();
    assert!(status.success());
    assert_eq!(fixture.refused(write("pipe", "x")), "wrong-kind");
}

#[test]
fn a_foreign_root_is_refused() {
    let fixture = Fixture::new();
    let foreign = bytes(fixture.folder.path().to_str().unwrap());
    assert_eq!(fixture.refused(write("a", "x").in_root(foreign)), "foreign-root");
    let other = fixture.folder.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let plan = fixture.plans.create(None, &[&fixture.root, &other], &actor("ana")).unwrap();
    let context = fixture.plans.context(plan.id).unwrap();
    let changeset = context.start_changeset(&actor("coder")).unwrap();
    let error = changeset.record(write("a", "x")).unwrap_err();
    let plan::Error::ForeignRoot { roots, .. } = error else { panic!("{error}") };
    assert!(roots[1].ends_with("other"), "{roots:?}");
    changeset.record(write("a", "x").in_root(plan.roots[1].clone())).unwrap();
    std::fs::remove_dir(&other).unwrap();
    let gone = changeset.record(write("b", "x").in_root(plan.roots[1].clone())).unwrap_err();
    assert!(matches!(gone, plan::Error::Root { .. }), "{gone}");
}

#[test]
fn a_given_base_must_match_the_last_recorded_content() {
    let fixture = Fixture::new();
    fixture.write("a", "in the root");
    let changeset = fixture.start("coder");
    changeset.record(write("a", "1").with_base(file("given"))).unwrap();
    let entries = fixture.plans.entries(changeset.id()).unwrap();
    assert_eq!(fixture.text(&entries[0].before).as_deref(), Some("given"));
    let other = changeset.record(write("a", "2").with_base(file("given"))).unwrap_err();
    assert_eq!(other.code(), "base-mismatch");
    changeset.record(write("a", "2").with_base(file("1"))).unwrap();
    let missing = ContentInput::stored(plan::Content {
        blob: store::BlobHash::of(b"?"),
        ..entries[0].after.clone().unwrap()
    });
    assert_eq!(
        changeset.record(write("b", "x").with_base(Some(missing))).unwrap_err().code(),
        "blob-missing"
    );
}

#[test]
fn reserved_tools_are_refused() {
    let fixture = Fixture::new();
    for tool in ["agents plan resolve", "agents plan apply"] {
        let change = write("a", "x").with_tool(Tool::parse(tool).unwrap());
        assert_eq!(fixture.refused(change), "reserved-tool");
    }
}

#[test]
fn a_batch_is_atomic() {
    let fixture = Fixture::new();
    let changeset = fixture.start("coder");
    let recorded = changeset.record_many(vec![write("a", "1"), write("b", "1"), write("a", "2")]).unwrap();
    assert_eq!((recorded.first, recorded.count), (1, 3));
    let entries = fixture.plans.entries(changeset.id()).unwrap();
    assert_eq!(entries[2].before, entries[0].after);
    let error = changeset.record_many(vec![write("c", "1"), Change::delete(bytes("nothing"))]).unwrap_err();
    assert_eq!(error.code(), "path-not-found");
    assert_eq!(changeset.record(write("c", "1")).unwrap(), 4, "nothing of it was recorded");
    let many = (0..12).map(|number| {
        let mut random = fastrand::Rng::with_seed(number);
        write(&format!("big/{number}"), (0..CHUNK_BYTES).map(|_| random.u8(..)).collect::<Vec<u8>>())
    });
    assert_eq!(changeset.record_many(many.collect()).unwrap().count, 12, "more than one transaction takes");
    assert_eq!(changeset.record_many(Vec::new()).unwrap().count, 0);
}

/// A large content in the root and a large new one: both are streamed.
#[test]
fn large_files_are_streamed() {
    let fixture = Fixture::new();
    let length = 5 * CHUNK_BYTES + 17;
    let text = |seed: u64| -> Vec<u8> {
        let mut random = fastrand::Rng::with_seed(seed);
        (0..length).map(|_| random.u8(..)).collect()
    };
    fixture.write("long", text(1));
    let reader: Box<dyn Read + Send> = Box::new(std::io::Cursor::new(text(2)));
    let edit = Edit::Write { content: ContentSource::Reader(reader), mode: None };
    assert!(format!("{edit:?}").contains("a stream"));
    let entry = fixture.recorded(Change::new(bytes("long"), edit));
    for (content, seed) in [(entry.before, 1), (entry.after, 2)] {
        let content = content.unwrap();
        assert_eq!(content.bytes, length as u64);
        assert_eq!(read_blob(fixture.store(), content.blob, length).unwrap(), text(seed));
    }
    let entry = fixture.recorded(write("longer", text(3)));
    assert_eq!(entry.after.unwrap().bytes, length as u64);
}

#[test]
fn a_failed_read_records_nothing() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("gone"))
        }
    }
    let fixture = Fixture::new();
    let edit = Edit::Write { content: ContentSource::Reader(Box::new(Failing)), mode: None };
    assert_eq!(fixture.refused(Change::new(bytes("a"), edit)), "source-unreadable");
}

/// The changes of an interrupted apply are visible as the base.
#[test]
fn recording_does_not_change_the_root() {
    let fixture = Fixture::new();
    fixture.write("a", "x");
    let before = testkit::folder::tree(&fixture.root);
    fixture.recorded(write("a", "y"));
    assert_eq!(testkit::folder::tree(&fixture.root), before);
}
