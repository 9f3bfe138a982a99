//! Changes to record, as callers give them.

use std::fmt;
use std::io::Read;

use serde::{Deserialize, Serialize};
use store::limits::CHUNK_BYTES;
use store::{Content, ContentKind, PackedBlob, PathBytes, Store, Tool, put_blob};

use crate::Result;

/// A content, with its bytes if they are not in the store yet.
#[derive(Clone, Debug)]
pub struct ContentInput {
    /// Kind, hash, length and permission bits.
    pub content: Content,
    /// The packed bytes, stored together with the entry; `None` if the store has them.
    pub packed: Option<PackedBlob>,
}

impl ContentInput {
    /// Packs a file of at most one chunk ([`CHUNK_BYTES`]): hashes and compresses it in this
    /// thread.
    pub fn file(bytes: &[u8], mode: u32) -> Result<Self> {
        Self::pack(ContentKind::File, mode, bytes)
    }

    /// Packs a symlink.
    pub fn symlink(target: &PathBytes) -> Result<Self> {
        Self::pack(ContentKind::Symlink, crate::roots::SYMLINK_MODE, target.as_bytes())
    }

    /// Refers to a content in the store.
    pub fn stored(content: Content) -> Self {
        Self { content, packed: None }
    }

    /// Packs a file of any length, read to its end. A file of more than one chunk is streamed into
    /// the store and is durable when this returns; memory is bounded by a few chunks.
    pub fn from_reader(store: &dyn Store, mode: u32, reader: &mut dyn Read) -> Result<Self> {
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

/// A source of new content.
pub enum ContentSource {
    /// Bytes in memory.
    Bytes(Vec<u8>),
    /// A stream, read to its end when the change is recorded.
    Reader(Box<dyn Read + Send>),
    /// A content in the store.
    Stored(Content),
    /// A packed content.
    Input(ContentInput),
}

impl fmt::Debug for ContentSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "{} bytes", bytes.len()),
            Self::Reader(_) => f.write_str("a stream"),
            Self::Stored(content) | Self::Input(ContentInput { content, .. }) => content.fmt(f),
        }
    }
}

/// An edit of one path, as a caller asks for it. `C` is the form of new content.
///
/// The serialized form has neither contents nor patches; they travel beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Edit<C = ContentSource> {
    /// Create or overwrite the file.
    Write {
        /// The new content.
        #[serde(skip)]
        content: C,
        /// Permission bits; by default those of the old file, or 0644.
        mode: Option<u32>,
    },
    /// Apply a unified diff of this path. A path that does not exist counts as an empty text. The
    /// patch may also create or delete the file or set its permission bits.
    Patch {
        /// The diff.
        #[serde(skip)]
        patch: Vec<u8>,
    },
    /// Delete the file or symlink.
    Delete,
    /// Rename the file or symlink within its root, to a path that does not exist.
    Rename {
        /// The new path.
        to: PathBytes,
    },
    /// Set the permission bits.
    Mode(u32),
    /// Create a symlink, or replace the file or symlink by one.
    Symlink {
        /// The target, never followed.
        target: PathBytes,
    },
}

impl<C> Edit<C> {
    /// Converts new content, given with the permission bits.
    pub fn map_content<D, E>(
        self,
        map: impl FnOnce(C, Option<u32>) -> std::result::Result<D, E>,
    ) -> std::result::Result<Edit<D>, E> {
        Ok(match self {
            Self::Write { content, mode } => Edit::Write { content: map(content, mode)?, mode },
            Self::Patch { patch } => Edit::Patch { patch },
            Self::Delete => Edit::Delete,
            Self::Rename { to } => Edit::Rename { to },
            Self::Mode(mode) => Edit::Mode(mode),
            Self::Symlink { target } => Edit::Symlink { target },
        })
    }
}

/// The content of a path before a change.
#[derive(Clone, Debug)]
pub enum Base {
    /// The content that the changeset recorded last for the path, or else the content in the root
    /// when the change is recorded.
    Current,
    /// This content; `None` if the path did not exist. If the changeset has recorded the path, it
    /// must be the content recorded last. For a rename it also states that the new path did not
    /// exist.
    Explicit(Option<ContentInput>),
}

/// One change to record: [`Changeset::record`](crate::Changeset::record).
#[derive(Debug)]
pub struct Change {
    /// The root, as in the plan; by default the only root of the plan.
    pub root: Option<PathBytes>,
    /// The path below the root.
    pub path: PathBytes,
    /// The edit.
    pub edit: Edit,
    /// The content before the change.
    pub base: Base,
    /// The tool that makes the change.
    pub tool: Option<Tool>,
}

impl Change {
    /// Changes a path of the only root of the plan, with the base [`Base::Current`].
    pub fn new(path: PathBytes, edit: Edit) -> Self {
        Self { root: None, path, edit, base: Base::Current, tool: None }
    }

    /// Writes bytes to a file.
    pub fn write(path: PathBytes, bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(path, Edit::Write { content: ContentSource::Bytes(bytes.into()), mode: None })
    }

    /// Deletes a file or symlink.
    pub fn delete(path: PathBytes) -> Self {
        Self::new(path, Edit::Delete)
    }

    /// Renames a file or symlink.
    pub fn rename(path: PathBytes, to: PathBytes) -> Self {
        Self::new(path, Edit::Rename { to })
    }

    /// Changes the permission bits of a file.
    pub fn mode(path: PathBytes, mode: u32) -> Self {
        Self::new(path, Edit::Mode(mode))
    }

    /// Creates a symlink.
    pub fn symlink(path: PathBytes, target: PathBytes) -> Self {
        Self::new(path, Edit::Symlink { target })
    }

    /// Sets the root.
    #[must_use]
    pub fn in_root(self, root: PathBytes) -> Self {
        Self { root: Some(root), ..self }
    }

    /// Sets the base.
    #[must_use]
    pub fn with_base(self, base: Option<ContentInput>) -> Self {
        Self { base: Base::Explicit(base), ..self }
    }

    /// Sets the tool.
    #[must_use]
    pub fn with_tool(self, tool: Tool) -> Self {
        Self { tool: Some(tool), ..self }
    }
}
