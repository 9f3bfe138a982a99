//! One change of a context inside a transaction: the steps of every writing call.
//!
//! An [`Edit`] starts from the files under the lock, never from an earlier read. Its last step
//! stamps the metadata, so that count, length, revision and time always belong to the same commit
//! as the messages.

use std::io::{BufWriter, Write as _};
use std::path::PathBuf;

use filetx::{FolderTransaction, OwnFolder};
use jiff::Timestamp;

use crate::dir::ContextsDir;
use crate::error::Damage;
use crate::files::digest::Digest;
use crate::files::index::{self, Entry};
use crate::files::lines::{self, Scan, Tail};
use crate::files::loaded::{self, Layout, Loaded};
use crate::files::{
    DOCUMENT_BYTES_MAX, Files, GLOBAL, INDEX, LEGACY_MESSAGES, LEGACY_MESSAGES_BACKUP, MESSAGES, METADATA,
    STATE,
};
use crate::{Draft, Error, Json, Message, MessageId, Name, Revision, SaveSummary};

/// Maximum size of the messages of one save in bytes. An import has no limit.
pub const BATCH_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Maximum number of preserved files of one kind.
const PRESERVED_FILES_MAX: u32 = 1000;

/// Parameters of a change.
pub(crate) struct Write<'a> {
    pub(crate) dir: &'a ContextsDir,
    pub(crate) name: &'a Name,
    pub(crate) folder: &'a OwnFolder,
    pub(crate) action: &'static str,
    /// Revision that the caller has read.
    pub(crate) expected: Option<Revision>,
}

impl Write<'_> {
    /// Changes the context under the lock, starting from the result of `load`, and commits.
    #[track_caller]
    pub(crate) fn commit(
        self,
        load: impl FnOnce(Files<'_>) -> Result<Loaded, Error>,
        work: impl FnOnce(&mut Edit<'_, '_>) -> Result<Vec<MessageId>, Error>,
    ) -> Result<(Loaded, SaveSummary), Error> {
        let Write { dir, name, folder, action, expected } = self;
        let _span = tracing::debug_span!("context", %name, action).entered();
        let path = dir.folder_of(name);
        let mut tx = folder.begin().map_err(|source| Error::begin(action, name, source))?;
        let loaded = load(Files { view: &tx, name, folder: &path })?;
        check_revision(name, expected, loaded.metadata.revision)?;
        if loaded.metadata.context_id.is_none() {
            dir.sync_names(&*dir.prepare()?)?;
        }
        let mut edit =
            Edit { tx: &mut tx, name, folder: &path, loaded, now: dir.now(), preserved_at: Vec::new() };
        let ids = work(&mut edit)?;
        let (loaded, mut preserved_at) = edit.finish()?;
        let committed = tx.commit().map_err(|source| Error::commit(action, name, source))?;
        preserved_at.extend(folder.take_preserved().into_iter().filter_map(|kept| kept.preserved_at));
        let pending = committed.pending.map(|error| error.to_string());
        let saved =
            SaveSummary { ids, preserved_at, pending, ..SaveSummary::unchanged(name, &loaded.metadata) };
        Ok((loaded, saved))
    }
}

/// Fails if the caller expects another revision.
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

/// A change of one context in progress.
pub(crate) struct Edit<'t, 'a> {
    pub(crate) tx: &'t mut FolderTransaction<'a>,
    pub(crate) name: &'t Name,
    pub(crate) folder: &'t PathBuf,
    pub(crate) loaded: Loaded,
    pub(crate) now: Timestamp,
    /// Files that preserve content of other tools.
    pub(crate) preserved_at: Vec<PathBuf>,
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

    /// Revision that this change creates.
    pub(crate) fn next_revision(&self) -> Revision {
        Revision(self.loaded.metadata.revision.0 + 1)
    }

    /// Converts what other tools wrote to the current layout, before a change.
    pub(crate) fn normalize(&mut self) -> Result<(), Error> {
        if self.loaded.metadata.context_id.is_none() {
            self.loaded.metadata.context_id = Some(MessageId::generate(None, self.now));
        }
        match self.loaded.layout.clone() {
            Layout::Lines { tail: Tail::Complete, .. } => {}
            Layout::Lines { tail: Tail::Unterminated, end } => {
                self.tx.append(MESSAGES, b"\n").map_err(|source| self.failed(source))?;
                self.set_length(self.count(), end + 1);
            }
            Layout::Lines { tail: Tail::Torn(bytes), end } => self.preserve_torn_line(end, bytes)?,
            Layout::Array => self.convert()?,
        }
        Ok(())
    }

