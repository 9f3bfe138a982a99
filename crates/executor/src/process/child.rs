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
use super::tags::{ActorIdentity, TAG_VARIABLE};
use super::terminal::Terminal;
use crate::sandbox::{Confine, Confinement, create_private_file, spawn_confined};
use crate::{Error, Result};

/// Interval of checks for cancellation. Output and the end of the actor are noticed at once.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The command of an actor.
#[derive(Clone, Debug)]
pub struct ActorCommand<'a> {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// The folder to start in.
    pub folder: &'a Path,
    /// Differences to the environment of this process; `None` removes a variable.
    pub env: Vec<(OsString, Option<OsString>)>,
    /// File for standard input; none is `/dev/null`.
    pub stdin: Option<&'a Path>,
    /// Give the terminal to the actor, and capture no output.
    pub terminal: bool,
    /// New file for the output.
    pub output: &'a Path,
    /// Limit of the output file.
    pub output_bytes_max: u64,
    /// Confinement.
    pub confine: Confine,
    /// Folders that it may write to.
    pub allow_write: &'a [PathBuf],
    /// Unique text in the environment of the actor and of all processes that it starts.
    pub process_tag: &'a str,
}

/// Conditions that end an actor.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// Longest duration.
    pub timeout: Option<Duration>,
    /// Time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// Ends the actor once set.
    pub cancel: &'a AtomicBool,
    /// Sends SIGKILL without waiting once set.
    pub kill: &'a AtomicBool,
}

/// The way in which an actor ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Exited with this code.
    Exited(i32),
    /// Killed by this signal, which this process did not send.
    Signalled(i32),
    /// Exceeded its timeout.
    TimedOut,
    /// Cancelled.
    Cancelled,
}

/// The end of an actor and the amount of its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExitReport {
    /// The way in which it ended.
    pub exit: Exit,
    /// Bytes that it printed.
    pub printed_bytes: u64,
    /// Bytes in the output file.
    pub kept_bytes: u64,
    /// The error that stopped writing the output file.
    pub write_error: Option<io::ErrorKind>,
}

/// The process of an actor. Dropping it does not end it.
#[derive(Debug)]
pub struct ActorProcess {
    child: Child,
    identity: ActorIdentity,
    confinement: Confinement,
    /// None for an actor that has the terminal.
    reader: Option<JoinHandle<io::Result<Captured>>>,
    terminal: Option<Terminal>,
    stop_reading: Arc<AtomicBool>,
    output: PathBuf,
    started: Instant,
}

/// Starts an actor. Another thread calls `on_line` with each line of output, without its end.
pub fn spawn(actor: &ActorCommand<'_>, on_line: impl FnMut(&[u8]) + Send + 'static) -> Result<ActorProcess> {
    let mut command = command(actor);
    if actor.terminal {
        let (child, confinement) = spawn_confined(&mut command, actor.confine, actor.allow_write)?;
        let terminal = Terminal::hand_to(child.id());
        return Ok(ActorProcess::new(actor, child, confinement, None, terminal, Arc::default()));
    }
    let failed = |source| Error::Output { file: actor.output.to_owned(), source };
    let file = create_private_file(actor.output).map_err(|error| failed(io::Error::other(error)))?;
    let (reader, writer) = io::pipe().map_err(failed)?;
    let stdin = match actor.stdin {
        Some(path) => {
            Stdio::from(File::open(path).map_err(|source| Error::Output { file: path.to_owned(), source })?)
        }
        None => Stdio::null(),
    };
    command.stdin(stdin).stdout(writer.try_clone().map_err(failed)?).stderr(writer);
    let (child, confinement) = spawn_confined(&mut command, actor.confine, actor.allow_write)?;
    // Close our ends of the pipe, or the reader would never see its end.
    drop(command);
    let stop = Arc::new(AtomicBool::new(false));
    let capture = Capture { reader, file, room: actor.output_bytes_max, stop: Arc::clone(&stop), on_line };
    let reader = std::thread::spawn(move || capture.run());
    Ok(ActorProcess::new(actor, child, confinement, Some(reader), None, stop))
}

