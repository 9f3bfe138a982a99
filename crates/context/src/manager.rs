//! One conversation: staging changes, saving them in one commit, reading messages.
//!
//! A call of [`ContextManager`] does all of its work or leaves files and object unchanged. Its
//! error has one of two outcomes: *aborted*, or *unknown until the next open* ([`Error::outcome`]).
//! The third outcome, *committed, publishing will finish at the next open*, is a success with
//! [`SaveSummary::pending`]. Several objects, threads and processes may have one context open.
//! Writers take turns by the context's lock, and each sees the changes of the one before it;
//! readers see one commit.

use std::ops::{Bound, RangeBounds};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use filetx::OwnFolder;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::dir::ContextsDir;
use crate::edit::{BATCH_BYTES_MAX, Edit, Write, check_revision};
use crate::files::loaded::{self, Loaded};
use crate::files::{DOCUMENT_BYTES_MAX, Files, METADATA};
use crate::model::serialize;
use crate::{Draft, Error, Json, MessageId, Messages, Metadata, Name, Notice, Revision};

/// An open context, from [`Contexts::create`](crate::Contexts::create) or
/// [`Contexts::open`](crate::Contexts::open).
///
/// Holds the content as of its last open, refresh or save, and the changes staged since then. A
/// clone has its own staged changes and shares the open files, so that threads that save clones at
/// the same time share a sync.
#[derive(Clone)]
pub struct ContextManager {
    pub(crate) dir: Arc<ContextsDir>,
    pub(crate) name: Name,
    pub(crate) loaded: Loaded,
    staged: Staged,
    /// Open for writing, from the first save on.
    writer: Arc<Mutex<Option<OwnFolder>>>,
    /// Content that recovery preserved when the context was created or replaced.
    preserved: Vec<Notice>,
}

/// Changes that the next save writes.
#[derive(Clone, Default)]
struct Staged {
    drafts: Vec<Draft>,
    draft_bytes: usize,
    state: Vec<Change>,
    global: Vec<Change>,
}

/// A change of the state or of the global context.
#[derive(Clone)]
enum Change {
    Set(Json),
    Patch(Json),
}

/// Summary of a committed change.
#[derive(Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize, Debug)]
#[must_use = "publishing may be pending, and content may have been preserved in other files"]
pub struct SaveSummary {
    /// Ids of the appended messages, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<MessageId>,
    /// Name of the context.
    pub name: Name,
    /// Revision of the commit; the current one if nothing was staged.
    pub revision: Revision,
    /// Number of messages after the commit.
    pub message_count: u64,
    /// Files that preserve content: a torn line, messages of an older tool, lines that are not
    /// messages, or content of other programs that recovery found.
    #[serde(default, skip_serializing_if = "Vec::is_empty", serialize_with = "serialize::paths")]
    pub preserved_at: Vec<PathBuf>,
    /// Reason of the outcome *committed, publishing will finish at the next open*. `None` if all
    /// files are written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<String>,
}

impl SaveSummary {
    /// Returns the summary of a call that changed nothing.
    pub(crate) fn unchanged(name: &Name, metadata: &Metadata) -> SaveSummary {
        SaveSummary {
            ids: Vec::new(),
            name: name.clone(),
            revision: metadata.revision,
            message_count: metadata.message_count(),
            preserved_at: Vec::new(),
            pending: None,
        }
    }
}

impl ContextManager {
    pub(crate) fn open(dir: &Arc<ContextsDir>, name: &Name) -> Result<ContextManager, Error> {
        let loaded = dir.read(name, loaded::load)?;
        let (dir, name, preserved) = (Arc::clone(dir), name.clone(), Vec::new());
        Ok(ContextManager { dir, name, loaded, staged: Staged::default(), writer: Arc::default(), preserved })
    }

    /// Opens a context that was just created in its folder, where recovery preserved these files.
    pub(crate) fn created(
        dir: &Arc<ContextsDir>,
        name: &Name,
        loaded: Loaded,
        folder: OwnFolder,
        preserved: Vec<PathBuf>,
    ) -> ContextManager {
        let notice = |preserved_at| Notice::Preserved { name: name.clone(), preserved_at };
        ContextManager {
            dir: Arc::clone(dir),
            name: name.clone(),
            loaded,
            staged: Staged::default(),
            writer: Arc::new(Mutex::new(Some(folder))),
            preserved: preserved.into_iter().map(notice).collect(),
        }
    }

    /// Name by which the context was opened.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Metadata as of the last read or save. Does no I/O.
    pub fn metadata(&self) -> &Metadata {
        &self.loaded.metadata
    }

    /// State as of the last read or save, without staged changes. Does no I/O.
    pub fn state(&self) -> &Json {
        &self.loaded.state
    }

