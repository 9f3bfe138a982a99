//! Conversations. Each call opens the context that it needs, and returns the types of [`context`]
//! where they suffice.

use std::io::Write;
use std::path::{Path, PathBuf};

use context::{ContextEntry, Format, Name, OnExisting, Options};
pub use context::{
    ContextManager, Draft, Format as ExportFormat, Json, Name as ContextName, Notice, NumberedMessage,
    Revision, Role, SaveSummary, SearchHit, SearchQuery, StaleContext, VerifyReport,
};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::problem::text;
use crate::{Agents, Error, HintFor, Problem};

/// Folder of all contexts, below the home folder.
const FOLDER: &str = "contexts";

/// Conversations of one user. Cheap to clone; safe among threads and processes, like
/// [`context::Contexts`].
#[derive(Clone)]
pub struct Contexts {
    pub(crate) inner: context::Contexts,
    hint: Option<HintFor>,
}

/// A document of a context.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ContextDocument {
    /// State of the conversation.
    State,
    /// Global context.
    Global,
}

/// Selection of messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MessageSelection {
    /// All messages.
    All,
    /// The last messages, this many.
    Last(u64),
    /// Messages from `start` to before `end`, counted from 0.
    Range {
        /// Number of the first message.
        start: u64,
        /// Number after the last message.
        end: u64,
    },
}

/// A context as of now.
#[derive(Clone, PartialEq, Eq, JsonSchema, Serialize, Debug)]
pub struct ContextInfo {
    /// Name of the context.
    pub name: Name,
    /// Path of its folder.
    pub folder: String,
    /// Number of its last commit.
    pub revision: Revision,
    /// Number of messages.
    pub message_count: u64,
    /// Warnings about its files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}

impl ContextInfo {
    fn of(context: &ContextManager) -> ContextInfo {
        ContextInfo {
            name: context.name().clone(),
            folder: text(&context.folder()),
            revision: context.metadata().revision(),
            message_count: context.metadata().message_count(),
            notices: context.notices(),
        }
    }
}

/// A context in a list.
#[derive(Clone, PartialEq, JsonSchema, Serialize, Debug)]
pub struct ContextSummary {
    /// Name of the context.
    pub name: Name,
    /// Number of its last commit, if readable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<Revision>,
    /// Number of messages, if readable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_count: Option<u64>,
    /// Time of its last change, if recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_updated: Option<String>,
    /// Error of reading it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
}

impl ContextSummary {
    fn of(listed: ContextEntry, hint: Option<HintFor>) -> ContextSummary {
        let metadata = listed.metadata.as_ref().ok();
        ContextSummary {
            name: listed.name,
            revision: metadata.map(|metadata| metadata.revision()),
            message_count: metadata.map(|metadata| metadata.message_count()),
            last_updated: metadata.and_then(|metadata| metadata.last_updated()).map(|time| time.to_string()),
            problem: listed.metadata.err().map(|error| Problem::hinted(&error.into(), hint)),
        }
    }
}

/// Result of an export.
#[derive(Clone, PartialEq, Eq, JsonSchema, Serialize, Debug)]
pub struct ExportReport {
    /// Name of the context.
    pub name: Name,
    /// File or folder that was written.
    pub path: String,
    /// Number of messages.
    pub message_count: u64,
}

impl Agents {
    /// Opens the conversations. Does no I/O.
    pub fn contexts(&self) -> Result<Contexts, Error> {
        let options = Options { wait: self.wait(), ..Options::default() };
        let inner = context::Contexts::at(&self.home()?.join(FOLDER), options);
        Ok(Contexts { inner, hint: self.hint() })
    }
}

impl Contexts {
    /// Creates an empty context.
    pub fn create(&self, name: &Name) -> Result<ContextInfo, Error> {
        Ok(ContextInfo::of(&self.inner.create(name)?))
    }

    /// Lists all contexts by name.
    pub fn list(&self) -> Result<Vec<ContextSummary>, Error> {
        Ok(self.inner.list()?.into_iter().map(|listed| ContextSummary::of(listed, self.hint)).collect())
    }

