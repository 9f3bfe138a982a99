//! Full and read-only disks: a commit without enough space leaves the old or the new state and
//! reports which. Readers work.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate cleveragents_filetx as filetx;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use filetx::{
    CommitReport, Error, Failure, FailureOutcome, FolderOptions, OwnFolder, ReplaceOptions, Snapshot,
    TreeOptions, Trees, Wait, replace_file,
};
use testkit::folder::{Tree, scratch, tree, tree_of, tree_of_roots, tree_without};
use testkit::mount::SmallDisk;
use testkit::report;

const SKIP: &str = "full-disk";
/// Page size of the disk in memory.
const PAGE_BYTES: u64 = 4096;
/// Upper bound of the pages of one commit.
const PAGES_MAX: u64 = 64;

/// A small disk with adjustable free space.
struct Bench {
    disk: SmallDisk,
    _scratch: tempfile::TempDir,
}

/// The state of the files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Which {
    Old,
    New,
}

impl Bench {
    /// Returns `None` and reports a skip if mounting is not possible.
    fn new() -> Option<Self> {
        let scratch = scratch();
        match SmallDisk::new(scratch.path(), 1 << 20) {
            Ok(disk) => {
                for folder in ["folder", "locks", "a", "b"] {
                    fs::create_dir(disk.point().join(folder)).unwrap();
                }
                Some(Self { disk, _scratch: scratch })
            }
            Err(reason) => {
                report::skipped(SKIP, &reason);
                None
            }
        }
    }

    fn home(&self) -> &Path {
        self.disk.point()
    }

    /// Fills the disk except for a number of pages.
    fn leave_pages(&self, pages: u64) {
        let mut filler = File::create(self.home().join("filler")).unwrap();
        while filler.write_all(&[b'f'; PAGE_BYTES as usize]).is_ok() {}
        let len = filler.metadata().unwrap().len() / PAGE_BYTES * PAGE_BYTES;
        filler.set_len(len - pages * PAGE_BYTES).unwrap();
    }

    fn free_space(&self) {
        fs::remove_file(self.home().join("filler")).unwrap();
    }
}

/// A commit on a disk that is nearly full.
trait Work {
    fn set_up(&self, home: &Path);
    fn commit(&self, home: &Path) -> Result<CommitReport, Failure>;
    fn open(&self, home: &Path) -> Result<(), Error>;
    fn read(&self, home: &Path) -> Result<Tree, Error>;
    fn raw(&self, home: &Path) -> Tree;
}

struct Folder;

impl Work for Folder {
    fn set_up(&self, home: &Path) {
        let folder = open_folder(home).unwrap();
        let mut tx = folder.begin().unwrap();
        for path in ["messages", "metadata", "state"] {
            tx.put(path, b"old\n").unwrap();
        }
        assert!(tx.commit().unwrap().pending.is_none());
    }

    fn commit(&self, home: &Path) -> Result<CommitReport, Failure> {
        let folder = open_folder(home)?;
        let mut tx = folder.begin()?;
        tx.append("messages", &[b'm'; 9000])?;
        tx.put("metadata", b"new")?;
        tx.put("state", &[b's'; 9000])?;
        tx.put("context", &[b'c'; 9000])?;
        tx.commit()
    }

    fn open(&self, home: &Path) -> Result<(), Error> {
        open_folder(home).map(|folder| assert_eq!(folder.take_preserved(), []))
    }

    fn read(&self, home: &Path) -> Result<Tree, Error> {
        tree_of(&Snapshot::of_folder(&home.join("folder"), &lock(home), &Wait::default())?)
    }

    fn raw(&self, home: &Path) -> Tree {
        tree_without(&home.join("folder"), ".txn")
    }
}

struct TwoTrees;

impl Work for TwoTrees {
    fn set_up(&self, home: &Path) {
        for path in ["a/changed", "a/removed", "b/changed"] {
            fs::write(home.join(path), "old").unwrap();
        }
        drop(open_trees(home).unwrap());
    }

    fn commit(&self, home: &Path) -> Result<CommitReport, Failure> {
        let mut trees = open_trees(home)?;
        let mut tx = trees.begin();
        tx.put((0, "changed"), &[b'n'; 9000])?;
        tx.put((0, "new/file"), &[b'n'; 5000])?;
        tx.remove((0, "removed"))?;
        tx.symlink((0, "link"), "changed".as_ref())?;
        tx.put((1, "changed"), &[b'n'; 9000])?;
        tx.put((1, "created"), &[b'n'; 100])?;
        tx.commit()
    }

    fn open(&self, home: &Path) -> Result<(), Error> {
        open_trees(home).map(|trees| assert!(trees.recovered().iter().all(|one| one.preserved.is_empty())))
    }

    fn read(&self, home: &Path) -> Result<Tree, Error> {
        tree_of_roots(home, &["a", "b"])
    }

    fn raw(&self, home: &Path) -> Tree {
        let mut all = tree_without(home, ".txn");
        all.retain(|path, _| path.starts_with("a/") || path.starts_with("b/"));
        all
    }
}

fn open_folder(home: &Path) -> Result<OwnFolder, Error> {
    let options =
        FolderOptions { journal_bytes: 64 * 1024, journal_bytes_max: 0, ..FolderOptions::default() };
    OwnFolder::open(&home.join("folder"), &lock(home), options)
}

fn lock(home: &Path) -> PathBuf {
    home.join("locks/folder.lock")
}

