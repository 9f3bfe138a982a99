//! Blobs: contents addressed by hash, compressed in chunks, streamed in and out, verified when
//! read.
//!
//! A blob of one chunk is packed in the caller's thread and written together with the entry that
//! refers to it. A longer one is uploaded chunk by chunk under an upload id, and gets its address
//! at the end, when its hash is known.

use std::collections::HashMap;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{BLOB_CHUNKS_MAX, CHUNK_BYTES, UPLOAD_CHUNKS_MAX};
use crate::{BlobHash, Error, Result, Store, UploadId};

/// The fastest level: a higher one slows down recording and saves little on source text.
const ZSTD_LEVEL: i32 = 1;
/// Compression contexts that are kept for reuse. More threads may compress at the same time.
const COMPRESSORS_KEPT: usize = 8;

/// Reason of [`Error::DamagedBlob`] when all chunks are readable.
pub(crate) const HASH_MISMATCH: &str = "its bytes do not match its hash";

/// The encoding of a stored chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// Uncompressed: compression would not shorten it.
    Plain,
    /// A zstd frame.
    Zstd,
}

/// A stored chunk of a blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    codec: Codec,
    bytes: u32,
    stored: Arc<[u8]>,
}

impl Chunk {
    /// Compresses at most [`CHUNK_BYTES`].
    pub fn pack(content: &[u8]) -> Result<Self> {
        let bytes = u32::try_from(content.len()).ok().filter(|_| content.len() <= CHUNK_BYTES);
        let Some(bytes) = bytes else {
            return Err(Error::Limit { what: "bytes of a chunk", limit: CHUNK_BYTES as u64 });
        };
        // Compression fails only for want of memory; the chunk is stored uncompressed then.
        let compressed = compress(content).ok();
        Ok(match compressed.filter(|compressed| compressed.len() < content.len()) {
            Some(compressed) => Self { codec: Codec::Zstd, bytes, stored: compressed.into() },
            None => Self { codec: Codec::Plain, bytes, stored: content.into() },
        })
    }

    /// Wraps a chunk that an engine has read.
    pub fn from_stored(codec: Codec, bytes: u32, stored: impl Into<Arc<[u8]>>) -> Self {
        Self { codec, bytes, stored: stored.into() }
    }

    /// Returns the encoding.
    pub fn codec(&self) -> Codec {
        self.codec
    }

    /// Returns the number of uncompressed bytes.
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Returns the bytes to store.
    pub fn stored(&self) -> &[u8] {
        &self.stored
    }

    /// Decompresses the chunk; the error is the reason for which it is damaged. Never returns more
    /// bytes than [`bytes`](Self::bytes).
    pub fn unpack(&self) -> Result<Vec<u8>, &'static str> {
        let expected = self.bytes as usize;
        if expected > CHUNK_BYTES {
            return Err("a chunk exceeds the maximum length");
        }
        let content = match self.codec {
            Codec::Plain => self.stored.to_vec(),
            Codec::Zstd => {
                zstd::bulk::decompress(&self.stored, expected).map_err(|_| "a chunk does not decompress")?
            }
        };
        if content.len() == expected { Ok(content) } else { Err("a chunk has the wrong length") }
    }
}

/// Compresses with a kept context if there is one: making a context costs more than compressing a
/// small blob.
fn compress(content: &[u8]) -> io::Result<Vec<u8>> {
    static IDLE: Mutex<Vec<zstd::bulk::Compressor<'static>>> = Mutex::new(Vec::new());
    let idle = || IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = idle().pop();
    let mut compressor = match kept {
        Some(compressor) => compressor,
        None => zstd::bulk::Compressor::new(ZSTD_LEVEL)?,
    };
    let compressed = compressor.compress(content)?;
    let mut idle = idle();
    if idle.len() < COMPRESSORS_KEPT {
        idle.push(compressor);
    }
    Ok(compressed)
}

/// A blob of one chunk with its hash, ready to be written together with an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedBlob {
    hash: BlobHash,
    chunk: Chunk,
}

impl PackedBlob {
    /// Hashes and compresses at most [`CHUNK_BYTES`], in the caller's thread.
    pub fn new(content: &[u8]) -> Result<Self> {
        Ok(Self { hash: BlobHash::of(content), chunk: Chunk::pack(content)? })
    }

