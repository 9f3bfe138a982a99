//! Paths that this process cannot replace, remove or give another mode. The commit is refused before
//! the commit point, with the path and the reason, and nothing is changed.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};

use filetx::{Error, ErrorKind, FailureOutcome, Result};
use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};
use rustix::process::geteuid;

use super::place::{Place, Policy, Tx, names};
use super::support::{NOBODY, as_ordinary_user};

type Work<'a> = &'a (dyn Fn(&mut Tx<'_, '_>) -> Result<()> + Sync);

/// Checks that the commit of `work`, beside a change that is allowed, changes nothing.
fn refused(place: &Place, work: Work<'_>, path: &str, reason: &str) {
    let before = place.lines();
    let committed = place.try_change(|tx| {
        tx.put("a-allowed", b"x")?;
        work(tx)?;
        tx.put("z-allowed", b"x")
    });
    let failure = committed.expect_err("it was not refused");
    assert_eq!(failure.outcome, FailureOutcome::Aborted);
    let error = failure.error;
    assert!(
        matches!(&error, Error::CannotReplace { path: found, .. } if *found == place.root(path)),
        "{error:?}"
    );
    assert_eq!((error.kind(), error.code()), (ErrorKind::Error, "cannot-replace"));
    assert!(error.to_string().contains(reason), "`{reason}` expected in: {error}");
    assert_eq!(place.lines(), before);
    assert!(names(&place.root(".txn/stage")).is_empty());
    assert!(!place.root(".txn/journal").exists(), "the root stays free");
}

