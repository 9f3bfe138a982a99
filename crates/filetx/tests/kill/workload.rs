//! The killed program, and the ways to read, recover and compare its files.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use filetx::{
    CommitReport, Error, Failure, FailureOutcome, FolderOptions, OwnFolder, Preserved, ReplaceOptions,
    Replacement, Snapshot, Step, Sweep, TreeOptions, Trees, Wait, replace_file,
};
use testkit::chain;
use testkit::folder::{Tree, tree, tree_of, tree_of_roots, tree_without};
use testkit::strace::{BEGIN, END};

const WORKLOAD: &str = "FILETX_KILL_WORKLOAD";
const WORK: &str = "FILETX_KILL_WORK";
const FOLDER: &str = "FILETX_KILL_FOLDER";

/// One commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Workload {
    /// `replace_file`.
    OneFile,
    /// An own folder: an append, a shorter and a longer file, a staged file, a removed file.
    OwnFolder,
    /// The same in a folder without a journal.
    FirstUse,
    /// A commit that finds the journal full.
    Checkpoint,
    /// A commit that is larger than the journal.
    Growth,
    /// Two user trees.
    Tree,
}

const ALL: [Workload; 6] = [
    Workload::OneFile,
    Workload::OwnFolder,
    Workload::FirstUse,
    Workload::Checkpoint,
    Workload::Growth,
    Workload::Tree,
];

/// The reported outcome of a commit, as an exit code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    Ok = 10,
    Pending = 11,
    Aborted = 12,
    Unknown = 13,
}

impl Outcome {
    pub(crate) fn of_code(code: i32) -> Option<Self> {
        [Self::Ok, Self::Pending, Self::Aborted, Self::Unknown]
            .into_iter()
            .find(|outcome| *outcome as i32 == code)
    }

    fn of(result: Result<CommitReport, Failure>) -> Self {
        match result {
            Ok(CommitReport { pending: None, .. }) => Self::Ok,
            Ok(_) => Self::Pending,
            Err(failure) => Self::of_failure(&failure),
        }
    }

    fn of_failure(failure: &Failure) -> Self {
        complain(failure);
        match failure.outcome {
            FailureOutcome::Aborted => Self::Aborted,
            FailureOutcome::Unknown => Self::Unknown,
        }
    }
}

