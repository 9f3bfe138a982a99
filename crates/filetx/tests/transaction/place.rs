//! The folder of one test, its content as lines of text, and the checks of every operation.
//!
//! A line is `file=text`, `folder/` or `link->target`. A mode other than the default follows the
//! path: `file:640=text`, `folder/:700`.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use filetx::{
    CommitReport, ContentReader, Error, Failure, FailureOutcome, FolderOptions, FolderTransaction, Observed,
    OwnFolder, PathState, RelPath, Result, Snapshot, StagedFile, ToTxPath, TreeOptions, TreeTransaction,
    Trees, Wait,
};
use tempfile::TempDir;

/// The two policies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Policy {
    OwnFolder,
    UserTree,
}

/// A root folder `root`, a folder `outside` that must not change, and a lock file.
pub(crate) struct Place {
    folder: TempDir,
    pub(crate) policy: Policy,
}

/// Runs a case with both policies, each in its own folder.
pub(crate) fn on_both(case: impl Fn(&Place)) {
    for policy in [Policy::OwnFolder, Policy::UserTree] {
        eprintln!("with policy {policy:?}");
        case(&Place::new(policy));
    }
}

/// Checks with both policies that `work` turns `start` into `expected`. The transaction sees it
/// before the commit, the disk and a reader only after the commit, and no leftovers remain.
pub(crate) fn check(start: &[&str], work: impl Fn(&mut Tx<'_, '_>) -> Result<()>, expected: &[&str]) {
    on_both(|place| place.check(start, &work, expected));
}

/// The same in an own folder.
pub(crate) fn check_folder(start: &[&str], work: impl Fn(&mut Tx<'_, '_>) -> Result<()>, expected: &[&str]) {
    Place::new(Policy::OwnFolder).check(start, &work, expected);
}

/// The same in a tree.
pub(crate) fn check_tree(start: &[&str], work: impl Fn(&mut Tx<'_, '_>) -> Result<()>, expected: &[&str]) {
    Place::new(Policy::UserTree).check(start, &work, expected);
}

/// Checks with both policies that `work` is refused with this variant and a text that names `path`.
/// It stages nothing, and the transaction continues.
pub(crate) fn refused(
    start: &[&str],
    work: impl Fn(&mut Tx<'_, '_>) -> Result<()>,
    variant: &str,
    path: &str,
) {
    on_both(|place| place.refused(start, &work, variant, path));
}

/// The same in an own folder.
pub(crate) fn refused_folder(
    start: &[&str],
    work: impl Fn(&mut Tx<'_, '_>) -> Result<()>,
    variant: &str,
    path: &str,
) {
    Place::new(Policy::OwnFolder).refused(start, &work, variant, path);
}

/// The same in a tree.
pub(crate) fn refused_tree(
    start: &[&str],
    work: impl Fn(&mut Tx<'_, '_>) -> Result<()>,
    variant: &str,
    path: &str,
) {
    Place::new(Policy::UserTree).refused(start, &work, variant, path);
}

/// A transaction of either policy. A call that its policy does not have panics.
pub(crate) enum Tx<'a, 'b> {
    Folder(&'a mut FolderTransaction<'b>),
    Tree(&'a mut TreeTransaction<'b>),
}

/// Calls that both policies have.
macro_rules! shared {
    ($($name:ident($($arg:ident: $type:ty),*) -> $result:ty;)*) => {
        impl Tx<'_, '_> {
            $(pub(crate) fn $name(&mut self, $($arg: $type),*) -> $result {
                match self {
                    Tx::Folder(tx) => tx.$name($($arg),*),
                    Tx::Tree(tx) => tx.$name($($arg),*),
                }
            })*
        }
    };
}

shared! {
    put(at: impl ToTxPath, bytes: &[u8]) -> Result<()>;
    stage(root: usize) -> Result<StagedFile>;
    put_staged(at: impl ToTxPath, file: StagedFile) -> Result<()>;
    remove(at: impl ToTxPath) -> Result<()>;
    path_state(at: impl ToTxPath) -> Result<PathState>;
    read(at: impl ToTxPath) -> Result<Option<Vec<u8>>>;
    open(at: impl ToTxPath) -> Result<Option<ContentReader>>;
    list(at: impl ToTxPath) -> Result<Vec<std::ffi::OsString>>;
}

