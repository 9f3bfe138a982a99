//! Layers, and the order of precedence.
//!
//! High to low: flag, environment, local, project, global, default. Only [`Layers::resolve`]
//! applies this order; getting one key, listing all and reading settings call it.
//!
//! A file is unusable if it does not parse or escapes its project. The value of a key still comes
//! from another file or a higher layer, with a report of the skipped file. A default never replaces
//! a value that an unusable file may set.

mod env;
mod flags;
mod interpolate;
mod origin;

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

pub use self::env::Environment;
pub use self::flags::{Flags, parse_assignment};
use self::interpolate::Interpolation;
pub(crate) use self::interpolate::{UNSET, has_references};
pub use self::origin::{Layer, Origin};
use crate::{Document, Error, Key, KeyInfo, Registry, Reveal, Scope, Value};

/// Snapshot of all layers. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Layers {
    registry: Arc<Registry>,
    flags: Arc<Flags>,
    environment: Arc<Environment>,
    files: Vec<FileLayer>,
}

/// File of one scope.
#[derive(Clone, Debug)]
pub(crate) struct FileLayer {
    /// Scope of the file.
    pub(crate) scope: Scope,
    /// Path of the file.
    pub(crate) file: PathBuf,
    /// Content when the file was read.
    pub(crate) content: Content,
}

/// Content of a file.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// The file does not exist.
    Absent,
    /// Parsed TOML.
    Document(Arc<Document>),
    /// The file does not parse, or may not be used.
    Unusable(Error),
}

/// Effective value of a key, and its explanation.
#[derive(Clone)]
pub struct Resolved {
    /// Resolved key.
    pub key: Key,
    /// Effective value; none if no layer sets one.
    pub value: Option<Value>,
    /// Position of the value.
    pub origin: Origin,
    /// True if people see a placeholder instead of the value.
    pub is_secret: bool,
    /// Value in every layer, strongest first.
    pub layers: Vec<LayerValue>,
}

/// Value of a key in one layer.
#[derive(Clone)]
pub struct LayerValue {
    /// Layer of the value.
    pub layer: Layer,
    /// Position in the layer; none if the layer has no value or is unusable as a whole.
    pub origin: Option<Origin>,
    /// The value; none if the layer does not set the key. An error if the value or the whole file
    /// is unusable: it was skipped, and must be reported.
    pub value: Result<Option<Value>, Error>,
}

/// Values of many keys.
#[derive(Debug)]
pub struct Listing {
    /// Resolved keys, sorted.
    pub entries: Vec<Resolved>,
    /// Unusable files and values, to be reported.
    pub problems: Vec<Error>,
}

impl Layers {
    /// Creates the layers without the files.
    pub fn new(registry: Registry, flags: Flags, environment: Environment) -> Self {
        let (registry, flags, environment) = (registry.into(), flags.into(), environment.into());
        Self { registry, flags, environment, files: Vec::new() }
    }

    /// Replaces the files, given in any order.
    pub(crate) fn with_files(&self, mut files: Vec<FileLayer>) -> Self {
        files.sort_by_key(|file| Layer::from(file.scope));
        Self { files, ..self.clone() }
    }

    /// Replaces the flags.
    pub(crate) fn with_flags(self, flags: Flags) -> Self {
        Self { flags: flags.into(), ..self }
    }

    /// Registry of the keys.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Resolves a key, as [`resolve_info`](Self::resolve_info) does.
    pub fn resolve(&self, key: &Key) -> Result<Resolved, Error> {
        self.resolve_info(self.registry.look_up(key)?)
    }