    /// Appends messages in one commit, all or none. With `if_revision`, fails if the context is at
    /// another revision.
    pub fn append(
        &self,
        name: &Name,
        drafts: &[Draft],
        if_revision: Option<Revision>,
    ) -> Result<SaveSummary, Error> {
        Ok(self.inner.append(name, drafts, if_revision)?)
    }

    /// Returns the selected messages as of now, read on demand.
    pub fn show(&self, name: &Name, selection: MessageSelection) -> Result<Conversation, Error> {
        let context = self.open(name)?;
        let messages = match selection {
            MessageSelection::All => context.messages(..),
            MessageSelection::Last(count) => context.last(count),
            MessageSelection::Range { start, end } => context.messages(start..end),
        };
        let next = context.metadata().message_count();
        Ok(Conversation { next, context, messages, last: None, skip_to: None })
    }

    /// Returns the state or the global context, or the value in it at a JSON Pointer, as JSON text.
    pub fn document(
        &self,
        name: &Name,
        document: ContextDocument,
        pointer: Option<&str>,
    ) -> Result<String, Error> {
        let context = self.open(name)?;
        let json = match document {
            ContextDocument::State => context.state(),
            ContextDocument::Global => context.global_context(),
        };
        let found = json.pointer(pointer.unwrap_or_default());
        let missing =
            || Error::NoValue { name: name.to_string(), pointer: pointer.unwrap_or_default().to_owned() };
        Ok(found.ok_or_else(missing)?.pretty())
    }

    /// Replaces the state or the global context with a JSON object.
    pub fn set(
        &self,
        name: &Name,
        document: ContextDocument,
        json: &str,
        if_revision: Option<Revision>,
    ) -> Result<SaveSummary, Error> {
        let json = Json::parse(json)?;
        let mut context = self.open(name)?;
        match document {
            ContextDocument::State => context.set_state(json)?,
            ContextDocument::Global => context.set_global(json)?,
        }
        save(&mut context, if_revision)
    }

    /// Changes the state or the global context by a JSON Merge Patch.
    pub fn patch(
        &self,
        name: &Name,
        document: ContextDocument,
        json: &str,
        if_revision: Option<Revision>,
    ) -> Result<SaveSummary, Error> {
        let json = Json::parse(json)?;
        let mut context = self.open(name)?;
        match document {
            ContextDocument::State => context.patch_state(json)?,
            ContextDocument::Global => context.patch_global(json)?,
        }
        save(&mut context, if_revision)
    }

    /// Keeps the first `count` messages.
    pub fn rewind(
        &self,
        name: &Name,
        count: u64,
        if_revision: Option<Revision>,
    ) -> Result<SaveSummary, Error> {
        Ok(self.open(name)?.rewind(count, if_revision)?)
    }

    /// Empties a context and keeps it.
    pub fn clear(&self, name: &Name, if_revision: Option<Revision>) -> Result<SaveSummary, Error> {
        Ok(self.open(name)?.clear(if_revision)?)
    }

    /// Creates a context with the first `count` messages of another one.
    pub fn fork(&self, name: &Name, new: &Name, count: Option<u64>) -> Result<ContextInfo, Error> {
        Ok(ContextInfo::of(&self.open(name)?.fork(new, count)?))
    }

    /// Removes a context. Returns the error of deleting its files, if any.
    pub fn remove(&self, name: &Name, if_revision: Option<Revision>) -> Result<Option<String>, Error> {
        let removed = self.inner.remove(name, if_revision)?;
        Ok(removed.delete_error.map(|why| why.to_string()))
    }

    /// Renames a context.
    pub fn rename(&self, name: &Name, new: &Name, if_revision: Option<Revision>) -> Result<(), Error> {
        Ok(self.inner.rename(name, new, if_revision)?)
    }

    /// Writes an export to `out`.
    pub fn export(&self, name: &Name, format: Format, out: &mut dyn Write) -> Result<(), Error> {
        Ok(self.open(name)?.export(format, out)?)
    }

