//! Which layer decides.
//!
//! High to low: flag, environment, local, project, global, default. [`Layers::resolve`] is the only place where that is decided;
//! getting one key, listing all and reading settings go through it.
//!
//! A file that cannot be used (it does not parse, it leads out of its project) hides what it says. A value from another file or
//! from higher up still holds, and the answer says which file was skipped; but a default never stands in for what a broken file may say.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::interpolate::{Interpolation, refers};
use crate::{Document, Environment, Error, Flags, Key, Known, Layer, Origin, Registry, Reveal, Scope, Value};

/// All layers, as they were when they were loaded.
#[derive(Clone)]
pub struct Layers<'a> {
    registry: &'a Registry,
    flags: &'a Flags,
    environment: &'a Environment,
    files: Vec<FileLayer>,
}

/// The file of one scope.
#[derive(Clone, Debug)]
pub struct FileLayer {
    /// The scope.
    pub scope: Scope,
    /// The file.
    pub file: PathBuf,
    /// What is in it.
    pub content: Content,
}

/// What is in a file.
#[derive(Clone, Debug)]
pub enum Content {
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
    /// Where in it.
    pub origin: Option<Origin>,
    /// What it says.
    pub says: Says,
}

/// What a layer says about a key.
#[derive(Clone)]
pub enum Says {
    /// Nothing.
    Nothing,
    /// This value.
    Value(Value),
    /// Something that cannot be used, or a whole file that cannot: skipped, and to be reported.
    Unusable(Error),
}

/// The values of many keys.
#[derive(Debug)]
pub struct Listing {
    /// Keys with their values, sorted.
    pub entries: Vec<Resolved>,
    /// What could not be used, to be reported.
    pub problems: Vec<Error>,
}

impl<'a> Layers<'a> {
    /// Layers of files that were read already, in any order.
    pub fn new(
        registry: &'a Registry,
        flags: &'a Flags,
        environment: &'a Environment,
        mut files: Vec<FileLayer>,
    ) -> Self {
        files.sort_by_key(|file| Layer::from(file.scope));
        Self { registry, flags, environment, files }
    }

