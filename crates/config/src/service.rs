//! Reading and writing configuration. Only this module and `scope_file` do I/O.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use filetx::Wait;

use crate::layers::{Content, FileLayer};
use crate::scope_file::{LockCache, LockedScopeFile, ScopeFile};
use crate::{
    ConfigDirs, ConfigTransaction, Document, Environment, Error, Flags, Key, KeyInfo, Layers, Listing,
    Registry, Resolved, Scope, WriteSummary,
};

/// Configuration of one user in one project.
///
/// Every reading call reads the files again, and parses them if their bytes changed: a service may
/// live for long and never uses stale content. Every writing call locks its scope's file, then
/// reads, changes, checks and replaces it under that lock: no update is lost among threads or
/// processes, and a reader sees the old file or the new one. After a writing call returns `Ok`, the
/// change survives a power cut. After a failure the file is unchanged, except for [`Error::Write`],
/// whose source may report an unknown outcome.
///
/// A service can be shared among threads and cloned. It holds no lock between calls.
#[derive(Clone, Debug)]
pub struct ConfigService {
    /// Layers without the files.
    base_layers: Layers,
    dirs: ConfigDirs,
    wait: Wait,
    documents: DocumentCache,
    locks: LockCache,
}

/// Last document of each scope, reused while the file has the same bytes. The mutex is never held
/// during I/O.
type DocumentCache = Arc<Mutex<BTreeMap<Scope, Arc<Document>>>>;

impl ConfigService {
    /// Creates a service. Does no I/O.
    pub fn new(registry: Registry, dirs: ConfigDirs, environment: Environment) -> Self {
        let base_layers = Layers::new(registry, Flags::default(), environment);
        Self {
            base_layers,
            dirs,
            wait: Wait::default(),
            documents: DocumentCache::default(),
            locks: LockCache::default(),
        }
    }

    /// Sets the values from the command line.
    pub fn with_flags(self, flags: Flags) -> Self {
        Self { base_layers: self.base_layers.with_flags(flags), ..self }
    }

    /// Sets how to wait for locks. The default is 30 s, without notice.
    pub fn with_wait(self, wait: Wait) -> Self {
        Self { wait, ..self }
    }

    /// Registry of the keys.
    pub fn registry(&self) -> &Registry {
        self.base_layers.registry()
    }

    /// Folders of the files.
    pub fn dirs(&self) -> &ConfigDirs {
        &self.dirs
    }

    /// Returns the effective value of a key: [`resolve`](Self::resolve) without the explanation.
    ///
    /// Safe to call from any thread and process at any time: takes no lock and writes nothing.
    pub fn get(&self, key: &Key) -> Result<Option<crate::Value>, Error> {
        Ok(self.resolve(key)?.value)
    }

    /// Returns the effective value of a key, its position, and its value in every layer.
    ///
    /// Safe to call from any thread and process at any time: takes no lock and writes nothing.
    /// Reads each file as one writer left it.
    pub fn resolve(&self, key: &Key) -> Result<Resolved, Error> {
        self.layers().resolve(key)
    }

    /// Resolves all keys, or those below `prefix`, as [`resolve`](Self::resolve) does, from one
    /// reading of the files.
    ///
    /// Safe to call from any thread and process at any time: takes no lock and writes nothing.
    pub fn list(&self, prefix: Option<&Key>) -> Listing {
        self.layers().list(prefix)
    }

    /// Returns a snapshot of all layers, for several lookups in one state.
    ///
    /// Safe to call from any thread and process at any time: takes no lock and writes nothing.
    /// Reads the files one after the other.
    pub fn layers(&self) -> Layers {
        self.layers_with(None)
    }

    /// Sets one key of a scope to a value given as text, parsed by the key's type.
    ///
    /// Safe among threads and processes: writers of one file take turns, and no update is lost.
    /// Inside of a [`batch`](Self::batch) on the same file it fails at once with [`Error::Nested`]:
    /// use the transaction of the batch. A failure leaves the file unchanged.
    #[track_caller]
    pub fn set_value(&self, scope: Scope, key: &Key, text: &str) -> Result<WriteSummary, Error> {
        self.write_scoped_config(scope, [(key, text)])
    }

