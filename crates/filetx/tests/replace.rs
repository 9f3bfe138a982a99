//! Replacement of one file: all-or-nothing, with mode, owner and attributes preserved.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may fail anywhere")]

extern crate cleveragents_filetx as filetx;

mod support;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::{Arc, Mutex};

use filetx::{
    Disk, Error, Failure, FailureOutcome, FileKind, OpenMode, RelPath, RenameMode, ReplaceOptions,
    Replacement, Stat, Step, Storage, StoredFile, Sweep, replace_file, replace_in,
};
use rustix::fs::{XattrFlags, getxattr, setxattr};
use rustix::io::Errno;
use rustix::process::geteuid;
use support::*;

const REFUSE: ReplaceOptions = ReplaceOptions { new_mode: 0o600, sweep: Sweep::Never };
const SWEEP: ReplaceOptions = ReplaceOptions { sweep: Sweep::Leftovers, ..REFUSE };

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

/// Checks that the replacement is refused because of the kind of file at the path.
fn check_refused(path: &Path, options: &ReplaceOptions, expected: FileKind) {
    let failure = replace_file(path, b"new", options).unwrap_err();
    assert_eq!(failure.outcome, FailureOutcome::Aborted);
    match failure.error {
        Error::WrongFileKind { path: shown, found, .. } => {
            assert_eq!((shown.as_path(), found), (path, expected));
        }
        other => panic!("{path:?}: {other:?}"),
    }
}

#[test]
fn a_new_file_gets_the_requested_mode() {
    let play = Playground::new();
    let replaced = replace_file(&play.root("a"), b"new", &REFUSE).unwrap();
    assert_eq!(replaced, Replacement { created: true, swept: 0 });
    assert_eq!(REFUSE, ReplaceOptions::default());
    replace_file(&play.root("b"), b"", &ReplaceOptions { new_mode: 0o4751, ..REFUSE }).unwrap();
    assert_eq!(fs::read(play.root("a")).unwrap(), b"new");
    assert_eq!(mode(&play.root("a")), 0o600);
    assert_eq!(mode(&play.root("b")), 0o4751);
    assert_eq!(names(&play.root("")), ["a", "b"]);
}

