//! Recordings, as callers give them and as engines write them.

use serde::{Deserialize, Serialize};

use crate::limits::{ENTRIES_MAX, RECORD_BYTES_MAX};
use crate::model::entry::CanonicalEntry;
use crate::{BlobHash, ChainHash, Content, Error, NewEntry, PackedBlob, RequestId, Result};

/// Changes to record together, all or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Idempotency key: repeating the call has no further effect.
    pub request: RequestId,
    /// The changes, in order.
    pub entries: Vec<NewEntry>,
    /// New blobs that the entries refer to. Blobs that are in the store may be left out.
    pub blobs: Vec<PackedBlob>,
}

/// The positions of recorded entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// The sequence number of the first entry.
    pub first: u64,
    /// Number of entries.
    pub count: u64,
}

/// A recording in the form of the tables. Encoding and hashing happen in the caller's thread,
/// before the transaction.
pub(crate) struct EncodedRecording {
    pub(crate) request: RequestId,
    pub(crate) entries: Vec<(CanonicalEntry, ChainHash)>,
    /// Blobs that must be in the store, with their lengths.
    pub(crate) needed: Vec<(BlobHash, u64)>,
    pub(crate) blobs: Vec<PackedBlob>,
}

impl EncodedRecording {
    pub(crate) fn new(recording: &Recording) -> Result<Self> {
        if recording.entries.len() > ENTRIES_MAX {
            return Err(Error::Limit { what: "entries in one call", limit: ENTRIES_MAX as u64 });
        }
        let with_hash = |entry| {
            let canonical = CanonicalEntry::of(entry);
            let hash = canonical.hash();
            (canonical, hash)
        };
        let encoded = Self {
            request: recording.request,
            entries: recording.entries.iter().map(with_hash).collect(),
            needed: needed(recording),
            blobs: recording.blobs.clone(),
        };
        if encoded.bytes() > RECORD_BYTES_MAX {
            return Err(Error::Limit {
                what: "bytes of new blobs in one call",
                limit: RECORD_BYTES_MAX as u64,
            });
        }
        Ok(encoded)
    }

    /// Estimates the number of bytes that it writes.
    pub(crate) fn bytes(&self) -> usize {
        self.blobs.iter().map(|blob| blob.chunk().stored().len()).sum()
    }
}

/// Lists the blobs that entries refer to and the recording does not bring.
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
