//! All contexts of a folder: making, listing, moving and removing them.

use std::io;
use std::path::Path;
use std::sync::Arc;

use filetx::{Finder, OwnFolder, RelPath, Rename};

use crate::dir::{Ground, Options};
use crate::edit::{Edit, Write, check_revision};
use crate::files::Files;
use crate::files::lines::Tail;
use crate::files::loaded::{self, Layout, Loaded};
use crate::{ContextManager, Draft, Error, Json, MessageId, Metadata, Name, Revision, Saved};

/// How often making a context starts again because its folder was taken away meanwhile.
const MAKES_MAX: usize = 8;

/// The contexts below one folder. Cheap to clone; thread and process safe: every call takes the locks it needs, and those of
/// the contexts that it is about only.
#[derive(Clone)]
pub struct Contexts {
    pub(crate) ground: Arc<Ground>,
}

/// A context in a list.
#[derive(Debug)]
pub struct Listed {
    /// Its name.
    pub name: Name,
    /// What is known about it, or why it cannot be read.
    pub metadata: Result<Metadata, Error>,
}

/// A context that is gone.
#[derive(Debug)]
#[must_use = "what was removed may not be deleted yet"]
pub struct Removed {
    /// Why its files could not be deleted, if so. They are out of sight, and whoever removes something next tries again.
    pub undeleted: Option<io::Error>,
}

impl Contexts {
    /// The contexts below `folder`. Nothing is touched, and the folder need not exist: it is made when the first context is.
    pub fn at(folder: &Path, options: Options) -> Contexts {
        Contexts { ground: Arc::new(Ground::new(folder, None, options)) }
    }

    /// The same on any storage, which `find` opens by the path of a folder. The caller sees to it that nobody else is there.
    pub fn on_storage(folder: &Path, find: Finder, options: Options) -> Contexts {
        Contexts { ground: Arc::new(Ground::new(folder, Some(find), options)) }
    }

    /// Where they are.
    pub fn folder(&self) -> &Path {
        &self.ground.folder
    }

    /// Makes an empty context.
    ///
    /// Of several threads or processes that make one name, one wins and the others get [`Error::Exists`]. When this returns the context survives
    /// a power cut; when it fails, or is killed, there is none, and the name is free.
    #[track_caller]
    pub fn create(&self, name: &Name) -> Result<ContextManager, Error> {
        self.establish("create", name, IfThere::Refuse, |edit| {
            edit.start_messages()?;
            edit.set_state(Json::empty())?;
            edit.set_global(Json::empty())
        })
    }

    /// Opens a context: metadata, state and global context as of one commit, and no messages.
    ///
    /// Safe beside writers in any thread or process. Writes nothing, so it works on a read-only or full disk, and also before
    /// what a killed process left was finished.
    #[track_caller]
    pub fn open(&self, name: &Name) -> Result<ContextManager, Error> {
        ContextManager::open(&self.ground, name)
    }

    /// Appends messages to a context in one commit, all or none: takes its lock once and reads it once. With `expected`, it is
    /// [`Error::Stale`] when somebody else wrote since that revision.
    ///
    /// Safety among threads and processes, and what a failure leaves: as [`ContextManager::save`].
    #[track_caller]
    pub fn append(&self, name: &Name, drafts: &[Draft], expected: Option<Revision>) -> Result<Saved, Error> {
        if drafts.is_empty() {
            let context = self.open(name)?;
            check_revision(name, expected, context.metadata().revision)?;
            return Ok(Saved::unchanged(name, context.metadata()));
        }
        self.change("save", name, expected, loaded::load, |edit| {
            edit.settle()?;
            edit.append(drafts)
        })
    }

