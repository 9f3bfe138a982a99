//! Decisions of a person about a journal that nobody vouches for, after any part of it was
//! published.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use filetx::{Decided, Decision, Error, Result, TreeOptions, TreeTransaction, Trees};
use testkit::folder::{Tree, scratch, tree_without};
use testkit::journals::{distrust, leave_journal, trust};

/// Calls that publish the whole transaction; one less leaves its journal.
const CALLS: i64 = 13;

fn start(root: &Path) {
    for name in ["changed", "gone", "mode", "folder/x"] {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("old {name}")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    }
    symlink("gone", root.join("link")).unwrap();
}

fn stage(tx: &mut TreeTransaction<'_>) -> Result<()> {
    tx.put("changed", b"new")?;
    tx.remove("gone")?;
    tx.set_mode("mode", 0o755)?;
    tx.remove("folder/x")?;
    tx.remove_folder("folder")?;
    tx.put("made/file", b"new")?;
    tx.symlink("link", "changed".as_ref())
}

fn interrupted(published: i64) -> (tempfile::TempDir, PathBuf, u128) {
    let folder = scratch();
    let root = folder.path().canonicalize().unwrap();
    start(&root);
    let txn_dir = TreeOptions::default().txn_dir;
    let id = leave_journal(std::slice::from_ref(&root), &txn_dir, b"", published, stage);
    (folder, root, id)
}

fn decide(root: &Path, id: u128, decision: Decision) -> Result<Decided> {
    Trees::decide(root, &TreeOptions::default(), Some(id), decision, &trust)
}

fn files(root: &Path) -> Tree {
    tree_without(root, ".txn")
}

/// The trees before and after the transaction.
fn ends() -> (Tree, Tree) {
    let folder = scratch();
    start(folder.path());
    let before = files(folder.path());
    let mut trees = Trees::open(&[folder.path()], TreeOptions::default(), &distrust).unwrap();
    let mut tx = trees.begin();
    stage(&mut tx).unwrap();
    assert!(tx.commit().unwrap().pending.is_none());
    (before, files(folder.path()))
}

/// The root is free again.
fn check_free(root: &Path) {
    drop(Trees::open(&[root], TreeOptions::default(), &distrust).unwrap());
}

#[test]
fn every_part_of_a_transaction_is_finished_or_rolled_back() {
    let (before, after) = ends();
    let mut halves = 0;
    for published in 0..CALLS {
        let (_folder, root, id) = interrupted(published);
        halves += usize::from(files(&root) != before && files(&root) != after);
        let decided = decide(&root, id, Decision::Finish).unwrap();
        assert_eq!((files(&root), decided.preserved), (after.clone(), Vec::new()), "{published}");
        check_free(&root);
        let (_folder, root, id) = interrupted(published);
        let decided = decide(&root, id, Decision::RollBack).unwrap();
        assert_eq!((files(&root), decided.preserved), (before.clone(), Vec::new()), "{published}");
        check_free(&root);
    }
    assert!(halves > 3, "{halves}");
}

#[test]
fn a_journal_that_is_set_aside_leaves_the_files_and_keeps_every_content() {
    for published in 0..CALLS {
        let (_folder, root, id) = interrupted(published);
        let half = files(&root);
        let decided = decide(&root, id, Decision::SetAside).unwrap();
        assert_eq!(files(&root), half);
        assert_eq!(
            decided.published.len() + decided.pending.len() + decided.preserved.len(),
            8,
            "{decided:?}"
        );
        let aside = decided.set_aside.unwrap();
        assert!(aside.join("journal").exists());
        let contents: Vec<String> = fs::read_dir(&aside)
            .unwrap()
            .filter_map(|entry| fs::read_to_string(entry.unwrap().path()).ok())
            .collect();
        assert!(contents.iter().any(|content| content == "new"), "{contents:?}");
        check_free(&root);
        assert_eq!(files(&root), half);
    }
}

