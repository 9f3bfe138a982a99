//! Several changes of one scope's file, all or nothing.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use crate::layers::{Content, FileLayer, UNSET, refers};
use crate::scope::display;
use crate::scope_file::LockedTarget;
use crate::{ConfigService, Document, Error, FILE_BYTES_MAX, Key, KeyInfo, Resolved, Scope, Value};

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
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Written {
    /// The scope.
    pub scope: Scope,
    /// Its file.
    #[serde(serialize_with = "display")]
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
        let given = self.service.given();
        let staged = FileLayer { scope: self.scope, file: self.file().to_owned(), content: self.staged() };
        given.file(&staged, given.registry().look_up(key)?).says
    }

    /// The value of a key over all layers, with what is staged.
    pub fn resolve(&self, key: &Key) -> Result<Resolved, Error> {
        self.service.layers_with(Some((self.scope, self.staged()))).resolve(key)
    }

    /// Sets a key to a value given as text, which is read by the key's type. `${VAR}` is kept and filled in by readers.
    pub fn set_value(&mut self, key: &Key, text: &str) -> Result<(), Error> {
        let info = self.service.registry().look_up(key)?;
        let value = self.service.value_of_text(self.scope, info, text)?;
        self.put(key, &value)
    }

    /// Sets a key to a value.
    pub fn set(&mut self, key: &Key, value: &Value) -> Result<(), Error> {
        let info = self.service.registry().look_up(key)?;
        let typed = value.typed_by_toml();
        let text = if let Value::String(text) = &typed { Some(text.as_str()) } else { None };
        let value = self.service.accept(self.scope, info, text, || info.read_toml(&typed, None))?;
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
        let _span = tracing::debug_span!("transaction", %scope, keys = touched.len()).entered();
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

    /// Sets a key to a value that this scope takes.
    pub(crate) fn put(&mut self, key: &Key, value: &Value) -> Result<(), Error> {
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
    pub(crate) fn value_of_text(&self, scope: Scope, info: KeyInfo<'_>, text: &str) -> Result<Value, Error> {
        self.accept(scope, info, Some(text), || info.read_text(text, None))
    }

    /// The value that `read` gives, if it may be set in this scope. A text that refers to variables stays as it is.
    fn accept(
        &self,
        scope: Scope,
        info: KeyInfo<'_>,
        text: Option<&str>,
        read: impl FnOnce() -> Result<Value, Error>,
    ) -> Result<Value, Error> {
        info.check_scope(scope)?;
        let interpolation = self.given().interpolation(info, scope, None);
        if let Some(text) = text.filter(|text| info.declared.is_some() && refers(text)) {
            // If the variables are all set, what they make must be of the type.
            if let Some(filled) = unless_unset(interpolation.fill(text))? {
                info.read_text(&filled, None)?;
            }
            return Ok(Value::String(text.to_owned()));
        }
        // Whatever is written must be readable here: a project's file may not refer to secrets.
        let value = read()?;
        unless_unset(interpolation.fill_value(value.clone()))?;
        Ok(value)
    }
}

/// Nothing where a variable is not set: it may be where the value is read.
fn unless_unset<T>(filled: Result<T, Error>) -> Result<Option<T>, Error> {
    match filled {
        Ok(filled) => Ok(Some(filled)),
        Err(Error::Interpolation { reason: UNSET, .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
