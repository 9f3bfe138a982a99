//! Edits between crash and recovery, with real tools: git and editors, after a tree commit was
//! killed at each of its steps.
//!
//! No edit is lost: it stays in place, or is reported and preserved. Nothing is half-applied: every
//! path has its target state, or is reported, or nothing is pending and recovery changes nothing. A
//! journal of a newer program or a corrupt one is refused, without changes.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate cleveragents_filetx as filetx;

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use filetx::{
    CommitReport, Error, Failure, FolderOptions, OwnFolder, RelPath, Snapshot, TreeOptions, Trees, Wait,
};
use testkit::folder::{Tree, copy, scratch, tree, tree_without};
use testkit::report;
use testkit::sim::Node;
use testkit::strace::{self, BEGIN, Call, END, Inject};

const FOLDER: &str = "FILETX_PEOPLE_FOLDER";
/// Content that an editor saves.
const WORDS: &[u8] = b"a person's words";
/// The transaction folder, below a folder that git ignores, as in the program.
const HOME: &str = ".tool/.txn";
/// The changes of the transaction.
const PATHS: [&str; 8] =
    ["changed", "sub/changed", "removed", "script", "link", "new", "new/file", "replaced-link"];
const MAGIC: &[u8] = b"filetx\0\n";
const SLOTS: [usize; 2] = [0, 4096];
const RECORDS: usize = 8192;

/// Runs before `main`, so that a child has one thread and no test harness: strace counts calls by
/// thread.
#[expect(unsafe_code, reason = "a static in this section is a function that the loader calls")]
#[used]
// SAFETY: the loader calls what is listed here with C's calling convention; the function takes
// nothing and does not unwind.
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = {
    extern "C" fn start() {
        let Some(root) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
        let look = |name: &str| drop(fs::symlink_metadata(root.join(name)));
        look(BEGIN);
        let committed = commit(&root)
            .is_ok_and(|committed| committed.pending.is_none() && committed.preserved.is_empty());
        look(END);
        std::process::exit(i32::from(!committed))
    }
    start
};

fn options() -> TreeOptions {
    TreeOptions { txn_dir: RelPath::new(HOME).unwrap(), ..TreeOptions::default() }
}

fn commit(root: &Path) -> Result<CommitReport, Failure> {
    let mut trees = Trees::open(&[root], options(), &testkit::journals::trust)?;
    let mut tx = trees.begin();
    tx.put("changed", b"new content")?;
    tx.put("sub/changed", b"old and more")?;
    tx.remove("removed")?;
    tx.set_mode("script", 0o755)?;
    tx.symlink("link", "changed".as_ref())?;
    tx.put("new/file", b"created")?;
    tx.symlink("replaced-link", "sub".as_ref())?;
    tx.commit()
}