    /// Returns the hash of the uncompressed bytes.
    pub fn hash(&self) -> BlobHash {
        self.hash
    }

    /// Returns the only chunk.
    pub fn chunk(&self) -> &Chunk {
        &self.chunk
    }
}

/// A stored blob.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blob {
    /// The hash of its bytes, which is its address.
    pub hash: BlobHash,
    /// Number of uncompressed bytes.
    pub bytes: u64,
    /// Number of chunks.
    pub chunks: u64,
}

/// Options of garbage collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GcOptions {
    /// Remove or count.
    pub mode: GcMode,
    /// Keeps blobs that were stored within this time, since their entry may not be recorded yet.
    /// Usually [`GRACE`](crate::limits::GRACE).
    pub grace: Duration,
}

/// The mode of garbage collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GcMode {
    /// Count the garbage; change nothing.
    DryRun,
    /// Remove the garbage.
    Remove,
}

/// Blobs and uploads that were removed, or would be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct GcStats {
    /// Number of blobs.
    pub blobs: u64,
    /// Their uncompressed bytes.
    pub bytes: u64,
    /// Number of unfinished uploads.
    pub uploads: u64,
}

impl GcStats {
    /// Adds the numbers of another batch.
    pub(crate) fn add(&mut self, more: GcStats) {
        self.blobs += more.blobs;
        self.bytes += more.bytes;
        self.uploads += more.uploads;
    }
}

/// Stores a blob of any length, with at most [`UPLOAD_CHUNKS_MAX`] chunks in memory. The blob is
/// durable when this returns. A blob that is already in the store is not stored twice.
pub fn put_blob(store: &dyn Store, source: &mut dyn Read) -> Result<Blob> {
    let first = read_chunk(source)?;
    if first.len() < CHUNK_BYTES {
        let packed = PackedBlob::new(&first)?;
        store.put_blob(&packed)?;
        return Ok(Blob { hash: packed.hash, bytes: first.len() as u64, chunks: 1 });
    }
    let upload = UploadId::new();
    // Drop a failed upload at once if possible; otherwise garbage collection removes it.
    stream(store, upload, first, source).inspect_err(|_| drop(store.drop_upload(upload)))
}

fn stream(store: &dyn Store, upload: UploadId, first: Vec<u8>, source: &mut dyn Read) -> Result<Blob> {
    let mut hasher = blake3::Hasher::new();
    let (mut bytes, mut chunks) = (0_u64, 0_u64);
    let mut next = first;
    while !next.is_empty() {
        let number = chunks;
        let mut packed = Vec::with_capacity(UPLOAD_CHUNKS_MAX);
        while !next.is_empty() && packed.len() < UPLOAD_CHUNKS_MAX {
            hasher.update(&next);
            bytes += next.len() as u64;
            chunks += 1;
            packed.push(Chunk::pack(&next)?);
            next = read_chunk(source)?;
        }
        if chunks > BLOB_CHUNKS_MAX {
            return Err(Error::Limit {
                what: "bytes of a blob",
                limit: BLOB_CHUNKS_MAX * CHUNK_BYTES as u64,
            });
        }
        store.append_upload(upload, number, &packed)?;
    }
    let blob = Blob { hash: BlobHash::from_bytes(hasher.finalize().into()), bytes, chunks };
    store.finish_upload(upload, &blob)?;
    Ok(blob)
}

/// Reads the next chunk of a stream; only the last one is shorter.
fn read_chunk(source: &mut dyn Read) -> Result<Vec<u8>> {
    let mut chunk = Vec::new();
    source
        .take(CHUNK_BYTES as u64)
        .read_to_end(&mut chunk)
        .map_err(|source| Error::Source { source: Arc::new(source) })?;
    Ok(chunk)
}

/// Reads a blob of any length, with one chunk in memory at a time.
///
/// A blob of one chunk is verified before its first byte is returned. The hash of a longer one is
/// known only at the end: its bytes are verified once the reader has reached the end without an
/// error.
pub struct BlobReader<'a> {
    store: &'a dyn Store,
    blob: Blob,
    hasher: blake3::Hasher,
    next: u64,
    rest: io::Cursor<Vec<u8>>,
}

