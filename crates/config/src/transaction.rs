//! Transactions: several changes of one scope's file, all or none.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::layers::{Content, FileLayer, UNSET, has_references};
use crate::scope::display;
use crate::scope_file::LockedScopeFile;
use crate::{ConfigService, Document, Error, FILE_BYTES_MAX, Key, KeyInfo, Resolved, Scope, Value};

/// Changes of one scope that are committed together. Holds the scope's lock; all reads happen under
/// that lock.
///
/// Calls see earlier staged changes. A failed call stages nothing, so the caller may handle its
/// error and continue; [`nested`](Self::nested) does the same for several calls. Nothing is written
/// before [`ConfigService::batch`] commits, and nothing at all if the batch fails.
///
/// A transaction belongs to its thread, like the lock that it holds.
pub struct ConfigTransaction<'a> {
    service: &'a ConfigService,
    scope: Scope,
    locked: LockedScopeFile,
    before: Option<Vec<u8>>,
    document: Arc<Document>,
    changed_keys: Vec<Key>,
}

impl fmt::Debug for ConfigTransaction<'_> {
    /// Omits the content, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "ConfigTransaction of `{}`, {} keys touched",
            self.file().display(),
            self.changed_keys.len()
        )
    }
}

/// Summary of a write.
#[derive(Clone, PartialEq, Eq, JsonSchema, Serialize, Debug)]
pub struct WriteSummary {
    /// Scope of the file.
    pub scope: Scope,
    /// Path of the file.
    #[serde(serialize_with = "display")]
    pub file: PathBuf,
    /// Keys that were set or unset, in this order.
    pub keys: Vec<Key>,
    /// True if the bytes of the file changed.
    pub changed: bool,
}

impl<'a> ConfigTransaction<'a> {
    #[track_caller]
    pub(crate) fn begin(service: &'a ConfigService, scope: Scope) -> Result<Self, Error> {
        let locked = service.lock(scope)?;
        let before = locked.file.read()?;
        let bytes = before.as_deref().unwrap_or_default();
        let document = service.parse(scope, &locked.file.path, bytes)?;
        Ok(Self { service, scope, locked, before, document, changed_keys: Vec::new() })
    }

    /// Scope of the transaction.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// Path of the file.
    pub fn file(&self) -> &Path {
        &self.locked.file.path
    }

    /// Returns the value of a key in this scope, staged changes included.
    pub fn get(&self, key: &Key) -> Result<Option<Value>, Error> {
        let layers = self.service.reference_layers(self.scope);
        let staged = FileLayer { scope: self.scope, file: self.file().to_owned(), content: self.staged() };
        layers.file(&staged, layers.registry().look_up(key)?).value
    }

    /// Returns the effective value of a key, staged changes included.
    pub fn resolve(&self, key: &Key) -> Result<Resolved, Error> {
        self.service.layers_with(Some((self.scope, self.staged()))).resolve(key)
    }

    /// Sets a key to a value given as text, parsed by the key's type. `${VAR}` is stored as it is;
    /// readers expand it.
    pub fn set_value(&mut self, key: &Key, text: &str) -> Result<(), Error> {
        let info = self.service.registry().look_up(key)?;
        let value = self.service.parse_value(self.scope, info, text)?;
        self.stage(info.key, &value)
    }

    /// Sets a key to a value.
    pub fn set(&mut self, key: &Key, value: &Value) -> Result<(), Error> {
        let info = self.service.registry().look_up(key)?;
        let typed = value.to_toml_type();
        let text = if let Value::String(text) = &typed { Some(text.as_str()) } else { None };
        let value = self.service.validate(self.scope, info, text, || info.read_toml(&typed, None))?;
        self.stage(info.key, &value)
    }

