//! Starts the program with its own home folder, current folder and folder for temporary files.

#![expect(clippy::disallowed_methods, reason = "plays a person who edits files")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use snapbox::cmd::OutputAssert;
use snapbox::{Assert, Redactions};
use tempfile::TempDir;

use crate::schema::check_output;

pub(crate) struct Program {
    temporary: TempDir,
    /// The current folder, with the home folder in it.
    place: TempDir,
    /// Ids, which names replace in compared output.
    named: std::cell::RefCell<Vec<(&'static str, String)>>,
}

impl Program {
    pub(crate) fn new() -> Self {
        let folder = || TempDir::new().expect("a temporary folder");
        Self { temporary: folder(), place: folder(), named: Default::default() }
    }

    /// A current folder that is a project with a file.
    pub(crate) fn in_project() -> Self {
        let program = Self::new();
        program.write(PROJECT_FILE, "");
        program
    }

    /// The program with these arguments, in an environment that does not affect its output.
    pub(crate) fn command(&self, words: &str) -> Command {
        self.command_of(&words.split_whitespace().collect::<Vec<_>>())
    }

    /// The same with arguments that contain spaces.
    pub(crate) fn command_of(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agents"));
        command.args(words);
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "VISUAL", "EDITOR", "PAGER"] {
            command.env_remove(name);
        }
        for name in std::env::vars_os().map(|(name, _)| name) {
            if name.to_string_lossy().starts_with("CLEVERAGENTS_") {
                command.env_remove(name);
            }
        }
        for name in ["TMPDIR", "TMP", "TEMP"] {
            command.env(name, self.temporary());
        }
        command.env("USER", "ana");
        // Neither the real home folder nor the project of these tests.
        command.env("CLEVERAGENTS_HOME", self.path("agents-home")).current_dir(self.place.path());
        command
    }

    pub(crate) fn run(&self, words: &str) -> OutputAssert {
        self.check(&mut self.command(words))
    }

    pub(crate) fn run_of(&self, words: &[&str]) -> OutputAssert {
        self.check(&mut self.command_of(words))
    }

    /// Runs a command that prints an id. From now on, this name replaces the id in compared output.
    pub(crate) fn made(&self, placeholder: &'static str, words: &str) -> String {
        let id = text(&self.run(words).success()).trim().to_owned();
        self.named.borrow_mut().push((placeholder, id.clone()));
        id
    }

    /// Runs it with an environment variable.
    pub(crate) fn run_with(&self, name: &str, value: &str, words: &str) -> OutputAssert {
        self.check(self.command(words).env(name, value))
    }

    /// Runs it with this standard input.
    pub(crate) fn run_reading(&self, input: &[u8], words: &str) -> OutputAssert {
        let mut command = self.command(words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        // The program may stop reading before the end.
        let _ = child.stdin.take().expect("it is piped").write_all(input);
        let output = child.wait_with_output().expect("it ends");
        check_output(&output.stdout);
        OutputAssert::new(output).with_assert(self.assert())
    }

    /// Runs a command to its end, and validates its JSON. In its output, names replace the folders of this test and times.
    #[track_caller]
    pub(crate) fn check(&self, command: &mut Command) -> OutputAssert {
        let output = command.stdin(Stdio::null()).output().expect("it starts");
        check_output(&output.stdout);
        OutputAssert::new(output).with_assert(self.assert())
    }

    fn assert(&self) -> Assert {
        let mut redactions = Redactions::new();
        let mut name = |name, path: &Path| {
            redactions.insert(name, path.display().to_string()).expect("the name is a placeholder");
        };
        name("[PLACE]", self.place.path());
        name("[TEMPORARY]", self.temporary());
        for (placeholder, id) in self.named.borrow().iter() {
            redactions.insert(placeholder, id.clone()).expect("the name is a placeholder");
        }
        Assert::new().action_env("SNAPSHOTS").redact_with(redactions)
    }

    /// A path below the current folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// Writes a file below the current folder, as a person would.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("folders can be made");
        fs::write(path, content).expect("it can be written");
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("it can be read")
    }

    /// Content of a file.
    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).expect("it is UTF-8")
    }

    /// The names in a folder, sorted.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).expect("it can be listed");
        let names = entries.map(|entry| entry.expect("it can be listed").file_name());
        let mut names: Vec<_> = names.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The folder for temporary files.
    pub(crate) fn temporary(&self) -> &Path {
        self.temporary.path()
    }

    #[track_caller]
    pub(crate) fn check_nothing_is_left(&self) {
        let left: Vec<_> = fs::read_dir(self.temporary())
            .expect("it can be listed")
            .map(|entry| entry.expect("it can be listed").path())
            .collect();
        assert!(left.is_empty(), "left behind: {left:?}");
    }
}

/// Files of the scopes, below the current folder.
pub(crate) const GLOBAL_FILE: &str = "agents-home/config.toml";
pub(crate) const PROJECT_FILE: &str = ".cleveragents/config.toml";
pub(crate) const LOCAL_FILE: &str = ".cleveragents/config.local.toml";

/// The JSON on standard output.
pub(crate) fn json(assert: &OutputAssert) -> serde_json::Value {
    check_output(&assert.get_output().stdout);
    serde_json::from_slice(&assert.get_output().stdout).expect("one JSON object and nothing else")
}

/// The text on standard output.
pub(crate) fn text(assert: &OutputAssert) -> String {
    String::from_utf8(assert.get_output().stdout.clone()).expect("text is UTF-8")
}

/// The text on standard error.
pub(crate) fn stderr_text(assert: &OutputAssert) -> String {
    String::from_utf8(assert.get_output().stderr.clone()).expect("text is UTF-8")
}
