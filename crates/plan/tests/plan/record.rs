//! What entries become of what is in a root.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;

use plan::{Act, Change, ChangeEntry, ContentKind, Operation, Piece, Source, Tool};
use store::limits::CHUNK_BYTES;
use store::read_blob;

use super::fixture::*;

impl Ground {
    /// Records one change into a changeset of its own; gives the entry.
    fn recorded(&self, change: Change) -> ChangeEntry {
        let changeset = self.start("coder");
        changeset.record(change).unwrap();
        self.plans.entries(changeset.id()).unwrap().remove(0)
    }

    /// The code of the error with which a change is refused; nothing is recorded then.
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
fn the_base_is_what_is_in_the_root_at_that_moment() {
    let ground = Ground::new();
    ground.write("a", "old");
    let changeset = ground.start("coder");
    changeset.record(write("a", "new").with_tool(Tool::parse("editor").unwrap())).unwrap();
    ground.write("a", "somebody else's");
    changeset.record(write("a", "newer")).unwrap();
    let entries = ground.plans.entries(changeset.id()).unwrap();
    assert_eq!(ground.text(&entries[0].before).as_deref(), Some("old"));
    assert_eq!(entries[0].tool.as_ref().unwrap().as_str(), "editor");
    assert_eq!(entries[1].before, entries[0].after, "it builds on the one before, not on the root");
    assert_eq!(entries[1].operation, Operation::Modify);
}

#[test]
fn the_operation_follows_from_what_was_there() {
    let ground = Ground::new();
    ground.write("there", "x");
    assert_eq!(ground.recorded(write("new", "x")).operation, Operation::Create);
    assert_eq!(ground.recorded(write("there", "y")).operation, Operation::Modify);
    assert_eq!(ground.recorded(Change::delete(bytes("there"))).operation, Operation::Delete);
    assert_eq!(ground.recorded(Change::mode(bytes("there"), 0o755)).operation, Operation::Mode);
    let renamed = ground.recorded(Change::rename(bytes("there"), bytes("elsewhere")));
    assert_eq!(renamed.operation, Operation::Rename { to: bytes("elsewhere") });
    assert_eq!(renamed.before, renamed.after);
}

#[test]
fn what_is_not_there_cannot_be_deleted_renamed_or_get_a_mode() {
    let ground = Ground::new();
    ground.write("there", "x");
    let not_there = [
        Change::delete(bytes("a")),
        Change::rename(bytes("a"), bytes("b")),
        Change::mode(bytes("a"), 0o755),
        Change::delete(bytes("there")).on(None),
    ];
    for change in not_there {
        assert_eq!(ground.refused(change), "not-there");
    }
    let changeset = ground.start("coder");
    changeset.record(Change::delete(bytes("there"))).unwrap();
    assert_eq!(changeset.record(Change::delete(bytes("there"))).unwrap_err().code(), "not-there");
    changeset.record(write("there", "again")).unwrap();
    let entries = ground.plans.entries(changeset.id()).unwrap();
    assert_eq!((entries[1].operation.clone(), &entries[1].before), (Operation::Create, &None));
}

#[test]
fn a_file_is_not_renamed_over_another() {
    let ground = Ground::new();
    ground.write("a", "1");
    ground.write("b", "2");
    assert_eq!(ground.refused(Change::rename(bytes("a"), bytes("b"))), "already-there");
    let changeset = ground.start("coder");
    changeset.record(Change::delete(bytes("b"))).unwrap();
    changeset.record(Change::rename(bytes("a"), bytes("b"))).unwrap();
    changeset.record(write("b", "3")).unwrap();
    let entries = ground.plans.entries(changeset.id()).unwrap();
    assert_eq!(entries[2].before, entries[1].after);
}

#[test]
fn modes_are_kept_unless_given() {
    let ground = Ground::new();
    ground.write("tool", "x");
    std::fs::set_permissions(ground.root.join("tool"), PermissionsExt::from_mode(0o755)).unwrap();
    let mode = |change| ground.recorded(change).after.unwrap().mode;
    assert_eq!(mode(write("tool", "y")), 0o755);
    assert_eq!(mode(write("new", "y")), 0o644);
    assert_eq!(mode(write_with_mode("tool", "y", 0o600)), 0o600);
    assert_eq!(mode(Change::mode(bytes("tool"), 0o644)), 0o644);
    let stored = ground.recorded(write("x", "y")).after.unwrap();
    let act = Act::Write { content: Source::Stored(stored.clone()), mode: None };
    assert_eq!(ground.recorded(Change::new(bytes("copy"), act)).after.unwrap().blob, stored.blob);
}

#[test]
fn symlinks_are_recorded_as_such_and_never_followed() {
    let ground = Ground::new();
    ground.write("a", "x");
    std::os::unix::fs::symlink("/etc/passwd", ground.root.join("link")).unwrap();
    let entry = ground.recorded(Change::symlink(bytes("link"), "a"));
    let (before, after) = (entry.before.clone().unwrap(), entry.after.clone().unwrap());
    assert_eq!((before.kind, after.kind), (ContentKind::Symlink, ContentKind::Symlink));
    assert_eq!(ground.text(&entry.before).as_deref(), Some("/etc/passwd"));
    assert_eq!(ground.text(&entry.after).as_deref(), Some("a"));
    let entry = ground.recorded(Change::symlink(bytes("a"), "link"));
    assert_eq!((entry.operation, entry.before.unwrap().kind), (Operation::Modify, ContentKind::File));
    let entry = ground.recorded(write("link", "a file now"));
    assert_eq!((entry.after.unwrap().mode, entry.before.unwrap().mode), (0o644, 0o777));
    assert_eq!(ground.refused(Change::mode(bytes("link"), 0o755)), "wrong-kind");
    assert_eq!(ground.refused(Change::symlink(bytes("l"), "")), "bad-path");
    assert_eq!(ground.refused(Change::symlink(bytes("l"), "a\0b")), "bad-path");
}

#[test]
fn names_are_bytes() {
    let ground = Ground::new();
    for name in [&b"\xff\xfe"[..], b"new\nline", b"sp ace/\xc3\xa9", b"-rf"] {
        let entry = ground.recorded(Change::write(bytes(name), "x"));
        assert_eq!(entry.path.as_bytes(), name);
    }
}

/// [app-ignored], [sec-escape], [sec-fifo]
#[test]
fn what_leads_out_or_into_protected_folders_is_refused() {
    let ground = Ground::new();
    std::fs::create_dir(ground.folder.path().join("outside")).unwrap();
    std::fs::write(ground.folder.path().join("outside/secret"), "s").unwrap();
    std::os::unix::fs::symlink(ground.folder.path().join("outside"), ground.root.join("link")).unwrap();
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
        assert_eq!(ground.refused(write(path, "x")), "bad-path", "{path}");
        ground.write("there", "x");
        assert_eq!(ground.refused(Change::rename(bytes("there"), bytes(path))), "bad-path", "{path}");
    }
    // A symlinked folder is not walked through.
    assert_eq!(ground.refused(write("link/secret", "x")), "bad-path");
    assert_eq!(ground.refused(write("link/deep/er", "x")), "bad-path");
    let changeset = ground.start("coder");
    changeset.record_many(vec![Change::delete(bytes("link")), write("link/secret", "x")]).unwrap();
    changeset.record(write("link/another", "x")).unwrap();
    assert!(ground.plans.entries(changeset.id()).unwrap()[1..].iter().all(|entry| entry.before.is_none()));
    std::fs::create_dir(ground.root.join("folder")).unwrap();
    assert_eq!(ground.refused(write("folder", "x")), "wrong-kind");
    assert_eq!(ground.refused(Change::delete(bytes("folder"))), "wrong-kind");
    let status = std::process::Command::new("mkfifo").arg(ground.root.join("pipe")).status().unwrap();
    assert!(status.success());
    assert_eq!(ground.refused(write("pipe", "x")), "wrong-kind");
}