    /// Decides the value of a key. Fails when the strongest layer that speaks says something that cannot be used, and when only a
    /// default is left while a file cannot be used.
    pub fn resolve(&self, key: &Key) -> Result<Resolved, Error> {
        let known = self.registry.look_up(key)?;
        let consulted = self.consult(key)?;
        let mut hidden: Option<&Error> = None;
        let mut chosen = (None, Origin::Default);
        for Consulted { layer, origin, says } in &consulted {
            match (says, origin) {
                (Says::Value(_), _) if *layer == Layer::Default && hidden.is_some() => break,
                (Says::Value(value), Some(origin)) => {
                    (chosen, hidden) = ((Some(value.clone()), origin.clone()), None);
                    break;
                }
                // What is not allowed here, or from a whole file, is skipped.
                (Says::Unusable(error), None) => hidden = hidden.or(Some(error)),
                (Says::Unusable(Error::NotInScope { .. }), _) => {}
                (Says::Unusable(error), Some(_)) => return Err(error.clone()),
                (Says::Nothing | Says::Value(_), _) => {}
            }
        }
        if let Some(error) = hidden {
            return Err(error.clone());
        }
        let (value, origin) = chosen;
        if value.is_none() && matches!(known, Known::Free) && self.is_table(key) {
            return Err(Error::IsTable { key: key.clone() });
        }
        Ok(Resolved { key: key.clone(), value, origin, is_secret: known.is_secret(), consulted })
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
    pub fn consult(&self, key: &Key) -> Result<Vec<Consulted>, Error> {
        let known = self.registry.look_up(key)?;
        let mut consulted = vec![self.flag(key), self.variable(key, known)];
        consulted.extend(self.files.iter().map(|file| self.file(file, key, known)));
        let default = match known {
            Known::Declared(declared) => declared.default.clone(),
            Known::Free => None,
        };
        let says = default.map_or(Says::Nothing, Says::Value);
        consulted.push(Consulted { layer: Layer::Default, origin: Some(Origin::Default), says });
        Ok(consulted)
    }

    fn flag(&self, key: &Key) -> Consulted {
        let says = self.flags.get(key).cloned().map_or(Says::Nothing, Says::Value);
        Consulted { layer: Layer::Flag, origin: Some(Origin::Flag), says }
    }

    fn variable(&self, key: &Key, known: Known<'_>) -> Consulted {
        let layer = Layer::Environment;
        let Known::Declared(declared) = known else {
            return Consulted { layer, origin: None, says: Says::Nothing };
        };
        let variable = declared.variable();
        let found = self.environment.get(&variable);
        let origin = Origin::Variable { name: variable };
        let value = match found {
            Ok(Some(text)) => known.read_text(key, text, Some(&origin)).map(Some),
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        };
        Consulted { layer, origin: Some(origin), says: Says::of(value) }
    }

    fn file(&self, file: &FileLayer, key: &Key, known: Known<'_>) -> Consulted {
        let layer = Layer::from(file.scope);
        let document = match &file.content {
            Content::Absent => return Consulted { layer, origin: None, says: Says::Nothing },
            // Whatever it says about a key that it may not set does not count, so it hides nothing.
            Content::Unusable(_) if !known.scopes().contains(&file.scope) => {
                return Consulted { layer, origin: None, says: Says::Nothing };
            }
            Content::Unusable(error) => {
                return Consulted { layer, origin: None, says: Says::Unusable(error.clone()) };
            }
            Content::Document(document) => document,
        };
        let Some(found) = document.find(key) else {
            return Consulted { layer, origin: None, says: Says::Nothing };
        };
        if found.item.is_table_like() && matches!(known, Known::Free) {
            return Consulted { layer, origin: None, says: Says::Nothing };
        }
        let line = document.line(found.key_start);
        let origin = Origin::File { scope: file.scope, file: file.file.clone(), line };
        let value = self.read(key, known, file.scope, found.value(), &origin);
        Consulted { layer, origin: Some(origin), says: Says::of(value.map(Some)) }
    }

    fn read(
        &self,
        key: &Key,
        known: Known<'_>,
        scope: Scope,
        value: Value,
        origin: &Origin,
    ) -> Result<Value, Error> {
        if !known.scopes().contains(&scope) {
            return Err(Error::NotInScope { key: key.clone(), scope, allowed: known.scopes() });
        }
        let (registry, environment) = (self.registry, self.environment);
        let interpolation = Interpolation { registry, environment, key, scope, origin: Some(origin) };
        match value {
            // What is filled in is read like the text of a variable, so that numbers can come from one.
            Value::String(text) if refers(&text) && matches!(known, Known::Declared(_)) => {
                known.read_text(key, &interpolation.fill(&text)?, Some(origin))
            }
            value => known.read_toml(key, &interpolation.fill_value(value)?, Some(origin)),
        }
    }

    /// Keys of a file that are known, and an error for each that is not; only those that have to do with `prefix`.
    fn keys_of(&self, file: &FileLayer, document: &Document, prefix: Option<&Key>) -> (Vec<Key>, Vec<Error>) {
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        let concerns = |key: &Key| prefix.is_none_or(|prefix| key.is_within(prefix) || prefix.is_within(key));
        for (key, line) in document.keys().into_iter().filter(|(key, _)| concerns(key)) {
            match self.registry.look_up(&key) {
                Ok(Known::Declared(_)) => {}
                Ok(Known::Free) => known.push(key),
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
        self.consulted.iter().filter_map(|consulted| match &consulted.says {
            Says::Unusable(error) => Some(error),
            _ => None,
        })
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

impl Says {
    fn of(value: Result<Option<Value>, Error>) -> Says {
        match value {
            Ok(Some(value)) => Self::Value(value),
            Ok(None) => Self::Nothing,
            Err(error) => Self::Unusable(error),
        }
    }
}