    fn preserve_torn_line(&mut self, end: u64, bytes: u64) -> Result<(), Error> {
        let body = self.files().open(MESSAGES)?.ok_or_else(|| self.not_found())?;
        let torn = body.read_range(end, bytes).map_err(|source| self.failed(source))?;
        let backup = self.unused_name(&format!("{MESSAGES}.torn"))?;
        self.put(&backup, &torn)?;
        self.preserved_at.push(self.folder.join(&backup));
        self.truncate_modified(end)?;
        self.truncate_index(self.count())?;
        self.set_length(self.count(), end);
        Ok(())
    }

    /// Truncates messages that another program modified, as the caller knows. The transaction
    /// reports the modification once.
    fn truncate_modified(&mut self, end: u64) -> Result<(), Error> {
        let cut = match self.tx.truncate(MESSAGES, end) {
            Err(filetx::Error::ModifiedExternally { .. }) => self.tx.truncate(MESSAGES, end),
            cut => cut,
        };
        cut.map_err(|source| self.failed(source))
    }

    /// Accepts messages that another program wrote.
    pub(crate) fn accept(&mut self, accepted: Scan) -> Result<(), Error> {
        let Scan { count, end, tail, last_id, digest } = accepted;
        if self.files().len(MESSAGES)?.is_some() {
            // Acknowledges the modification; the length stays.
            self.truncate_modified(end)?;
        }
        self.loaded.layout = Layout::Lines { end, tail };
        self.loaded.metadata.message_count = Some(count);
        self.loaded.metadata.messages_bytes = Some(end);
        self.loaded.metadata.last_id = self.loaded.metadata.last_id.max(last_id);
        self.loaded.metadata.digest = Some(digest);
        self.loaded.metadata.rewritten = self.next_revision();
        self.normalize()?;
        self.rebuild_index()
    }

    /// Converts the legacy layout, and keeps its file as a backup.
    fn convert(&mut self) -> Result<(), Error> {
        let messages = loaded::legacy_messages(self.files())?;
        let backup = self.unused_name(LEGACY_MESSAGES_BACKUP)?;
        self.tx.rename(LEGACY_MESSAGES, &*backup).map_err(|source| self.failed(source))?;
        self.preserved_at.push(self.folder.join(backup));
        self.replace_messages(messages.into_iter().map(Ok))
    }

    /// Removes the messages of an older tool, which the current change replaces.
    pub(crate) fn remove_legacy_messages(&mut self) -> Result<(), Error> {
        match self.files().len(LEGACY_MESSAGES)? {
            Some(_) => self.tx.remove(LEGACY_MESSAGES).map_err(|source| self.failed(source)),
            None => Ok(()),
        }
    }

