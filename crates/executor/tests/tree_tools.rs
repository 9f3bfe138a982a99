//! Copying, removing and reading whole folders: kept attributes, refusals, and confinement to the folder.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "plays an actor that edits files")]

extern crate cleveragents_executor as executor;

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use executor::sandbox::{
    COPY_DEPTH_MAX, CopyAction, CopyOptions, CopyStats, FileError, FileResult, TreeEditor, TreeReader,
    connect_private, copy_tree, create_private_file, listen_private, make_private_folder,
    remove_private_socket, remove_tree,
};
use filetx::{FileKind, Hash, RelPath};
use testkit::folder::tree;

static NEVER: AtomicBool = AtomicBool::new(false);

fn all(_: &RelPath, _: FileKind) -> CopyAction {
    CopyAction::Copy
}

fn copy(from: &Path, to: &Path, threads: usize) -> FileResult<CopyStats> {
    copy_tree(from, to, &CopyOptions { threads, choose: &all, file_bytes_max: u64::MAX, cancel: &NEVER })
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the fixture is made");
}

/// A tree with everything in it that is copied.
fn sample(root: &Path) {
    fs::create_dir_all(root.join("deep/er/and/deeper")).expect("the fixture is made");
    fs::create_dir(root.join("empty")).expect("the fixture is made");
    for number in 0..300 {
        fs::write(root.join(format!("deep/er/{number}")), format!("content {number}"))
            .expect("the fixture is made");
    }
    fs::write(root.join("deep/er/and/deeper/none"), "").expect("the fixture is made");
    fs::write(root.join("large"), vec![7; 9 * 1024 * 1024]).expect("the fixture is made");
    fs::write(root.join("script"), "#!/bin/sh\n").expect("the fixture is made");
    set_mode(&root.join("script"), 0o755);
    set_mode(&root.join("deep/er/1"), 0o400);
    symlink("deep/er/1", root.join("inside")).expect("the fixture is made");
    symlink("/etc", root.join("outside")).expect("the fixture is made");
    symlink("nowhere", root.join("deep/dangling")).expect("the fixture is made");
    let old = SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000, 123_456_789);
    let at = fs::FileTimes::new().set_modified(old).set_accessed(old);
    fs::File::open(root.join("script"))
        .expect("the fixture is made")
        .set_times(at)
        .expect("the fixture is made");
    set_mode(&root.join("deep/er/and"), 0o550);
    fs::File::open(root.join("deep/er/and"))
        .expect("the fixture is made")
        .set_times(at)
        .expect("the fixture is made");
}

#[test]
fn a_copy_has_content_modes_times_and_symlinks() {
    for threads in [0, 3] {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir(&from).unwrap();
        sample(&from);
        let copied = copy(&from, &to, threads).unwrap();
        assert_eq!(tree(&to), tree(&from));
        assert_eq!((copied.files, copied.folders, copied.symlinks), (303, 5, 3));
        assert_eq!((copied.links, copied.special), (0, 0));
        assert_eq!(copied.bytes, 9 * 1024 * 1024 + 10 + 3190);
        assert_eq!(to.metadata().unwrap().mode() & 0o7777, 0o700, "private, whatever the original is");
        for path in ["script", "deep/er/and"] {
            let is = to.join(path).metadata().unwrap();
            assert_eq!((is.mtime(), is.mtime_nsec()), (1_000_000_000, 123_456_789), "{path}");
        }
        let again = copy(&from, &to, threads).unwrap_err();
        assert!(again.to_string().starts_with("cannot copy `"), "{again}");
        remove_tree(&to, &NEVER).unwrap();
        assert!(!to.exists() && from.join("large").exists());
        remove_tree(&to, &NEVER).unwrap();
    }
}

#[test]
fn chosen_paths_are_linked_or_excluded_and_special_files_listed() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    fs::create_dir_all(from.join("target/debug")).unwrap();
    fs::create_dir_all(from.join("secret/inner")).unwrap();
    fs::write(from.join("target/debug/big"), "big").unwrap();
    fs::write(from.join("kept"), "kept").unwrap();
    let _socket = UnixListener::bind(from.join("socket")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, from.join("fifo"), rustix::fs::Mode::RUSR).unwrap();
    let choose = |path: &RelPath, _: FileKind| match path.as_path().to_str() {
        Some("target") => CopyAction::Link,
        Some("secret") => CopyAction::Exclude,
        Some(below) if below.contains('/') => panic!("nothing below is asked for: {below}"),
        _ => CopyAction::Copy,
    };
    let copied = copy_tree(
        &from,
        &to,
        &CopyOptions { threads: 2, choose: &choose, file_bytes_max: u64::MAX, cancel: &NEVER },
    )
    .unwrap();
    assert_eq!((copied.files, copied.links, copied.special), (1, 1, 2));
    let mut special: Vec<_> = copied.special_paths.iter().map(ToString::to_string).collect();
    special.sort();
    assert_eq!(special, ["fifo", "socket"]);
    assert_eq!(fs::read_link(to.join("target")).unwrap(), from.join("target"));
    assert_eq!(fs::read(to.join("target/debug/big")).unwrap(), b"big");
    assert!(!to.join("secret").exists() && !to.join("fifo").exists());
    remove_tree(&to, &NEVER).unwrap();
    assert!(from.join("target/debug/big").exists(), "what a link leads to stays");
}