    /// Resolves a key. Fails if the strongest layer with a value has an unusable one, or if only
    /// the default is left and a file is unusable.
    pub fn resolve_info(&self, info: KeyInfo<'_>) -> Result<Resolved, Error> {
        let layers = self.layer_values(info);
        let mut unusable: Option<&Error> = None;
        let mut chosen = (None, Origin::Default);
        for LayerValue { layer, origin, value } in &layers {
            match (value, origin) {
                (Ok(Some(_)), _) if *layer == Layer::Default && unusable.is_some() => break,
                (Ok(Some(value)), Some(origin)) => {
                    (chosen, unusable) = ((Some(value.clone()), origin.clone()), None);
                    break;
                }
                // Skip an unusable file, and a value that its scope may not set.
                (Err(error), None) => unusable = unusable.or(Some(error)),
                (Err(Error::NotInScope { .. }), _) => {}
                (Err(error), Some(_)) => return Err(error.clone()),
                (Ok(_), _) => {}
            }
        }
        if let Some(error) = unusable {
            return Err(error.clone());
        }
        let (value, origin) = chosen;
        if value.is_none() && info.definition.is_none() && self.is_table(info.key) {
            return Err(Error::IsTable { key: info.key.clone() });
        }
        Ok(Resolved { key: info.key.clone(), value, origin, is_secret: info.is_secret(), layers })
    }

    /// Resolves the keys below `prefix`, or all, as [`resolve`](Self::resolve) does. A key that
    /// cannot be resolved is among the problems.
    pub fn list(&self, prefix: Option<&Key>) -> Listing {
        let mut keys: BTreeSet<Key> = self.registry.keys().map(|definition| definition.key.clone()).collect();
        keys.extend(self.flags.keys().cloned());
        let mut problems: Vec<Error> = Vec::new();
        for file in &self.files {
            match &file.content {
                Content::Absent => {}
                Content::Unusable(error) => problems.push(error.clone()),
                Content::Document(document) => {
                    let (known, unknown) = self.file_keys(file, document, prefix);
                    keys.extend(known);
                    problems.extend(unknown);
                }
            }
        }
        let mut entries = Vec::new();
        for key in keys.iter().filter(|key| prefix.is_none_or(|prefix| key.is_within(prefix))) {
            match self.resolve(key) {
                Ok(resolved) => {
                    let refused =
                        resolved.skipped().filter(|error| !contains_error(&problems, error)).cloned();
                    problems.extend(refused.collect::<Vec<_>>());
                    entries.push(resolved);
                }
                Err(error) if contains_error(&problems, &error) => {}
                Err(error) => problems.push(error),
            }
        }
        Listing { entries, problems }
    }

    /// Unusable files, with their errors.
    pub fn unusable(&self) -> impl Iterator<Item = (Scope, &Error)> {
        self.files.iter().filter_map(|file| match &file.content {
            Content::Unusable(error) => Some((file.scope, error)),
            _ => None,
        })
    }

    /// Returns the value of a key in every layer, strongest first.
    pub fn layer_values(&self, info: KeyInfo<'_>) -> Vec<LayerValue> {
        let mut layers = vec![
            LayerValue::new(Layer::Flag, Origin::Flag, Ok(self.flags.get(info.key).cloned())),
            self.variable(info),
        ];
        layers.extend(self.files.iter().map(|file| self.file(file, info)));
        layers.push(LayerValue::new(Layer::Default, Origin::Default, Ok(info.default().cloned())));
        layers
    }

    fn variable(&self, info: KeyInfo<'_>) -> LayerValue {
        let Some(definition) = info.definition else { return LayerValue::none(Layer::Environment) };
        let name = definition.variable();
        let text = self.environment.get(&name);
        let origin = Origin::Variable { name };
        let value = text.and_then(|text| text.map(|text| info.read_text(text, Some(&origin))).transpose());
        LayerValue::new(Layer::Environment, origin, value)
    }

    /// Returns the value of a key in a file.
    pub(crate) fn file(&self, file: &FileLayer, info: KeyInfo<'_>) -> LayerValue {
        let layer = Layer::from(file.scope);
        let document = match &file.content {
            Content::Document(document) => document,
            // An unusable file hides only keys that it may set.
            Content::Unusable(error) if info.scopes().contains(&file.scope) => {
                return LayerValue { layer, origin: None, value: Err(error.clone()) };
            }
            Content::Unusable(_) | Content::Absent => return LayerValue::none(layer),
        };
        let former = || self.registry.former_names(info.key).find_map(|former| document.find(former));
        let entry = document.find(info.key).or_else(former);
        let entry = entry.filter(|entry| info.definition.is_some() || !entry.item.is_table_like());
        let Some(entry) = entry else { return LayerValue::none(layer) };
        let line = document.line(entry.key_start);
        let origin = Origin::File { scope: file.scope, file: file.file.clone(), line };
        let value = self.read(info, file.scope, entry.value(), &origin);
        LayerValue::new(layer, origin, value.map(Some))
    }

