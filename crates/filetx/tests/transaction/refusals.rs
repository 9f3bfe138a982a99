//! Refused calls: the error, the path it names, and nothing staged.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::{fs, io};

use filetx::{
    Disk, Error, ErrorKind, OpenMode, PathState, RelPath, RenameMode, Stat, Storage, StorageResolver,
    StoredFile, TreeOptions, Trees,
};
use rustix::process::geteuid;

use super::place::{Place, Policy, Tx, on_both, refused, refused_folder, refused_tree};
use super::support::make_fifo;

#[test]
fn paths_that_are_not_below_the_root() {
    for path in ["", "/", "/etc/x", "..", "../x", "a/../../x", "./a", "a//b", "a/", "a/.", "a\0b"] {
        refused(&["a/"], |tx| tx.put(path, b"x"), "BadPath", "is not a path below a root");
        refused(&["a/"], |tx| tx.remove(path), "BadPath", "is not a path below a root");
        refused_folder(&["a/", "f=x"], |tx| tx.rename("f", path), "BadPath", "is not a path below a root");
        refused_folder(&["a/", "f=x"], |tx| tx.rename(path, "g"), "BadPath", "is not a path below a root");
    }
    refused(&[], |tx| tx.put("n".repeat(256).as_str(), b"x"), "BadPath", "longer than 255 bytes");
    refused(&[], |tx| tx.path_state("../x").map(|_| ()), "BadPath", "../x");
}

#[test]
fn the_root_itself() {
    let root = RelPath::root;
    refused(&["f=x"], |tx| tx.put(&root(), b"x"), "BadPath", "root");
    refused_folder(&["f=x"], |tx| tx.append(&root(), b"x"), "BadPath", "root");
    refused(&["f=x"], |tx| tx.remove(&root()), "BadPath", "root");
    refused_tree(&["f=x"], |tx| tx.set_mode(&root(), 0o700), "BadPath", "root");
    refused_tree(&["f=x"], |tx| tx.remove_folder(&root()), "BadPath", "root");
    refused_folder(&["f=x"], |tx| tx.rename(&root(), &RelPath::new("d").unwrap()), "BadPath", "root");
    refused_folder(&["f=x"], |tx| tx.rename(&RelPath::new("f").unwrap(), &root()), "BadPath", "root");
}

#[test]
fn the_transaction_folder() {
    refused(
        &[],
        |tx| tx.put(".txn/x", b"x"),
        "ReservedPath",
        "root/.txn/x` is inside the transaction folder",
    );
    refused(&[], |tx| tx.put(".txn", b"x"), "ReservedPath", "root/.txn");
    refused(&[], |tx| tx.remove(".txn/.gitignore"), "ReservedPath", "root/.txn/.gitignore");
    refused_folder(&["f=x"], |tx| tx.rename("f", ".txn/f"), "ReservedPath", "root/.txn/f");
    refused_tree(&[], |tx| tx.set_mode(".txn", 0o777), "ReservedPath", "root/.txn");
    refused_tree(&[], |tx| tx.remove_folder(".txn/stage"), "ReservedPath", "root/.txn/stage");
    refused_tree(&[], |tx| tx.symlink(".txn/l", "x".as_ref()), "ReservedPath", "root/.txn/l");
    refused_folder(&[], |tx| tx.rename(".txn", "mine"), "ReservedPath", "root/.txn");
}

#[test]
fn missing_paths() {
    refused(&[], |tx| tx.remove("f"), "NotFound", "root/f` does not exist");
    refused_tree(&[], |tx| tx.remove("no/such/f"), "NotFound", "root/no/such/f` does not exist");
    refused_folder(&[], |tx| tx.truncate("f", 0), "NotFound", "root/f");
    refused_folder(&[], |tx| tx.rename("f", "g"), "NotFound", "root/f");
    refused_tree(&[], |tx| tx.set_mode("no/f", 0o600), "NotFound", "root/no/f");
    refused_tree(&[], |tx| tx.remove_folder("no/d"), "NotFound", "root/no/d");
}

#[test]
fn folders_that_are_not_empty() {
    refused_tree(&["d/", "d/f=x"], |tx| tx.remove_folder("d"), "NotEmpty", "folder `");
    let place = Place::new(Policy::UserTree);
    place.make(&["d/"]);
    place.aborted(|tx| {
        tx.put("d/new", b"x").unwrap();
        place.assert_error(&tx.remove_folder("d").unwrap_err(), "NotEmpty", "root/d");
    });
}

