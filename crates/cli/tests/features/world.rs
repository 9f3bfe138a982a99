//! State of a scenario: its folders, the last command, and the values that were set.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output};
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;

use config::{ConfigDirs, ConfigService, Environment, Registry};
use tempfile::TempDir;
use testkit::mount::SmallDisk;

use crate::kills::Killed;
use crate::runs::Started;

/// A saved state of a context: its export, and its four files.
pub(crate) type Remembered = (Vec<u8>, BTreeMap<&'static str, Option<Vec<u8>>>);

/// The writer behind "processes" in a scenario.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) enum Writer {
    /// `agents config set`, or `agents context import`.
    #[default]
    Program,
    /// The control: read, change and write back, or four plain writes.
    Naive,
    /// A more careful control: four renames.
    Renames,
}

#[derive(cucumber::World, Debug)]
#[world(init = Self::new)]
pub(crate) struct World {
    /// Dropped before the folder that contains its mount point, which could not be removed otherwise.
    pub(crate) disk: Option<SmallDisk>,
    pub(crate) writer: Writer,
    /// Contains all files of the scenario.
    folder: TempDir,
    /// Current folder of the program.
    pub(crate) current: PathBuf,
    /// The home folder; `None` if the environment does not name one.
    pub(crate) home: Option<PathBuf>,
    pub(crate) variables: BTreeMap<String, String>,
    /// The last command.
    pub(crate) output: Option<Output>,
    /// Content of the files before the last `When`.
    pub(crate) before: BTreeMap<PathBuf, String>,
    /// Keys with their allowed values.
    pub(crate) set: BTreeMap<String, Vec<i64>>,
    /// Outcome of every `set` of a process.
    pub(crate) sets: Vec<Result<(), String>>,
    /// The changesets of a plan's actors.
    pub(crate) changesets: BTreeMap<String, String>,
    /// Outputs of processes that ran at once.
    pub(crate) outputs: Vec<Output>,
    /// Outcome of a call of the library.
    pub(crate) outcome: Option<Result<(), String>>,
    /// A long-lived service, in place of a long-lived process.
    pub(crate) living: Option<ConfigService>,
    /// Every context before the last change.
    pub(crate) exported: BTreeMap<String, Remembered>,
    /// States that kills left.
    pub(crate) kills: Vec<Killed>,
    /// Limits under which the program starts.
    pub(crate) bounds: Bounds,
    /// A thread that holds a lock until the first half is dropped.
    pub(crate) holder: Option<(Sender<()>, JoinHandle<()>)>,
    /// A command that waits, and its output.
    pub(crate) waiting: Option<(Child, Lines<BufReader<ChildStderr>>)>,
    /// A run in the background.
    pub(crate) started: Option<Started>,
}

/// Shell commands before the program starts; may be empty.
#[derive(Clone, Default, Debug)]
pub(crate) struct Bounds {
    pub(crate) shell: String,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["user/home", "project", "elsewhere", "dotfiles"] {
            fs::create_dir_all(path(name)).unwrap();
        }
        Self {
            writer: Writer::default(),
            current: path("project"),
            home: Some(path("user/home")),
            folder,
            variables: BTreeMap::new(),
            output: None,
            before: BTreeMap::new(),
            set: BTreeMap::new(),
            sets: Vec::new(),
            changesets: BTreeMap::new(),
            outputs: Vec::new(),
            outcome: None,
            living: None,
            exported: BTreeMap::new(),
            kills: Vec::new(),
            started: None,
            bounds: Bounds::default(),
            holder: None,
            waiting: None,
            disk: None,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The file of a scope.
    pub(crate) fn file(&self, scope: &str) -> PathBuf {
        let project = self.path("project/.cleveragents");
        match scope {
            "global" => self.home.clone().unwrap_or_else(|| self.path("user/home")).join("config.toml"),
            "project" => project.join("config.toml"),
            "local" => project.join("config.local.toml"),
            scope => panic!("there is no scope {scope}"),
        }
    }

    /// The program in the current folder of the scenario, with the environment of the scenario alone.
    pub(crate) fn program(&self) -> Command {
        let program = env!("CARGO_BIN_EXE_agents");
        let mut command = match self.bounds.shell.as_str() {
            "" => Command::new(program),
            before => {
                let mut shell = Command::new("sh");
                shell.args(["-c", &format!("{before} && exec \"$0\" \"$@\""), program]);
                shell
            }
        };
        command.env_clear().current_dir(&self.current).env("HOME", self.path("user"));
        for name in ["PATH", "LLVM_PROFILE_FILE"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        match &self.home {
            Some(home) => command.env("CLEVERAGENTS_HOME", home),
            // Without the variable the program would ask the system, and use the real home folder.
            None => command.env("HOME", "nowhere"),
        };
        command.envs(&self.variables);
        command
    }

    /// A service over the same files.
    pub(crate) fn service(&self) -> ConfigService {
        let dirs = ConfigDirs { home: self.home.clone().unwrap(), project: None };
        ConfigService::new(Registry::standard(), dirs, Environment::empty())
    }

    /// Saves the content of the files for a later comparison.
    pub(crate) fn remember(&mut self) {
        for scope in ["global", "project", "local"] {
            let file = self.file(scope);
            if let Ok(text) = fs::read_to_string(&file) {
                self.before.insert(file, text);
            }
        }
    }

    pub(crate) fn last(&self) -> &Output {
        self.output.as_ref().expect("something was run")
    }
}

/// The text between the quotes of a step, ending in a newline as files do.
pub(crate) fn text_of(step: &cucumber::gherkin::Step) -> String {
    let text = step.docstring.as_deref().expect("the step has a text");
    format!("{}\n", text.trim_matches('\n'))
}

pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