impl<'a> BlobReader<'a> {
    /// Opens a blob and reads its first chunk.
    pub fn open(store: &'a dyn Store, hash: BlobHash) -> Result<Self> {
        let blob = store.blob(hash)?.ok_or(Error::MissingBlob { hash })?;
        let mut reader =
            Self { store, blob, hasher: blake3::Hasher::new(), next: 0, rest: io::Cursor::default() };
        reader.advance()?;
        Ok(reader)
    }

    /// Returns the blob that is read.
    pub fn blob(&self) -> &Blob {
        &self.blob
    }

    /// Reads the next chunk, and verifies the hash after the last one.
    fn advance(&mut self) -> Result<()> {
        let hash = self.blob.hash;
        let damaged = |reason| Error::DamagedBlob { hash, reason };
        let chunk = self.store.blob_chunk(hash, self.next)?.ok_or_else(|| damaged("a chunk is missing"))?;
        let content = chunk.unpack().map_err(damaged)?;
        self.hasher.update(&content);
        self.next += 1;
        if self.next == self.blob.chunks && hash.as_bytes() != self.hasher.finalize().as_bytes() {
            return Err(damaged(HASH_MISMATCH));
        }
        self.rest = io::Cursor::new(content);
        Ok(())
    }
}

impl Read for BlobReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.rest.read(buffer)?;
            if count > 0 || buffer.is_empty() || self.next == self.blob.chunks {
                return Ok(count);
            }
            self.advance().map_err(io::Error::other)?;
        }
    }
}

/// Reads a whole blob of at most `limit` bytes.
pub fn read_blob(store: &dyn Store, hash: BlobHash, limit: usize) -> Result<Vec<u8>> {
    let mut reader = BlobReader::open(store, hash)?;
    if reader.blob.bytes > limit as u64 {
        return Err(Error::Limit { what: "bytes of a blob read into memory", limit: limit as u64 });
    }
    let mut content = std::mem::take(&mut reader.rest).into_inner();
    while reader.next < reader.blob.chunks {
        reader.advance()?;
        content.append(reader.rest.get_mut());
    }
    Ok(content)
}

/// Reads and verifies many blobs of one chunk at once. Leaves out longer and missing ones.
pub fn read_blobs(store: &dyn Store, hashes: &[BlobHash]) -> Result<HashMap<BlobHash, Vec<u8>>> {
    let mut contents = HashMap::with_capacity(hashes.len());
    for (hash, chunk) in store.small_blobs(hashes)? {
        let damaged = |reason| Error::DamagedBlob { hash, reason };
        let content = chunk.unpack().map_err(damaged)?;
        if BlobHash::of(&content) != hash {
            return Err(damaged(HASH_MISMATCH));
        }
        contents.insert(hash, content);
    }
    Ok(contents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_reads_back() {
        for content in [Vec::new(), b"a".to_vec(), b"abc".repeat(1000), (0..=255).collect()] {
            assert_eq!(Chunk::pack(&content).unwrap().unpack().unwrap(), content);
        }
        let text = Chunk::pack(&b"abc".repeat(1000)).unwrap();
        assert_eq!(text.codec(), Codec::Zstd);
        assert!(text.stored().len() < 100);
        assert_eq!(text.bytes(), 3000);
    }

    #[test]
    fn a_chunk_never_grows_beyond_its_promise() {
        let bomb = zstd::bulk::compress(&vec![0; CHUNK_BYTES], 3).unwrap();
        let unpack = |codec, bytes, stored: &[u8]| Chunk::from_stored(codec, bytes, stored).unpack();
        assert!(unpack(Codec::Zstd, 10, &bomb).is_err());
        assert!(unpack(Codec::Zstd, u32::MAX, &bomb).is_err());
        assert!(unpack(Codec::Zstd, 10, b"no frame").is_err());
        assert!(unpack(Codec::Plain, 10, b"short").is_err());
        assert_eq!(Chunk::pack(&vec![0; CHUNK_BYTES + 1]).unwrap_err().code(), "limit-exceeded");
    }
}
