//! Programs to measure, each with its own file of the same content.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use testkit::bench::{Arguments, InstallDir, Result};
use testkit::contended_config;

pub(crate) const ARGUMENTS: &[&str] = &["--agents", "--minimal", "--python"];
/// Keys that are set repeatedly, so that files do not grow.
pub(crate) const KEYS: usize = 50;

/// Paths of the programs.
pub(crate) struct Peers {
    _installed: InstallDir,
    agents: PathBuf,
    minimal: PathBuf,
    python: PathBuf,
    script: PathBuf,
}

/// A method of setting a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    Agents,
    Minimal,
    Python,
    Git,
    /// Restarted until it gets its lock.
    GitRetried,
}

impl Peers {
    pub(crate) fn new(arguments: &Arguments) -> Result<Self> {
        let file = |name: &str| {
            let file = arguments.others.get(name).ok_or_else(|| format!("{name} is missing; see --help"))?;
            Ok::<_, testkit::bench::Error>(std::path::absolute(file)?)
        };
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/bench_config/tomlkit_set.py");
        let installed = InstallDir::new()?;
        let (agents, minimal) = (installed.copy(&file("--agents")?)?, installed.copy(&file("--minimal")?)?);
        Ok(Self { agents, minimal, python: file("--python")?, script, _installed: installed })
    }

    /// Creates the files of all methods: 200 keys with comments, and the keys that are set.
    pub(crate) fn prepare(&self, place: &Path) -> Result<()> {
        let keys: String = (0..KEYS).map(|n| format!("{} = 0\n", name_of(n))).collect();
        let toml = contended_config::text() + &keys;
        for way in [Way::Agents, Way::Minimal, Way::Python, Way::Git] {
            let file = file_of(way, place);
            fs::create_dir_all(file.parent().ok_or("a file is in a folder")?)?;
            fs::write(file, if way == Way::Git { ini_of(&toml) } else { toml.clone() })?;
        }
        Ok(())
    }

    /// Returns the command that sets the `n`th key in a method's file.
    pub(crate) fn set(&self, way: Way, place: &Path, n: usize, value: u64) -> Command {
        let (file, name, value) = (file_of(way, place), name_of(n), value.to_string());
        let mut command = match way {
            Way::Agents => {
                let mut command = self.agents(place);
                command.args(["config", "set", &format!("x.w.{name}"), &value]);
                command
            }
            Way::Minimal => {
                let mut command = Command::new(&self.minimal);
                command.arg(file).args([name, value]);
                command
            }
            Way::Python => {
                let mut command = Command::new(&self.python);
                command.arg(&self.script).arg(file).args(["x.w".to_owned(), name, value]);
                command
            }
            Way::Git | Way::GitRetried => {
                let mut command = git(&file);
                command.args([format!("w.{name}"), value]);
                command
            }
        };
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }

    /// Returns the program, in a folder without a project.
    pub(crate) fn agents(&self, place: &Path) -> Command {
        let mut command = Command::new(&self.agents);
        command.current_dir(place).env("CLEVERAGENTS_HOME", place.join("home"));
        command
    }
}

/// Returns `git config` for one file.
pub(crate) fn git(file: &Path) -> Command {
    let mut command = Command::new("git");
    command.args(["config", "--file"]).arg(file);
    command
}

pub(crate) fn file_of(way: Way, place: &Path) -> PathBuf {
    place.join(match way {
        Way::Agents => "home/config.toml",
        Way::Minimal => "minimal/config.toml",
        Way::Python => "python/config.toml",
        Way::Git | Way::GitRetried => "git/config",
    })
}

fn name_of(n: usize) -> String {
    format!("w-{n}")
}

/// Converts the content to git's format: its tables have no dots.
fn ini_of(toml: &str) -> String {
    toml.replace("[x.file]", "[file]").replace("[x.w]", "[w]")
}
