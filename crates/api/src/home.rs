//! The home folder is private: it holds the store and the configuration, which decide what is applied and run.

use std::path::Path;

use crate::Error;

/// Fails if the home folder belongs to another user or if others may write to it. A missing home folder is created
/// later, private.
///
/// Root is no exception: with `sudo`, name another home folder or keep root's own.
#[cfg(unix)]
pub(crate) fn check_private(home: &Path) -> Result<(), Error> {
    use std::os::unix::fs::MetadataExt;
    const WRITABLE_BY_OTHERS: u32 = 0o022;

    // An unreadable home folder fails where it is used, with the error of the system.
    let Ok(found) = home.metadata() else { return Ok(()) };
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(Error::HomeOfOther { home: home.to_owned(), owner: found.uid() });
    }
    if found.is_dir() && found.mode() & WRITABLE_BY_OTHERS != 0 && keeps_modes(home) {
        return Err(Error::HomeNotPrivate { home: home.to_owned(), mode: found.mode() & 0o7777 });
    }
    Ok(())
}

#[cfg(not(unix))]
pub(crate) fn check_private(_home: &Path) -> Result<(), Error> {
    Ok(())
}

/// Returns true if the file system keeps permission bits. Those of Windows and of some network file systems do not:
/// there, every folder looks writable by everyone.
#[cfg(unix)]
fn keeps_modes(home: &Path) -> bool {
    use filetx::{Disk, OpenMode, RelPath, Storage};
    const EPERM: i32 = 1;

    let probe = || {
        let disk = Disk::open(home)?;
        let path = RelPath::root().join(format!(".mode-{}", std::process::id()));
        let found = disk.open(&path, OpenMode::Create { mode: 0o600 }).and_then(|file| file.stat());
        let _ = disk.remove_file(&path);
        Ok::<_, std::io::Error>(found?.mode == 0o600)
    };
    // A refused `chmod` changes no bits. Other errors say nothing about the bits, which count then.
    probe().unwrap_or_else(|error| error.raw_os_error() != Some(EPERM))
}

#[cfg(all(test, unix))]
#[expect(clippy::disallowed_methods, reason = "plays a person who changes a home folder")]
mod tests {
    use std::os::unix::fs::{PermissionsExt, chown};

    use super::*;

    fn check(mode: u32) -> Result<(), Error> {
        let home = tempfile::tempdir().expect("a plain folder");
        std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(mode)).expect("a plain folder");
        let checked = check_private(home.path());
        let left = std::fs::read_dir(home.path()).expect("a plain folder").count();
        assert_eq!(left, 0, "the probe is removed");
        checked
    }

    #[test]
    fn a_home_folder_that_others_may_write_to_is_refused() {
        for mode in [0o777, 0o775, 0o722, 0o702, 0o1777] {
            let error = check(mode).expect_err("others may write");
            assert_eq!(error.code(), "home-not-private", "{mode:o}");
        }
        for mode in [0o700, 0o755, 0o711, 0o750] {
            assert!(check(mode).is_ok(), "{mode:o}");
        }
        assert!(check_private(Path::new("/no/such/home")).is_ok(), "it is created later");
    }

    #[test]
    fn a_home_folder_of_another_user_is_refused() {
        if !rustix::process::geteuid().is_root() {
            assert!(matches!(check_private(Path::new("/")), Err(Error::HomeOfOther { owner: 0, .. })));
            return;
        }
        let home = tempfile::tempdir().unwrap();
        chown(home.path(), Some(65534), None).unwrap();
        let error = check_private(home.path()).expect_err("it belongs to another user");
        assert!(matches!(error, Error::HomeOfOther { owner: 65534, .. }), "{error}");
        assert_eq!(error.code(), "home-of-other");
    }
}
