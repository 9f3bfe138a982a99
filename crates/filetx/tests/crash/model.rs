//! Transactions as data, a model of their effect, and workloads that compare the two after every
//! crash.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use filetx::{
    CommitReport, Error, Failure, FailureOutcome, FolderOptions, FolderTransaction, OwnFolder, PathState,
    Snapshot, Storage, StorageResolver, TreeOptions, TreeTransaction, Trees,
};
use testkit::chain;
use testkit::explore::{Acks, Limits, Report, Workload, explore};
use testkit::sim::{Node, SimDisk};

/// One call of a transaction. Paths are `root/path`; the root is one letter.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Put(&'static str, Vec<u8>),
    Append(&'static str, &'static str),
    Truncate(&'static str, u64),
    Remove(&'static str),
    Rename(&'static str, &'static str),
    SetMode(&'static str, u32),
    Symlink(&'static str, &'static str),
    MakeFolder(&'static str),
    RemoveFolder(&'static str),
}

pub(crate) fn put(path: &'static str, text: &str) -> Op {
    Op::Put(path, text.as_bytes().to_vec())
}

/// The two policies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// One root, `a`.
    Folder { journal_bytes: u64 },
    /// Roots `a`, `b`, … of which the transaction uses the first `roots`.
    Tree { roots: usize, syncfs_threshold: usize },
}

pub(crate) const FOLDER: Kind = Kind::Folder { journal_bytes: 16 * 1024 };
pub(crate) const TREE: Kind = Kind::Tree { roots: 1, syncfs_threshold: usize::MAX };
pub(crate) const TREES: Kind = Kind::Tree { roots: 2, syncfs_threshold: usize::MAX };
/// Trees with `syncfs`.
pub(crate) const TREE_TOGETHER: Kind = Kind::Tree { roots: 1, syncfs_threshold: 1 };
pub(crate) const TREES_TOGETHER: Kind = Kind::Tree { roots: 2, syncfs_threshold: 1 };

pub(crate) const ROOTS: [&str; 2] = ["a", "b"];

/// The initial files and a sequence of transactions.
pub(crate) struct Plan {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) start: Vec<Op>,
    pub(crate) transactions: Vec<Vec<Op>>,
    /// Prepares the disk.
    pub(crate) prepare: fn(&SimDisk),
}

impl Plan {
    pub(crate) fn new(name: &str, kind: Kind, start: &[Op], transactions: &[&[Op]]) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            start: start.to_vec(),
            transactions: transactions.iter().map(|ops| ops.to_vec()).collect(),
            prepare: |_| (),
        }
    }

    pub(crate) fn prepared(mut self, prepare: fn(&SimDisk)) -> Self {
        self.prepare = prepare;
        self
    }

    pub(crate) fn explore(&self, limits: &Limits) -> Report {
        let states = self.states();
        let workload = Workload {
            name: &self.name,
            setup: &|disk| self.setup(disk),
            run: &|disk, acks| self.run(disk, acks),
            recover: &|disk| recover(disk, self.kind),
            check: &|disk, outcomes| check(disk, &states, outcomes),
        };
        explore(&workload, limits)
    }

    /// Explores, and fails with the seed and the command to repeat it.
    pub(crate) fn hold(&self, limits: &Limits) -> Report {
        let report = self.explore(limits);
        assert!(
            report.failures.is_empty(),
            "{report}\nagain: AGENTS_SEED={} cargo test -p cleveragents-filetx --test crash",
            limits.seed
        );
        report
    }

    fn setup(&self, disk: &SimDisk) {
        for (index, root) in ROOTS.iter().enumerate() {
            disk.make_root_on(root, 1 + index as u64);
        }
        for op in &self.start {
            match op {
                Op::Put(path, bytes) => disk.external_write(root_of(path), below(path), bytes),
                Op::MakeFolder(path) => disk.external_make_folder(root_of(path), below(path)),
                Op::Symlink(path, target) => disk.external_symlink(root_of(path), target, below(path)),
                other => panic!("{other:?} is no way to start"),
            }
        }
        (self.prepare)(disk);
    }

    /// The trees after 0, 1, 2 … transactions.
    fn states(&self) -> Vec<Model> {
        let disk = SimDisk::new();
        self.setup(&disk);
        let mut model = Model::of(&disk);
        let mut states = vec![model.clone()];
        for ops in &self.transactions {
            let modes =
                if matches!(self.kind, Kind::Folder { .. }) { (0o600, 0o700) } else { (0o644, 0o755) };
            ops.iter().for_each(|op| model.apply(op, modes));
            states.push(model.clone());
        }
        states
    }

    /// Runs the transactions until one fails.
    fn run(&self, disk: &SimDisk, acks: &Acks<Outcomes>) {
        for ops in &self.transactions {
            match commit(disk, self.kind, ops) {
                Ok(committed) => {
                    assert_eq!(committed.preserved, [], "no other program edited a file");
                    acks.note(|outcomes| outcomes.acknowledged += 1);
                }
                Err(failure) => {
                    acks.note(|outcomes| outcomes.aborted = failure.outcome == FailureOutcome::Aborted);
                    return;
                }
            }
        }
    }
}

