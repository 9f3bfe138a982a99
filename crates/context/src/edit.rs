//! One change of a context inside a transaction: what every writing call does to the files.
//!
//! An [`Edit`] begins with what is there under the lock, never with what was read before it. Its last step stamps the metadata, so that
//! count, length, revision and time are always of the same commit as the messages.

use std::io::{BufWriter, Write as _};
use std::path::PathBuf;

use filetx::{FolderTransaction, OwnFolder};
use jiff::Timestamp;

use crate::dir::Ground;
use crate::error::Damage;
use crate::files::index::{self, Entry};
use crate::files::lines::{self, Tail};
use crate::files::loaded::{self, Layout, Loaded};
use crate::files::{
    DOCUMENT_BYTES_MAX, Files, GLOBAL, INDEX, MESSAGES, METADATA, OLD_MESSAGES, OLD_MESSAGES_ASIDE, STATE,
};
use crate::{Draft, Error, Json, Message, MessageId, Name, Revision, Saved};

/// The most bytes of messages that one save appends. An import takes any amount.
pub const BATCH_BYTES_MAX: usize = 256 * 1024 * 1024;

/// How many names for files that are set aside are tried.
const ASIDES_MAX: u32 = 1000;

/// A context that is about to change.
pub(crate) struct Write<'a> {
    pub(crate) ground: &'a Ground,
    pub(crate) name: &'a Name,
    pub(crate) folder: &'a OwnFolder,
    pub(crate) doing: &'static str,
    /// The revision that the caller has read.
    pub(crate) expected: Option<Revision>,
}

impl Write<'_> {
    /// Does a change under the lock, from what `load` finds there, and commits it.
    #[track_caller]
    pub(crate) fn commit(
        self,
        load: impl FnOnce(Files<'_>) -> Result<Loaded, Error>,
        work: impl FnOnce(&mut Edit<'_, '_>) -> Result<Vec<MessageId>, Error>,
    ) -> Result<(Loaded, Saved), Error> {
        let Write { ground, name, folder, doing, expected } = self;
        let _span = tracing::debug_span!("context", %name, doing).entered();
        let path = ground.folder_of(name);
        let mut tx = folder.begin().map_err(|source| Error::not_begun(doing, name, source))?;
        let loaded = load(Files { view: &tx, name, folder: &path })?;
        check_revision(name, expected, loaded.metadata.revision)?;
        if loaded.metadata.context_id.is_none() {
            ground.sync_names(&*ground.prepare()?)?;
        }
        let mut edit =
            Edit { tx: &mut tx, name, folder: &path, loaded, now: ground.now(), aside: Vec::new() };
        let ids = work(&mut edit)?;
        let (loaded, mut aside) = edit.finish()?;
        let committed = tx.commit().map_err(|source| Error::commit(doing, name, source))?;
        aside.extend(folder.take_kept().into_iter().filter_map(|kept| kept.aside));
        let pending = committed.pending.map(|error| error.to_string());
        let saved = Saved { ids, aside, pending, ..Saved::unchanged(name, &loaded.metadata) };
        Ok((loaded, saved))
    }
}

/// Fails when the caller expects another revision.
pub(crate) fn check_revision(
    name: &Name,
    expected: Option<Revision>,
    current: Revision,
) -> Result<(), Error> {
    match expected {
        Some(expected) if expected != current => Err(Error::Stale { name: name.clone(), expected, current }),
        _ => Ok(()),
    }
}

/// A change of one context that is under way.
pub(crate) struct Edit<'t, 'a> {
    pub(crate) tx: &'t mut FolderTransaction<'a>,
    pub(crate) name: &'t Name,
    pub(crate) folder: &'t PathBuf,
    pub(crate) loaded: Loaded,
    pub(crate) now: Timestamp,
    /// Files that were put aside.
    pub(crate) aside: Vec<PathBuf>,
}

