//! Runs a program under strace: lists its system calls, kills it at any of them, makes any of them
//! fail, or stops it after one.
//!
//! strace's `when` counts per thread and call name from the start of the program, so a reference
//! run determines the numbers of the interesting part: from an access to a path that ends in
//! [`BEGIN`] to one that ends in [`END`], or to the end of the program. For a program without
//! markers, the part begins with its first use of a current folder of that name. The program must
//! have one thread, or another thread would be hit first. A killed or failed call has no effect.
//!
//! A kill between two calls without effect leaves the same disk as a kill before the next call with
//! one; see [`Call::changes`].

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::report::is_proof;

/// Of the calls that change nothing, one in this many is tried.
const SAMPLE: usize = 16;

/// An access to a path of this name begins the listed part.
pub const BEGIN: &str = "@begin";
/// An access to a path of this name ends the listed part.
pub const END: &str = "@end";

/// Calls that change files, names or durability. `openat` and the like count if they create a file.
const CHANGING: &[&str] = &[
    "write",
    "writev",
    "pwrite64",
    "pwritev",
    "pwritev2",
    "fsync",
    "fdatasync",
    "sync_file_range",
    "syncfs",
    "rename",
    "renameat",
    "renameat2",
    "link",
    "linkat",
    "unlink",
    "unlinkat",
    "rmdir",
    "mkdir",
    "mkdirat",
    "symlink",
    "symlinkat",
    "truncate",
    "ftruncate",
    "fallocate",
    "copy_file_range",
    "chmod",
    "fchmod",
    "fchmodat",
    "fchmodat2",
    "chown",
    "fchown",
    "fchownat",
    "setxattr",
    "fsetxattr",
    "fremovexattr",
];
/// Calls that do not concern files, or cannot fail because of the disk.
const APART: &[&str] = &[
    "mmap",
    "munmap",
    "mremap",
    "mprotect",
    "madvise",
    "brk",
    "futex",
    "close",
    "dup",
    "fcntl",
    "getrandom",
    "poll",
    "clock_gettime",
    "clock_nanosleep",
    "nanosleep",
    "sched_yield",
    "sched_getaffinity",
    "sigaltstack",
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "getpid",
    "uname",
    "gettid",
    "geteuid",
    "getuid",
    "prctl",
    "exit",
    "exit_group",
    "clone",
    "clone3",
    "set_robust_list",
    "rseq",
    "wait4",
    "kill",
    "tgkill",
    "restart_syscall",
];

/// A system call of the reference run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// The name.
    pub name: String,
    /// Its number among the calls of this name in its thread.
    pub nth: usize,
    /// The arguments, as strace prints them.
    pub arguments: String,
}

impl Call {
    /// Tells whether the call changes files, names or durability.
    pub fn changes(&self) -> bool {
        CHANGING.contains(&&*self.name)
            || (self.name.starts_with("open") && self.arguments.contains("O_CREAT"))
    }

    /// Tells whether a disk can make the call fail.
    pub fn can_fail(&self) -> bool {
        !APART.contains(&&*self.name)
    }

    /// Describes the call without numbers: equal for calls of the same step on the same path.
    pub fn step(&self) -> String {
        let mut step = self.name.clone();
        for part in self.arguments.split(['"', '<', '>']) {
            let name = part.rsplit('/').next().expect("a split has a part");
            // Names of a transaction begin with its id.
            let is_of_id = |c: char| c.is_ascii_hexdigit() || c == '-';
            let name = if name.len() > 32 { name.trim_start_matches(is_of_id) } else { name };
            if name.chars().all(|c| c.is_alphanumeric() || c == '.')
                && name.contains(|c: char| !c.is_ascii_digit())
            {
                step.push(' ');
                step.push_str(name);
            }
        }
        step
    }
}

