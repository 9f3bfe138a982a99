//! Random calls with both policies, compared with a model in memory: the result of each call, the
//! view of the transaction, and the disk after each commit and each abort.
#![cfg(not(feature = "shuttle"))]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate cleveragents_filetx as filetx;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;

use filetx::{
    CommitReport, Error, Failure, FolderOptions, FolderTransaction, INLINE_BYTES_MAX, OwnFolder, PathState,
    RelPath, Storage, TreeOptions, TreeTransaction, Trees, TxPath,
};
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use testkit::sim::{Node, SimDisk};

/// One call. Paths come from a short list, so that calls affect each other.
#[derive(Clone, Debug)]
enum Op {
    Put(Place, Text),
    Append(Place, Text),
    Truncate(Place, u64),
    Remove(Place),
    Rename(Place, Place),
    SetMode(Place, u32),
    Symlink(Place),
    RemoveFolder(Place),
}

/// A root and a path.
type Place = (usize, &'static str);

#[derive(Clone, Debug)]
struct Text {
    letter: u8,
    len: usize,
}

/// The end of a transaction, and whether another program continues.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Commit,
    Abort,
    CommitAndReopen,
}

/// The paths of an own folder, which is flat; one is invalid.
const NAMES: [&str; 5] = ["b", "c", "link", "d", "a/x"];
const PATHS: [&str; 9] = ["a", "b", "a/x", "a/y", "b/x", "a/x/p", "a/x/q", "c/x/p", "a-x"];
const ROOTS: [&str; 2] = ["r0", "r1"];
const LINK: &str = "a/x";

fn place() -> impl Strategy<Value = Place> {
    (0..2_usize, proptest::sample::select(&PATHS[..]))
}

fn text() -> impl Strategy<Value = Text> {
    let len =
        prop_oneof![8 => 0..40_usize, 2 => 500..5_000_usize, 1 => INLINE_BYTES_MAX - 2..INLINE_BYTES_MAX + 3];
    (b'a'..=b'z', len).prop_map(|(letter, len)| Text { letter, len })
}

fn mode() -> impl Strategy<Value = u32> {
    proptest::sample::select(&[0o600, 0o644, 0o700, 0o755, 0o640, 0o4755][..])
}

fn name() -> impl Strategy<Value = Place> {
    proptest::sample::select(&NAMES[..]).prop_map(|name| (0, name))
}

fn folder_op() -> BoxedStrategy<Op> {
    prop_oneof![
        6 => (name(), text()).prop_map(|(at, text)| Op::Put(at, text)),
        4 => (name(), text()).prop_map(|(at, text)| Op::Append(at, text)),
        2 => (name(), 0..50_u64).prop_map(|(at, len)| Op::Truncate(at, len)),
        4 => name().prop_map(Op::Remove),
        5 => (name(), name()).prop_map(|(from, to)| Op::Rename(from, to)),
    ]
    .boxed()
}

fn tree_op() -> BoxedStrategy<Op> {
    prop_oneof![
        6 => (place(), text()).prop_map(|(at, text)| Op::Put(at, text)),
        4 => place().prop_map(Op::Remove),
        2 => (place(), mode()).prop_map(|(at, mode)| Op::SetMode(at, mode)),
        2 => place().prop_map(Op::Symlink),
        3 => place().prop_map(Op::RemoveFolder),
    ]
    .boxed()
}

fn transactions(op: BoxedStrategy<Op>) -> impl Strategy<Value = Vec<(Vec<Op>, End)>> {
    let end = prop_oneof![6 => Just(End::Commit), 1 => Just(End::Abort), 1 => Just(End::CommitAndReopen)];
    proptest::collection::vec((proptest::collection::vec(op, 0..10), end), 1..12)
}

/// All roots by `root/path`.
#[derive(Clone, PartialEq, Debug)]
struct Model {
    nodes: BTreeMap<String, Node>,
    modes: Modes,
    /// Without folders.
    is_flat: bool,
}

/// Modes of new files and folders.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Modes {
    file: u32,
    folder: u32,
}

/// Name of the error of a refused call.
type Refusal = &'static str;

impl Text {
    fn bytes(&self) -> Vec<u8> {
        vec![self.letter; self.len]
    }
}

fn key(at: &Place) -> String {
    format!("{}/{}", ROOTS[at.0], at.1)
}

impl Model {
    /// Applies a call, all or nothing.
    fn apply(&mut self, op: &Op) -> Result<(), Refusal> {
        let mut after = self.clone();
        after.try_apply(op)?;
        *self = after;
        Ok(())
    }

