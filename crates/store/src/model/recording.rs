//! A recording, made ready in the thread that asks.

use crate::limits::{ENTRIES_MAX, RECORD_BYTES_MAX};
use crate::model::changeset::Formed;
use crate::{BlobHash, ChainHash, Content, Error, PackedBlob, Recording, RequestId, Result};

/// A recording as it goes into the tables. What can be done before is done before, in the thread that asks.
pub(crate) struct Prepared {
    pub(crate) request: RequestId,
    pub(crate) entries: Vec<(Formed, ChainHash)>,
    /// Contents that must be in the store.
    pub(crate) needed: Vec<(BlobHash, u64)>,
    pub(crate) blobs: Vec<PackedBlob>,
}

impl Prepared {
    pub(crate) fn new(recording: &Recording) -> Result<Self> {
        if recording.entries.len() > ENTRIES_MAX {
            return Err(Error::Limit { what: "the entries of one call", limit: ENTRIES_MAX as u64 });
        }
        let formed = recording.entries.iter().map(Formed::of);
        let entries = formed.map(|formed| (formed.hash(), formed)).map(|(hash, formed)| (formed, hash));
        let prepared = Self {
            request: recording.request,
            entries: entries.collect(),
            needed: needed(recording),
            blobs: recording.blobs.clone(),
        };
        if prepared.bytes() > RECORD_BYTES_MAX {
            return Err(Error::Limit { what: "the contents of one call", limit: RECORD_BYTES_MAX as u64 });
        }
        Ok(prepared)
    }

    /// About how much it writes.
    pub(crate) fn bytes(&self) -> usize {
        self.blobs.iter().map(|blob| blob.chunk().stored().len()).sum()
    }
}

/// The contents that entries refer to and do not bring with them.
fn needed(recording: &Recording) -> Vec<(BlobHash, u64)> {
    let brought = |content: &Content| {
        let same = |blob: &PackedBlob| {
            blob.hash() == content.blob && u64::from(blob.chunk().bytes()) == content.bytes
        };
        recording.blobs.iter().any(same)
    };
    let contents = recording.entries.iter().flat_map(|entry| [&entry.before, &entry.after]).flatten();
    contents.filter(|content| !brought(content)).map(|content| (content.blob, content.bytes)).collect()
}