/// An edit between crash and recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Act {
    Git(&'static [&'static str]),
    /// Truncates the file and writes.
    SaveInPlace(&'static str),
    /// Writes a temporary file and renames it.
    SaveByRename(&'static str),
    Remove(&'static str),
}

impl Act {
    fn perform(self, root: &Path) {
        match self {
            Act::Git(arguments) => git(root, arguments),
            Act::SaveInPlace(path) => {
                let path = root.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, WORDS).unwrap();
            }
            Act::SaveByRename(path) => {
                let path = root.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                let beside = root.join("4913~");
                fs::write(&beside, WORDS).unwrap();
                fs::rename(beside, path).unwrap();
            }
            Act::Remove(path) => drop(fs::remove_file(root.join(path))),
        }
    }

    fn writes(self) -> bool {
        matches!(self, Act::SaveInPlace(_) | Act::SaveByRename(_))
    }
}

/// A repository with a commit to be killed.
struct Bench {
    _scratch: tempfile::TempDir,
    root: PathBuf,
    start: PathBuf,
    /// The kill points: one for each step.
    steps: Vec<Call>,
    new: Tree,
}

impl Bench {
    /// Returns `None` and reports a skip if strace or git is missing.
    fn new() -> Option<Self> {
        let no_git =
            Command::new("git").arg("--version").output().is_err().then(|| "git does not start".to_owned());
        if let Some(reason) = strace::unusable().or(no_git) {
            report::skipped("people", &reason);
            return None;
        }
        let scratch = scratch();
        let (root, start) = (scratch.path().join("root"), scratch.path().join("start"));
        fs::create_dir(&root).unwrap();
        for path in ["changed", "sub/changed", "removed", "script", "other", ".tool/.gitignore"] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, if path.ends_with(".gitignore") { "*" } else { "old" }).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        }
        symlink("other", root.join("replaced-link")).unwrap();
        git(&root, &["init", "-q"]);
        git(&root, &["add", "-A"]);
        git(&root, &["commit", "-q", "-m", "first"]);
        // Uncommitted work of the person.
        fs::write(root.join("other"), "changed by the person").unwrap();
        fs::write(root.join("notes"), "of the person").unwrap();
        copy(&root, &start);
        let calls = strace::calls(&child(&root), &scratch.path().join("log"));
        let new = people_tree(&root);
        let mut known = HashSet::new();
        let steps = calls.into_iter().filter(|call| call.changes() && known.insert(call.step())).collect();
        Some(Self { _scratch: scratch, root, start, steps, new })
    }

    fn crash(&self, step: &Call) {
        copy(&self.start, &self.root);
        let ended = strace::run(&child(&self.root), step, Inject::Kill);
        assert!(ended.killed, "{step:?}: {ended:?}");
    }

    /// Kills at a step, edits, recovers, and checks.
    fn check(&self, step: &Call, act: Act) -> Result<(), String> {
        self.crash(step);
        let waiting = self.is_waiting();
        act.perform(&self.root);
        let left = people_tree(&self.root);
        let trees = Trees::open(&[&self.root], options(), &testkit::journals::trust)
            .map_err(|error| format!("recovering: {error:?}"))?;
        let kept: Vec<_> = trees.recovered().iter().flat_map(|one| one.preserved.clone()).collect();
        drop(trees);
        let found = people_tree(&self.root);
        let is_kept = |path: &str| kept.iter().any(|one| one.path == self.root.join(path));
        for path in left.keys().chain(found.keys()).map(String::as_str).chain(PATHS) {
            let (left, found, new) = (left.get(path), found.get(path), self.new.get(path));
            let as_left = left == found;
            let ours = waiting && PATHS.contains(&path) && !is_kept(path);
            let saved = matches!(found, Some(Node::File { content, .. }) if content == WORDS);
            // An edit of a published file is simply a newer version.
            if if ours { found != new && !(saved && as_left) } else { !as_left } {
                return Err(format!(
                    "`{path}` was left as {left:?} and is {found:?}; waiting: {waiting}, {kept:?}"
                ));
            }
        }
        for aside in kept.iter().filter_map(|one| one.preserved_at.as_ref()) {
            fs::symlink_metadata(aside)
                .map_err(|error| format!("{} is not there: {error}", aside.display()))?;
        }
        if act.writes() && !self.has_words() {
            return Err(format!("the person's words are gone; {kept:?}"));
        }
        let again = Trees::open(&[&self.root], options(), &testkit::journals::trust)
            .map_err(|error| format!("opening again: {error:?}"))?;
        if !again.recovered().is_empty() || people_tree(&self.root) != found {
            return Err(format!("a second open did something: {:?}", again.recovered()));
        }
        Ok(())
    }

    /// Returns true if the transaction is committed and pending. A reader sees it in that case.
    fn is_waiting(&self) -> bool {
        let waiting = self.root.join(HOME).join("journal").exists();
        let snapshot =
            Snapshot::of_tree(&self.root, &options().txn_dir, &Wait::default(), &testkit::journals::trust)
                .unwrap();
        let state = if waiting { &self.new } else { &people_tree(&self.root) };
        let Some(Node::File { content, .. }) = state.get("changed") else { panic!("it is always there") };
        assert_eq!(snapshot.read("changed").unwrap().as_ref(), Some(content), "what a reader sees");
        waiting
    }

    fn has_words(&self) -> bool {
        let has = |node: &Node| matches!(node, Node::File { content, .. } if content == WORDS);
        people_tree(&self.root).values().any(has) || tree(&self.root.join(HOME)).values().any(has)
    }
}

/// The visible files, without those of git and of the transaction folder.
fn people_tree(root: &Path) -> Tree {
    let mut tree = tree_without(root, ".git");
    tree.retain(|path, _| !path.starts_with(".tool"));
    tree
}

fn child(root: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(FOLDER, root).env("LLVM_PROFILE_FILE", "/dev/null");
    command
}

fn git(root: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=a person", "-c", "user.email=person@example.invalid"])
        .args(arguments)
        .current_dir(root)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Tries edits at every step.
fn try_acts(name: &str, acts: &[Act]) {
    let Some(bench) = Bench::new() else { return };
    let mut failures = Vec::new();
    for step in &bench.steps {
        for act in acts {
            if let Err(reason) = bench.check(step, *act) {
                failures.push(format!("killed at {}, then {act:?}: {reason}", step.step()));
            }
        }
    }
    let tried = bench.steps.len() * acts.len();
    report::figure(&format!("people's acts after a kill, {name}"), tried);
    let shown = failures.iter().take(5).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} of {tried} failed\n{shown}", failures.len());
}

