//! Which layer decides.
//!
//! High to low: flag, environment, local, project, global, default. [`Layers::resolve`] is the only place where that is decided;
//! getting one key, listing all and reading settings go through it.
//!
//! A file that cannot be used (it does not parse, it leads out of its project) hides what it says. A value from another file or
//! from higher up still holds, and the answer says which file was skipped; but a default never stands in for what a broken file may say.

mod env;
mod flags;
mod interpolate;
mod origin;

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

pub use self::env::Environment;
pub use self::flags::{Flags, assignment};
use self::interpolate::Interpolation;
pub(crate) use self::interpolate::{UNSET, refers};
pub use self::origin::{Layer, Origin};
use crate::{Document, Error, Key, KeyInfo, Registry, Reveal, Scope, Value};

/// All layers, as they were when they were loaded. A clone is cheap.
#[derive(Clone, Debug)]
pub struct Layers {
    registry: Arc<Registry>,
    flags: Arc<Flags>,
    environment: Arc<Environment>,
    files: Vec<FileLayer>,
}

/// The file of one scope.
#[derive(Clone, Debug)]
pub(crate) struct FileLayer {
    /// The scope.
    pub(crate) scope: Scope,
    /// The file.
    pub(crate) file: PathBuf,
    /// What is in it.
    pub(crate) content: Content,
}

/// What is in a file.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// There is no file.
    Absent,
    /// It is TOML.
    Document(Arc<Document>),
    /// It cannot be used.
    Unusable(Error),
}

/// The value of a key, and why it is that.
#[derive(Clone)]
pub struct Resolved {
    /// The key.
    pub key: Key,
    /// The value, if the key has one.
    pub value: Option<Value>,
    /// Where it comes from.
    pub origin: Origin,
    /// Whether it is hidden from people.
    pub is_secret: bool,
    /// Every layer, the strongest first, with what it says.
    pub consulted: Vec<Consulted>,
}

/// What one layer says about a key.
#[derive(Clone)]
pub struct Consulted {
    /// The layer.
    pub layer: Layer,
    /// Where in it, if it says something.
    pub origin: Option<Origin>,
    /// The value, if it says one. An error is something that cannot be used, or a whole file that cannot: skipped, and to be reported.
    pub says: Result<Option<Value>, Error>,
}

/// The values of many keys.
#[derive(Debug)]
pub struct Listing {
    /// Keys with their values, sorted.
    pub entries: Vec<Resolved>,
    /// What could not be used, to be reported.
    pub problems: Vec<Error>,
}

impl Layers {
    /// The layers that are no files.
    pub fn new(registry: Registry, flags: Flags, environment: Environment) -> Self {
        let (registry, flags, environment) = (registry.into(), flags.into(), environment.into());
        Self { registry, flags, environment, files: Vec::new() }
    }

    /// The same with these files, in any order.
    pub(crate) fn with_files(&self, mut files: Vec<FileLayer>) -> Self {
        files.sort_by_key(|file| Layer::from(file.scope));
        Self { files, ..self.clone() }
    }

    /// The same with these flags.
    pub(crate) fn with_flags(self, flags: Flags) -> Self {
        Self { flags: flags.into(), ..self }
    }

    /// The keys.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Decides the value of a key, as [`decide`](Self::decide) does.
    pub fn resolve(&self, key: &Key) -> Result<Resolved, Error> {
        self.decide(self.registry.look_up(key)?)
    }

