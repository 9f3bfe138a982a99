//! Real power cuts: a program commits in a loop on ext4 or XFS, which is stopped at a random moment
//! and mounted again.
//!
//! Every commit writes its number to all of its files. After a cut, a reader and then recovery find
//! one number in all files: the last acknowledged one or the next. A control without syncs must
//! fail, which proves that the cuts are real.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate cleveragents_filetx as filetx;

use std::collections::BTreeMap;
use std::fs;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::process::Command;

use filetx::{
    CommitReport, Error, Failure, FailureOutcome, FolderOptions, OwnFolder, Snapshot, TreeOptions, Trees,
    Wait,
};
use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
use testkit::folder::{Tree, scratch, tree_of, tree_of_roots, tree_without};
use testkit::mount::{Cut, FileSystem, Image};
use testkit::power::{Moment, cut_while};
use testkit::seed::Replay;
use testkit::sim::Node;
use testkit::{report, seed};

const WRITER: &str = "FILETX_CUT_WRITER";
const FOLDER: &str = "FILETX_CUT_FOLDER";
const FROM: &str = "FILETX_CUT_FROM";

/// Cuts for each writer on each file system; there are two writers.
const CUTS: usize = 110;
const CUTS_IN_PROOF: usize = 1000;
/// Maximum number of cuts until the control fails.
const CUTS_OF_CONTROL: usize = 40;
/// Length of the answer of a commit.
const MOMENT: Moment = Moment { words_max: 12, delay_us_max: 4000 };

/// The writer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Writer {
    /// An own folder: one file grows, three files are replaced.
    Folder,
    /// Two user trees: six files are replaced, one is created and removed.
    Trees,
    /// Four files, each written to a temporary file and renamed, without a sync.
    Naive,
}

/// The answers of a writer before it ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Said {
    /// The last acknowledged number.
    acknowledged: u64,
    /// The next commit was aborted.
    aborted: bool,
}

#[test]
fn own_folders_survive_power_cuts_on_ext4() {
    survive("power-cut-ext4", FileSystem::Ext4, Writer::Folder);
}

#[test]
fn own_folders_survive_power_cuts_on_xfs() {
    survive("power-cut-xfs", FileSystem::Xfs, Writer::Folder);
}

#[test]
fn trees_survive_power_cuts_on_ext4() {
    survive("power-cut-ext4", FileSystem::Ext4, Writer::Trees);
}

#[test]
fn trees_survive_power_cuts_on_xfs() {
    survive("power-cut-xfs", FileSystem::Xfs, Writer::Trees);
}

#[test]
fn a_writer_without_syncs_is_detected_on_ext4() {
    is_caught("power-cut-ext4", FileSystem::Ext4);
}

#[test]
fn a_writer_without_syncs_is_detected_on_xfs() {
    is_caught("power-cut-xfs", FileSystem::Xfs);
}

/// The other process. A plain test run has no role.
#[test]
fn child() {
    let Ok(name) = std::env::var(WRITER) else { return };
    let writer =
        [Writer::Folder, Writer::Trees, Writer::Naive].into_iter().find(|one| one.name() == name).unwrap();
    let from = std::env::var(FROM).unwrap().parse().unwrap();
    writer.write(Path::new(&std::env::var_os(FOLDER).unwrap()), from);
}

fn survive(skip: &str, system: FileSystem, writer: Writer) {
    let seed = seed::from_env_or(u64::from(std::process::id()));
    let _replay = Replay::new("cleveragents-filetx", "--test power_cut", seed);
    let cuts = if report::is_proof() { CUTS_IN_PROOF } else { CUTS };
    let Some(mut bench) = Bench::new(skip, system, writer, seed) else { return };
    for number in 0..cuts {
        if let Err(reason) = bench.cut(number) {
            panic!("cut {number} of seed {seed}: {reason}");
        }
    }
    assert!(bench.from > 1, "no commit was ever made");
    report::figure(&format!("power cuts, {}, {}", system.name(), writer.name()), cuts);
}

