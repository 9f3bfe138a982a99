//! Contents to look at: from the store, or made by a merge and not stored yet.

use std::collections::HashMap;
use std::sync::Arc;

use store::{BlobHash, Content, ContentKind, Store, read_blob};

use crate::{Error, Result};

/// The longest content that is read into memory to be merged or shown line by line.
pub const TEXT_BYTES_MAX: u64 = 8 << 20;

/// Where the bytes of a content come from.
pub trait Contents {
    /// All of them. A content of more than [`TEXT_BYTES_MAX`] is refused.
    fn bytes(&self, content: &Content) -> Result<Arc<[u8]>>;
}

/// The contents of a store.
#[derive(Clone, Copy, Debug)]
pub struct StoredContents<'a>(pub &'a dyn Store);

impl Contents for StoredContents<'_> {
    fn bytes(&self, content: &Content) -> Result<Arc<[u8]>> {
        if content.bytes > TEXT_BYTES_MAX {
            return Err(Error::TooLong { bytes: content.bytes, limit: TEXT_BYTES_MAX });
        }
        Ok(read_blob(self.0, content.blob, TEXT_BYTES_MAX as usize)?.into())
    }
}

/// Contents that a merge made, by hash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Made(HashMap<BlobHash, Arc<[u8]>>);

impl Made {
    /// Keeps the bytes of a file with these permission bits, and says what it is.
    pub fn keep(&mut self, bytes: Vec<u8>, mode: u32) -> Content {
        let content =
            Content { kind: ContentKind::File, blob: BlobHash::of(&bytes), bytes: bytes.len() as u64, mode };
        self.0.entry(content.blob).or_insert_with(|| bytes.into());
        content
    }

    /// The bytes of a content that was made; `None`: it is in the store.
    pub fn get(&self, content: &Content) -> Option<&Arc<[u8]>> {
        self.0.get(&content.blob)
    }

    /// Takes over one content, if another one has it.
    pub(crate) fn adopt(&mut self, content: Option<&Content>, other: &Made) {
        let found = content.and_then(|content| Some((content.blob, other.get(content)?)));
        self.0.extend(found.map(|(blob, bytes)| (blob, Arc::clone(bytes))));
    }

    /// Takes over what another one has.
    pub fn extend(&mut self, other: Made) {
        self.0.extend(other.0);
    }
}

/// Made contents first, then others.
pub struct Over<'a> {
    /// Those that were made.
    pub made: &'a Made,
    /// The others.
    pub below: &'a dyn Contents,
}

impl Contents for Over<'_> {
    fn bytes(&self, content: &Content) -> Result<Arc<[u8]>> {
        match self.made.get(content) {
            Some(bytes) => Ok(Arc::clone(bytes)),
            None => self.below.bytes(content),
        }
    }
}
