//! `messages.jsonl` line by line, in bounded memory.

use filetx::ContentReader;

use super::digest::Digest;
use super::index::{self, ENTRY_BYTES, Entry};
use super::{Files, INDEX, MESSAGES};
use crate::error::Damage;
use crate::model::LINE_BYTES_MAX;
use crate::{Error, Message, MessageId};

/// Bytes per read.
pub(crate) const CHUNK_BYTES: u64 = 256 * 1024;

/// Lines of a file from an offset on.
pub(crate) struct Lines<'a> {
    files: Files<'a>,
    body: ContentReader,
    buffer: Vec<u8>,
    /// Start of the next line in the buffer, and the end of the part without line breaks.
    start: usize,
    searched: usize,
    /// Offset in the file of the end of the buffer.
    read_to: u64,
    /// Number of the next line, counted from 0; for errors.
    number: u64,
}

/// One line without its line break.
pub(crate) struct Line<'a> {
    pub(crate) offset: u64,
    pub(crate) number: u64,
    pub(crate) bytes: &'a [u8],
    /// True if a line break follows.
    pub(crate) is_terminated: bool,
}

impl Line<'_> {
    pub(crate) fn message(&self) -> Result<Message, Damage> {
        let text = std::str::from_utf8(self.bytes).map_err(crate::JsonError::Utf8)?;
        Ok(Message::read(text)?)
    }
}

impl<'a> Lines<'a> {
    /// Opens the lines from `offset`, where message `number` begins; `None` if there is no file.
    pub(crate) fn open(files: Files<'a>, offset: u64, number: u64) -> Result<Option<Self>, Error> {
        let Some(body) = files.open(MESSAGES)? else { return Ok(None) };
        let buffer = Vec::new();
        Ok(Some(Lines { files, body, buffer, start: 0, searched: 0, read_to: offset, number }))
    }

    /// Returns the next line, if there is one.
    pub(crate) fn next_line(&mut self) -> Result<Option<Line<'_>>, Error> {
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[self.searched..]) {
                let end = self.searched + at;
                return Ok(Some(self.take(end, true)));
            }
            self.searched = self.buffer.len();
            if self.buffer.len() - self.start > LINE_BYTES_MAX {
                let limit = LINE_BYTES_MAX as u64;
                return Err(self.files.damaged_line(self.number + 1, Damage::TooLarge { limit }));
            }
            let got = self.body.read_range(self.read_to, CHUNK_BYTES);
            let got = got.map_err(|source| self.files.failed(source))?;
            if got.is_empty() {
                let rest = self.start < self.buffer.len();
                return Ok(rest.then(|| self.take(self.buffer.len(), false)));
            }
            self.buffer.drain(..self.start);
            self.searched -= self.start;
            self.start = 0;
            self.read_to += got.len() as u64;
            self.buffer.extend(got);
        }
    }

    fn take(&mut self, end: usize, is_terminated: bool) -> Line<'_> {
        let (start, number) = (self.start, self.number);
        let offset = self.read_to - (self.buffer.len() - start) as u64;
        self.start = end + usize::from(is_terminated);
        self.searched = self.start;
        self.number += 1;
        Line { offset, number, bytes: &self.buffer[start..end], is_terminated }
    }
}

/// Result of reading all lines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Scan {
    /// Number of messages.
    pub(crate) count: u64,
    /// End of the last message, its line break included.
    pub(crate) end: u64,
    pub(crate) tail: Tail,
    /// Greatest id.
    pub(crate) last_id: Option<MessageId>,
    pub(crate) digest: Digest,
}

/// Content after the last message with a line break.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tail {
    Complete,
    /// One more message, without a line break. It is counted.
    Unterminated,
    /// A torn line: so many bytes that are not a message.
    Torn(u64),
}

