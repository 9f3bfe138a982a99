//! A project, a home folder with a store, and their runs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use executor::run::{
    Cancel, CheckedPlanFile, Event, NodeReport, NodeState, Options, Outcome, Runs, Summary, check,
};
use executor::{Confine, Ignored, Merge};
use plan::{Actor, ApplyRequest, Host, PlanId, Plans, Report};
use store::SqliteOptions;
use tempfile::TempDir;

pub(crate) struct Fixture {
    pub(crate) folder: TempDir,
    pub(crate) plans: Plans,
}

impl Fixture {
    /// A project with these files.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        Self::inside(&std::env::temp_dir(), files)
    }

    /// The same below a given folder.
    pub(crate) fn inside(folder: &Path, files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir_in(folder).unwrap();
        let root = folder.path().join("project");
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::create_dir_all(&root).unwrap();
        let plans = plans(&folder.path().join("home"));
        Self { folder, plans }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(crate) fn runs(&self) -> Runs {
        Runs::new(self.plans.clone(), &self.home().join("runs"))
    }

    pub(crate) fn options(&self, text: &str) -> Options {
        options(self.folder.path(), text)
    }

    /// Runs to the end.
    pub(crate) fn run(&self, text: &str) -> Summary {
        self.run_with(&self.options(text)).0
    }

    pub(crate) fn run_with(&self, options: &Options) -> (Summary, Vec<Event>) {
        let events = Mutex::new(Vec::new());
        let ended =
            self.runs().start(options, &Cancel::default(), &|event| events.lock().unwrap().push(event));
        (ended.unwrap(), events.into_inner().unwrap())
    }

    pub(crate) fn resume(&self, plan: PlanId) -> executor::Result<(Summary, Vec<Event>)> {
        let events = Mutex::new(Vec::new());
        let tell = |event| events.lock().unwrap().push(event);
        let ended = self.runs().resume(plan, &who(), &[], &Cancel::default(), &tell)?;
        Ok((ended, events.into_inner().unwrap()))
    }

    pub(crate) fn apply(&self, plan: PlanId) -> plan::Result<Report> {
        self.plans.apply(&Host::local(Default::default()), &self.plans.get(plan)?, &ApplyRequest::by(&who()))
    }

    /// All files of the project.
    pub(crate) fn files(&self) -> BTreeMap<String, String> {
        files(&self.root())
    }

    pub(crate) fn file(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap()
    }
}

pub(crate) fn plans(home: &Path) -> Plans {
    fs::create_dir_all(home).unwrap();
    Plans::open(Arc::new(SqliteOptions::default().open(&home.join("state.db")).unwrap()))
}

pub(crate) fn checked(folder: &Path, text: &str, root: &Path) -> CheckedPlanFile {
    check(folder.join("plan.toml"), text.to_owned(), Some(root)).unwrap()
}

pub(crate) fn options(folder: &Path, text: &str) -> Options {
    Options {
        plan: checked(folder, text, &folder.join("project")),
        name: None,
        concurrency: None,
        default_concurrency: 4,
        fail_fast: None,
        merge: None,
        default_merge: Merge::ThreeWay,
        confine: Confine::Auto,
        allow_write: Vec::new(),
        ignored: Ignored::Copy,
        strategy: "copy".to_owned(),
        terminal: false,
        file_bytes_max: 16 << 30,
        env_denylist: vec!["A_SECRET".into()],
        started_by: who(),
    }
}

pub(crate) fn who() -> Actor {
    Actor::parse("ana").unwrap()
}

/// All files below a folder, without our own.
pub(crate) fn files(root: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
            let path = entry.path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if entry.file_type().unwrap().is_symlink() {
                files.insert(name, format!("-> {}", fs::read_link(&path).unwrap().display()));
            } else if path.is_dir() {
                if !matches!(name.as_str(), ".cleveragents" | ".git") {
                    folders.push(path);
                }
            } else {
                files.insert(name, String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned());
            }
        }
    }
    files
}

pub(crate) fn node<'a>(summary: &'a Summary, name: &str) -> &'a NodeReport {
    summary.nodes.iter().find(|node| node.name == name).unwrap()
}

/// The outcome of each node, by name.
pub(crate) fn outcomes(summary: &Summary) -> BTreeMap<String, Outcome> {
    let ended = |state: NodeState| state.outcome().expect("every node has ended");
    summary.nodes.iter().map(|node| (node.name.clone(), ended(node.state))).collect()
}

pub(crate) fn outcome(summary: &Summary, name: &str) -> Outcome {
    node(summary, name).state.outcome().unwrap()
}

/// Returns true if a process with this tag is running.
pub(crate) fn is_tagged(tag: &str) -> bool {
    let wanted = format!("AGENTS_ACTOR={tag}");
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|entry| fs::read(entry.path().join("environ")).ok())
        .any(|variables| variables.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes()))
}
