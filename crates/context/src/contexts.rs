//! All contexts of a folder: creating, listing, renaming and removing them.

use std::io;
use std::path::Path;
use std::sync::Arc;

use filetx::{OwnFolder, RelPath, RenameMode, StorageResolver};

use crate::dir::{ContextsDir, Options};
use crate::edit::{Edit, Write, check_revision};
use crate::files::Files;
use crate::files::lines::Tail;
use crate::files::loaded::{self, Layout, Loaded};
use crate::{ContextManager, Draft, Error, Json, MessageId, Metadata, Name, Revision, SaveSummary};

/// Maximum number of attempts to create a context whose folder another process removes.
const CREATE_ATTEMPTS_MAX: usize = 8;

/// Contexts below one folder. Cheap to clone. Safe among threads and processes: a call locks only
/// the contexts that it uses.
#[derive(Clone)]
pub struct Contexts {
    pub(crate) dir: Arc<ContextsDir>,
}

/// A context in a list.
#[derive(Debug)]
pub struct ContextEntry {
    /// Name of the context.
    pub name: Name,
    /// Metadata, or the error of reading them.
    pub metadata: Result<Metadata, Error>,
}

/// Removal of a context.
#[derive(Debug)]
#[must_use = "the files may not be deleted yet"]
pub struct Removal {
    /// Error of deleting the files, if any. The files are out of sight; the next removal tries
    /// again.
    pub delete_error: Option<io::Error>,
}

impl Contexts {
    /// Opens the contexts below `folder`. Does no I/O; the first [`create`](Self::create) creates
    /// the folder.
    pub fn at(folder: &Path, options: Options) -> Contexts {
        Contexts { dir: Arc::new(ContextsDir::new(folder, None, options)) }
    }

    /// Opens contexts on any storage; `find` opens it by the path of a folder. The caller
    /// guarantees exclusive access.
    pub fn on_storage(folder: &Path, find: StorageResolver, options: Options) -> Contexts {
        Contexts { dir: Arc::new(ContextsDir::new(folder, Some(find), options)) }
    }

    /// Path of the folder.
    pub fn folder(&self) -> &Path {
        &self.dir.folder
    }

    /// Creates an empty context.
    ///
    /// If several threads or processes create one name, one succeeds and the others get
    /// [`Error::Exists`]. When this returns, the context survives a power cut. After a failure or a
    /// kill there is no context, and the name is free.
    #[track_caller]
    pub fn create(&self, name: &Name) -> Result<ContextManager, Error> {
        self.create_with("create", name, OnExisting::Fail, |edit| {
            edit.start_messages()?;
            edit.set_state(Json::empty())?;
            edit.set_global(Json::empty())
        })
    }

    /// Opens a context: reads metadata, state and global context as of one commit, and no messages.
    ///
    /// Safe beside writers in any thread or process. Writes nothing, so it works on a read-only or
    /// full disk, and before an interrupted save is recovered.
    #[track_caller]
    pub fn open(&self, name: &Name) -> Result<ContextManager, Error> {
        ContextManager::open(&self.dir, name)
    }

    /// Appends messages to a context in one commit, all or none. Takes its lock once and reads it
    /// once. With `expected`, fails with [`Error::Stale`] if the context is at another revision.
    ///
    /// Safety among threads and processes, and the state after a failure: as
    /// [`ContextManager::save`].
    #[track_caller]
    pub fn append(
        &self,
        name: &Name,
        drafts: &[Draft],
        expected: Option<Revision>,
    ) -> Result<SaveSummary, Error> {
        if drafts.is_empty() {
            let context = self.open(name)?;
            check_revision(name, expected, context.metadata().revision)?;
            return Ok(SaveSummary::unchanged(name, context.metadata()));
        }
        self.change("save", name, expected, loaded::load, |edit| {
            edit.normalize()?;
            edit.append(drafts)
        })
    }

