//! Results about configuration, as plain data that can be serialised.

use config::{
    EditOutcome, Key, Layer, LayerValue, Layers, Origin, Resolved, Reveal, Scope, Value, WriteSummary,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Problem;

/// A key with its value, redacted for people.
#[derive(Clone, PartialEq, JsonSchema, Serialize, Deserialize, Debug)]
pub struct ConfigEntry {
    /// The dotted key.
    pub key: Key,
    /// Effective value; none if no layer sets one.
    pub value: Option<Value>,
    /// True if the value is redacted unless revealed by name.
    pub secret: bool,
    /// Position of the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

impl ConfigEntry {
    pub(crate) fn of(resolved: &Resolved, reveal: Reveal) -> ConfigEntry {
        let value = resolved.value.as_ref();
        ConfigEntry {
            key: resolved.key.clone(),
            origin: value.is_some().then(|| resolved.origin.clone()),
            value: value.map(|value| value.redacted(resolved.is_secret, reveal)),
            secret: resolved.is_secret,
        }
    }
}

/// Result of `get`.
#[derive(Clone, PartialEq, JsonSchema, Serialize, Deserialize, Debug)]
pub struct Lookup {
    /// Key with its effective value.
    #[serde(flatten)]
    pub entry: ConfigEntry,
    /// Value in every layer, strongest first.
    pub layers: Vec<LayerView>,
    /// Unusable files and values that were skipped.
    #[serde(skip_serializing)]
    pub problems: Vec<Problem>,
}

/// Value of a key in one layer, redacted for people.
#[derive(Clone, PartialEq, JsonSchema, Serialize, Deserialize, Debug)]
pub struct LayerView {
    /// Layer of the value.
    pub layer: Layer,
    /// The value; none if the layer does not set the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Position of the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Reason why the value is unusable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl LayerView {
    pub(crate) fn of(found: &LayerValue, is_secret: bool, reveal: Reveal) -> LayerView {
        let value = found.value.as_ref().ok().and_then(Option::as_ref);
        LayerView {
            layer: found.layer,
            value: value.map(|value| value.redacted(is_secret, reveal)),
            origin: found.origin.clone(),
            problem: found.value.as_ref().err().map(ToString::to_string),
        }
    }
}

/// Result of `list`.
#[derive(Clone, PartialEq, JsonSchema, Serialize, Debug)]
pub struct ConfigList {
    /// Keys with their values, sorted.
    pub entries: Vec<ConfigEntry>,
    /// Unusable files and values.
    #[serde(skip)]
    pub problems: Vec<Problem>,
}

/// Definition of a key, with its values.
#[derive(Clone, PartialEq, JsonSchema, Serialize, Debug)]
pub struct Explanation {
    /// The dotted key.
    pub key: Key,
    /// Help, one line.
    pub help: &'static str,
    /// Name of the type, one word.
    #[serde(rename = "type")]
    pub value_type: &'static str,
    /// Description of the valid values.
    pub allowed: String,
    /// Default, if any.
    pub default: Option<Value>,
    /// Environment variable that sets the key, if any.
    pub variable: Option<String>,
    /// Scopes in which the key can be set.
    pub scopes: &'static [Scope],
    /// True if the value is redacted unless revealed by name.
    pub secret: bool,
    /// Effective value, if any.
    pub value: Option<Value>,
    /// Position of the effective value.
    pub origin: Option<Origin>,
    /// Value in every layer, strongest first.
    pub layers: Vec<LayerView>,
    /// Reason why there is no value, and skipped files and values.
    #[serde(skip)]
    pub problems: Vec<Problem>,
}

/// Paths of the files.
#[derive(Clone, PartialEq, Eq, JsonSchema, Serialize, Debug)]
pub struct ConfigPaths {
    /// Home folder.
    pub home: String,
    /// Project folder, if any.
    pub project: Option<String>,
    /// Files that are read, strongest first.
    pub files: Vec<ConfigFile>,
}

/// A file of configuration.
#[derive(Clone, PartialEq, Eq, JsonSchema, Serialize, Debug)]
pub struct ConfigFile {
    /// Scope of the file.
    pub scope: Scope,
    /// Path of the file.
    pub file: String,
    /// True if the file exists.
    pub exists: bool,
}

/// Result of a write.
#[derive(Clone, PartialEq, JsonSchema, Serialize, Debug)]
pub struct ConfigChange {
    /// Keys and file that were written.
    #[serde(flatten)]
    pub written: WriteSummary,
    /// Old and new value of each key.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ValueChange>,
    /// Keys whose effective value differs from the one written, because a higher layer sets them;
    /// after an unset, keys that any layer but the default sets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shadowed: Vec<ShadowedKey>,
    /// Unusable files and values, found after the write.
    #[serde(skip)]
    pub problems: Vec<Problem>,
}

/// Change of one key by a write. Values are redacted.
#[derive(Clone, PartialEq, JsonSchema, Serialize, Debug)]
pub struct ValueChange {
    /// The dotted key.
    pub key: Key,
    /// Effective value before the write, if any.
    pub old: Option<Value>,
    /// Value in the written scope, if any.
    pub new: Option<Value>,
}

impl ValueChange {
    pub(crate) fn of(before: &Layers, after: &Resolved, written: Layer) -> ValueChange {
        let old = before.resolve(&after.key).ok().and_then(|resolved| resolved.value);
        let new = after.layers.iter().find(|value| value.layer == written);
        let new = new.and_then(|value| value.value.clone().ok().flatten());
        let redacted = |value: Value| value.redacted(after.is_secret, Reveal::No);
        ValueChange { key: after.key.clone(), old: old.map(redacted), new: new.map(redacted) }
    }
}

/// Result of an edit.
#[derive(Clone, PartialEq, JsonSchema, Serialize, Debug)]
pub struct EditReport {
    /// Origin of the new content.
    pub outcome: EditOutcome,
    /// Result of the write.
    #[serde(flatten)]
    pub change: ConfigChange,
}

/// A key whose effective value is in another layer than the one written.
#[derive(Clone, PartialEq, JsonSchema, Serialize, Debug)]
pub struct ShadowedKey {
    /// The dotted key.
    pub key: Key,
    /// Effective value.
    pub value: Value,
    /// Position of the effective value.
    pub origin: Origin,
}

impl ShadowedKey {
    /// Returns the key if neither the written layer nor the default has its effective value.
    pub(crate) fn of(resolved: &Resolved, written: Layer) -> Option<ShadowedKey> {
        let ConfigEntry { key, value, origin, .. } = ConfigEntry::of(resolved, Reveal::No);
        let origin = origin.filter(|origin| origin.layer() != written && *origin != Origin::Default)?;
        Some(ShadowedKey { key, value: value?, origin })
    }
}
