//! Reading messages in chunks, without blocking writers.
//!
//! Each chunk is read under the shared lock, which is released before the caller gets the messages:
//! a slow reader, such as a pager, blocks no writer. Only a rewind, a clear or a replacing import
//! removes messages. These record their revision in the metadata, and a reader that began before
//! one of them ends with [`Error::Rewritten`] instead of mixing two states.

use std::collections::VecDeque;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::dir::ContextsDir;
use crate::files::lines::{self, CHUNK_BYTES, Lines};
use crate::files::loaded::{self, Layout, Loaded};
use crate::{Error, Message, MessageId, Name, Revision};

/// A message with its number in the conversation.
#[derive(Clone, PartialEq, Eq, JsonSchema, Serialize, Debug)]
pub struct NumberedMessage {
    /// Counted from 0.
    pub number: u64,
    /// The message as stored.
    pub message: Message,
}

/// Messages of a context as of one revision, in order. Ends after the first error.
#[must_use = "nothing is read before it is iterated"]
pub struct Messages {
    dir: Arc<ContextsDir>,
    name: Name,
    context_id: Option<MessageId>,
    revision: Revision,
    next: u64,
    end: u64,
    /// Offset of message `next`, if known.
    offset: Option<u64>,
    is_array: bool,
    ready: VecDeque<Message>,
}

impl Messages {
    pub(crate) fn new(dir: &Arc<ContextsDir>, name: &Name, loaded: &Loaded, next: u64, end: u64) -> Messages {
        Messages {
            dir: Arc::clone(dir),
            name: name.clone(),
            context_id: loaded.metadata.context_id,
            revision: loaded.metadata.revision,
            next,
            end: end.min(loaded.metadata.message_count()),
            offset: None,
            is_array: loaded.layout == Layout::Array,
            ready: VecDeque::new(),
        }
    }

    fn fill(&mut self) -> Result<(), Error> {
        let (next, end, offset) = (self.next, self.end, self.offset);
        let (context_id, revision, is_array) = (self.context_id, self.revision, self.is_array);
        let (ready, offset) = self.dir.read(&self.name, |files| {
            let rewritten = || Error::Rewritten { name: files.name.clone() };
            let (metadata, _) = loaded::metadata(files)?;
            if metadata.context_id != context_id || metadata.rewritten > revision {
                return Err(rewritten());
            }
            let mut ready = VecDeque::new();
            if is_array {
                // A legacy array is read as a whole.
                let all = loaded::legacy_messages(files)?;
                ready.extend(all.into_iter().take(end as usize).skip(next as usize));
                let is_whole = ready.len() as u64 == end - next;
                return if is_whole { Ok((ready, 0)) } else { Err(rewritten()) };
            }
            let mut offset = match offset {
                Some(offset) => offset,
                None => lines::locate(files, next)?,
            };
            let start = offset;
            let mut lines = Lines::open(files, offset, next)?.ok_or_else(rewritten)?;
            while next + (ready.len() as u64) < end && offset - start < CHUNK_BYTES {
                let line = lines.next_line()?.ok_or_else(rewritten)?;
                ready
                    .push_back(line.message().map_err(|damage| files.damaged_line(line.number + 1, damage))?);
                offset = line.offset + line.bytes.len() as u64 + 1;
            }
            Ok((ready, offset))
        })?;
        (self.ready, self.offset) = (ready, Some(offset));
        Ok(())
    }
}

impl Iterator for Messages {
    type Item = Result<NumberedMessage, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.end {
            return None;
        }
        if self.ready.is_empty()
            && let Err(error) = self.fill()
        {
            self.end = self.next;
            return Some(Err(error));
        }
        let message = self.ready.pop_front().expect("a piece has a message");
        let number = self.next;
        self.next += 1;
        Some(Ok(NumberedMessage { number, message }))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let rest = (self.end - self.next) as usize;
        (rest.min(1), Some(rest))
    }
}
