//! Starts the program with a folder for temporary files of its own.

use std::path::Path;
use std::process::Command;

use snapbox::cmd::OutputAssert;
use tempfile::TempDir;

pub(crate) struct Program {
    temporary: TempDir,
    /// The current folder, with the home folder in it.
    place: TempDir,
}

impl Program {
    pub(crate) fn new() -> Self {
        let folder = || TempDir::new().expect("a temporary folder");
        Self { temporary: folder(), place: folder() }
    }

    /// The program with these words, in an environment that does not change what it prints.
    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agents"));
        command.args(words.split_whitespace());
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"] {
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
        // Neither the real home folder nor the project that these tests are part of.
        command.env("CLEVERAGENTS_HOME", self.place.path().join("home")).current_dir(self.place.path());
        command
    }

    pub(crate) fn run(&self, words: &str) -> OutputAssert {
        OutputAssert::new(self.command(words).output().expect("it starts"))
    }

    /// Where it makes temporary files.
    pub(crate) fn temporary(&self) -> &Path {
        self.temporary.path()
    }

    #[track_caller]
    pub(crate) fn check_nothing_is_left(&self) {
        let left: Vec<_> = std::fs::read_dir(self.temporary())
            .expect("it can be listed")
            .map(|entry| entry.expect("it can be listed").path())
            .collect();
        assert!(left.is_empty(), "left behind: {left:?}");
    }
}

/// What it printed for programs.
pub(crate) fn json(assert: &OutputAssert) -> serde_json::Value {
    serde_json::from_slice(&assert.get_output().stdout).expect("one JSON object and nothing else")
}

/// What it printed for people.
pub(crate) fn text(assert: &OutputAssert) -> String {
    String::from_utf8(assert.get_output().stdout.clone()).expect("text is UTF-8")
}
