//! The two ends of a change to one path: what was there, and what is to be there.

use std::ffi::OsString;
use std::fmt;

use crate::disk::Kind;
use crate::{Hash, RelPath, Result};

/// What is at a path, as far as a comparison needs it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Seen<P = Print> {
    /// Nothing.
    Absent,
    /// A folder.
    Folder {
        /// Permission bits.
        mode: u32,
    },
    /// A symlink.
    Symlink {
        /// Where it points.
        target: OsString,
    },
    /// A plain file.
    File {
        /// Permission bits.
        mode: u32,
        /// Length in bytes.
        len: u64,
        /// What tells its content.
        print: P,
    },
    /// A FIFO, socket or device.
    Other,
    /// What the record before this one left there. Only journals of own folders say so.
    Ours,
}

/// What is at a path, without its content.
pub type Look = Seen<()>;

/// What tells a file's content.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Print {
    /// The hash of all of it.
    Whole(Hash),
    /// The hash of its last 4096 bytes, for files that only grow and may be long.
    End(Hash),
    /// All of it, where it is short and a write into it may stop half-way.
    Bytes(Vec<u8>),
}

/// How much of the end of a file tells whether somebody else appended to it.
pub(crate) const END_BYTES: u64 = 4096;

impl<P> Seen<P> {
    /// What kind of thing it is, if anything is there.
    pub(crate) fn kind(&self) -> Option<Kind> {
        match self {
            Seen::Absent => None,
            Seen::Folder { .. } => Some(Kind::Folder),
            Seen::Symlink { .. } => Some(Kind::Symlink),
            Seen::File { .. } => Some(Kind::File),
            Seen::Other | Seen::Ours => Some(Kind::Other),
        }
    }

    /// The same, but of a file what `file` makes of its mode and length.
    pub(crate) fn with_file<Q>(&self, file: impl FnOnce(u32, u64) -> Result<Seen<Q>>) -> Result<Seen<Q>> {
        Ok(match self {
            Seen::Absent => Seen::Absent,
            Seen::Folder { mode } => Seen::Folder { mode: *mode },
            Seen::Symlink { target } => Seen::Symlink { target: target.clone() },
            Seen::File { mode, len, .. } => return file(*mode, *len),
            Seen::Other => Seen::Other,
            Seen::Ours => Seen::Ours,
        })
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Seen::Absent => f.write_str("nothing"),
            Seen::Folder { .. } => f.write_str("a folder"),
            Seen::Symlink { target } => write!(f, "a symlink to `{}`", target.display()),
            Seen::File { len, print: Print::Whole(hash) | Print::End(hash), .. } => {
                write!(f, "a file of {len} bytes with hash {hash:?}")
            }
            Seen::File { len, print: Print::Bytes(_), .. } => write!(f, "a file of {len} bytes"),
            Seen::Other => f.write_str("a FIFO, socket or device"),
            Seen::Ours => f.write_str("what was last written there"),
        }
    }
}

/// What a path is to be after the transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Final {
    Absent,
    Folder { mode: u32 },
    Symlink { target: OsString },
    File { mode: u32, content: Content },
}

/// What a file is to hold: the first `keep` bytes of `base`, then `bytes`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Content {
    pub(crate) base: Base,
    pub(crate) keep: u64,
    pub(crate) bytes: Vec<u8>,
}

/// Where the beginning of a file's content comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Base {
    /// There is none: `bytes` is all.
    Nothing,
    /// What the path holds already.
    Path,
    /// A file in the staging folder.
    Staged(Staged),
}

/// A file in the staging folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Staged {
    /// The transaction that staged it.
    pub id: u128,
    /// Its number in that transaction.
    pub number: u64,
    pub len: u64,
    pub hash: Hash,
}

impl Staged {
    /// Its name in the staging folder.
    pub(crate) fn name(&self) -> String {
        format!("{:032x}-{}", self.id, self.number)
    }
}

impl Content {
    pub(crate) fn of_bytes(bytes: Vec<u8>) -> Self {
        Self { base: Base::Nothing, keep: 0, bytes }
    }

    pub(crate) fn of_staged(staged: Staged) -> Self {
        Self { keep: staged.len, base: Base::Staged(staged), bytes: Vec::new() }
    }

    pub(crate) fn of_path(keep: u64) -> Self {
        Self { base: Base::Path, keep, bytes: Vec::new() }
    }

    pub(crate) fn len(&self) -> u64 {
        self.keep + self.bytes.len() as u64
    }

    /// Cuts the content to `len`, which is at most its length.
    pub(crate) fn cut(&mut self, len: u64) {
        if len < self.keep {
            self.keep = len;
        }
        self.bytes.truncate((len - self.keep) as usize);
    }

    /// This content where "what the path holds already" is `below`.
    pub(crate) fn over(self, mut below: Content) -> Self {
        if self.base != Base::Path {
            return self;
        }
        below.cut(self.keep);
        below.bytes.extend(self.bytes);
        below
    }

    /// The hash of all of it, where that is known without reading a file.
    fn hash(&self) -> Option<Hash> {
        match &self.base {
            Base::Nothing => Some(Hash::of(&self.bytes)),
            Base::Staged(staged) if self.bytes.is_empty() && self.keep == staged.len => Some(staged.hash),
            _ => None,
        }
    }
}

impl Final {
    /// Whether `seen` is what this asks for. Content that builds on the path's own is not known, so it never is.
    pub(crate) fn is(&self, seen: &Seen) -> bool {
        match (self, seen) {
            (Final::Absent, Seen::Absent) => true,
            (Final::Folder { mode }, Seen::Folder { mode: now }) => mode == now,
            (Final::Symlink { target }, Seen::Symlink { target: now }) => target == now,
            (
                Final::File { mode, content },
                Seen::File { mode: mode_now, len, print: Print::Whole(hash) },
            ) => mode == mode_now && content.len() == *len && content.hash() == Some(*hash),
            (
                Final::File { mode, content },
                Seen::File { mode: mode_now, print: Print::Bytes(bytes), .. },
            ) => mode == mode_now && content.base == Base::Nothing && content.bytes == *bytes,
            _ => false,
        }
    }
}

/// One path's change, as a journal holds it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    pub(crate) root: usize,
    pub(crate) path: RelPath,
    pub(crate) before: Seen,
    pub(crate) after: Final,
}

/// Sorts changes so that each finds what it needs: what goes away first, the deepest first; then folders from the top; then
/// files and symlinks. A path that changes its kind is found by its new one.
/// Each comes with its number in `changes`.
pub(crate) fn in_order(changes: &[Change]) -> Vec<(usize, &Change)> {
    let mut sorted: Vec<(usize, &Change)> = changes.iter().enumerate().collect();
    sorted.sort_by_key(|(_, change)| match change.after {
        Final::Absent => (0, usize::MAX - change.path.depth()),
        Final::Folder { .. } => (1, change.path.depth()),
        Final::Symlink { .. } | Final::File { .. } => (2, 0),
    });
    sorted
}
