//! The roots of a plan: their paths, and the contents of the files below them.
//!
//! Reads go through a [`Snapshot`](filetx::Snapshot), so a path never leads out of its root, a FIFO is never opened,
//! and the changes of an interrupted apply are visible as if they were published.

pub(crate) mod glob;
pub(crate) mod host;
pub(crate) mod protect;

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use filetx::{ContentReader, PathState, RelPath, Wait};
use store::{ContentKind, PathBytes, PlanId, Store};

use crate::roots::protect::protected_folder;
use crate::{ContentInput, Error, Host, PathKey, Plan, Plans, Result};

/// The transaction folder below each root.
pub const TXN_DIR: &str = ".cleveragents/.txn";
/// The most folders above a recorded path.
pub const FOLDERS_MAX: usize = 128;
/// The permission bits of symlinks, as in git.
pub(crate) const SYMLINK_MODE: u32 = 0o777;

/// The transaction folder below each root, as a path for `filetx`.
pub fn txn_dir() -> RelPath {
    RelPath::new(TXN_DIR).expect("a plain path")
}

/// The path of a folder as stored in plans: absolute, without symlinks.
pub(crate) fn canonical(root: &Path) -> Result<PathBytes> {
    let refuse = |reason: String| Error::BadRoot { root: root.to_owned(), reason };
    let path = root.canonicalize().map_err(|error| refuse(error.to_string()))?;
    if !path.is_dir() {
        return Err(refuse("not a folder".to_owned()));
    }
    path_bytes(&path).map_err(|error| refuse(error.to_string()))
}

/// Converts a path of the system to a stored path.
pub fn path_bytes(path: &Path) -> Result<PathBytes> {
    Ok(PathBytes::parse(path.as_os_str().as_encoded_bytes())?)
}

/// Converts a stored path to a path of the system.
#[cfg(unix)]
pub fn system_path(path: &PathBytes) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(path.as_bytes()))
}

/// Converts a stored path to a path of the system.
#[cfg(not(unix))]
pub fn system_path(path: &PathBytes) -> PathBuf {
    PathBuf::from(path.show().into_owned())
}

/// Converts a path of a plan to a path of this machine.
pub(crate) fn system_key(key: &PathKey) -> PathBuf {
    system_path(&key.root).join(system_path(&key.path))
}

/// Checks a path below a root: it must not lead out of the root, nor into a protected folder.
pub fn checked_path(path: &PathBytes) -> Result<RelPath> {
    let refuse = |reason: String| Error::BadPath { path: path.show().into_owned(), reason };
    if let Some(folder) = protected_folder(path.as_bytes()) {
        return Err(refuse(format!("`{folder}` is protected")));
    }
    RelPath::new(system_path(path)).map_err(|error| refuse(error.to_string()))
}

/// Checks a path that an actor records: like [`checked_path`], and in no more folders than a sandbox can
/// have.
pub fn checked_new_path(path: &PathBytes) -> Result<RelPath> {
    let checked = checked_path(path)?;
    if checked.depth() > FOLDERS_MAX + 1 {
        let reason = format!("it is nested deeper than {FOLDERS_MAX} folders");
        return Err(Error::BadPath { path: path.show().into_owned(), reason });
    }
    Ok(checked)
}

/// The roots of one plan.
#[derive(Debug)]
pub(crate) struct Roots {
    plan: PlanId,
    paths: Vec<PathBytes>,
    /// Vouch for interrupted applies in the roots.
    plans: Plans,
    host: Host,
}

impl Roots {
    pub(crate) fn new(plans: &Plans, plan: &Plan) -> Self {
        let (plans, host) = (plans.clone(), Host::local(Wait::default()));
        Self { plan: plan.id, paths: plan.roots.clone(), plans, host }
    }

    pub(crate) fn paths(&self) -> &[PathBytes] {
        &self.paths
    }

    /// Returns the named root; the only root if `named` is `None`.
    pub(crate) fn choose(&self, named: Option<&PathBytes>) -> Result<&PathBytes> {
        let found = match (named, self.paths.as_slice()) {
            (None, [only]) => Some(only),
            (None, _) => None,
            (Some(named), paths) => paths.iter().find(|path| *path == named),
        };
        found.ok_or_else(|| Error::ForeignRoot {
            plan: self.plan,
            root: named.map_or_else(|| "(no root given)".to_owned(), |root| root.show().into_owned()),
            roots: self.paths.iter().map(|root| root.show().into_owned()).collect(),
        })
    }

    /// Reads the content of a path, of up to `bytes_max`. A content of more than one chunk is
    /// streamed into the store.
    pub(crate) fn read(
        &self,
        store: &dyn Store,
        key: &PathKey,
        bytes_max: u64,
    ) -> Result<Option<ContentInput>> {
        let path = &key.path;
        let relative = checked_path(path)?;
        let folder = system_path(&key.root);
        let failed = |source: filetx::Error| Error::Root {
            root: folder.clone(),
            path: path.show().into_owned(),
            source: Box::new(source),
        };
        let wrong = |found| Err(Error::WrongKind { path: path.show().into_owned(), found });
        let snapshot = self.host.snapshot(&self.plans, &key.root).map_err(failed)?;
        for above in ancestors(&relative) {
            if let PathState::Symlink { .. } = snapshot.path_state(above.as_path()).map_err(failed)? {
                let reason = format!("`{above}` is a symlink");
                return Err(Error::BadPath { path: path.show().into_owned(), reason });
            }
        }
        let at = relative.as_path();
        match snapshot.path_state(at).map_err(failed)? {
            PathState::Absent => Ok(None),
            PathState::Folder { .. } => wrong("a folder"),
            PathState::Symlink { target } => {
                ContentInput::pack(ContentKind::Symlink, SYMLINK_MODE, target.as_encoded_bytes()).map(Some)
            }
            PathState::File { mode, .. } => {
                let body = snapshot.open(at).map_err(failed)?;
                if let Some(bytes) = body.as_ref().map(ContentReader::len).filter(|bytes| *bytes > bytes_max)
                {
                    return Err(Error::ContentTooLarge { bytes, limit: bytes_max });
                }
                let mut reader = body.map(|body| BodyReader { body, offset: 0 });
                reader.as_mut().map(|reader| ContentInput::from_reader(store, mode, reader)).transpose()
            }
            _ => wrong("a FIFO, socket or device"),
        }
    }
}

/// The folders above a path, without the root.
pub(crate) fn ancestors(path: &RelPath) -> impl Iterator<Item = RelPath> {
    std::iter::successors(path.parent(), RelPath::parent).filter(|folder| !folder.is_root())
}

/// Reads the content of a file from start to end.
struct BodyReader {
    body: ContentReader,
    offset: u64,
}

impl Read for BodyReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.body.read_range(self.offset, buffer.len() as u64).map_err(io::Error::other)?;
        buffer[..bytes.len()].copy_from_slice(&bytes);
        self.offset += bytes.len() as u64;
        Ok(bytes.len())
    }
}
