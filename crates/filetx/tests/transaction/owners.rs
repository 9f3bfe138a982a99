//! Roots of other users, and lock files that do not leave the root.

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use filetx::{Error, ErrorKind, Lock, LockMode, Snapshot, TreeOptions, Trees, Wait};
use rustix::process::geteuid;

use super::place::{Place, Policy, briefly, names};
use super::support::{NOBODY, as_ordinary_user};

fn options() -> TreeOptions {
    TreeOptions { wait: briefly(), ..TreeOptions::default() }
}

fn give_to_nobody(path: &Path) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            give_to_nobody(&entry.unwrap().path());
        }
    }
    chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
}

/// Creates files as another user.
fn only_root(test: &str) -> bool {
    let is_root = geteuid().is_root();
    if !is_root {
        testkit::report::skipped(test, "only root can create files of two users");
    }
    is_root
}

#[test]
fn a_transaction_folder_of_another_user_is_refused_before_anything_is_created() {
    if !only_root("owners::refused") {
        return;
    }
    for folder in [".tool", ".tool/.txn"] {
        let place = Place::new(Policy::UserTree);
        place.make(&["f=old", ".tool/"]);
        if folder == ".tool/.txn" {
            fs::create_dir(place.root(folder)).unwrap();
        }
        give_to_nobody(&place.root(folder));
        let txn_dir = filetx::RelPath::new(".tool/.txn").unwrap();
        let before = place.lines();
        let refused = |error: Error| {
            assert!(
                matches!(&error, Error::OtherUser { path, owner: NOBODY } if *path == place.root(folder)),
                "{error:?}"
            );
            assert_eq!((error.kind(), error.code()), (ErrorKind::Error, "other-user"));
            assert!(error.to_string().contains("belongs to user 65534"), "{error}");
        };
        refused(
            Trees::open(
                &[&place.root("")],
                TreeOptions { txn_dir: txn_dir.clone(), ..options() },
                &testkit::journals::trust,
            )
            .err()
            .expect("it was opened"),
        );
        refused(
            Snapshot::of_tree(&place.root(""), &txn_dir, &briefly(), &testkit::journals::trust)
                .err()
                .expect("it was read"),
        );
        assert_eq!(place.lines(), before, "nothing is created");
        // Its owner uses it.
        give_to_nobody(&place.root(".."));
        as_ordinary_user(|| {
            let opened = Trees::open(
                &[&place.root("")],
                TreeOptions { txn_dir: txn_dir.clone(), ..options() },
                &testkit::journals::trust,
            );
            assert!(opened.is_ok(), "{:?}", opened.err());
        });
    }
}

/// A folder above the root in which another user holds the lock and left a journal.
#[test]
fn roots_of_other_users_above_are_neither_locked_nor_followed() {
    if !only_root("owners::above") {
        return;
    }
    let place = Place::new(Policy::UserTree);
    place.make(&["in/", "in/f=old", "theirs=old"]);
    // The outer root is left with a journal.
    let mut outer = place.open_trees();
    let mut tx = outer.begin();
    tx.put("in/f", b"planted").unwrap();
    tx.put("theirs", b"planted").unwrap();
    let obstacle = place.root(format!(".txn/stage/{:032x}-0.was", tx.id()));
    fs::create_dir(&obstacle).unwrap();
    assert!(tx.commit().unwrap().pending.is_some());
    drop(outer);
    fs::remove_dir(&obstacle).unwrap();
    let held = Lock::open(&place.lock_file()).unwrap();
    give_to_nobody(&place.root(".txn"));
    let _held = held.acquire_send(LockMode::Exclusive, &Wait::default()).unwrap();

    let inner = place.root("in");
    let opened = Trees::open(&[&inner], options(), &testkit::journals::trust).unwrap();
    assert_eq!(opened.recovered(), []);
    drop(opened);
    let snapshot =
        Snapshot::of_tree(&inner, &options().txn_dir, &briefly(), &testkit::journals::trust).unwrap();
    assert_eq!(snapshot.read("f").unwrap().unwrap(), b"old");
    drop(snapshot);
    assert_eq!(fs::read(place.root("in/f")).unwrap(), b"old");
    assert_eq!(fs::read(place.root("theirs")).unwrap(), b"old");
    assert!(place.root(".txn/journal").exists());
}

/// Opens trees while the lock is held, and swaps the transaction folder for a symlink to `outside`
/// during the wait.
#[test]
fn a_transaction_folder_swapped_for_a_symlink_gets_no_lock_file() {
    let place = Place::new(Policy::UserTree);
    drop(place.open_trees());
    let held = Lock::open(&place.lock_file()).unwrap();
    let held = Mutex::new(Some(held.acquire_send(LockMode::Exclusive, &Wait::default()).unwrap()));
    let [txn_dir, moved]: [PathBuf; 2] = [".txn", "moved"].map(|name| place.root(name));
    let on_wait = move |_: &filetx::WaitNotice| {
        fs::rename(&txn_dir, &moved).unwrap();
        symlink("../outside", &txn_dir).unwrap();
        held.lock().unwrap().take();
    };
    let wait = Wait {
        notice_after: Duration::ZERO,
        on_wait: Some(Arc::new(on_wait)),
        timeout: Duration::from_secs(30),
    };
    let opened = Trees::open(
        &[&place.root("")],
        TreeOptions { wait, ..TreeOptions::default() },
        &testkit::journals::trust,
    );
    assert!(opened.is_err(), "the transaction folder is a symlink");
    assert_eq!(names(&place.outside("")), ["secret".to_owned()].into());
    // It stays refused, and a reader finds nothing behind the symlink.
    assert!(Trees::open(&[&place.root("")], options(), &testkit::journals::trust).is_err());
    assert_eq!(names(&place.outside("")), ["secret".to_owned()].into());
}

/// A symlink in place of the transaction folder above a root is not followed.
#[test]
fn a_symlink_above_a_root_is_not_followed() {
    let place = Place::new(Policy::UserTree);
    place.make(&["in/"]);
    fs::write(place.outside("lock"), "").unwrap();
    symlink("../outside", place.root(".txn")).unwrap();
    let held = Lock::open(&place.outside("lock")).unwrap();
    let _held = held.acquire_send(LockMode::Exclusive, &Wait::default()).unwrap();
    drop(Trees::open(&[&place.root("in")], options(), &testkit::journals::trust).unwrap());
    drop(
        Snapshot::of_tree(&place.root("in"), &options().txn_dir, &briefly(), &testkit::journals::trust)
            .unwrap(),
    );
}