fn is_caught(skip: &str, system: FileSystem) {
    let seed = seed::from_env_or(u64::from(std::process::id()));
    let _replay = Replay::new("cleveragents-filetx", "--test power_cut", seed);
    let Some(mut bench) = Bench::new(skip, system, Writer::Naive, seed) else { return };
    let caught = (0..CUTS_OF_CONTROL).any(|number| bench.cut(number).is_err());
    assert!(caught, "{CUTS_OF_CONTROL} cuts did nothing to a writer without syncs");
}

/// A file system with a writer on it.
struct Bench {
    image: Image,
    system: FileSystem,
    _scratch: tempfile::TempDir,
    writer: Writer,
    random: fastrand::Rng,
    /// The next number.
    from: u64,
}

impl Bench {
    fn new(skip: &str, system: FileSystem, writer: Writer, seed: u64) -> Option<Self> {
        let scratch = scratch();
        let tried = Image::new(scratch.path(), system).and_then(|image| {
            image.cut(Cut::Hard)?;
            image.power_on()?;
            Ok(image)
        });
        let image = match tried {
            Ok(image) => image,
            Err(reason) => {
                report::skipped(skip, &reason);
                return None;
            }
        };
        writer.set_up(image.point());
        // The test does not cover the creation of these folders.
        rustix::fs::sync();
        let random = fastrand::Rng::with_seed(seed);
        Some(Self { image, system, _scratch: scratch, writer, random, from: 1 })
    }

    /// Runs the writer, cuts the power, and checks the files.
    fn cut(&mut self, number: usize) -> Result<(), String> {
        let home = self.image.point().to_owned();
        let writer = command(self.writer, &home, self.from);
        let heard = cut_while(&self.image, writer, number, MOMENT, &mut self.random)?;
        let said = Said::of(self.from, &heard.all);
        let least = Said::of(self.from, heard.binding(self.system)).acknowledged;
        if !mounts_are_numbered(&home) {
            // This kernel does not distinguish the mounts; a restarted system would.
            let _ = fs::remove_file(home.join("folder/.txn/published"));
        }
        let found = self.writer.check(&home).map_err(|reason| format!("{said:?}, {reason}"))?;
        let most = if said.aborted { said.acknowledged } else { said.acknowledged + 1 };
        if found < least || found > most {
            return Err(format!("{said:?}, at least {least}, found number {found}"));
        }
        self.from = found + 1;
        Ok(())
    }
}

/// Returns true if the kernel has unique mount ids (since 6.8).
fn mounts_are_numbered(point: &Path) -> bool {
    let unique = StatxFlags::from_bits_retain(0x4000);
    let found = statx(CWD, point, AtFlags::empty(), unique).unwrap();
    StatxFlags::from_bits_retain(found.stx_mask).contains(unique)
}

fn command(writer: Writer, home: &Path, from: u64) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["child", "--exact", "--nocapture", "--test-threads=1"])
        .env(WRITER, writer.name())
        .env(FOLDER, home)
        .env(FROM, from.to_string());
    command
}

impl Said {
    fn of(from: u64, words: &[String]) -> Self {
        let mut said = Self { acknowledged: from - 1, aborted: false };
        for word in words {
            match word.as_str() {
                "aborted" => said.aborted = true,
                "unknown" => {}
                number => said.acknowledged = number.parse().unwrap(),
            }
        }
        said
    }
}

/// One write, because the test harness writes to the same pipe.
fn say(word: &str) {
    stdout().write_all(format!("@{word}\n").as_bytes()).unwrap();
}