/// A root of an ordinary user with files and folders of root. `None` if the test cannot create
/// them.
fn with_files_of_root(test: &str, lines: &[&str]) -> Option<Place> {
    if !geteuid().is_root() {
        testkit::report::skipped(test, "only root can create files of two users");
        return None;
    }
    let place = Place::new(Policy::UserTree);
    place.make(lines);
    for folder in [place.root(".."), place.root("")] {
        chown(folder, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    Some(place)
}

#[test]
fn files_of_others_in_a_sticky_folder_are_refused_before_the_commit() {
    let start = ["sticky/:1777", "sticky/theirs=old", "sticky/link->x", "sticky/d/"];
    let Some(place) = with_files_of_root("obstacles::sticky", &start) else { return };
    let reason = "it belongs to user 0, in a sticky folder";
    as_ordinary_user(|| {
        refused(&place, &|tx| tx.put("sticky/theirs", b"new"), "sticky/theirs", reason);
        refused(&place, &|tx| tx.remove("sticky/theirs"), "sticky/theirs", reason);
        refused(&place, &|tx| tx.symlink("sticky/theirs", "x".as_ref()), "sticky/theirs", reason);
        refused(&place, &|tx| tx.put("sticky/link", b"new"), "sticky/link", reason);
        refused(&place, &|tx| tx.remove_folder("sticky/d"), "sticky/d", reason);
    });
    // In the same folder, the user's own files change.
    fs::write(place.root("sticky/mine"), "old").unwrap();
    chown(place.root("sticky/mine"), Some(NOBODY), None).unwrap();
    as_ordinary_user(|| {
        place.change(|tx| {
            tx.put("sticky/mine", b"new")?;
            tx.put("sticky/new", b"new")
        })
    });
    assert_eq!(fs::read(place.root("sticky/mine")).unwrap(), b"new");
    // The owner of a sticky folder replaces files of others in it.
    chown(place.root("sticky"), Some(NOBODY), None).unwrap();
    as_ordinary_user(|| place.change(|tx| tx.put("sticky/theirs", b"new")));
    assert_eq!(fs::read(place.root("sticky/theirs")).unwrap(), b"new");
}

#[test]
fn root_replaces_files_of_others_in_a_sticky_folder() {
    let Some(place) = with_files_of_root("obstacles::root", &["sticky/:1777", "sticky/theirs=old"]) else {
        return;
    };
    for path in ["sticky", "sticky/theirs"] {
        chown(place.root(path), Some(NOBODY), None).unwrap();
    }
    fs::set_permissions(place.root("sticky"), fs::Permissions::from_mode(0o1777)).unwrap();
    place.change(|tx| tx.put("sticky/theirs", b"new"));
}

#[test]
fn the_mode_of_a_file_of_another_user_is_refused_before_the_commit() {
    let start = ["theirs=old", "folder/:777"];
    let Some(place) = with_files_of_root("obstacles::mode", &start) else { return };
    as_ordinary_user(|| {
        refused(&place, &|tx| tx.set_mode("theirs", 0o600), "theirs", "it belongs to user 0");
        refused(&place, &|tx| tx.set_mode("folder", 0o700), "folder", "it belongs to user 0");
        // New content is a new file, which has any mode.
        place.change(|tx| {
            tx.put("theirs", b"new")?;
            tx.set_mode("theirs", 0o600)
        });
        place.change(|tx| tx.set_mode("theirs", 0o640));
    });
    assert_eq!(place.lines(), ["folder/:777", "theirs:640=new"]);
}

/// Sets an attribute of a file or folder until dropped.
struct Flagged {
    file: fs::File,
    before: IFlags,
}

impl Flagged {
    /// Returns `None` and reports a skip if the attribute cannot be set.
    fn set(place: &Place, path: &str, flag: IFlags) -> Option<Self> {
        let file = fs::File::open(place.root(path)).unwrap();
        // Other attributes stay: ext4 does not let a file lose its extents.
        let set = ioctl_getflags(&file).and_then(|before| {
            ioctl_setflags(&file, before | flag)?;
            Ok(before)
        });
        match set {
            Ok(before) => Some(Self { file, before }),
            Err(error) => {
                testkit::report::skipped("obstacles::attributes", &format!("cannot set {flag:?}: {error}"));
                None
            }
        }
    }
}

impl Drop for Flagged {
    fn drop(&mut self) {
        ioctl_setflags(&self.file, self.before).unwrap();
    }
}

#[test]
fn immutable_and_append_only_files_are_refused_before_the_commit() {
    for (flag, reason) in [(IFlags::IMMUTABLE, "it is immutable"), (IFlags::APPEND, "it is append-only")] {
        let place = Place::new(Policy::UserTree);
        place.make(&["f=old", "d/"]);
        let Some(flagged) = Flagged::set(&place, "f", flag) else { return };
        refused(&place, &|tx| tx.put("f", b"new"), "f", reason);
        refused(&place, &|tx| tx.remove("f"), "f", reason);
        refused(&place, &|tx| tx.set_mode("f", 0o600), "f", reason);
        drop(flagged);
        let flagged = Flagged::set(&place, "d", flag).unwrap();
        refused(&place, &|tx| tx.remove_folder("d"), "d", reason);
        refused(&place, &|tx| tx.set_mode("d", 0o700), "d", reason);
        drop(flagged);
        place.change(|tx| {
            tx.put("f", b"new")?;
            tx.remove_folder("d")
        });
    }
}

#[test]
fn files_in_immutable_and_append_only_folders_are_refused_before_the_commit() {
    let place = Place::new(Policy::UserTree);
    place.make(&["d/", "d/f=old", "d/e/"]);
    let Some(flagged) = Flagged::set(&place, "d", IFlags::IMMUTABLE) else { return };
    let reason = "it is immutable";
    refused(&place, &|tx| tx.put("d/f", b"new"), "d", reason);
    refused(&place, &|tx| tx.put("d/new", b"new"), "d", reason);
    refused(&place, &|tx| tx.remove("d/f"), "d", reason);
    refused(&place, &|tx| tx.remove_folder("d/e"), "d", reason);
    place.change(|tx| tx.put("d/e/new", b"new"));
    place.change(|tx| tx.remove("d/e/new"));
    drop(flagged);
    let flagged = Flagged::set(&place, "d", IFlags::APPEND).unwrap();
    let reason = "its folder is append-only";
    refused(&place, &|tx| tx.put("d/f", b"new"), "d/f", reason);
    refused(&place, &|tx| tx.remove("d/f"), "d/f", reason);
    refused(&place, &|tx| tx.remove_folder("d/e"), "d/e", reason);
    // Names are added, and the mode of a file does not depend on its folder.
    place.change(|tx| tx.put("d/new", b"new"));
    place.change(|tx| tx.set_mode("d/f", 0o600));
    drop(flagged);
    place.change(|tx| tx.put("d/f", b"new"));
}