    fn read(&self, info: KeyInfo<'_>, scope: Scope, value: Value, origin: &Origin) -> Result<Value, Error> {
        info.check_scope(scope)?;
        let interpolation = self.interpolation(info, scope, Some(origin));
        match value {
            // Parse an expanded string like the text of a variable, so that it may be a number.
            Value::String(text) if has_references(&text) && info.definition.is_some() => {
                info.read_text(&interpolation.expand(&text)?, Some(origin))
            }
            value => info.read_toml(&interpolation.expand_value(value)?, Some(origin)),
        }
    }

    /// Returns the interpolation for values of a key in the file of a scope.
    pub(crate) fn interpolation<'a>(
        &'a self,
        info: KeyInfo<'a>,
        scope: Scope,
        origin: Option<&'a Origin>,
    ) -> Interpolation<'a> {
        Interpolation { layers: self, info, scope, origin }
    }

    /// Returns the known keys of a file, and an error for each unknown one; only keys at, above or
    /// below `prefix`.
    fn file_keys(
        &self,
        file: &FileLayer,
        document: &Document,
        prefix: Option<&Key>,
    ) -> (Vec<Key>, Vec<Error>) {
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        let is_related =
            |key: &Key| prefix.is_none_or(|prefix| key.is_within(prefix) || prefix.is_within(key));
        for (key, line) in document.keys().into_iter().filter(|(key, _)| is_related(key)) {
            match self.registry.look_up(&key) {
                Ok(KeyInfo { definition: Some(_), .. }) => {}
                Ok(KeyInfo { definition: None, .. }) => known.push(key),
                Err(Error::UnknownKey { key, suggestion, .. }) if !self.is_in_table(&key) => {
                    let origin = Origin::File { scope: file.scope, file: file.file.clone(), line };
                    unknown.push(Error::UnknownKey { key, suggestion, origin: Some(Box::new(origin)) });
                }
                // `x = 1` or `core = 1`: a value instead of a table.
                Err(Error::IsTable { key }) => unknown.push(Error::WrongType {
                    actual: "a value".to_owned(),
                    expected: "a table".to_owned(),
                    origin: Some(Box::new(Origin::File { scope: file.scope, file: file.file.clone(), line })),
                    key,
                }),
                Err(_) => {}
            }
        }
        (known, unknown)
    }

    /// Returns true if a key is below a registered one: the registered key is a table, or its value
    /// has a wrong type.
    fn is_in_table(&self, key: &Key) -> bool {
        self.registry.keys().any(|definition| key.is_within(&definition.key))
    }

    /// Returns true if a user's own key is a table in any file.
    fn is_table(&self, key: &Key) -> bool {
        self.files.iter().any(|file| match &file.content {
            Content::Document(document) => document.find(key).is_some_and(|entry| entry.item.is_table_like()),
            _ => false,
        })
    }
}

/// Returns true if the same error of the same file is in the list.
fn contains_error(problems: &[Error], error: &Error) -> bool {
    problems.iter().any(|known| known.to_string() == error.to_string())
}

impl Resolved {
    /// Unusable files and values that were skipped to find this value, to be reported.
    pub fn skipped(&self) -> impl Iterator<Item = &Error> {
        self.layers.iter().filter_map(|layer| layer.value.as_ref().err())
    }

    /// Formats the value for people.
    pub fn show(&self, reveal: Reveal) -> Option<String> {
        self.value.as_ref().map(|value| value.show(self.is_secret, reveal))
    }
}

impl fmt::Debug for Resolved {
    /// Redacts secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.show(Reveal::No).unwrap_or_default();
        write!(f, "{} = {value} ({})", self.key, self.origin)
    }
}

impl LayerValue {
    fn none(layer: Layer) -> LayerValue {
        LayerValue { layer, origin: None, value: Ok(None) }
    }

    fn new(layer: Layer, origin: Origin, value: Result<Option<Value>, Error>) -> LayerValue {
        let origin = (!matches!(value, Ok(None))).then_some(origin);
        LayerValue { layer, origin, value }
    }
}