    /// Does a change of a context that nobody here has open.
    #[track_caller]
    pub(crate) fn change(
        &self,
        doing: &'static str,
        name: &Name,
        expected: Option<Revision>,
        load: impl FnOnce(Files<'_>) -> Result<Loaded, Error>,
        work: impl FnOnce(&mut Edit<'_, '_>) -> Result<Vec<MessageId>, Error>,
    ) -> Result<Saved, Error> {
        let folder = self.ground.writer(doing, name)?;
        let write = Write { ground: &self.ground, name, folder: &folder, doing, expected };
        Ok(write.commit(load, work)?.1)
    }

    /// All contexts, sorted by name; those that cannot be read too. Writes nothing. Each is seen as of one commit, but not all as of the
    /// same moment.
    #[track_caller]
    pub fn list(&self) -> Result<Vec<Listed>, Error> {
        let read = |files: Files<'_>| {
            if !loaded::exists(files)? {
                return Err(Error::NotFound { name: files.name.clone() });
            }
            let (mut metadata, _) = loaded::metadata(files)?;
            loaded::layout(files, &mut metadata)?;
            Ok(metadata)
        };
        let names = self.ground.names()?.into_iter();
        let listed = names.map(|name| Listed { metadata: self.ground.read(&name, read), name });
        // What is gone by now, or never was more than a folder.
        Ok(listed.filter(|one| !matches!(one.metadata, Err(Error::NotFound { .. }))).collect())
    }

    /// Removes a context with all of its files.
    ///
    /// Who else has it open, in any thread or process, gets [`Error::NotFound`] from then on; a save that is under way is waited for.
    /// It is gone at once or not at all, and when this returns it stays gone after a power cut. A failure leaves it as it was, but for
    /// [`Error::Unsynced`]: gone, unless a power cut brings it back.
    #[track_caller]
    pub fn remove(&self, name: &Name, expected: Option<Revision>) -> Result<Removed, Error> {
        self.remove_when(name, |files| match expected {
            None => Ok(()),
            Some(_) => check_revision(name, expected, loaded::metadata(files)?.0.revision),
        })
    }