    fn try_apply(&mut self, op: &Op) -> Result<(), Refusal> {
        match op {
            Op::Put(at, text) => self.put(&key(at), text.bytes()),
            Op::Append(at, text) => {
                let path = key(at);
                self.make_parents(&path)?;
                match self.nodes.get_mut(&path) {
                    None => self.put(&path, text.bytes()),
                    Some(Node::File { content, .. }) => {
                        content.extend(text.bytes());
                        Ok(())
                    }
                    Some(_) => Err("WrongFileKind"),
                }
            }
            Op::Truncate(at, len) => {
                let path = key(at);
                self.make_parents(&path)?;
                match self.nodes.get_mut(&path) {
                    None => Err("NotFound"),
                    Some(Node::File { content, .. }) if *len > content.len() as u64 => Err("LimitExceeded"),
                    Some(Node::File { content, .. }) => {
                        content.truncate(*len as usize);
                        Ok(())
                    }
                    Some(_) => Err("WrongFileKind"),
                }
            }
            Op::Remove(at) => self.remove(&key(at)),
            Op::Rename(from, to) if from == to => Ok(()),
            Op::Rename(from, to) => self.rename(&key(from), &key(to)),
            Op::SetMode(at, new) => {
                let path = key(at);
                self.make_parents(&path)?;
                match self.nodes.get_mut(&path) {
                    None => Err("NotFound"),
                    Some(Node::File { mode, .. } | Node::Folder { mode }) => {
                        *mode = *new;
                        Ok(())
                    }
                    Some(_) => Err("WrongFileKind"),
                }
            }
            Op::Symlink(at) => self.place(&key(at), Node::Symlink { target: LINK.into() }),
            Op::RemoveFolder(at) => {
                let path = key(at);
                self.make_parents(&path)?;
                match self.nodes.get(&path) {
                    None => Err("NotFound"),
                    Some(Node::Folder { .. }) if self.children(&path).next().is_some() => Err("NotEmpty"),
                    Some(Node::Folder { .. }) => {
                        self.nodes.remove(&path);
                        Ok(())
                    }
                    Some(_) => Err("WrongFileKind"),
                }
            }
        }
    }

    fn children<'a>(&'a self, folder: &str) -> impl Iterator<Item = &'a String> {
        let prefix = format!("{folder}/");
        self.nodes.keys().filter(move |path| path.starts_with(&prefix))
    }

    fn make_parents(&mut self, path: &str) -> Result<(), Refusal> {
        if self.is_flat && path.matches('/').count() > 1 {
            return Err("BadPath");
        }
        let folder = Node::Folder { mode: self.modes.folder };
        // The root ends at the first slash.
        for (end, _) in path.match_indices('/').skip(1) {
            match self.nodes.entry(path[..end].to_owned()).or_insert_with(|| folder.clone()) {
                Node::Folder { .. } => {}
                _ => return Err("WrongFileKind"),
            }
        }
        Ok(())
    }

    /// Places a file or symlink.
    fn place(&mut self, path: &str, node: Node) -> Result<(), Refusal> {
        self.make_parents(path)?;
        if let Some(Node::Folder { .. }) = self.nodes.get(path) {
            return Err("WrongFileKind");
        }
        self.nodes.insert(path.to_owned(), node);
        Ok(())
    }

    fn put(&mut self, path: &str, content: Vec<u8>) -> Result<(), Refusal> {
        let mode = match self.nodes.get(path) {
            Some(Node::File { mode, .. }) => *mode,
            _ => self.modes.file,
        };
        self.place(path, Node::File { mode, content })
    }

    fn remove(&mut self, path: &str) -> Result<(), Refusal> {
        self.make_parents(path)?;
        match self.nodes.get(path) {
            None => Err("NotFound"),
            Some(Node::Folder { .. }) => Err("WrongFileKind"),
            Some(_) => {
                self.nodes.remove(path);
                Ok(())
            }
        }
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), Refusal> {
        self.make_parents(from)?;
        match self.nodes.get(from).cloned() {
            None => Err("NotFound"),
            Some(node @ Node::File { .. }) => {
                self.place(to, node)?;
                self.nodes.remove(from);
                Ok(())
            }
            Some(_) => Err("WrongFileKind"),
        }
    }
}

/// A transaction of either policy.
trait Tx: Sized {
    /// Stages one call.
    fn stage(&mut self, op: &Op) -> Result<(), Error>;
    fn list(&self, at: &TxPath) -> Vec<OsString>;
    fn path_state(&self, at: &TxPath) -> PathState;
    fn read(&self, at: &TxPath) -> Vec<u8>;
    fn commit(self) -> Result<CommitReport, Failure>;
}

