//! Sources of blobs: the store, and blobs that a merge produced and that are not stored yet.

use std::collections::HashMap;
use std::sync::Arc;

use store::{BlobHash, Content, ContentKind, Store, read_blob};

use crate::{Error, Result};

/// The longest content that is read into memory for a merge or a diff, in bytes.
pub const TEXT_BYTES_MAX: u64 = 8 << 20;

/// A source of the bytes of contents.
pub trait BlobSource {
    /// Reads a content. A content of more than [`TEXT_BYTES_MAX`] bytes is
    /// [`Error::ContentTooLarge`].
    fn bytes(&self, content: &Content) -> Result<Arc<[u8]>>;
}

/// The blobs of a store.
#[derive(Clone, Copy, Debug)]
pub struct StoredBlobs<'a>(pub &'a dyn Store);

impl BlobSource for StoredBlobs<'_> {
    fn bytes(&self, content: &Content) -> Result<Arc<[u8]>> {
        if content.bytes > TEXT_BYTES_MAX {
            return Err(Error::ContentTooLarge { bytes: content.bytes, limit: TEXT_BYTES_MAX });
        }
        Ok(read_blob(self.0, content.blob, TEXT_BYTES_MAX as usize)?.into())
    }
}

/// Blobs that a merge produced and that are not in the store, by hash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnstoredBlobs(HashMap<BlobHash, Arc<[u8]>>);

impl UnstoredBlobs {
    /// Adds the bytes of a file, and returns its content with these permission bits.
    pub fn add(&mut self, bytes: Vec<u8>, mode: u32) -> Content {
        let content =
            Content { kind: ContentKind::File, blob: BlobHash::of(&bytes), bytes: bytes.len() as u64, mode };
        self.0.entry(content.blob).or_insert_with(|| bytes.into());
        content
    }

    /// Returns the bytes of a content; `None` if it is in the store.
    pub fn get(&self, content: &Content) -> Option<&Arc<[u8]>> {
        self.0.get(&content.blob)
    }

    /// Copies one content, if `other` has it.
    pub(crate) fn copy_from(&mut self, content: Option<&Content>, other: &UnstoredBlobs) {
        let found = content.and_then(|content| Some((content.blob, other.get(content)?)));
        self.0.extend(found.map(|(blob, bytes)| (blob, Arc::clone(bytes))));
    }

    /// Adds all blobs of `other`.
    pub fn extend(&mut self, other: UnstoredBlobs) {
        self.0.extend(other.0);
    }
}

/// Unstored blobs over another source.
pub struct OverlaySource<'a> {
    /// Read first.
    pub overlay: &'a UnstoredBlobs,
    /// Read for blobs that `overlay` does not have.
    pub base: &'a dyn BlobSource,
}

impl BlobSource for OverlaySource<'_> {
    fn bytes(&self, content: &Content) -> Result<Arc<[u8]>> {
        match self.overlay.get(content) {
            Some(bytes) => Ok(Arc::clone(bytes)),
            None => self.base.bytes(content),
        }
    }
}
