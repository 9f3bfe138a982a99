//! What is said on the socket of a run: a line of JSON, and the bytes that it announces; a line of JSON comes back.
//!
//! ```text
//! -> {"version":1,"token":"…","ask":"record","with":{…},"bodies":[5]}
//! -> hello
//! <- {"version":1,"ok":{…}}
//! <- {"version":1,"error":{"kind":"usage","code":"…","message":"…","hint":["…"]}}
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
pub(crate) const VERSION: u32 = 1;
/// The longest line of a request.
pub const REQUEST_BYTES_MAX: usize = 256 << 10;
/// How many contents may follow a line.
const BODIES_MAX: usize = 2;

/// A request.
#[derive(Serialize)]
pub(crate) struct Request {
    /// What the client speaks.
    pub version: u32,
    /// Whose request it is.
    pub token: String,
    /// What is asked for.
    #[serde(flatten)]
    pub call: Call,
    /// How many bytes each of the contents has that follow the line.
    pub bodies: Vec<u64>,
}

/// What a command in a sandbox can ask for.
#[derive(Serialize)]
#[serde(tag = "ask", content = "with", rename_all = "lowercase")]
pub enum Call {
    /// To record a change. Its content follows, or its patch; then its base, if that is given as a content.
    Record(Record),
    /// To append messages. They follow, as a list in JSON.
    Append(Append),
    /// To get the value of a key.
    Get(Get),
}

/// A change of one path.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The changeset: the node's own.
    pub changeset: String,
    /// The root: the node's own, too.
    pub root: Option<String>,
    /// The path below the root.
    pub path: String,
    /// What is done to it.
    pub deed: Deed,
    /// What was there, where that is given.
    pub base: Option<Given>,
    /// The tool with which it was done.
    pub tool: Option<String>,
}

/// What is done to a path.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Deed {
    /// Write the content that follows.
    Content {
        /// The permission bits, if they change.
        mode: Option<u32>,
    },
    /// Apply the patch that follows.
    Patch,
    /// Delete the path.
    Delete,
    /// Rename it.
    RenameTo(String),
    /// Set permission bits.
    Mode(u32),
    /// Make it a symlink to this target.
    Symlink(String),
}

/// What was at a path.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Given {
    /// Nothing.
    Nothing,
    /// The content that follows.
    Content,
}

/// The context that messages are appended to.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Append {
    /// Its name.
    pub name: String,
    /// The revision that it must have.
    pub if_revision: Option<u64>,
}

/// A key of configuration.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Get {
    /// The key.
    pub key: String,
    /// Whether a secret value is asked for, which is refused.
    pub reveal: bool,
}

/// An answer.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Reply {
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
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Envelope {
            version: u32,
            token: String,
            ask: String,
            with: Value,
            #[serde(default)]
            bodies: Vec<u64>,
        }
        let Line::Whole(line) = line else {
            return Err(bad(format!("it has more than {REQUEST_BYTES_MAX} bytes")));
        };
        let of_json = |error: serde_json::Error| bad(error.to_string());
        let Versioned { version } = serde_json::from_slice(&line).map_err(of_json)?;
        if version != VERSION {
            return Err(bad(format!("it is of version {version}, and this run speaks version {VERSION}")));
        }
        let Envelope { version, token, ask, with, bodies } =
            serde_json::from_slice(&line).map_err(of_json)?;
        if bodies.len() > BODIES_MAX {
            return Err(bad(format!("more than {BODIES_MAX} contents follow it")));
        }
        if bodies.iter().try_fold(0_u64, |sum, bytes| sum.checked_add(*bytes)).is_none() {
            return Err(bad("what follows it is longer than any file".to_owned()));
        }
        let call = match ask.as_str() {
            "record" => Call::Record(serde_json::from_value(with).map_err(of_json)?),
            "append" => Call::Append(serde_json::from_value(with).map_err(of_json)?),
            "get" => Call::Get(serde_json::from_value(with).map_err(of_json)?),
            other => return Err(bad(format!("`{other}` is nothing that an actor can ask for"))),
        };
        Ok(Self { version, token, call, bodies })
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
