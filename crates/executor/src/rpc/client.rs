//! The client's side: a request is sent with its contents, and the answer is waited for.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::protocol::{Call, Outcome, Reply, Request, VERSION};
use crate::sandbox::connect_private;

/// How long an answer may take: longer than anything that the run waits for.
const ANSWER_MAX: Duration = Duration::from_secs(300);
/// The longest line of an answer.
const ANSWER_BYTES_MAX: u64 = 64 << 20;
/// How much of a file is sent at a time.
const PIECE_BYTES: usize = 64 << 10;

/// A content that follows a request.
pub enum Content {
    /// Held in memory.
    Bytes(Vec<u8>),
    /// The first bytes of a file.
    File {
        /// Open for reading.
        file: File,
        /// Its path, for errors.
        path: PathBuf,
        /// How many.
        bytes: u64,
    },
}

/// Why there is no answer.
#[derive(Debug)]
pub enum CallError {
    /// The run is gone, or did not take all of the request: nothing was changed.
    Gone(io::Error),
    /// The request was sent and the answer did not come: it is unknown what came of it.
    NoReply(io::Error),
    /// A content cannot be read, or has become shorter: nothing was changed.
    Content(PathBuf, io::Error),
}

/// Asks the run that has a socket, with the token of a node.
pub fn call(socket: &Path, token: &str, call: Call, contents: Vec<Content>) -> Result<Outcome, CallError> {
    let stream = connect_private(socket).map_err(CallError::Gone)?;
    stream.set_read_timeout(Some(ANSWER_MAX)).map_err(CallError::Gone)?;
    stream.set_write_timeout(Some(ANSWER_MAX)).map_err(CallError::Gone)?;
    let bodies = contents.iter().map(Content::len).collect();
    let request = Request { version: VERSION, token: token.to_owned(), call, bodies };
    // A run that refuses does not read on: what it says counts, not that nobody listened.
    let is_sent = send(&stream, &request, contents)?;
    let mut line = Vec::new();
    let heard = match BufReader::new(&stream).take(ANSWER_BYTES_MAX).read_until(b'\n', &mut line) {
        Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
        heard => heard,
    };
    // Half of a request changes nothing.
    heard.map_err(if is_sent { CallError::NoReply } else { CallError::Gone })?;
    let reply: Reply = serde_json::from_slice(&line).map_err(|error| CallError::NoReply(error.into()))?;
    Ok(reply.outcome)
}

impl Content {
    fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File { bytes, .. } => *bytes,
        }
    }
}

/// Sends a request; whether all of it was taken. A file that became shorter meanwhile is an error, and the run sees that something is
/// missing.
fn send(mut stream: &UnixStream, request: &Request, contents: Vec<Content>) -> Result<bool, CallError> {
    let mut line = serde_json::to_vec(request).expect("a request is made of text and numbers");
    line.push(b'\n');
    if stream.write_all(&line).is_err() {
        return Ok(false);
    }
    for content in contents {
        let is_taken = match content {
            Content::Bytes(bytes) => stream.write_all(&bytes).is_ok(),
            Content::File { file, path, bytes } => {
                let sent = send_file(stream, &mut file.take(bytes), bytes);
                sent.map_err(|source| CallError::Content(path, source))?
            }
        };
        if !is_taken {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The same for a file of which so many bytes were announced.
fn send_file(mut stream: &UnixStream, file: &mut dyn Read, mut left: u64) -> io::Result<bool> {
    let mut buffer = vec![0; PIECE_BYTES];
    while left > 0 {
        let got = file.read(&mut buffer)?;
        if got == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if stream.write_all(&buffer[..got]).is_err() {
            return Ok(false);
        }
        left -= got as u64;
    }
    Ok(true)
}
