//! The program does no more work than the command needs: its system calls, as strace sees them.

use std::process::Command;

use testkit::report::skipped;
use testkit::strace;

use crate::program::{GLOBAL_FILE, LOCAL_FILE, PROJECT_FILE, Program};

/// Calls that change a file, wait, or start a process.
const WORK: &[&str] =
    &["flock(", "clone", "fsync(", "fdatasync(", "O_CREAT", "rename", "unlink", "mkdir", "inotify", "O_RDWR"];

/// The system calls of the program with these arguments.
fn calls(program: &Program, words: &str) -> Vec<String> {
    let log = program.temporary().join("log");
    let plain = program.command(words);
    let mut traced = Command::new("strace");
    traced.args(["-f", "-qq", "-y", "-o"]).arg(&log).arg(plain.get_program()).args(plain.get_args());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => traced.env(name, value),
            None => traced.env_remove(name),
        };
    }
    traced.current_dir(plain.get_current_dir().expect("the program has a place"));
    program.check(&mut traced).success();
    std::fs::read_to_string(log).expect("strace wrote its log").lines().map(str::to_owned).collect()
}

#[test]
fn readers_write_nothing_take_no_lock_and_open_each_file_once() {
    if let Some(reason) = strace::unusable() {
        skipped("cli::work", &reason);
        return;
    }
    let program = Program::new();
    for file in [GLOBAL_FILE, PROJECT_FILE, LOCAL_FILE] {
        program.write(file, "x.a = 1\n");
    }
    let place = program.path("").display().to_string();
    // A coverage build writes files elsewhere.
    let is_work = |call: &&String| {
        WORK.iter().any(|work| call.contains(work)) && (call.contains(&place) || call.contains("clone"))
    };
    for words in ["config get x.a", "config list", "config explain x.a", "config path", "config schema"] {
        let calls = calls(&program, words);
        let work: Vec<_> = calls.iter().filter(is_work).collect();
        assert!(work.is_empty(), "{words}: {work:#?}");
        let opened =
            |name: &str| calls.iter().filter(|call| call.contains(" open") && call.contains(name)).count();
        assert_eq!((opened("config.toml"), opened("config.local.toml")), (2, 1), "{words}");
    }
}

#[test]
fn a_command_without_configuration_reads_none() {
    if let Some(reason) = strace::unusable() {
        skipped("cli::work", &reason);
        return;
    }
    let program = Program::in_project();
    program.write(GLOBAL_FILE, "core.format = \"json\"\n");
    let calls = calls(&program, "completions bash");
    assert!(!calls.iter().any(|call| call.contains("config.toml")), "{calls:#?}");
}
