//! Reads all contents of a store, and lists those that are not what their hashes say.

use std::collections::HashMap;
use std::io;

use crate::{BlobHash, BlobReader, Chunk, Error, Problem, Result, Store};

/// Contents of one chunk that are read together, so this many chunks are in memory at most.
const TOGETHER: usize = 32;
/// Problems that are listed.
const PROBLEMS_MAX: usize = 100;

/// Reads and verifies every content. Takes as long as reading all of the store; others may write meanwhile.
pub fn check_contents(store: &dyn Store) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    let mut after = None;
    loop {
        let hashes = store.blob_hashes(after)?;
        let Some(last) = hashes.last() else { return Ok(problems) };
        after = Some(*last);
        for some in hashes.chunks(TOGETHER) {
            let mut small = small(store, some)?;
            for hash in some {
                let damage = match small.remove(hash) {
                    Some(chunk) => damage_of_chunk(*hash, &chunk),
                    None => damage(store, *hash)?,
                };
                let problem = |text| Problem { place: format!("content {hash}"), text };
                problems.extend(damage.map(problem));
                if problems.len() == PROBLEMS_MAX {
                    return Ok(problems);
                }
            }
        }
    }
}

/// Those of one chunk; none when one of them cannot be read, so that each is read for itself.
fn small(store: &dyn Store, hashes: &[BlobHash]) -> Result<HashMap<BlobHash, Chunk>> {
    match store.small_blobs(hashes) {
        Err(Error::Damaged { .. }) => Ok(HashMap::new()),
        read => Ok(read?.into_iter().collect()),
    }
}

fn damage_of_chunk(hash: BlobHash, chunk: &Chunk) -> Option<String> {
    match chunk.unpack() {
        Err(reason) => Some(reason.to_owned()),
        Ok(content) if BlobHash::of(&content) != hash => Some(OTHER_HASH.to_owned()),
        Ok(_) => None,
    }
}

/// As [`BlobReader`] says it.
const OTHER_HASH: &str = "its hash is another";

/// What is wrong with a content of any length, one chunk in memory at a time.
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
        // Nothing refers to it, and it was collected meanwhile.
        Err(Error::MissingBlob { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
