//! Conversations: what `agents context` and other doors ask for. Each call opens what it needs, as [`context`] says, and returns what
//! [`context`] returns, where that says enough to people and programs.

use std::io::Write;
use std::path::{Path, PathBuf};

pub use context::{
    ContextManager, Draft, Format as ExportFormat, Hit, Json, Name as ContextName, Notice, Numbered, Pruned,
    Query, Report, Revision, Role, Saved,
};
use context::{Format, IfThere, Listed, Name, Options};
use jiff::Timestamp;
use serde::Serialize;

use crate::problem::text;
use crate::{Agents, Error, HintFor, Problem};

/// The folder of all contexts, below the home folder.
const FOLDER: &str = "contexts";

/// The conversations of one user. Cheap to clone; thread and process safe like [`context::Contexts`].
#[derive(Clone)]
pub struct Contexts {
    pub(crate) inner: context::Contexts,
    hint: Option<HintFor>,
}

/// Which of the two documents of a context.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Document {
    /// Its state.
    State,
    /// Its global context.
    Global,
}

/// Which messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Selection {
    /// All.
    All,
    /// The last so many.
    Last(u64),
    /// From `start`, counted from 0, up to before `end`.
    Range {
        /// The first.
        start: u64,
        /// The one after the last.
        end: u64,
    },
}

/// A context as it is now.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct ContextState {
    /// Its name.
    pub name: Name,
    /// Its folder.
    pub folder: String,
    /// The number of its last commit.
    pub revision: Revision,
    /// How many messages it has.
    pub message_count: u64,
    /// What a person should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}

impl ContextState {
    fn of(context: &ContextManager) -> ContextState {
        ContextState {
            name: context.name().clone(),
            folder: text(&context.folder()),
            revision: context.metadata().revision(),
            message_count: context.metadata().message_count(),
            notices: context.notices(),
        }
    }
}

/// A context in a list.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct ListedContext {
    /// Its name.
    pub name: Name,
    /// The number of its last commit, where it can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<Revision>,
    /// How many messages it has, where it can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_count: Option<u64>,
    /// When it was last changed, where it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_updated: Option<String>,
    /// Why it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
}

impl ListedContext {
    fn of(listed: Listed, hint: Option<HintFor>) -> ListedContext {
        let metadata = listed.metadata.as_ref().ok();
        ListedContext {
            name: listed.name,
            revision: metadata.map(|metadata| metadata.revision()),
            message_count: metadata.map(|metadata| metadata.message_count()),
            last_updated: metadata.and_then(|metadata| metadata.last_updated()).map(|time| time.to_string()),
            problem: listed.metadata.err().map(|error| Problem::hinted(&error.into(), hint)),
        }
    }
}

/// An export that was written.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Exported {
    /// The context.
    pub name: Name,
    /// The file or folder.
    pub path: String,
    /// How many messages it has.
    pub message_count: u64,
}

impl Agents {
    /// The conversations. Nothing is read or made before it is asked for.
    pub fn contexts(&self) -> Result<Contexts, Error> {
        let options = Options { wait: self.wait(), ..Options::default() };
        let inner = context::Contexts::at(&self.home()?.join(FOLDER), options);
        Ok(Contexts { inner, hint: self.hint() })
    }
}

impl Contexts {
    /// Makes an empty context.
    pub fn create(&self, name: &Name) -> Result<ContextState, Error> {
        Ok(ContextState::of(&self.inner.create(name)?))
    }

    /// All contexts, sorted by name.
    pub fn list(&self) -> Result<Vec<ListedContext>, Error> {
        Ok(self.inner.list()?.into_iter().map(|listed| ListedContext::of(listed, self.hint)).collect())
    }

    /// Appends messages, all or none, in one commit. With `if_revision`, only if nobody wrote since.
    pub fn append(
        &self,
        name: &Name,
        drafts: &[Draft],
        if_revision: Option<Revision>,
    ) -> Result<Saved, Error> {
        Ok(self.inner.append(name, drafts, if_revision)?)
    }

    /// The messages that are selected, as of now, read as they are iterated.
    pub fn show(&self, name: &Name, selection: Selection) -> Result<Conversation, Error> {
        let context = self.open(name)?;
        let messages = match selection {
            Selection::All => context.messages(..),
            Selection::Last(count) => context.last(count),
            Selection::Range { start, end } => context.messages(start..end),
        };
        let next = context.metadata().message_count();
        Ok(Conversation { next, context, messages, last: None, skip_to: None })
    }

    /// The state or the global context, or the value in it that a JSON Pointer leads to, as JSON text.
    pub fn document(&self, name: &Name, document: Document, pointer: Option<&str>) -> Result<String, Error> {
        let context = self.open(name)?;
        let json = match document {
            Document::State => context.state(),
            Document::Global => context.global_context(),
        };
        let found = json.pointer(pointer.unwrap_or_default());
        let missing =
            || Error::NoValue { name: name.to_string(), pointer: pointer.unwrap_or_default().to_owned() };
        Ok(found.ok_or_else(missing)?.pretty())
    }

    /// Puts another state or global context, a JSON object, in the place of the one that is there.
    pub fn set(
        &self,
        name: &Name,
        document: Document,
        json: &str,
        if_revision: Option<Revision>,
    ) -> Result<Saved, Error> {
        let json = Json::parse(json)?;
        let mut context = self.open(name)?;
        match document {
            Document::State => context.set_state(json)?,
            Document::Global => context.set_global(json)?,
        }
        save(&mut context, if_revision)
    }