    /// Sets several keys of the global scope, all or none.
    ///
    /// Safe among threads and processes, like [`set_value`](Self::set_value). A failure of any key
    /// leaves the file unchanged.
    #[track_caller]
    pub fn write_config<'v>(
        &self,
        values: impl IntoIterator<Item = (&'v Key, &'v str)>,
    ) -> Result<WriteSummary, Error> {
        self.write_scoped_config(Scope::Global, values)
    }

    /// Sets several keys of a scope, all or none.
    ///
    /// Safe among threads and processes, like [`set_value`](Self::set_value). A failure of any key
    /// leaves the file unchanged.
    #[track_caller]
    pub fn write_scoped_config<'v>(
        &self,
        scope: Scope,
        values: impl IntoIterator<Item = (&'v Key, &'v str)>,
    ) -> Result<WriteSummary, Error> {
        let values = values.into_iter().map(|(key, text)| Ok((self.registry().look_up(key)?, text)));
        self.set(scope, &values.collect::<Result<Vec<_>, Error>>()?)
    }

    /// Sets several keys of a scope, all or none, each to a value given as text.
    ///
    /// Safe among threads and processes, like [`set_value`](Self::set_value). A failure of any key
    /// leaves the file unchanged.
    #[track_caller]
    pub fn set(&self, scope: Scope, values: &[(KeyInfo<'_>, &str)]) -> Result<WriteSummary, Error> {
        // Reject an invalid value before creating a folder or waiting for a lock.
        let values = values.iter().map(|(info, text)| Ok((info.key, self.parse_value(scope, *info, text)?)));
        let values = values.collect::<Result<Vec<_>, Error>>()?;
        let mut transaction = ConfigTransaction::begin(self, scope)?;
        for (key, value) in &values {
            transaction.stage(key, value)?;
        }
        transaction.commit()
    }

    /// Removes a key from a scope. [`WriteSummary::changed`] is true if it was there.
    ///
    /// Safe among threads and processes, like [`set_value`](Self::set_value). A failure leaves the
    /// file unchanged.
    #[track_caller]
    pub fn unset(&self, scope: Scope, key: &Key) -> Result<WriteSummary, Error> {
        // Without a file there is nothing to remove, and no folder to create.
        if ScopeFile::find(&self.dirs, scope)?.read()?.is_none() {
            self.registry().look_up(key)?;
            return Ok(WriteSummary { scope, file: self.file(scope)?, keys: Vec::new(), changed: false });
        }
        Ok(self.batch(scope, |tx| tx.unset(key))?.1)
    }

    /// Runs `changes` on a transaction of one scope, and commits once if it returns `Ok`.
    ///
    /// Safe among threads and processes: the lock is held from before the file is read until it is
    /// replaced, so other writers wait; keep `changes` short. An error or panic in `changes` leaves
    /// the file unchanged.
    #[track_caller]
    pub fn batch<T, E: From<Error>>(
        &self,
        scope: Scope,
        changes: impl FnOnce(&mut ConfigTransaction<'_>) -> Result<T, E>,
    ) -> Result<(T, WriteSummary), E> {
        let mut transaction = ConfigTransaction::begin(self, scope)?;
        let result = changes(&mut transaction)?;
        Ok((result, transaction.commit()?))
    }

    /// Returns the path of a scope's file, existing or not.
    pub fn file(&self, scope: Scope) -> Result<PathBuf, Error> {
        self.dirs.file(scope)
    }

    /// Returns the layers that decide which variables the file of a scope may refer to: those with
    /// the global file, unless it is that file.
    pub(crate) fn reference_layers(&self, scope: Scope) -> Layers {
        let file = self.dirs.file(Scope::Global).ok().filter(|_| scope != Scope::Global);
        let global = |file| FileLayer { scope: Scope::Global, file, content: self.read(Scope::Global) };
        self.base_layers.with_files(file.map(global).into_iter().collect())
    }

    /// Locks a scope's file for this thread.
    #[track_caller]
    pub(crate) fn lock(&self, scope: Scope) -> Result<LockedScopeFile, Error> {
        LockedScopeFile::lock(&self.dirs, scope, &self.wait, &self.locks)
    }

    /// Returns all layers, with `staged` in place of one file's content.
    pub(crate) fn layers_with(&self, staged: Option<(Scope, Content)>) -> Layers {
        let content = |scope: Scope| match &staged {
            Some((staged_scope, content)) if *staged_scope == scope => content.clone(),
            _ => self.read(scope),
        };
        // Without a project there are no project files.
        let files = Scope::ALL.iter().filter_map(|scope| Some((*scope, self.dirs.file(*scope).ok()?)));
        let files = files.map(|(scope, file)| FileLayer { scope, file, content: content(scope) });
        self.base_layers.with_files(files.collect())
    }

    /// Returns the document of these bytes; parses them unless they equal those of the last call.
    pub(crate) fn parse(&self, scope: Scope, file: &Path, bytes: &[u8]) -> Result<Arc<Document>, Error> {
        let known = self.documents().get(&scope).cloned();
        if let Some(document) = known.as_ref().filter(|document| document.has_bytes(bytes)) {
            return Ok(Arc::clone(document));
        }
        let document =
            Document::parse(file, bytes, self.registry()).map_err(|error| error.in_scope(scope))?;
        let document = Arc::new(document);
        self.cache(scope, Arc::clone(&document));
        Ok(document)
    }

    pub(crate) fn cache(&self, scope: Scope, document: Arc<Document>) {
        self.documents().insert(scope, document);
    }

    fn documents(&self) -> MutexGuard<'_, BTreeMap<Scope, Arc<Document>>> {
        // A panic leaves one document or another, each intact.
        self.documents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, scope: Scope) -> Content {
        let document = ScopeFile::find(&self.dirs, scope).and_then(|scope_file| match scope_file.read()? {
            Some(bytes) => self.parse(scope, &scope_file.path, &bytes).map(Some),
            None => Ok(None),
        });
        match document {
            Ok(Some(document)) => Content::Document(document),
            Ok(None) => Content::Absent,
            Err(error) => Content::Unusable(error),
        }
    }
}
