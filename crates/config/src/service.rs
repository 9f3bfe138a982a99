//! Reading and writing configuration: the only part of this crate that calls the disk, through `store`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use filetx::Wait;

use crate::layers::{Content, FileLayer};
use crate::scope_file::{LockedTarget, Locks, Target};
use crate::{
    ConfigTransaction, Document, Environment, Error, Flags, Key, KeyInfo, Layers, Listing, Places, Registry,
    Resolved, Scope, Written,
};

/// Configuration of one user in one project.
///
/// Every reading call reads the files anew (and parses them only if their bytes have changed), so a service may live long and never shows or writes what was read an hour ago. Every writing
/// call takes the lock of its scope's file, reads, changes, checks and replaces the file, all under that lock: no update is lost among
/// threads or processes, and a reader sees the old file or the new one. When a writing call returns `Ok`, the change survives a
/// power cut. When it fails, the file is as it was, except for [`Error::Write`], whose source says so or says that it is
/// not known until the file is read.
///
/// The service may be shared among threads and cloned; it holds no lock between calls.
#[derive(Clone, Debug)]
pub struct ConfigService {
    /// The layers that are no files.
    given: Layers,
    places: Places,
    wait: Wait,
    parsed: Parsed,
    locks: Locks,
}

/// The last document of each scope, to be used again as long as the file has the same bytes. The mutex is held for a look only.
type Parsed = Arc<Mutex<BTreeMap<Scope, Arc<Document>>>>;

impl ConfigService {
    /// A service for these places. It touches no disk.
    pub fn new(registry: Registry, places: Places, environment: Environment) -> Self {
        let given = Layers::new(registry, Flags::default(), environment);
        Self { given, places, wait: Wait::default(), parsed: Parsed::default(), locks: Locks::default() }
    }

    /// With values from the command line.
    pub fn with_flags(self, flags: Flags) -> Self {
        Self { given: self.given.with_flags(flags), ..self }
    }

    /// With another way to wait for locks than 30 s in silence.
    pub fn with_wait(self, wait: Wait) -> Self {
        Self { wait, ..self }
    }

    /// The keys.
    pub fn registry(&self) -> &Registry {
        self.given.registry()
    }

    /// Where the files are.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// The value of a key. Same as [`resolve`](Self::resolve) without the reasons.
    ///
    /// Safe to call from any thread and process at any time: it takes no lock and writes nothing.
    pub fn get(&self, key: &Key) -> Result<Option<crate::Value>, Error> {
        Ok(self.resolve(key)?.value)
    }

    /// The value of a key, where it comes from, and what every layer says.
    ///
    /// Safe to call from any thread and process at any time: it takes no lock and writes nothing. Each file is read whole, as some
    /// writer left it.
    pub fn resolve(&self, key: &Key) -> Result<Resolved, Error> {
        self.layers().resolve(key)
    }

    /// All keys, or those below `prefix`, decided as [`resolve`](Self::resolve) does, from one reading of the files.
    ///
    /// Safe to call from any thread and process at any time: it takes no lock and writes nothing.
    pub fn list(&self, prefix: Option<&Key>) -> Listing {
        self.layers().list(prefix)
    }

    /// All layers as they are now, for several questions to one state.
    ///
    /// Safe to call from any thread and process at any time: it takes no lock and writes nothing. The files are read one after the other.
    pub fn layers(&self) -> Layers {
        self.layers_with(None)
    }

    /// Sets one key of a scope to a value given as text, which is read by the key's type.
    ///
    /// Safe among threads and processes: writers of one file take turns and none is lost. Inside of a [`batch`](Self::batch) on the same
    /// file it fails at once with [`Error::Nested`]: use the batch's transaction. A failure leaves the file as it was.
    #[track_caller]
    pub fn set_value(&self, scope: Scope, key: &Key, text: &str) -> Result<Written, Error> {
        self.write_scoped_config(scope, [(key, text)])
    }