impl Workload {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OneFile => "one file",
            Self::OwnFolder => "own folder",
            Self::FirstUse => "first use",
            Self::Checkpoint => "checkpoint",
            Self::Growth => "growth",
            Self::Tree => "tree",
        }
    }

    pub(crate) fn set_up(self, home: &Path) {
        match self {
            Self::OneFile => {
                put(home, "config", "old");
                fs::set_permissions(home.join("config"), fs::Permissions::from_mode(0o640)).unwrap();
            }
            Self::Tree => {
                for (path, text) in [
                    ("a/changed", "old"),
                    ("a/removed", "old"),
                    ("a/script", "old"),
                    ("a/sub/inner", "old"),
                    ("a/kind", "old"),
                    ("b/changed", "a longer old content"),
                    ("b/untouched", "same"),
                ] {
                    put(home, path, text);
                }
                symlink("changed", home.join("a/current")).unwrap();
                fs::create_dir(home.join("b/empty")).unwrap();
            }
            _ => {
                fs::create_dir(home.join("folder")).unwrap();
                fs::create_dir(home.join("locks")).unwrap();
                let old = [
                    ("messages", "1\n2\n"),
                    ("metadata", "{}"),
                    ("state", "a long old state"),
                    ("draft", "old"),
                ];
                if self == Self::FirstUse {
                    old.iter().for_each(|(path, text)| put(&home.join("folder"), path, text));
                    return;
                }
                let folder = self.open_folder(home).unwrap();
                let mut tx = folder.begin().unwrap();
                old.iter().for_each(|(path, text)| tx.put(*path, text.as_bytes()).unwrap());
                tx.put("filler", &[b'o'; 900]).unwrap();
                // Published, and still in the journal: recovery publishes it again.
                tx.append("filler", b"and more").unwrap();
                assert!(tx.commit().unwrap().pending.is_none());
            }
        }
    }

    /// Commits, and calls `acknowledge` after success.
    fn run(self, home: &Path, acknowledge: impl FnOnce()) -> Outcome {
        let outcome = match self {
            Self::OneFile => match replace_file(&home.join("config"), b"all new", &ReplaceOptions::default())
            {
                Ok(Replacement { .. }) => Outcome::Ok,
                Err(failure) => Outcome::of_failure(&failure),
            },
            Self::Tree => match open_trees(home) {
                Ok(mut trees) => {
                    let outcome = Outcome::of(commit_trees(&mut trees));
                    // The locks are released after this.
                    if outcome == Outcome::Ok {
                        acknowledge();
                    }
                    return outcome;
                }
                Err(error) => Outcome::of_failure(&error.into()),
            },
            _ => match self.open_folder(home) {
                Ok(folder) => Outcome::of(self.commit_folder(&folder)),
                Err(error) => Outcome::of_failure(&error.into()),
            },
        };
        if outcome == Outcome::Ok {
            acknowledge();
        }
        outcome
    }

    fn commit_folder(self, folder: &OwnFolder) -> Result<CommitReport, Failure> {
        let mut tx = folder.begin()?;
        tx.append("messages", b"3\n")?;
        tx.put("metadata", b"{\"count\": 3}")?;
        tx.put("state", b"short")?;
        tx.remove("draft")?;
        match self {
            Self::Checkpoint => tx.put("context", &[b'n'; 900])?,
            Self::Growth => tx.put("context", &[b'n'; 30_000])?,
            // Larger than the limit of inline content.
            _ => tx.put("context", &vec![b'n'; filetx::INLINE_BYTES_MAX + 1])?,
        }
        tx.commit()
    }

    /// Recovers, as the next program does. Returns the preserved content.
    pub(crate) fn recover(self, home: &Path) -> Result<Vec<Preserved>, Error> {
        match self {
            Self::OneFile => {
                // Nothing is pending; the next writer sweeps leftovers.
                let path = home.join("config");
                let options = ReplaceOptions { sweep: Sweep::Leftovers, ..ReplaceOptions::default() };
                let content = fs::read(&path).map_err(|source| Error::Io {
                    step: Step::Inspect,
                    path: path.clone(),
                    source,
                })?;
                replace_file(&path, &content, &options).map(|_| Vec::new()).map_err(|failure| failure.error)
            }
            Self::Tree => {
                let trees = open_trees(home)?;
                Ok(trees.recovered().iter().flat_map(|recovered| recovered.preserved.clone()).collect())
            }
            _ => self.open_folder(home).map(|folder| folder.take_preserved()),
        }
    }

    /// The state that a reader sees.
    pub(crate) fn read(self, home: &Path) -> Result<Tree, Error> {
        let wait = Wait::default();
        match self {
            Self::OneFile => {
                let mut tree = tree(home);
                tree.retain(|path, _| path == "config");
                Ok(tree)
            }
            Self::Tree => tree_of_roots(home, &["a", "b"]),
            _ => tree_of(&Snapshot::of_folder(&home.join("folder"), &lock(home), &wait)?),
        }
    }

    /// The state of the files.
    pub(crate) fn raw(self, home: &Path) -> Tree {
        match self {
            Self::OneFile => tree(home),
            Self::Tree => {
                let mut both = tree_without(home, ".txn");
                both.retain(|path, _| path.contains('/'));
                both
            }
            _ => tree_without(&home.join("folder"), ".txn"),
        }
    }

    /// Stray files of the transaction after recovery, and preserved content.
    pub(crate) fn strays(self, home: &Path) -> Vec<String> {
        let (homes, expected, staged): (&[&str], &[&str], usize) = match self {
            Self::OneFile => return Vec::new(),
            Self::Tree => (&["a/.txn", "b/.txn"], &["lock"], 0),
            // The journal may still name the staged file.
            Self::OwnFolder | Self::FirstUse => (&["folder/.txn"], &["journal", "published"], 1),
            Self::Checkpoint | Self::Growth => (&["folder/.txn"], &["journal", "published"], 0),
        };
        let mut strays = Vec::new();
        for txn in homes {
            let mut found: Vec<String> = tree(&home.join(txn)).into_keys().collect();
            let is_known = |path: &String| {
                path.starts_with(".git") || path == "stage" || expected.contains(&path.as_str())
            };
            found.retain(|path| !is_known(path));
            if found.len() > staged || !found.iter().all(|path| path.starts_with("stage/")) {
                strays.extend(found.into_iter().map(|path| format!("{txn}/{path}")));
            }
        }
        strays
    }

    fn open_folder(self, home: &Path) -> Result<OwnFolder, Error> {
        let journal_bytes = match self {
            Self::Checkpoint | Self::Growth => 0,
            _ => 64 * 1024,
        };
        OwnFolder::open(
            &home.join("folder"),
            &lock(home),
            FolderOptions { journal_bytes, journal_bytes_max: 0, ..FolderOptions::default() },
        )
    }
}

