//! Child processes of a test: its own executable, started again in a role.
//!
//! A test file that uses this module has a test, such as `fn child()`, that calls [`role`] and
//! returns at once if it is not a child. Parent and child synchronize by lines, without sleeping:
//! the parent reads `@word` from the child, the child reads its input. Every failure of a child
//! panics.

use std::io::{BufRead, BufReader, Read, Write, stdin, stdout};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const ROLE: &str = "AGENTS_TEST_ROLE";
const FOLDER: &str = "AGENTS_TEST_FOLDER";

/// Returns the role and the folder of this process, if it is a child.
pub fn role() -> Option<(String, PathBuf)> {
    Some((std::env::var(ROLE).ok()?, std::env::var_os(FOLDER)?.into()))
}

/// Sends a word to the parent, in one write, since the test harness writes to the same pipe.
pub fn send(word: &str) {
    stdout().write_all(format!("@{word}\n").as_bytes()).expect("the parent hears");
}

/// Waits for a line of the parent, or the end of its output.
pub fn wait_for_parent() {
    stdin().read_line(&mut String::new()).expect("the parent tells");
}

/// A child process.
#[derive(Debug)]
pub struct Process {
    child: Child,
    output: BufReader<ChildStdout>,
    input: Option<ChildStdin>,
}

/// Returns the command of a child in a role. `test` is the full name of the test that it runs.
pub fn command(test: &str, role: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a test knows its executable"));
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]).env(ROLE, role).env(FOLDER, folder);
    command
}

/// Starts a child in a role. `test` is the full name of the test that it runs.
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
    /// Returns the process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Receives the next word of the child.
    pub fn receive(&mut self) -> String {
        self.receive_or_end().expect("the child says a word before it ends")
    }

    /// Receives the next word of the child; `None` once it has ended. Ignores a word that a kill
    /// has truncated.
    pub fn receive_or_end(&mut self) -> Option<String> {
        let mut line = String::new();
        loop {
            line.clear();
            if self.output.read_line(&mut line).expect("its output is text") == 0 {
                return None;
            }
            // The harness may have started this line.
            if let Some((_, word)) = line.split_once('@')
                && let Some(word) = word.strip_suffix('\n')
            {
                return Some(word.to_owned());
            }
        }
    }

    /// Sends the line that the child waits for.
    pub fn notify(&mut self) {
        self.input.as_mut().expect("it is piped").write_all(b"\n").expect("the child lives");
    }

    /// Closes the child's input, and waits for its successful exit.
    pub fn finish(self) {
        self.finish_and_receive();
    }

    /// Like [`finish`](Self::finish), and returns the words that were not received yet.
    pub fn finish_and_receive(mut self) -> Vec<String> {
        self.input = None;
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("its output is text");
        assert!(self.child.wait().expect("a child is waited for").success(), "child failed: {rest}");
        rest.lines().filter_map(|line| Some(line.split_once('@')?.1.to_owned())).collect()
    }

    /// Kills the child with SIGKILL, and waits for its end. Another process with the same input
    /// lives until this is dropped.
    pub fn kill(&mut self) {
        self.child.kill().expect("a child can be killed");
        self.child.wait().expect("a child is waited for");
    }
}

/// Runs `count` processes, kills one after the other at a random moment and replaces it, and
/// finally kills all of them.
///
/// `begin` starts a process that sends `done` after each of its actions. Between two kills,
/// `words_between` of these words are received.
pub fn with_kills(
    count: usize,
    kills: usize,
    words_between: usize,
    random: &mut fastrand::Rng,
    begin: impl Fn() -> Process,
) {
    let mut processes: Vec<_> = (0..count).map(|_| begin()).collect();
    for _ in 0..kills {
        for _ in 0..words_between {
            assert_eq!(processes[random.usize(..count)].receive(), "done");
        }
        // The others continue while one is killed at an arbitrary point.
        let victim = random.usize(..count);
        processes[victim].kill();
        processes[victim] = begin();
    }
    processes.iter_mut().for_each(Process::kill);
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
