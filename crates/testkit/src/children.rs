//! Other processes for a test: the test's own executable, started again to run one role.
//!
//! A test file that uses this has a test, `fn child()` say, which calls [`role`] and returns at once when it is not a child.
//! Parent and child talk by lines, so nobody sleeps: the parent reads the child's `@word`, the child reads its input.
//! Whatever goes wrong with a child panics, as tests do.

use std::io::{BufRead, BufReader, Read, Write, stdin, stdout};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const ROLE: &str = "AGENTS_TEST_ROLE";
const FOLDER: &str = "AGENTS_TEST_FOLDER";

/// The role and the folder of this process, when it is a child.
pub fn role() -> Option<(String, PathBuf)> {
    Some((std::env::var(ROLE).ok()?, std::env::var_os(FOLDER)?.into()))
}

/// Says a word to the parent. One write, as the test harness writes to the same pipe.
pub fn say(word: &str) {
    stdout().write_all(format!("@{word}\n").as_bytes()).expect("the parent hears");
}

/// Waits for a line of the parent, or its end.
pub fn listen() {
    stdin().read_line(&mut String::new()).expect("the parent tells");
}

/// A child process.
#[derive(Debug)]
pub struct Process {
    child: Child,
    output: BufReader<ChildStdout>,
    input: Option<ChildStdin>,
}

/// The command that is a child in a role. `test` is the whole name of the test that it runs.
pub fn command(test: &str, role: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a test knows its executable"));
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]).env(ROLE, role).env(FOLDER, folder);
    command
}

/// Starts a child in a role. `test` is the whole name of the test that it runs.
pub fn start(test: &str, role: &str, folder: &Path) -> Process {
    let mut child = command(test, role, folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a test's own executable starts");
    let output = BufReader::new(child.stdout.take().expect("it is piped"));
    let input = child.stdin.take();
    Process { child, output, input }
}

impl Process {
    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The next word that the child says.
    pub fn hear(&mut self) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(
                self.output.read_line(&mut line).expect("its output is text") > 0,
                "the child ended without a word"
            );
            // The harness may have begun this line.
            if let Some((_, word)) = line.split_once('@') {
                return word.trim_end().to_owned();
            }
        }
    }

    /// Sends the line that the child listens for.
    pub fn tell(&mut self) {
        self.input.as_mut().expect("it is piped").write_all(b"\n").expect("the child lives");
    }

    /// Ends the child's input, and waits until it has ended well.
    pub fn finish(mut self) {
        self.input = None;
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("its output is text");
        assert!(self.child.wait().expect("a child is waited for").success(), "child failed: {rest}");
    }

    /// Kills the child with SIGKILL, and waits until it is dead.
    /// What reads the same input as the child lives on until this is dropped.
    pub fn kill(&mut self) {
        self.child.kill().expect("a child can be killed");
        self.child.wait().expect("a child is waited for");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
