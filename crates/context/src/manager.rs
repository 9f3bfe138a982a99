//! One conversation: what is staged, saving it in one commit, reading it.
//!
//! Rules for all of [`ContextManager`]: a call either does all that it says or leaves files and object as they were, and its error says which
//! of three outcomes it is: *aborted*, or *unknown until the next open* ([`Error::left`]); *committed, publishing will finish at the next open*
//! is a success with [`Saved::pending`]. Several objects, threads and processes may have one context open. Those that write take turns by
//! the context's lock and each sees what the one before it wrote; those that read see one commit.

use std::ops::{Bound, RangeBounds};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use filetx::OwnFolder;
use serde::{Deserialize, Serialize};

use crate::dir::Ground;
use crate::edit::{BATCH_BYTES_MAX, Edit, Write, check_revision};
use crate::files::loaded::{self, Loaded};
use crate::files::{DOCUMENT_BYTES_MAX, Files, METADATA};
use crate::model::serialize;
use crate::{Draft, Error, Json, MessageId, Messages, Metadata, Name, Notice, Revision};

/// One context, opened. Made by [`Contexts::create`](crate::Contexts::create) and [`Contexts::open`](crate::Contexts::open).
///
/// It holds what was read when it was opened, refreshed or last saved, and what is staged since. A clone has a staging area of its own and
/// shares the open files, so that threads that save clones at the same time share the wait for the disk.
#[derive(Clone)]
pub struct ContextManager {
    pub(crate) ground: Arc<Ground>,
    pub(crate) name: Name,
    pub(crate) loaded: Loaded,
    staged: Staged,
    /// Open to be written, from the first save on.
    writer: Arc<Mutex<Option<OwnFolder>>>,
    /// What recovery preserved when the context was made or replaced.
    preserved: Vec<Notice>,
}

/// What the next save writes.
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

/// A change that is on the disk.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
#[must_use = "a save may be unfinished, or may have set something aside"]
pub struct Saved {
    /// The ids of the messages that were appended, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<MessageId>,
    /// The context.
    pub name: Name,
    /// The revision that it made, or the one that was there when nothing was staged.
    pub revision: Revision,
    /// How many messages there are now.
    pub message_count: u64,
    /// Files that were put aside: a torn line, the messages of an older tool, lines that are no messages, or content of other programs that
    /// recovery preserved.
    #[serde(default, skip_serializing_if = "Vec::is_empty", serialize_with = "serialize::paths")]
    pub aside: Vec<PathBuf>,
    /// *Committed, publishing will finish at the next open*: what stopped it. `None` when all is in the files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<String>,
}

impl Saved {
    /// A context as it is.
    pub(crate) fn unchanged(name: &Name, metadata: &Metadata) -> Saved {
        Saved {
            ids: Vec::new(),
            name: name.clone(),
            revision: metadata.revision,
            message_count: metadata.message_count(),
            aside: Vec::new(),
            pending: None,
        }
    }
}

impl ContextManager {
    pub(crate) fn open(ground: &Arc<Ground>, name: &Name) -> Result<ContextManager, Error> {
        let loaded = ground.read(name, loaded::load)?;
        let (ground, name, preserved) = (Arc::clone(ground), name.clone(), Vec::new());
        Ok(ContextManager {
            ground,
            name,
            loaded,
            staged: Staged::default(),
            writer: Arc::default(),
            preserved,
        })
    }

    /// A context that was just made in its folder, where recovery preserved these files.
    pub(crate) fn made(
        ground: &Arc<Ground>,
        name: &Name,
        loaded: Loaded,
        folder: OwnFolder,
        preserved: Vec<PathBuf>,
    ) -> ContextManager {
        let notice = |preserved_at| Notice::Preserved { name: name.clone(), preserved_at };
        ContextManager {
            ground: Arc::clone(ground),
            name: name.clone(),
            loaded,
            staged: Staged::default(),
            writer: Arc::new(Mutex::new(Some(folder))),
            preserved: preserved.into_iter().map(notice).collect(),
        }
    }

    /// The name it was opened by.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// What is known about it, as of when this object last read or saved it. Touches no file.
    pub fn metadata(&self) -> &Metadata {
        &self.loaded.metadata
    }