    /// Decides the value of a key. Fails when the strongest layer that speaks says something that cannot be used, and when only a
    /// default is left while a file cannot be used.
    pub fn decide(&self, info: KeyInfo<'_>) -> Result<Resolved, Error> {
        let consulted = self.consult(info);
        let mut hidden: Option<&Error> = None;
        let mut chosen = (None, Origin::Default);
        for Consulted { layer, origin, says } in &consulted {
            match (says, origin) {
                (Ok(Some(_)), _) if *layer == Layer::Default && hidden.is_some() => break,
                (Ok(Some(value)), Some(origin)) => {
                    (chosen, hidden) = ((Some(value.clone()), origin.clone()), None);
                    break;
                }
                // What is not allowed here, or from a whole file, is skipped.
                (Err(error), None) => hidden = hidden.or(Some(error)),
                (Err(Error::NotInScope { .. }), _) => {}
                (Err(error), Some(_)) => return Err(error.clone()),
                (Ok(_), _) => {}
            }
        }
        if let Some(error) = hidden {
            return Err(error.clone());
        }
        let (value, origin) = chosen;
        if value.is_none() && info.declared.is_none() && self.is_table(info.key) {
            return Err(Error::IsTable { key: info.key.clone() });
        }
        Ok(Resolved { key: info.key.clone(), value, origin, is_secret: info.is_secret(), consulted })
    }

    /// The keys below `prefix`, or all, each as [`resolve`](Self::resolve) decides it. What fails for one key is among the problems.
    pub fn list(&self, prefix: Option<&Key>) -> Listing {
        let mut keys: BTreeSet<Key> = self.registry.keys().map(|declared| declared.key.clone()).collect();
        keys.extend(self.flags.keys().cloned());
        let mut problems: Vec<Error> = Vec::new();
        for file in &self.files {
            match &file.content {
                Content::Absent => {}
                Content::Unusable(error) => problems.push(error.clone()),
                Content::Document(document) => {
                    let (known, unknown) = self.keys_of(file, document, prefix);
                    keys.extend(known);
                    problems.extend(unknown);
                }
            }
        }
        let mut entries = Vec::new();
        for key in keys.iter().filter(|key| prefix.is_none_or(|prefix| key.is_within(prefix))) {
            match self.resolve(key) {
                Ok(resolved) => {
                    let refused = resolved.skipped().filter(|error| !holds(&problems, error)).cloned();
                    problems.extend(refused.collect::<Vec<_>>());
                    entries.push(resolved);
                }
                Err(error) if holds(&problems, &error) => {}
                Err(error) => problems.push(error),
            }
        }
        Listing { entries, problems }
    }

    /// The files that cannot be used, and why.
    pub fn unusable(&self) -> impl Iterator<Item = (Scope, &Error)> {
        self.files.iter().filter_map(|file| match &file.content {
            Content::Unusable(error) => Some((file.scope, error)),
            _ => None,
        })
    }

    /// Every layer, the strongest first, with what it says about a key.
    pub fn consult(&self, info: KeyInfo<'_>) -> Vec<Consulted> {
        let mut consulted = vec![
            Consulted::of(Layer::Flag, Origin::Flag, Ok(self.flags.get(info.key).cloned())),
            self.variable(info),
        ];
        consulted.extend(self.files.iter().map(|file| self.file(file, info)));
        consulted.push(Consulted::of(Layer::Default, Origin::Default, Ok(info.default().cloned())));
        consulted
    }

    fn variable(&self, info: KeyInfo<'_>) -> Consulted {
        let Some(declared) = info.declared else { return Consulted::nothing(Layer::Environment) };
        let name = declared.variable();
        let found = self.environment.get(&name);
        let origin = Origin::Variable { name };
        let says = found.and_then(|text| text.map(|text| info.read_text(text, Some(&origin))).transpose());
        Consulted::of(Layer::Environment, origin, says)
    }

    /// What a file says about a key.
    pub(crate) fn file(&self, file: &FileLayer, info: KeyInfo<'_>) -> Consulted {
        let layer = Layer::from(file.scope);
        let document = match &file.content {
            Content::Document(document) => document,
            // Whatever it says about a key that it may not set does not count, so it hides nothing.
            Content::Unusable(error) if info.scopes().contains(&file.scope) => {
                return Consulted { layer, origin: None, says: Err(error.clone()) };
            }
            Content::Unusable(_) | Content::Absent => return Consulted::nothing(layer),
        };
        let found = document.find(info.key);
        let found = found.filter(|found| info.declared.is_some() || !found.item.is_table_like());
        let Some(found) = found else { return Consulted::nothing(layer) };
        let line = document.line(found.key_start);
        let origin = Origin::File { scope: file.scope, file: file.file.clone(), line };
        let value = self.read(info, file.scope, found.value(), &origin);
        Consulted::of(layer, origin, value.map(Some))
    }