#[test]
fn an_existing_file_keeps_mode_owner_and_attributes() {
    let play = Playground::new();
    for kept in [0o600, 0o644, 0o400, 0o6755, 0] {
        let path = play.root(format!("{kept:o}"));
        fs::write(&path, "a longer old content").unwrap();
        setxattr(&path, "user.tag", b"kept", XattrFlags::empty()).unwrap();
        if geteuid().is_root() {
            chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        fs::set_permissions(&path, PermissionsExt::from_mode(kept)).unwrap();
        let before = fs::metadata(&path).unwrap();

        let replaced = replace_file(&path, b"new", &REFUSE).unwrap();
        assert_eq!(replaced, Replacement { created: false, swept: 0 });
        let after = fs::metadata(&path).unwrap();
        assert_eq!((after.mode(), after.uid(), after.gid()), (before.mode(), before.uid(), before.gid()));
        assert_ne!(after.ino(), before.ino());
        fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        let mut tag = [0; 8];
        if kept != 0 || geteuid().is_root() {
            assert_eq!(getxattr(&path, "user.tag", &mut tag), Ok(4), "{kept:o}");
        }
    }
}

#[test]
fn access_lists_are_copied_without_the_default_of_the_folder() {
    const ACCESS: &str = "system.posix_acl_access";
    let play = Playground::new();
    // Version 2, then (tag, permissions, id): owner, one named user, group, mask, others.
    let mut list = 2u32.to_le_bytes().to_vec();
    for (tag, permissions, id) in
        [(1u16, 6u16, u32::MAX), (2, 6, NOBODY), (4, 0, u32::MAX), (0x10, 6, u32::MAX), (0x20, 0, u32::MAX)]
    {
        list.extend([tag.to_le_bytes(), permissions.to_le_bytes()].concat());
        list.extend(id.to_le_bytes());
    }
    for name in ["listed", "plain"] {
        fs::write(play.root(name), "old").unwrap();
        fs::set_permissions(play.root(name), PermissionsExt::from_mode(0o640)).unwrap();
    }
    setxattr(play.root("listed"), ACCESS, &list, XattrFlags::empty()).unwrap();
    setxattr(play.root(""), "system.posix_acl_default", &list, XattrFlags::empty()).unwrap();
    for name in ["listed", "plain"] {
        replace_file(&play.root(name), b"new", &REFUSE).unwrap();
    }
    let mut found = [0; 64];
    assert_eq!(getxattr(play.root("listed"), ACCESS, &mut found), Ok(list.len()));
    assert_eq!(&found[..list.len()], list);
    assert_eq!(getxattr(play.root("plain"), ACCESS, &mut found), Err(Errno::NODATA));
    assert_eq!((mode(&play.root("listed")), mode(&play.root("plain"))), (0o660, 0o640));
}

#[test]
fn other_hard_links_keep_the_old_content() {
    let play = Playground::new();
    fs::hard_link(play.outside("secret"), play.root("a")).unwrap();
    replace_file(&play.root("a"), b"new", &REFUSE).unwrap();
    assert_eq!(fs::read(play.root("a")).unwrap(), b"new");
    play.assert_outside_untouched();
}

#[test]
fn a_symlink_is_refused() {
    let play = Playground::new();
    symlink(play.outside("secret"), play.root("link")).unwrap();
    symlink("nowhere", play.root("dangling")).unwrap();
    check_refused(&play.root("link"), &REFUSE, FileKind::Symlink);
    check_refused(&play.root("dangling"), &REFUSE, FileKind::Symlink);
    let failure = replace_in(&play.disk, &rel("link"), b"new", &REFUSE).unwrap_err();
    assert!(matches!(failure.error, Error::WrongFileKind { found: FileKind::Symlink, .. }));
    assert_eq!(names(&play.root("")), ["dangling", "link"]);
    play.assert_outside_untouched();
}

#[test]
fn only_plain_files_are_replaced() {
    let play = Playground::new();
    make_fifo(&play.root("fifo"));
    let _socket = UnixListener::bind(play.root("socket")).unwrap();
    fs::create_dir(play.root("folder")).unwrap();
    symlink("fifo", play.root("link")).unwrap();
    check_refused(&play.root("fifo"), &REFUSE, FileKind::Other);
    check_refused(&play.root("socket"), &REFUSE, FileKind::Other);
    check_refused(&play.root("folder"), &REFUSE, FileKind::Folder);
    check_refused(&play.root("folder/"), &REFUSE, FileKind::Folder);
    check_refused(&play.root("missing/"), &REFUSE, FileKind::Folder);
    check_refused(Path::new("/"), &REFUSE, FileKind::Folder);
    check_refused(&play.root(".."), &REFUSE, FileKind::Folder);
    check_refused(Path::new("/dev/null"), &REFUSE, FileKind::Other);
    check_refused(&play.root("link"), &REFUSE, FileKind::Symlink);
    let failure = replace_in(&play.disk, &RelPath::root(), b"new", &REFUSE).unwrap_err();
    assert!(matches!(failure.error, Error::WrongFileKind { found: FileKind::Folder, .. }));
    assert_eq!(names(&play.root("")), ["fifo", "folder", "link", "socket"]);
}

#[test]
fn a_file_in_the_current_folder_needs_no_folder_in_its_path() {
    // The current folder of a test is its package. The name of an existing folder shows that the
    // path was resolved there.
    check_refused(Path::new("src"), &REFUSE, FileKind::Folder);
}

#[test]
fn names_may_have_any_bytes_up_to_the_limit() {
    let play = Playground::new();
    for name in [b"two\nlines".as_slice(), b"\xff\xfe", &[b'n'; 255], &[0xff; 254], b".tmp"] {
        for content in [b"first".as_slice(), b"second"] {
            replace_file(&play.root(OsStr::from_bytes(name)), content, &SWEEP).unwrap();
            assert_eq!(fs::read(play.root(OsStr::from_bytes(name))).unwrap(), content);
        }
    }
    assert_eq!(names(&play.root("")).len(), 5);
    let failure = replace_file(&play.root("n".repeat(256)), b"", &REFUSE).unwrap_err();
    assert!(matches!(failure.error, Error::BadPath { .. }));
}

#[test]
fn below_a_root_no_path_leads_out() {
    let play = Playground::new();
    symlink(play.outside(""), play.root("out")).unwrap();
    let failure = replace_in(&play.disk, &rel("out/secret"), b"new", &REFUSE).unwrap_err();
    assert!(matches!(failure.error, Error::Io { step: Step::Inspect, .. }));
    fs::create_dir(play.root("in")).unwrap();
    replace_in(&play.disk, &rel("in/file"), b"new", &REFUSE).unwrap();
    assert_eq!(fs::read(play.root("in/file")).unwrap(), b"new");
    play.assert_outside_untouched();
}

#[test]
fn a_read_only_folder_is_an_error_and_the_file_stays() {
    let play = Playground::new();
    fs::write(play.root("a"), "old").unwrap();
    fs::set_permissions(play.path(), PermissionsExt::from_mode(0o755)).unwrap();
    fs::set_permissions(play.root(""), PermissionsExt::from_mode(0o555)).unwrap();
    let failure = as_ordinary_user(|| replace_file(&play.root("a"), b"new", &REFUSE).unwrap_err());
    fs::set_permissions(play.root(""), PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(failure.outcome, FailureOutcome::Aborted);
    match failure.error {
        Error::Io { step, path, source } => {
            assert_eq!((step, path), (Step::StageReplacement, play.root("a")));
            assert_eq!(source.kind(), ErrorKind::PermissionDenied);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(fs::read(play.root("a")).unwrap(), b"old");
    assert_eq!(names(&play.root("")), ["a"]);
}

#[test]
fn sweep_removes_only_leftovers_of_its_target() {
    let play = Playground::new();
    let long = "n".repeat(250);
    let leftover = ".a.0123456789abcdef.tmp";
    let others = [
        ".b.0123456789abcdef.tmp",
        ".a.b.0123456789abcdef.tmp",
        ".a.0123456789abcdeF.tmp",
        ".a.0123456789abcde.tmp",
        ".a.0123456789abcdef.tmp~",
        "a.0123456789abcdef.tmp",
        ".a.tmp",
    ];
    for name in others.iter().chain([&leftover, &"a", &&*long]) {
        fs::write(play.root(name), "").unwrap();
    }
    fs::create_dir(play.root(".a.ffffffffffffffff.tmp")).unwrap();

    assert_eq!(replace_in(&play.disk, &rel("a"), b"1", &REFUSE).unwrap().swept, 0);
    assert!(play.root(leftover).exists());
    assert_eq!(replace_in(&play.disk, &rel("a"), b"2", &SWEEP).unwrap().swept, 1);
    assert!(!play.root(leftover).exists());
    assert_eq!(names(&play.root("")).len(), others.len() + 3);
    assert_eq!(fs::read(play.root("a")).unwrap(), b"2");
}

#[test]
fn leftovers_of_long_names_are_swept_by_their_name_only() {
    let play = Playground::new();
    let (long, similar) = (format!("{}a", "n".repeat(254)), format!("{}b", "n".repeat(254)));
    // A writer killed before its rename leaves its staged file.
    let killed = Recorder::new(&play.disk, Some(("sync_all", Fault::Killed)));
    replace_in(&killed, &rel(&long), b"new", &REFUSE).unwrap_err();
    assert_eq!(names(&play.root("")).len(), 1);

    assert_eq!(replace_in(&play.disk, &rel(&similar), b"new", &SWEEP).unwrap().swept, 0);
    assert_eq!(replace_in(&play.disk, &rel(&long), b"new", &SWEEP).unwrap().swept, 1);
    assert_eq!(names(&play.root("")), [OsString::from(long), similar.into()]);
}

#[test]
fn a_replacement_makes_a_fixed_sequence_of_calls() {
    let play = Playground::new();
    let recorder = Recorder::new(&play.disk, None);
    replace_in(&recorder, &rel("a"), b"1", &REFUSE).unwrap();
    assert_eq!(recorder.calls(), ["stat", "create", "write", "sync_all", "rename", "sync_folder"]);

    fs::set_permissions(play.root("a"), PermissionsExt::from_mode(0o644)).unwrap();
    let recorder = Recorder::new(&play.disk, None);
    replace_in(&recorder, &rel("a"), b"1", &SWEEP).unwrap();
    assert_eq!(
        recorder.calls(),
        [
            "stat",
            "list",
            "create",
            "write",
            "copy_attributes",
            "set_mode",
            "sync_all",
            "rename",
            "sync_folder"
        ]
    );
}

#[test]
fn a_failure_before_the_rename_leaves_only_the_old_file() {
    for (call, step) in [
        ("stat", Step::Inspect),
        ("list", Step::SweepReplacements),
        ("create", Step::StageReplacement),
        ("write", Step::StageReplacement),
        ("copy_attributes", Step::StageReplacement),
        ("set_mode", Step::StageReplacement),
        ("sync_all", Step::SyncReplacement),
        ("rename", Step::PlaceReplacement),
    ] {
        let (failure, content) = replace_with_fault(call, Fault::Fails);
        assert_eq!((failure.outcome, content), (FailureOutcome::Aborted, b"old".to_vec()), "{call}");
        assert!(
            matches!(failure.error, Error::Io { step: failed, .. } if failed == step),
            "{call}: {failure:?}"
        );
    }
}

#[test]
fn a_failure_after_the_rename_is_unknown() {
    let (failure, content) = replace_with_fault("sync_folder", Fault::Fails);
    assert_eq!((failure.outcome, content), (FailureOutcome::Unknown, b"new".to_vec()));
    assert!(matches!(failure.error, Error::Io { step: Step::SyncReplacedFolder, .. }));
}

#[test]
fn a_rename_that_takes_effect_and_fails_is_unknown() {
    let (failure, content) = replace_with_fault("rename", Fault::DoneAllTheSame);
    assert_eq!((failure.outcome, content), (FailureOutcome::Unknown, b"new".to_vec()));
    assert!(matches!(failure.error, Error::Io { step: Step::PlaceReplacement, .. }));
}

#[test]
fn occupied_names_are_an_error_after_several_attempts() {
    let (failure, content) = replace_with_fault("create", Fault::Taken);
    assert_eq!((failure.outcome, content), (FailureOutcome::Aborted, b"old".to_vec()));
    assert!(matches!(failure.error, Error::Io { source, .. } if source.kind() == ErrorKind::AlreadyExists));
}

#[test]
fn an_occupied_name_is_retried() {
    let play = Playground::new();
    let recorder = Recorder::new(&play.disk, Some(("create", Fault::TakenOnce)));
    replace_in(&recorder, &rel("a"), b"new", &REFUSE).unwrap();
    assert_eq!(recorder.calls()[..3], ["stat", "create", "create"]);
}

/// Replaces `old` by `new` with a fault at one call. Returns the failure and the content of the
/// file. No other file may remain.
fn replace_with_fault(call: &'static str, fault: Fault) -> (Failure, Vec<u8>) {
    let play = Playground::new();
    fs::write(play.root("a"), "old").unwrap();
    fs::set_permissions(play.root("a"), PermissionsExt::from_mode(0o644)).unwrap();
    let recorder = Recorder::new(&play.disk, Some((call, fault)));
    let failure = replace_in(&recorder, &rel("a"), b"new", &SWEEP).unwrap_err();
    assert_eq!(names(&play.root("")), ["a"], "{call}");
    assert_eq!(mode(&play.root("a")), 0o644, "{call}");
    (failure, fs::read(play.root("a")).unwrap())
}

/// Fault at a call.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Fault {
    /// The call fails.
    Fails,
    /// The call takes effect and fails.
    DoneAllTheSame,
    /// This call and all later ones fail.
    Killed,
    /// The name exists.
    Taken,
    /// The name exists at the first attempt.
    TakenOnce,
}

/// A disk that records calls and fails at one.
#[derive(Debug)]
struct Recorder<'a> {
    disk: &'a Disk,
    log: Arc<Log>,
}

impl<'a> Recorder<'a> {
    fn new(disk: &'a Disk, fault: Option<(&'static str, Fault)>) -> Self {
        Self { disk, log: Arc::new(Log { fault, calls: Mutex::default() }) }
    }

    fn calls(&self) -> Vec<&'static str> {
        self.log.calls.lock().unwrap().clone()
    }
}

