//! One actor as a process: in a group of its own, with its output captured, ended whole.
//!
//! Promises: output goes to a file up to a bound and line by line to a callback, and reading goes on behind the bound, or when the file
//! takes no more, so that an actor is never stuck on a full pipe; when the actor ends, is cancelled or takes too long, everything it started is ended with it before
//! [`Running::wait`] returns, so nothing it writes later counts.
//!
//! What belongs to an actor is told by its [`Identity`], see `identity`.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, WaitId, WaitIdOptions, pidfd_open, waitid};

use crate::identity::MARK_VARIABLE;
use crate::sandbox::create_private_file;
use crate::terminal::Terminal;
use crate::{Confine, Enforced, Error, Identity, Result, spawn_confined};

/// The longest line that is handed to the callback in one piece.
pub const LINE_BYTES_MAX: usize = 16 * 1024;
/// What is still read after the end: more than a pipe holds, so that all that was printed before it is there.
const DRAIN_BYTES_MAX: usize = 2 * 1024 * 1024;
/// How often it is looked whether to stop. Output and the actor's end are seen at once.
const LOOK: Duration = Duration::from_millis(20);

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
fn span(wait: Duration) -> Timespec {
    Timespec { tv_sec: 0, tv_nsec: wait.subsec_nanos().into() }
}

/// Output on its way to the file and the callback.
struct Capture<F> {
    reader: io::PipeReader,
    file: File,
    room: u64,
    stop: Arc<AtomicBool>,
    on_line: F,
}

/// What came of it.
#[derive(Debug, Default)]
struct Captured {
    printed_bytes: u64,
    kept_bytes: u64,
    not_kept: Option<io::ErrorKind>,
}

impl<F: FnMut(&[u8])> Capture<F> {
    /// Reads to the end, or until it is stopped and what was printed before is read: somebody who got away may hold the pipe for ever.
    fn run(mut self) -> io::Result<Captured> {
        let (mut captured, mut drained) = (Captured::default(), 0);
        let mut line = Vec::new();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let stopping = self.stop.load(Ordering::Relaxed);
            if !self.is_readable(if stopping { Duration::ZERO } else { LOOK })? {
                if stopping {
                    break;
                }
                continue;
            }
            let got = self.reader.read(&mut buffer)?;
            drained += if stopping { got } else { 0 };
            if got == 0 || drained > DRAIN_BYTES_MAX {
                break;
            }
            captured.printed_bytes += got as u64;
            self.keep(&buffer[..got], &mut captured);
            self.lines(&mut line, &buffer[..got]);
        }
        if !line.is_empty() {
            (self.on_line)(&line);
        }
        Ok(captured)
    }

    /// Writes what there is room for. A file that takes no more, on a full disk say, is as if its bound were reached.
    fn keep(&mut self, bytes: &[u8], captured: &mut Captured) {
        let room = (bytes.len() as u64).min(self.room);
        match self.file.write_all(&bytes[..room as usize]) {
            Ok(()) => {
                captured.kept_bytes += room;
                self.room -= room;
            }
            Err(error) => {
                captured.not_kept = Some(error.kind());
                captured.kept_bytes = self.file.metadata().map_or(captured.kept_bytes, |file| file.len());
                self.room = 0;
            }
        }
    }

    fn is_readable(&self, wait: Duration) -> io::Result<bool> {
        let mut fds = [PollFd::new(&self.reader, PollFlags::IN)];
        match poll(&mut fds, Some(&span(wait))) {
            Err(rustix::io::Errno::INTR) => Ok(false),
            ready => Ok(ready? > 0),
        }
    }

    /// Hands out whole lines; a very long one in pieces of [`LINE_BYTES_MAX`] and what is left.
    fn lines(&mut self, line: &mut Vec<u8>, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = &bytes[..bytes.len().min(LINE_BYTES_MAX - line.len())];
            let end = room.iter().position(|byte| *byte == b'\n');
            line.extend_from_slice(&room[..end.unwrap_or(room.len())]);
            bytes = &bytes[end.map_or(room.len(), |end| end + 1)..];
            if end.is_some() || line.len() == LINE_BYTES_MAX {
                (self.on_line)(line);
                line.clear();
            }
        }
    }
}
