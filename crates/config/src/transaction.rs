//! Several changes of one scope's file, all or nothing.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::interpolate::{Interpolation, UNSET, refers};
use crate::layers::{Content, FileLayer};
use crate::store::LockedTarget;
use crate::{
    ConfigService, Document, Error, FILE_BYTES_MAX, Flags, Key, Known, Layer, Layers, Resolved, Says, Scope,
    Value,
};

/// Changes of one scope that are made together. It holds the scope's lock, and what it reads was read under that lock.
///
/// Calls see what was staged before them. A call that fails has staged nothing, so its error may be caught and the rest go on;
/// [`nested`](Self::nested) makes that true of several calls together. Nothing is on the disk before [`ConfigService::batch`]
/// commits, and nothing ever is when the batch fails.
///
/// It belongs to its thread, like the lock that it holds.
pub struct ConfigTransaction<'a> {
    service: &'a ConfigService,
    scope: Scope,
    locked: LockedTarget,
    before: Option<Vec<u8>>,
    document: Arc<Document>,
    touched: Vec<Key>,
}

impl fmt::Debug for ConfigTransaction<'_> {
    /// Without content, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConfigTransaction of `{}`, {} keys touched", self.file().display(), self.touched.len())
    }
}

/// What a write did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Written {
    /// The scope.
    pub scope: Scope,
    /// Its file.
    pub file: PathBuf,
    /// The keys that were set or unset, in this order.
    pub keys: Vec<Key>,
    /// Whether the file's bytes are others than before.
    pub changed: bool,
}

impl<'a> ConfigTransaction<'a> {
    #[track_caller]
    pub(crate) fn begin(service: &'a ConfigService, scope: Scope) -> Result<Self, Error> {
        let locked = service.lock(scope)?;
        let before = locked.target.read()?;
        let bytes = before.as_deref().unwrap_or_default();
        let document = service.parse(scope, &locked.target.file, bytes)?;
        Ok(Self { service, scope, locked, before, document, touched: Vec::new() })
    }

    /// The scope that is written.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// The file that is written.
    pub fn file(&self) -> &Path {
        &self.locked.target.file
    }

    /// The value that a key has in this scope, with what is staged.
    pub fn get(&self, key: &Key) -> Result<Option<Value>, Error> {
        let layer = Layer::from(self.scope);
        let staged = FileLayer { scope: self.scope, file: self.file().to_owned(), content: self.staged() };
        let (flags, environment) = (Flags::default(), self.service.environment());
        let layers = Layers::new(self.service.registry(), &flags, environment, vec![staged]);
        let consulted = layers.consult(key)?.into_iter().find(|consulted| consulted.layer == layer);
        match consulted.map(|consulted| consulted.says) {
            Some(Says::Value(value)) => Ok(Some(value)),
            Some(Says::Unusable(error)) => Err(error),
            Some(Says::Nothing) | None => Ok(None),
        }
    }

    /// The value of a key over all layers, with what is staged.
    pub fn resolve(&self, key: &Key) -> Result<Resolved, Error> {
        self.service.layers_with(Some((self.scope, self.staged()))).resolve(key)
    }

    /// Sets a key to a value given as text, which is read by the key's type. `${VAR}` is kept and filled in by readers.
    pub fn set_value(&mut self, key: &Key, text: &str) -> Result<(), Error> {
        let value = self.service.value_of_text(self.scope, key, text)?;
        self.put(key, &value)
    }

    /// Sets a key to a value.
    pub fn set(&mut self, key: &Key, value: &Value) -> Result<(), Error> {
        let typed = match value {
            // As a file would have it: a duration is a string there.
            Value::Duration(_) | Value::Size(_) | Value::Path(_) => Value::String(value.to_string()),
            value => value.clone(),
        };
        let known = self.service.allowed(self.scope, key)?;
        let value = match &typed {
            Value::String(text) if matches!(known, Known::Declared(_)) && refers(text) => {
                self.service.reference(self.scope, key, known, text)?
            }
            typed => known.read_toml(key, typed, None)?,
        };
        self.put(key, &value)
    }

