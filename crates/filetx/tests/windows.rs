//! What every system must do, in one program that also runs under Wine: the lock, the one-file path, and a commit.
//!
//! `cargo xtask windows` builds it for Windows. The full tests of each part are Unix's.

#![cfg(not(feature = "shuttle"))]

extern crate cleveragents_filetx as filetx;

use std::path::Path;
use std::time::Duration;

use filetx::{Error, FolderOptions, Lock, LockMode, OwnFolder, ReplaceOptions, Snapshot, Wait, replace_file};

/// One try, no waiting.
fn once() -> Wait {
    Wait { timeout: Duration::ZERO, ..Wait::default() }
}

fn is_busy_elsewhere(path: &Path, mode: LockMode) -> bool {
    // Another thread: this one would be told that it has the lock already.
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
fn an_exclusive_lock_keeps_others_out_until_it_is_dropped() {
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
fn shared_locks_go_together_and_keep_writers_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let lock = Lock::open(&path).unwrap();
    let guard = lock.acquire(LockMode::Shared, &once()).unwrap();
    assert!(!is_busy_elsewhere(&path, LockMode::Shared));
    assert!(is_busy_elsewhere(&path, LockMode::Exclusive));
    drop(guard);
}

#[test]
fn a_lock_is_not_taken_twice_by_one_thread() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let lock = Lock::open(&path).unwrap();
    let _guard = lock.acquire(LockMode::Exclusive, &once()).unwrap();
    assert!(matches!(lock.acquire(LockMode::Exclusive, &once()), Err(Error::AlreadyHeld { .. })));
}

#[test]
fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    assert!(replace_file(&path, b"first", &ReplaceOptions::default()).unwrap().created);
    assert!(!replace_file(&path, b"second, longer", &ReplaceOptions::default()).unwrap().created);
    assert_eq!(std::fs::read(&path).unwrap(), b"second, longer");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_folder_is_not_replaced_by_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    std::fs::create_dir(&path).unwrap();
    assert!(replace_file(&path, b"text", &ReplaceOptions::default()).is_err());
    assert!(path.is_dir());
}

#[test]
fn commits_are_found_again() {
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
