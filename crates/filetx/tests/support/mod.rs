//! Helpers of the disk tests.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, thread};

use filetx::{Disk, RelPath};
use rustix::fs::{CWD, Mode, mkfifoat};
use rustix::process::geteuid;
use rustix::thread::{Gid, Uid, set_thread_groups, set_thread_res_gid, set_thread_res_uid};
use tempfile::TempDir;

/// The user and group `nobody`.
pub(crate) const NOBODY: u32 = 65534;

/// A root folder `root`, and a folder `outside` that must not change.
pub(crate) struct Playground {
    folder: TempDir,
    pub(crate) disk: Disk,
}

impl Playground {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        fs::create_dir(folder.path().join("outside")).unwrap();
        fs::write(folder.path().join("outside/secret"), "secret").unwrap();
        let disk = Disk::open(&folder.path().join("root")).unwrap();
        Self { folder, disk }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn root(&self, path: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join("root").join(path)
    }

    pub(crate) fn outside(&self, path: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join("outside").join(path)
    }

    /// Checks that `outside` is unchanged.
    pub(crate) fn assert_outside_untouched(&self) {
        assert_eq!(names(&self.outside("")), ["secret"]);
        assert_eq!(fs::read(self.outside("secret")).unwrap(), b"secret");
    }
}

pub(crate) fn rel(path: impl AsRef<Path>) -> RelPath {
    RelPath::new(path).unwrap()
}

/// The names in a folder, in order.
pub(crate) fn names(folder: &Path) -> Vec<OsString> {
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

pub(crate) fn make_fifo(path: &Path) {
    mkfifoat(CWD, path, Mode::from_raw_mode(0o600)).unwrap();
}

/// Runs `work` without root privileges, in a thread that drops them.
pub(crate) fn as_ordinary_user<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            if geteuid().is_root() {
                let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
                set_thread_groups(&[]).unwrap();
                set_thread_res_gid(group, group, group).unwrap();
                set_thread_res_uid(user, user, user).unwrap();
            }
            work()
        });
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
