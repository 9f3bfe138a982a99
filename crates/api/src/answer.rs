//! What comes back: plain data that can be serialised.
//!
//! Paths are text here, as JSON has no others; what is not UTF-8 in them is replaced for show.

use std::path::Path;

use config::{Consulted, Key, Layer, Origin, Outcome, Resolved, Reveal, Scope, Value, Written};
use filetx::causes;
use serde::{Deserialize, Serialize};

use crate::{Error, HintFor, Kind};

/// How much of a line is shown around a spot: a file may be one line of megabytes.
const EXCERPT_CHARS_MAX: usize = 160;

/// A key with its value, as people may see it.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
pub struct Entry {
    /// The key.
    pub key: Key,
    /// The value, if it has one.
    pub value: Option<Value>,
    /// Whether the value is hidden unless it is asked for by name.
    pub secret: bool,
    /// Where the value stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

impl Entry {
    pub(crate) fn of(resolved: &Resolved, reveal: Reveal) -> Entry {
        let value = resolved.value.as_ref();
        Entry {
            key: resolved.key.clone(),
            origin: value.is_some().then(|| resolved.origin.clone()),
            value: value.map(|value| value.for_people(resolved.is_secret, reveal)),
            secret: resolved.is_secret,
        }
    }
}

/// The answer to `get`.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
pub struct Got {
    /// The key with its value.
    #[serde(flatten)]
    pub entry: Entry,
    /// Every layer, the strongest first.
    pub layers: Vec<LayerSays>,
    /// What was skipped on the way to the value.
    #[serde(skip_serializing)]
    pub problems: Vec<Problem>,
}

/// What one layer says about a key, as people may see it.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
pub struct LayerSays {
    /// The layer.
    pub layer: Layer,
    /// The value, if it says one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Why what it says cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl LayerSays {
    pub(crate) fn of(consulted: &Consulted, is_secret: bool, reveal: Reveal) -> LayerSays {
        let value = consulted.says.as_ref().ok().and_then(Option::as_ref);
        LayerSays {
            layer: consulted.layer,
            value: value.map(|value| value.for_people(is_secret, reveal)),
            origin: consulted.origin.clone(),
            problem: consulted.says.as_ref().err().map(ToString::to_string),
        }
    }
}

/// The answer to `list`.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct Listed {
    /// Keys with their values, sorted.
    pub entries: Vec<Entry>,
    /// What could not be used.
    #[serde(skip)]
    pub problems: Vec<Problem>,
}

/// Everything about one key.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct Explanation {
    /// The key.
    pub key: Key,
    /// One line.
    pub help: &'static str,
    /// One word for the type.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// What is allowed.
    pub allowed: String,
    /// The default, if it has one.
    pub default: Option<Value>,
    /// The environment variable that sets it, if one does.
    pub variable: Option<String>,
    /// Where it may be set.
    pub scopes: &'static [Scope],
    /// Whether the value is hidden unless it is asked for by name.
    pub secret: bool,
    /// The value that holds, if there is one.
    pub value: Option<Value>,
    /// Where that stands.
    pub origin: Option<Origin>,
    /// Every layer, the strongest first.
    pub layers: Vec<LayerSays>,
    /// Why there is no value to tell, and what was skipped.
    #[serde(skip)]
    pub problems: Vec<Problem>,
}

/// Where the files are.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Paths {
    /// The home folder.
    pub home: String,
    /// The project's folder, if there is one.
    pub project: Option<String>,
    /// The files that are read, the strongest first.
    pub files: Vec<FileState>,
}

/// One file.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct FileState {
    /// Its scope.
    pub scope: Scope,
    /// Where it is.
    pub file: String,
    /// Whether there is one.
    pub exists: bool,
}

/// What a write did, and what holds now.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct Change {
    /// What was written.
    #[serde(flatten)]
    pub written: Written,
    /// Keys whose value is still another, because a stronger layer sets them, or any other after an unset.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub still: Vec<StillSet>,
    /// What could not be used when the result was looked at.
    #[serde(skip)]
    pub problems: Vec<Problem>,
}

