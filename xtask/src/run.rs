//! Programs run one after another as named, timed steps, with a table at the end.
//!
//! A failed step ends the run; the last line says how to run that step alone.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::error::{Error, Result};
use crate::notes::Notes;
use crate::tools;

/// One run of a command.
pub(crate) struct Run {
    notes: Notes,
    started: Instant,
    steps: Vec<(String, Duration)>,
    variables: Vec<(&'static str, OsString)>,
}

impl Run {
    /// Starts with no steps, skips or figures.
    pub(crate) fn start() -> Result<Run> {
        let notes = Notes::clear(&root().join("target/xtask"))?;
        Ok(Run { notes, started: Instant::now(), steps: Vec::new(), variables: Vec::new() })
    }

    /// Sets an environment variable for later steps.
    pub(crate) fn set_variable(&mut self, name: &'static str, value: impl Into<OsString>) {
        self.variables.push((name, value.into()));
    }

    /// Returns the output of a program that is not a step.
    pub(crate) fn query(&self, mut command: Command) -> Result<String> {
        command.envs(self.variables.iter().cloned());
        output_of(command)
    }

    /// Runs a program as a step, its output on the terminal, with the variables for skips and figures.
    pub(crate) fn step(&mut self, name: &str, mut command: Command) -> Result<()> {
        command.envs(self.variables.iter().cloned());
        let alone = formatted(&command);
        println!("\n== {name}: {alone}");
        self.notes.set_variables(&mut command);
        let started = Instant::now();
        let status = prepared(&mut command)
            .status()
            .map_err(Error::io(format!("start `{}`", command.get_program().display())))?;
        self.steps.push((name.to_owned(), started.elapsed()));
        if status.success() { Ok(()) } else { Err(Error::Step { step: name.to_owned(), alone }) }
    }

    /// Records a skip.
    pub(crate) fn skip(&mut self, name: &str, reason: &str) -> Result<()> {
        println!("\n== {name}: skipped: {reason}");
        self.notes.add_skip(name, reason)
    }

    /// Records a figure for the report.
    pub(crate) fn figure(&mut self, name: &str, value: &str) -> Result<()> {
        self.notes.add_figure(name, value)
    }

    pub(crate) fn steps(&self) -> &[(String, Duration)] {
        &self.steps
    }

    pub(crate) fn notes(&self) -> &Notes {
        &self.notes
    }

    /// Prints steps, figures and skips. Under CI, fails on a skip that is not allowed.
    pub(crate) fn finish(&self) -> Result<()> {
        let skips = self.notes.skips()?;
        let figures = self.notes.figures()?;
        println!("\n== summary");
        for (name, time) in &self.steps {
            println!("{:8.1} s  {name}", time.as_secs_f64());
        }
        println!("{:8.1} s  total", self.started.elapsed().as_secs_f64());
        if !figures.is_empty() {
            println!("\nfigures:");
            for (name, value) in &figures {
                println!("  {name}: {value}");
            }
        }
        println!("\nskipped: {}", skips.len());
        for skip in &skips {
            println!("  {}: {}", skip.name, skip.reason);
        }
        if std::env::var_os("CI").is_some_and(|value| value == "true") {
            self.notes.check_skips(&skips, root())?;
        }
        println!("\npassed");
        Ok(())
    }
}

/// A `cargo` command with these arguments.
pub(crate) fn cargo(words: &str) -> Command {
    let mut command = Command::new("cargo");
    command.args(words.split_whitespace());
    command
}

/// Returns the standard output of a program.
pub(crate) fn output_of(mut command: Command) -> Result<String> {
    let alone = formatted(&command);
    let output = prepared(&mut command)
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(Error::io(format!("start `{}`", command.get_program().display())))?;
    if !output.status.success() {
        return Err(Error::Step { step: "query".to_owned(), alone });
    }
    String::from_utf8(output.stdout)
        .map_err(|error| Error::Output { command: alone, problem: error.to_string() })
}

/// Finds the executables among the messages of a build, with the names of their targets.
pub(crate) fn executables(messages: &str) -> Vec<(String, PathBuf)> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let executable = |message: Value| {
        Some((message["target"]["name"].as_str()?.to_owned(), message["executable"].as_str()?.into()))
    };
    messages.filter_map(executable).collect()
}

/// The folder of the workspace, from a variable that cargo sets.
pub(crate) fn root() -> &'static Path {
    static ROOT: std::sync::LazyLock<PathBuf> = std::sync::LazyLock::new(|| {
        let here =
            std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        Path::new(&here).parent().expect("xtask is a folder of the workspace").to_owned()
    });
    &ROOT
}

/// Sets the folder, and the path with our own tools.
fn prepared(command: &mut Command) -> &mut Command {
    command.current_dir(root()).env("PATH", tools::search_path())
}

/// Formats a command as a person types it.
fn formatted(command: &Command) -> String {
    let variables = command.get_envs().filter_map(|(name, value)| {
        Some(format!("{}={}", name.display(), quoted(&value?.to_string_lossy())))
    });
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    variables.chain(words.map(|word| quoted(&word.to_string_lossy()))).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=/.,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executables_are_found_among_other_messages() {
        let messages = r#"
            {"reason":"compiler-artifact","target":{"name":"filetx"},"executable":null}
            {"reason":"compiler-artifact","target":{"name":"windows"},"executable":"a/windows-1.exe"}
            {"reason":"build-finished","success":true}"#;
        assert_eq!(executables(messages), [("windows".to_owned(), PathBuf::from("a/windows-1.exe"))]);
    }

    #[test]
    fn a_command_is_formatted_for_the_shell() {
        let mut command = cargo("test --test shuttle_*");
        command.env("RUSTDOCFLAGS", "-D warnings").arg("it's");
        assert_eq!(
            formatted(&command),
            r"RUSTDOCFLAGS='-D warnings' cargo test --test 'shuttle_*' 'it'\''s'"
        );
    }
}
