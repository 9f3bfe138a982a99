//! What comes back about conversations, and what is asked of them.

use context::{ContextManager, Listed, Notice, Numbered, Pruned, Repaired, Report, Saved, Search};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::answer::{Problem, text};
use crate::{Error, HintFor};

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

/// What a search looks for.
#[derive(Clone, Default, Debug)]
pub struct Found {
    /// Words that all have to be there.
    pub text: String,
    /// Only what this role says.
    pub role: Option<String>,
    /// Only what was said at this time or later.
    pub since: Option<Timestamp>,
    /// Only what was said before this time.
    pub until: Option<Timestamp>,
    /// Lines around a match.
    pub around: usize,
}

/// A context as it is now.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct ContextState {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub folder: String,
    /// The number of its last commit.
    pub revision: u64,
    /// How many messages it has.
    pub message_count: u64,
    /// What a person should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

impl ContextState {
    pub(crate) fn of(context: &ContextManager) -> ContextState {
        ContextState {
            name: context.name().to_string(),
            folder: text(&context.folder()),
            revision: context.metadata().revision().0,
            message_count: context.metadata().message_count(),
            notices: context.notices().iter().map(Notice::to_string).collect(),
        }
    }
}

/// A context in a list.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct ListedContext {
    /// Its name.
    pub name: String,
    /// The number of its last commit, where it can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
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
    pub(crate) fn of(listed: Listed, hint: Option<HintFor>) -> ListedContext {
        let metadata = listed.metadata.as_ref().ok();
        ListedContext {
            name: listed.name.to_string(),
            revision: metadata.map(|metadata| metadata.revision().0),
            message_count: metadata.map(|metadata| metadata.message_count()),
            last_updated: metadata.and_then(|metadata| metadata.last_updated()).map(|time| time.to_string()),
            problem: listed.metadata.err().map(|error| Problem::hinted(&error.into(), hint)),
        }
    }
}

/// What a change of a context came to.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct Changed {
    /// The context.
    pub name: String,
    /// The revision that it made.
    pub revision: u64,
    /// How many messages there are now.
    pub message_count: u64,
    /// Files that were put aside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aside: Vec<String>,
    /// It is committed, and this kept it from being in the files yet; the next open sees to that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<String>,
}

impl Changed {
    pub(crate) fn of(name: &str, saved: Saved) -> Changed {
        Changed {
            name: name.to_owned(),
            revision: saved.revision.0,
            message_count: saved.message_count,
            aside: saved.aside.iter().map(|path| text(path)).collect(),
            pending: saved.pending.map(|error| error.to_string()),
        }
    }

    pub(crate) fn repaired(name: &str, repaired: Repaired) -> Changed {
        Changed {
            name: name.to_owned(),
            revision: repaired.revision.0,
            message_count: repaired.message_count,
            aside: repaired.aside.iter().map(|path| text(path)).collect(),
            pending: None,
        }
    }
}

/// What an append came to.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct Appended {
    /// The ids of the messages, in order.
    pub ids: Vec<String>,
    /// The rest.
    #[serde(flatten)]
    pub change: Changed,
}

/// An export that was written.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Exported {
    /// The context.
    pub name: String,
    /// The file or folder.
    pub path: String,
    /// How many messages it has.
    pub message_count: u64,
}

/// A message of a conversation.
#[derive(Serialize, Debug)]
pub struct Said {
    /// Counted from 0.
    pub number: u64,
    /// The message as it is stored.
    pub message: Box<RawValue>,
    /// Who says it.
    #[serde(skip)]
    pub role: String,
    /// Which of those with that role.
    #[serde(skip)]
    pub name: Option<String>,
    /// When.
    #[serde(skip)]
    pub time: Option<String>,
    /// The text of it.
    #[serde(skip)]
    pub text: String,
    /// The tools that it calls, as JSON.
    #[serde(skip)]
    pub tool_calls: Option<String>,
}

impl Said {
    pub(crate) fn of(one: Numbered) -> Said {
        let message = one.message;
        Said {
            number: one.number,
            role: message.role().to_string(),
            name: message.name(),
            time: message.time().map(|time| time.to_string()),
            text: message.content().text(),
            tool_calls: message.tool_calls().map(|calls| calls.to_string()),
            message: RawValue::from_string(message.as_json().to_owned()).expect("a message is JSON"),
        }
    }
}

/// A message that was found.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Hit {
    /// Its context.
    pub context: String,
    /// Its number there, counted from 0.
    pub number: u64,
    /// Its id.
    pub id: Option<String>,
    /// Who said it.
    pub role: String,
    /// When.
    pub time: Option<String>,
    /// Lines of its text.
    pub lines: Vec<HitLine>,
}

/// A line of a message that was found.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct HitLine {
    /// Counted from 1.
    pub number: usize,
    /// Whether one of the words is in it.
    pub is_match: bool,
    /// The line.
    pub text: String,
}

/// Hits, as they are found.
pub struct Hits(Search);

impl Hits {
    pub(crate) fn of(search: Search) -> Hits {
        Hits(search)
    }
}

impl Iterator for Hits {
    type Item = Result<Hit, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let hit = match self.0.next()? {
            Ok(hit) => hit,
            Err(error) => return Some(Err(error.into())),
        };
        let line =
            |line: context::Line| HitLine { number: line.number, is_match: line.is_match, text: line.text };
        Some(Ok(Hit {
            context: hit.name.to_string(),
            number: hit.number,
            id: hit.id.map(|id| id.to_string()),
            role: hit.role.to_string(),
            time: hit.time.map(|time| time.to_string()),
            lines: hit.lines.into_iter().map(line).collect(),
        }))
    }
}

/// What was found in a context.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Verified {
    /// The context.
    pub name: String,
    /// How many messages were read.
    pub messages: u64,
    /// What is wrong.
    pub problems: Vec<Wrong>,
    /// What a person should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// Something that is wrong.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Wrong {
    /// The file.
    pub file: String,
    /// Counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What is wrong with it.
    pub what: String,
}

impl Verified {
    pub(crate) fn of(report: Report) -> Verified {
        let problems = report.problems.into_iter();
        Verified {
            name: report.name.to_string(),
            messages: report.messages,
            problems: problems
                .map(|one| Wrong { file: text(&one.file), line: one.line, what: one.what })
                .collect(),
            notices: report.notices.iter().map(Notice::to_string).collect(),
        }
    }
}

/// A context that nobody changed for long.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Old {
    /// Its name.
    pub name: String,
    /// When it was last changed.
    pub last_updated: String,
    /// How many messages it has.
    pub message_count: u64,
}

impl Old {
    pub(crate) fn of(one: Pruned) -> Old {
        Old {
            name: one.name.to_string(),
            last_updated: one.last_updated.to_string(),
            message_count: one.message_count,
        }
    }
}
