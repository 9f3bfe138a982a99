//! Conversations: what `agents context` and other doors ask for. Each call opens what it needs, as [`context`] says.

use std::io::Write;
use std::path::{Path, PathBuf};

use context::{ContextManager, Draft, Error as Cause, IfThere, Json, Name, Options, Query, Revision, Role};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::answer::text;
use crate::talk::{
    Appended, Changed, ContextState, Document, Exported, Found, Hits, ListedContext, Old, Said, Selection,
    Verified,
};
use crate::{Agents, Error, HintFor};

/// The folder of all contexts, below the home folder.
const FOLDER: &str = "contexts";

/// The conversations of one user. Cheap to clone; thread and process safe like [`context::Contexts`].
#[derive(Clone)]
pub struct Contexts {
    pub(crate) inner: context::Contexts,
    hint: Option<HintFor>,
}

/// A message to be appended.
#[derive(Clone, Serialize, Deserialize, Debug)]
#[serde(rename_all = "lowercase")]
pub enum NewMessage {
    /// Text with a role.
    Text {
        /// One of system, developer, user, assistant, tool.
        role: String,
        /// What it says.
        text: String,
    },
    /// A JSON object with any fields.
    Json(String),
}

/// How an export leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExportFormat(context::Format);

impl std::str::FromStr for ExportFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse().map(ExportFormat)
    }
}

impl ExportFormat {
    /// Whether it is a folder of files and not one file.
    pub fn is_folder(self) -> bool {
        self.0 == context::Format::Json4
    }
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
    pub fn create(&self, name: &str) -> Result<ContextState, Error> {
        Ok(ContextState::of(&self.inner.create(&Name::new(name)?)?))
    }

    /// All contexts, sorted by name.
    pub fn list(&self) -> Result<Vec<ListedContext>, Error> {
        Ok(self.inner.list()?.into_iter().map(|listed| ListedContext::of(listed, self.hint)).collect())
    }

    /// Appends messages, all or none, in one commit. With `if_revision`, only if nobody wrote since.
    pub fn append(
        &self,
        name: &str,
        messages: &[NewMessage],
        if_revision: Option<u64>,
    ) -> Result<Appended, Error> {
        let drafts = (1..).zip(messages).map(|(number, message)| {
            let draft = match message {
                NewMessage::Text { role, text } => role.parse::<Role>().map(|role| Draft::text(role, text)),
                NewMessage::Json(json) => Draft::parse(json),
            };
            draft.map_err(|source| Cause::Message { number, source })
        });
        let drafts = drafts.collect::<Result<Vec<_>, _>>()?;
        let mut context = self.open(name)?;
        context.append_all(drafts)?;
        let saved = save(&mut context, if_revision)?;
        Ok(Appended {
            ids: saved.ids.iter().map(ToString::to_string).collect(),
            change: Changed::of(name, saved),
        })
    }

