//! Other processes for a test: the test's own executable, started again to play a role.
//!
//! A test file that uses this has `#[test] fn child()`, which calls [`role`] and returns at once when it is not a child. Parent and child
//! talk by lines, so nobody sleeps: the parent hears the child's words, the child listens for a line.

use std::env;
use std::io::{BufRead, BufReader, Read, Write, stdin, stdout};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const ROLE: &str = "TESTKIT_ROLE";
const FOLDER: &str = "TESTKIT_FOLDER";

/// The role and the folder of this process, when it is a child.
pub fn role() -> Option<(String, PathBuf)> {
    Some((env::var(ROLE).ok()?, env::var_os(FOLDER)?.into()))
}

/// Says a word to the parent. One write, as the test harness writes to the same pipe.
pub fn say(word: &str) {
    stdout().write_all(format!("@{word}\n").as_bytes()).expect("the parent listens");
}

/// Waits for a line of the parent, or its end.
pub fn listen() {
    stdin().read_line(&mut String::new()).expect("the parent speaks, or is gone");
}

/// A child process. It is killed when this goes.
pub struct Process {
    child: Child,
    output: BufReader<ChildStdout>,
    input: Option<ChildStdin>,
}

/// Starts a child in a role. `test` is the path of the test that plays it, such as `child`.
pub fn start(test: &str, role: &str, folder: &Path) -> Process {
    let mut child = Command::new(env::current_exe().expect("a test knows where it is"))
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
        .env(FOLDER, folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the test starts once more");
    let output = BufReader::new(child.stdout.take().expect("it is piped"));
    let input = child.stdin.take();
    Process { child, output, input }
}

impl Process {
    /// The next word that the child says; `None` when it has ended.
    pub fn hear(&mut self) -> Option<String> {
        let mut line = String::new();
        loop {
            line.clear();
            if self.output.read_line(&mut line).expect("the child's output is text") == 0 {
                return None;
            }
            // The harness may have begun this line. A kill may have cut it.
            if let Some((_, word)) = line.split_once('@')
                && word.ends_with('\n')
            {
                return Some(word.trim_end().to_owned());
            }
        }
    }

    /// Sends the line that the child listens for.
    pub fn tell(&mut self) {
        self.input.as_mut().expect("it was not finished").write_all(b"\n").expect("the child listens");
    }

    /// Ends the child's input, and waits until it has ended well. What it said meanwhile.
    pub fn finish(mut self) -> Vec<String> {
        self.input = None;
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("the child's output is text");
        assert!(self.child.wait().expect("a child can be waited for").success(), "child failed: {rest}");
        rest.lines().filter_map(|line| Some(line.split_once('@')?.1.to_owned())).collect()
    }

    /// Kills the child with SIGKILL, and waits until it is dead. What it had said can still be heard.
    pub fn kill(&mut self) {
        self.child.kill().expect("a child can be killed");
        self.child.wait().expect("a child can be waited for");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