    /// Changes a context that this process need not have open.
    #[track_caller]
    pub(crate) fn change(
        &self,
        action: &'static str,
        name: &Name,
        expected: Option<Revision>,
        load: impl FnOnce(Files<'_>) -> Result<Loaded, Error>,
        work: impl FnOnce(&mut Edit<'_, '_>) -> Result<Vec<MessageId>, Error>,
    ) -> Result<SaveSummary, Error> {
        let folder = self.dir.writer(action, name)?;
        let write = Write { dir: &self.dir, name, folder: &folder, action, expected };
        Ok(write.commit(load, work)?.1)
    }

    /// Lists all contexts by name, unreadable ones included. Writes nothing. Reads each context as
    /// of one commit, but not all as of the same moment.
    #[track_caller]
    pub fn list(&self) -> Result<Vec<ContextEntry>, Error> {
        let read = |files: Files<'_>| {
            if !loaded::exists(files)? {
                return Err(Error::NotFound { name: files.name.clone() });
            }
            let (mut metadata, _) = loaded::metadata(files)?;
            loaded::layout(files, &mut metadata)?;
            Ok(metadata)
        };
        let names = self.dir.names()?.into_iter();
        let listed = names.map(|name| ContextEntry { metadata: self.dir.read(&name, read), name });
        // Skip a folder that is gone, or that never held a context.
        Ok(listed.filter(|one| !matches!(one.metadata, Err(Error::NotFound { .. }))).collect())
    }

    /// Removes a context with all of its files.
    ///
    /// Other users of the context, in any thread or process, get [`Error::NotFound`] from then on;
    /// this waits for a save in progress. The context is removed at once or not at all, and when
    /// this returns it stays removed after a power cut. A failure leaves it unchanged, except for
    /// [`Error::Unsynced`]: removed, but a power cut may restore it.
    #[track_caller]
    pub fn remove(&self, name: &Name, expected: Option<Revision>) -> Result<Removal, Error> {
        self.remove_if(name, |files| match expected {
            None => Ok(()),
            Some(_) => check_revision(name, expected, loaded::metadata(files)?.0.revision),
        })
    }