    /// Appends messages, and returns their ids.
    pub(crate) fn append(&mut self, drafts: &[Draft]) -> Result<Vec<MessageId>, Error> {
        let mut last = self.loaded.metadata.last_id;
        let (mut bytes, mut entries, mut ids) = (String::new(), String::new(), Vec::new());
        let (count, end) = (self.count(), self.end());
        let mut digest = self.loaded.metadata.digest;
        for (number, draft) in (count..).zip(drafts) {
            draft.check_length().map_err(|source| Error::Message { number: number - count + 1, source })?;
            let id = match (draft.id(), last) {
                (Some(id), Some(last)) if id <= last => return Err(Error::IdNotIncreasing { id, last }),
                (Some(id), _) => id,
                (None, last) => MessageId::generate(last, self.now),
            };
            let start = bytes.len();
            draft.write(id, self.now, &mut bytes);
            let line = &bytes.as_bytes()[start..];
            if index::is_indexed(number) {
                entries += &Entry::new(number, end + start as u64, line).encode();
            }
            if let Some(digest) = &mut digest {
                digest.toggle(number, line);
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
        self.loaded.metadata.digest = digest;
        self.set_length(count + ids.len() as u64, end + bytes.len() as u64);
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

    /// Rebuilds the index from the messages.
    pub(crate) fn rebuild_index(&mut self) -> Result<(), Error> {
        let text = lines::build_index(self.files(), self.count())?;
        self.put(INDEX, text.as_bytes())
    }

    /// Keeps the first `count` messages.
    pub(crate) fn truncate_messages(&mut self, count: u64) -> Result<(), Error> {
        let have = self.count();
        if count > have {
            return Err(Error::OutOfRange { name: self.name.clone(), requested: count, count: have });
        }
        let end = if count == have { self.end() } else { lines::locate(self.files(), count)? };
        self.loaded.metadata.digest = match self.loaded.metadata.digest {
            _ if count == 0 => Some(Digest::default()),
            Some(digest) if count < have => lines::digest_without(self.files(), end, count, digest)?,
            digest => digest,
        };
        if self.files().len(MESSAGES)?.is_some() {
            self.tx.truncate(MESSAGES, end).map_err(|source| self.failed(source))?;
        }
        self.truncate_index(count)?;
        self.loaded.metadata.rewritten = self.next_revision();
        self.set_length(count, end);
        Ok(())
    }

    fn truncate_index(&mut self, count: u64) -> Result<(), Error> {
        let len = index::bytes_for(count);
        match self.files().len(INDEX)? {
            Some(have) if have > len => self.tx.truncate(INDEX, len).map_err(|source| self.failed(source)),
            _ => Ok(()),
        }
    }

    /// Starts with empty messages.
    pub(crate) fn start_messages(&mut self) -> Result<(), Error> {
        self.put(MESSAGES, b"")?;
        self.put(INDEX, b"")?;
        self.loaded.metadata.digest = Some(Digest::default());
        self.loaded.metadata.rewritten = self.next_revision();
        self.set_length(0, 0);
        Ok(())
    }

    /// Replaces all messages. A message without an increasing id gets a new one.
    pub(crate) fn replace_messages(
        &mut self,
        messages: impl Iterator<Item = Result<Message, Error>>,
    ) -> Result<(), Error> {
        let failed = |source| Error::files("write", self.name, source);
        let staged = self.tx.stage(0).map_err(failed)?;
        let mut writer = BufWriter::with_capacity(64 * 1024, staged);
        let write_failed =
            |source| Error::Folder { action: "write", path: self.folder.join(MESSAGES), source };
        let (mut count, mut end, mut entries) = (0_u64, 0_u64, String::new());
        let (mut last, mut digest) = (None, Digest::default());
        for message in messages {
            let message = message?.with_increasing_id(last, self.now).of_valid_length();
            let message = message.map_err(|source| Error::Message { number: count + 1, source })?;
            let line = message.as_json();
            digest.toggle(count, line.as_bytes());
            if index::is_indexed(count) {
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
        self.loaded.metadata.digest = Some(digest);
        self.loaded.metadata.rewritten = self.next_revision();
        self.set_length(count, end);
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
            let expected = "a revision that can be incremented";
            return Err(self.files().damaged(METADATA, Damage::WrongType { expected }));
        }
        self.loaded.metadata.revision = revision;
        self.loaded.metadata = self.loaded.metadata.stamp(self.now);
        self.loaded.metadata_file = self.loaded.metadata.to_file();
        let file = self.loaded.metadata_file.clone();
        self.put(METADATA, &file)?;
        Ok((self.loaded, self.preserved_at))
    }

    pub(crate) fn put(&mut self, file: &str, bytes: &[u8]) -> Result<(), Error> {
        self.tx.put(file, bytes).map_err(|source| self.failed(source))
    }

    fn set_length(&mut self, count: u64, end: u64) {
        self.loaded.metadata.message_count = Some(count);
        self.loaded.metadata.messages_bytes = Some(end);
        self.loaded.layout = Layout::Lines { end, tail: Tail::Complete };
    }

    /// Returns a file name that is not used yet.
    pub(crate) fn unused_name(&self, wanted: &str) -> Result<String, Error> {
        let names = (1..PRESERVED_FILES_MAX).map(|count| match count {
            1 => wanted.to_owned(),
            count => format!("{wanted}-{count}"),
        });
        for name in names {
            if self.files().len(&name)?.is_none() {
                return Ok(name);
            }
        }
        Err(Error::TooLarge { what: "the number of preserved files", limit: u64::from(PRESERVED_FILES_MAX) })
    }

    fn not_found(&self) -> Error {
        Error::NotFound { name: self.name.clone() }
    }

    pub(crate) fn failed(&self, source: filetx::Error) -> Error {
        match source {
            filetx::Error::ModifiedExternally { path, reason } => Error::ModifiedExternally {
                file: path,
                recorded: "its recorded state differs".to_owned(),
                actual: reason,
            },
            source => Error::files("write", self.name, source),
        }
    }
}
