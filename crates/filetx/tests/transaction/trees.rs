//! User trees: attributes of files, several roots, and acknowledgement by owners.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use filetx::{
    Fingerprint, Hash, Observed, RelPath, Result, Snapshot, TreeOptions, TreeTransaction, Trees, Wait,
};
use rustix::fs::{XattrFlags, getxattr, setxattr};
use rustix::process::geteuid;

use super::place::{Place, Policy, names};
use super::support::{NOBODY, as_ordinary_user};

#[test]
fn a_replaced_file_keeps_mode_owner_and_attributes() {
    let place = Place::new(Policy::UserTree);
    place.make(&["f:640=old", "g:4711=old"]);
    let attribute = |name: &str| {
        let mut value = [0; 16];
        let len = getxattr(place.root(name), "user.mark", &mut value).unwrap();
        value[..len].to_vec()
    };
    for name in ["f", "g"] {
        setxattr(place.root(name), "user.mark", b"mine", XattrFlags::empty()).unwrap();
        if geteuid().is_root() {
            std::os::unix::fs::chown(place.root(name), Some(NOBODY), Some(NOBODY)).unwrap();
            let mode = if name == "f" { 0o640 } else { 0o4711 };
            fs::set_permissions(place.root(name), fs::Permissions::from_mode(mode)).unwrap();
        }
    }
    let before = ["f", "g"].map(|name| fs::metadata(place.root(name)).unwrap());
    place.change(|tx| {
        tx.put("f", b"new")?;
        tx.put("g", b"newer")
    });
    assert_eq!(place.lines(), ["f:640=new", "g:4711=newer"]);
    for (name, before) in ["f", "g"].into_iter().zip(before) {
        let now = fs::metadata(place.root(name)).unwrap();
        assert_eq!((now.uid(), now.gid()), (before.uid(), before.gid()), "{name}");
        assert_eq!(attribute(name), b"mine");
    }
}

fn two_roots(place: &Place, options: TreeOptions) -> Trees {
    for name in ["a", "b"] {
        let _ = fs::create_dir(place.root(name));
    }
    Trees::open(&[&place.root("a"), &place.root("b")], options, &testkit::journals::trust).unwrap()
}