/// Shared with the open files.
#[derive(Debug)]
struct Log {
    fault: Option<(&'static str, Fault)>,
    calls: Mutex<Vec<&'static str>>,
}

impl Log {
    fn call<T>(&self, call: &'static str, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let mut calls = self.calls.lock().unwrap();
        let seen = calls.contains(&call);
        calls.push(call);
        let failed = Err(io::Error::other("injected"));
        match self.fault {
            Some((at, Fault::Killed)) if at == call || calls.contains(&at) => failed,
            Some((at, Fault::Fails)) if at == call => failed,
            Some((at, Fault::Taken)) if at == call => Err(ErrorKind::AlreadyExists.into()),
            Some((at, Fault::TakenOnce)) if at == call && !seen => Err(ErrorKind::AlreadyExists.into()),
            Some((at, Fault::DoneAllTheSame)) if at == call => work().and(failed),
            _ => work(),
        }
    }
}

impl Storage for Recorder<'_> {
    fn stat(&self, path: &RelPath) -> io::Result<Option<Stat>> {
        self.log.call("stat", || self.disk.stat(path))
    }

    fn open(&self, path: &RelPath, how: OpenMode) -> io::Result<Box<dyn StoredFile>> {
        assert!(matches!(how, OpenMode::Create { .. }), "the target is not opened");
        let file = self.log.call("create", || self.disk.open(path, how))?;
        Ok(Box::new(RecordedFile { file, log: Arc::clone(&self.log) }))
    }

