//! The actor's end of the socket: sends a request with its bodies and waits for the response.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::protocol::{Method, Outcome, Request, Response, VERSION};
use crate::sandbox::connect_private;

/// Timeout of a response: longer than any wait of the run.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(300);
/// The longest response.
const RESPONSE_BYTES_MAX: u64 = 64 << 20;
/// Bytes of a file sent at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// A body of a request.
pub enum RequestBody {
    /// Bytes in memory.
    Bytes(Vec<u8>),
    /// The first bytes of a file.
    File {
        /// The open file.
        file: File,
        /// Its path, for errors.
        path: PathBuf,
        /// Number of bytes to send.
        bytes: u64,
    },
}

/// The cause of a missing response.
#[derive(Debug)]
pub enum CallError {
    /// The run is gone, or did not read the whole request. Nothing was changed.
    Unreachable(io::Error),
    /// The run speaks this other version of the protocol, and has refused the request.
    OtherVersion(u32),
    /// The request was sent, and no response came. Its outcome is unknown.
    NoResponse(io::Error),
    /// A body cannot be read, or has become shorter. Nothing was changed.
    Body(PathBuf, io::Error),
}

/// Calls a method of the run that listens on a socket, with the token of a node.
pub fn call(
    socket: &Path,
    token: &str,
    method: Method,
    bodies: Vec<RequestBody>,
) -> Result<Outcome, CallError> {
    let stream = connect_private(socket).map_err(CallError::Unreachable)?;
    stream.set_read_timeout(Some(RESPONSE_TIMEOUT)).map_err(CallError::Unreachable)?;
    stream.set_write_timeout(Some(RESPONSE_TIMEOUT)).map_err(CallError::Unreachable)?;
    let body_lengths = bodies.iter().map(RequestBody::len).collect();
    let request = Request { version: VERSION, token: token.to_owned(), method, body_lengths };
    // A run that refuses stops reading: its response counts, not the failed write.
    let is_sent = send(&stream, &request, bodies)?;
    let mut line = Vec::new();
    let received = match BufReader::new(&stream).take(RESPONSE_BYTES_MAX).read_until(b'\n', &mut line) {
        Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
        received => received,
    };
    // An incomplete request changes nothing.
    received.map_err(if is_sent { CallError::NoResponse } else { CallError::Unreachable })?;
    let response = Response::parse(&line).map_err(|error| CallError::NoResponse(error.into()))?;
    response.map_err(CallError::OtherVersion)
}

impl RequestBody {
    fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File { bytes, .. } => *bytes,
        }
    }
}

/// Sends a request. Returns false if the run stopped reading. Fails if a file has become shorter; then
/// the run sees an incomplete body.
fn send(mut stream: &UnixStream, request: &Request, bodies: Vec<RequestBody>) -> Result<bool, CallError> {
    let mut line = serde_json::to_vec(request).expect("a request is made of text and numbers");
    line.push(b'\n');
    if stream.write_all(&line).is_err() {
        return Ok(false);
    }
    for body in bodies {
        let is_sent = match body {
            RequestBody::Bytes(bytes) => stream.write_all(&bytes).is_ok(),
            RequestBody::File { file, path, bytes } => {
                let sent = send_file(stream, &mut file.take(bytes), bytes);
                sent.map_err(|source| CallError::Body(path, source))?
            }
        };
        if !is_sent {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Sends the announced number of bytes of a file. Returns false if the run stopped reading.
fn send_file(mut stream: &UnixStream, file: &mut dyn Read, mut unsent: u64) -> io::Result<bool> {
    let mut buffer = vec![0; CHUNK_BYTES];
    while unsent > 0 {
        let got = file.read(&mut buffer)?;
        if got == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if stream.write_all(&buffer[..got]).is_err() {
            return Ok(false);
        }
        unsent -= got as u64;
    }
    Ok(true)
}
