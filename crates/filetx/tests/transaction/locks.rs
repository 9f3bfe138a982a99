//! Waiting and exclusion.

use std::path::Path;
use std::sync::mpsc::channel;
use std::{fs, thread};

use filetx::{Error, FolderOptions, Snapshot, TreeOptions, Trees};

use super::place::{Place, Policy, briefly, on_both};

#[test]
fn a_nested_transaction_reports_the_location_of_the_first() {
    let place = Place::new(Policy::OwnFolder);
    let folder = place.open_folder();
    let line = line!() + 1;
    let tx = folder.begin().unwrap();
    let Err(error) = folder.begin() else { panic!("it began twice") };
    assert!(
        matches!(error, Error::AlreadyHeld { at, .. } if at.file().ends_with("locks.rs") && at.line() == line)
    );
    place.assert_error(&error, "AlreadyHeld", "root/.txn` is already held by this thread, acquired at");
    drop(tx);
    drop(folder.begin().unwrap());
}

#[test]
fn opening_trees_twice_in_one_thread_reports_the_first_location() {
    let place = Place::new(Policy::UserTree);
    let line = line!() + 1;
    let trees = Trees::open(&[&place.root("")], TreeOptions::default(), &testkit::journals::trust).unwrap();
    let Err(error) = Trees::open(&[&place.root("")], TreeOptions::default(), &testkit::journals::trust)
    else {
        panic!("it opened twice")
    };
    assert!(
        matches!(error, Error::AlreadyHeld { at, .. } if at.file().ends_with("locks.rs") && at.line() == line)
    );
    place.assert_error(&error, "AlreadyHeld", ".txn/lock");
    drop(trees);
    drop(Trees::open(&[&place.root("")], TreeOptions::default(), &testkit::journals::trust).unwrap());
}

#[test]
fn another_thread_waits_and_sees_the_commit() {
    on_both(|place| {
        let (began, has_begun) = channel();
        thread::scope(|scope| {
            let second = scope.spawn(move || {
                has_begun.recv().unwrap();
                place.change(|tx| {
                    let first = tx.read("f")?.unwrap();
                    tx.put("f", &[first.as_slice(), b" second"].concat())
                });
            });
            place.change(|tx| {
                began.send(()).unwrap();
                // Gives the other thread a chance to interfere.
                thread::yield_now();
                tx.put("f", b"first")
            });
            second.join().unwrap();
        });
        assert_eq!(fs::read(place.root("f")).unwrap(), b"first second");
    });
}

#[test]
fn threads_of_one_folder_handle_wait_for_the_permit() {
    let place = Place::new(Policy::OwnFolder);
    let folder = place.open_folder_with(FolderOptions { wait: briefly(), ..FolderOptions::default() });
    let mut tx = folder.begin().unwrap();
    let busy = thread::scope(|scope| scope.spawn(|| folder.begin().map(drop).unwrap_err()).join().unwrap());
    place.assert_error(&busy, "Busy", "root/.txn` is still held");
    tx.put("f", b"first").unwrap();
    let _ = tx.commit().unwrap();
    thread::scope(|scope| scope.spawn(|| drop(folder.begin().unwrap())).join().unwrap());
}

fn is_busy(roots: &[&Path]) -> bool {
    let options = TreeOptions { wait: briefly(), ..TreeOptions::default() };
    thread::scope(|scope| {
        match scope.spawn(|| Trees::open(roots, options, &testkit::journals::trust).map(drop)).join().unwrap()
        {
            Ok(()) => false,
            Err(Error::Busy { lock, holder, .. }) => {
                assert!(lock.ends_with(".txn/lock"), "{lock:?}");
                // A shared holder writes no note.
                assert!(holder.is_none_or(|holder| holder.pid == std::process::id()));
                true
            }
            Err(error) => panic!("{error:?}"),
        }
    })
}

