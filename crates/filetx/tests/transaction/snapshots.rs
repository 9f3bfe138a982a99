//! Snapshots: one commit, waiting for writers, writing nothing.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use filetx::{PathState, RelPath, Snapshot, Storage, StorageResolver, TreeOptions, Trees};
use testkit::sim::SimDisk;

use super::place::{Place, Policy, briefly, names, on_both};

#[test]
fn a_reader_waits_for_a_writer_and_the_timeout_names_lock_and_holder() {
    on_both(|place| {
        place.change(|tx| tx.put("f", b"x"));
        place.aborted(|tx| {
            tx.put("f", b"staged").unwrap();
            let read = || place.try_snapshot(&briefly()).map(drop).unwrap_err();
            let error = thread::scope(|scope| scope.spawn(read).join().unwrap());
            place.assert_error(&error, "Busy", place.lock_file().canonicalize().unwrap().to_str().unwrap());
            assert!(error.to_string().contains(&format!("process {}", std::process::id())), "{error}");
        });
        assert_eq!(place.snapshot().read("f").unwrap().unwrap(), b"x");
    });
}

#[test]
fn readers_do_not_wait_for_each_other() {
    on_both(|place| {
        place.change(|tx| tx.put("f", b"x"));
        let _one = place.snapshot();
        let read = || place.try_snapshot(&briefly()).unwrap().read("f").unwrap();
        assert_eq!(thread::scope(|scope| scope.spawn(read).join().unwrap()).unwrap(), b"x");
    });
}

#[test]
fn reading_a_new_folder_writes_nothing() {
    on_both(|place| {
        place.make(&["f=x", "d/", "l->f"]);
        let before = names(&place.root(".."));
        let mut snapshot = place.snapshot();
        assert_eq!(place.lines_of(&mut snapshot), place.lines());
        assert_eq!(snapshot.path_state("missing").unwrap(), PathState::Absent);
        assert_eq!(snapshot.read("missing").unwrap(), None);
        assert!(!place.root(".txn").exists());
        assert_eq!(names(&place.root("..")), before, "no lock file was made");
    });
}

#[test]
fn a_snapshot_has_one_root() {
    on_both(|place| {
        let error = place.snapshot().read((1, "f")).unwrap_err();
        place.assert_error(&error, "BadPath", "a snapshot has one root");
    });
}

#[test]
fn a_range_of_a_file_is_read() {
    on_both(|place| {
        place.make(&["f=0123456789"]);
        let body = place.snapshot().open("f").unwrap().unwrap();
        assert_eq!((body.len(), body.read_range(3, 4).unwrap()), (10, b"3456".to_vec()));
    });
}

/// Without the watermark, a reader treats all records as pending and must see the same state.
#[test]
fn a_reader_without_a_watermark_sees_the_same() {
    let place = Place::new(Policy::OwnFolder);
    place.make(&["old=x"]);
    place.change(|tx| tx.put("f", b"one"));
    place.change(|tx| tx.append("f", b" two"));
    place.change(|tx| tx.put("large", &vec![b'l'; 100_000]));
    place.change(|tx| tx.rename("old", "new"));
    place.change(|tx| tx.truncate("f", 5));
    fs::remove_file(place.root(".txn/published")).unwrap();
    assert_eq!(place.lines_of(&mut place.snapshot()), place.lines());
    assert!(!place.root(".txn/published").exists(), "a reader writes nothing");
}

fn finder(disk: &SimDisk) -> StorageResolver {
    let disk = disk.clone();
    Arc::new(move |path: &Path| -> std::io::Result<Arc<dyn Storage>> {
        disk.try_root(path.to_str().unwrap()).ok_or_else(|| std::io::ErrorKind::NotFound.into())
    })
}

/// A transaction over two roots, interrupted at every call: before recovery, readers of both roots
/// see the old state or the new one, and never change the disk.
#[test]
fn readers_see_a_transaction_pending_in_another_root() {
    let home = TreeOptions::default().txn_dir;
    let (mut saw_old, mut saw_new, mut saw_pending) = (false, false, false);
    for crash_at in 0.. {
        let disk = SimDisk::new();
        for (root, mount) in [("a", 1), ("b", 2)] {
            disk.make_root_on(root, mount);
            disk.external_write(root, "f", b"old");
            disk.external_write(root, "gone", b"old");
        }
        let paths = [Path::new("a"), Path::new("b")];
        drop(
            Trees::on_storage(&paths, finder(&disk), TreeOptions::default(), &testkit::journals::trust)
                .unwrap(),
        );
        disk.new_program();
        disk.crash_at(crash_at);
        let done =
            Trees::on_storage(&paths, finder(&disk), TreeOptions::default(), &testkit::journals::trust)
                .is_ok_and(|mut trees| {
                    let mut tx = trees.begin();
                    let mut stage = |root| {
                        tx.put((root, "f"), b"new")?;
                        tx.put((root, "d/e/new"), b"new")?;
                        tx.symlink((root, "l"), "new".as_ref())?;
                        tx.remove((root, "gone"))
                    };
                    let staged = stage(0).and_then(|()| stage(1));
                    staged.is_ok() && tx.commit().is_ok_and(|committed| committed.pending.is_none())
                });
        let done = done && !disk.is_crashed();
        let disk = disk.kill();
        let before = disk.fingerprint();
        let seen = ["a", "b"].map(|root| {
            let snapshot = Snapshot::of_tree_on_storage(
                Path::new(root),
                &home,
                &finder(&disk),
                &testkit::journals::trust,
            )
            .unwrap();
            let look = |path: &str| snapshot.path_state(path).unwrap();
            let text = snapshot.read("f").unwrap().unwrap();
            let new = text == b"new";
            saw_pending |= new && disk.external_read(root, "f").unwrap() == b"old";
            assert_eq!(
                snapshot.read("d/e/new").unwrap(),
                new.then(|| b"new".to_vec()),
                "{root} at {crash_at}"
            );
            assert_eq!(look("gone") == PathState::Absent, new, "{root} at {crash_at}");
            assert_eq!(look("l") == PathState::Symlink { target: "new".into() }, new, "{root} at {crash_at}");
            let expected: &[&str] = if new { &["d", "f", "l"] } else { &["f", "gone"] };
            assert_eq!(snapshot.list(&RelPath::root()).unwrap(), expected, "{root} at {crash_at}");
            new
        });
        assert_eq!(seen[0], seen[1], "roots differ at {crash_at}");
        assert_eq!(disk.calls(), 0, "a reader wrote");
        assert_eq!(disk.fingerprint(), before);
        saw_old |= !seen[0];
        saw_new |= seen[0];
        if done {
            break;
        }
    }
    assert!(saw_old && saw_new && saw_pending, "{saw_old} {saw_new} {saw_pending}");
}