/// Reads all lines. A line that is not a message is an error, except for a torn last line.
pub(crate) fn scan(files: Files<'_>) -> Result<Scan, Error> {
    let mut scan = Scan { count: 0, end: 0, tail: Tail::Complete, last_id: None, digest: Digest::default() };
    let Some(mut lines) = Lines::open(files, 0, 0)? else { return Ok(scan) };
    while let Some(line) = lines.next_line()? {
        let len = line.bytes.len() as u64;
        match line.message() {
            Err(_) if !line.is_terminated => scan.tail = Tail::Torn(len),
            Err(damage) => return Err(files.damaged_line(line.number + 1, damage)),
            Ok(message) => {
                scan.digest.toggle(line.number, line.bytes);
                scan.count += 1;
                scan.end += len + u64::from(line.is_terminated);
                scan.last_id = scan.last_id.max(message.id());
                scan.tail = if line.is_terminated { Tail::Complete } else { Tail::Unterminated };
            }
        }
    }
    Ok(scan)
}

/// Returns the offset of message `number`, counted from 0. The file has at least so many messages.
pub(crate) fn locate(files: Files<'_>, number: u64) -> Result<u64, Error> {
    if number == 0 {
        return Ok(0);
    }
    let (offset, from) = verified_entry(files, number)?.map_or((0, 0), |entry| (entry.offset, entry.number));
    let end = |files: Files<'_>| Ok(files.len(MESSAGES)?.unwrap_or(0));
    let Some(mut lines) = Lines::open(files, offset, from)? else { return Ok(0) };
    for _ in from..number {
        if lines.next_line()?.is_none() {
            return end(files);
        }
    }
    match lines.next_line()? {
        Some(line) => Ok(line.offset),
        None => end(files),
    }
}

/// Returns the index entry for a message, or for the nearest indexed one before it, if it matches
/// the file.
fn verified_entry(files: Files<'_>, number: u64) -> Result<Option<Entry>, Error> {
    let Some(body) = files.open(INDEX)? else { return Ok(None) };
    let place = index::entry_offset(number);
    let bytes = body.read_range(place, ENTRY_BYTES).map_err(|source| files.failed(source))?;
    // The entry of the next message does not exist yet: use the one before it.
    let bytes = match bytes.is_empty() && place >= ENTRY_BYTES {
        true => body.read_range(place - ENTRY_BYTES, ENTRY_BYTES).map_err(|source| files.failed(source))?,
        false => bytes,
    };
    let expected = |entry: &Entry| {
        entry.number <= number && number - entry.number <= index::INTERVAL && index::is_indexed(entry.number)
    };
    let Some(entry) = Entry::decode(&bytes).filter(expected) else { return Ok(None) };
    let before = entry.offset.saturating_sub(1);
    let Some(messages) = files.open(MESSAGES)? else { return Ok(None) };
    if entry.offset >= messages.len() {
        return Ok(None);
    }
    let before = messages.read_range(before, 1).map_err(|source| files.failed(source))?;
    if entry.offset > 0 && before != b"\n" {
        return Ok(None);
    }
    let Some(mut lines) = Lines::open(files, entry.offset, entry.number)? else { return Ok(None) };
    let is_verified = lines.next_line()?.is_some_and(|line| entry.matches(line.bytes));
    Ok(is_verified.then_some(entry))
}

/// Builds the index of the first `count` messages.
pub(crate) fn build_index(files: Files<'_>, count: u64) -> Result<String, Error> {
    let mut text = String::new();
    let Some(mut lines) = Lines::open(files, 0, 0)? else { return Ok(text) };
    for number in 0..count {
        let Some(line) = lines.next_line()? else { break };
        if index::is_indexed(number) {
            text += &Entry::new(number, line.offset, line.bytes).encode();
        }
    }
    Ok(text)
}

/// Removes the messages from `number` on, which begin at `offset`, from a digest. `None` if their
/// lines cannot be told apart.
pub(crate) fn digest_without(
    files: Files<'_>,
    offset: u64,
    number: u64,
    mut digest: Digest,
) -> Result<Option<Digest>, Error> {
    let Some(mut lines) = Lines::open(files, offset, number)? else { return Ok(Some(digest)) };
    loop {
        match lines.next_line() {
            Ok(Some(line)) => digest.toggle(line.number, line.bytes),
            Ok(None) => return Ok(Some(digest)),
            Err(Error::Damaged { .. }) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
}
