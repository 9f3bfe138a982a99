//! Removes a whole folder, whatever it contains.
//!
//! Promises: removes nothing outside the folder, even if symlinks or folders are swapped during the
//! call; works at any depth with two handles, by moving inner folders up to the outermost; enters
//! folders that lack permissions of their owner.

use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, renameat, unlinkat};
use rustix::io::Errno;

use super::copy::{FOLDER, names};
use super::{FileError, FileResult, TREE_ENTRIES_MAX};

pub(super) const REMOVE: &str = "remove";
/// Passes over a folder into which others put new files.
const ROUNDS_MAX: usize = 16;
/// Names that one call looks at: others may put in new files faster than they are removed.
const STEPS_MAX: u64 = 8 * TREE_ENTRIES_MAX as u64;

/// Removes a folder, if it exists, with its content. Fails on a symlink. Fails with
/// [`FileError::Cancelled`] once `cancel` is set, and after 32 million names; another call continues.
pub fn remove_tree(folder: &Path, cancel: &AtomicBool) -> FileResult<()> {
    remove_up_to(STEPS_MAX, folder, cancel).map(drop)
}

/// Removes a folder within a number of steps: one per name that is looked at. Returns their number.
fn remove_up_to(steps_max: u64, folder: &Path, cancel: &AtomicBool) -> FileResult<u64> {
    let mut removal = Removal { folder, cancel, steps: 0, steps_max, moved: 0 };
    let top = match open(CWD, folder.as_os_str()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        top => removal.at(top)?,
    };
    for _ in 0..ROUNDS_MAX {
        removal.empty(&top)?;
        match unlinkat(CWD, folder, AtFlags::REMOVEDIR) {
            Err(Errno::NOTEMPTY) => {}
            removed => return removal.at(removed.map_err(io::Error::from)).map(|()| removal.steps),
        }
    }
    removal.at(Err(Errno::NOTEMPTY.into()))
}

/// The removal of one folder.
struct Removal<'a> {
    folder: &'a Path,
    cancel: &'a AtomicBool,
    steps: u64,
    steps_max: u64,
    /// Number of folders that were moved up.
    moved: u64,
}

impl Removal<'_> {
    /// Empties the outermost folder. Of each folder in it, removes the files, moves the folders up to the
    /// outermost, and removes the folder.
    fn empty(&mut self, top: &File) -> FileResult<()> {
        loop {
            let found = self.at(names(top))?;
            if found.is_empty() {
                return Ok(());
            }
            for name in found {
                self.step()?;
                if self.at(remove_file(top, &name))? {
                    continue;
                }
                let folder = self.at(open(top, &name))?;
                for inner in self.at(names(&folder))? {
                    self.step()?;
                    if !self.at(remove_file(&folder, &inner))? {
                        let moved = move_up(top, &folder, &inner, &mut self.moved);
                        self.at(moved)?;
                    }
                }
                // The next pass sees files that others put into it.
                match unlinkat(top, &name, AtFlags::REMOVEDIR) {
                    Ok(()) | Err(Errno::NOTEMPTY) => {}
                    Err(error) => return self.at(Err(error.into())),
                }
            }
        }
    }

    /// Counts a step. Fails if it is cancelled, or one too many.
    fn step(&mut self) -> FileResult<()> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(FileError::Cancelled { action: REMOVE, path: self.folder.to_owned() });
        }
        if self.steps == self.steps_max {
            return Err(FileError::TooLarge { what: "the number of removed files", limit: self.steps_max });
        }
        self.steps += 1;
        Ok(())
    }

    fn at<T>(&self, result: io::Result<T>) -> FileResult<T> {
        result.map_err(|error| FileError::io(REMOVE, self.folder, error))
    }
}

/// Removes a file or symlink. Returns false for a folder.
fn remove_file(folder: &File, name: &OsStr) -> io::Result<bool> {
    match unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        // Linux returns the first, other systems the second.
        Err(Errno::ISDIR | Errno::PERM) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Moves a folder up to the outermost one, to a free name.
fn move_up(top: &File, folder: &File, name: &OsStr, moved: &mut u64) -> io::Result<()> {
    // Moving a folder needs write permission on it: `open` grants that.
    drop(open(folder, name)?);
    loop {
        *moved += 1;
        // A rename of a folder replaces an empty folder only.
        match renameat(folder, name, top, format!(".removed-{moved}")) {
            Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => {}
            renamed => return Ok(renamed?),
        }
    }
}

/// Opens a folder, and grants its owner all permissions through a handle that needs none.
fn open(parent: impl AsFd, name: &OsStr) -> io::Result<File> {
    let pin = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let pinned = File::from(openat(parent, name, pin, Mode::empty())?);
    if pinned.metadata()?.permissions().mode() & 0o700 != 0o700 {
        // The path in `/proc` leads to the opened folder, whatever its name leads to now.
        let by_handle = format!("/proc/self/fd/{}", pinned.as_raw_fd());
        std::fs::set_permissions(by_handle, Permissions::from_mode(0o700))?;
    }
    Ok(openat(&pinned, ".", FOLDER, Mode::empty())?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    static NEVER: AtomicBool = AtomicBool::new(false);

    /// A chain of folders, made from the inside out, as no path can name it.
    fn chain(folder: &Path, depth: usize) {
        let inner = folder.join("inner");
        std::fs::create_dir(&inner).unwrap();
        for _ in 1..depth {
            let outer = folder.join("outer");
            std::fs::create_dir(&outer).unwrap();
            std::fs::rename(&inner, outer.join("inner")).unwrap();
            std::fs::rename(&outer, &inner).unwrap();
        }
    }

    #[test]
    fn the_work_of_a_removal_is_proportional_to_the_number_of_files() {
        for depth in [200, 800] {
            let folder = tempfile::tempdir().unwrap();
            let top = folder.path().join("top");
            std::fs::create_dir(&top).unwrap();
            chain(&top, depth);
            (0..depth).for_each(|number| std::fs::write(top.join(number.to_string()), "").unwrap());
            let steps = remove_up_to(u64::MAX, &top, &NEVER).unwrap();
            assert!(steps <= 3 * depth as u64, "{steps} steps for {depth} folders and as many files");
            assert!(!top.exists());
        }
    }

    #[test]
    fn a_removal_has_a_limit_and_another_call_continues() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().join("top");
        std::fs::create_dir(&top).unwrap();
        (0..10).for_each(|number| std::fs::write(top.join(number.to_string()), "").unwrap());
        for _ in 0..2 {
            let error = remove_up_to(4, &top, &NEVER).unwrap_err();
            assert_eq!(error.to_string(), "the number of removed files would exceed the limit of 4");
        }
        assert_eq!(remove_up_to(4, &top, &NEVER).unwrap(), 2);
        assert!(!top.exists());
    }
}