#[test]
fn a_root_and_one_inside_it_exclude_each_other() {
    let place = Place::new(Policy::UserTree);
    place.make(&["a/", "a/inner/", "b/"]);
    let (outer, inner, beside) = (place.root(""), place.root("a/inner"), place.root("b"));
    // Both are roots now.
    for root in [&outer, &inner, &beside] {
        drop(Trees::open(&[root], TreeOptions::default(), &testkit::journals::trust).unwrap());
    }
    let held = Trees::open(&[&outer], TreeOptions::default(), &testkit::journals::trust).unwrap();
    assert!(is_busy(&[&inner]));
    drop(held);
    let held = Trees::open(&[&inner], TreeOptions::default(), &testkit::journals::trust).unwrap();
    assert!(is_busy(&[&outer]));
    assert!(!is_busy(&[&beside]), "two roots inside one do not exclude each other");
    drop(held);
    assert!(!is_busy(&[&outer]) && !is_busy(&[&inner]));
    let both = Trees::open(&[&outer, &inner], TreeOptions::default(), &testkit::journals::trust).unwrap();
    assert!(is_busy(&[&inner]) && is_busy(&[&outer]));
    drop(both);
}

#[test]
fn disjoint_roots_do_not_wait_for_each_other() {
    let place = Place::new(Policy::UserTree);
    place.make(&["a/", "b/", "a-x/"]);
    let _held = Trees::open(&[&place.root("a")], TreeOptions::default(), &testkit::journals::trust).unwrap();
    assert!(!is_busy(&[&place.root("b")]));
    assert!(!is_busy(&[&place.root("a-x")]));
    assert!(is_busy(&[&place.root("b"), &place.root("a")]), "one of the two is held");
    assert!(!is_busy(&[&place.root("b")]), "and the other was given back");
}

#[test]
fn roots_given_in_any_order_do_not_block_each_other() {
    let place = Place::new(Policy::UserTree);
    place.make(&["a/", "b/"]);
    let (a, b) = (place.root("a"), place.root("b"));
    thread::scope(|scope| {
        for roots in [[&a, &b], [&b, &a]] {
            scope.spawn(move || {
                for _ in 0..20 {
                    let mut trees =
                        Trees::open(&[roots[0], roots[1]], TreeOptions::default(), &testkit::journals::trust)
                            .unwrap();
                    let mut tx = trees.begin();
                    for root in [0, 1] {
                        let mut text = tx.read((root, "f")).unwrap().unwrap_or_default();
                        text.push(b'x');
                        tx.put((root, "f"), &text).unwrap();
                    }
                    assert!(tx.commit().unwrap().pending.is_none());
                }
            });
        }
    });
    assert_eq!(fs::read(a.join("f")).unwrap().len(), 40);
    assert_eq!(fs::read(b.join("f")).unwrap().len(), 40);
}

#[test]
fn a_symlink_to_a_root_is_that_root() {
    let place = Place::new(Policy::UserTree);
    place.make(&["a/", "l->a"]);
    let _held = Trees::open(&[&place.root("l")], TreeOptions::default(), &testkit::journals::trust).unwrap();
    assert!(is_busy(&[&place.root("a")]));
}

#[test]
fn disjoint_own_folders_do_not_wait_for_each_other() {
    let (one, two) = (Place::new(Policy::OwnFolder), Place::new(Policy::OwnFolder));
    let folder = one.open_folder();
    let _tx = folder.begin().unwrap();
    thread::scope(|scope| scope.spawn(|| two.change(|tx| tx.put("f", b"x"))).join().unwrap());
}

#[test]
fn a_reader_of_an_inner_root_waits_for_a_writer_of_the_outer_one() {
    let place = Place::new(Policy::UserTree);
    place.make(&["in/", "in/f=old"]);
    drop(Trees::open(&[&place.root("in")], TreeOptions::default(), &testkit::journals::trust).unwrap());
    let outer = place.open_trees();
    let inner = place.root("in");
    let read = || {
        Snapshot::of_tree(&inner, &TreeOptions::default().txn_dir, &briefly(), &testkit::journals::trust)
            .map(drop)
    };
    let elsewhere = || thread::scope(|scope| scope.spawn(read).join().unwrap());
    assert!(matches!(elsewhere(), Err(Error::Busy { .. })));
    drop(outer);
    elsewhere().unwrap();
}