    fn list(&self, folder: &RelPath) -> io::Result<Vec<OsString>> {
        self.log.call("list", || self.disk.list(folder))
    }

    fn rename(&self, from: &RelPath, to: &RelPath, how: RenameMode) -> io::Result<()> {
        assert_eq!(how, RenameMode::Replace);
        self.log.call("rename", || self.disk.rename(from, to, how))
    }

    fn remove_file(&self, path: &RelPath) -> io::Result<()> {
        self.log.call("remove_file", || self.disk.remove_file(path))
    }

    fn set_mode(&self, path: &RelPath, mode: u32) -> io::Result<()> {
        self.log.call("set_mode", || self.disk.set_mode(path, mode))
    }

    fn copy_attributes(&self, from: &RelPath, to: &RelPath) -> io::Result<()> {
        self.log.call("copy_attributes", || self.disk.copy_attributes(from, to))
    }

    fn sync_folder(&self, folder: &RelPath) -> io::Result<()> {
        self.log.call("sync_folder", || self.disk.sync_folder(folder))
    }

    fn read_link(&self, _: &RelPath) -> io::Result<OsString> {
        unused()
    }

    fn make_folder(&self, _: &RelPath, _: u32) -> io::Result<()> {
        unused()
    }

    fn make_symlink(&self, _: &OsStr, _: &RelPath) -> io::Result<()> {
        unused()
    }

    fn link(&self, _: &RelPath, _: &RelPath) -> io::Result<()> {
        unused()
    }

    fn remove_folder(&self, _: &RelPath) -> io::Result<()> {
        unused()
    }

    fn check_writable(&self, _: &RelPath) -> io::Result<()> {
        unused()
    }

    fn boot_id(&self) -> Option<u128> {
        unused()
    }
}

struct RecordedFile {
    file: Box<dyn StoredFile>,
    log: Arc<Log>,
}

impl StoredFile for RecordedFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.log.call("write", || self.file.write_at(bytes, offset))
    }

    fn sync_all(&self) -> io::Result<()> {
        self.log.call("sync_all", || self.file.sync_all())
    }

    fn stat(&self) -> io::Result<Stat> {
        unused()
    }

    fn read_at(&self, _: &mut [u8], _: u64) -> io::Result<usize> {
        unused()
    }

    fn set_len(&self, _: u64) -> io::Result<()> {
        unused()
    }

    fn sync_data(&self) -> io::Result<()> {
        unused()
    }
}

fn unused() -> ! {
    panic!("replacing a file does not need this call")
}