    /// The state, as of when this object last read or saved it. What is staged is not in it. Touches no file.
    pub fn state(&self) -> &Json {
        &self.loaded.state
    }

    /// The global context, as of when this object last read or saved it. What is staged is not in it. Touches no file.
    pub fn global_context(&self) -> &Json {
        &self.loaded.global
    }

    /// What a person should know about what was found in the files.
    pub fn notices(&self) -> Vec<Notice> {
        [self.preserved.clone(), self.loaded.notices(&self.name)].concat()
    }

    /// Whether a save would write something.
    pub fn is_staged(&self) -> bool {
        !(self.staged.drafts.is_empty() && self.staged.state.is_empty() && self.staged.global.is_empty())
    }

    /// Reads again: metadata, state and global context as of one commit. What is staged stays staged.
    ///
    /// Safe beside writers in any thread or process: it waits for a commit that is under way and sees all or nothing of it. Writes
    /// nothing. A failure leaves this object as it was.
    #[track_caller]
    pub fn refresh(&mut self) -> Result<(), Error> {
        self.loaded = self.ground.read(&self.name, loaded::load)?;
        Ok(())
    }

    /// Stages a message; [`save`](Self::save) writes it. Ids are given by the save, so that they rise in the order of the conversation.
    ///
    /// Touches no file. A failure (too much for one save) stages nothing.
    pub fn append(&mut self, draft: Draft) -> Result<(), Error> {
        self.append_all([draft])
    }

    /// Stages several messages, all or none; [`save`](Self::save) writes them together.
    ///
    /// Touches no file. A failure (too much for one save) stages nothing.
    pub fn append_all(&mut self, drafts: impl IntoIterator<Item = Draft>) -> Result<(), Error> {
        let (mut all, mut bytes) = (Vec::new(), self.staged.draft_bytes);
        for draft in drafts {
            bytes += draft.len();
            if bytes > BATCH_BYTES_MAX {
                return Err(Error::TooLarge { what: "messages of one save", limit: BATCH_BYTES_MAX as u64 });
            }
            all.push(draft);
        }
        self.staged.drafts.extend(all);
        self.staged.draft_bytes = bytes;
        Ok(())
    }

    /// Stages another state, a JSON object. Touches no file. A failure stages nothing.
    pub fn set_state(&mut self, state: Json) -> Result<(), Error> {
        self.staged.state = vec![Change::Set(checked(state, "the state")?)];
        Ok(())
    }

    /// Stages a change of the state as a JSON Merge Patch. It is applied at the save, to what the state is then. Touches no file. A
    /// failure stages nothing.
    pub fn patch_state(&mut self, patch: Json) -> Result<(), Error> {
        self.staged.state.push(Change::Patch(checked(patch, "a patch of the state")?));
        Ok(())
    }

    /// Stages another global context, a JSON object. Touches no file. A failure stages nothing.
    pub fn set_global(&mut self, global: Json) -> Result<(), Error> {
        self.staged.global = vec![Change::Set(checked(global, "the global context")?)];
        Ok(())
    }

    /// Stages a change of the global context as a JSON Merge Patch. It is applied at the save, to what it is then. Touches no file.
    /// A failure stages nothing.
    pub fn patch_global(&mut self, patch: Json) -> Result<(), Error> {
        self.staged.global.push(Change::Patch(checked(patch, "a patch of the global context")?));
        Ok(())
    }

    /// Forgets what is staged. Touches no file.
    pub fn discard(&mut self) {
        self.staged = Staged::default();
    }

    /// Writes everything staged so far in one commit: messages, state, global context, and with them count, time and revision.
    ///
    /// Any number of threads and processes may save to one context: they take turns, each adds to what the one before it left, none is
    /// lost. Other contexts are not waited for. When this returns, the change survives a power cut. When it fails, files and
    /// object are as they were, with everything still staged; [`Error::left`] tells when the files are only known at the next open.
    #[track_caller]
    pub fn save(&mut self) -> Result<Saved, Error> {
        self.save_at(None)
    }

    /// As [`save`](Self::save), unless somebody else wrote since `expected`: then it is [`Error::Stale`] with the current revision, and
    /// files and object are as they were.
    #[track_caller]
    pub fn save_if(&mut self, expected: Revision) -> Result<Saved, Error> {
        self.save_at(Some(expected))
    }

