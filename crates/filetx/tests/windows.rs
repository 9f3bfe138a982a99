//! The tests of every system, in one program that also runs under Wine: the lock, the replacement
//! of one file, and a commit.
//!
//! `cargo xtask windows` builds it for Windows. The full tests of each part run on Unix.

#![cfg(not(feature = "shuttle"))]

extern crate cleveragents_filetx as filetx;

use std::path::Path;
use std::time::Duration;

use filetx::{Error, FolderOptions, Lock, LockMode, OwnFolder, ReplaceOptions, Snapshot, Wait, replace_file};

/// One attempt, without waiting.
fn once() -> Wait {
    Wait { timeout: Duration::ZERO, ..Wait::default() }
}

fn is_busy_elsewhere(path: &Path, mode: LockMode) -> bool {
    // Another thread: this one would get `AlreadyHeld`.
    std::thread::scope(|scope| {
        let attempt = || match Lock::open(path).expect("the lock file opens").acquire(mode, &once()) {
            Ok(_guard) => false,
            Err(Error::Busy { .. }) => true,
            Err(error) => panic!("{error}"),
        };
        scope.spawn(attempt).join().expect("the attempt does not panic")
    })
}

#[test]
fn an_exclusive_lock_excludes_others_until_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let lock = Lock::open(&path).unwrap();
    let guard = lock.acquire(LockMode::Exclusive, &once()).unwrap();
    guard.check().unwrap();
    assert!(is_busy_elsewhere(&path, LockMode::Exclusive));
    assert!(is_busy_elsewhere(&path, LockMode::Shared));
    drop(guard);
    assert!(!is_busy_elsewhere(&path, LockMode::Exclusive));
}

#[test]
fn shared_locks_exclude_writers_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let lock = Lock::open(&path).unwrap();
    let guard = lock.acquire(LockMode::Shared, &once()).unwrap();
    assert!(!is_busy_elsewhere(&path, LockMode::Shared));
    assert!(is_busy_elsewhere(&path, LockMode::Exclusive));
    drop(guard);
}

#[test]
fn a_thread_cannot_acquire_a_lock_twice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let lock = Lock::open(&path).unwrap();
    let _guard = lock.acquire(LockMode::Exclusive, &once()).unwrap();
    assert!(matches!(lock.acquire(LockMode::Exclusive, &once()), Err(Error::AlreadyHeld { .. })));
}

#[test]
fn a_replacement_leaves_no_other_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    assert!(replace_file(&path, b"first", &ReplaceOptions::default()).unwrap().created);
    assert!(!replace_file(&path, b"second, longer", &ReplaceOptions::default()).unwrap().created);
    assert_eq!(std::fs::read(&path).unwrap(), b"second, longer");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_folder_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    std::fs::create_dir(&path).unwrap();
    assert!(replace_file(&path, b"text", &ReplaceOptions::default()).is_err());
    assert!(path.is_dir());
}

#[test]
fn commits_are_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let (root, lock) = (folder.path().join("own"), folder.path().join("own.lock"));
    std::fs::create_dir(&root).unwrap();
    for text in ["one\n", "two\n"] {
        let own = OwnFolder::open(&root, &lock, FolderOptions::default()).unwrap();
        let mut tx = own.begin().unwrap();
        tx.append("messages", text.as_bytes()).unwrap();
        tx.put("state", text.as_bytes()).unwrap();
        assert!(tx.commit().unwrap().pending.is_none());
    }
    assert_eq!(std::fs::read(root.join("messages")).unwrap(), b"one\ntwo\n");
    let snapshot = Snapshot::of_folder(&root, &lock, &once()).unwrap();
    assert_eq!(snapshot.read("messages").unwrap().unwrap(), b"one\ntwo\n");
    assert_eq!(snapshot.read("state").unwrap().unwrap(), b"two\n");
}