fn commit(trees: &mut Trees, work: impl FnOnce(&mut TreeTransaction<'_>) -> Result<()>) {
    let mut tx = trees.begin();
    work(&mut tx).unwrap();
    let committed = tx.commit().unwrap();
    assert!(committed.pending.is_none() && committed.preserved.is_empty(), "{committed:?}");
}

#[test]
fn several_roots_change_together() {
    let place = Place::new(Policy::UserTree);
    let mut trees = two_roots(&place, TreeOptions::default());
    commit(&mut trees, |tx| {
        tx.put((0, "f"), b"in a")?;
        tx.put((1, "d/f"), b"in b")?;
        assert_eq!(tx.list((1, "d"))?, ["f"]);
        assert_eq!(tx.read((0, "d/f"))?, None);
        Ok(())
    });
    commit(&mut trees, |tx| tx.put((1, "g"), b"in b alone"));
    drop(trees);
    assert_eq!(fs::read(place.root("a/f")).unwrap(), b"in a");
    assert_eq!(fs::read(place.root("b/d/f")).unwrap(), b"in b");
    assert_eq!(fs::read(place.root("b/g")).unwrap(), b"in b alone");
    for root in ["a", "b"] {
        let left = names(&place.root(root).join(".txn"));
        assert_eq!(left, [".gitignore", "lock", "stage"].map(str::to_owned).into(), "{root}");
        assert_eq!(names(&place.root(root).join(".txn/stage")).len(), 0, "{root}");
    }
}

#[test]
fn roots_on_two_file_systems() {
    let memory = Path::new("/dev/shm");
    let device = |path: &Path| fs::metadata(path).map(|found| found.dev()).ok();
    let place = Place::new(Policy::UserTree);
    if device(memory).is_none_or(|other| Some(other) == device(&place.root(""))) {
        testkit::report::skipped("roots_on_two_file_systems", "no second file system at /dev/shm");
        return;
    }
    let other = tempfile::tempdir_in(memory).unwrap();
    let mut trees =
        Trees::open(&[&place.root(""), other.path()], TreeOptions::default(), &testkit::journals::trust)
            .unwrap();
    commit(&mut trees, |tx| {
        tx.put((0, "f"), b"here")?;
        tx.put((1, "f"), b"there")
    });
    assert_eq!(fs::read(place.root("f")).unwrap(), b"here");
    assert_eq!(fs::read(other.path().join("f")).unwrap(), b"there");
}

#[test]
fn a_transaction_with_an_owner_is_kept_until_acknowledged() {
    let place = Place::new(Policy::UserTree);
    let mut trees = place.open_trees();
    let mut tx = trees.begin();
    tx.put("f", b"new").unwrap();
    let id = tx.id();
    let committed = tx.commit_for(b"plan 7").unwrap();
    assert_eq!(committed.id, id);
    drop(trees);
    for _ in 0..2 {
        let trees = place.open_trees();
        let [recovered] = trees.recovered() else { panic!("{:?}", trees.recovered()) };
        assert_eq!((recovered.id, recovered.owner.as_slice()), (id, b"plan 7".as_slice()));
        assert_eq!(recovered.preserved, []);
    }
    let mut trees = place.open_trees();
    trees.acknowledge(id + 1).unwrap();
    assert_eq!(trees.recovered().len(), 1, "another one was acknowledged");
    trees.acknowledge(id).unwrap();
    assert_eq!(trees.recovered(), []);
    drop(trees);
    assert_eq!(place.open_trees().recovered(), []);
    place.assert_nothing_left();
    assert_eq!(place.lines(), ["f=new"]);
}

#[test]
fn a_transaction_without_an_owner_is_not_kept() {
    let place = Place::new(Policy::UserTree);
    place.change(|tx| tx.put("f", b"new"));
    assert_eq!(place.open_trees().recovered(), []);
}

#[test]
fn the_transaction_folder_may_be_nested() {
    let place = Place::new(Policy::UserTree);
    place.make(&["meta/", "meta/f=x"]);
    let home = RelPath::new("meta/.txn").unwrap();
    let mut trees = Trees::open(
        &[&place.root("")],
        TreeOptions { txn_dir: home, ..TreeOptions::default() },
        &testkit::journals::trust,
    )
    .unwrap();
    let mut tx = trees.begin();
    place.assert_error(&tx.put("meta/.txn/x", b"x").unwrap_err(), "ReservedPath", "meta/.txn/x");
    assert_eq!(tx.list("meta").unwrap(), ["f"]);
    // The folder above it cannot be removed.
    tx.remove("meta/f").unwrap();
    place.assert_error(&tx.remove_folder("meta").unwrap_err(), "NotEmpty", "root/meta");
    let _ = tx.commit().unwrap();
    assert_eq!(names(&place.root("meta")), [".txn".to_owned()].into());
}

#[test]
fn an_edit_before_the_commit_stays() {
    let place = Place::new(Policy::UserTree);
    place.make(&["f=old", "g=old", "gone=old"]);
    let committed = place
        .try_change(|tx| {
            tx.put("f", b"ours")?;
            tx.put("g", b"ours")?;
            tx.put("new", b"ours")?;
            tx.remove("gone")?;
            for name in ["f", "new", "gone"] {
                fs::write(place.root(name), "theirs").unwrap();
            }
            Ok(())
        })
        .unwrap();
    assert!(committed.pending.is_none());
    assert_eq!(place.lines(), ["f=theirs", "g=ours", "gone=theirs", "new=theirs"]);
    let mut kept: Vec<_> = committed.preserved.iter().map(|kept| kept.path.file_name().unwrap()).collect();
    kept.sort();
    assert_eq!(kept, ["f", "gone", "new"]);
    for kept in &committed.preserved {
        let aside = kept.preserved_at.as_ref().map(|aside| fs::read(aside).unwrap());
        assert_eq!(aside.is_some(), !kept.path.ends_with("gone"), "{kept:?}");
        assert!(aside.is_none_or(|aside| aside == b"ours"));
    }
}

#[test]
fn a_read_only_folder_is_refused_before_the_commit() {
    let place = Place::new(Policy::UserTree);
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    place.make(&["closed/", "closed/f=x"]);
    mode(&place.root(""), 0o777);
    mode(&place.root(".."), 0o777);
    if !geteuid().is_root() {
        mode(&place.root("closed"), 0o555);
    }
    as_ordinary_user(|| {
        let mut trees = place.open_trees();
        let mut tx = trees.begin();
        // Twice: a second attempt fails too.
        for _ in 0..2 {
            place.assert_error(&tx.put("closed/new", b"x").unwrap_err(), "Io", "root/closed");
            place.assert_error(&tx.remove("closed/f").unwrap_err(), "Io", "root/closed");
        }
        drop(tx);
    });
    mode(&place.root("closed"), 0o755);
    assert_eq!(place.lines(), ["closed/", "closed/f=x"]);
}

#[test]
fn more_roots_than_the_limit_are_refused() {
    let place = Place::new(Policy::UserTree);
    let root = place.root("");
    let roots: Vec<&Path> = vec![&root; filetx::ROOTS_MAX + 1];
    let error = Trees::open(&roots, TreeOptions::default(), &testkit::journals::trust).map(drop).unwrap_err();
    place.assert_error(&error, "LimitExceeded", "roots of one transaction");
}

#[test]
fn a_missing_root_is_an_error_that_names_it() {
    let place = Place::new(Policy::UserTree);
    let error = Trees::open(&[&place.root("missing")], TreeOptions::default(), &testkit::journals::trust)
        .map(drop)
        .unwrap_err();
    place.assert_error(&error, "Io", "root/missing");
}

#[test]
fn a_root_that_is_given_twice_is_refused() {
    let place = Place::new(Policy::UserTree);
    let error =
        Trees::open(&[&place.root(""), &place.root("")], TreeOptions::default(), &testkit::journals::trust)
            .map(drop)
            .unwrap_err();
    assert!(error.to_string().contains("given twice"), "{error}");
}

/// A new folder gets its mode last, after its files.
#[test]
fn a_new_read_only_folder_gets_its_files() {
    let place = Place::new(Policy::UserTree);
    let all = |path| fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    all(place.root(""));
    all(place.root(".."));
    as_ordinary_user(|| {
        place.change(|tx| {
            tx.put("d/e/f", b"x")?;
            tx.set_mode("d", 0o555)?;
            tx.set_mode("d/e", 0o300)
        });
    });
    fs::set_permissions(place.root("d/e"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(place.lines(), ["d/:555", "d/e/", "d/e/f=x"]);
}

#[test]
fn many_files_are_staged_and_synced_together() {
    let place = Place::new(Policy::UserTree);
    place.change(|tx| {
        (0..40).try_for_each(|number| {
            tx.put((0, format!("d{}/f{number}", number % 20)), format!("{number}").as_bytes())
        })
    });
    for number in 0..40 {
        let read = fs::read_to_string(place.root(format!("d{}/f{number}", number % 20))).unwrap();
        assert_eq!(read, number.to_string());
    }
}

/// An unfinished transaction of the outer root may be partly published in the inner one.
#[test]
fn opening_an_inner_root_recovers_the_outer_one() {
    let place = Place::new(Policy::UserTree);
    place.make(&["d/", "d/f=old", "in/", "in/g=old"]);
    let inner = place.root("in");
    drop(Trees::open(&[&inner], TreeOptions::default(), &testkit::journals::trust).unwrap());
    let mut outer = place.open_trees();
    let mut tx = outer.begin();
    tx.put("d/f", b"new").unwrap();
    tx.put("in/g", b"new").unwrap();
    // A folder in place of the displaced file stops publishing half-way.
    let obstacle = place.root(format!(".txn/stage/{:032x}-1.was", tx.id()));
    fs::create_dir(&obstacle).unwrap();
    let committed = tx.commit();
    fs::remove_dir(&obstacle).unwrap();
    assert!(committed.unwrap().pending.is_some());
    assert_eq!(fs::read(place.root("d/f")).unwrap(), b"new");
    assert_eq!(fs::read(place.root("in/g")).unwrap(), b"old");
    drop(outer);
    assert!(place.root(".txn/journal").exists());

    let opened = Trees::open(&[&inner], TreeOptions::default(), &testkit::journals::trust).unwrap();
    assert_eq!(opened.recovered().len(), 1);
    assert!(!place.root(".txn/journal").exists());
    assert_eq!(fs::read(place.root("d/f")).unwrap(), b"new");
    assert_eq!(fs::read(place.root("in/g")).unwrap(), b"new");
}

#[test]
fn a_change_replaces_only_the_observed_state() {
    let place = Place::new(Policy::UserTree);
    place.make(&["f=old"]);
    fs::create_dir(place.root("d")).unwrap();
    fs::write(place.root("d/x"), "old").unwrap();
    let mut trees =
        Trees::open(&[&place.root("")], TreeOptions::default(), &testkit::journals::trust).unwrap();
    let mut tx = trees.begin();
    let old = Observed::File { mode: 0o644, len: 3, fingerprint: Fingerprint::Whole(Hash::of(b"old")) };
    assert_eq!(*tx.observe("f").unwrap(), old);
    assert_eq!(*tx.observe("missing/deep").unwrap(), Observed::Absent);
    assert_eq!(*tx.observe("f/below").unwrap(), Observed::Absent);
    assert!(matches!(tx.observe("d").unwrap(), Observed::Folder { .. }));
    assert!(tx.observe((1, "f")).is_err());
    // An edit between the observation and the commit.
    fs::write(place.root("f"), "a person's").unwrap();
    assert_eq!(*tx.observe("f").unwrap(), old, "it is looked at once");
    tx.put_with_mode("f", 0o755, b"new").unwrap();
    tx.put_reader_with_mode("g", 0o4755, &mut &b"new"[..]).unwrap();
    let committed = tx.commit().unwrap();
    assert_eq!(committed.preserved.len(), 1);
    assert_eq!(fs::read(place.root("f")).unwrap(), b"a person's");
    assert_eq!(fs::metadata(place.root("g")).unwrap().mode() & 0o7777, 0o4755);
    drop(trees);
    let home = TreeOptions::default().txn_dir;
    let snapshot =
        Snapshot::of_tree(&place.root(""), &home, &Wait::default(), &testkit::journals::trust).unwrap();
    assert_eq!(snapshot.observe("d/x").unwrap(), old);
    assert_eq!(snapshot.observe("nothing").unwrap(), Observed::Absent);
}

#[test]
fn threads_can_open_a_new_root_at_once() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let barrier = std::sync::Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    barrier.wait();
                    drop(
                        Trees::open(&[folder.path()], TreeOptions::default(), &testkit::journals::trust)
                            .unwrap(),
                    );
                });
            }
        });
    }
}
