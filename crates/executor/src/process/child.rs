//! Starting an actor and waiting for its end.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, WaitId, WaitIdOptions, pidfd_open, waitid};

use super::capture::{Capture, Captured};
use super::tags::MARK_VARIABLE;
use super::terminal::Terminal;
use crate::sandbox::create_private_file;
use crate::{Confine, Enforced, Error, Identity, Result, spawn_confined};

/// How often it is looked whether to stop. Output and the actor's end are seen at once.
pub(super) const LOOK: Duration = Duration::from_millis(20);

/// What is to be started.
#[derive(Clone, Debug)]
pub struct Start<'a> {
    /// The program and its arguments.
    pub words: Vec<OsString>,
    /// The folder it starts in.
    pub folder: &'a Path,
    /// What its environment has beside ours; nothing takes a variable away.
    pub env: Vec<(OsString, Option<OsString>)>,
    /// What it reads from standard input: a file, or nothing.
    pub stdin: Option<&'a Path>,
    /// Whether it has the terminal: it reads and prints there, and nothing is captured.
    pub terminal: bool,
    /// The file that its output goes to, which must not be there.
    pub output: &'a Path,
    /// How much of the output is kept.
    pub output_bytes_max: u64,
    /// Whether it is confined.
    pub confine: Confine,
    /// Where it may write.
    pub writable: &'a [PathBuf],
    /// What nobody else has: all that the actor starts is known by it.
    pub mark: &'a str,
}

/// When an actor is ended.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// How long it has between being asked to end and being ended.
    pub grace: Duration,
    /// Ends it once it is set.
    pub cancel: &'a AtomicBool,
    /// Does not wait for it to end by itself once it is set.
    pub kill: &'a AtomicBool,
}

/// How an actor ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal that was not ours.
    Signalled(i32),
    /// It took too long.
    TimedOut,
    /// It was cancelled.
    Cancelled,
}

/// What is known of an actor that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub ended: Ended,
    /// How many bytes it printed.
    pub printed_bytes: u64,
    /// How many of them are in the file.
    pub kept_bytes: u64,
    /// Why not more are, when the file did not take them.
    pub not_kept: Option<io::ErrorKind>,
}

/// An actor that was started. Dropping it does not end it.
#[derive(Debug)]
pub struct Running {
    child: Child,
    identity: Identity,
    enforced: Enforced,
    /// None of an actor that has the terminal.
    reader: Option<JoinHandle<io::Result<Captured>>>,
    terminal: Option<Terminal>,
    stop: Arc<AtomicBool>,
    output: PathBuf,
    started: Instant,
}

/// Starts an actor. `on_line` is called from another thread with each line it prints, without the line end.
pub fn start(start: &Start<'_>, on_line: impl FnMut(&[u8]) + Send + 'static) -> Result<Running> {
    let mut command = command(start);
    if start.terminal {
        let (child, enforced) = spawn_confined(&mut command, start.confine, start.writable)?;
        let terminal = Terminal::hand_to(child.id());
        return Ok(Running::new(start, child, enforced, None, terminal, Arc::default()));
    }
    let failed = |source| Error::Output { file: start.output.to_owned(), source };
    let file = create_private_file(start.output).map_err(|error| failed(io::Error::other(error)))?;
    let (reader, writer) = io::pipe().map_err(failed)?;
    let stdin = match start.stdin {
        Some(path) => {
            Stdio::from(File::open(path).map_err(|source| Error::Output { file: path.to_owned(), source })?)
        }
        None => Stdio::null(),
    };
    command.stdin(stdin).stdout(writer.try_clone().map_err(failed)?).stderr(writer);
    let (child, enforced) = spawn_confined(&mut command, start.confine, start.writable)?;
    // Our own ends of the pipe go with the command: else its end would never be seen.
    drop(command);
    let stop = Arc::new(AtomicBool::new(false));
    let capture = Capture { reader, file, room: start.output_bytes_max, stop: Arc::clone(&stop), on_line };
    let reader = std::thread::spawn(move || capture.run());
    Ok(Running::new(start, child, enforced, Some(reader), None, stop))
}