    /// Removes a context if `check` succeeds under its lock.
    #[track_caller]
    pub(crate) fn remove_if(
        &self,
        name: &Name,
        check: impl FnOnce(Files<'_>) -> Result<(), Error>,
    ) -> Result<Removal, Error> {
        self.check_exists(name)?;
        let root = self.dir.prepare()?;
        let guards = self.dir.lock("remove", &[name])?;
        self.check_exists(name)?;
        self.dir.read_locked(name, |files| match loaded::exists(files)? {
            true => check(files),
            false => Err(Error::NotFound { name: name.clone() }),
        })?;
        check_locks("remove", name, &guards)?;
        Ok(Removal { delete_error: self.dir.move_to_trash(&*root, name)? })
    }

    /// Renames a context.
    ///
    /// Locks both names, so it waits for saves in progress. The context has the old name or the new
    /// one at any time, and when this returns it keeps the new one after a power cut. Other users
    /// of the old name get [`Error::NotFound`] from then on. A failure leaves it unchanged, except
    /// for [`Error::Unsynced`]: renamed, but a power cut may revert that.
    #[track_caller]
    pub fn rename(&self, name: &Name, new: &Name, expected: Option<Revision>) -> Result<(), Error> {
        self.check_exists(name)?;
        if name == new {
            return Err(Error::Exists { name: new.clone() });
        }
        let root = self.dir.prepare()?;
        let guards = self.dir.lock("rename", &[name, new])?;
        self.check_exists(name)?;
        self.dir.read_locked(name, |files| match loaded::exists(files)? {
            true => check_revision(name, expected, loaded::metadata(files)?.0.revision),
            false => Err(Error::NotFound { name: name.clone() }),
        })?;
        if self.dir.has_folder(new)? {
            let is_taken = self.dir.read_locked(new, loaded::exists)?;
            if is_taken {
                return Err(Error::Exists { name: new.clone() });
            }
            self.dir.move_to_trash(&*root, new)?;
        }
        check_locks("rename", name, &guards)?;
        let [from, to] = [name, new].map(|name| RelPath::root().join(name.as_str()));
        root.rename(&from, &to, RenameMode::Replace)
            .map_err(|source| self.dir.failed("rename", &self.dir.folder_of(name), source))?;
        let synced = root.sync_folder(&RelPath::root());
        synced.map_err(|source| Error::Unsynced { name: new.clone(), source })
    }

    fn check_exists(&self, name: &Name) -> Result<(), Error> {
        if self.dir.has_folder(name)? { Ok(()) } else { Err(Error::NotFound { name: name.clone() }) }
    }

    /// Creates a context, or replaces one, in one commit of its folder.
    #[track_caller]
    pub(crate) fn create_with(
        &self,
        action: &'static str,
        name: &Name,
        on_existing: OnExisting,
        fill: impl FnOnce(&mut Edit<'_, '_>) -> Result<(), Error>,
    ) -> Result<ContextManager, Error> {
        let root = self.dir.prepare()?;
        let mut fill = Some(fill);
        for _ in 0..CREATE_ATTEMPTS_MAX {
            let is_new = self.dir.create_folder(&*root, name.as_str())?;
            let recovered = |folder: OwnFolder| folder.begin().map(drop).map(|()| folder.clone());
            let folder = match self.dir.own_folder(name).and_then(recovered) {
                // A process that failed to create it has just removed the folder.
                Err(filetx::Error::FolderMoved { .. }) => continue,
                Err(filetx::Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => continue,
                folder => folder,
            };
            let fill = fill.take().expect("it is used once");
            let made = folder
                .map_err(|source| Error::files(action, name, source))
                .and_then(|folder| self.commit_new(action, name, on_existing, folder, fill));
            if is_new && made.is_err() {
                self.remove_failed_create(name);
            }
            return made;
        }
        let source = io::Error::other("other processes keep removing it");
        Err(self.dir.failed("make", &self.dir.folder_of(name), source))
    }

    fn commit_new(
        &self,
        action: &'static str,
        name: &Name,
        on_existing: OnExisting,
        folder: OwnFolder,
        fill: impl FnOnce(&mut Edit<'_, '_>) -> Result<(), Error>,
    ) -> Result<ContextManager, Error> {
        let load = |files: Files<'_>| {
            let mut metadata = Metadata::new(self.dir.new_id(), self.dir.now());
            metadata.revision = match loaded::exists(files)? {
                true if on_existing == OnExisting::Fail => return Err(Error::Exists { name: name.clone() }),
                // Continue the revisions: a stale writer of the old context must not match a
                // revision of the new one.
                true => loaded::metadata(files)?.0.revision,
                false => Revision::default(),
            };
            let layout = Layout::Lines { end: 0, tail: Tail::Complete };
            let (state, global) = (Json::empty(), Json::empty());
            Ok(Loaded { metadata, metadata_file: Vec::new(), state, global, layout })
        };
        let write = Write { dir: &self.dir, name, folder: &folder, action, expected: None };
        // Unfinished publishing does not matter: the next open completes it.
        let (loaded, saved) = write.commit(load, |edit| {
            edit.remove_legacy_messages()?;
            fill(edit).map(|()| Vec::new())
        })?;
        Ok(ContextManager::created(&self.dir, name, loaded, folder, saved.preserved_at))
    }

    /// Removes the folder of a failed create. A folder that stays is not a context.
    fn remove_failed_create(&self, name: &Name) {
        let remove = || -> Result<(), Error> {
            let root = self.dir.prepare()?;
            let guards = self.dir.lock("make", &[name])?;
            let is_empty = self.dir.has_folder(name)? && !self.dir.read_locked(name, loaded::exists)?;
            if is_empty {
                check_locks("make", name, &guards)?;
                self.dir.move_to_trash(&*root, name)?;
            }
            Ok(())
        };
        let _ = remove();
    }
}

/// Treatment of an existing context of the same name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnExisting {
    /// Fail with [`Error::Exists`].
    Fail,
    /// Replace it in one commit.
    Replace,
}

fn check_locks(action: &'static str, name: &Name, guards: &[filetx::Guard]) -> Result<(), Error> {
    let held = guards.iter().try_for_each(filetx::Guard::check);
    held.map_err(|source| Error::files(action, name, source))
}