    /// Writes an export to a file or folder.
    pub fn export_to(&self, name: &Name, format: Format, path: &Path) -> Result<ExportReport, Error> {
        let context = self.open(name)?;
        context.export_to(format, path)?;
        let messages = context.metadata().message_count();
        Ok(ExportReport { name: name.clone(), path: text(path), message_count: messages })
    }

    /// Imports a file or folder; the content determines the format.
    pub fn import(
        &self,
        from: &Path,
        name: Option<&Name>,
        replace: bool,
        if_revision: Option<Revision>,
    ) -> Result<ContextInfo, Error> {
        let on_existing = if replace { OnExisting::Replace } else { OnExisting::Fail };
        let made = self.inner.import(from, name, on_existing, if_revision)?;
        Ok(ContextInfo::of(&made))
    }

    /// Searches these contexts, or all. Returns hits on demand.
    pub fn search(
        &self,
        names: &[Name],
        query: SearchQuery,
    ) -> Result<impl Iterator<Item = Result<SearchHit, Error>> + use<>, Error> {
        Ok(self.inner.search(names, query)?.map(|hit| hit.map_err(Error::from)))
    }

    /// Verifies a context, or all without a name.
    pub fn verify(&self, name: Option<&Name>) -> Result<Vec<VerifyReport>, Error> {
        let names = match name {
            Some(name) => vec![name.clone()],
            None => self.inner.list()?.into_iter().map(|one| one.name).collect(),
        };
        Ok(names.iter().map(|name| self.inner.verify(name)).collect::<Result<_, _>>()?)
    }

    /// Accepts changes of another program to the messages of a context.
    pub fn repair(&self, name: &Name, if_revision: Option<Revision>) -> Result<SaveSummary, Error> {
        Ok(self.inner.repair(name, if_revision)?)
    }

    /// Returns the contexts without a change since `before`, oldest first.
    pub fn stale(&self, before: Timestamp) -> Result<Vec<StaleContext>, Error> {
        Ok(self.inner.stale(before)?)
    }

    /// Removes a context without a change since `before`. Returns false if it changed.
    pub fn prune(&self, name: &Name, before: Timestamp) -> Result<bool, Error> {
        Ok(self.inner.prune(name, before)?.is_some())
    }

    /// Path of the folder of all contexts.
    pub fn folder(&self) -> PathBuf {
        self.inner.folder().to_owned()
    }

    /// Opens a context, to stage several changes and save them in one commit.
    pub fn open(&self, name: &Name) -> Result<ContextManager, Error> {
        Ok(self.inner.open(name)?)
    }
}

/// Messages of a conversation, read on demand.
pub struct Conversation {
    context: ContextManager,
    messages: context::Messages,
    /// Number of the first message that was not read yet.
    next: u64,
    /// Greatest id that was returned, and the id up to which messages are skipped.
    last: Option<context::MessageId>,
    skip_to: Option<context::MessageId>,
}

impl Conversation {
    /// Warnings about the files.
    pub fn notices(&self) -> Vec<Notice> {
        self.context.notices()
    }

    /// Continues with messages that were appended since. After a rewind or a replacement it skips
    /// messages up to the last id returned, as ids increase and are never reused. Returns true in
    /// that case.
    pub fn refresh(&mut self) -> Result<bool, Error> {
        let revision = self.context.metadata().revision();
        self.context.refresh()?;
        let is_rewritten = self.context.metadata().rewritten() > revision;
        let count = self.context.metadata().message_count();
        self.messages = self.context.messages(if is_rewritten { 0 } else { self.next }..);
        self.skip_to = if is_rewritten { self.last } else { None };
        self.next = count;
        Ok(is_rewritten)
    }
}

impl Iterator for Conversation {
    type Item = Result<NumberedMessage, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let one = match self.messages.next()? {
                Ok(one) => one,
                Err(error) => return Some(Err(error.into())),
            };
            let id = one.message.id();
            if id.is_none() || id > self.skip_to {
                self.last = self.last.max(id);
                return Some(Ok(one));
            }
        }
    }
}

fn save(context: &mut ContextManager, if_revision: Option<Revision>) -> Result<SaveSummary, Error> {
    Ok(match if_revision {
        Some(revision) => context.save_if(revision)?,
        None => context.save()?,
    })
}
