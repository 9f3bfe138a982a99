//! Copies the output of an actor to a file and to a callback.

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};

use super::child::{POLL_INTERVAL, timespec};

/// The longest line passed to the callback in one piece.
pub const LINE_BYTES_MAX: usize = 16 * 1024;
/// Bytes read after the end of the actor: more than a pipe holds, so that no output is lost.
const DRAIN_BYTES_MAX: usize = 2 * 1024 * 1024;

/// The reader of an actor's output.
pub(super) struct Capture<F> {
    pub(super) reader: io::PipeReader,
    pub(super) file: File,
    pub(super) room: u64,
    pub(super) stop: Arc<AtomicBool>,
    pub(super) on_line: F,
}

/// The amount of output read.
#[derive(Debug, Default)]
pub(super) struct Captured {
    pub(super) printed_bytes: u64,
    pub(super) kept_bytes: u64,
    pub(super) write_error: Option<io::ErrorKind>,
}

impl<F: FnMut(&[u8])> Capture<F> {
    /// Reads to the end of the pipe. Once stopped, reads only what the pipe holds: an escaped process
    /// may keep it open for ever.
    pub(super) fn run(mut self) -> io::Result<Captured> {
        let (mut captured, mut drained) = (Captured::default(), 0);
        let mut line = Vec::new();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let stopping = self.stop.load(Ordering::Relaxed);
            if !self.is_readable(if stopping { Duration::ZERO } else { POLL_INTERVAL })? {
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

    /// Writes as far as the limit allows. A failed write, for example on a full disk, ends writing.
    fn keep(&mut self, bytes: &[u8], captured: &mut Captured) {
        let room = (bytes.len() as u64).min(self.room);
        match self.file.write_all(&bytes[..room as usize]) {
            Ok(()) => {
                captured.kept_bytes += room;
                self.room -= room;
            }
            Err(error) => {
                captured.write_error = Some(error.kind());
                captured.kept_bytes = self.file.metadata().map_or(captured.kept_bytes, |file| file.len());
                self.room = 0;
            }
        }
    }

    fn is_readable(&self, wait: Duration) -> io::Result<bool> {
        let mut fds = [PollFd::new(&self.reader, PollFlags::IN)];
        match poll(&mut fds, Some(&timespec(wait))) {
            Err(rustix::io::Errno::INTR) => Ok(false),
            ready => Ok(ready? > 0),
        }
    }

    /// Passes complete lines on; a long one in pieces of at most [`LINE_BYTES_MAX`].
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