    /// Global context as of the last read or save, without staged changes. Does no I/O.
    pub fn global_context(&self) -> &Json {
        &self.loaded.global
    }

    /// Warnings about the files.
    pub fn notices(&self) -> Vec<Notice> {
        [self.preserved.clone(), self.loaded.notices(&self.name)].concat()
    }

    /// Returns true if changes are staged.
    pub fn is_staged(&self) -> bool {
        !(self.staged.drafts.is_empty() && self.staged.state.is_empty() && self.staged.global.is_empty())
    }

    /// Reads metadata, state and global context again, as of one commit. Staged changes stay
    /// staged.
    ///
    /// Safe beside writers in any thread or process: waits for a commit in progress, and sees all
    /// or nothing of it. Writes nothing. A failure leaves this object unchanged.
    #[track_caller]
    pub fn refresh(&mut self) -> Result<(), Error> {
        self.loaded = self.dir.read(&self.name, loaded::load)?;
        Ok(())
    }

    /// Stages a message for the next [`save`](Self::save), which assigns its id: ids increase in
    /// the order of the conversation.
    ///
    /// Does no I/O. A failure (too long, or too much for one save) stages nothing.
    pub fn append(&mut self, draft: Draft) -> Result<(), Error> {
        self.append_all([draft])
    }

    /// Stages several messages, all or none; [`save`](Self::save) writes them together.
    ///
    /// Does no I/O. A failure (too long, or too much for one save) stages nothing.
    pub fn append_all(&mut self, drafts: impl IntoIterator<Item = Draft>) -> Result<(), Error> {
        let (mut all, mut bytes) = (Vec::new(), self.staged.draft_bytes);
        for (number, draft) in (1..).zip(drafts) {
            bytes += draft.len();
            if bytes > BATCH_BYTES_MAX {
                return Err(Error::TooLarge { what: "messages of one save", limit: BATCH_BYTES_MAX as u64 });
            }
            draft.check_length().map_err(|source| Error::Message { number, source })?;
            all.push(draft);
        }
        self.staged.drafts.extend(all);
        self.staged.draft_bytes = bytes;
        Ok(())
    }

    /// Stages a new state, a JSON object. Does no I/O. A failure stages nothing.
    pub fn set_state(&mut self, state: Json) -> Result<(), Error> {
        self.staged.state = vec![Change::Set(check_object(state, "the state")?)];
        Ok(())
    }

    /// Stages a JSON Merge Patch of the state, applied to the state at the time of the save. Does
    /// no I/O. A failure stages nothing.
    pub fn patch_state(&mut self, patch: Json) -> Result<(), Error> {
        self.staged.state.push(Change::Patch(check_object(patch, "a patch of the state")?));
        Ok(())
    }

    /// Stages a new global context, a JSON object. Does no I/O. A failure stages nothing.
    pub fn set_global(&mut self, global: Json) -> Result<(), Error> {
        self.staged.global = vec![Change::Set(check_object(global, "the global context")?)];
        Ok(())
    }

    /// Stages a JSON Merge Patch of the global context, applied to it at the time of the save. Does
    /// no I/O. A failure stages nothing.
    pub fn patch_global(&mut self, patch: Json) -> Result<(), Error> {
        self.staged.global.push(Change::Patch(check_object(patch, "a patch of the global context")?));
        Ok(())
    }

    /// Drops the staged changes. Does no I/O.
    pub fn discard(&mut self) {
        self.staged = Staged::default();
    }

    /// Writes all staged changes in one commit: messages, state and global context, with count,
    /// time and revision.
    ///
    /// Any number of threads and processes may save to one context: they take turns, each adds to
    /// the result of the one before it, and no change is lost. Saves of other contexts do not wait.
    /// When this returns, the change survives a power cut. After a failure, files and object are
    /// unchanged, and everything is still staged; [`Error::outcome`] tells if the outcome is
    /// unknown until the next open.
    #[track_caller]
    pub fn save(&mut self) -> Result<SaveSummary, Error> {
        self.save_at(None)
    }

    /// Saves like [`save`](Self::save) if the context is at revision `expected`. Fails with
    /// [`Error::Stale`] otherwise, and leaves files and object unchanged.
    #[track_caller]
    pub fn save_if(&mut self, expected: Revision) -> Result<SaveSummary, Error> {
        self.save_at(Some(expected))
    }