impl Writer {
    fn name(self) -> &'static str {
        match self {
            Self::Folder => "own folder",
            Self::Trees => "trees",
            Self::Naive => "naive",
        }
    }

    fn set_up(self, home: &Path) {
        for folder in ["folder", "locks", "a", "b"] {
            fs::create_dir(home.join(folder)).unwrap();
        }
        if self == Self::Naive {
            write_naively(home, 0);
        }
    }

    /// Commits one number after the other until a commit fails.
    fn write(self, home: &Path, from: u64) {
        let mut number = from;
        while self.commit(home, &mut number) {}
    }

    /// Opens, and commits until a commit fails. Returns whether to continue.
    fn commit(self, home: &Path, number: &mut u64) -> bool {
        match self {
            Self::Folder => match open_folder(home) {
                Ok(folder) => {
                    while tell(*number, commit_folder(&folder, *number)) {
                        write_back(home, *number);
                        *number += 1;
                    }
                }
                Err(_) => say("aborted"),
            },
            Self::Trees => match open_trees(home) {
                Ok(mut trees) => {
                    while tell(*number, commit_trees(&mut trees, *number)) {
                        *number += 1
                    }
                }
                Err(_) => say("aborted"),
            },
            Self::Naive => {
                while fs::symlink_metadata(home.join("folder")).is_ok() && write_naively(home, *number) {
                    say(&number.to_string());
                    *number += 1;
                }
            }
        }
        false
    }

    /// The number of all files, for a reader and after recovery.
    fn check(self, home: &Path) -> Result<u64, String> {
        let seen = self.read(home).map_err(|error| format!("reading: {error:?}"))?;
        let seen = self.number(&seen).map_err(|reason| format!("a reader saw {reason}"))?;
        let kept = match self {
            Self::Folder => open_folder(home).map(|folder| folder.take_preserved()),
            Self::Trees => {
                let kept =
                    |trees: Trees| trees.recovered().iter().flat_map(|one| one.preserved.clone()).collect();
                open_trees(home).map(kept)
            }
            Self::Naive => Ok(Vec::new()),
        };
        let kept = kept.map_err(|error| format!("recovering: {error:?}"))?;
        // In an own folder, a torn write may look like an edit. In a tree, no file is torn.
        if self == Self::Trees && !kept.is_empty() {
            return Err(format!("without edits, recovery preserved {kept:?}"));
        }
        let left = self.number(&self.raw(home)).map_err(|reason| format!("recovery left {reason}"))?;
        if left == seen { Ok(left) } else { Err(format!("a reader saw {seen}, recovery left {left}")) }
    }

    fn read(self, home: &Path) -> Result<Tree, Error> {
        let wait = Wait::default();
        match self {
            Self::Folder => tree_of(&Snapshot::of_folder(&home.join("folder"), &lock(home), &wait)?),
            Self::Trees => tree_of_roots(home, &["a", "b"]),
            Self::Naive => Ok(self.raw(home)),
        }
    }

    fn raw(self, home: &Path) -> Tree {
        match self {
            Self::Folder | Self::Naive => tree_without(&home.join("folder"), ".txn"),
            Self::Trees => {
                let mut all = tree_without(home, ".txn");
                all.retain(|path, _| path.starts_with("a/") || path.starts_with("b/"));
                all
            }
        }
    }

    /// The number of a tree, if all files agree.
    fn number(self, tree: &Tree) -> Result<u64, String> {
        let contents: BTreeMap<&str, &[u8]> = tree
            .iter()
            .filter_map(|(path, node)| match node {
                Node::File { content, .. } if !path.ends_with(".tmp") => Some((&**path, &**content)),
                _ => None,
            })
            .collect();
        let last = contents.get("messages").or_else(|| contents.get("a/0")).copied().unwrap_or_default();
        let line = String::from_utf8_lossy(last).lines().last().unwrap_or("0").to_owned();
        let number: u64 = line.trim().parse().map_err(|_| format!("{tree:?}"))?;
        let expected = self.files(number);
        let expected: BTreeMap<&str, &[u8]> =
            expected.iter().map(|(path, text)| (&**path, text.as_bytes())).collect();
        if contents == expected { Ok(number) } else { Err(format!("a mixed state about {number}: {tree:?}")) }
    }

    /// All files after commit `number`.
    fn files(self, number: u64) -> BTreeMap<String, String> {
        if number == 0 && self != Self::Naive {
            return BTreeMap::new();
        }
        match self {
            Self::Folder | Self::Naive => {
                let lines: String = (1..=number).map(line).collect();
                let replaced =
                    ["context", "metadata", "state"].map(|name| (name.to_owned(), text(name, number)));
                let messages = if self == Self::Naive { line(number) } else { lines };
                replaced.into_iter().chain([("messages".to_owned(), messages)]).collect()
            }
            Self::Trees => {
                let mut files: BTreeMap<_, _> =
                    (0..6).map(|index| (tree_path(index), tree_text(index, number))).collect();
                if number.is_multiple_of(2) {
                    files.insert("b/even".to_owned(), line(number));
                }
                files
            }
        }
    }
}

