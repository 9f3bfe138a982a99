//! Paths below a root: relative, normal, and unable to leave the root by their spelling.
//!
//! Names are the bytes of the file system, not text: they are never normalised.
//! [`Disk`](crate::Disk) ensures that a path does not leave its root through a symlink: it opens
//! every folder by handle.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Component, Path, PathBuf};

use crate::Error;

/// Maximum length of one name, in bytes: the limit of common file systems.
pub(crate) const NAME_BYTES_MAX: usize = 255;
/// Maximum length of a path below a root, in bytes. Linux allows 4096 for a full path, which leaves
/// 1024 for the root.
pub(crate) const PATH_BYTES_MAX: usize = 3072;

/// A path below a root, without `..`, `.`, empty names or a leading `/`. The empty path is the root
/// itself.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RelPath(PathBuf);

// By bytes: a checked path has one spelling, and a comparison by name takes longer.
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

    /// Path of `name` in this folder. `name` is one plain name, not a path.
    pub fn join(&self, name: impl AsRef<OsStr>) -> Self {
        Self(self.0.join(name.as_ref()))
    }

    /// This path relative to the parent of `base`: `base` joined with this path.
    pub fn below(&self, base: &RelPath) -> Self {
        if self.is_root() { base.clone() } else { Self(base.0.join(&self.0)) }
    }

    /// Parent folder; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        self.0.parent().map(|parent| Self(parent.to_owned()))
    }

    /// Last name; `None` for the root.
    pub fn name(&self) -> Option<&OsStr> {
        self.0.file_name()
    }

    /// Returns true if this is the root itself.
    pub fn is_root(&self) -> bool {
        self.0.as_os_str().is_empty()
    }

    /// Returns true if this is `folder` or a path inside it. Whole names count: `root-x` is not
    /// inside `root`.
    pub fn is_within(&self, folder: &RelPath) -> bool {
        self.0.starts_with(&folder.0)
    }

    /// Number of names.
    pub fn depth(&self) -> usize {
        self.0.components().count()
    }

    /// This path as a relative path of the standard library.
    pub fn as_path(&self) -> &Path {
        &self.0
    }

    /// Bytes for a journal.
    pub(crate) fn to_bytes(&self) -> &[u8] {
        self.0.as_os_str().as_encoded_bytes()
    }

    /// Path from a journal, checked like any other input.
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

/// Converts bytes of a journal to a string of the system.
#[cfg(unix)]
pub(crate) fn os_string(bytes: &[u8]) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes.to_vec())
}

/// Converts bytes of a journal to a string of the system. This program wrote them from valid text.
#[cfg(not(unix))]
pub(crate) fn os_string(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// A path in a transaction: a root and a path below it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TxPath {
    /// Index of the root, from 0, in the order in which the roots were opened.
    pub root: usize,
    /// The path below that root.
    pub path: RelPath,
}

/// Conversion to a [`TxPath`]: `"a/b"` is in the first root, `(1, "a/b")` in the second.
pub trait ToTxPath {
    /// Checks the path.
    fn to_tx_path(self) -> Result<TxPath, Error>;
}

impl ToTxPath for &str {
    fn to_tx_path(self) -> Result<TxPath, Error> {
        (0, self).to_tx_path()
    }
}

impl ToTxPath for &Path {
    fn to_tx_path(self) -> Result<TxPath, Error> {
        (0, self).to_tx_path()
    }
}

impl ToTxPath for &RelPath {
    fn to_tx_path(self) -> Result<TxPath, Error> {
        Ok(TxPath { root: 0, path: self.clone() })
    }
}

impl ToTxPath for &TxPath {
    fn to_tx_path(self) -> Result<TxPath, Error> {
        Ok(self.clone())
    }
}

impl<P: AsRef<Path>> ToTxPath for (usize, P) {
    fn to_tx_path(self) -> Result<TxPath, Error> {
        Ok(TxPath { root: self.0, path: RelPath::new(self.1)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, allowed: bool) {
        assert_eq!(RelPath::new(path).is_ok(), allowed, "{path:?}");
    }

    #[test]
    fn only_plain_relative_paths_are_accepted() {
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
    fn is_within_compares_whole_names() {
        let path = |text| RelPath::new(text).unwrap();
        assert!(path("root/a").is_within(&path("root")));
        assert!(path("root").is_within(&path("root")));
        assert!(!path("root-x").is_within(&path("root")));
        assert!(path("anything").is_within(&RelPath::root()));
    }

    #[test]
    fn names_that_are_not_utf8_round_trip() {
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
