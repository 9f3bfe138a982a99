//! Other processes for a test: the test's own executable, started again to run one role.
//!
//! A test file that uses this has `#[test] fn child()`, which calls [`role`] and returns at once when it is not a child.
//! Parent and child talk by lines, so nobody sleeps: the parent reads the child's `@word`, the child reads its input.

use std::io::{BufRead, BufReader, Read, Write, stdin, stdout};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const ROLE: &str = "FILETX_TEST_ROLE";
const FOLDER: &str = "FILETX_TEST_FOLDER";

/// The role and the folder of this process, when it is a child.
pub(super) fn role() -> Option<(String, PathBuf)> {
    Some((std::env::var(ROLE).ok()?, std::env::var_os(FOLDER)?.into()))
}

/// Says a word to the parent. One write, as the test harness writes to the same pipe.
pub(super) fn say(word: &str) {
    stdout().write_all(format!("@{word}\n").as_bytes()).unwrap();
}

/// Waits for a line of the parent, or its end.
pub(super) fn listen() {
    stdin().read_line(&mut String::new()).unwrap();
}

/// A child process.
pub(super) struct Process {
    child: Child,
    output: BufReader<ChildStdout>,
    input: Option<ChildStdin>,
}

/// Starts a child in a role.
pub(super) fn start(role: &str, folder: &Path) -> Process {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["child", "--exact", "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
        .env(FOLDER, folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let input = child.stdin.take();
    Process { child, output, input }
}

impl Process {
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The next word that the child says.
    pub(super) fn hear(&mut self) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the child ended without a word");
            // The harness may have begun this line.
            if let Some((_, word)) = line.split_once('@') {
                return word.trim_end().to_owned();
            }
        }
    }

    /// Sends the line that the child listens for.
    pub(super) fn tell(&mut self) {
        self.input.as_mut().unwrap().write_all(b"\n").unwrap();
    }

    /// Ends the child's input, and waits until it has ended well.
    pub(super) fn finish(mut self) {
        self.input = None;
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        assert!(self.child.wait().unwrap().success(), "child failed: {rest}");
    }

    /// Kills the child with SIGKILL, and waits until it is dead.
    /// What reads the same input as the child lives on until this is dropped.
    pub(super) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