fn command(start: &Start<'_>) -> Command {
    let program = start.words.first().cloned().unwrap_or_default();
    let mut command = Command::new(program);
    command.args(start.words.iter().skip(1)).current_dir(start.folder).process_group(0);
    for (name, value) in &start.env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env(MARK_VARIABLE, start.mark);
    command
}

impl Running {
    fn new(
        start: &Start<'_>,
        child: Child,
        enforced: Enforced,
        reader: Option<JoinHandle<io::Result<Captured>>>,
        terminal: Option<Terminal>,
        stop: Arc<AtomicBool>,
    ) -> Self {
        Self {
            identity: Identity::of(child.id(), start.mark),
            child,
            enforced,
            reader,
            terminal,
            stop,
            output: start.output.to_owned(),
            started: Instant::now(),
        }
    }

    /// By what another process finds it.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// How it is confined.
    pub fn enforced(&self) -> Enforced {
        self.enforced
    }

    /// Waits until it has ended, by itself or by the limits, and with it everything that it started.
    pub fn wait(mut self, limits: &Limits<'_>) -> Result<Outcome> {
        let cut_off = self.wait_or_cut_off(limits);
        let grace = if cut_off.is_some() { limits.grace } else { Duration::ZERO };
        // Before the child is waited for: until then nobody else can get its id.
        let gone = self.identity.end_or_kill(grace, limits.kill);
        drop(self.terminal.take());
        self.stop.store(true, Ordering::Relaxed);
        let failed = |source| Error::Output { file: self.output.clone(), source };
        let status = self.child.wait().map_err(failed)?;
        let read = self.reader.map(|reader| reader.join().expect("a callback does not panic"));
        let Captured { printed_bytes, kept_bytes, not_kept } =
            read.transpose().map_err(failed)?.unwrap_or_default();
        gone?;
        let by_itself = || match status.code() {
            Some(code) => Ended::Exited(code),
            None => Ended::Signalled(status.signal().unwrap_or_default()),
        };
        Ok(Outcome { ended: cut_off.unwrap_or_else(by_itself), printed_bytes, kept_bytes, not_kept })
    }

    /// Waits until it ended by itself, or until it is to be ended, and why.
    fn wait_or_cut_off(&self, limits: &Limits<'_>) -> Option<Ended> {
        let pid = Pid::from_raw(self.child.id() as i32).expect("a child has an id");
        // It wakes up whoever waits for it when the actor ends. Where there are no more handles, that is seen at the next look.
        let end = pidfd_open(pid, PidfdFlags::empty()).ok();
        loop {
            if has_exited(pid) {
                return None;
            }
            if limits.cancel.load(Ordering::Relaxed) {
                return Some(Ended::Cancelled);
            }
            let left = limits.timeout.map(|timeout| timeout.saturating_sub(self.started.elapsed()));
            if left.is_some_and(|left| left.is_zero()) {
                return Some(Ended::TimedOut);
            }
            if let Some(terminal) = &self.terminal {
                terminal.keep_going();
            }
            let mut ends: Vec<PollFd<'_>> = end.iter().map(|end| PollFd::new(end, PollFlags::IN)).collect();
            // Whatever it says, the next round looks.
            let _ = poll(&mut ends, Some(&span(left.unwrap_or(LOOK).min(LOOK))));
        }
    }
}

/// Whether a child of ours has exited; it stays to be waited for.
fn has_exited(pid: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    // Nothing to wait for means that somebody else has waited.
    !matches!(waitid(WaitId::Pid(pid), options), Ok(None))
}

/// How long to wait, less than a second, as the system wants to have it.
pub(super) fn span(wait: Duration) -> Timespec {
    Timespec { tv_sec: 0, tv_nsec: wait.subsec_nanos().into() }
}