/// The journal of an own folder names only files.
#[test]
fn folders_in_an_own_folder() {
    for path in ["d/f", "new/f", "f/below", "out/f"] {
        let start = ["f=x", "d/", "d/f=x", "out->../outside"];
        let reason = "an own folder has no subfolders";
        refused_folder(&start, |tx| tx.put(path, b"x"), "BadPath", reason);
        refused_folder(&start, |tx| tx.append(path, b"x"), "BadPath", reason);
        refused_folder(&start, |tx| tx.truncate(path, 0), "BadPath", reason);
        refused_folder(&start, |tx| tx.remove(path), "BadPath", reason);
        refused_folder(&start, |tx| tx.rename(path, "g"), "BadPath", reason);
        refused_folder(&start, |tx| tx.rename("f", path), "BadPath", reason);
    }
}

#[test]
fn wrong_kinds_of_files() {
    let start = ["f=x", "d/", "l->f"];
    refused(&start, |tx| tx.put("d", b"x"), "WrongFileKind", "root/d` is a folder, not a file");
    let read = |tx: &mut Tx<'_, '_>| tx.tree().put_reader_with_mode("d", 0o644, &mut &b"x"[..]);
    refused_tree(&start, read, "WrongFileKind", "root/d");
    refused_folder(&start, |tx| tx.append("d", b"x"), "WrongFileKind", "root/d");
    refused_folder(&start, |tx| tx.append("l", b"x"), "WrongFileKind", "root/l` is a symlink, not a file");
    refused_folder(&start, |tx| tx.truncate("l", 0), "WrongFileKind", "root/l");
    refused_folder(&start, |tx| tx.truncate("d", 0), "WrongFileKind", "root/d");
    refused(&start, |tx| tx.remove("d"), "WrongFileKind", "root/d` is a folder, not a file or symlink");
    refused_tree(&start, |tx| tx.remove_folder("f"), "WrongFileKind", "root/f` is a file, not a folder");
    refused_tree(&start, |tx| tx.remove_folder("l"), "WrongFileKind", "root/l");
    refused_tree(&start, |tx| tx.set_mode("l", 0o600), "WrongFileKind", "root/l");
    refused_tree(&start, |tx| tx.symlink("d", "x".as_ref()), "WrongFileKind", "root/d");
    refused_folder(&start, |tx| tx.rename("f", "d"), "WrongFileKind", "root/d");
    refused_folder(&start, |tx| tx.rename("l", "g"), "WrongFileKind", "root/l` is a symlink, not a file");
    refused_folder(&start, |tx| tx.rename("d", "g"), "WrongFileKind", "root/d");
    refused_tree(&start, |tx| tx.put("f/below", b"x"), "WrongFileKind", "root/f` is a file, not a folder");
    refused(&start, |tx| tx.read("d").map(|_| ()), "WrongFileKind", "root/d");
    refused(&start, |tx| tx.read("l").map(|_| ()), "WrongFileKind", "root/l");
}

#[test]
fn a_path_below_a_staged_file() {
    let place = Place::new(Policy::UserTree);
    place.make(&["d/", "d/f=old"]);
    place.aborted(|tx| {
        tx.remove("d/f").unwrap();
        tx.remove_folder("d").unwrap();
        tx.put("d", b"a file now").unwrap();
        let error = tx.put("d/f", b"cannot be").unwrap_err();
        place.assert_error(&error, "WrongFileKind", "root/d` is a file, not a folder");
    });
}

#[test]
fn truncating_beyond_the_end() {
    refused_folder(&["f=1234"], |tx| tx.truncate("f", 5), "LimitExceeded", "limit of 4");
}

/// A FIFO is never opened: an open would block, or wake the program at its other end.
#[test]
fn fifos_are_refused_not_opened() {
    on_both(|place| {
        make_fifo(&place.root("p"));
        place.make(&["f=x"]);
        let start = place.lines();
        let refuse = |work: &dyn Fn(&mut Tx<'_, '_>) -> filetx::Result<()>, path: &str| {
            place.aborted(|tx| {
                place.assert_error(&work(tx).unwrap_err(), "WrongFileKind", path);
                assert_eq!(place.lines_of(tx), start);
            });
        };
        refuse(&|tx| tx.put("p", b"x"), "root/p` is a FIFO, socket or device, not a file");
        refuse(&|tx| tx.remove("p"), "root/p");
        refuse(&|tx| tx.read("p").map(|_| ()), "root/p");
        if place.policy == Policy::OwnFolder {
            refuse(&|tx| tx.append("p", b"x"), "root/p");
            refuse(&|tx| tx.truncate("p", 0), "root/p");
            refuse(&|tx| tx.rename("p", "g"), "root/p");
            refuse(&|tx| tx.rename("f", "p"), "root/p");
        } else {
            refuse(&|tx| tx.set_mode("p", 0o600), "root/p");
            refuse(&|tx| tx.symlink("p", "x".as_ref()), "root/p");
            refuse(&|tx| tx.put("p/below", b"x"), "root/p");
            place.aborted(|tx| assert_eq!(tx.observe("p").unwrap().to_string(), "a FIFO, socket or device"));
        }
        assert_eq!(place.lines(), start);
    });
}

