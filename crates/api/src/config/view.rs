//! Answers about configuration: plain data that can be serialised.

use config::{Consulted, Key, Layer, Origin, Outcome, Resolved, Reveal, Scope, Value, Written};
use serde::{Deserialize, Serialize};

use crate::Problem;

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