    fn read(&self, info: KeyInfo<'_>, scope: Scope, value: Value, origin: &Origin) -> Result<Value, Error> {
        info.check_scope(scope)?;
        let interpolation = self.interpolation(info, scope, Some(origin));
        match value {
            // What is filled in is read like the text of a variable, so that numbers can come from one.
            Value::String(text) if refers(&text) && info.declared.is_some() => {
                info.read_text(&interpolation.fill(&text)?, Some(origin))
            }
            value => info.read_toml(&interpolation.fill_value(value)?, Some(origin)),
        }
    }

    /// What values of a key may refer to, in the file of a scope.
    pub(crate) fn interpolation<'a>(
        &'a self,
        info: KeyInfo<'a>,
        scope: Scope,
        origin: Option<&'a Origin>,
    ) -> Interpolation<'a> {
        Interpolation { registry: &self.registry, environment: &self.environment, info, scope, origin }
    }

    /// Keys of a file that are known, and an error for each that is not; only those that have to do with `prefix`.
    fn keys_of(&self, file: &FileLayer, document: &Document, prefix: Option<&Key>) -> (Vec<Key>, Vec<Error>) {
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        let concerns = |key: &Key| prefix.is_none_or(|prefix| key.is_within(prefix) || prefix.is_within(key));
        for (key, line) in document.keys().into_iter().filter(|(key, _)| concerns(key)) {
            match self.registry.look_up(&key) {
                Ok(KeyInfo { declared: Some(_), .. }) => {}
                Ok(KeyInfo { declared: None, .. }) => known.push(key),
                Err(Error::UnknownKey { key, nearest, .. }) if !self.is_in_table(&key) => {
                    let origin = Origin::File { scope: file.scope, file: file.file.clone(), line };
                    unknown.push(Error::UnknownKey { key, nearest, origin: Some(Box::new(origin)) });
                }
                // `x = 1` or `core = 1`: a value where a table should be.
                Err(Error::IsTable { key }) => unknown.push(Error::WrongType {
                    found: "a value".to_owned(),
                    expected: "a table".to_owned(),
                    origin: Some(Box::new(Origin::File { scope: file.scope, file: file.file.clone(), line })),
                    key,
                }),
                Err(_) => {}
            }
        }
        (known, unknown)
    }

    /// Whether a key is inside of a registered one, which is then a table by type, or a value of a wrong type.
    fn is_in_table(&self, key: &Key) -> bool {
        self.registry.keys().any(|declared| key.is_within(&declared.key))
    }

    /// Whether a free key is a table in any file.
    fn is_table(&self, key: &Key) -> bool {
        self.files.iter().any(|file| match &file.content {
            Content::Document(document) => document.find(key).is_some_and(|found| found.item.is_table_like()),
            _ => false,
        })
    }
}

/// Whether an error was reported already: the same one, from the same file.
fn holds(problems: &[Error], error: &Error) -> bool {
    problems.iter().any(|known| known.to_string() == error.to_string())
}

impl Resolved {
    /// What was skipped on the way to this value, to be reported: files and values above it that cannot be used.
    pub fn skipped(&self) -> impl Iterator<Item = &Error> {
        self.consulted.iter().filter_map(|consulted| consulted.says.as_ref().err())
    }

    /// The value as people see it.
    pub fn show(&self, reveal: Reveal) -> Option<String> {
        self.value.as_ref().map(|value| value.show(self.is_secret, reveal))
    }
}

impl fmt::Debug for Resolved {
    /// Without secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.show(Reveal::No).unwrap_or_default();
        write!(f, "{} = {value} ({})", self.key, self.origin)
    }
}

impl Consulted {
    fn nothing(layer: Layer) -> Consulted {
        Consulted { layer, origin: None, says: Ok(None) }
    }

    fn of(layer: Layer, origin: Origin, says: Result<Option<Value>, Error>) -> Consulted {
        let origin = (!matches!(says, Ok(None))).then_some(origin);
        Consulted { layer, origin, says }
    }
}