impl Edit<'_, '_> {
    fn files(&self) -> Files<'_> {
        Files { view: &*self.tx, name: self.name, folder: self.folder }
    }

    fn count(&self) -> u64 {
        self.loaded.metadata.message_count()
    }

    fn end(&self) -> u64 {
        self.loaded.metadata.messages_bytes.unwrap_or(0)
    }

    /// The revision that this change makes.
    pub(crate) fn next_revision(&self) -> Revision {
        Revision(self.loaded.metadata.revision.0 + 1)
    }

    /// Brings what other tools left into the form that changes build on.
    pub(crate) fn settle(&mut self) -> Result<(), Error> {
        if self.loaded.metadata.context_id.is_none() {
            self.loaded.metadata.context_id = Some(MessageId::fresh(None, self.now));
        }
        match self.loaded.layout.clone() {
            Layout::Lines { tail: Tail::Nothing, .. } => {}
            Layout::Lines { tail: Tail::Unended, end } => {
                self.tx.append(MESSAGES, b"\n").map_err(|source| self.failed(source))?;
                self.at_end(self.count(), end + 1);
            }
            Layout::Lines { tail: Tail::Torn(bytes), end } => self.set_torn_aside(end, bytes)?,
            Layout::Array => self.convert()?,
        }
        Ok(())
    }

    fn set_torn_aside(&mut self, end: u64, bytes: u64) -> Result<(), Error> {
        let body = self.files().open(MESSAGES)?.ok_or_else(|| self.not_found())?;
        let torn = body.read_range(end, bytes).map_err(|source| self.failed(source))?;
        let aside = self.free_name(&format!("{MESSAGES}.torn"))?;
        self.put(&aside, &torn)?;
        self.aside.push(self.folder.join(&aside));
        self.truncate_edited(end)?;
        self.cut_index(self.count())?;
        self.at_end(self.count(), end);
        Ok(())
    }

    /// Cuts messages that somebody else changed, which the caller knows. The disk says so once.
    fn truncate_edited(&mut self, end: u64) -> Result<(), Error> {
        let cut = match self.tx.truncate(MESSAGES, end) {
            Err(filetx::Error::Drifted { .. }) => self.tx.truncate(MESSAGES, end),
            cut => cut,
        };
        cut.map_err(|source| self.failed(source))
    }

    /// Takes messages that somebody else wrote for what is there.
    pub(crate) fn accept(&mut self, count: u64, end: u64, tail: Tail) -> Result<(), Error> {
        if self.files().len(MESSAGES)?.is_some() {
            // Says that it is known, and changes nothing.
            self.truncate_edited(end)?;
        }
        self.loaded.layout = Layout::Lines { end, tail };
        self.loaded.metadata.message_count = Some(count);
        self.loaded.metadata.messages_bytes = Some(end);
        self.loaded.metadata.rewritten = self.next_revision();
        self.settle()?;
        self.rebuild_index()
    }

    /// Old layout to new, the old file aside.
    fn convert(&mut self) -> Result<(), Error> {
        let messages = loaded::array(self.files())?;
        let aside = self.free_name(OLD_MESSAGES_ASIDE)?;
        self.tx.rename(OLD_MESSAGES, &*aside).map_err(|source| self.failed(source))?;
        self.aside.push(self.folder.join(aside));
        self.replace_messages(messages.into_iter().map(Ok))
    }

    /// Makes room for messages of this layout: what an older tool left goes, as all of it is replaced.
    pub(crate) fn remove_old_layout(&mut self) -> Result<(), Error> {
        match self.files().len(OLD_MESSAGES)? {
            Some(_) => self.tx.remove(OLD_MESSAGES).map_err(|source| self.failed(source)),
            None => Ok(()),
        }
    }

    /// Adds messages, and says which ids they got.
    pub(crate) fn append(&mut self, drafts: &[Draft]) -> Result<Vec<MessageId>, Error> {
        let mut last = self.loaded.metadata.last_id;
        let (mut bytes, mut entries, mut ids) = (String::new(), String::new(), Vec::new());
        let (count, end) = (self.count(), self.end());
        for (number, draft) in (count..).zip(drafts) {
            let id = match (draft.id(), last) {
                (Some(id), Some(last)) if id <= last => return Err(Error::IdNotRising { id, last }),
                (Some(id), _) => id,
                (None, last) => MessageId::fresh(last, self.now),
            };
            let start = bytes.len();
            draft.write(id, self.now, &mut bytes);
            if index::is_due(number) {
                let line = &bytes.as_bytes()[start..];
                entries += &Entry::new(number, end + start as u64, line).encode();
            }
            bytes.push('\n');
            if bytes.len() > BATCH_BYTES_MAX {
                return Err(Error::TooLarge { what: "messages of one save", limit: BATCH_BYTES_MAX as u64 });
            }
            last = Some(id);
            ids.push(id);
        }
        self.tx.append(MESSAGES, bytes.as_bytes()).map_err(|source| self.failed(source))?;
        self.loaded.metadata.last_id = last;
        self.at_end(count + ids.len() as u64, end + bytes.len() as u64);
        if !entries.is_empty() {
            self.extend_index(count, &entries)?;
        }
        Ok(ids)
    }

    fn extend_index(&mut self, count: u64, entries: &str) -> Result<(), Error> {
        if self.files().len(INDEX)?.unwrap_or(0) == index::bytes_for(count) {
            return self.tx.append(INDEX, entries.as_bytes()).map_err(|source| self.failed(source));
        }
        self.rebuild_index()
    }

    /// Makes the index anew from the messages.
    pub(crate) fn rebuild_index(&mut self) -> Result<(), Error> {
        let text = lines::indexed(self.files(), self.count())?;
        self.put(INDEX, text.as_bytes())
    }

    /// Keeps the first `count` messages.
    pub(crate) fn cut(&mut self, count: u64) -> Result<(), Error> {
        let have = self.count();
        if count > have {
            return Err(Error::OutOfRange { name: self.name.clone(), asked: count, count: have });
        }
        let end = if count == have { self.end() } else { lines::locate(self.files(), count)? };
        if self.files().len(MESSAGES)?.is_some() {
            self.tx.truncate(MESSAGES, end).map_err(|source| self.failed(source))?;
        }
        self.cut_index(count)?;
        self.loaded.metadata.rewritten = self.next_revision();
        self.at_end(count, end);
        Ok(())
    }

    fn cut_index(&mut self, count: u64) -> Result<(), Error> {
        let len = index::bytes_for(count);
        match self.files().len(INDEX)? {
            Some(have) if have > len => self.tx.truncate(INDEX, len).map_err(|source| self.failed(source)),
            _ => Ok(()),
        }
    }

    /// Begins a conversation: no messages, and nothing to stage.
    pub(crate) fn start_messages(&mut self) -> Result<(), Error> {
        self.put(MESSAGES, b"")?;
        self.put(INDEX, b"")?;
        self.loaded.metadata.rewritten = self.next_revision();
        self.at_end(0, 0);
        Ok(())
    }

    /// Puts other messages in the place of all that are there. Those without an id that rises get one.
    pub(crate) fn replace_messages(
        &mut self,
        messages: impl Iterator<Item = Result<Message, Error>>,
    ) -> Result<(), Error> {
        let failed = |source| Error::files("write", self.name, source);
        let staged = self.tx.stage(0).map_err(failed)?;
        let mut writer = BufWriter::with_capacity(64 * 1024, staged);
        let write_failed =
            |source| Error::Folder { doing: "write", path: self.folder.join(MESSAGES), source };
        let (mut count, mut end, mut entries) = (0_u64, 0_u64, String::new());
        let mut last = None;
        for message in messages {
            let message = message?.rising(last, self.now);
            let line = message.as_json();
            if index::is_due(count) {
                entries += &Entry::new(count, end, line.as_bytes()).encode();
            }
            writer.write_all(line.as_bytes()).and_then(|()| writer.write_all(b"\n")).map_err(write_failed)?;
            (count, end) = (count + 1, end + line.len() as u64 + 1);
            last = last.max(message.id());
        }
        let staged = writer.into_inner().map_err(|error| write_failed(error.into_error()))?;
        self.tx.put_staged(MESSAGES, staged).map_err(|source| self.failed(source))?;
        self.put(INDEX, entries.as_bytes())?;
        self.loaded.metadata.last_id = self.loaded.metadata.last_id.max(last);
        self.loaded.metadata.rewritten = self.next_revision();
        self.at_end(count, end);
        Ok(())
    }

    pub(crate) fn set_state(&mut self, state: Json) -> Result<(), Error> {
        self.put_document(STATE, "the state", &state)?;
        self.loaded.state = state;
        Ok(())
    }

    pub(crate) fn set_global(&mut self, global: Json) -> Result<(), Error> {
        self.put_document(GLOBAL, "the global context", &global)?;
        self.loaded.global = global;
        Ok(())
    }

    fn put_document(&mut self, file: &str, what: &'static str, document: &Json) -> Result<(), Error> {
        if !document.is_object() {
            return Err(Error::NotAnObject { what });
        }
        let text = document.pretty() + "\n";
        if text.len() as u64 > DOCUMENT_BYTES_MAX {
            return Err(Error::TooLarge { what, limit: DOCUMENT_BYTES_MAX });
        }
        self.put(file, text.as_bytes())
    }

    /// Stamps the metadata: the last step before the commit.
    pub(crate) fn finish(mut self) -> Result<(Loaded, Vec<PathBuf>), Error> {
        let revision = self.next_revision();
        if revision > Revision::MAX {
            let expected = "a revision that can be counted on from";
            return Err(self.files().damaged(METADATA, Damage::Kind { expected }));
        }
        self.loaded.metadata.revision = revision;
        self.loaded.metadata = self.loaded.metadata.stamped(self.now);
        self.loaded.metadata_file = self.loaded.metadata.to_file();
        let file = self.loaded.metadata_file.clone();
        self.put(METADATA, &file)?;
        Ok((self.loaded, self.aside))
    }

    pub(crate) fn put(&mut self, file: &str, bytes: &[u8]) -> Result<(), Error> {
        self.tx.put(file, bytes).map_err(|source| self.failed(source))
    }

    fn at_end(&mut self, count: u64, end: u64) {
        self.loaded.metadata.message_count = Some(count);
        self.loaded.metadata.messages_bytes = Some(end);
        self.loaded.layout = Layout::Lines { end, tail: Tail::Nothing };
    }

    /// A name that no file has.
    pub(crate) fn free_name(&self, wanted: &str) -> Result<String, Error> {
        let names = (1..ASIDES_MAX).map(|count| match count {
            1 => wanted.to_owned(),
            count => format!("{wanted}-{count}"),
        });
        for name in names {
            if self.files().len(&name)?.is_none() {
                return Ok(name);
            }
        }
        Err(Error::TooLarge { what: "the number of files set aside", limit: u64::from(ASIDES_MAX) })
    }

    fn not_found(&self) -> Error {
        Error::NotFound { name: self.name.clone() }
    }

    pub(crate) fn failed(&self, source: filetx::Error) -> Error {
        match source {
            filetx::Error::Drifted { path, reason } => {
                Error::Edited { file: path, recorded: "it was not left that way".to_owned(), found: reason }
            }
            source => Error::files("write", self.name, source),
        }
    }
}
