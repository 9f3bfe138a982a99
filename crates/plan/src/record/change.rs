//! Changes to record: what callers say, and what becomes of it.

use std::fmt;
use std::io::Read;

use store::limits::CHUNK_BYTES;
use store::{Content, ContentKind, PackedBlob, PathBytes, Store, Tool, put_blob};

use crate::Result;

/// A content with its bytes, when they are not in the store yet.
#[derive(Clone, Debug)]
pub struct Piece {
    /// What it is.
    pub content: Content,
    /// Its bytes, to go into the store together with the entry; not needed when they are there.
    pub packed: Option<PackedBlob>,
}

impl Piece {
    /// A file of up to one chunk ([`CHUNK_BYTES`]), hashed and compressed in this thread. It goes into the store with its entry.
    pub fn file(bytes: &[u8], mode: u32) -> Result<Self> {
        Self::pack(ContentKind::File, mode, bytes)
    }

    /// A symlink.
    pub fn symlink(target: &[u8]) -> Result<Self> {
        Self::pack(ContentKind::Symlink, crate::roots::SYMLINK_MODE, target)
    }

    /// A content that is in the store already.
    pub fn stored(content: Content) -> Self {
        Self { content, packed: None }
    }

    /// A file of any length, read to its end. A longer one is streamed into the store at once, and is durable when this returns; memory
    /// is bounded by a few chunks.
    pub fn of_reader(store: &dyn Store, mode: u32, reader: &mut dyn Read) -> Result<Self> {
        let mut first = Vec::new();
        let source = |source| store::Error::Source { source: std::sync::Arc::new(source) };
        (&mut *reader).take(CHUNK_BYTES as u64 + 1).read_to_end(&mut first).map_err(source)?;
        if first.len() <= CHUNK_BYTES {
            return Self::file(&first, mode);
        }
        let blob = put_blob(store, &mut first.as_slice().chain(reader))?;
        let content = Content { kind: ContentKind::File, blob: blob.hash, bytes: blob.bytes, mode };
        Ok(Self::stored(content))
    }

    pub(crate) fn pack(kind: ContentKind, mode: u32, bytes: &[u8]) -> Result<Self> {
        let packed = PackedBlob::new(bytes)?;
        let content = Content { kind, blob: packed.hash(), bytes: bytes.len() as u64, mode };
        Ok(Self { content, packed: Some(packed) })
    }
}

/// Where new content comes from.
pub enum Source {
    /// Bytes in memory.
    Bytes(Vec<u8>),
    /// A stream, read to its end when the change is recorded.
    Reader(Box<dyn Read + Send>),
    /// A content that is in the store already.
    Stored(Content),
    /// A content that was read and packed already.
    Piece(Piece),
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "{} bytes", bytes.len()),
            Self::Reader(_) => f.write_str("a stream"),
            Self::Stored(content) | Self::Piece(Piece { content, .. }) => content.fmt(f),
        }
    }
}

/// What is done to a path.
#[derive(Debug)]
pub enum Act {
    /// It gets this content, whether it was there or not.
    Write {
        /// The content.
        content: Source,
        /// Permission bits; those it had, or 0644, when not given.
        mode: Option<u32>,
    },
    /// It goes.
    Delete,
    /// It gets another name below the same root, where nothing is.
    Rename {
        /// The new path.
        to: PathBytes,
    },
    /// It gets other permission bits.
    Mode(u32),
    /// It becomes a symlink, whether it was there or not.
    Symlink {
        /// Where it points; any bytes, never followed.
        target: Vec<u8>,
    },
}

/// What was at the path before.
#[derive(Clone, Debug)]
pub enum Base {
    /// What the changeset recorded for the path before, or else what is in the root at the moment of recording.
    Found,
    /// This, or nothing. When the changeset has recorded the path before, it must be what it recorded. Of a rename it says too that nothing was
    /// at the new path.
    Given(Option<Piece>),
}

/// One change to record: [`Changeset::record`](crate::Changeset::record).
#[derive(Debug)]
pub struct Change {
    /// The root, as it stands in the plan; the plan's only one when not given.
    pub root: Option<PathBytes>,
    /// The path below it.
    pub path: PathBytes,
    /// What is done.
    pub act: Act,
    /// What was there.
    pub base: Base,
    /// With what it is done.
    pub tool: Option<Tool>,
}

impl Change {
    /// Does this to a path of the plan's only root, with the base that is found.
    pub fn new(path: PathBytes, act: Act) -> Self {
        Self { root: None, path, act, base: Base::Found, tool: None }
    }

    /// Writes bytes to a file.
    pub fn write(path: PathBytes, bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(path, Act::Write { content: Source::Bytes(bytes.into()), mode: None })
    }

    /// Deletes a file or symlink.
    pub fn delete(path: PathBytes) -> Self {
        Self::new(path, Act::Delete)
    }

    /// Gives a file or symlink another name.
    pub fn rename(path: PathBytes, to: PathBytes) -> Self {
        Self::new(path, Act::Rename { to })
    }

    /// Changes the permission bits of a file.
    pub fn mode(path: PathBytes, mode: u32) -> Self {
        Self::new(path, Act::Mode(mode))
    }

    /// Makes a symlink.
    pub fn symlink(path: PathBytes, target: impl Into<Vec<u8>>) -> Self {
        Self::new(path, Act::Symlink { target: target.into() })
    }

    /// In this root.
    #[must_use]
    pub fn in_root(self, root: PathBytes) -> Self {
        Self { root: Some(root), ..self }
    }

    /// With this base instead of the one that is found.
    #[must_use]
    pub fn on(self, base: Option<Piece>) -> Self {
        Self { base: Base::Given(base), ..self }
    }

    /// Made with this tool.
    #[must_use]
    pub fn with_tool(self, tool: Tool) -> Self {
        Self { tool: Some(tool), ..self }
    }
}
