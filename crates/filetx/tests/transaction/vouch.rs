//! Journals that anyone may have put into a root: nothing is followed or written unless the caller
//! vouches for them.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

use filetx::{
    Claim, Error, ErrorKind, Fingerprint, Hash, Observed, RelPath, Result, Snapshot, TreeOptions, Trees,
    Verdict, Vouch, Wait,
};
use testkit::folder::{Tree, scratch, tree};
use testkit::journals::{distrust, leave_journal, trust};

fn txn_dir() -> RelPath {
    TreeOptions::default().txn_dir
}

fn open(root: &Path, vouch: Vouch<'_>) -> Result<Trees> {
    Trees::open(&[root], TreeOptions::default(), vouch)
}

fn read(root: &Path, vouch: Vouch<'_>) -> Result<Snapshot> {
    Snapshot::of_tree(root, &txn_dir(), &Wait::default(), vouch)
}

/// Two roots with a journal that creates `.git/hooks/post-commit` in the first and `f` in both.
fn planted(roots: usize) -> (tempfile::TempDir, Vec<PathBuf>, u128) {
    let folder = scratch();
    let roots: Vec<PathBuf> =
        ["a", "b"][..roots].iter().map(|name| folder.path().canonicalize().unwrap().join(name)).collect();
    for root in &roots {
        fs::create_dir_all(root.join(".git/hooks")).unwrap();
        fs::write(root.join("f"), "old").unwrap();
    }
    let id = leave_journal(&roots, &txn_dir(), b"owner", 0, |tx| {
        tx.put(".git/hooks/post-commit", b"#!/bin/sh\n")?;
        (0..roots.len()).try_for_each(|root| tx.put((root, "f"), b"new"))
    });
    (folder, roots, id)
}

/// All files without lock files, which hold nothing.
fn everything(folder: &Path) -> Tree {
    let mut all = tree(folder);
    all.retain(|path, _| !path.ends_with("/lock"));
    all
}

fn check_untrusted(error: &Error, file: &Path) {
    assert!(matches!(error, Error::UntrustedJournal { path, .. } if path == file), "{error:?}");
    assert_eq!((error.kind(), error.code()), (ErrorKind::Conflict, "untrusted-journal"));
    assert!(error.to_string().contains("nobody vouches for it; nothing was touched"), "{error}");
}

#[test]
fn a_planted_journal_is_not_carried_out() {
    let (folder, roots, _) = planted(1);
    let before = everything(folder.path());
    let journal = roots[0].join(".txn/journal");
    check_untrusted(&open(&roots[0], &distrust).map(drop).unwrap_err(), &journal);
    check_untrusted(&read(&roots[0], &distrust).map(drop).unwrap_err(), &journal);
    assert_eq!(everything(folder.path()), before);
    // Control: its owner carries it out.
    assert_eq!(read(&roots[0], &trust).unwrap().read("f").unwrap().unwrap(), b"new");
    drop(open(&roots[0], &trust).unwrap());
    assert_eq!(fs::read(roots[0].join(".git/hooks/post-commit")).unwrap(), b"#!/bin/sh\n");
}

#[test]
fn a_planted_journal_leads_to_no_second_root() {
    let (folder, roots, id) = planted(2);
    // As if only the first root was cloned, on a machine where the second is anyone's folder.
    fs::remove_dir_all(roots[1].join(".txn")).unwrap();
    let before = everything(folder.path());
    check_untrusted(&open(&roots[0], &distrust).map(drop).unwrap_err(), &roots[0].join(".txn/journal"));
    assert_eq!(everything(folder.path()), before, "nothing was created in the second root");
    // The owner is asked before the second root is opened.
    let asked = RefCell::new(Vec::new());
    let vouch = |claim: &Claim<'_>| {
        asked.borrow_mut().push((claim.root.to_owned(), claim.id, claim.roots().to_vec()));
        assert!(!roots[1].join(".txn").exists());
        distrust(claim)
    };
    drop(open(&roots[0], &vouch));
    assert_eq!(*asked.borrow(), [(roots[0].clone(), id, roots.clone())]);
}

#[test]
fn a_planted_pointer_is_not_followed() {
    let (folder, roots, id) = planted(2);
    fs::remove_dir_all(roots[0].join(".txn")).unwrap();
    let before = everything(folder.path());
    let pointer = roots[1].join(".txn/pointer");
    let vouch = |claim: &Claim<'_>| {
        assert_eq!((claim.root, claim.id, claim.main), (roots[1].as_path(), id, roots[0].as_path()));
        assert!(claim.owner().is_none() && claim.changes().is_none());
        distrust(claim)
    };
    check_untrusted(&open(&roots[1], &vouch).map(drop).unwrap_err(), &pointer);
    check_untrusted(&read(&roots[1], &vouch).map(drop).unwrap_err(), &pointer);
    assert_eq!(everything(folder.path()), before, "nothing was created in the folder it names");
}