    /// Removes a context if `check` finds nothing against it, under its lock.
    #[track_caller]
    pub(crate) fn remove_when(
        &self,
        name: &Name,
        check: impl FnOnce(Files<'_>) -> Result<(), Error>,
    ) -> Result<Removed, Error> {
        self.check_there(name)?;
        let root = self.ground.prepare()?;
        let guards = self.ground.lock("remove", &[name])?;
        self.check_there(name)?;
        self.ground.read_locked(name, |files| match loaded::exists(files)? {
            true => check(files),
            false => Err(Error::NotFound { name: name.clone() }),
        })?;
        still_held("remove", name, &guards)?;
        Ok(Removed { undeleted: self.ground.discard(&*root, name)? })
    }

    /// Gives a context another name.
    ///
    /// Both names are locked meanwhile, so saves under way are waited for. It has the old name or the new one at any time, and when this
    /// returns it keeps the new one after a power cut. Who else has it open gets [`Error::NotFound`] from then on. A failure leaves it as it
    /// was, but for [`Error::Unsynced`]: renamed, unless a power cut undoes that.
    #[track_caller]
    pub fn rename(&self, name: &Name, new: &Name, expected: Option<Revision>) -> Result<(), Error> {
        self.check_there(name)?;
        if name == new {
            return Err(Error::Exists { name: new.clone() });
        }
        let root = self.ground.prepare()?;
        let guards = self.ground.lock("rename", &[name, new])?;
        self.check_there(name)?;
        self.ground.read_locked(name, |files| match loaded::exists(files)? {
            true => check_revision(name, expected, loaded::metadata(files)?.0.revision),
            false => Err(Error::NotFound { name: name.clone() }),
        })?;
        if self.ground.has_folder(new)? {
            let is_taken = self.ground.read_locked(new, loaded::exists)?;
            if is_taken {
                return Err(Error::Exists { name: new.clone() });
            }
            self.ground.discard(&*root, new)?;
        }
        still_held("rename", name, &guards)?;
        let [from, to] = [name, new].map(|name| RelPath::root().join(name.as_str()));
        root.rename(&from, &to, Rename::Replace)
            .map_err(|source| self.ground.failed("rename", &self.ground.folder_of(name), source))?;
        let synced = root.sync_folder(&RelPath::root());
        synced.map_err(|source| Error::Unsynced { name: new.clone(), source })
    }

    fn check_there(&self, name: &Name) -> Result<(), Error> {
        if self.ground.has_folder(name)? { Ok(()) } else { Err(Error::NotFound { name: name.clone() }) }
    }

    /// Makes a context, or replaces one, in one commit of its folder.
    #[track_caller]
    pub(crate) fn establish(
        &self,
        doing: &'static str,
        name: &Name,
        if_there: IfThere,
        fill: impl FnOnce(&mut Edit<'_, '_>) -> Result<(), Error>,
    ) -> Result<ContextManager, Error> {
        let root = self.ground.prepare()?;
        let mut fill = Some(fill);
        for _ in 0..MAKES_MAX {
            let is_new = self.ground.make_folder(&*root, name.as_str())?;
            let recovered = |folder: OwnFolder| folder.begin().map(drop).map(|()| folder.clone());
            let folder = match self.ground.own_folder(name).and_then(recovered) {
                // Whoever made it and failed has just taken it away again.
                Err(filetx::Error::FolderGone { .. }) => continue,
                Err(filetx::Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => continue,
                folder => folder,
            };
            let fill = fill.take().expect("it is used once");
            let made = folder
                .map_err(|source| Error::files(doing, name, source))
                .and_then(|folder| self.fill(doing, name, if_there, folder, fill));
            if is_new && made.is_err() {
                self.sweep(name);
            }
            return made;
        }
        let source = io::Error::other("it is taken away again and again");
        Err(self.ground.failed("make", &self.ground.folder_of(name), source))
    }

    fn fill(
        &self,
        doing: &'static str,
        name: &Name,
        if_there: IfThere,
        folder: OwnFolder,
        fill: impl FnOnce(&mut Edit<'_, '_>) -> Result<(), Error>,
    ) -> Result<ContextManager, Error> {
        let load = |files: Files<'_>| {
            let mut metadata = Metadata::new(self.ground.fresh_id(), self.ground.now());
            metadata.revision = match loaded::exists(files)? {
                true if if_there == IfThere::Refuse => return Err(Error::Exists { name: name.clone() }),
                // Its revision counts on: who holds one of the old context must not find it again in the new one.
                true => loaded::metadata(files)?.0.revision,
                false => Revision::default(),
            };
            let layout = Layout::Lines { end: 0, tail: Tail::Nothing };
            let (state, global) = (Json::empty(), Json::empty());
            Ok(Loaded { metadata, metadata_file: Vec::new(), state, global, layout })
        };
        let write = Write { ground: &self.ground, name, folder: &folder, doing, expected: None };
        // That publishing is unfinished makes no difference to who opens it next.
        let (loaded, saved) = write.commit(load, |edit| {
            edit.remove_old_layout()?;
            fill(edit).map(|()| Vec::new())
        })?;
        Ok(ContextManager::made(&self.ground, name, loaded, folder, saved.aside))
    }

    /// Takes away the folder of a context that did not come to be. What cannot be taken away is no context either.
    fn sweep(&self, name: &Name) {
        let sweep = || -> Result<(), Error> {
            let root = self.ground.prepare()?;
            let guards = self.ground.lock("make", &[name])?;
            let is_empty = self.ground.has_folder(name)? && !self.ground.read_locked(name, loaded::exists)?;
            if is_empty {
                still_held("make", name, &guards)?;
                self.ground.discard(&*root, name)?;
            }
            Ok(())
        };
        let _ = sweep();
    }
}

/// What to do when there is a context of that name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IfThere {
    /// Fail with [`Error::Exists`].
    Refuse,
    /// Put the new one in its place, in one commit.
    Replace,
}

fn still_held(doing: &'static str, name: &Name, guards: &[filetx::Guard]) -> Result<(), Error> {
    let held = guards.iter().try_for_each(filetx::Guard::check);
    held.map_err(|source| Error::files(doing, name, source))
}
