//! A change of one path: the observed state before it and the target state after it.

use std::ffi::OsString;
use std::fmt;

use crate::disk::FileKind;
use crate::{Hash, RelPath, Result};

/// State of a path, with a fingerprint of a file's content for comparisons.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Observed<F = Fingerprint> {
    /// The path does not exist.
    Absent,
    /// A folder.
    Folder {
        /// Permission bits.
        mode: u32,
    },
    /// A symlink.
    Symlink {
        /// Target of the link.
        target: OsString,
    },
    /// A plain file.
    File {
        /// Permission bits.
        mode: u32,
        /// Length in bytes.
        len: u64,
        /// Identifies its content.
        fingerprint: F,
    },
    /// A FIFO, socket or device.
    Other,
    /// The state that the previous record of the journal wrote. Only own folders use it.
    PreviousRecord,
}

/// State of a path, without its content.
pub type PathState = Observed<()>;

/// Identifies the content of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fingerprint {
    /// Hash of the whole content.
    Whole(Hash),
    /// Hash of the last 4096 bytes, for files that only grow and may be long.
    Tail(Hash),
    /// The content itself, for a short file whose write may stop half-way.
    Bytes(Vec<u8>),
}

/// Length of the tail that shows whether another program appended to a file, in bytes.
pub(crate) const TAIL_BYTES: u64 = 4096;

impl<F> Observed<F> {
    /// The kind of file at the path, if it exists.
    pub(crate) fn kind(&self) -> Option<FileKind> {
        match self {
            Observed::Absent => None,
            Observed::Folder { .. } => Some(FileKind::Folder),
            Observed::Symlink { .. } => Some(FileKind::Symlink),
            Observed::File { .. } => Some(FileKind::File),
            Observed::Other | Observed::PreviousRecord => Some(FileKind::Other),
        }
    }

    /// Maps a file by its mode and length. Everything else stays the same.
    pub(crate) fn with_file<G>(
        &self,
        file: impl FnOnce(u32, u64) -> Result<Observed<G>>,
    ) -> Result<Observed<G>> {
        Ok(match self {
            Observed::Absent => Observed::Absent,
            Observed::Folder { mode } => Observed::Folder { mode: *mode },
            Observed::Symlink { target } => Observed::Symlink { target: target.clone() },
            Observed::File { mode, len, .. } => return file(*mode, *len),
            Observed::Other => Observed::Other,
            Observed::PreviousRecord => Observed::PreviousRecord,
        })
    }
}

impl fmt::Display for Observed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Observed::Absent => f.write_str("nothing"),
            Observed::Folder { .. } => f.write_str("a folder"),
            Observed::Symlink { target } => write!(f, "a symlink to `{}`", target.display()),
            Observed::File {
                len, fingerprint: Fingerprint::Whole(hash) | Fingerprint::Tail(hash), ..
            } => {
                write!(f, "a file of {len} bytes with hash {hash:?}")
            }
            Observed::File { len, fingerprint: Fingerprint::Bytes(_), .. } => {
                write!(f, "a file of {len} bytes")
            }
            Observed::Other => f.write_str("a FIFO, socket or device"),
            Observed::PreviousRecord => f.write_str("the state of the previous record"),
        }
    }
}

/// State of a path after the transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum TargetState {
    Absent,
    Folder { mode: u32 },
    Symlink { target: OsString },
    File { mode: u32, content: Content },
}

/// New content of a file: the first `prefix_len` bytes of `base`, then `bytes`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Content {
    pub(crate) base: ContentBase,
    pub(crate) prefix_len: u64,
    pub(crate) bytes: Vec<u8>,
}

/// Source of the prefix of new content.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ContentBase {
    /// No prefix: `bytes` is the whole content.
    Empty,
    /// The present content of the path.
    Path,
    /// A file in the staging folder.
    Staged(Staged),
}

/// A file in the staging folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Staged {
    /// The transaction that staged it.
    pub id: u128,
    /// Number within that transaction.
    pub number: u64,
    pub len: u64,
    pub hash: Hash,
}

impl Staged {
    /// Name in the staging folder.
    pub(crate) fn name(&self) -> String {
        format!("{:032x}-{}", self.id, self.number)
    }
}

impl Content {
    pub(crate) fn of_bytes(bytes: Vec<u8>) -> Self {
        Self { base: ContentBase::Empty, prefix_len: 0, bytes }
    }

    pub(crate) fn of_staged(staged: Staged) -> Self {
        Self { prefix_len: staged.len, base: ContentBase::Staged(staged), bytes: Vec::new() }
    }

    pub(crate) fn of_path(prefix_len: u64) -> Self {
        Self { base: ContentBase::Path, prefix_len, bytes: Vec::new() }
    }

    pub(crate) fn len(&self) -> u64 {
        self.prefix_len + self.bytes.len() as u64
    }

    /// Truncates the content to `len`, which is at most its length.
    pub(crate) fn truncate(&mut self, len: u64) {
        if len < self.prefix_len {
            self.prefix_len = len;
        }
        self.bytes.truncate((len - self.prefix_len) as usize);
    }

    /// This content, if the present content of the path is `below`.
    pub(crate) fn on_top_of(self, mut below: Content) -> Self {
        if self.base != ContentBase::Path {
            return self;
        }
        below.truncate(self.prefix_len);
        below.bytes.extend(self.bytes);
        below
    }

    /// Hash of the whole content, if known without reading a file.
    fn hash(&self) -> Option<Hash> {
        match &self.base {
            ContentBase::Empty => Some(Hash::of(&self.bytes)),
            ContentBase::Staged(staged) if self.bytes.is_empty() && self.prefix_len == staged.len => {
                Some(staged.hash)
            }
            _ => None,
        }
    }
}

impl TargetState {
    /// Returns true if the observed state equals this state. Content that builds on the path's own
    /// is unknown and never equal.
    pub(crate) fn matches(&self, observed: &Observed) -> bool {
        match (self, observed) {
            (TargetState::Absent, Observed::Absent) => true,
            (TargetState::Folder { mode }, Observed::Folder { mode: now }) => mode == now,
            (TargetState::Symlink { target }, Observed::Symlink { target: now }) => target == now,
            (
                TargetState::File { mode, content },
                Observed::File { mode: mode_now, len, fingerprint: Fingerprint::Whole(hash) },
            ) => mode == mode_now && content.len() == *len && content.hash() == Some(*hash),
            (
                TargetState::File { mode, content },
                Observed::File { mode: mode_now, fingerprint: Fingerprint::Bytes(bytes), .. },
            ) => mode == mode_now && content.base == ContentBase::Empty && content.bytes == *bytes,
            _ => false,
        }
    }
}

/// The change of one path, as a journal records it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    pub(crate) root: usize,
    pub(crate) path: RelPath,
    pub(crate) before: Observed,
    pub(crate) after: TargetState,
}

/// Sorts changes by dependency: removals first, deepest first; then folders, top down; then files
/// and symlinks. The new kind of a path decides. Each change comes with its index in `changes`.
pub(crate) fn in_order(changes: &[Change]) -> Vec<(usize, &Change)> {
    let mut sorted: Vec<(usize, &Change)> = changes.iter().enumerate().collect();
    sorted.sort_by_key(|(_, change)| match change.after {
        TargetState::Absent => (0, usize::MAX - change.path.depth()),
        TargetState::Folder { .. } => (1, change.path.depth()),
        TargetState::Symlink { .. } | TargetState::File { .. } => (2, 0),
    });
    sorted
}
