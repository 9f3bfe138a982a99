//! State of the whole process: the umask and the sync counter. One test at a time.
#![cfg(target_os = "linux")]

extern crate cleveragents_filetx as filetx;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::{Mutex, PoisonError};

use filetx::{
    Disk, FolderOptions, OpenMode, OwnFolder, RelPath, ReplaceOptions, Storage, Sweep, TreeOptions, Trees,
    replace_file, sync_count,
};
use rustix::fs::Mode;
use rustix::process::umask;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

#[test]
fn modes_ignore_the_umask() {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    for mask in [0o077, 0o000, 0o777] {
        let folder = tempfile::tempdir().unwrap();
        let before = umask(Mode::from_raw_mode(mask));
        let made = make_some(folder.path());
        umask(before);
        made.unwrap();
        for (name, expected) in
            [("r", 0o751), ("r/s", 0o751), ("r/s/file", 0o664), ("r/s/folder", 0o775), ("r/s/new", 0o644)]
        {
            let mode = fs::metadata(folder.path().join(name)).unwrap().mode() & 0o7777;
            assert_eq!(mode, expected, "{name} under umask {mask:03o}");
        }
    }
}

fn make_some(folder: &std::path::Path) -> Result<(), Box<dyn std::error::Error>> {
    let disk = Disk::create(&folder.join("r/s"), 0o751)?;
    disk.open(&RelPath::new("file")?, OpenMode::Create { mode: 0o664 })?;
    disk.make_folder(&RelPath::new("folder")?, 0o775)?;
    let options = ReplaceOptions { new_mode: 0o644, ..ReplaceOptions::default() };
    replace_file(&folder.join("r/s/new"), b"first", &options)?;
    replace_file(&folder.join("r/s/new"), b"second", &ReplaceOptions::default())?;
    Ok(())
}

#[test]
fn transactions_set_exact_modes_and_keep_the_transaction_folder_private() {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    for mask in [0o000, 0o077, 0o027] {
        let folder = tempfile::tempdir().unwrap();
        let root = |name: &str| folder.path().join(name);
        let before = umask(Mode::from_raw_mode(mask));
        let made = make_by_transactions(folder.path());
        umask(before);
        made.unwrap();
        let mode = |path: &std::path::Path| fs::symlink_metadata(path).unwrap().mode() & 0o7777;
        for (name, expected) in [
            ("tree/f", 0o644),
            ("tree/d", 0o755),
            ("tree/d/f", 0o666),
            ("tree/e", 0o777),
            ("own/f", 0o600),
            ("own/large", 0o600),
        ] {
            assert_eq!(mode(&root(name)), expected, "{name} under umask {mask:03o}");
        }
        for root in [root("tree"), root("own")] {
            let mut folders = vec![root.join(".txn")];
            while let Some(folder) = folders.pop() {
                assert_eq!(mode(&folder), 0o700, "{folder:?} under umask {mask:03o}");
                for entry in fs::read_dir(folder).unwrap() {
                    let entry = entry.unwrap();
                    if entry.file_type().unwrap().is_dir() {
                        folders.push(entry.path());
                    } else {
                        assert_eq!(mode(&entry.path()), 0o600, "{:?} under umask {mask:03o}", entry.path());
                    }
                }
            }
        }
    }
}

/// Leaves staged content, a journal and a transaction without acknowledgement.
fn make_by_transactions(folder: &std::path::Path) -> Result<(), Box<dyn std::error::Error>> {
    for name in ["own", "tree"] {
        fs::create_dir(folder.join(name))?;
    }
    let own = OwnFolder::open(&folder.join("own"), &folder.join("own.lock"), FolderOptions::default())?;
    let mut tx = own.begin()?;
    tx.put("f", b"new")?;
    tx.put("large", &vec![0; 100_000])?;
    let _ = tx.commit()?;
    let mut trees = Trees::open(&[&folder.join("tree")], TreeOptions::default(), &testkit::journals::trust)?;
    let mut tx = trees.begin();
    tx.put("f", b"new")?;
    tx.put("d/f", &vec![0; 100_000])?;
    tx.set_mode("d/f", 0o666)?;
    tx.put("e/f", b"new")?;
    tx.set_mode("e", 0o777)?;
    let _ = tx.commit_for(b"somebody")?;
    Ok(())
}