/// An injection into the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inject {
    /// SIGKILL at the start of the call.
    Kill,
    /// An error of this call only.
    Once(&'static str),
    /// An error of this call and all later ones of its name.
    Lasting(&'static str),
}

/// The end of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ended {
    /// The exit code; `None` after a signal.
    pub code: Option<i32>,
    /// True if SIGKILL ended it.
    pub killed: bool,
    /// Its standard output.
    pub output: String,
    /// Its standard error.
    pub complaint: String,
}

/// Returns the reason for which strace cannot be used here, if any.
pub fn unusable() -> Option<String> {
    let tried =
        Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).stderr(Stdio::piped()).output();
    match tried {
        Err(error) => Some(format!("strace does not start: {error}")),
        Ok(output) if !output.status.success() => {
            Some(format!("strace cannot trace: {}", String::from_utf8_lossy(&output.stderr).trim()))
        }
        Ok(_) => None,
    }
}

/// Lists the calls of a program between the markers. The trace goes to the file `log`.
pub fn calls(command: &Command, log: &Path) -> Vec<Call> {
    let options = ["-f", "-qq", "-y", "-s", "0", "-o"].map(OsString::from);
    let ended = run_traced(command, options.into_iter().chain([log.into()]));
    let text = fs::read_to_string(log).expect("strace wrote its log");
    let calls = between_markers(&text);
    assert!(!calls.is_empty(), "no call between the markers: {ended:?}\n{text}");
    // The programs of tests end with codes of their own, but have no reason to complain.
    let is_fine = ended.code == Some(0) || ended.complaint.is_empty();
    assert!(is_fine, "undisturbed, but: {ended:?}");
    calls
}

/// Selects the calls to kill at: all that change something, and some of the others. With
/// `AGENTS_PROOF=1`, all.
pub fn points(calls: &[Call]) -> Vec<Call> {
    let reading = calls.iter().filter(|call| !call.changes());
    let sampled = reading.step_by(if is_proof() { 1 } else { SAMPLE });
    calls.iter().filter(|call| call.changes()).chain(sampled).cloned().collect()
}

/// Selects the calls to fail, and how.
pub fn errors(calls: &[Call]) -> Vec<(Call, Inject)> {
    use Inject::{Lasting, Once};
    let changing = calls.iter().filter(|call| call.changes());
    let all = [Once("EIO"), Lasting("EIO"), Once("ENOSPC"), Lasting("ENOSPC")];
    let mut errors: Vec<_> = changing.flat_map(|call| all.map(|what| (call.clone(), what))).collect();
    let reading = calls.iter().filter(|call| !call.changes() && call.can_fail());
    let sampled = reading.step_by(if is_proof() { 1 } else { SAMPLE / 4 });
    errors.extend(sampled.flat_map(|call| [Once("EIO"), Lasting("EIO")].map(|what| (call.clone(), what))));
    errors
}

/// Describes an injection, for messages.
pub fn describe(call: &Call, what: Inject) -> String {
    format!("{what:?} at {} {} ({})", call.name, call.nth, call.step())
}

/// Runs a program with an injection at one call.
pub fn run(command: &Command, at: &Call, what: Inject) -> Ended {
    let Call { name, nth, .. } = at;
    let what = match what {
        Inject::Kill => format!("inject={name}:signal=SIGKILL:when={nth}"),
        Inject::Once(error) => format!("inject={name}:error={error}:when={nth}"),
        Inject::Lasting(error) => format!("inject={name}:error={error}:when={nth}+"),
    };
    // Not `--seccomp-bpf`: with it strace 6.1 loses the signal.
    let options =
        ["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={name}"), "-e", &what].map(OsString::from);
    run_traced(command, options.into_iter())
}