#[test]
fn errors_name_path_and_step() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let check = |result: FileResult<CopyStats>, path: &Path| {
        let error = result.unwrap_err();
        assert_eq!(error.to_string(), format!("cannot copy `{}`", path.display()));
    };
    check(copy(&missing, &folder.path().join("to"), 1), &missing);
    let to = folder.path().join("no/to");
    check(copy(folder.path(), &to, 1), &to);

    let mut deep = folder.path().join("deep");
    let top = deep.clone();
    (0..=COPY_DEPTH_MAX).for_each(|_| deep.push("x"));
    fs::create_dir_all(&deep).unwrap();
    let error = copy(&top, &folder.path().join("copy"), 2).unwrap_err();
    assert!(matches!(error, FileError::TooDeep { limit: 128, .. }), "{error}");
    assert!(make_private_folder(&folder.path().join("a/b")).is_ok());
    assert_eq!(folder.path().join("a").metadata().unwrap().mode() & 0o777, 0o700);
    let file = folder.path().join("a/out");
    create_private_file(&file).unwrap();
    assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
    assert!(matches!(create_private_file(&file), Err(FileError::Io { .. })));
    assert!(matches!(make_private_folder(&file), Err(FileError::Io { .. })));
}

#[test]
fn a_private_socket_is_for_its_owner_at_any_path() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("a-long-name-".repeat(12));
    make_private_folder(&deep).unwrap();
    let socket = deep.join("socket");
    assert!(connect_private(&socket).is_err());
    let listener = listen_private(&socket).unwrap();
    assert_eq!(socket.metadata().unwrap().mode() & 0o777, 0o600);
    let mut client = connect_private(&socket).unwrap();
    client.write_all(b"hello").unwrap();
    drop(client);
    let mut said = String::new();
    listener.accept().unwrap().0.read_to_string(&mut said).unwrap();
    assert_eq!(said, "hello");
    assert!(matches!(listen_private(&socket), Err(FileError::Io { .. })), "it is there");
    drop(listener);
    assert!(connect_private(&socket).is_err(), "nobody listens");
    for _ in 0..2 {
        remove_private_socket(&socket).unwrap();
        assert!(!socket.exists());
    }
    assert!(matches!(remove_private_socket(&deep), Err(FileError::Io { .. })), "a folder is none");
    assert!(connect_private(Path::new("/")).is_err());
}

#[test]
fn copying_and_removing_can_be_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    fs::create_dir(&from).unwrap();
    fs::write(from.join("large"), vec![1; 20 * 1024 * 1024]).unwrap();
    let cancel = AtomicBool::new(true);
    let options = CopyOptions { threads: 1, choose: &all, file_bytes_max: u64::MAX, cancel: &cancel };
    let error = copy_tree(&from, &to, &options).unwrap_err();
    assert!(matches!(error, FileError::Cancelled { .. }), "{error}");
    assert_eq!(fs::read_dir(&to).unwrap().count(), 0);
    fs::write(to.join("x"), "").unwrap();
    assert!(matches!(remove_tree(&to, &cancel), Err(FileError::Cancelled { .. })));
    assert!(to.join("x").exists());
    remove_tree(&to, &NEVER).unwrap();

    // In the middle of one file: set by the question about it.
    let cancel = AtomicBool::new(false);
    let choose = |_: &RelPath, _: FileKind| {
        cancel.store(true, Ordering::Relaxed);
        CopyAction::Copy
    };
    let error = copy_tree(
        &from,
        &to,
        &CopyOptions { threads: 1, choose: &choose, file_bytes_max: u64::MAX, cancel: &cancel },
    );
    let copied = to.join("large").metadata().unwrap().len();
    match error {
        Err(FileError::Cancelled { path, .. }) => {
            assert_eq!(path, from.join("large"));
            assert!(copied < 20 * 1024 * 1024);
        }
        // A file system that shares blocks has the whole file at once.
        other => assert_eq!(other.unwrap().cloned, 1),
    }
}