    /// The messages that are selected, as of now, read as they are iterated.
    pub fn show(&self, name: &str, selection: Selection) -> Result<Conversation, Error> {
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
    pub fn document(&self, name: &str, document: Document, pointer: Option<&str>) -> Result<String, Error> {
        let context = self.open(name)?;
        let json = match document {
            Document::State => context.state(),
            Document::Global => context.global_context(),
        };
        let found = json.pointer(pointer.unwrap_or_default());
        let missing =
            || Error::NoValue { name: name.to_owned(), pointer: pointer.unwrap_or_default().to_owned() };
        Ok(found.ok_or_else(missing)?.pretty())
    }

    /// Puts another state or global context, a JSON object, in the place of the one that is there.
    pub fn set(
        &self,
        name: &str,
        document: Document,
        json: &str,
        if_revision: Option<u64>,
    ) -> Result<Changed, Error> {
        let json = Json::parse(json)?;
        let mut context = self.open(name)?;
        match document {
            Document::State => context.set_state(json)?,
            Document::Global => context.set_global(json)?,
        }
        Ok(Changed::of(name, save(&mut context, if_revision)?))
    }

    /// Changes the state or the global context by a JSON Merge Patch.
    pub fn patch(
        &self,
        name: &str,
        document: Document,
        json: &str,
        if_revision: Option<u64>,
    ) -> Result<Changed, Error> {
        let json = Json::parse(json)?;
        let mut context = self.open(name)?;
        match document {
            Document::State => context.patch_state(json)?,
            Document::Global => context.patch_global(json)?,
        }
        Ok(Changed::of(name, save(&mut context, if_revision)?))
    }

    /// Keeps the first `count` messages.
    pub fn rewind(&self, name: &str, count: u64, if_revision: Option<u64>) -> Result<Changed, Error> {
        Ok(Changed::of(name, self.open(name)?.rewind(count, if_revision.map(Revision))?))
    }

    /// Empties a context and keeps it.
    pub fn clear(&self, name: &str, if_revision: Option<u64>) -> Result<Changed, Error> {
        Ok(Changed::of(name, self.open(name)?.clear(if_revision.map(Revision))?))
    }

    /// Makes a context with the first `count` messages of another one.
    pub fn fork(&self, name: &str, new: &str, count: Option<u64>) -> Result<ContextState, Error> {
        Ok(ContextState::of(&self.open(name)?.fork(&Name::new(new)?, count)?))
    }

    /// Removes a context. What is returned is why its files are not deleted yet, if so.
    pub fn remove(&self, name: &str, if_revision: Option<u64>) -> Result<Option<String>, Error> {
        let removed = self.inner.remove(&Name::new(name)?, if_revision.map(Revision))?;
        Ok(removed.undeleted.map(|why| why.to_string()))
    }

    /// Gives a context another name.
    pub fn rename(&self, name: &str, new: &str, if_revision: Option<u64>) -> Result<(), Error> {
        Ok(self.inner.rename(&Name::new(name)?, &Name::new(new)?, if_revision.map(Revision))?)
    }

    /// Writes an export to where `out` leads.
    pub fn export(&self, name: &str, format: ExportFormat, out: &mut dyn Write) -> Result<(), Error> {
        Ok(self.open(name)?.export(format.0, out)?)
    }

    /// Writes an export to a file, or to a folder.
    pub fn export_to(&self, name: &str, format: ExportFormat, path: &Path) -> Result<Exported, Error> {
        let context = self.open(name)?;
        context.export_to(format.0, path)?;
        let messages = context.metadata().message_count();
        Ok(Exported { name: name.to_owned(), path: text(path), message_count: messages })
    }

    /// Makes a context of a file or folder, told by its content.
    pub fn import(
        &self,
        from: &Path,
        name: Option<&str>,
        replace: bool,
        if_revision: Option<u64>,
    ) -> Result<ContextState, Error> {
        let name = name.map(Name::new).transpose()?;
        let if_there = if replace { IfThere::Replace } else { IfThere::Refuse };
        let made = self.inner.import(from, name.as_ref(), if_there, if_revision.map(Revision))?;
        Ok(ContextState::of(&made))
    }

    /// Looks for messages, in these contexts or in all.
    pub fn search(&self, names: &[String], found: &Found) -> Result<Hits, Error> {
        let names = names.iter().map(|name| Name::new(name)).collect::<Result<Vec<_>, _>>()?;
        let role = found.role.as_deref().map(str::parse::<Role>).transpose();
        let role = role.map_err(|source| Cause::Message { number: 1, source })?;
        let words = Query::words(&found.text);
        let query = Query { role, since: found.since, until: found.until, around: found.around, ..words };
        Ok(Hits::of(self.inner.search(&names, query)?))
    }

    /// Reads all of a context and says what is wrong; all of them when no name is given.
    pub fn verify(&self, name: Option<&str>) -> Result<Vec<Verified>, Error> {
        let names = match name {
            Some(name) => vec![Name::new(name)?],
            None => self.inner.list()?.into_iter().map(|one| one.name).collect(),
        };
        Ok(names.iter().map(|name| self.inner.verify(name).map(Verified::of)).collect::<Result<_, _>>()?)
    }

    /// Takes over what somebody else changed in a context's messages.
    pub fn repair(&self, name: &str, if_revision: Option<u64>) -> Result<Changed, Error> {
        let repaired = self.inner.repair(&Name::new(name)?, if_revision.map(Revision))?;
        Ok(Changed::repaired(name, repaired))
    }

    /// The contexts that nobody changed since `before`, the oldest first.
    pub fn older_than(&self, before: Timestamp) -> Result<Vec<Old>, Error> {
        Ok(self.inner.older_than(before)?.into_iter().map(Old::of).collect())
    }

    /// Removes a context if nobody changed it since `before`; whether it did.
    pub fn prune(&self, name: &str, before: Timestamp) -> Result<bool, Error> {
        Ok(self.inner.prune(&Name::new(name)?, before)?.is_some())
    }

    /// The folder they are in.
    pub fn folder(&self) -> PathBuf {
        self.inner.folder().to_owned()
    }

    fn open(&self, name: &str) -> Result<ContextManager, Error> {
        Ok(self.inner.open(&Name::new(name)?)?)
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
    pub fn notices(&self) -> Vec<String> {
        self.context.notices().iter().map(ToString::to_string).collect()
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
    type Item = Result<Said, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let one = match self.messages.next()? {
                Ok(one) => one,
                Err(error) => return Some(Err(error.into())),
            };
            let id = one.message.id();
            if id.is_none() || id > self.skip_to {
                self.last = self.last.max(id);
                return Some(Ok(Said::of(one)));
            }
        }
    }
}

fn save(context: &mut ContextManager, if_revision: Option<u64>) -> Result<context::Saved, Error> {
    Ok(match if_revision {
        Some(revision) => context.save_if(Revision(revision))?,
        None => context.save()?,
    })
}