    /// Removes a key from this scope. Says whether it was there. A key that is unknown, or does not belong here, may be removed too.
    pub fn unset(&mut self, key: &Key) -> Result<bool, Error> {
        let unset = self.document.unset(key).map_err(|error| error.in_scope(self.scope))?;
        let Some(document) = unset else {
            self.service.registry().look_up(key)?;
            return Ok(false);
        };
        self.document = Arc::new(document);
        self.touched.push(key.clone());
        Ok(true)
    }

    /// Runs several calls that count together: if `inner` fails, what it staged is forgotten and what was staged before stays.
    pub fn nested<T, E>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, E>) -> Result<T, E> {
        let (document, touched) = (Arc::clone(&self.document), self.touched.len());
        inner(self).inspect_err(|_| {
            self.document = document;
            self.touched.truncate(touched);
        })
    }

    /// Writes what is staged, if it differs from what is there.
    pub(crate) fn commit(self) -> Result<Written, Error> {
        let Self { service, scope, locked, before, document, touched } = self;
        let after = document.to_bytes();
        let changed = before.as_deref().unwrap_or_default() != after;
        if changed {
            if after.len() as u64 > FILE_BYTES_MAX {
                return Err(Error::TooLarge { file: locked.target.file, limit: FILE_BYTES_MAX });
            }
            locked.replace(&after)?;
        }
        // Nobody is to wait for what is cleared away here.
        let file = locked.unlock().file;
        if changed {
            service.remember(scope, document);
        }
        Ok(Written { scope, file, keys: touched, changed })
    }

    fn put(&mut self, key: &Key, value: &Value) -> Result<(), Error> {
        // Whatever is written must be readable here: a project's file may not refer to secrets.
        match self.service.interpolation(self.scope, key).fill_value(value.clone()) {
            Ok(_) | Err(Error::Interpolation { reason: UNSET, .. }) => {}
            Err(error) => return Err(error),
        }
        let document = self.document.set(key, value).map_err(|error| error.in_scope(self.scope))?;
        self.document = Arc::new(document);
        self.touched.push(key.clone());
        Ok(())
    }

    fn staged(&self) -> Content {
        Content::Document(Arc::clone(&self.document))
    }
}

/// What a scope takes, whatever is in its file.
impl ConfigService {
    /// The value that a text is for a key, if it may be set in this scope.
    pub(crate) fn value_of_text(&self, scope: Scope, key: &Key, text: &str) -> Result<Value, Error> {
        match self.allowed(scope, key)? {
            known @ Known::Declared(_) if refers(text) => self.reference(scope, key, known, text),
            known => known.read_text(key, text, None),
        }
    }

    /// What is known about a key, if it may be set in this scope.
    fn allowed(&self, scope: Scope, key: &Key) -> Result<Known<'_>, Error> {
        let known = self.registry().look_up(key)?;
        if !known.scopes().contains(&scope) {
            return Err(Error::NotInScope { key: key.clone(), scope, allowed: known.scopes() });
        }
        Ok(known)
    }

    /// A text that refers to variables, for a key of any type. If they are all set, what they make must be of the type.
    fn reference(&self, scope: Scope, key: &Key, known: Known<'_>, text: &str) -> Result<Value, Error> {
        match self.interpolation(scope, key).fill(text) {
            Ok(filled) => drop(known.read_text(key, &filled, None)?),
            // It may be set where the value is read.
            Err(Error::Interpolation { reason: UNSET, .. }) => {}
            Err(error) => return Err(error),
        }
        Ok(Value::String(text.to_owned()))
    }

    fn interpolation<'k>(&'k self, scope: Scope, key: &'k Key) -> Interpolation<'k> {
        let (registry, environment) = (self.registry(), self.environment());
        Interpolation { registry, environment, key, scope, origin: None }
    }
}
