//! What `agents config`, `agents context` and `agents plan` promise, held against many processes, kills and errors of the disk.
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

/// The program with a home folder, and nothing of this machine's environment.
fn program(home: &Path, current: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agents"));
    command.env_clear().env("CLEVERAGENTS_HOME", home).env("HOME", current).current_dir(current);
    // Counting lines is for processes that end well.
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
