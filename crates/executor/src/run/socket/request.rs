//! What is said on the socket of a run: a line of JSON, and the bytes that it announces; a line of JSON comes back.
//!
//! ```text
//! -> {"version":1,"token":"…","ask":"record","with":{…},"bodies":[5]}
//! -> hello
//! <- {"version":1,"ok":{…}}
//! <- {"version":1,"error":{"kind":"usage","code":"…","text":"…","hint":"…"}}
//! ```
//!
//! Contents follow the line as they are, so that a file of any length is passed on in pieces and never held in memory, and so that a
//! request that is refused is refused before its content is read.

use std::io::{self, BufRead, Read};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Error, Result};

/// The variable that names the socket.
pub const SOCKET_VARIABLE: &str = "AGENTS_SOCKET";
/// The variable that holds the token.
pub const TOKEN_VARIABLE: &str = "AGENTS_TOKEN";
/// What both sides speak.
pub const VERSION: u32 = 1;
/// The longest line of a request.
pub const REQUEST_BYTES_MAX: usize = 256 << 10;
/// How many contents may follow a line.
const BODIES_MAX: usize = 2;

/// A request.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// What the client speaks.
    pub version: u32,
    /// Whose request it is.
    pub token: String,
    /// What is asked for, in a word.
    pub ask: String,
    /// What belongs to that.
    pub with: Value,
    /// How many bytes each of the contents has that follow the line.
    #[serde(default)]
    pub bodies: Vec<u64>,
}

/// An answer.
#[derive(Debug, Serialize, Deserialize)]
pub struct Reply {
    /// What the run speaks.
    pub version: u32,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// What came of a request.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// What was asked for.
    Ok(Value),
    /// Why not.
    Error(Value),
}

impl Request {
    pub(crate) fn parse(line: Line) -> Result<Self> {
        /// All that another version has for sure.
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let Line::Whole(line) = line else {
            return Err(bad(format!("it has more than {REQUEST_BYTES_MAX} bytes")));
        };
        let of_json = |error: serde_json::Error| bad(error.to_string());
        let Versioned { version } = serde_json::from_slice(&line).map_err(of_json)?;
        if version != VERSION {
            return Err(bad(format!("it is of version {version}, and this run speaks version {VERSION}")));
        }
        let request: Self = serde_json::from_slice(&line).map_err(of_json)?;
        if request.bodies.len() > BODIES_MAX {
            return Err(bad(format!("more than {BODIES_MAX} contents follow it")));
        }
        if request.bodies.iter().try_fold(0_u64, |sum, bytes| sum.checked_add(*bytes)).is_none() {
            return Err(bad("what follows it is longer than any file".to_owned()));
        }
        Ok(request)
    }
}

fn bad(reason: String) -> Error {
    Error::BadRequest { reason }
}

/// A line that was read.
pub(crate) enum Line {
    /// All of it, without its end.
    Whole(Vec<u8>),
    /// Only so much that it is known to be too long.
    TooLong,
}

/// The next line; nothing at the end. One that the end cut off is none.
pub(crate) fn read_line(reader: &mut impl BufRead) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    reader.take(REQUEST_BYTES_MAX as u64 + 1).read_until(b'\n', &mut line)?;
    Ok(match line.pop_if(|last| *last == b'\n') {
        Some(_) => Some(Line::Whole(line)),
        None if line.len() > REQUEST_BYTES_MAX => Some(Line::TooLong),
        None => None,
    })
}

/// The contents that follow a line, to be read in order.
pub struct Bodies<'a> {
    reader: &'a mut dyn Read,
    lengths: std::slice::Iter<'a, u64>,
    left: &'a mut u64,
}

impl<'a> Bodies<'a> {
    /// `left` is what all of them have, and counts down to nothing.
    pub(crate) fn new(reader: &'a mut dyn Read, lengths: &'a [u64], left: &'a mut u64) -> Self {
        Self { reader, lengths: lengths.iter(), left }
    }

    /// The next one. Reading less than all of it, or a connection that ends before it does, is an error: half of a content is none.
    #[expect(clippy::should_implement_trait, reason = "an iterator could hand out two at once")]
    pub fn next(&mut self) -> Result<Body<'_>> {
        let length =
            self.lengths.next().ok_or_else(|| bad("a content that belongs to it is missing".to_owned()))?;
        Ok(Body { reader: &mut *self.reader, length: *length, left: self.left })
    }

    /// All of the next one.
    pub fn next_whole(&mut self, bytes_max: u64) -> Result<Vec<u8>> {
        let mut body = self.next()?;
        if body.length > bytes_max {
            return Err(bad(format!("what follows it has more than {bytes_max} bytes")));
        }
        let mut bytes = Vec::new();
        body.read_to_end(&mut bytes).map_err(|error| bad(error.to_string()))?;
        Ok(bytes)
    }
}

/// A content that follows a line.
pub struct Body<'a> {
    reader: &'a mut dyn Read,
    length: u64,
    left: &'a mut u64,
}

impl Read for Body<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = self.length.min(buffer.len() as u64) as usize;
        if wanted == 0 {
            return Ok(0);
        }
        let got = self.reader.read(&mut buffer[..wanted])?;
        if got == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "what follows it was cut off"));
        }
        self.length -= got as u64;
        *self.left -= got as u64;
        Ok(got)
    }
}