/// The reported outcomes.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub(crate) struct Outcomes {
    pub(crate) acknowledged: usize,
    /// The transaction after the acknowledged ones was aborted.
    pub(crate) aborted: bool,
}

/// All roots by `root/path`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Model(BTreeMap<String, Node>);

impl Model {
    pub(crate) fn of(disk: &SimDisk) -> Self {
        let mut all = BTreeMap::new();
        for root in ROOTS {
            for (path, node) in disk.tree_without(root, ".txn") {
                all.insert(format!("{root}/{path}"), node);
            }
        }
        Self(all)
    }

    fn apply(&mut self, op: &Op, modes: (u32, u32)) {
        let mut make_parents = |path: &str| {
            let mut at = 2;
            while let Some(next) = path[at..].find('/') {
                at += next;
                self.0.entry(path[..at].to_owned()).or_insert(Node::Folder { mode: modes.1 });
                at += 1;
            }
        };
        match op {
            Op::Put(path, _) | Op::Symlink(path, _) | Op::Append(path, _) | Op::Rename(_, path) => {
                make_parents(path);
            }
            _ => {}
        }
        match op {
            Op::Put(path, bytes) => {
                let mode = match self.0.get(*path) {
                    Some(Node::File { mode, .. }) => *mode,
                    _ => modes.0,
                };
                self.0.insert((*path).to_owned(), Node::File { mode, content: bytes.clone() });
            }
            Op::Append(path, text) => {
                let node = self
                    .0
                    .entry((*path).to_owned())
                    .or_insert(Node::File { mode: modes.0, content: Vec::new() });
                let Node::File { content, .. } = node else { panic!("no file at {path}") };
                content.extend(text.as_bytes());
            }
            Op::Truncate(path, len) => {
                let Some(Node::File { content, .. }) = self.0.get_mut(*path) else {
                    panic!("no file at {path}")
                };
                content.truncate(*len as usize);
            }
            Op::Remove(path) | Op::RemoveFolder(path) => {
                self.0.remove(*path).expect("something is there");
            }
            Op::Rename(from, to) => {
                let node = self.0.remove(*from).expect("something is there");
                self.0.insert((*to).to_owned(), node);
            }
            Op::SetMode(path, new) => match self.0.get_mut(*path) {
                Some(Node::File { mode, .. } | Node::Folder { mode }) => *mode = *new,
                _ => panic!("nothing with a mode at {path}"),
            },
            Op::Symlink(path, target) => {
                self.0.insert((*path).to_owned(), Node::Symlink { target: target.into() });
            }
            Op::MakeFolder(_) => panic!("{op:?} is for the start alone"),
        }
    }
}

fn root_of(path: &str) -> &str {
    &path[..1]
}

fn below(path: &str) -> &str {
    &path[2..]
}

fn at(path: &str) -> (usize, &str) {
    (ROOTS.iter().position(|root| *root == root_of(path)).expect("a known root"), below(path))
}

/// Stages one call in an own folder.
fn stage_in_folder(tx: &mut FolderTransaction<'_>, op: &Op) -> Result<(), Error> {
    match op {
        Op::Put(path, bytes) => tx.put(at(path), bytes),
        Op::Append(path, text) => tx.append(at(path), text.as_bytes()),
        Op::Truncate(path, len) => tx.truncate(at(path), *len),
        Op::Remove(path) => tx.remove(at(path)),
        Op::Rename(from, to) => tx.rename(at(from), at(to)),
        other => panic!("an own folder has no {other:?}"),
    }
}

/// Stages one call in trees.
fn stage_in_trees(tx: &mut TreeTransaction<'_>, op: &Op) -> Result<(), Error> {
    match op {
        Op::Put(path, bytes) => tx.put(at(path), bytes),
        Op::Remove(path) => tx.remove(at(path)),
        Op::SetMode(path, mode) => tx.set_mode(at(path), *mode),
        Op::Symlink(path, target) => tx.symlink(at(path), target.as_ref()),
        Op::RemoveFolder(path) => tx.remove_folder(at(path)),
        other => panic!("trees have no {other:?}"),
    }
}

pub(crate) fn finder(disk: &SimDisk) -> StorageResolver {
    let disk = disk.clone();
    Arc::new(move |path: &Path| -> std::io::Result<Arc<dyn Storage>> {
        let root = path.to_str().and_then(|path| disk.try_root(path));
        root.ok_or_else(|| std::io::ErrorKind::NotFound.into())
    })
}