/// The system would refuse these targets after the commit point.
#[test]
fn invalid_symlink_targets() {
    let long = "t".repeat(4096);
    for target in ["", "a\0b", &long] {
        refused_tree(&["f=x"], |tx| tx.symlink("d/l", OsStr::new(target)), "BadPath", "root/d/l");
    }
}

#[test]
fn unknown_roots() {
    refused(&[], |tx| tx.put((1, "f"), b"x"), "BadPath", "root 1");
    refused(&[], |tx| tx.remove((7, "f")), "BadPath", "root 7");
    refused(&[], |tx| tx.read((1, "f")).map(|_| ()), "BadPath", "root 1");
    refused(&[], |tx| tx.open((1, "f")).map(|_| ()), "BadPath", "root 1");
    refused(&[], |tx| tx.list((1, "f")).map(|_| ()), "BadPath", "root 1");
    refused(&[], |tx| tx.path_state((1, "f")).map(|_| ()), "BadPath", "root 1");
    refused(&[], |tx| tx.stage(1).map(|_| ()), "BadPath", "root 1");
    refused_folder(&["f=x"], |tx| tx.rename("f", (1, "f")), "BadPath", "root 1");
}

#[test]
fn content_staged_in_another_root() {
    let place = Place::new(Policy::UserTree);
    fs::create_dir(place.outside("../second")).unwrap();
    let mut trees = Trees::open(
        &[&place.root(""), &place.outside("../second")],
        TreeOptions::default(),
        &testkit::journals::trust,
    )
    .unwrap();
    let mut tx = trees.begin();
    let mut staged = tx.stage(1).unwrap();
    staged.write_all(b"text").unwrap();
    let error = tx.put_staged((0, "f"), staged).unwrap_err();
    place.assert_error(&error, "BadPath", "it was staged in another root");
    drop(tx);
    assert_eq!(super::place::names(&place.root("../second/.txn/stage")).len(), 0);
}

/// The staged file is removed with its transaction, so a later commit would name missing content.
#[test]
fn content_staged_in_another_transaction() {
    on_both(|place| {
        place.make(&["f=old"]);
        let mut left = None;
        place.aborted(|tx| {
            let mut staged = tx.stage(0).unwrap();
            staged.write_all(b"text").unwrap();
            left = Some(staged);
        });
        place.aborted(|tx| {
            let error = tx.put_staged("f", left.take().unwrap()).unwrap_err();
            place.assert_error(&error, "BadPath", "it was staged in another transaction");
        });
        assert_eq!(place.lines(), ["f=old"]);
    });
}

struct BindMount<'a>(&'a Path);

impl<'a> BindMount<'a> {
    /// Returns `None` and reports a skip if mounting is not allowed.
    fn of(what: &Path, at: &'a Path, test: &str) -> Option<Self> {
        if !geteuid().is_root() {
            testkit::report::skipped(test, "only root may mount");
            return None;
        }
        let done = Command::new("mount").arg("--bind").args([what, at]).output().unwrap();
        if !done.status.success() {
            testkit::report::skipped(test, String::from_utf8_lossy(&done.stderr).trim_end());
            return None;
        }
        Some(Self(at))
    }
}

impl Drop for BindMount<'_> {
    fn drop(&mut self) {
        let done = Command::new("umount").arg("--lazy").arg(self.0).status().unwrap();
        assert!(done.success() || std::thread::panicking(), "the mount stays");
    }
}