fn open_trees(home: &Path) -> Result<Trees, Error> {
    Trees::open(&[&home.join("a"), &home.join("b")], TreeOptions::default(), &testkit::journals::trust)
}

/// Results by amount of space.
#[derive(Default, Debug)]
struct SpaceReport {
    aborted: usize,
    pending: usize,
    done: usize,
}

/// Commits with every amount of free space, from none to enough.
fn run_out_of_space(work: &dyn Work) -> Option<SpaceReport> {
    let mut seen = SpaceReport::default();
    for pages in 0..=PAGES_MAX {
        let bench = Bench::new()?;
        let home = bench.home();
        work.set_up(home);
        let old = work.raw(home);
        bench.leave_pages(pages);
        let expected = match work.commit(home) {
            Ok(CommitReport { pending: None, .. }) => {
                seen.done += 1;
                Some(Which::New)
            }
            Ok(_) => {
                seen.pending += 1;
                Some(Which::New)
            }
            Err(Failure { outcome: FailureOutcome::Aborted, .. }) => {
                seen.aborted += 1;
                assert_eq!(work.raw(home), old, "{pages} pages: it said that nothing changed");
                Some(Which::Old)
            }
            Err(Failure { outcome: FailureOutcome::Unknown, .. }) => None,
        };
        // The full disk is readable.
        let read = work.read(home).unwrap_or_else(|error| panic!("{pages} pages: reading: {error:?}"));
        // The next open may fail on the full disk. It must not damage the state.
        let _ = work.open(home);
        assert_eq!(
            work.read(home).unwrap(),
            read,
            "{pages} pages: an open on the full disk changed what is read"
        );
        bench.free_space();
        work.open(home).unwrap_or_else(|error| panic!("{pages} pages: opening: {error:?}"));
        assert_eq!(work.raw(home), read, "{pages} pages: recovery left something else than a reader saw");
        let which = if read == old { Which::Old } else { Which::New };
        assert!(
            expected.is_none_or(|expected| expected == which),
            "{pages} pages: {expected:?} expected, {which:?}"
        );
        if which == Which::New {
            let reference = Bench::new()?;
            work.set_up(reference.home());
            assert!(work.commit(reference.home()).unwrap().pending.is_none());
            assert_eq!(read, work.raw(reference.home()), "{pages} pages: a mixed state");
        }
    }
    Some(seen)
}

#[test]
fn a_folder_that_runs_out_of_space_is_all_old_or_all_new() {
    let Some(seen) = run_out_of_space(&Folder) else { return };
    // The journal is preallocated, so a commit succeeds on a full disk.
    assert!(seen.pending > 0 && seen.done > 0, "{seen:?}");
    report::figure("sizes of a full disk, own folder", PAGES_MAX + 1);
}

#[test]
fn trees_that_run_out_of_space_are_all_old_or_all_new() {
    let Some(seen) = run_out_of_space(&TwoTrees) else { return };
    assert!(seen.aborted > 0 && seen.done > 0, "{seen:?}");
    report::figure("sizes of a full disk, tree", PAGES_MAX + 1);
}

#[test]
fn a_disk_full_after_the_commit_point_is_published_at_the_next_open() {
    let Some(bench) = Bench::new() else { return };
    let home = bench.home();
    Folder.set_up(home);
    let old = Folder.raw(home);
    bench.leave_pages(0);
    let committed = Folder.commit(home).unwrap();
    let pending = committed.pending.expect("there is no space for the files");
    assert!(
        matches!(&pending, Error::GroupCommit { source } if matches!(&**source, Error::Io { .. })),
        "{pending:?}"
    );
    let seen = Folder.read(home).unwrap();
    assert_ne!(seen, old, "a reader sees what was committed");
    assert_ne!(Folder.raw(home), seen, "the files are not there yet");
    bench.free_space();
    Folder.open(home).unwrap();
    assert_eq!(Folder.raw(home), seen);
}

#[test]
fn a_read_only_disk_is_readable() {
    let Some(bench) = Bench::new() else { return };
    let home = bench.home();
    Folder.set_up(home);
    TwoTrees.set_up(home);
    // A commit is pending, so readers need the journal.
    bench.leave_pages(0);
    assert!(Folder.commit(home).unwrap().pending.is_some());
    bench.free_space();
    let (in_folder, in_trees) = (Folder.read(home).unwrap(), TwoTrees.read(home).unwrap());
    bench.disk.remount("ro").unwrap();
    let before = tree(home);
    assert_eq!(Folder.read(home).unwrap(), in_folder);
    assert_eq!(TwoTrees.read(home).unwrap(), in_trees);
    for (what, failed) in [("folder", Folder.commit(home)), ("trees", TwoTrees.commit(home))] {
        let failure = failed.expect_err("a read-only disk takes nothing");
        assert_eq!(failure.outcome, FailureOutcome::Aborted, "{what}");
        let message = format!("{:?}", failure.error);
        assert!(message.contains("ReadOnlyFilesystem") || message.contains("code: 30"), "{what}: {message}");
    }
    let failure = replace_file(&home.join("a/changed"), b"new", &ReplaceOptions::default()).unwrap_err();
    assert_eq!(failure.outcome, FailureOutcome::Aborted);
    assert_eq!(tree(home), before);
    bench.disk.remount("rw").unwrap();
    Folder.open(home).unwrap();
    assert_eq!(Folder.raw(home), in_folder);
}
