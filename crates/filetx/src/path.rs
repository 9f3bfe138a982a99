//! Paths below a root: relative, plain and unable to leave it by their spelling.
//!
//! Names are the bytes the file system has, not text: nothing is normalised or mangled. That a path cannot leave its root
//! through a symlink either is the business of [`Disk`](crate::Disk), which opens every folder by handle.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Component, Path, PathBuf};

use crate::Error;

/// The longest name of one file or folder, in bytes: the limit of every file system in use.
pub(crate) const NAME_BYTES_MAX: usize = 255;
/// The longest path below a root, in bytes. Linux takes 4096 for a whole path, so some room is left for the root itself.
pub(crate) const PATH_BYTES_MAX: usize = 3072;

/// A path below a root. It has no `..`, no `.`, no empty name, and does not start at `/`; the empty path is the root itself.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RelPath(PathBuf);

// By bytes: a checked path has one spelling, and comparing name by name takes longer.
impl Ord for RelPath {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.to_bytes().cmp(other.to_bytes())
    }
}

impl PartialOrd for RelPath {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl RelPath {
    /// The root itself.
    pub fn root() -> Self {
        Self(PathBuf::new())
    }

    /// Checks that `path` names something below a root.
    pub fn new(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let refuse = |reason| Error::BadPath { path: path.to_owned(), reason };
        let bytes = path.as_os_str().as_encoded_bytes();
        if bytes.is_empty() {
            return Err(refuse("it is empty"));
        }
        if bytes.len() > PATH_BYTES_MAX {
            return Err(refuse("it is longer than 3072 bytes"));
        }
        if bytes.contains(&0) {
            return Err(refuse("it contains a NUL byte"));
        }
        if bytes.ends_with(b"/") {
            return Err(refuse("it ends with a slash"));
        }
        if bytes.split(|byte| *byte == b'/').any(|name| name.is_empty() || name == b"." || name == b"..") {
            return Err(refuse("it is absolute, or has an empty, `.` or `..` part"));
        }
        for component in path.components() {
            let Component::Normal(name) = component else {
                return Err(refuse("it is absolute, or has a `..` part"));
            };
            if name.len() > NAME_BYTES_MAX {
                return Err(refuse("one of its names is longer than 255 bytes"));
            }
            if cfg!(windows) && name.as_encoded_bytes().iter().any(|byte| b":*?\"<>|\\".contains(byte)) {
                return Err(refuse("one of its names is not allowed on this system"));
            }
        }
        Ok(Self(path.to_owned()))
    }

    /// The path of `name` in this folder. `name` is one plain name, chosen by this crate or read from a folder listing.
    pub fn join(&self, name: impl AsRef<OsStr>) -> Self {
        Self(self.0.join(name.as_ref()))
    }

    /// This path seen from the folder that `base` is in.
    pub fn below(&self, base: &RelPath) -> Self {
        if self.is_root() { base.clone() } else { Self(base.0.join(&self.0)) }
    }

    /// The folder this is in, or `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        self.0.parent().map(|parent| Self(parent.to_owned()))
    }

    /// The last name, or `None` for the root.
    pub fn name(&self) -> Option<&OsStr> {
        self.0.file_name()
    }

    /// Whether this is the root.
    pub fn is_root(&self) -> bool {
        self.0.as_os_str().is_empty()
    }

    /// Whether this is `folder` or something inside it, by whole names: `root-x` is not inside `root`.
    pub fn is_within(&self, folder: &RelPath) -> bool {
        self.0.starts_with(&folder.0)
    }

    /// How many names deep this is.
    pub fn depth(&self) -> usize {
        self.0.components().count()
    }

    /// As a path of the standard library, still relative.
    pub fn as_path(&self) -> &Path {
        &self.0
    }

    /// The bytes that journals hold.
    pub(crate) fn to_bytes(&self) -> &[u8] {
        self.0.as_os_str().as_encoded_bytes()
    }

    /// The path that a journal holds; checked as if it came from a stranger.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::new(PathBuf::from(os_string(bytes)))
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_root() { f.write_str(".") } else { self.0.display().fmt(f) }
    }
}

/// Bytes of a journal as the system's string.
#[cfg(unix)]
pub(crate) fn os_string(bytes: &[u8]) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes.to_vec())
}

/// Bytes of a journal as the system's string; only this program wrote them, from valid text.
#[cfg(not(unix))]
pub(crate) fn os_string(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// Where in a transaction: a path, in the first root unless said otherwise.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct At {
    /// Which of the transaction's roots, counted from 0 in the order they were given.
    pub root: usize,
    /// The path below that root.
    pub path: RelPath,
}

/// What can say where: `"a/b"` in the first root, or `(1, "a/b")` in the second.
pub trait ToAt {
    /// Checks the path.
    fn to_at(self) -> Result<At, Error>;
}

impl ToAt for &str {
    fn to_at(self) -> Result<At, Error> {
        (0, self).to_at()
    }
}

impl ToAt for &Path {
    fn to_at(self) -> Result<At, Error> {
        (0, self).to_at()
    }
}

impl ToAt for &RelPath {
    fn to_at(self) -> Result<At, Error> {
        Ok(At { root: 0, path: self.clone() })
    }
}

impl ToAt for &At {
    fn to_at(self) -> Result<At, Error> {
        Ok(self.clone())
    }
}

impl<P: AsRef<Path>> ToAt for (usize, P) {
    fn to_at(self) -> Result<At, Error> {
        Ok(At { root: self.0, path: RelPath::new(self.1)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, allowed: bool) {
        assert_eq!(RelPath::new(path).is_ok(), allowed, "{path:?}");
    }

    #[test]
    fn only_plain_relative_paths_are_taken() {
        check("a", true);
        check("a/b.c/d", true);
        check("...", true);
        check("a b\nc", true);
        check("", false);
        check("/", false);
        check("/a", false);
        check("a/", false);
        check("a//b", false);
        check(".", false);
        check("./a", false);
        check("a/.", false);
        check("..", false);
        check("a/../b", false);
        check("a/..", false);
        check("a\0b", false);
        check(&"n".repeat(255), true);
        check(&"n".repeat(256), false);
        check(&"n/".repeat(2000), false);
        check(&format!("{}a", "nn/".repeat(1024)), false);
    }

    #[test]
    fn inside_means_by_whole_names() {
        let path = |text| RelPath::new(text).unwrap();
        assert!(path("root/a").is_within(&path("root")));
        assert!(path("root").is_within(&path("root")));
        assert!(!path("root-x").is_within(&path("root")));
        assert!(path("anything").is_within(&RelPath::root()));
    }

    #[test]
    fn bytes_that_are_not_text_survive() {
        let path = RelPath::from_bytes(b"a/\xff\xfe").unwrap();
        assert_eq!(path.to_bytes(), b"a/\xff\xfe");
        assert_eq!(path.name().unwrap().as_encoded_bytes(), b"\xff\xfe");
        assert_eq!(path.parent().unwrap(), RelPath::new("a").unwrap());
    }

    #[test]
    fn the_root_has_no_name_and_no_parent() {
        assert_eq!(RelPath::root().parent(), None);
        assert_eq!(RelPath::root().name(), None);
        assert_eq!(RelPath::new("a").unwrap().parent(), Some(RelPath::root()));
        assert_eq!(RelPath::root().to_string(), ".");
        assert_eq!(RelPath::new("a").unwrap().below(&RelPath::new("b").unwrap()).to_string(), "b/a");
    }
}
