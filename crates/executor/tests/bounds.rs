//! Trees that would take too long to copy, hash or read: sparse, deep, endless.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "plays actors that make files")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate cleveragents_executor as executor;

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use executor::sandbox::{
    COPY_DEPTH_MAX, CopyAction, CopyOptions, CopyStats, FileError, FileResult, ReadEnd, ReadLimits, copy_tree,
};
use executor::{Error, Manifest};

/// Longer than any test could read.
const SPARSE_BYTES: u64 = 300 << 30;

fn sparse(path: &Path) -> File {
    let file = File::create(path).unwrap();
    file.set_len(SPARSE_BYTES).unwrap();
    file
}

fn copy(from: &Path, to: &Path, file_bytes_max: u64) -> FileResult<CopyStats> {
    let cancel = AtomicBool::new(false);
    copy_tree(
        from,
        to,
        &CopyOptions { threads: 1, choose: &|_, _| CopyAction::Copy, file_bytes_max, cancel: &cancel },
    )
}

fn file_error(error: &Error) -> &FileError {
    match error {
        Error::Sandbox { source, .. } => source,
        error => panic!("{error}"),
    }
}

#[test]
fn a_copy_has_the_holes_of_the_original() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    fs::create_dir(&from).unwrap();
    let file = sparse(&from.join("file"));
    for at in [0, 1 << 30, SPARSE_BYTES - 3] {
        file.write_all_at(b"end", at).unwrap();
    }
    sparse(&from.join("empty"));
    let copied = copy(&from, &to, SPARSE_BYTES).unwrap();
    assert_eq!((copied.files, copied.bytes), (2, 2 * SPARSE_BYTES));
    for name in ["file", "empty"] {
        let (is, was) = (to.join(name).metadata().unwrap(), from.join(name).metadata().unwrap());
        assert_eq!((is.len(), is.blocks()), (was.len(), was.blocks()), "{name}");
    }
    let copy_of_file = File::open(to.join("file")).unwrap();
    for at in [0, 1 << 30, SPARSE_BYTES - 3] {
        let mut bytes = [0; 3];
        copy_of_file.read_exact_at(&mut bytes, at).unwrap();
        assert_eq!(&bytes, b"end", "{at}");
    }
}

#[test]
fn a_file_that_is_too_long_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    fs::create_dir(&from).unwrap();
    let manifest = Manifest::scan(&from).unwrap();
    sparse(&from.join("big"));
    let expected = format!(
        "`{}` has 322122547200 bytes; `sandbox.max-file-size` allows 1024",
        from.join("big").display()
    );
    assert_eq!(copy(&from, &to, 1024).unwrap_err().to_string(), expected);
    let limits = ReadLimits { file_bytes_max: 1024, ..ReadLimits::NONE };
    for error in [
        manifest.changes_within(&from, limits).unwrap_err(),
        Manifest::scan_within(&from, limits).unwrap_err(),
    ] {
        assert_eq!((file_error(&error).to_string(), error.code()), (expected.clone(), "file-too-large"));
    }
}

#[test]
fn hashing_ends_when_it_is_cancelled_or_takes_too_long() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = Manifest::scan(folder.path()).unwrap();
    sparse(&folder.path().join("big"));
    for end in [ReadEnd::Cancelled, ReadEnd::TimedOut] {
        let asked = AtomicUsize::new(0);
        let ended = || (asked.fetch_add(1, Ordering::Relaxed) >= 10).then_some(end);
        let limits = ReadLimits { ended: &ended, ..ReadLimits::NONE };
        let error = manifest.changes_within(folder.path(), limits).unwrap_err();
        let is_right = match file_error(&error) {
            FileError::Cancelled { path, .. } => end == ReadEnd::Cancelled && path.ends_with("big"),
            FileError::TimedOut { path, .. } => end == ReadEnd::TimedOut && path.ends_with("big"),
            _ => false,
        };
        assert!(is_right, "{error:?}");
        assert_eq!(asked.into_inner(), 12, "ten that go on, one that ends, and one for the reason");
    }
}

#[test]
fn folders_that_cannot_be_copied_are_not_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = Manifest::scan(folder.path()).unwrap();
    let mut deep = folder.path().to_owned();
    (0..COPY_DEPTH_MAX).for_each(|_| deep.push("x"));
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("file"), "").unwrap();
    assert_eq!(manifest.changes(folder.path()).unwrap().changes.len(), 1);
    let copied = tempfile::tempdir().unwrap();
    copy(folder.path(), &copied.path().join("to"), u64::MAX).unwrap();
    fs::create_dir(deep.join("x")).unwrap();
    let error = manifest.changes(folder.path()).unwrap_err();
    assert!(matches!(file_error(&error), FileError::TooDeep { limit: 128, .. }), "{error:?}");
    assert!(copy(folder.path(), &copied.path().join("again"), u64::MAX).is_err(), "the control");
}
