//! `agents config watch`. Each test reads lines as they arrive; none depends on timing.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Lines, Read};
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::program::{GLOBAL_FILE, Program};
use crate::schema::{check_event, check_output};

/// A running watch.
struct Watching {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Watching {
    fn start(program: &Program, words: &str) -> Self {
        let mut command = program.command(words);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    fn next(&mut self) -> String {
        self.lines.next().expect("it goes on").unwrap()
    }

    fn next_json(&mut self) -> serde_json::Value {
        let line = self.next();
        let event: serde_json::Value = serde_json::from_str(&line).unwrap();
        match event["event"] == "end" {
            true => check_output(line.as_bytes()),
            false => check_event("config watch", &event),
        }
        event
    }

    /// Sends Ctrl-C. Returns standard error and the exit code.
    fn interrupt(mut self) -> (String, Option<i32>) {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
        self.end()
    }

    fn end(&mut self) -> (String, Option<i32>) {
        let mut stderr_text = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr_text).unwrap();
        (stderr_text, self.child.wait().unwrap().code())
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads standard error until the watch runs.
fn wait_until_it_has_begun(watching: &mut Watching) {
    let mut one = [0];
    let mut line = String::new();
    let stderr_text = watching.child.stderr.as_mut().unwrap();
    while !line.ends_with('\n') {
        stderr_text.read_exact(&mut one).unwrap();
        line.push(char::from(one[0]));
    }
    assert!(line.starts_with("watching "), "{line}");
}

#[test]
fn watch_prints_changes_until_ctrl_c() {
    let program = Program::new();
    let mut watching = Watching::start(&program, "config watch");
    wait_until_it_has_begun(&mut watching);
    let file = program.path(GLOBAL_FILE).display().to_string();
    program.run("config set plan.concurrency 8").success();
    assert_eq!(watching.next(), format!("plan.concurrency: 4 (default) -> 8 (global {file}:1)"));
    program.run("config set x.a word").success();
    assert_eq!(watching.next(), format!("x.a: not set -> \"word\" (global {file}:2)"));
    program.run("config unset plan.concurrency").success();
    assert_eq!(watching.next(), format!("plan.concurrency: 8 (global {file}:1) -> 4 (default)"));
    assert_eq!(watching.interrupt(), (String::new(), Some(130)));
}

#[test]
fn watch_prints_json_lines_for_programs() {
    let program = Program::new();
    program.write(GLOBAL_FILE, "x.a = 1\n");
    let mut watching = Watching::start(&program, "config watch x --format json");
    let first = watching.next_json();
    assert_eq!((&first["event"], &first["files"][0]["scope"]), (&"watching".into(), &"global".into()));
    program.run("config set plan.concurrency 8").success();
    program.run("config set x.a 2").success();
    let change = watching.next_json();
    assert_eq!((&change["event"], &change["key"]), (&"change".into(), &"x.a".into()));
    assert_eq!((&change["old"]["value"], &change["new"]["value"]), (&1.into(), &2.into()));
    assert_eq!(change["new"]["origin"]["line"], 1);
    program.write("agents-home/new", "x.a = = 3\n");
    let mut moving = Command::new("mv");
    let moved =
        moving.args(["new", "config.toml"]).current_dir(program.path("agents-home")).status().unwrap();
    assert!(moved.success());
    let problem = watching.next_json();
    assert_eq!((&problem["event"], &problem["code"]), (&"problem".into(), &"unparsable".into()));
    kill_process(Pid::from_child(&watching.child), Signal::INT).unwrap();
    let end = watching.next_json();
    assert_eq!(
        (&end["event"], &end["status"], &end["exit_code"]),
        (&"end".into(), &"interrupted".into(), &130.into())
    );
    assert_eq!(watching.end(), (String::new(), Some(130)));
}

#[test]
fn a_file_that_breaks_is_reported() {
    let program = Program::new();
    program.write(GLOBAL_FILE, "x.a = = 1\n");
    let mut watching = Watching::start(&program, "config watch");
    wait_until_it_has_begun(&mut watching);
    program.write(GLOBAL_FILE, "x.a = 1\n");
    let line = watching.next();
    assert!(line.starts_with("x.a: not set -> 1 "), "{line}");
    let (stderr_text, code) = watching.interrupt();
    assert!(stderr_text.starts_with("warning: cannot parse "), "{stderr_text}");
    assert_eq!(code, Some(130));
}

#[test]
fn watch_redacts_secrets() {
    let program = Program::new();
    let mut watching = Watching::start(&program, "config watch server");
    wait_until_it_has_begun(&mut watching);
    program.run_reading(b"hunter2", "config set server.token --stdin").success();
    let line = watching.next();
    assert!(line.starts_with("server.token: not set -> \"[REDACTED]\" (global "), "{line}");
    watching.interrupt();
}

#[test]
fn a_closed_pipe_ends_the_watch() {
    let program = Program::new();
    let mut watching = Watching::start(&program, "config watch --format json");
    watching.next();
    drop(std::mem::replace(&mut watching.lines, closed()));
    program.run("config set x.a 1").success();
    assert_eq!(watching.end(), (String::new(), Some(1)));
}

/// Lines of a process that has ended.
fn closed() -> Lines<BufReader<ChildStdout>> {
    let mut child = Command::new("true").stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    child.wait().unwrap();
    lines
}

#[test]
fn an_unknown_prefix_is_a_usage_error() {
    let run = Program::new().run("config watch plam").code(2).stdout_eq("");
    let stderr_text = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(stderr_text.starts_with("error: unknown key `plam`\n"), "{stderr_text}");
}