macro_rules! transaction {
    ($type:ty, $tx:ident, $op:ident, $stage:expr) => {
        impl Tx for $type {
            fn stage(&mut self, $op: &Op) -> Result<(), Error> {
                let $tx = self;
                $stage
            }
            fn list(&self, at: &TxPath) -> Vec<OsString> {
                <$type>::list(self, at).unwrap()
            }
            fn path_state(&self, at: &TxPath) -> PathState {
                <$type>::path_state(self, at).unwrap()
            }
            fn read(&self, at: &TxPath) -> Vec<u8> {
                <$type>::read(self, at).unwrap().unwrap()
            }
            fn commit(self) -> Result<CommitReport, Failure> {
                <$type>::commit(self)
            }
        }
    };
}

transaction!(
    FolderTransaction<'_>,
    tx,
    op,
    match op {
        Op::Put(at, text) => tx.put(*at, &text.bytes()),
        Op::Append(at, text) => tx.append(*at, &text.bytes()),
        Op::Truncate(at, len) => tx.truncate(*at, *len),
        Op::Remove(at) => tx.remove(*at),
        Op::Rename(from, to) => tx.rename(*from, *to),
        other => panic!("an own folder has no {other:?}"),
    }
);

transaction!(
    TreeTransaction<'_>,
    tx,
    op,
    match op {
        Op::Put(at, text) => tx.put(*at, &text.bytes()),
        Op::Remove(at) => tx.remove(*at),
        Op::SetMode(at, mode) => tx.set_mode(*at, *mode),
        Op::Symlink(at) => tx.symlink(*at, LINK.as_ref()),
        Op::RemoveFolder(at) => tx.remove_folder(*at),
        other => panic!("trees have no {other:?}"),
    }
);

/// All files in the view of the transaction.
fn seen(tx: &impl Tx, roots: usize) -> BTreeMap<String, Node> {
    let mut nodes = BTreeMap::new();
    for (index, root) in ROOTS.iter().enumerate().take(roots) {
        let mut folders: Vec<RelPath> = vec![RelPath::root()];
        while let Some(folder) = folders.pop() {
            let at = TxPath { root: index, path: folder.clone() };
            for name in tx.list(&at) {
                let at = TxPath { root: index, path: folder.join(name) };
                let node = match tx.path_state(&at) {
                    PathState::File { mode, .. } => Node::File { mode, content: tx.read(&at) },
                    PathState::Symlink { target } => Node::Symlink { target },
                    PathState::Folder { mode } => {
                        folders.push(at.path.clone());
                        Node::Folder { mode }
                    }
                    look => panic!("{look:?} at {at:?}"),
                };
                nodes.insert(format!("{root}/{}", at.path), node);
            }
        }
    }
    nodes
}

fn on_disk(disk: &SimDisk) -> BTreeMap<String, Node> {
    let of = |root: &&str| {
        let root = root.to_string();
        disk.tree_without(&root, ".txn").into_iter().map(move |(path, node)| (format!("{root}/{path}"), node))
    };
    ROOTS.iter().flat_map(of).collect()
}

/// Stages the calls in a transaction, compares each result and the view with the model, and ends
/// it. Returns the expected state of the disk.
fn run(mut tx: impl Tx, model: &Model, ops: &[Op], end: End, roots: usize) -> Model {
    let mut staged = model.clone();
    for op in ops {
        let expected = staged.apply(op);
        let found = tx.stage(op);
        let found = found.map_err(|error| format!("{error:?}"));
        match (&found, expected) {
            (Ok(()), Ok(())) => {}
            (Err(error), Err(name)) if error.split(' ').next() == Some(name) => {}
            _ => panic!("{op:?}: {found:?}, expected {expected:?}"),
        }
        assert_eq!(seen(&tx, roots), staged.nodes, "as the transaction sees it after {op:?}");
    }
    if end == End::Abort {
        drop(tx);
        return model.clone();
    }
    let committed = tx.commit().unwrap();
    assert!(committed.pending.is_none() && committed.preserved.is_empty(), "{committed:?}");
    staged
}

fn new_disk() -> SimDisk {
    let disk = SimDisk::new();
    for (root, mount) in ROOTS.iter().zip(1..) {
        disk.make_root_on(root, mount);
        disk.external_write(root, "a/x", b"a person's");
        disk.external_write(root, "b", b"a person's");
        disk.external_symlink(root, "a/x", "link");
    }
    disk
}

