//! Ctrl-C in the middle.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use crate::program::Program;

#[test]
fn an_interrupted_demo_removes_its_folder() {
    for signal in [Signal::INT, Signal::TERM] {
        let program = Program::new();
        let mut child = program
            .command("demo --kills 100000")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().starts_with("1. ")), "the first step begins");
        kill_process(Pid::from_child(&child), signal).unwrap();
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(said, "error: interrupted\n");
        assert_eq!(child.wait().unwrap().code(), Some(130));
        program.check_nothing_is_left();
    }
}

#[test]
fn a_closed_pipe_is_not_reported() {
    let program = Program::new();
    let mut child =
        program.command("demo --kills 1").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "");
    assert_eq!(child.wait().unwrap().code(), Some(1));
    program.check_nothing_is_left();
}