#[test]
fn a_decision_keeps_edits_of_people() {
    for decision in [Decision::Finish, Decision::RollBack] {
        for published in 0..CALLS {
            let (_folder, root, id) = interrupted(published);
            fs::remove_file(root.join("changed")).unwrap();
            fs::write(root.join("changed"), "a person's").unwrap();
            let decided = decide(&root, id, decision).unwrap();
            assert_eq!(fs::read(root.join("changed")).unwrap(), b"a person's");
            let kept: Vec<_> = decided.preserved.iter().map(|kept| kept.path.clone()).collect();
            assert_eq!(kept, [root.join("changed")], "{decision:?} {published}");
        }
    }
}

#[test]
fn a_decision_needs_the_journal_that_was_shown_and_its_approval() {
    let (_folder, root, id) = interrupted(3);
    let half = files(&root);
    for decision in [Decision::Finish, Decision::RollBack, Decision::SetAside] {
        let error = decide(&root, id + 1, decision).unwrap_err();
        assert!(error.to_string().contains("it is not the one that was shown"), "{error}");
        let options = TreeOptions::default();
        let error = Trees::decide(&root, &options, Some(id), decision, &distrust).unwrap_err();
        assert!(matches!(error, Error::UntrustedJournal { .. }), "{error:?}");
    }
    assert_eq!(files(&root), half);
}

/// The second root has a pointer, which names no change.
#[test]
fn a_decision_touches_one_root() {
    let folder = scratch();
    let roots = ["a", "b"].map(|name| folder.path().canonicalize().unwrap().join(name));
    for root in &roots {
        fs::create_dir(root).unwrap();
        fs::write(root.join("f"), "old").unwrap();
    }
    let id = leave_journal(&roots, &TreeOptions::default().txn_dir, b"", 0, |tx| {
        tx.put((0, "f"), b"new")?;
        tx.put((1, "f"), b"new")
    });
    let error = decide(&roots[1], id, Decision::Finish).unwrap_err();
    assert!(matches!(&error, Error::RootUnavailable { path, .. } if *path == roots[0]), "{error:?}");
    let decided = decide(&roots[0], id, Decision::Finish).unwrap();
    assert_eq!(decided.other_roots, [roots[1].clone()]);
    let read = |root: usize| fs::read_to_string(roots[root].join("f")).unwrap();
    assert_eq!((read(0), read(1)), ("new".to_owned(), "old".to_owned()));
    let decided = decide(&roots[1], id, Decision::SetAside).unwrap();
    assert_eq!(decided.other_roots, [roots[0].clone()]);
    roots.iter().for_each(|root| check_free(root));
}

#[test]
fn an_unreadable_journal_is_only_set_aside() {
    for name in ["journal", "pointer"] {
        let folder = scratch();
        let root = folder.path().canonicalize().unwrap();
        start(&root);
        drop(Trees::open(&[&root], TreeOptions::default(), &distrust).unwrap());
        let (before, file) = (files(&root), root.join(".txn").join(name));
        for number in 1..3 {
            fs::write(&file, "garbage").unwrap();
            let open = || Trees::open(&[&root], TreeOptions::default(), &trust).map(drop);
            assert!(matches!(open().unwrap_err(), Error::CorruptJournal { .. }));
            let decide = |decision| Trees::decide(&root, &TreeOptions::default(), None, decision, &trust);
            for decision in [Decision::Finish, Decision::RollBack] {
                assert!(matches!(decide(decision).unwrap_err(), Error::CorruptJournal { .. }));
            }
            let aside = decide(Decision::SetAside).unwrap().set_aside.unwrap();
            assert!(aside.ends_with(format!("unreadable-{number}")), "{aside:?}");
            assert_eq!(fs::read(aside.join(name)).unwrap(), b"garbage");
            check_free(&root);
            assert_eq!(files(&root), before);
        }
    }
}

/// A readable journal is decided about by its id.
#[test]
fn a_readable_journal_is_not_set_aside_as_an_unreadable_one() {
    let (_folder, root, _) = interrupted(3);
    let error = Trees::decide(&root, &TreeOptions::default(), None, Decision::SetAside, &trust).unwrap_err();
    assert!(error.to_string().contains("it is not the one that was shown"), "{error}");
    assert!(root.join(".txn/journal").exists());
}