/// Runs a program that is stopped after the first call of this name until `while_stopped` returns.
/// Creates a pipe for the trace in `folder`.
pub fn run_stopped(command: &Command, name: &str, folder: &Path, while_stopped: impl FnOnce()) -> Ended {
    let trace = folder.join("trace");
    let made = Command::new("mkfifo").arg(&trace).status().expect("mkfifo starts");
    assert!(made.success(), "a pipe is made");
    let inject = format!("inject={name}:signal=SIGSTOP:when=1");
    let options = ["-f", "-qq", "-e", &format!("trace={name}"), "-e", &inject, "-o"].map(OsString::from);
    let mut traced = traced(command, options.into_iter().chain([trace.clone().into()]));
    let program = traced.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("strace starts");
    let lines = BufReader::new(File::open(&trace).expect("strace writes its log")).lines();
    let mut lines = lines.map(|line| line.expect("a trace is text"));
    let stopped = lines.find(|line| line.ends_with("--- stopped by SIGSTOP ---"));
    let stopped = stopped.expect("the program makes this call");
    {
        let _going_on = GoingOn(stopped.split(' ').next().expect("the thread comes first").to_owned());
        while_stopped();
    }
    lines.for_each(drop);
    ended(&program.wait_with_output().expect("strace is waited for"))
}

/// Continues a stopped program, even after a panic.
struct GoingOn(String);

impl Drop for GoingOn {
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-CONT", &self.0]).status();
    }
}

fn run_traced(command: &Command, options: impl Iterator<Item = OsString>) -> Ended {
    ended(&traced(command, options).output().expect("strace starts"))
}

fn traced(command: &Command, options: impl Iterator<Item = OsString>) -> Command {
    let mut traced = Command::new("strace");
    traced.args(options).arg("--").arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => traced.env(name, value),
            None => traced.env_remove(name),
        };
    }
    traced.current_dir(command.get_current_dir().unwrap_or(Path::new("."))).stdin(Stdio::null());
    traced
}

fn ended(output: &Output) -> Ended {
    Ended {
        code: output.status.code(),
        killed: output.status.signal() == Some(9),
        output: String::from_utf8_lossy(&output.stdout).into_owned(),
        complaint: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn between_markers(text: &str) -> Vec<Call> {
    let mut counts: HashMap<(&str, &str), usize> = HashMap::new();
    let mut thread = None;
    let mut calls = Vec::new();
    for line in text.lines() {
        let Some((pid, rest)) = line.split_once(' ') else { continue };
        let Some((name, arguments)) = rest.trim_start().split_once('(') else { continue };
        if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            continue;
        }
        let count = counts.entry((pid, name)).or_default();
        *count += 1;
        if arguments.contains(&format!("{BEGIN}\"")) {
            thread = Some(pid);
        } else if arguments.contains(&format!("{END}\"")) {
            break;
        } else if thread == Some(pid) {
            calls.push(Call { name: name.to_owned(), nth: *count, arguments: arguments.to_owned() });
        }
    }
    calls
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = r#"7 openat(AT_FDCWD</>, "lib", O_RDONLY) = 3
7 statx(AT_FDCWD</>, "/x/@begin", 0) = -1 ENOENT
8 openat(AT_FDCWD</>, "other thread", O_RDONLY) = 3
7 openat(5</x/a>, "4f5e6d7c4f5e6d7c4f5e6d7c4f5e6d7c-3.was", O_RDWR|O_CREAT) = 3
7 --- SIGCHLD {si_signo=SIGCHLD} ---
7 fsync(3</x/b> <unfinished ...>
7 <... fsync resumed>) = 0
7 statx(AT_FDCWD</>, "/x/@end", 0) = -1 ENOENT
7 fsync(3</x/b>) = 0
"#;

    #[test]
    fn calls_are_counted_from_the_start_and_listed_between_the_markers() {
        let calls = between_markers(LOG);
        let short: Vec<_> = calls.iter().map(|call| (&*call.name, call.nth, call.changes())).collect();
        assert_eq!(short, [("openat", 2, true), ("fsync", 1, true)]);
        assert_eq!(calls[0].step(), "openat a .was");
    }
}