pub(crate) fn open_trees(disk: &SimDisk, roots: usize) -> Result<Trees, Error> {
    open_trees_with(disk, roots, usize::MAX)
}

fn open_trees_with(disk: &SimDisk, roots: usize, syncfs_threshold: usize) -> Result<Trees, Error> {
    let paths: Vec<&Path> = ROOTS[..roots].iter().map(Path::new).collect();
    Trees::on_storage(
        &paths,
        finder(disk),
        TreeOptions { syncfs_threshold, ..TreeOptions::default() },
        &testkit::journals::trust,
    )
}

pub(crate) fn open_folder(disk: &SimDisk, journal_bytes: u64) -> Result<OwnFolder, Error> {
    let options = FolderOptions { journal_bytes, journal_bytes_max: 0, ..FolderOptions::default() };
    OwnFolder::on_storage(disk.root("a"), Path::new("a"), options)
}

/// Opens, stages and commits.
fn commit(disk: &SimDisk, kind: Kind, ops: &[Op]) -> Result<CommitReport, Failure> {
    match kind {
        Kind::Folder { journal_bytes } => {
            let folder = open_folder(disk, journal_bytes)?;
            let mut tx = folder.begin()?;
            ops.iter().try_for_each(|op| stage_in_folder(&mut tx, op))?;
            tx.commit()
        }
        Kind::Tree { roots, syncfs_threshold } => {
            let mut trees = open_trees_with(disk, roots, syncfs_threshold)?;
            let mut tx = trees.begin();
            ops.iter().try_for_each(|op| stage_in_trees(&mut tx, op))?;
            tx.commit()
        }
    }
}

/// Runs the next program: a reader, then a writer that recovers. Both must see the same state.
pub(crate) fn recover(disk: &SimDisk, kind: Kind) -> Result<(), String> {
    let seen = read(disk, kind).map_err(|error| format!("reading: {}", chain(&error)))?;
    let opened = match kind {
        Kind::Folder { journal_bytes } => {
            open_folder(disk, journal_bytes).map(|folder| folder.take_preserved())
        }
        Kind::Tree { roots, syncfs_threshold } => {
            open_trees_with(disk, roots, syncfs_threshold).map(|trees| {
                trees.recovered().iter().flat_map(|recovered| recovered.preserved.clone()).collect()
            })
        }
    };
    let kept = opened.map_err(|error| chain(&error))?;
    if !kept.is_empty() {
        return Err(format!("without edits, recovery preserved {kept:?}"));
    }
    let now = Model::of(disk);
    if seen != now {
        return Err(format!("a reader saw {seen:?}, recovery left {now:?}"));
    }
    Ok(())
}

/// All files in the view of a reader.
fn read(disk: &SimDisk, kind: Kind) -> Result<Model, Error> {
    let mut all = BTreeMap::new();
    for root in ROOTS {
        let snapshot = match kind {
            Kind::Folder { .. } if root == "a" => {
                Snapshot::of_folder_on_storage(disk.root("a"), Path::new("a"))?
            }
            Kind::Folder { .. } => continue,
            Kind::Tree { .. } => Snapshot::of_tree_on_storage(
                Path::new(root),
                &TreeOptions::default().txn_dir,
                &finder(disk),
                &testkit::journals::trust,
            )?,
        };
        let mut folders = vec![filetx::RelPath::root()];
        while let Some(folder) = folders.pop() {
            for name in snapshot.list(&folder)? {
                let path = folder.join(&name);
                let key = format!("{root}/{path}");
                let node = match snapshot.path_state(&path)? {
                    PathState::File { mode, .. } => {
                        Node::File { mode, content: snapshot.read(&path)?.expect("it was listed") }
                    }
                    PathState::Folder { mode } => {
                        folders.push(path);
                        Node::Folder { mode }
                    }
                    PathState::Symlink { target } => Node::Symlink { target },
                    PathState::Other => Node::Other,
                    look => panic!("{key} was listed and is {look:?}"),
                };
                all.insert(key, node);
            }
        }
    }
    Ok(Model(all))
}

fn check(disk: &SimDisk, states: &[Model], outcomes: &Outcomes) -> Result<(), String> {
    let now = Model::of(disk);
    let least = outcomes.acknowledged;
    let most = if outcomes.aborted { least } else { (least + 1).min(states.len() - 1) };
    if states[least..=most].contains(&now) {
        return Ok(());
    }
    let known = states.iter().position(|state| *state == now);
    Err(match known {
        Some(found) => format!("{found} transactions are there, expected {least} to {most}"),
        None => format!("a mixed state: {now:?}"),
    })
}
