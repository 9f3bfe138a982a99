//! Path of a lock file: a full path, or one below an open folder, where no symlink is followed.
//!
//! On Windows, a path below an open folder is opened by its full path.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::platform::{self, Access};
use crate::disk::Storage;
use crate::{Disk, FileId, FileKind, RelPath};

/// Path of a lock file. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct LockPath {
    /// Absolute, so that a change of the current folder does not affect it.
    path: Arc<Path>,
    /// The open folder, and the path below it.
    below: Option<(Arc<Disk>, RelPath)>,
}

impl LockPath {
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        Ok(Self { path: std::path::absolute(path)?.into(), below: None })
    }

    /// A path below the folder `root`, which is open as `disk`.
    pub(crate) fn below(disk: Arc<Disk>, root: &Path, path: &RelPath) -> Self {
        Self { path: root.join(path.as_path()).into(), below: Some((disk, path.clone())) }
    }

    /// Full path, for messages.
    pub(crate) fn full(&self) -> &Path {
        &self.path
    }

    pub(crate) fn open(&self, access: Access) -> io::Result<File> {
        match &self.below {
            #[cfg(unix)]
            Some((disk, path)) => {
                platform::open_with(access, |flags, mode| disk.open_with(path, flags, mode))
            }
            _ => platform::open(&self.path, access),
        }
    }

    /// Identity of the file; `None` if there is none.
    pub(crate) fn id(&self) -> io::Result<Option<FileId>> {
        match &self.below {
            #[cfg(unix)]
            Some((disk, path)) => match disk.stat(path) {
                Err(error) if platform::is_through_symlink(&error) => Ok(None),
                found => Ok(found?.map(|stat| stat.id)),
            },
            _ => platform::id_at(&self.path),
        }
    }

    /// Kind of the file, as far as it can be read.
    pub(crate) fn kind(&self) -> Option<FileKind> {
        match &self.below {
            Some((disk, path)) => Some(disk.stat(path).ok()??.kind),
            None => Some(kind_of(std::fs::symlink_metadata(&self.path).ok()?.file_type())),
        }
    }
}

pub(crate) fn kind_of(found: std::fs::FileType) -> FileKind {
    match found {
        found if found.is_file() => FileKind::File,
        found if found.is_dir() => FileKind::Folder,
        found if found.is_symlink() => FileKind::Symlink,
        _ => FileKind::Other,
    }
}
