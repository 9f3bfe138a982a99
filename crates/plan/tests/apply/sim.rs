//! Plans on the simulated disk, with a store that crashes with it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use filetx::{Storage, StorageResolver};
use plan::{Actor, ApplyRequest, Change, ContentInput, Machine, PlanId, Plans, State, UndoRequest};
use serde_json::json;
use store::{NewPlan, SqliteStore, Store};
use testkit::sim::{Node, SimDisk};

use super::crashing_store::CrashingStore;
use super::fixture::{actor, bytes};

pub(crate) const ROOTS: [&str; 2] = ["a", "b"];

pub(crate) fn machine() -> Machine {
    Machine { host: "here".into(), id: "1".into() }
}

pub(crate) fn host(disk: &SimDisk) -> plan::Host {
    let disk = disk.clone();
    let finder: StorageResolver = Arc::new(move |path: &Path| -> std::io::Result<Arc<dyn Storage>> {
        let root = path.to_str().and_then(|path| disk.try_root(path));
        root.ok_or_else(|| std::io::ErrorKind::NotFound.into())
    });
    plan::Host::on_storage(finder, machine())
}

/// A disk with two roots on two mounts.
pub(crate) fn disk(files: &[(&str, &str)]) -> SimDisk {
    let disk = SimDisk::new();
    for (index, root) in ROOTS.iter().enumerate() {
        disk.make_root_on(root, 1 + index as u64);
    }
    for (path, text) in files {
        disk.external_write(&path[..1], &path[2..], text.as_bytes());
    }
    disk.settle();
    disk
}

/// The trees, without our own files.
pub(crate) fn trees(disk: &SimDisk) -> Vec<std::collections::BTreeMap<String, Node>> {
    ROOTS.iter().map(|root| disk.tree_without(root, ".cleveragents")).collect()
}

/// A folder with a store, which can be copied.
pub(crate) struct StoreDir {
    folder: tempfile::TempDir,
}

impl StoreDir {
    pub(crate) fn new() -> Self {
        Self { folder: testkit::folder::scratch() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("state.db")
    }

    pub(crate) fn open(&self) -> Arc<dyn Store> {
        Arc::new(SqliteStore::open(&self.path()).unwrap())
    }

    /// Copies the folder. The store must be closed.
    pub(crate) fn copy(&self) -> Self {
        let copy = Self::new();
        for name in ["state.db", "state.db-wal"] {
            let from = self.folder.path().join(name);
            if from.exists() {
                std::fs::copy(from, copy.folder.path().join(name)).unwrap();
            }
        }
        copy
    }
}

/// Creates a ready plan. Paths begin with the letter of the root; each change has its base.
pub(crate) fn ready(plans: &Plans, changes: Vec<(Change, Option<ContentInput>)>) -> PlanId {
    let new = NewPlan {
        id: PlanId::new(),
        name: None,
        state: State::Queued.stored(),
        undo_of: None,
        roots: ROOTS.iter().map(bytes).collect(),
        detail: json!({}),
        actor: actor("ana"),
    };
    plans.store().create_plan(&new).unwrap();
    let changeset = plans.context(new.id).unwrap().start_changeset(&actor("coder")).unwrap();
    let place = |(change, base): (Change, Option<ContentInput>)| {
        let text = change.path.show().into_owned();
        let (root, path) = text.split_once('/').unwrap();
        Change { path: bytes(path), ..change }.in_root(bytes(root)).with_base(base)
    };
    changeset.record_many(changes.into_iter().map(place).collect()).unwrap();
    changeset.seal().unwrap();
    plans.mark_ready(new.id, &actor("ana")).unwrap();
    new.id
}

pub(crate) fn file(text: &str) -> Option<ContentInput> {
    Some(ContentInput::file(text.as_bytes(), 0o644).unwrap())
}

/// Applies with a store that crashes, and returns the number of its calls.
pub(crate) fn apply_with_crash(
    disk: &SimDisk,
    store_dir: &StoreDir,
    id: PlanId,
    dies_at: u64,
) -> (bool, u64) {
    let mortal = Arc::new(CrashingStore::new(store_dir.open(), disk, dies_at));
    let plans = Plans::open(Arc::clone(&mortal) as Arc<dyn Store>);
    let plan = Plans::open(store_dir.open()).get(id).unwrap();
    let applied = plans.apply(&host(disk), &plan, &ApplyRequest::by(&who()));
    (applied.is_ok(), mortal.calls())
}

/// Undoes with a store that crashes.
pub(crate) fn undo_with_crash(disk: &SimDisk, store_dir: &StoreDir, id: PlanId, dies_at: u64) -> (bool, u64) {
    let mortal = Arc::new(CrashingStore::new(store_dir.open(), disk, dies_at));
    let plans = Plans::open(Arc::clone(&mortal) as Arc<dyn Store>);
    let plan = Plans::open(store_dir.open()).get(id).unwrap();
    let undone = plans.undo(&host(disk), &plan, &UndoRequest::by(&who()));
    (undone.is_ok(), mortal.calls())
}

pub(crate) fn who() -> Actor {
    actor("bob")
}