/// Whatever an actor left: deep folders, folders without permissions, symlinks out, names that removing itself uses.
#[test]
fn everything_is_removed_and_nothing_outside() {
    let folder = tempfile::tempdir().unwrap();
    let outside = folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("precious"), "x").unwrap();
    let top = folder.path().join("top");
    fs::create_dir_all(top.join("a/b/c")).unwrap();
    fs::write(top.join(".removed-1"), "a file in the way").unwrap();
    fs::create_dir_all(top.join(".removed-2/full")).unwrap();
    symlink(&outside, top.join("a/out")).unwrap();
    symlink(&outside, top.join("out")).unwrap();
    fs::write(top.join("a/b/c/file"), "x").unwrap();
    // Deeper than any path can name.
    let mut handle =
        rustix::fs::open(&top, rustix::fs::OFlags::DIRECTORY, rustix::fs::Mode::empty()).unwrap();
    for _ in 0..2000 {
        rustix::fs::mkdirat(&handle, "deeper", rustix::fs::Mode::RWXU).unwrap();
        handle =
            rustix::fs::openat(&handle, "deeper", rustix::fs::OFlags::DIRECTORY, rustix::fs::Mode::empty())
                .unwrap();
    }
    set_mode(&top.join("a/b/c"), 0o000);
    set_mode(&top.join("a/b"), 0o500);
    remove_tree(&top, &NEVER).unwrap();
    assert!(!top.exists());
    assert_eq!(fs::read(outside.join("precious")).unwrap(), b"x");

    symlink(&outside, &top).unwrap();
    let error = remove_tree(&top, &NEVER).unwrap_err();
    assert!(error.to_string().starts_with("cannot remove `"), "{error}");
    assert!(outside.join("precious").exists());
}

#[test]
fn a_tree_reader_lists_entries_without_leaving_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    fs::create_dir_all(root.join("a/skipped")).unwrap();
    fs::write(root.join("a/file"), "content").unwrap();
    symlink("/etc", root.join("out")).unwrap();
    let reader = TreeReader::open(&root).unwrap();
    let skip = |path: &RelPath| path.as_path() == Path::new("a/skipped");
    let entries = reader.entries(&skip).unwrap();
    let found: Vec<_> = entries.iter().map(|entry| (entry.path.to_string(), entry.kind)).collect();
    let expected = [("a", FileKind::Folder), ("a/file", FileKind::File), ("out", FileKind::Symlink)];
    assert_eq!(found, expected.map(|(path, kind)| (path.to_owned(), kind)));
    let metadata = root.join("a/file").metadata().unwrap();
    let file = &entries[1];
    assert_eq!((file.len, file.id.inode, file.mode), (7, metadata.ino(), metadata.mode() & 0o7777));
    let changed = i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec());
    assert_eq!(file.changed_ns, changed);
    assert_eq!(reader.hash(&file.path).unwrap(), Hash::of(b"content"));
    assert_eq!(reader.hash_of_symlink(&entries[2].path).unwrap(), Hash::of(b"/etc"));
    assert!(reader.hash(&entries[2].path).is_err(), "a symlink is not followed");
    assert!(reader.hash_of_symlink(&file.path).is_err());
    assert!(TreeReader::open(&root.join("missing")).is_err());
    fs::remove_dir_all(&root).unwrap();
    assert!(reader.entries(&|_| false).unwrap().is_empty(), "the folder itself is held open");
}

#[test]
fn single_files_of_a_copy_are_changed() {
    let folder = tempfile::tempdir().unwrap();
    let (root, outside) = (folder.path().join("copy"), folder.path().join("outside"));
    fs::create_dir_all(root.join("a/b")).unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(root.join("a/b/gone"), "1").unwrap();
    fs::write(root.join("old"), "1").unwrap();
    symlink(&outside, root.join("out")).unwrap();
    let edit = TreeEditor::open(&root).unwrap();
    let path = |text: &str| RelPath::new(text).unwrap();
    edit.put(&path("old"), 0o640, &mut "2".as_bytes()).unwrap();
    edit.put(&path("new/deep"), 0o777, &mut "3".as_bytes()).unwrap();
    edit.symlink(&path("new/link"), "deep".as_ref()).unwrap();
    edit.symlink(&path("new/link"), "old".as_ref()).unwrap();
    edit.remove(&path("a/b/gone")).unwrap();
    edit.remove(&path("missing/too")).unwrap();
    assert!(!root.join("a").exists(), "what is empty then goes too");
    fs::create_dir(root.join("empty")).unwrap();
    edit.put(&path("empty"), 0o600, &mut "4".as_bytes()).unwrap();
    let reader = TreeReader::open(&root).unwrap();
    let read = |text: &str| std::io::read_to_string(reader.read(&path(text)).unwrap()).unwrap();
    assert_eq!((read("old"), read("new/deep"), read("empty")), ("2".into(), "3".into(), "4".into()));
    assert_eq!(reader.read_link(&path("new/link")).unwrap(), "old");
    assert!(reader.read(&path("nothing")).is_err() && reader.read_link(&path("old")).is_err());
    let mode = |text: &str| fs::metadata(root.join(text)).unwrap().mode() & 0o7777;
    assert_eq!((mode("old"), mode("new/deep")), (0o640, 0o777), "whatever the umask");
    // Nothing is changed outside, nor where something is in the way.
    for refused in ["out/file", "old/file", "new"] {
        let error = edit.put(&path(refused), 0o600, &mut "x".as_bytes()).unwrap_err();
        assert!(error.to_string().contains(refused.split('/').next().unwrap()), "{error}");
    }
    assert!(edit.remove(&path("new")).is_err() && edit.remove(&RelPath::root()).is_err());
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    assert!(TreeEditor::open(&root.join("old")).is_err());
}
