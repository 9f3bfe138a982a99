//! What is one for the whole process: the umask and the count of syncs. One test at a time, so that none sees another's.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::{Mutex, PoisonError};

use filetx::{Disk, Open, RelPath, ReplaceOptions, Storage, Sweep, SymlinkRule, replace_file, sync_count};
use rustix::fs::Mode;
use rustix::process::umask;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

#[test]
fn modes_are_exact_whatever_the_umask() {
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
    disk.open(&RelPath::new("file")?, Open::Create { mode: 0o664 })?;
    disk.make_folder(&RelPath::new("folder")?, 0o775)?;
    let options = ReplaceOptions { new_mode: 0o644, ..ReplaceOptions::default() };
    replace_file(&folder.join("r/s/new"), b"first", &options)?;
    replace_file(&folder.join("r/s/new"), b"second", &ReplaceOptions::default())?;
    Ok(())
}

#[test]
fn a_replacement_is_two_syncs() {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    std::os::unix::fs::symlink("a", folder.path().join("link")).unwrap();
    let check = |path: &std::path::Path, options: ReplaceOptions| {
        let before = sync_count();
        replace_file(path, b"content", &options).unwrap();
        assert_eq!(sync_count() - before, 2);
    };
    check(&path, ReplaceOptions::default());
    check(&path, ReplaceOptions::default());
    check(&path, ReplaceOptions { sweep: Sweep::Leftovers, ..ReplaceOptions::default() });
    check(
        &folder.path().join("link"),
        ReplaceOptions { symlink: SymlinkRule::Follow, ..ReplaceOptions::default() },
    );
}

#[test]
fn every_sync_is_counted_and_nothing_else() {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let start = sync_count();
    // Two folders are made, and each name is made durable.
    let disk = Disk::create(&folder.path().join("a/b"), 0o700).unwrap();
    assert_eq!(sync_count() - start, 2);
    let file = disk.open(&RelPath::new("file").unwrap(), Open::Create { mode: 0o600 }).unwrap();
    file.write_at(b"content", 0).unwrap();
    assert_eq!(sync_count() - start, 2);
    file.sync_data().unwrap();
    file.sync_all().unwrap();
    disk.sync_folder(&RelPath::root()).unwrap();
    assert_eq!(sync_count() - start, 5);
}

#[cfg(feature = "mutants")]
#[test]
fn each_sync_of_a_replacement_can_be_left_out() {
    use filetx::Step;
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    for step in [Step::SyncReplacement, Step::SyncReplacedFolder] {
        let before = sync_count();
        step.left_out(|| replace_file(&folder.path().join("a"), b"new", &ReplaceOptions::default()).unwrap());
        assert_eq!(sync_count() - before, 1, "{step:?}");
    }
}