/// Reports the result of a commit. Returns `false` if continuing is useless.
fn tell(number: u64, result: Result<CommitReport, Failure>) -> bool {
    match result {
        Ok(committed) => {
            assert!(committed.preserved.is_empty(), "no other program edited a file");
            say(&number.to_string());
            committed.pending.is_none()
        }
        Err(failure) => {
            say(if failure.outcome == FailureOutcome::Aborted { "aborted" } else { "unknown" });
            false
        }
    }
}

fn open_folder(home: &Path) -> Result<OwnFolder, Error> {
    // Small, so that checkpoints are frequent.
    let options =
        FolderOptions { journal_bytes: 16 * 1024, journal_bytes_max: 0, ..FolderOptions::default() };
    OwnFolder::open(&home.join("folder"), &lock(home), options)
}

fn lock(home: &Path) -> PathBuf {
    home.join("locks/folder.lock")
}

fn commit_folder(folder: &OwnFolder, number: u64) -> Result<CommitReport, Failure> {
    let mut tx = folder.begin()?;
    tx.append("messages", line(number).as_bytes())?;
    for name in ["context", "metadata", "state"] {
        tx.put(name, text(name, number).as_bytes())?;
    }
    tx.commit()
}

/// Syncs a random file, as the system may do at any time, so that it becomes durable before the
/// others.
fn write_back(home: &Path, number: u64) {
    let files =
        [".txn/published", "messages", ".txn/published", "context", "metadata", ".txn/published", "state"];
    if let Some(file) = files.get(number as usize % (2 * files.len())) {
        // Fails after a cut, like the next commit.
        let _ = fs::File::open(home.join("folder").join(file)).and_then(|file| file.sync_data());
    }
}

fn open_trees(home: &Path) -> Result<Trees, Error> {
    Trees::open(&[&home.join("a"), &home.join("b")], TreeOptions::default(), &testkit::journals::trust)
}

fn commit_trees(trees: &mut Trees, number: u64) -> Result<CommitReport, Failure> {
    let mut tx = trees.begin();
    for index in 0..6 {
        let path = tree_path(index);
        let root = usize::from(path.starts_with("b/"));
        tx.put((root, &path[2..]), tree_text(index, number).as_bytes())?;
    }
    if number.is_multiple_of(2) {
        tx.put((1, "even"), line(number).as_bytes())?;
    } else if number > 1 {
        tx.remove((1, "even"))?;
    }
    tx.commit()
}

fn write_naively(home: &Path, number: u64) -> bool {
    let files = Writer::Naive.files(number);
    files.iter().all(|(name, text)| {
        let (path, beside) =
            (home.join("folder").join(name), home.join("folder").join(format!("{name}.tmp")));
        fs::write(&beside, text).and_then(|()| fs::rename(&beside, &path)).is_ok()
    })
}

fn line(number: u64) -> String {
    format!("{number}\n")
}

/// Content of varying length, up to more than a page.
fn text(name: &str, number: u64) -> String {
    let repeated = (number * 7 + name.len() as u64) % 90;
    format!("{name} {number}\n").repeat(1 + repeated as usize)
}

fn tree_path(index: usize) -> String {
    format!("{}/{index}", if index < 3 { "a" } else { "b" })
}

fn tree_text(index: usize, number: u64) -> String {
    match index {
        0 => line(number),
        _ => text(&format!("file {index}"), number),
    }
}