/// The staged content of a private file is private at any time.
#[test]
fn staged_content_is_private_until_it_is_published() {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let before = umask(Mode::from_raw_mode(0o000));
    fs::write(folder.path().join("secret"), "secret").unwrap();
    fs::set_permissions(folder.path().join("secret"), std::os::unix::fs::PermissionsExt::from_mode(0o600))
        .unwrap();
    let mut trees = Trees::open(&[folder.path()], TreeOptions::default(), &testkit::journals::trust).unwrap();
    let mut tx = trees.begin();
    tx.put("secret", b"secret too").unwrap();
    let staged: Vec<u32> = fs::read_dir(folder.path().join(".txn/stage"))
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().mode() & 0o7777)
        .collect();
    drop(tx);
    umask(before);
    assert_eq!(staged, [0o600]);
}

#[test]
fn a_replacement_needs_two_syncs() {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let check = |options: ReplaceOptions| {
        let before = sync_count();
        replace_file(&path, b"content", &options).unwrap();
        assert_eq!(sync_count() - before, 2);
    };
    check(ReplaceOptions::default());
    check(ReplaceOptions::default());
    check(ReplaceOptions { sweep: Sweep::Leftovers, ..ReplaceOptions::default() });
}

#[test]
fn sync_count_counts_only_syncs() {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let start = sync_count();
    // Two new folders, each with a durable name.
    let disk = Disk::create(&folder.path().join("a/b"), 0o700).unwrap();
    assert_eq!(sync_count() - start, 2);
    let file = disk.open(&RelPath::new("file").unwrap(), OpenMode::Create { mode: 0o600 }).unwrap();
    file.write_at(b"content", 0).unwrap();
    assert_eq!(sync_count() - start, 2);
    file.sync_data().unwrap();
    file.sync_all().unwrap();
    disk.sync_folder(&RelPath::root()).unwrap();
    assert_eq!(sync_count() - start, 5);
}

#[cfg(feature = "mutants")]
#[test]
fn each_sync_of_a_replacement_can_be_skipped() {
    use filetx::Step;
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    for step in [Step::SyncReplacement, Step::SyncReplacedFolder] {
        let before = sync_count();
        step.skipped(|| replace_file(&folder.path().join("a"), b"new", &ReplaceOptions::default()).unwrap());
        assert_eq!(sync_count() - before, 1, "{step:?}");
    }
}

#[test]
fn many_files_need_few_syncs_with_syncfs() {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..40).map(|number| format!("folder-{number}/file")).collect();
    fs::create_dir(folder.path().join("folder-0")).unwrap();
    fs::write(folder.path().join("folder-0/file"), "old").unwrap();
    let syncs = |syncfs_threshold: usize, content: &[u8]| {
        let options = TreeOptions { syncfs_threshold, ..TreeOptions::default() };
        let mut trees = Trees::open(&[folder.path()], options, &testkit::journals::trust).unwrap();
        let before = sync_count();
        let mut tx = trees.begin();
        names.iter().for_each(|name| tx.put(name.as_str(), content).unwrap());
        let committed = tx.commit().unwrap();
        assert!(committed.preserved.is_empty() && committed.pending.is_none());
        sync_count() - before
    };
    let one_by_one = syncs(usize::MAX, b"one by one");
    assert!(one_by_one >= 80, "40 files and 40 folders, but {one_by_one} syncs");
    let together = syncs(8, b"together");
    let can = Disk::open(folder.path()).unwrap().fs_sync().unwrap().is_some();
    assert_eq!(together < 10, can, "{together} syncs");
    for name in &names {
        assert_eq!(fs::read(folder.path().join(name)).unwrap(), b"together", "{name}");
    }
}
