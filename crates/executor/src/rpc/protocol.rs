//! Messages on the socket of a run: a line of JSON, and the bodies it announces; the response is a line
//! of JSON.
//!
//! ```text
//! -> {"version":2,"token":"…","method":"record","params":{…},"body_lengths":[5]}
//! -> hello
//! <- {"version":2,"result":{…}}
//! <- {"version":2,"error":{"kind":"usage","code":"…","message":"…"}}
//! ```
//!
//! Bodies follow the line as raw bytes: a file of any length is streamed, and a request is refused
//! before its body is read. Both sides refuse messages of another version.

use std::io::{self, BufRead, Read};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Error, Result};

/// The variable with the path of the socket.
pub const SOCKET_VARIABLE: &str = "AGENTS_SOCKET";
/// The variable with the token.
pub const TOKEN_VARIABLE: &str = "AGENTS_TOKEN";
/// Version of the protocol. 1 is that of version 0.1 of the program.
pub const VERSION: u32 = 2;
/// The longest line of a request.
pub const REQUEST_BYTES_MAX: usize = 256 << 10;
/// The most bodies of a request.
const BODIES_MAX: usize = 2;

/// A request, without its bodies.
#[derive(Serialize)]
pub(crate) struct Request {
    /// Version of the client.
    pub version: u32,
    /// Token of the node.
    pub token: String,
    /// Method and parameters.
    #[serde(flatten)]
    pub method: Method,
    /// Length of each body, in bytes.
    pub body_lengths: Vec<u64>,
}

/// A method with its parameters.
#[derive(Serialize)]
#[serde(tag = "method", content = "params", rename_all = "lowercase")]
pub enum Method {
    /// Record a change. Bodies: content or patch, then the base if it is given as content.
    Record(RecordParams),
    /// Append messages. Body: a JSON array of messages.
    Append(AppendParams),
    /// Get the value of a configuration key.
    Get(GetParams),
}

/// A change of one path.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordParams {
    /// The changeset. Must be that of the node.
    pub changeset: String,
    /// The root. Must be that of the node.
    pub root: Option<String>,
    /// The path below the root.
    pub path: String,
    /// The edit of the path.
    pub edit: EditParam,
    /// The base; if missing, the content that the node last recorded or started from.
    pub base: Option<BaseParam>,
    /// The tool that made the change.
    pub tool: Option<String>,
}

/// An edit of a path.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum EditParam {
    /// Write the content in the body.
    Content {
        /// Permission bits, if they change.
        mode: Option<u32>,
    },
    /// Apply the patch in the body.
    Patch,
    /// Delete the path.
    Delete,
    /// Rename the path.
    RenameTo(String),
    /// Set permission bits.
    Mode(u32),
    /// Make the path a symlink to this target.
    Symlink(String),
}

/// The base of an edit.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BaseParam {
    /// The path did not exist.
    Nothing,
    /// The content in the body.
    Content,
}

/// Parameters of `append`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AppendParams {
    /// Name of the context.
    pub name: String,
    /// Append only at this revision.
    pub if_revision: Option<u64>,
}

/// Parameters of `get`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GetParams {
    /// The key.
    pub key: String,
    /// Ask for a secret value, which is refused.
    pub reveal: bool,
}

/// A response.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Response {
    /// Version of the run.
    pub version: u32,
    /// Result or error.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// The outcome of a request.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The result of the method.
    Result(Value),
    /// A refusal.
    Error(Value),
}

/// The field that messages of all versions have.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