    /// Changes the state or the global context by a JSON Merge Patch.
    pub fn patch(
        &self,
        name: &Name,
        document: Document,
        json: &str,
        if_revision: Option<Revision>,
    ) -> Result<Saved, Error> {
        let json = Json::parse(json)?;
        let mut context = self.open(name)?;
        match document {
            Document::State => context.patch_state(json)?,
            Document::Global => context.patch_global(json)?,
        }
        save(&mut context, if_revision)
    }

    /// Keeps the first `count` messages.
    pub fn rewind(&self, name: &Name, count: u64, if_revision: Option<Revision>) -> Result<Saved, Error> {
        Ok(self.open(name)?.rewind(count, if_revision)?)
    }

    /// Empties a context and keeps it.
    pub fn clear(&self, name: &Name, if_revision: Option<Revision>) -> Result<Saved, Error> {
        Ok(self.open(name)?.clear(if_revision)?)
    }

    /// Makes a context with the first `count` messages of another one.
    pub fn fork(&self, name: &Name, new: &Name, count: Option<u64>) -> Result<ContextState, Error> {
        Ok(ContextState::of(&self.open(name)?.fork(new, count)?))
    }

    /// Removes a context. What is returned is why its files are not deleted yet, if so.
    pub fn remove(&self, name: &Name, if_revision: Option<Revision>) -> Result<Option<String>, Error> {
        let removed = self.inner.remove(name, if_revision)?;
        Ok(removed.undeleted.map(|why| why.to_string()))
    }

    /// Gives a context another name.
    pub fn rename(&self, name: &Name, new: &Name, if_revision: Option<Revision>) -> Result<(), Error> {
        Ok(self.inner.rename(name, new, if_revision)?)
    }

    /// Writes an export to where `out` leads.
    pub fn export(&self, name: &Name, format: Format, out: &mut dyn Write) -> Result<(), Error> {
        Ok(self.open(name)?.export(format, out)?)
    }

    /// Writes an export to a file, or to a folder.
    pub fn export_to(&self, name: &Name, format: Format, path: &Path) -> Result<Exported, Error> {
        let context = self.open(name)?;
        context.export_to(format, path)?;
        let messages = context.metadata().message_count();
        Ok(Exported { name: name.clone(), path: text(path), message_count: messages })
    }

    /// Makes a context of a file or folder, told by its content.
    pub fn import(
        &self,
        from: &Path,
        name: Option<&Name>,
        replace: bool,
        if_revision: Option<Revision>,
    ) -> Result<ContextState, Error> {
        let if_there = if replace { IfThere::Replace } else { IfThere::Refuse };
        let made = self.inner.import(from, name, if_there, if_revision)?;
        Ok(ContextState::of(&made))
    }

    /// Looks for messages, in these contexts or in all. Hits come as they are found.
    pub fn search(
        &self,
        names: &[Name],
        query: Query,
    ) -> Result<impl Iterator<Item = Result<Hit, Error>> + use<>, Error> {
        Ok(self.inner.search(names, query)?.map(|hit| hit.map_err(Error::from)))
    }

    /// Reads all of a context and says what is wrong; all of them when no name is given.
    pub fn verify(&self, name: Option<&Name>) -> Result<Vec<Report>, Error> {
        let names = match name {
            Some(name) => vec![name.clone()],
            None => self.inner.list()?.into_iter().map(|one| one.name).collect(),
        };
        Ok(names.iter().map(|name| self.inner.verify(name)).collect::<Result<_, _>>()?)
    }

    /// Takes over what somebody else changed in a context's messages.
    pub fn repair(&self, name: &Name, if_revision: Option<Revision>) -> Result<Saved, Error> {
        Ok(self.inner.repair(name, if_revision)?)
    }

    /// The contexts that nobody changed since `before`, the oldest first.
    pub fn older_than(&self, before: Timestamp) -> Result<Vec<Pruned>, Error> {
        Ok(self.inner.older_than(before)?)
    }

    /// Removes a context if nobody changed it since `before`; whether it did.
    pub fn prune(&self, name: &Name, before: Timestamp) -> Result<bool, Error> {
        Ok(self.inner.prune(name, before)?.is_some())
    }

    /// The folder they are in.
    pub fn folder(&self) -> PathBuf {
        self.inner.folder().to_owned()
    }

    /// Opens a context, to stage several changes and save them in one commit.
    pub fn open(&self, name: &Name) -> Result<ContextManager, Error> {
        Ok(self.inner.open(name)?)
    }
}

/// A conversation that is being read.
pub struct Conversation {
    context: ContextManager,
    messages: context::Messages,
    /// The number of the first message that is not known yet.
    next: u64,
    /// The greatest id that was given, and the one up to which none is given again.
    last: Option<context::MessageId>,
    skip_to: Option<context::MessageId>,
}

impl Conversation {
    /// What a person should know about what was found.
    pub fn notices(&self) -> Vec<Notice> {
        self.context.notices()
    }

    /// Looks again, for messages that were appended since. Where messages were cut or replaced, those that are new are given all the same:
    /// ids rise and never come again. Whether that was so.
    pub fn look_again(&mut self) -> Result<bool, Error> {
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
    type Item = Result<Numbered, Error>;

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

fn save(context: &mut ContextManager, if_revision: Option<Revision>) -> Result<Saved, Error> {
    Ok(match if_revision {
        Some(revision) => context.save_if(revision)?,
        None => context.save()?,
    })
}