impl<'b> Tx<'_, 'b> {
    fn folder(&mut self) -> &mut FolderTransaction<'b> {
        let Tx::Folder(tx) = self else { panic!("only own folders can do this") };
        tx
    }

    pub(crate) fn tree(&mut self) -> &mut TreeTransaction<'b> {
        let Tx::Tree(tx) = self else { panic!("only trees can do this") };
        tx
    }

    pub(crate) fn append(&mut self, at: impl ToTxPath, bytes: &[u8]) -> Result<()> {
        self.folder().append(at, bytes)
    }

    pub(crate) fn truncate(&mut self, at: impl ToTxPath, len: u64) -> Result<()> {
        self.folder().truncate(at, len)
    }

    pub(crate) fn rename(&mut self, from: impl ToTxPath, to: impl ToTxPath) -> Result<()> {
        self.folder().rename(from, to)
    }

    pub(crate) fn set_mode(&mut self, at: impl ToTxPath, mode: u32) -> Result<()> {
        self.tree().set_mode(at, mode)
    }

    pub(crate) fn symlink(&mut self, at: impl ToTxPath, target: &std::ffi::OsStr) -> Result<()> {
        self.tree().symlink(at, target)
    }

    pub(crate) fn remove_folder(&mut self, at: impl ToTxPath) -> Result<()> {
        self.tree().remove_folder(at)
    }

    pub(crate) fn observe(&mut self, at: impl ToTxPath) -> Result<&Observed> {
        self.tree().observe(at)
    }
}

impl Place {
    fn check(&self, start: &[&str], work: &impl Fn(&mut Tx<'_, '_>) -> Result<()>, expected: &[&str]) {
        let place = self;
        place.make(start);
        let start = place.lines();
        place.aborted(|tx| {
            work(tx).unwrap();
            assert_eq!(place.lines_of(tx), sorted(expected), "as the transaction sees it");
        });
        assert_eq!(place.lines(), start, "after a transaction that was dropped");
        place.change(work);
        assert_eq!(place.lines(), sorted(expected), "after the commit");
        assert_eq!(place.lines_of(&mut place.snapshot()), sorted(expected), "as a reader sees it");
        place.assert_tidy();
    }

    fn refused(
        &self,
        start: &[&str],
        work: &impl Fn(&mut Tx<'_, '_>) -> Result<()>,
        variant: &str,
        path: &str,
    ) {
        let place = self;
        place.make(start);
        let start = place.lines();
        let committed = place.try_change(|tx| {
            let error = work(tx).expect_err("it was not refused");
            place.assert_error(&error, variant, path);
            assert_eq!(place.lines_of(tx), start, "what the refused call staged");
            Ok(())
        });
        assert!(committed.unwrap().pending.is_none());
        assert_eq!(place.lines(), start, "after the commit of nothing");
        place.assert_nothing_left();
    }
}

