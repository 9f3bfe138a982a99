//! Readers: a set of files as of one commit, without writing anything.
//!
//! A reader takes the lock shared, so nobody is in the middle of a commit; and when a process died in the middle, it reads the
//! journal and sees the files as recovery will leave them. Full and read-only disks can be read.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::disk::Storage;
use crate::journal::pointer;
use crate::lock::{Guard, Lock, Mode, Wait, acquire_all};
use crate::own::state;
use crate::path::{At, ToAt};
use crate::root::Root;
use crate::tree::{Finder, LOCK, done_name, locks_above, read_record, touched};
use crate::tx::change::{Look, Seen};
use crate::tx::view::{Body, Overlay, View};
use crate::{Disk, Error, RelPath, Result, Step};

/// Files as of one commit. Writers of the same root wait as long as this lives.
#[must_use = "the files are locked as long as this lives"]
pub struct Snapshot {
    roots: Vec<Root>,
    overlay: Overlay,
    none: Overlay,
    _guards: Vec<Guard>,
}

impl Snapshot {
    /// Reads an [`OwnFolder`](crate::OwnFolder) with its lock file.
    #[track_caller]
    pub fn of_folder(folder: &Path, lock: &Path, wait: &Wait) -> Result<Self> {
        let lock = Lock::open_existing(lock)?.map(|lock| (lock, Mode::Shared));
        let guards = lock_shared(lock.as_slice(), wait)?;
        Self::start_folder(disk(folder)?, folder, guards)
    }

    /// Reads an own folder on any storage. The caller sees to it that nobody writes.
    pub fn of_folder_on_storage(storage: Arc<dyn Storage>, label: &Path) -> Result<Self> {
        Self::start_folder(storage, label, Vec::new())
    }

    fn start_folder(storage: Arc<dyn Storage>, label: &Path, guards: Vec<Guard>) -> Result<Self> {
        let home = RelPath::new(crate::FOLDER_HOME).expect("a plain name");
        let root = Root { storage, label: label.to_owned(), home };
        let overlay = state::pending(&root)?;
        Ok(Self { roots: vec![root], overlay, none: Overlay::default(), _guards: guards })
    }

    /// Reads one root of [`Trees`](crate::Trees) whose transaction folder is `home`.
    #[track_caller]
    pub fn of_tree(path: &Path, home: &RelPath, wait: &Wait) -> Result<Self> {
        let path = path.canonicalize().map_err(Error::io(Step::Inspect, path))?;
        let mut locks = locks_above(&path, home)?;
        let own = Lock::open_existing(&path.join(home.as_path()).join(LOCK))?;
        locks.extend(own.map(|lock| (lock, Mode::Shared)));
        let guards = lock_shared(&locks, wait)?;
        Self::start_tree(&path, home, &|path| Disk::open(path).map(|disk| Arc::new(disk) as _), guards)
    }

    /// Reads a root on any storage. The caller sees to it that nobody writes.
    pub fn of_tree_on_storage(path: &Path, home: &RelPath, find: &Finder) -> Result<Self> {
        Self::start_tree(path, home, &**find, Vec::new())
    }

    fn start_tree(
        path: &Path,
        home: &RelPath,
        find: &dyn Fn(&Path) -> io::Result<Arc<dyn Storage>>,
        guards: Vec<Guard>,
    ) -> Result<Self> {
        let open = |path: &Path| -> Result<Root> {
            let storage = find(path).map_err(Error::io(Step::Inspect, path))?;
            Ok(Root { storage, label: path.to_owned(), home: home.clone() })
        };
        let root = open(path)?;
        let mut overlay = Overlay::default();
        let mut lay = |record: crate::journal::record::Record, index: usize| {
            for change in record.changes.into_iter().filter(|change| change.root == index) {
                overlay.lay(At { root: 0, path: change.path }, change.after);
            }
        };
        if let Some(record) = read_record(&root)? {
            let main = touched(&record).first().copied().unwrap_or(0);
            lay(record, main);
        } else if let Some(pointer) = pointer::read(&root)? {
            let record = read_record(&open(&pointer.main)?)?.filter(|record| record.id == pointer.id);
            if let Some(record) = record
                && let Some(index) = record.roots.iter().position(|listed| listed == path)
            {
                lay(record, index);
            }
        }
        Ok(Self { roots: vec![root], overlay, none: Overlay::default(), _guards: guards })
    }

    /// Whether a transaction was committed here whose owner has not said that it knows, finished or not.
    pub fn knows(&self, id: u128) -> Result<bool> {
        let root = &self.roots[0];
        Ok(read_record(root)?.is_some_and(|record| record.id == id)
            || pointer::read(root)?.is_some_and(|pointer| pointer.id == id)
            || root.stat(&root.in_home(done_name(id)))?.is_some())
    }

    /// What is at a path.
    pub fn look(&self, at: impl ToAt) -> Result<Look> {
        self.view().look(&self.checked(at)?)
    }

    /// What is at a path, with the hash of a file.
    pub fn see(&self, at: impl ToAt) -> Result<Seen> {
        self.view().see(&self.checked(at)?)
    }

    /// All the bytes of a file; `None` when nothing is there.
    pub fn read(&self, at: impl ToAt) -> Result<Option<Vec<u8>>> {
        self.view().read(&self.checked(at)?)
    }

    /// A file's content to be read in pieces; `None` when nothing is there.
    pub fn open(&self, at: impl ToAt) -> Result<Option<Body>> {
        self.view().open(&self.checked(at)?)
    }

    /// The names in a folder, sorted.
    pub fn list(&self, at: impl ToAt) -> Result<Vec<OsString>> {
        self.view().list(&self.checked(at)?)
    }

    fn view(&self) -> View<'_> {
        View { roots: &self.roots, overlays: [&self.none, &self.overlay] }
    }

    fn checked(&self, at: impl ToAt) -> Result<At> {
        let at = at.to_at()?;
        if at.root != 0 {
            return Err(Error::BadPath {
                path: at.path.as_path().to_owned(),
                reason: "a snapshot has one root",
            });
        }
        Ok(at)
    }
}

fn disk(folder: &Path) -> Result<Arc<dyn Storage>> {
    Ok(Arc::new(Disk::open(folder).map_err(Error::io(Step::Inspect, folder))?))
}

/// Locks what can be locked: where no lock file is, nobody has written yet.
#[track_caller]
fn lock_shared(locks: &[(Lock, Mode)], wait: &Wait) -> Result<Vec<Guard>> {
    let locks: Vec<_> = locks.iter().map(|(lock, mode)| (lock, *mode)).collect();
    acquire_all(&locks, wait)
}