#[test]
fn a_planted_journal_above_is_not_followed() {
    let (folder, roots, _) = planted(1);
    let inner = roots[0].join("inner");
    fs::create_dir(&inner).unwrap();
    fs::write(roots[0].join(".txn/lock"), "").unwrap();
    let mut before = everything(folder.path());
    check_untrusted(&open(&inner, &distrust).map(drop).unwrap_err(), &roots[0].join(".txn/journal"));
    let mut after = everything(folder.path());
    for all in [&mut before, &mut after] {
        all.retain(|path, _| !path.starts_with("a/inner"));
    }
    assert_eq!(after, before);
}

#[test]
fn without_an_answer_the_root_is_busy() {
    let (folder, roots, _) = planted(1);
    let before = everything(folder.path());
    let vouch = |_: &Claim<'_>| Verdict::Unavailable { source: "the store is gone".into() };
    for error in
        [open(&roots[0], &vouch).map(drop).unwrap_err(), read(&roots[0], &vouch).map(drop).unwrap_err()]
    {
        assert!(matches!(error, Error::CannotVouch { .. }), "{error:?}");
        assert_eq!((error.kind(), error.code()), (ErrorKind::Busy, "cannot-vouch"));
        assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "the store is gone");
    }
    assert_eq!(everything(folder.path()), before);
}

#[test]
fn a_claim_names_every_change() {
    let folder = scratch();
    let root = folder.path().canonicalize().unwrap();
    for name in ["changed", "mode", "gone"] {
        fs::write(root.join(name), name).unwrap();
        fs::set_permissions(root.join(name), std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    }
    leave_journal(std::slice::from_ref(&root), &txn_dir(), b"me", 0, |tx| {
        tx.put("changed", b"new")?;
        tx.set_mode("mode", 0o755)?;
        tx.remove("gone")?;
        tx.symlink("d/link", "changed".as_ref())
    });
    let file = |mode, text: &str| Observed::File {
        mode,
        len: text.len() as u64,
        fingerprint: Fingerprint::Whole(Hash::of(text.as_bytes())),
    };
    let vouch = |claim: &Claim<'_>| {
        assert_eq!(claim.owner(), Some(&b"me"[..]));
        let changes = claim.changes().unwrap();
        let found: Vec<_> = changes
            .iter()
            .map(|change| (change.path.to_string(), change.before.clone(), change.after.clone()))
            .collect();
        let expected = [
            ("changed", file(0o644, "changed"), file(0o644, "new")),
            ("d", Observed::Absent, Observed::Folder { mode: 0o755 }),
            ("d/link", Observed::Absent, Observed::Symlink { target: "changed".into() }),
            ("gone", file(0o644, "gone"), Observed::Absent),
            ("mode", file(0o644, "mode"), file(0o755, "mode")),
        ];
        let expected: Vec<_> =
            expected.into_iter().map(|(path, before, after)| (path.to_owned(), before, after)).collect();
        assert_eq!(found, expected);
        assert!(changes.iter().all(|change| change.root == root));
        trust(claim)
    };
    drop(open(&root, &vouch).unwrap());
    assert_eq!(fs::read(root.join("changed")).unwrap(), b"new");
}

/// The journal is ours, but someone else wrote into the staging folder.
#[test]
fn changed_staged_content_is_not_published() {
    let (folder, roots, id) = planted(1);
    let staged = roots[0].join(format!(".txn/stage/{id:032x}-1"));
    assert_eq!(fs::read(&staged).unwrap(), b"new");
    fs::write(&staged, "bad").unwrap();
    let trees = open(&roots[0], &trust).unwrap();
    let [found] = trees.recovered() else { panic!("{:?}", trees.recovered()) };
    let [kept] = found.preserved.as_slice() else { panic!("{found:?}") };
    assert_eq!(kept.path, roots[0].join("f"));
    assert_eq!(fs::read(kept.preserved_at.as_ref().unwrap()).unwrap(), b"bad");
    assert_eq!(fs::read(roots[0].join("f")).unwrap(), b"old");
    drop(folder);
}

/// A repository cannot carry an empty folder.
#[test]
fn a_transaction_folder_without_a_stage_is_completed() {
    let folder = scratch();
    fs::create_dir(folder.path().join(".txn")).unwrap();
    fs::write(folder.path().join(".txn/.gitignore"), "*\n").unwrap();
    let mut trees = open(folder.path(), &distrust).unwrap();
    let mut tx = trees.begin();
    tx.put("f", b"new").unwrap();
    assert!(tx.commit().unwrap().pending.is_none());
}