#[test]
fn a_root_that_is_not_the_plans_is_refused() {
    let ground = Ground::new();
    let foreign = bytes(ground.folder.path().to_str().unwrap());
    assert_eq!(ground.refused(write("a", "x").in_root(foreign)), "foreign-root");
    let other = ground.folder.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let plan = ground.plans.create(None, &[&ground.root, &other], &actor("ana")).unwrap();
    let context = ground.plans.context(plan.id).unwrap();
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
fn a_given_base_stands_unless_the_changeset_knows_better() {
    let ground = Ground::new();
    ground.write("a", "in the root");
    let changeset = ground.start("coder");
    changeset.record(write("a", "1").on(file("given"))).unwrap();
    let entries = ground.plans.entries(changeset.id()).unwrap();
    assert_eq!(ground.text(&entries[0].before).as_deref(), Some("given"));
    let other = changeset.record(write("a", "2").on(file("given"))).unwrap_err();
    assert_eq!(other.code(), "other-base");
    changeset.record(write("a", "2").on(file("1"))).unwrap();
    let missing =
        Piece::stored(plan::Content { blob: store::BlobHash::of(b"?"), ..entries[0].after.clone().unwrap() });
    assert_eq!(changeset.record(write("b", "x").on(Some(missing))).unwrap_err().code(), "blob-missing");
}

#[test]
fn the_tools_of_resolutions_and_applies_are_not_for_others() {
    let ground = Ground::new();
    for tool in ["agents plan resolve", "agents plan apply"] {
        let change = write("a", "x").with_tool(Tool::parse(tool).unwrap());
        assert_eq!(ground.refused(change), "reserved-tool");
    }
}

#[test]
fn a_batch_is_recorded_whole_or_not_at_all() {
    let ground = Ground::new();
    let changeset = ground.start("coder");
    let recorded = changeset.record_many(vec![write("a", "1"), write("b", "1"), write("a", "2")]).unwrap();
    assert_eq!((recorded.first, recorded.count), (1, 3));
    let entries = ground.plans.entries(changeset.id()).unwrap();
    assert_eq!(entries[2].before, entries[0].after);
    let error = changeset.record_many(vec![write("c", "1"), Change::delete(bytes("nothing"))]).unwrap_err();
    assert_eq!(error.code(), "not-there");
    assert_eq!(changeset.record(write("c", "1")).unwrap(), 4, "nothing of it was recorded");
    let many = (0..12).map(|number| {
        let mut random = fastrand::Rng::with_seed(number);
        write(&format!("big/{number}"), (0..CHUNK_BYTES).map(|_| random.u8(..)).collect::<Vec<u8>>())
    });
    assert_eq!(changeset.record_many(many.collect()).unwrap().count, 12, "more than one transaction takes");
    assert_eq!(changeset.record_many(Vec::new()).unwrap().count, 0);
}

/// A long content in the root and a long new one: both are streamed.
#[test]
fn long_files_are_streamed() {
    let ground = Ground::new();
    let length = 5 * CHUNK_BYTES + 17;
    let text = |seed: u64| -> Vec<u8> {
        let mut random = fastrand::Rng::with_seed(seed);
        (0..length).map(|_| random.u8(..)).collect()
    };
    ground.write("long", text(1));
    let reader: Box<dyn Read + Send> = Box::new(std::io::Cursor::new(text(2)));
    let act = Act::Write { content: Source::Reader(reader), mode: None };
    assert!(format!("{act:?}").contains("a stream"));
    let entry = ground.recorded(Change::new(bytes("long"), act));
    for (content, seed) in [(entry.before, 1), (entry.after, 2)] {
        let content = content.unwrap();
        assert_eq!(content.bytes, length as u64);
        assert_eq!(read_blob(ground.store(), content.blob, length).unwrap(), text(seed));
    }
    let entry = ground.recorded(write("longer", text(3)));
    assert_eq!(entry.after.unwrap().bytes, length as u64);
}

#[test]
fn a_source_that_fails_records_nothing() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("gone"))
        }
    }
    let ground = Ground::new();
    let act = Act::Write { content: Source::Reader(Box::new(Failing)), mode: None };
    assert_eq!(ground.refused(Change::new(bytes("a"), act)), "source");
}

/// What an interrupted apply is about to publish is seen as the base; nothing of ours is in the way.
#[test]
fn recording_leaves_the_root_alone() {
    let ground = Ground::new();
    ground.write("a", "x");
    let before = testkit::folder::tree(&ground.root);
    ground.recorded(write("a", "y"));
    assert_eq!(testkit::folder::tree(&ground.root), before);
}