fn lock(home: &Path) -> PathBuf {
    home.join("locks/folder.lock")
}

fn open_trees(home: &Path) -> Result<Trees, Error> {
    Trees::open(&[&home.join("a"), &home.join("b")], TreeOptions::default(), &testkit::journals::trust)
}

fn commit_trees(trees: &mut Trees) -> Result<CommitReport, Failure> {
    let mut tx = trees.begin();
    tx.put((0, "changed"), b"all new")?;
    tx.put((0, "new/deep/file"), b"created")?;
    tx.remove((0, "removed"))?;
    tx.set_mode((0, "script"), 0o755)?;
    tx.symlink((0, "current"), "new".as_ref())?;
    tx.symlink((0, "latest"), "new/deep".as_ref())?;
    tx.remove((0, "kind"))?;
    tx.put((0, "kind/inside"), b"a folder now")?;
    tx.put((0, "sub/inner"), b"old and more")?;
    tx.put((1, "changed"), b"short")?;
    tx.put((1, "created"), b"created")?;
    tx.remove_folder((1, "empty"))?;
    tx.commit()
}

fn put(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
}

/// Reports the error to the parent. This may fail too.
fn complain(failure: &Failure) {
    let _ = writeln!(std::io::stderr(), "@{}", chain(failure));
}

/// Task of another process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Work {
    Commit,
    Recover,
}

/// Another process of this test.
pub(crate) struct Role {
    workload: Workload,
    work: Work,
    home: PathBuf,
}

impl Role {
    pub(crate) fn of_this_process() -> Option<Self> {
        let name = std::env::var(WORKLOAD).ok()?;
        let workload = ALL.into_iter().find(|one| one.name() == name).unwrap();
        let work = match &*std::env::var(WORK).unwrap() {
            "commit" => Work::Commit,
            _ => Work::Recover,
        };
        Some(Self { workload, work, home: std::env::var_os(FOLDER).unwrap().into() })
    }

    /// The command that starts it.
    pub(crate) fn command(workload: Workload, work: Work, home: &Path) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .env(WORKLOAD, workload.name())
            .env(WORK, if work == Work::Commit { "commit" } else { "recover" })
            .env(FOLDER, home)
            // Coverage is only written by processes that exit normally.
            .env("LLVM_PROFILE_FILE", "/dev/null");
        command
    }

    /// Runs the work and exits with its outcome.
    pub(crate) fn play(&self) -> ! {
        let look = |name: &str| drop(fs::symlink_metadata(self.home.join(name)));
        let acknowledge = || {
            // This write may fail too.
            let _ = std::io::stdout().write_all(b"@acknowledged\n");
        };
        look(BEGIN);
        let outcome = match self.work {
            Work::Commit => self.workload.run(&self.home, acknowledge),
            Work::Recover => match self.workload.recover(&self.home) {
                Ok(_) => Outcome::Ok,
                Err(error) => Outcome::of_failure(&error.into()),
            },
        };
        look(END);
        std::process::exit(outcome as i32)
    }
}
