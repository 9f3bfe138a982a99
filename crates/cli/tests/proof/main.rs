//! Promises of `agents config`, `agents context` and `agents plan` under concurrency, kills and disk errors.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "plays a person who edits the files")]

mod apply;
mod bench;
mod config;
mod contention;
mod context;

use std::path::Path;
use std::process::Command;

/// The program with a home folder and an otherwise empty environment.
fn program(home: &Path, current: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agents"));
    command.env_clear().env("CLEVERAGENTS_HOME", home).env("HOME", current).current_dir(current);
    // A killed process would leave a broken coverage profile.
    command.env("LLVM_PROFILE_FILE", "/dev/null").args(words);
    command
}

/// The names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
