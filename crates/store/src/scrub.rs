//! Reads all blobs of a store and lists those whose bytes do not match their hash.

use std::collections::HashMap;
use std::{fmt, io};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::blob::HASH_MISMATCH;
use crate::{BlobHash, BlobReader, Chunk, Error, Result, Store};

/// Blobs of one chunk that are read together, so at most this many chunks are in memory.
const BATCH: usize = 32;
/// Corruptions that are listed.
const CORRUPTIONS_MAX: usize = 100;

/// Something that is wrong in the tables of a store, or with a blob.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Corruption {
    /// The row or blob, such as `changeset 01AB…`.
    pub location: String,
    /// A sentence about it, without the location.
    pub message: String,
}

impl fmt::Display for Corruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.location, self.message)
    }
}

/// Reads and verifies every blob. Takes as long as reading the whole store; others may write at the
/// same time.
pub fn scrub(store: &dyn Store) -> Result<Vec<Corruption>> {
    let mut corruptions = Vec::new();
    let mut after = None;
    loop {
        let hashes = store.blob_hashes(after)?;
        let Some(last) = hashes.last() else { return Ok(corruptions) };
        after = Some(*last);
        for batch in hashes.chunks(BATCH) {
            let mut small = small_blobs(store, batch)?;
            for hash in batch {
                let damage = match small.remove(hash) {
                    Some(chunk) => damage_of_chunk(*hash, &chunk),
                    None => damage(store, *hash)?,
                };
                let corruption = |message| Corruption { location: format!("blob {hash}"), message };
                corruptions.extend(damage.map(corruption));
                if corruptions.len() == CORRUPTIONS_MAX {
                    return Ok(corruptions);
                }
            }
        }
    }
}

/// Reads the blobs of one chunk. Returns none of them when one row is unreadable, so that each blob is
/// then read on its own.
fn small_blobs(store: &dyn Store, hashes: &[BlobHash]) -> Result<HashMap<BlobHash, Chunk>> {
    match store.small_blobs(hashes) {
        Err(Error::Damaged { .. }) => Ok(HashMap::new()),
        read => Ok(read?.into_iter().collect()),
    }
}

fn damage_of_chunk(hash: BlobHash, chunk: &Chunk) -> Option<String> {
    match chunk.unpack() {
        Err(reason) => Some(reason.to_owned()),
        Ok(content) if BlobHash::of(&content) != hash => Some(HASH_MISMATCH.to_owned()),
        Ok(_) => None,
    }
}

/// Checks a blob of any length, with one chunk in memory at a time.
fn damage(store: &dyn Store, hash: BlobHash) -> Result<Option<String>> {
    let read = BlobReader::open(store, hash).and_then(|mut reader| {
        io::copy(&mut reader, &mut io::sink()).map_err(|error| match error.downcast::<Error>() {
            Ok(error) => error,
            Err(error) => Error::Source { source: error.into() },
        })
    });
    match read {
        Ok(_) => Ok(None),
        Err(Error::DamagedBlob { reason, .. }) => Ok(Some(reason.to_owned())),
        Err(Error::Damaged { .. }) => Ok(Some("it cannot be read".to_owned())),
        // No entry refers to it, and it was collected since it was listed.
        Err(Error::MissingBlob { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
