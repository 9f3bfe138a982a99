//! A fixture: a store and two roots.

use std::path::PathBuf;

use filetx::Wait;
use plan::{
    ApplyRequest, Change, Edit, Error, FileOutcome, PathBytes, Plan, PlanId, Plans, Report, Result, State,
    UndoRequest,
};
use tempfile::TempDir;
use testkit::folder::{Tree, scratch, tree_without};

pub(crate) use crate::support::{actor, bytes, open, write, write_with_mode};
use crate::support::{database_of, folder_of_each_engine};

pub(crate) struct Fixture {
    pub folder: TempDir,
    pub plans: Plans,
    pub host: plan::Host,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::in_folder(scratch())
    }

    /// One fixture per engine; without a server, PostgreSQL is reported as skipped.
    pub(crate) fn of_each_engine(test: &str) -> Vec<Self> {
        folder_of_each_engine(test).into_iter().map(Self::in_folder).collect()
    }

    fn in_folder(folder: TempDir) -> Self {
        for root in ["a", "b"] {
            std::fs::create_dir(folder.path().join(root)).unwrap();
        }
        let plans = open(folder.path());
        Self { folder, plans, host: plan::Host::local(Wait::default()) }
    }

    pub(crate) fn root(&self, root: &str) -> PathBuf {
        self.folder.path().join(root)
    }

    /// The path of a root, as in plans.
    pub(crate) fn root_bytes(&self, root: &str) -> PathBytes {
        plan::path_bytes(&self.root(root).canonicalize().unwrap()).unwrap()
    }

    /// Writes a file as a person. Paths begin with the root.
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(path)).unwrap()
    }

    /// The contents of both roots, without our own files.
    pub(crate) fn trees(&self) -> (Tree, Tree) {
        let of = |root| tree_without(&self.root(root), ".cleveragents");
        (of("a"), of("b"))
    }

    /// Sets the roots of changes: paths begin with the letter of the root.
    pub(crate) fn rooted(&self, changes: Vec<Change>) -> Vec<Change> {
        let place = |change: Change| {
            let text = change.path.show().into_owned();
            let (root, path) = text.split_once('/').unwrap();
            let edit = match change.edit {
                Edit::Rename { to } => Edit::Rename { to: bytes(to.show().split_once('/').unwrap().1) },
                edit => edit,
            };
            Change { path: bytes(path), edit, ..change }.in_root(self.root_bytes(root))
        };
        changes.into_iter().map(place).collect()
    }

    /// Creates a ready plan over both roots, with these changes of these actors.
    pub(crate) fn plan(&self, actors: Vec<(&str, Vec<Change>)>) -> PlanId {
        let plan = self.plans.create(None, &[&self.root("a"), &self.root("b")], &actor("ana")).unwrap();
        let context = self.plans.context(plan.id).unwrap();
        let started: Vec<_> =
            actors.iter().map(|(name, _)| context.start_changeset(&actor(name)).unwrap()).collect();
        for (changeset, (_, changes)) in started.iter().zip(actors) {
            if !changes.is_empty() {
                changeset.record_many(self.rooted(changes)).unwrap();
            }
        }
        for changeset in started {
            changeset.seal().unwrap();
        }
        assert_eq!(self.plans.mark_ready(plan.id, &actor("ana")).unwrap().state, State::Ready);
        plan.id
    }

    pub(crate) fn apply(&self, plan: PlanId) -> Result<Report> {
        self.apply_with(plan, |_| ())
    }

    pub(crate) fn apply_with(&self, plan: PlanId, change: impl FnOnce(&mut ApplyRequest)) -> Result<Report> {
        let mut request = ApplyRequest::by(&actor("bob"));
        change(&mut request);
        self.plans.apply(&self.host, &self.plans.get(plan)?, &request)
    }

    pub(crate) fn undo(&self, plan: PlanId) -> Result<Report> {
        self.undo_with(plan, |_| ())
    }

    pub(crate) fn undo_with(&self, plan: PlanId, change: impl FnOnce(&mut UndoRequest)) -> Result<Report> {
        let mut request = UndoRequest::by(&actor("bob"));
        change(&mut request);
        self.plans.undo(&self.host, &self.plans.get(plan)?, &request)
    }

    /// Changes rows of the store as another program; at least one.
    pub(crate) fn tamper(&self, sql: &str) {
        let changed = match database_of(self.folder.path()) {
            None => {
                let edit = rusqlite::Connection::open(self.folder.path().join("state.db")).unwrap();
                edit.execute(sql, []).unwrap()
            }
            Some(url) => {
                let server = testkit::postgres::server().unwrap();
                let sql = format!(
                    "SET search_path = agents; WITH done AS ({sql} RETURNING 1) SELECT count(*) FROM done"
                );
                let (address, _) = url.split_once('?').unwrap();
                let (_, database) = address.rsplit_once('/').unwrap();
                server.sql(database, &sql).parse().unwrap()
            }
        };
        assert!(changed > 0, "{sql}");
    }

    pub(crate) fn state(&self, plan: PlanId) -> State {
        self.plans.get(plan).unwrap().state
    }

    pub(crate) fn get(&self, plan: PlanId) -> Plan {
        self.plans.get(plan).unwrap()
    }
}

pub(crate) fn delete(path: &str) -> Change {
    Change::delete(bytes(path))
}

pub(crate) fn outcomes(report: &Report) -> Vec<(String, &FileOutcome)> {
    report.files.iter().map(|file| (file.key.path.show().into_owned(), &file.outcome)).collect()
}

pub(crate) fn drifted(error: &Error) -> Vec<String> {
    let Error::Drifted { drifts, .. } = error else { panic!("{error:?}") };
    drifts.iter().map(|drift| drift.key.path.show().into_owned()).collect()
}