/// What became of an edit.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct EditOutcome {
    /// Whether it was taken.
    pub outcome: Outcome,
    /// What was written.
    #[serde(flatten)]
    pub change: Change,
}

/// A key that another layer decides than the one that was written.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct StillSet {
    /// The key.
    pub key: Key,
    /// Its value now.
    pub value: Value,
    /// Where that stands.
    pub origin: Origin,
}

impl StillSet {
    /// If another layer than this one and the default decides.
    pub(crate) fn of(resolved: &Resolved, written: Layer) -> Option<StillSet> {
        let Entry { key, value, origin, .. } = Entry::of(resolved, Reveal::No);
        let origin = origin.filter(|origin| origin.layer() != written && *origin != Origin::Default)?;
        Some(StillSet { key, value: value?, origin })
    }
}

/// Something that went wrong, for a person and for a program.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
pub struct Problem {
    /// What sort it is.
    #[serde(skip_serializing)]
    pub kind: Kind,
    /// A name that scripts may rely on.
    pub code: String,
    /// What went wrong.
    pub text: String,
    /// The causes, nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
    /// What may help.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The spot in a file that does not parse.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spot: Option<Spot>,
}

/// A spot in a file.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct Spot {
    /// The file.
    pub file: String,
    /// Bytes before the spot.
    pub byte_offset: usize,
    /// Counted from 1.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
    /// The line, or the part of a long one around the spot, unless it may hold a secret.
    pub excerpt: String,
    /// How many characters of the excerpt are before the spot.
    pub caret: usize,
}

impl Problem {
    /// Describes an error, without a hint.
    pub fn of(error: &Error) -> Problem {
        if let Error::Refused { problem } = error {
            return (**problem).clone();
        }
        let mut problem = Problem { spot: spot(error), ..Self::new(error.kind(), error.code(), error) };
        match error {
            Error::Plan(error) => drop(problem.causes.splice(0..0, crate::error::plan_details(error))),
            // Each by itself, not as lines of one text.
            Error::Run(executor::Error::PlanFile { file, problems }) if problems.len() > 1 => {
                problem.text = format!("plan file `{}` has {} problems", file.display(), problems.len());
                problem.causes = problems.iter().map(ToString::to_string).collect();
            }
            _ => {}
        }
        problem
    }

    /// Something that is no error of ours: a code, a text and what it comes from.
    pub fn new(kind: Kind, code: &str, error: &dyn std::error::Error) -> Problem {
        let causes = causes(error).map(ToString::to_string).collect();
        Problem { causes, ..Self::said(kind, code, error.to_string()) }
    }

    /// A text that comes from nothing else.
    pub fn said(kind: Kind, code: &str, text: String) -> Problem {
        Problem { kind, code: code.to_owned(), text, causes: Vec::new(), hint: None, spot: None }
    }

    /// Describes an error, with the hint of the frontend. A problem that another process described has its hint.
    pub fn hinted(error: &Error, hint: Option<HintFor>) -> Problem {
        let problem = Self::of(error);
        match problem.hint {
            Some(_) => problem,
            None => Problem { hint: hint.and_then(|hint| hint(error)), ..problem },
        }
    }

    pub(crate) fn of_config(error: &config::Error, hint: Option<HintFor>) -> Problem {
        Self::hinted(&Error::Config(error.clone()), hint)
    }
}

fn spot(error: &Error) -> Option<Spot> {
    let found = match error {
        Error::Config(config::Error::Parse(found)) => found,
        Error::Config(config::Error::NotTaken { source, .. }) => match &**source {
            config::Error::Parse(found) => found,
            _ => return None,
        },
        _ => return None,
    };
    let before = found.column - 1;
    let start = before.saturating_sub(EXCERPT_CHARS_MAX / 2);
    Some(Spot {
        file: text(&found.file),
        byte_offset: found.offset,
        line: found.line,
        column: found.column,
        excerpt: found.source_line.chars().skip(start).take(EXCERPT_CHARS_MAX).collect(),
        caret: before - start,
    })
}

pub(crate) fn text(path: &Path) -> String {
    path.display().to_string()
}