impl Place {
    pub(crate) fn new(policy: Policy) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["root", "outside"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("outside/secret"), "secret").unwrap();
        Self { folder, policy }
    }

    /// A path below the root.
    pub(crate) fn root(&self, path: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join("root").join(path)
    }

    /// A path below the folder `outside`.
    pub(crate) fn outside(&self, path: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join("outside").join(path)
    }

    pub(crate) fn lock_file(&self) -> PathBuf {
        match self.policy {
            Policy::OwnFolder => self.folder.path().join("lock"),
            Policy::UserTree => self.root(".txn/lock"),
        }
    }

    pub(crate) fn open_folder(&self) -> OwnFolder {
        self.open_folder_with(FolderOptions::default())
    }

    pub(crate) fn open_folder_with(&self, options: FolderOptions) -> OwnFolder {
        OwnFolder::open(&self.root(""), &self.folder.path().join("lock"), options).unwrap()
    }

    pub(crate) fn open_trees(&self) -> Trees {
        Trees::open(&[&self.root("")], TreeOptions::default(), &testkit::journals::trust).unwrap()
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        self.try_snapshot(&Wait::default()).unwrap()
    }

    pub(crate) fn try_snapshot(&self, wait: &Wait) -> Result<Snapshot> {
        match self.policy {
            Policy::OwnFolder => Snapshot::of_folder(&self.root(""), &self.lock_file(), wait),
            Policy::UserTree => Snapshot::of_tree(
                &self.root(""),
                &TreeOptions::default().txn_dir,
                wait,
                &testkit::journals::trust,
            ),
        }
    }

    /// Runs `work` in a transaction, and commits it if asked.
    fn in_transaction<T>(
        &self,
        work: impl FnOnce(&mut Tx<'_, '_>) -> T,
        commits: impl FnOnce(T) -> Result<bool>,
    ) -> Ended {
        let aborted = || Failure { outcome: FailureOutcome::Aborted, error: Error::Superseded };
        match self.policy {
            Policy::OwnFolder => {
                let folder = self.open_folder();
                let mut tx = folder.begin().unwrap();
                let result = work(&mut Tx::Folder(&mut tx));
                if commits(result)? { tx.commit() } else { Err(aborted()) }
            }
            Policy::UserTree => {
                let mut trees = self.open_trees();
                let mut tx = trees.begin();
                let result = work(&mut Tx::Tree(&mut tx));
                if commits(result)? { tx.commit() } else { Err(aborted()) }
            }
        }
    }

    /// Stages and commits, unless staging fails.
    pub(crate) fn try_change(&self, work: impl FnOnce(&mut Tx<'_, '_>) -> Result<()>) -> Ended {
        self.in_transaction(work, |result| result.map(|()| true))
    }

    /// Stages and commits, and checks that everything is published.
    pub(crate) fn change(&self, work: impl FnOnce(&mut Tx<'_, '_>) -> Result<()>) {
        let committed = self.try_change(work).unwrap();
        assert_eq!(committed.preserved, []);
        assert!(committed.pending.is_none(), "{:?}", committed.pending);
    }

    /// Stages, and drops the transaction.
    pub(crate) fn aborted(&self, work: impl FnOnce(&mut Tx<'_, '_>)) {
        assert!(self.in_transaction(work, |()| Ok(false)).is_err());
        self.assert_nothing_left();
    }

    /// Creates the files of the lines, as a person would.
    pub(crate) fn make(&self, lines: &[&str]) {
        for line in lines {
            if let Some((path, target)) = line.split_once("->") {
                symlink(target, self.root(path)).unwrap();
                continue;
            }
            let (name, text) = line.split_once('=').map_or((*line, None), |(name, text)| (name, Some(text)));
            let (path, mode) = name.split_once(':').map_or((name, None), |(path, mode)| (path, Some(mode)));
            let at = self.root(path);
            let mut own = self.folder_mode();
            if let Some(text) = text {
                fs::write(&at, text).unwrap();
                own = self.file_mode();
            } else {
                fs::create_dir(&at).unwrap();
            }
            let mode = mode.map_or(own, |mode| u32::from_str_radix(mode, 8).unwrap());
            fs::set_permissions(&at, fs::Permissions::from_mode(mode)).unwrap();
        }
    }

    /// The content of the root, without the transaction folder, sorted.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        self.add_lines(&mut lines, &self.root(""), "");
        lines.sort();
        lines
    }

    fn add_lines(&self, lines: &mut Vec<String>, folder: &Path, prefix: &str) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{prefix}{}", entry.file_name().display());
            let kind = entry.file_type().unwrap();
            if path == ".txn" {
                continue;
            }
            let mode = entry.metadata().unwrap().permissions().mode() & 0o7777;
            if kind.is_symlink() {
                lines.push(format!("{path}->{}", fs::read_link(entry.path()).unwrap().display()));
            } else if kind.is_dir() {
                lines.push(self.folder_line(&path, mode));
                self.add_lines(lines, &entry.path(), &format!("{path}/"));
            } else if kind.is_file() {
                lines.push(self.file_line(&path, mode, &fs::read(entry.path()).unwrap()));
            } else {
                lines.push(format!("{path}?"));
            }
        }
    }

    /// The same in the view of a transaction or reader.
    pub(crate) fn lines_of(&self, view: &mut impl View) -> Vec<String> {
        let mut lines = Vec::new();
        let mut folders = vec![RelPath::root()];
        while let Some(folder) = folders.pop() {
            for name in view.names(&folder) {
                let at = folder.join(&name);
                let path = at.to_string();
                lines.push(match view.kind(&at) {
                    PathState::File { mode, len, .. } => {
                        let content = view.content(&at);
                        assert_eq!(content.len() as u64, len, "{path}");
                        self.file_line(&path, mode, &content)
                    }
                    PathState::Symlink { target } => format!("{path}->{}", target.display()),
                    PathState::Folder { mode } => {
                        folders.push(at);
                        self.folder_line(&path, mode)
                    }
                    PathState::Other => format!("{path}?"),
                    look => panic!("{path} is listed and {look:?}"),
                });
            }
        }
        lines.sort();
        lines
    }

    pub(crate) fn file_mode(&self) -> u32 {
        if self.policy == Policy::OwnFolder { 0o600 } else { 0o644 }
    }

    fn folder_mode(&self) -> u32 {
        if self.policy == Policy::OwnFolder { 0o700 } else { 0o755 }
    }

    fn file_line(&self, path: &str, mode: u32, content: &[u8]) -> String {
        let text = content.escape_ascii();
        if mode == self.file_mode() { format!("{path}={text}") } else { format!("{path}:{mode:o}={text}") }
    }

    fn folder_line(&self, path: &str, mode: u32) -> String {
        if mode == self.folder_mode() { format!("{path}/") } else { format!("{path}/:{mode:o}") }
    }

    /// Checks that nothing is staged and no leftovers remain.
    pub(crate) fn assert_nothing_left(&self) {
        assert_eq!(names(&self.root(".txn/stage")), BTreeSet::new(), "in the staging folder");
        self.assert_tidy();
    }

    /// Checks that the transaction folder has no leftovers and that `outside` is unchanged. The
    /// journal of an own folder may name staged files until its next checkpoint.
    pub(crate) fn assert_tidy(&self) {
        self.assert_outside_untouched();
        if self.policy == Policy::UserTree {
            assert_eq!(names(&self.root(".txn/stage")), BTreeSet::new(), "in the staging folder");
        }
        let mut left = names(&self.root(".txn"));
        left.retain(|name| ![".git", ".gitignore", "stage"].contains(&&**name));
        let own = match self.policy {
            Policy::OwnFolder => ["journal", "published"].as_slice(),
            Policy::UserTree => &["lock"],
        };
        assert_eq!(left, own.iter().map(|name| name.to_string()).collect(), "in the transaction folder");
    }

    pub(crate) fn assert_outside_untouched(&self) {
        assert_eq!(names(&self.outside("")), BTreeSet::from(["secret".to_owned()]));
        assert_eq!(fs::read(self.outside("secret")).unwrap(), b"secret");
        assert_eq!(fs::metadata(self.outside("secret")).unwrap().permissions().mode() & 0o777, 0o644);
    }

    /// Checks that the error is this variant and that its text names `path`, below the root if it
    /// is relative.
    pub(crate) fn assert_error(&self, error: &Error, variant: &str, path: &str) {
        let debug = format!("{error:?}");
        assert!(debug.split(' ').next() == Some(variant), "{variant} expected: {debug}");
        let text = error.to_string();
        assert!(text.contains(path), "`{path}` expected in: {text}");
    }
}