impl Request {
    pub(crate) fn parse(line: Line) -> Result<Self> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Envelope {
            version: u32,
            token: String,
            method: String,
            params: Value,
            #[serde(default)]
            body_lengths: Vec<u64>,
        }
        let Line::Complete(line) = line else {
            return Err(bad(format!("it is longer than {REQUEST_BYTES_MAX} bytes")));
        };
        let not_json = |error: serde_json::Error| bad(error.to_string());
        let Versioned { version } = serde_json::from_slice(&line).map_err(not_json)?;
        if version != VERSION {
            return Err(bad(format!("it has protocol version {version}, this run has version {VERSION}")));
        }
        let Envelope { version, token, method, params, body_lengths } =
            serde_json::from_slice(&line).map_err(not_json)?;
        if body_lengths.len() > BODIES_MAX {
            return Err(bad(format!("it has more than {BODIES_MAX} bodies")));
        }
        if body_lengths.iter().try_fold(0_u64, |sum, bytes| sum.checked_add(*bytes)).is_none() {
            return Err(bad("its bodies are longer than any file".to_owned()));
        }
        let method = match method.as_str() {
            "record" => Method::Record(serde_json::from_value(params).map_err(not_json)?),
            "append" => Method::Append(serde_json::from_value(params).map_err(not_json)?),
            "get" => Method::Get(serde_json::from_value(params).map_err(not_json)?),
            other => return Err(bad(format!("unknown method `{other}`"))),
        };
        Ok(Self { version, token, method, body_lengths })
    }
}

impl Response {
    /// Parses a response. Returns the version of a run that speaks another one.
    pub(crate) fn parse(line: &[u8]) -> serde_json::Result<std::result::Result<Outcome, u32>> {
        let Versioned { version } = serde_json::from_slice(line)?;
        if version != VERSION {
            return Ok(Err(version));
        }
        let response: Self = serde_json::from_slice(line)?;
        Ok(Ok(response.outcome))
    }
}

/// Refuses bodies that are longer than a limit, before they are read.
pub(super) fn check_body_lengths(lengths: &[u64], limit: u64) -> Result<()> {
    match lengths.iter().find(|bytes| **bytes > limit) {
        Some(bytes) => {
            Err(bad(format!("a body has {bytes} bytes; `sandbox.max-file-size` of the run allows {limit}")))
        }
        None => Ok(()),
    }
}

fn bad(reason: String) -> Error {
    Error::BadRequest { reason }
}

/// A line of a request.
pub(crate) enum Line {
    /// The line without its end.
    Complete(Vec<u8>),
    /// A line longer than [`REQUEST_BYTES_MAX`].
    TooLong,
}

/// Reads the next line. Returns `None` at the end, also after an incomplete line.
pub(crate) fn read_line(reader: &mut impl BufRead) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    reader.take(REQUEST_BYTES_MAX as u64 + 1).read_until(b'\n', &mut line)?;
    Ok(match line.pop_if(|last| *last == b'\n') {
        Some(_) => Some(Line::Complete(line)),
        None if line.len() > REQUEST_BYTES_MAX => Some(Line::TooLong),
        None => None,
    })
}

/// The bodies of a request, to be read in order.
pub struct Bodies<'a> {
    reader: &'a mut dyn Read,
    lengths: std::slice::Iter<'a, u64>,
    unread: &'a mut u64,
}

impl<'a> Bodies<'a> {
    /// `unread` is the length of all bodies together, and counts down.
    pub(crate) fn new(reader: &'a mut dyn Read, lengths: &'a [u64], unread: &'a mut u64) -> Self {
        Self { reader, lengths: lengths.iter(), unread }
    }

    /// The next body. A connection that ends within it is an error.
    #[expect(clippy::should_implement_trait, reason = "an iterator could hand out two at once")]
    pub fn next(&mut self) -> Result<Body<'_>> {
        let length = self.lengths.next().ok_or_else(|| bad("a body is missing".to_owned()))?;
        Ok(Body { reader: &mut *self.reader, length: *length, unread: self.unread })
    }

    /// Reads the next body into memory.
    pub fn next_whole(&mut self, bytes_max: u64) -> Result<Vec<u8>> {
        let mut body = self.next()?;
        if body.length > bytes_max {
            return Err(bad(format!("a body is longer than {bytes_max} bytes")));
        }
        let mut bytes = Vec::new();
        body.read_to_end(&mut bytes).map_err(|error| bad(error.to_string()))?;
        Ok(bytes)
    }
}

/// One body of a request.
pub struct Body<'a> {
    reader: &'a mut dyn Read,
    length: u64,
    unread: &'a mut u64,
}

impl Read for Body<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = self.length.min(buffer.len() as u64) as usize;
        if wanted == 0 {
            return Ok(0);
        }
        let got = self.reader.read(&mut buffer[..wanted])?;
        if got == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the body is incomplete"));
        }
        self.length -= got as u64;
        *self.unread -= got as u64;
        Ok(got)
    }
}