    /// Sets several keys of the global scope, all or none.
    ///
    /// Safe among threads and processes, like [`set_value`](Self::set_value). A failure, of whichever key, leaves the file as it was.
    #[track_caller]
    pub fn write_config<'v>(
        &self,
        values: impl IntoIterator<Item = (&'v Key, &'v str)>,
    ) -> Result<Written, Error> {
        self.write_scoped_config(Scope::Global, values)
    }

    /// Sets several keys of a scope, all or none.
    ///
    /// Safe among threads and processes, like [`set_value`](Self::set_value). A failure, of whichever key, leaves the file as it was.
    #[track_caller]
    pub fn write_scoped_config<'v>(
        &self,
        scope: Scope,
        values: impl IntoIterator<Item = (&'v Key, &'v str)>,
    ) -> Result<Written, Error> {
        let values = values.into_iter().map(|(key, text)| Ok((self.registry().look_up(key)?, text)));
        self.set(scope, &values.collect::<Result<Vec<_>, Error>>()?)
    }

    /// Sets several keys of a scope, all or none, each to a value given as text.
    ///
    /// Safe among threads and processes, like [`set_value`](Self::set_value). A failure, of whichever key, leaves the file as it was.
    #[track_caller]
    pub fn set(&self, scope: Scope, values: &[(KeyInfo<'_>, &str)]) -> Result<Written, Error> {
        // What is wrong in itself is refused before a folder is made or a lock is waited for.
        let values =
            values.iter().map(|(info, text)| Ok((info.key, self.value_of_text(scope, *info, text)?)));
        let values = values.collect::<Result<Vec<_>, Error>>()?;
        let mut transaction = ConfigTransaction::begin(self, scope)?;
        for (key, value) in &values {
            transaction.put(key, value)?;
        }
        transaction.commit()
    }

    /// Removes a key from a scope. [`Written::changed`] says whether it was there.
    ///
    /// Safe among threads and processes, like [`set_value`](Self::set_value). A failure leaves the file as it was.
    #[track_caller]
    pub fn unset(&self, scope: Scope, key: &Key) -> Result<Written, Error> {
        // Where there is no file there is nothing to remove, and no folder to make for it.
        if Target::find(&self.places, scope)?.read()?.is_none() {
            self.registry().look_up(key)?;
            return Ok(Written { scope, file: self.file(scope)?, keys: Vec::new(), changed: false });
        }
        Ok(self.batch(scope, |tx| tx.unset(key))?.1)
    }

    /// Runs `changes` on a transaction of one scope and commits once, when it returns `Ok`.
    ///
    /// Safe among threads and processes: the lock is held from before the file is read until it is replaced, so nobody else
    /// writes meanwhile; keep `changes` short. A failure of `changes`, or a panic in it, leaves the file as it was.
    #[track_caller]
    pub fn batch<T, E: From<Error>>(
        &self,
        scope: Scope,
        changes: impl FnOnce(&mut ConfigTransaction<'_>) -> Result<T, E>,
    ) -> Result<(T, Written), E> {
        let mut transaction = ConfigTransaction::begin(self, scope)?;
        let done = changes(&mut transaction)?;
        Ok((done, transaction.commit()?))
    }

    /// The file of a scope, whether it exists or not.
    pub fn file(&self, scope: Scope) -> Result<PathBuf, Error> {
        self.places.file(scope)
    }

    /// The layers that are no files.
    pub(crate) fn given(&self) -> &Layers {
        &self.given
    }

    /// Locks a scope's file for this thread alone.
    #[track_caller]
    pub(crate) fn lock(&self, scope: Scope) -> Result<LockedTarget, Error> {
        LockedTarget::lock(&self.places, scope, &self.wait, &self.locks)
    }

    /// The layers, with one file's content given by the caller.
    pub(crate) fn layers_with(&self, staged: Option<(Scope, Content)>) -> Layers {
        let content = |scope: Scope| match &staged {
            Some((staged_scope, content)) if *staged_scope == scope => content.clone(),
            _ => self.read(scope),
        };
        // Outside of a project there are no files of it.
        let files = Scope::ALL.iter().filter_map(|scope| Some((*scope, self.places.file(*scope).ok()?)));
        let files = files.map(|(scope, file)| FileLayer { scope, file, content: content(scope) });
        self.given.with_files(files.collect())
    }

    /// The document of bytes that were just read, parsed only if they are others than last time.
    pub(crate) fn parse(&self, scope: Scope, file: &Path, bytes: &[u8]) -> Result<Arc<Document>, Error> {
        let known = self.parsed().get(&scope).cloned();
        if let Some(document) = known.as_ref().filter(|document| document.is(bytes)) {
            return Ok(Arc::clone(document));
        }
        let document =
            Document::parse(file, bytes, self.registry()).map_err(|error| error.in_scope(scope))?;
        let document = Arc::new(document);
        self.remember(scope, Arc::clone(&document));
        Ok(document)
    }

    pub(crate) fn remember(&self, scope: Scope, document: Arc<Document>) {
        self.parsed().insert(scope, document);
    }

    fn parsed(&self) -> MutexGuard<'_, BTreeMap<Scope, Arc<Document>>> {
        // Whoever panicked here left one document or another, each whole.
        self.parsed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, scope: Scope) -> Content {
        let document = Target::find(&self.places, scope).and_then(|target| match target.read()? {
            Some(bytes) => self.parse(scope, &target.file, &bytes).map(Some),
            None => Ok(None),
        });
        match document {
            Ok(Some(document)) => Content::Document(document),
            Ok(None) => Content::Absent,
            Err(error) => Content::Unusable(error),
        }
    }
}