fn command(actor: &ActorCommand<'_>) -> Command {
    let program = actor.argv.first().cloned().unwrap_or_default();
    let mut command = Command::new(program);
    command.args(actor.argv.iter().skip(1)).current_dir(actor.folder).process_group(0);
    for (name, value) in &actor.env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env(TAG_VARIABLE, actor.process_tag);
    command
}

impl ActorProcess {
    fn new(
        actor: &ActorCommand<'_>,
        child: Child,
        confinement: Confinement,
        reader: Option<JoinHandle<io::Result<Captured>>>,
        terminal: Option<Terminal>,
        stop_reading: Arc<AtomicBool>,
    ) -> Self {
        Self {
            identity: ActorIdentity::of(child.id(), actor.process_tag),
            child,
            confinement,
            reader,
            terminal,
            stop_reading,
            output: actor.output.to_owned(),
            started: Instant::now(),
        }
    }

    /// Its identity, by which another process finds it.
    pub fn identity(&self) -> &ActorIdentity {
        &self.identity
    }

    /// Its confinement.
    pub fn confinement(&self) -> Confinement {
        self.confinement
    }

    /// Waits until the actor and all processes that it started have ended, by themselves or by a limit.
    pub fn wait(mut self, limits: &Limits<'_>) -> Result<ExitReport> {
        let limit = self.wait_for_exit_or_limit(limits);
        let grace = if limit.is_some() { limits.grace } else { Duration::ZERO };
        // Before waiting for the child: until then its pid cannot be reused.
        let gone = self.identity.end_or_kill(grace, limits.kill);
        drop(self.terminal.take());
        self.stop_reading.store(true, Ordering::Relaxed);
        let failed = |source| Error::Output { file: self.output.clone(), source };
        let status = self.child.wait().map_err(failed)?;
        let read = self.reader.map(|reader| reader.join().expect("a callback does not panic"));
        let Captured { printed_bytes, kept_bytes, write_error } =
            read.transpose().map_err(failed)?.unwrap_or_default();
        gone?;
        let by_itself = || match status.code() {
            Some(code) => Exit::Exited(code),
            None => Exit::Signalled(status.signal().unwrap_or_default()),
        };
        Ok(ExitReport { exit: limit.unwrap_or_else(by_itself), printed_bytes, kept_bytes, write_error })
    }

    /// Waits until the actor has exited, or returns the limit that it reached.
    fn wait_for_exit_or_limit(&self, limits: &Limits<'_>) -> Option<Exit> {
        let pid = Pid::from_raw(self.child.id() as i32).expect("a child has an id");
        // Wakes the poll below. Without a free file descriptor the next interval notices the exit.
        let pidfd = pidfd_open(pid, PidfdFlags::empty()).ok();
        loop {
            if has_exited(pid) {
                return None;
            }
            if limits.cancel.load(Ordering::Relaxed) {
                return Some(Exit::Cancelled);
            }
            let remaining = limits.timeout.map(|timeout| timeout.saturating_sub(self.started.elapsed()));
            if remaining.is_some_and(|remaining| remaining.is_zero()) {
                return Some(Exit::TimedOut);
            }
            if let Some(terminal) = &self.terminal {
                terminal.continue_if_stopped();
            }
            let mut fds: Vec<PollFd<'_>> = pidfd.iter().map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
            // The next round checks, whatever the result.
            let _ = poll(&mut fds, Some(&timespec(remaining.unwrap_or(POLL_INTERVAL).min(POLL_INTERVAL))));
        }
    }
}

/// Returns true if a child has exited. It stays a zombie.
fn has_exited(pid: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    // An error means that another thread has waited for it.
    !matches!(waitid(WaitId::Pid(pid), options), Ok(None))
}

/// Converts a duration of less than a second.
pub(super) fn timespec(wait: Duration) -> Timespec {
    Timespec { tv_sec: 0, tv_nsec: wait.subsec_nanos().into() }
}