    #[track_caller]
    fn save_at(&mut self, expected: Option<Revision>) -> Result<SaveSummary, Error> {
        let staged = self.staged.clone();
        let saved = if self.is_staged() {
            self.change("save", expected, |edit| {
                if let Some(state) = apply_changes(edit.loaded.state.clone(), &staged.state) {
                    edit.set_state(state)?;
                }
                if let Some(global) = apply_changes(edit.loaded.global.clone(), &staged.global) {
                    edit.set_global(global)?;
                }
                if staged.drafts.is_empty() { Ok(Vec::new()) } else { edit.append(&staged.drafts) }
            })?
        } else {
            self.refresh()?;
            check_revision(&self.name, expected, self.loaded.metadata.revision)?;
            SaveSummary::unchanged(&self.name, &self.loaded.metadata)
        };
        self.staged = Staged::default();
        Ok(saved)
    }

    /// Keeps the first `count` messages, in one commit with the count. State, global context and
    /// staged changes stay.
    ///
    /// Safety among threads and processes, and the state after a failure: as [`save`](Self::save).
    /// A concurrent reader gets the messages as they were, or [`Error::Rewritten`].
    #[track_caller]
    pub fn rewind(&mut self, count: u64, expected: Option<Revision>) -> Result<SaveSummary, Error> {
        self.change("rewind", expected, |edit| edit.truncate_messages(count).map(|()| Vec::new()))
    }

    /// Empties messages, state and global context in one commit, and keeps the context. Staged
    /// changes stay.
    ///
    /// Safety among threads and processes, and the state after a failure: as
    /// [`rewind`](Self::rewind).
    #[track_caller]
    pub fn clear(&mut self, expected: Option<Revision>) -> Result<SaveSummary, Error> {
        self.change("clear", expected, |edit| {
            edit.truncate_messages(0)?;
            edit.set_state(Json::empty())?;
            edit.set_global(Json::empty())?;
            Ok(Vec::new())
        })
    }

    /// Returns messages by number, counted from 0, as of the last read or save. Reads them in
    /// chunks, on demand.
    ///
    /// Safe beside writers in any thread or process, which do not wait for a slow reader. Writes
    /// nothing.
    pub fn messages(&self, range: impl RangeBounds<u64>) -> Messages {
        let start = match range.start_bound() {
            Bound::Included(start) => *start,
            Bound::Excluded(start) => start.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(end) => end.saturating_add(1),
            Bound::Excluded(end) => *end,
            Bound::Unbounded => u64::MAX,
        };
        Messages::new(&self.dir, &self.name, &self.loaded, start, end.max(start))
    }

    /// Returns the last `count` messages, like [`messages`](Self::messages).
    pub fn last(&self, count: u64) -> Messages {
        self.messages(self.loaded.metadata.message_count().saturating_sub(count)..)
    }

    /// Changes the context under the lock, and commits.
    #[track_caller]
    pub(crate) fn change(
        &mut self,
        action: &'static str,
        expected: Option<Revision>,
        work: impl FnOnce(&mut Edit<'_, '_>) -> Result<Vec<MessageId>, Error>,
    ) -> Result<SaveSummary, Error> {
        let folder = self.writer(action)?;
        let write = Write { dir: &self.dir, name: &self.name, folder: &folder, action, expected };
        let done = write.commit(
            |files| self.current(files),
            |edit| {
                edit.normalize()?;
                work(edit)
            },
        );
        if let Err(Error::NotFound { .. }) = &done {
            // A new context of this name has another folder.
            *self.writer.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        let (loaded, saved) = done?;
        self.loaded = loaded;
        Ok(saved)
    }

    /// Returns the current content; reads it only if the metadata changed since the last read.
    fn current(&self, files: Files<'_>) -> Result<Loaded, Error> {
        let there = files.read(METADATA, DOCUMENT_BYTES_MAX)?;
        if there.as_ref() != Some(&self.loaded.metadata_file) {
            return loaded::load(files);
        }
        let mut loaded = self.loaded.clone();
        loaded.layout = loaded::layout(files, &mut loaded.metadata)?;
        Ok(loaded)
    }

    #[track_caller]
    fn writer(&self, action: &'static str) -> Result<OwnFolder, Error> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = &*writer {
            return Ok(folder.clone());
        }
        let folder = self.dir.writer(action, &self.name)?;
        Ok(writer.insert(folder).clone())
    }

    /// Path of the context's folder.
    pub fn folder(&self) -> PathBuf {
        let folder: &Path = &self.dir.folder;
        folder.join(self.name.as_str())
    }
}

fn check_object(json: Json, what: &'static str) -> Result<Json, Error> {
    if json.is_object() { Ok(json) } else { Err(Error::NotAnObject { what }) }
}

/// Returns a document with changes applied; `None` if there are none.
fn apply_changes(document: Json, changes: &[Change]) -> Option<Json> {
    if changes.is_empty() {
        return None;
    }
    Some(changes.iter().fold(document, |document, change| match change {
        Change::Set(json) => json.clone(),
        Change::Patch(patch) => document.merged(patch),
    }))
}