#[test]
fn git_commands_between_crash_and_recovery_lose_nothing() {
    try_acts(
        "git",
        &[
            Act::Git(&["checkout", "."]),
            Act::Git(&["clean", "-xdf"]),
            Act::Git(&["stash"]),
            Act::Git(&["stash", "-u"]),
            Act::Git(&["reset", "-q", "--hard"]),
            Act::Git(&["add", "-A"]),
        ],
    );
}

#[test]
fn edits_between_crash_and_recovery_are_not_lost() {
    try_acts(
        "editor",
        &[
            Act::SaveInPlace("changed"),
            Act::SaveByRename("changed"),
            Act::SaveInPlace("removed"),
            Act::SaveByRename("removed"),
            Act::SaveInPlace("new/file"),
            Act::SaveByRename("new/file"),
            Act::SaveByRename("replaced-link"),
            Act::SaveInPlace("notes"),
            Act::Remove("changed"),
            Act::Remove("removed"),
        ],
    );
}

/// All files below a folder, without lock files.
fn everything(root: &Path) -> Tree {
    let mut all = tree(root);
    all.retain(|path, _| !path.ends_with("/lock") && !path.ends_with(".lock"));
    all
}

/// A change of a journal, and the expected error.
type Way = (fn(&mut [u8]), fn(&Error) -> bool);

/// Sets the format version of a journal to a newer one.
fn make_newer(journal: &mut [u8]) {
    for slot in SLOTS.into_iter().filter(|slot| journal[*slot..].starts_with(MAGIC)).collect::<Vec<_>>() {
        journal[slot + 8..slot + 12].copy_from_slice(&99_u32.to_le_bytes());
    }
}

fn damage_header(journal: &mut [u8]) {
    SLOTS.iter().for_each(|slot| journal[slot + 20] ^= 1);
}

fn damage_record(journal: &mut [u8]) {
    journal[RECORDS + 100] ^= 1;
}

fn is_newer(error: &Error) -> bool {
    matches!(error, Error::UnsupportedVersion { found: 99, .. })
}

fn is_damaged(error: &Error) -> bool {
    matches!(error, Error::CorruptJournal { .. })
}

#[test]
fn an_invalid_journal_of_a_tree_is_refused() {
    let Some(bench) = Bench::new() else { return };
    let placed =
        bench.steps.iter().position(|call| call.step().contains("journal.tmp .txn journal")).unwrap();
    let ways: [Way; 3] = [(make_newer, is_newer), (damage_header, is_damaged), (damage_record, is_damaged)];
    for (index, (change, is_expected)) in ways.into_iter().enumerate() {
        // Killed during publishing, so that recovery would have work.
        bench.crash(&bench.steps[placed + 10]);
        let journal = bench.root.join(HOME).join("journal");
        let mut bytes = fs::read(&journal).unwrap();
        change(&mut bytes);
        fs::write(&journal, bytes).unwrap();
        let before = everything(&bench.root);
        let writing =
            Trees::open(&[&bench.root], options(), &testkit::journals::trust).map(|_| ()).unwrap_err();
        assert!(is_expected(&writing), "way {index}: {writing:?}");
        let reading =
            Snapshot::of_tree(&bench.root, &options().txn_dir, &Wait::default(), &testkit::journals::trust)
                .map(|_| ())
                .unwrap_err();
        assert!(is_expected(&reading), "way {index}: {reading:?}");
        assert_eq!(everything(&bench.root), before, "way {index}");
    }
}

#[test]
fn an_invalid_journal_of_an_own_folder_is_refused() {
    let ways: [Way; 2] = [(make_newer, is_newer), (damage_header, is_damaged)];
    for (index, (change, is_expected)) in ways.into_iter().enumerate() {
        let scratch = scratch();
        let (folder, lock) = (scratch.path().join("folder"), scratch.path().join("folder.lock"));
        fs::create_dir(&folder).unwrap();
        let open = || OwnFolder::open(&folder, &lock, FolderOptions::default());
        let opened = open().unwrap();
        let mut tx = opened.begin().unwrap();
        tx.put("state", b"old").unwrap();
        assert!(tx.commit().unwrap().pending.is_none());
        drop(opened);
        // Without the watermark, so that recovery would have work.
        fs::remove_file(folder.join(".txn/published")).unwrap();
        fs::write(folder.join("state"), "half").unwrap();
        let journal = folder.join(".txn/journal");
        let mut bytes = fs::read(&journal).unwrap();
        change(&mut bytes);
        fs::write(&journal, bytes).unwrap();
        let before = everything(scratch.path());
        let writing = open().map(|_| ()).unwrap_err();
        assert!(is_expected(&writing), "way {index}: {writing:?}");
        let reading = Snapshot::of_folder(&folder, &lock, &Wait::default()).map(|_| ()).unwrap_err();
        assert!(is_expected(&reading), "way {index}: {reading:?}");
        assert_eq!(everything(scratch.path()), before, "way {index}");
    }
}
