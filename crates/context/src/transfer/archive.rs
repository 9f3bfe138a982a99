//! Archive: an export as one file of JSON Lines, imported as a whole or not at all.
//!
//! ```text
//! {"kind":"cleveragents-context","version":1,"name":"chat"}
//! {"kind":"metadata","value":{…}}
//! {"kind":"state","value":{…}}
//! {"kind":"global_context","value":{…}}
//! {"kind":"message","value":{…}}                                   one for each
//! {"kind":"end","message_count":2,"checksum":"sha256:…"}           of all bytes before this line
//! ```
//!
//! The checksum comes last, so that a file of any length is written in one pass, and a truncated
//! one has none. Two exports of one revision have the same bytes.

use std::io::{self, BufRead, Read, Write};

use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::error::{Damage, ImportError};
use crate::files::DOCUMENT_BYTES_MAX;
use crate::{ContextManager, Error, Json, JsonError, Message, Name};

/// Kind of the first line.
pub(crate) const KIND: &str = "cleveragents-context";
const VERSION: u64 = 1;
/// Maximum length of a line.
const LINE_BYTES_MAX: u64 = DOCUMENT_BYTES_MAX + 1024;

/// Writes an archive.
pub(crate) fn write(context: &ContextManager, out: &mut dyn Write) -> Result<(), Error> {
    let mut out = Hashing { out, hasher: Sha256::new() };
    let failed = |source| Error::Export { source };
    let head = format!("{{\"kind\":\"{KIND}\",\"version\":{VERSION},\"name\":\"{}\"}}\n", context.name());
    out.write_all(head.as_bytes()).map_err(failed)?;
    let documents = [
        ("metadata", context.metadata().as_json()),
        ("state", context.state()),
        ("global_context", context.global_context()),
    ];
    for (kind, value) in documents {
        writeln!(out, "{{\"kind\":\"{kind}\",\"value\":{value}}}").map_err(failed)?;
    }
    let mut count = 0_u64;
    for one in context.messages(..) {
        writeln!(out, "{{\"kind\":\"message\",\"value\":{}}}", one?.message.as_json()).map_err(failed)?;
        count += 1;
    }
    let checksum = checksum(out.hasher);
    writeln!(out.out, "{{\"kind\":\"end\",\"message_count\":{count},\"checksum\":\"{checksum}\"}}")
        .map_err(failed)
}

/// Reader of an archive: first the documents, then the messages, validated one by one.
pub(crate) struct Archive<R> {
    reader: R,
    hasher: Sha256,
    /// Lines read so far.
    line: u64,
    pub(crate) name: Option<Name>,
    pub(crate) metadata: Json,
    pub(crate) state: Json,
    pub(crate) global: Json,
    count: u64,
}

#[derive(Deserialize)]
struct Line<'a> {
    kind: String,
    #[serde(borrow, default)]
    value: Option<&'a RawValue>,
    version: Option<u64>,
    name: Option<String>,
    message_count: Option<u64>,
    checksum: Option<String>,
}

impl<R: BufRead> Archive<R> {
    /// Reads up to the first message.
    pub(crate) fn open(reader: R) -> Result<Self, ImportError> {
        let mut archive = Archive {
            reader,
            hasher: Sha256::new(),
            line: 0,
            name: None,
            metadata: Json::empty(),
            state: Json::empty(),
            global: Json::empty(),
            count: 0,
        };
        let head = archive.next_line()?;
        let head = archive.parse(&head)?;
        match head.version {
            Some(VERSION) if head.kind == KIND => {}
            Some(version) if head.kind == KIND => {
                return Err(ImportError::Newer { version, supported: VERSION });
            }
            _ => return Err(ImportError::UnknownFormat),
        }
        archive.name = head.name.and_then(|name| Name::new(&name).ok());
        archive.metadata = archive.document("metadata")?;
        archive.state = archive.document("state")?;
        archive.global = archive.document("global_context")?;
        Ok(archive)
    }

    fn document(&mut self, kind: &'static str) -> Result<Json, ImportError> {
        let text = self.next_line()?;
        let line = self.parse(&text)?;
        if line.kind != kind {
            return Err(ImportError::Order {
                line: self.line,
                reason: "metadata, state and global_context come first",
            });
        }
        let wrong = |source| ImportError::Line { line: self.line, source };
        let value = line.value.ok_or_else(|| wrong(Damage::WrongType { expected: "a value" }))?;
        let value = Json::parse(value.get()).map_err(|source| wrong(source.into()))?;
        if value.is_object() {
            Ok(value)
        } else {
            Err(wrong(Damage::WrongType { expected: "a JSON object" }))
        }
    }

    /// Returns the next message; `None` after the last line, if the checksum matches.
    pub(crate) fn next_message(&mut self) -> Result<Option<Message>, ImportError> {
        let before = self.hasher.clone();
        let text = self.next_line()?;
        let line = self.parse(&text)?;
        let wrong = |source| ImportError::Line { line: self.line, source };
        match (&*line.kind, line.value) {
            ("message", Some(value)) => {
                let value = Json::parse(value.get()).map_err(|source| wrong(source.into()))?;
                let message = Message::read(value.as_str()).and_then(Message::of_valid_length);
                let message = message.map_err(|source| wrong(source.into()))?;
                self.count += 1;
                Ok(Some(message))
            }
            ("end", _) => {
                let actual = checksum(before);
                let recorded = line.checksum.unwrap_or_default();
                // Older exports have only the digits.
                let is_right = recorded == actual || actual.strip_prefix("sha256:") == Some(&*recorded);
                if !is_right {
                    return Err(ImportError::Checksum { recorded, actual });
                }
                if line.message_count != Some(self.count) {
                    return Err(wrong(Damage::WrongType { expected: "the number of messages before it" }));
                }
                let mut rest = [0];
                match self.reader.read(&mut rest).map_err(ImportError::Read)? {
                    0 => Ok(None),
                    _ => {
                        Err(ImportError::Order { line: self.line + 1, reason: "the last line is before it" })
                    }
                }
            }
            _ => Err(ImportError::Order { line: self.line, reason: "only messages and the end may follow" }),
        }
    }

    /// Reads the next line without its line break.
    fn next_line(&mut self) -> Result<Vec<u8>, ImportError> {
        let mut line = Vec::new();
        let got = (&mut self.reader).take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
        got.map_err(ImportError::Read)?;
        self.hasher.update(&line);
        if line.pop() != Some(b'\n') {
            if line.len() as u64 + 1 >= LINE_BYTES_MAX {
                let source = Damage::TooLarge { limit: LINE_BYTES_MAX };
                return Err(ImportError::Line { line: self.line + 1, source });
            }
            return Err(ImportError::Truncated { line: self.line });
        }
        self.line += 1;
        Ok(line)
    }

    fn parse<'l>(&self, line: &'l [u8]) -> Result<Line<'l>, ImportError> {
        let wrong = |source: JsonError| ImportError::Line { line: self.line, source: source.into() };
        let text = std::str::from_utf8(line).map_err(|source| wrong(JsonError::Utf8(source)))?;
        serde_json::from_str(text).map_err(|source| wrong(JsonError::Syntax(source)))
    }
}

struct Hashing<'a> {
    out: &'a mut dyn Write,
    hasher: Sha256,
}

impl Write for Hashing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.hasher.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn checksum(hasher: Sha256) -> String {
    format!("sha256:{}", filetx::hex(&hasher.finalize()))
}