/// A rename cannot reach another mount, which must be detected before the commit point.
#[test]
fn another_mount_below_a_tree() {
    let place = Place::new(Policy::UserTree);
    place.make(&["m/", "d/", "f=x", "g=x"]);
    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join("secret"), "secret").unwrap();
    let (folder, file) = (place.root("m"), place.root("g"));
    let Some(_mount) = BindMount::of(other.path(), &folder, "another_mount_below_a_tree") else { return };
    let Some(_file_mount) = BindMount::of(&place.outside("secret"), &file, "another_mount_below_a_tree")
    else {
        return;
    };
    let refuse = |work: &dyn Fn(&mut Tx<'_, '_>) -> filetx::Result<()>, path: &str| {
        place.aborted(|tx| {
            // Twice: a second attempt fails too.
            for _ in 0..2 {
                let error = work(tx).unwrap_err();
                assert!(matches!(error, Error::CrossMount { .. }), "{error:?}");
                place.assert_error(&error, "CrossMount", path);
            }
        });
    };
    refuse(&|tx| tx.put("m/new", b"x"), "root/m` is on another mount than its root");
    refuse(&|tx| tx.put("m/a/b/new", b"x"), "root/m");
    refuse(&|tx| tx.put("m/secret", b"x"), "root/m");
    refuse(&|tx| tx.remove("m/secret"), "root/m");
    refuse(&|tx| tx.put("g", b"x"), "root/g");
    refuse(&|tx| tx.remove("g"), "root/g");
    assert_eq!(fs::read(other.path().join("secret")).unwrap(), b"secret");
    fs::remove_file(other.path().join("secret")).unwrap();
    refuse(&|tx| tx.remove_folder("m"), "root/m");
    // Other paths work.
    place.change(|tx| tx.put("d/new", b"x"));
}

/// A disk on which another program creates the folder `d` directly after a transaction found it
/// missing.
#[derive(Debug)]
struct Racing {
    disk: Disk,
    folder: PathBuf,
}

impl Storage for Racing {
    fn open(&self, path: &RelPath, mode: OpenMode) -> io::Result<Box<dyn StoredFile>> {
        let result = self.disk.open(path, mode);
        if path.as_path() == Path::new("d") {
            fs::create_dir(&self.folder)?;
        }
        result
    }
    fn stat(&self, path: &RelPath) -> io::Result<Option<Stat>> {
        self.disk.stat(path)
    }
    fn list(&self, folder: &RelPath) -> io::Result<Vec<OsString>> {
        self.disk.list(folder)
    }
    fn read_link(&self, path: &RelPath) -> io::Result<OsString> {
        self.disk.read_link(path)
    }
    fn make_folder(&self, path: &RelPath, mode: u32) -> io::Result<()> {
        self.disk.make_folder(path, mode)
    }
    fn make_symlink(&self, target: &OsStr, path: &RelPath) -> io::Result<()> {
        self.disk.make_symlink(target, path)
    }
    fn link(&self, from: &RelPath, to: &RelPath) -> io::Result<()> {
        self.disk.link(from, to)
    }
    fn rename(&self, from: &RelPath, to: &RelPath, mode: RenameMode) -> io::Result<()> {
        self.disk.rename(from, to, mode)
    }
    fn remove_file(&self, path: &RelPath) -> io::Result<()> {
        self.disk.remove_file(path)
    }
    fn remove_folder(&self, path: &RelPath) -> io::Result<()> {
        self.disk.remove_folder(path)
    }
    fn set_mode(&self, path: &RelPath, mode: u32) -> io::Result<()> {
        self.disk.set_mode(path, mode)
    }
    fn copy_attributes(&self, from: &RelPath, to: &RelPath) -> io::Result<()> {
        self.disk.copy_attributes(from, to)
    }
    fn sync_folder(&self, folder: &RelPath) -> io::Result<()> {
        self.disk.sync_folder(folder)
    }
    fn check_writable(&self, folder: &RelPath) -> io::Result<()> {
        self.disk.check_writable(folder)
    }
    fn boot_id(&self) -> Option<u128> {
        self.disk.boot_id()
    }
}

#[test]
fn a_parent_folder_that_appears_during_staging_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let resolver: StorageResolver = Arc::new(|path: &Path| {
        Ok(Arc::new(Racing { disk: Disk::open(path)?, folder: path.join("d") }) as Arc<dyn Storage>)
    });
    let mut trees =
        Trees::on_storage(&[root.path()], resolver, TreeOptions::default(), &testkit::journals::trust)
            .unwrap();
    let mut tx = trees.begin();
    let error = tx.put("d/f", b"x").unwrap_err();
    assert!(matches!(&error, Error::Exists { path } if *path == root.path().join("d")), "{error:?}");
    assert_eq!((error.kind(), error.code()), (ErrorKind::Conflict, "exists"));
    assert!(error.to_string().ends_with("d` already exists"), "{error}");
    // The refused call staged nothing.
    assert_eq!(tx.path_state("d/f").unwrap(), PathState::Absent);
    assert!(tx.commit().unwrap().preserved.is_empty());
    assert_eq!(fs::read_dir(root.path().join("d")).unwrap().count(), 0);
}