/// Result of a transaction.
pub(crate) type Ended = std::result::Result<CommitReport, Failure>;

/// The calls that transactions and readers share.
pub(crate) trait View {
    fn names(&mut self, folder: &RelPath) -> Vec<std::ffi::OsString>;
    fn kind(&mut self, path: &RelPath) -> PathState;
    fn content(&mut self, path: &RelPath) -> Vec<u8>;
}

impl View for Tx<'_, '_> {
    fn names(&mut self, folder: &RelPath) -> Vec<std::ffi::OsString> {
        self.list(folder).unwrap()
    }
    fn kind(&mut self, path: &RelPath) -> PathState {
        self.path_state(path).unwrap()
    }
    fn content(&mut self, path: &RelPath) -> Vec<u8> {
        self.read(path).unwrap().unwrap()
    }
}

impl View for Snapshot {
    fn names(&mut self, folder: &RelPath) -> Vec<std::ffi::OsString> {
        self.list(folder).unwrap()
    }
    fn kind(&mut self, path: &RelPath) -> PathState {
        self.path_state(path).unwrap()
    }
    fn content(&mut self, path: &RelPath) -> Vec<u8> {
        self.read(path).unwrap().unwrap()
    }
}

pub(crate) fn sorted(lines: &[&str]) -> Vec<String> {
    let mut lines: Vec<String> = lines.iter().map(|line| line.to_string()).collect();
    lines.sort();
    lines
}

pub(crate) fn names(folder: &Path) -> BTreeSet<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().display().to_string();
    fs::read_dir(folder).unwrap().map(name).collect()
}

/// A short wait, for locks that stay held.
pub(crate) fn briefly() -> Wait {
    Wait { timeout: Duration::from_millis(30), ..Wait::default() }
}