    #[track_caller]
    fn save_at(&mut self, expected: Option<Revision>) -> Result<Saved, Error> {
        let staged = self.staged.clone();
        let saved = if self.is_staged() {
            self.change("save", expected, |edit| {
                if let Some(state) = applied(edit.loaded.state.clone(), &staged.state) {
                    edit.set_state(state)?;
                }
                if let Some(global) = applied(edit.loaded.global.clone(), &staged.global) {
                    edit.set_global(global)?;
                }
                if staged.drafts.is_empty() { Ok(Vec::new()) } else { edit.append(&staged.drafts) }
            })?
        } else {
            self.refresh()?;
            check_revision(&self.name, expected, self.loaded.metadata.revision)?;
            Saved::unchanged(&self.name, &self.loaded.metadata)
        };
        self.staged = Staged::default();
        Ok(saved)
    }

    /// Keeps the first `count` messages, in one commit with the count. State and global context stay; so does what is staged.
    ///
    /// Safety among threads and processes, and what a failure leaves: as [`save`](Self::save). Who reads meanwhile gets the messages
    /// as they were or [`Error::Rewritten`].
    #[track_caller]
    pub fn rewind(&mut self, count: u64, expected: Option<Revision>) -> Result<Saved, Error> {
        self.change("rewind", expected, |edit| edit.cut(count).map(|()| Vec::new()))
    }

    /// Empties messages, state and global context in one commit and keeps the context. What is staged stays.
    ///
    /// Safety among threads and processes, and what a failure leaves: as [`rewind`](Self::rewind).
    #[track_caller]
    pub fn clear(&mut self, expected: Option<Revision>) -> Result<Saved, Error> {
        self.change("clear", expected, |edit| {
            edit.cut(0)?;
            edit.set_state(Json::empty())?;
            edit.set_global(Json::empty())?;
            Ok(Vec::new())
        })
    }

    /// Some messages by their numbers, counted from 0, as of when this object last read or saved the context. Nothing is loaded before it is
    /// asked for, and never more than a piece.
    ///
    /// Safe beside writers in any thread or process, which do not wait for a slow reader. Writes nothing.
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
        Messages::new(&self.ground, &self.name, &self.loaded, start, end.max(start))
    }

    /// The last `count` messages; as [`messages`](Self::messages).
    pub fn last(&self, count: u64) -> Messages {
        self.messages(self.loaded.metadata.message_count().saturating_sub(count)..)
    }

    /// Does a change under the lock and commits it.
    #[track_caller]
    pub(crate) fn change(
        &mut self,
        doing: &'static str,
        expected: Option<Revision>,
        work: impl FnOnce(&mut Edit<'_, '_>) -> Result<Vec<MessageId>, Error>,
    ) -> Result<Saved, Error> {
        let folder = self.writer(doing)?;
        let write = Write { ground: &self.ground, name: &self.name, folder: &folder, doing, expected };
        let done = write.commit(
            |files| self.current(files),
            |edit| {
                edit.settle()?;
                work(edit)
            },
        );
        if let Err(Error::NotFound { .. }) = &done {
            // Whoever makes it anew makes another folder.
            *self.writer.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        let (loaded, saved) = done?;
        self.loaded = loaded;
        Ok(saved)
    }

    /// What is there now. What this object knows is not read again when nobody wrote since.
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
    fn writer(&self, doing: &'static str) -> Result<OwnFolder, Error> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = &*writer {
            return Ok(folder.clone());
        }
        let folder = self.ground.writer(doing, &self.name)?;
        Ok(writer.insert(folder).clone())
    }

    /// The folder of the context.
    pub fn folder(&self) -> PathBuf {
        let folder: &Path = &self.ground.folder;
        folder.join(self.name.as_str())
    }
}

fn checked(json: Json, what: &'static str) -> Result<Json, Error> {
    if json.is_object() { Ok(json) } else { Err(Error::NotAnObject { what }) }
}

/// A document with changes; `None` when there are none.
fn applied(document: Json, changes: &[Change]) -> Option<Json> {
    if changes.is_empty() {
        return None;
    }
    Some(changes.iter().fold(document, |document, change| match change {
        Change::Set(json) => json.clone(),
        Change::Patch(patch) => document.merged(patch),
    }))
}
