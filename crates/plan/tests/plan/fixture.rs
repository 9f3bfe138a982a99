//! A fixture: a store, a root and a plan.

use std::path::PathBuf;

use plan::{Change, Changeset, ChangesetId, ContentInput, PathKey, Plan, PlanExecutionContext, Plans};
use store::Store;
use tempfile::TempDir;
use testkit::folder::scratch;

use crate::support::folder_of_each_engine;
pub(crate) use crate::support::{actor, bytes, open, write, write_with_mode};

pub(crate) struct Fixture {
    pub folder: TempDir,
    pub root: PathBuf,
    pub plans: Plans,
    pub plan: Plan,
    pub context: PlanExecutionContext,
}

impl Fixture {
    /// Creates an empty root and a plan for it.
    pub(crate) fn new() -> Self {
        Self::in_folder(scratch())
    }

    /// One fixture per engine; without a server, PostgreSQL is reported as skipped.
    pub(crate) fn of_each_engine(test: &str) -> Vec<Self> {
        folder_of_each_engine(test).into_iter().map(Self::in_folder).collect()
    }

    fn in_folder(folder: TempDir) -> Self {
        let root = folder.path().join("root");
        std::fs::create_dir(&root).unwrap();
        let plans = open(folder.path());
        let plan = plans.create(None, &[&root], &actor("ana")).unwrap();
        let context = plans.context(plan.id).unwrap();
        Self { folder, root, plans, plan, context }
    }

    pub(crate) fn store(&self) -> &dyn Store {
        self.plans.store().as_ref()
    }

    pub(crate) fn start(&self, name: &str) -> Changeset {
        self.context.start_changeset(&actor(name)).unwrap()
    }

    /// Records changes into a changeset and seals it.
    pub(crate) fn sealed(&self, name: &str, changes: Vec<Change>) -> ChangesetId {
        let changeset = self.start(name);
        changeset.record_many(changes).unwrap();
        changeset.seal().unwrap().id
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn key(&self, path: &str) -> PathKey {
        PathKey { root: self.plan.roots[0].clone(), path: bytes(path) }
    }

    pub(crate) fn mark_ready(&self) -> Plan {
        self.plans.mark_ready(self.plan.id, &actor("ana")).unwrap()
    }
}

pub(crate) fn file(content: impl AsRef<[u8]>) -> Option<ContentInput> {
    Some(ContentInput::file(content.as_ref(), 0o644).unwrap())
}