fn folder_follows_the_model(transactions: &[(Vec<Op>, End)]) {
    // Small, so that checkpoints happen.
    let options = FolderOptions { journal_bytes: 8 * 1024, journal_bytes_max: 0, ..FolderOptions::default() };
    let mut disk = new_disk();
    let open =
        |disk: &SimDisk| OwnFolder::on_storage(disk.root("r0"), Path::new("r0"), options.clone()).unwrap();
    let mut model =
        Model { nodes: on_disk(&disk), modes: Modes { file: 0o600, folder: 0o700 }, is_flat: true };
    model.nodes.retain(|path, _| path.starts_with("r0/"));
    let mut folder = open(&disk);
    for (ops, end) in transactions {
        model = run(folder.begin().unwrap(), &model, ops, *end, 1);
        if *end == End::CommitAndReopen {
            drop(folder);
            disk = disk.kill();
            folder = open(&disk);
            assert_eq!(folder.take_preserved(), []);
        }
        let mut now = on_disk(&disk);
        now.retain(|path, _| path.starts_with("r0/"));
        assert_eq!(now, model.nodes, "after {end:?}");
    }
    // The journal alone, without the watermark, gives the same state.
    drop(folder);
    disk.external_remove("r0", ".txn/published");
    let folder = open(&disk);
    assert_eq!(folder.take_preserved(), []);
    let mut now = on_disk(&disk);
    now.retain(|path, _| path.starts_with("r0/"));
    assert_eq!(now, model.nodes, "after recovery");
}

fn trees_follow_the_model(transactions: &[(Vec<Op>, End)]) {
    let mut disk = new_disk();
    let open = |disk: &SimDisk| {
        let disk = disk.clone();
        let find =
            move |path: &Path| -> io::Result<Arc<dyn Storage>> { Ok(disk.root(path.to_str().unwrap())) };
        Trees::on_storage(
            &ROOTS.map(Path::new),
            Arc::new(find),
            TreeOptions::default(),
            &testkit::journals::trust,
        )
        .unwrap()
    };
    let mut model =
        Model { nodes: on_disk(&disk), modes: Modes { file: 0o644, folder: 0o755 }, is_flat: false };
    let mut trees = open(&disk);
    for (ops, end) in transactions {
        model = run(trees.begin(), &model, ops, *end, ROOTS.len());
        assert_eq!(on_disk(&disk), model.nodes, "after {end:?}");
        for root in ROOTS {
            assert_eq!(
                disk.external_list(root, ".txn/stage").len(),
                0,
                "left in the staging folder after {end:?}"
            );
            let home = disk.external_list(root, ".txn");
            assert!(home.iter().all(|name| [".git", ".gitignore", "stage"].contains(&&**name)), "{home:?}");
        }
        if *end == End::CommitAndReopen {
            drop(trees);
            disk = disk.kill();
            trees = open(&disk);
            assert_eq!(trees.recovered(), []);
            assert_eq!(on_disk(&disk), model.nodes, "after {end:?}");
        }
    }
}

/// Runs a property on many random inputs. The seed is fixed unless the environment sets it.
fn check(test: &str, op: BoxedStrategy<Op>, property: fn(&[(Vec<Op>, End)])) {
    let cases = if testkit::report::is_proof() { 20_000 } else { 2_000 };
    let seed = testkit::seed::from_env_or(1);
    let _replay = testkit::seed::Replay::new("cleveragents-filetx --test properties", test, seed);
    let config = ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(seed),
        max_shrink_iters: 20_000,
        ..ProptestConfig::default()
    };
    let result = TestRunner::new(config).run(&transactions(op), |transactions| {
        property(&transactions);
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    testkit::report::figure(&format!("random sequences of transactions, {test}"), cases);
}

#[test]
fn own_folders_match_the_model() {
    check("own_folders_match_the_model", folder_op(), folder_follows_the_model);
}

#[test]
fn user_trees_match_the_model() {
    check("user_trees_match_the_model", tree_op(), trees_follow_the_model);
}

/// The control: a model with one rare error is detected.
#[test]
fn a_wrong_model_is_detected() {
    let wrong = |transactions: &[(Vec<Op>, End)]| {
        let mut disk_says =
            Model { nodes: BTreeMap::new(), modes: Modes { file: 0o600, folder: 0o700 }, is_flat: false };
        let mut wrong = disk_says.clone();
        for op in transactions.iter().flat_map(|(ops, _)| ops) {
            let _ = disk_says.apply(op);
            // The wrong model applies refused calls.
            let _ = wrong.try_apply(op);
        }
        disk_says == wrong
    };
    let config = ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    };
    let result = TestRunner::new(config).run(&transactions(tree_op()), |transactions| {
        prop_assert!(wrong(&transactions));
        Ok(())
    });
    assert!(result.is_err(), "the calls are too tame to show anything");
}