    /// Removes a key from this scope, under its former names too. Returns false if it was not
    /// there. Also removes unknown keys, and keys that this scope may not set.
    pub fn unset(&mut self, key: &Key) -> Result<bool, Error> {
        let registry = self.service.registry();
        let info = registry.look_up(key);
        let former = info.iter().flat_map(|info| registry.former_names(info.key));
        let mut was_set = false;
        for name in [key].into_iter().chain(former) {
            let unset = self.document.unset(name).map_err(|error| error.in_scope(self.scope))?;
            if let Some(document) = unset {
                self.document = Arc::new(document);
                was_set = true;
            }
        }
        if !was_set {
            info?;
            return Ok(false);
        }
        self.changed_keys.push(key.clone());
        Ok(true)
    }

    /// Runs several calls as one: if `inner` fails, its staged changes are dropped and earlier ones
    /// stay.
    pub fn nested<T, E>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, E>) -> Result<T, E> {
        let (document, changed_keys) = (Arc::clone(&self.document), self.changed_keys.len());
        inner(self).inspect_err(|_| {
            self.document = document;
            self.changed_keys.truncate(changed_keys);
        })
    }

    /// Writes the staged changes, if they change the file.
    pub(crate) fn commit(self) -> Result<WriteSummary, Error> {
        let Self { service, scope, locked, before, document, changed_keys } = self;
        let _span = tracing::debug_span!("transaction", %scope, keys = changed_keys.len()).entered();
        let after = document.to_bytes();
        let changed = before.as_deref().unwrap_or_default() != after;
        if changed {
            if after.len() as u64 > FILE_BYTES_MAX {
                return Err(Error::TooLarge { file: locked.file.path, limit: FILE_BYTES_MAX });
            }
            locked.replace(&after)?;
        }
        // Unlock first: dropping the rest must not keep other writers waiting.
        let file = locked.unlock().path;
        if changed {
            service.cache(scope, document);
        }
        Ok(WriteSummary { scope, file, keys: changed_keys, changed })
    }

    /// Stages a valid value.
    pub(crate) fn stage(&mut self, key: &Key, value: &Value) -> Result<(), Error> {
        let document = self.document.set(key, value).map_err(|error| error.in_scope(self.scope))?;
        self.document = Arc::new(document);
        self.changed_keys.push(key.clone());
        Ok(())
    }

    fn staged(&self) -> Content {
        Content::Document(Arc::clone(&self.document))
    }
}

/// Validation of values, independent of the file.
impl ConfigService {
    /// Parses a value from text, if the key can be set in this scope.
    pub(crate) fn parse_value(&self, scope: Scope, info: KeyInfo<'_>, text: &str) -> Result<Value, Error> {
        self.validate(scope, info, Some(text), || info.read_text(text, None))
    }

    /// Returns the value of `read`, if the key can be set in this scope. Keeps a text with
    /// references as it is.
    fn validate(
        &self,
        scope: Scope,
        info: KeyInfo<'_>,
        text: Option<&str>,
        read: impl FnOnce() -> Result<Value, Error>,
    ) -> Result<Value, Error> {
        info.check_scope(scope)?;
        let layers = self.reference_layers(scope);
        let interpolation = layers.interpolation(info, scope, None);
        if let Some(text) = text.filter(|text| info.definition.is_some() && has_references(text)) {
            // If all variables are set, the expanded text must be of the type.
            if let Some(expanded) = ignore_unset(interpolation.expand(text))? {
                info.read_text(&expanded, None)?;
            }
            return Ok(Value::String(text.to_owned()));
        }
        // A written value must be readable: a project file may not refer to every variable.
        let value = read()?;
        ignore_unset(interpolation.expand_value(value.clone()))?;
        Ok(value)
    }
}

/// Turns the error of an unset variable into `None`: it may be set where the value is read.
fn ignore_unset<T>(expanded: Result<T, Error>) -> Result<Option<T>, Error> {
    match expanded {
        Ok(expanded) => Ok(Some(expanded)),
        Err(Error::Interpolation { reason: UNSET, .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
