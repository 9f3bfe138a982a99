//! Contents: addressed by hash, compressed in chunks, streamed in and out, verified on the way out.
//!
//! A content of one chunk is packed in the caller's thread and goes into the store together with what refers to it. A longer one is
//! uploaded chunk by chunk under an id of its own and gets its address at the end, when its hash is known.

use std::collections::HashMap;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{BLOB_CHUNKS_MAX, CHUNK_BYTES, UPLOAD_CHUNKS_MAX};
use crate::{BlobHash, Error, Result, Store, UploadId};

/// The fastest: a higher one costs a record its speed and wins little on source text.
const ZSTD_LEVEL: i32 = 1;
/// Contexts for compression that are kept; more threads may compress at the same time.
const COMPRESSORS_KEPT: usize = 8;

/// How a chunk's bytes are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// As they are: compression would not have made them shorter.
    Plain,
    /// As a zstd frame.
    Zstd,
}

/// A piece of a content as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    codec: Codec,
    bytes: u32,
    stored: Arc<[u8]>,
}

impl Chunk {
    /// Compresses up to [`CHUNK_BYTES`].
    pub fn pack(content: &[u8]) -> Result<Self> {
        let bytes = u32::try_from(content.len()).ok().filter(|_| content.len() <= CHUNK_BYTES);
        let Some(bytes) = bytes else {
            return Err(Error::Limit { what: "a chunk of a content", limit: CHUNK_BYTES as u64 });
        };
        // Compression fails for want of memory only; the content can be kept as it is then, too.
        let compressed = compress(content).ok();
        Ok(match compressed.filter(|compressed| compressed.len() < content.len()) {
            Some(compressed) => Self { codec: Codec::Zstd, bytes, stored: compressed.into() },
            None => Self { codec: Codec::Plain, bytes, stored: content.into() },
        })
    }

    /// As an engine has stored it.
    pub fn from_stored(codec: Codec, bytes: u32, stored: impl Into<Arc<[u8]>>) -> Self {
        Self { codec, bytes, stored: stored.into() }
    }

    /// How the bytes are kept.
    pub fn codec(&self) -> Codec {
        self.codec
    }

    /// How many bytes of content.
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// The bytes to store.
    pub fn stored(&self) -> &[u8] {
        &self.stored
    }

    /// The content; the reason when it cannot be had. Never more than was promised, whatever is stored.
    pub fn unpack(&self) -> Result<Vec<u8>, &'static str> {
        let expected = self.bytes as usize;
        if expected > CHUNK_BYTES {
            return Err("a chunk claims to be longer than chunks are");
        }
        let content = match self.codec {
            Codec::Plain => self.stored.to_vec(),
            Codec::Zstd => {
                zstd::bulk::decompress(&self.stored, expected).map_err(|_| "a chunk does not decompress")?
            }
        };
        if content.len() == expected { Ok(content) } else { Err("a chunk has another length than it should") }
    }
}

/// Compresses with a context that was used before, where there is one: making one costs more than a small content does.
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

/// A content of one chunk, with its hash: ready to go into the store together with what refers to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedBlob {
    hash: BlobHash,
    chunk: Chunk,
}

impl PackedBlob {
    /// Hashes and compresses up to [`CHUNK_BYTES`], in the caller's thread.
    pub fn new(content: &[u8]) -> Result<Self> {
        Ok(Self { hash: BlobHash::of(content), chunk: Chunk::pack(content)? })
    }

    /// The content's hash.
    pub fn hash(&self) -> BlobHash {
        self.hash
    }

    /// The content.
    pub fn chunk(&self) -> &Chunk {
        &self.chunk
    }
}

/// A content in the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blob {
    /// Its address.
    pub hash: BlobHash,
    /// Its length.
    pub bytes: u64,
    /// In how many chunks it is kept.
    pub chunks: u64,
}

/// Which contents to collect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collect {
    /// Whether to remove them or only to count them.
    pub mode: CollectMode,
    /// Those that came in within this time stay, since their entry may be about to be recorded.
    /// [`GRACE`](crate::limits::GRACE) unless there is a reason.
    pub grace: Duration,
}

/// Whether to remove or only to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectMode {
    /// Count what would go; change nothing.
    DryRun,
    /// Remove.
    Remove,
}

/// What nothing refers to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Collected {
    /// How many contents.
    pub blobs: u64,
    /// Their length before compression.
    pub bytes: u64,
    /// Uploads that were never finished.
    pub uploads: u64,
}

impl Collected {
    /// Counts these as well.
    pub(crate) fn add(&mut self, more: Collected) {
        self.blobs += more.blobs;
        self.bytes += more.bytes;
        self.uploads += more.uploads;
    }
}

/// Stores a content of any length, in memory bounded by [`UPLOAD_CHUNKS_MAX`] chunks. When it returns the content is durable.
/// Storing the same content again stores nothing twice.
pub fn put_blob(store: &dyn Store, source: &mut dyn Read) -> Result<Blob> {
    let first = read_chunk(source)?;
    if first.len() < CHUNK_BYTES {
        let packed = PackedBlob::new(&first)?;
        store.put_blob(&packed)?;
        return Ok(Blob { hash: packed.hash, bytes: first.len() as u64, chunks: 1 });
    }
    let upload = UploadId::new();
    // What fails half-way is dropped at once if that is possible, and else collected like anything nobody refers to.
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
            return Err(Error::Limit { what: "a content", limit: BLOB_CHUNKS_MAX * CHUNK_BYTES as u64 });
        }
        store.append_upload(upload, number, &packed)?;
    }
    let blob = Blob { hash: BlobHash::from_bytes(hasher.finalize().into()), bytes, chunks };
    store.finish_upload(upload, &blob)?;
    Ok(blob)
}

/// The next chunk of a stream; shorter only at its end.
fn read_chunk(source: &mut dyn Read) -> Result<Vec<u8>> {
    let mut chunk = Vec::new();
    source
        .take(CHUNK_BYTES as u64)
        .read_to_end(&mut chunk)
        .map_err(|source| Error::Source { source: Arc::new(source) })?;
    Ok(chunk)
}

/// Reads a content of any length, one chunk in memory at a time.
///
/// A content of one chunk is verified before its first byte is given out. Of a longer one the whole hash is known at the end only: a
/// reader that reached the end without an error has got the right content, and no other has.
pub struct BlobReader<'a> {
    store: &'a dyn Store,
    blob: Blob,
    hasher: blake3::Hasher,
    next: u64,
    rest: io::Cursor<Vec<u8>>,
}

impl<'a> BlobReader<'a> {
    /// Begins to read.
    pub fn open(store: &'a dyn Store, hash: BlobHash) -> Result<Self> {
        let blob = store.blob(hash)?.ok_or(Error::MissingBlob { hash })?;
        let mut reader =
            Self { store, blob, hasher: blake3::Hasher::new(), next: 0, rest: io::Cursor::default() };
        reader.advance()?;
        Ok(reader)
    }

    /// What is read.
    pub fn blob(&self) -> &Blob {
        &self.blob
    }

    /// Takes the next chunk; behind the last one everything must fit.
    fn advance(&mut self) -> Result<()> {
        let hash = self.blob.hash;
        let damaged = |reason| Error::DamagedBlob { hash, reason };
        let chunk = self.store.blob_chunk(hash, self.next)?.ok_or_else(|| damaged("a chunk is missing"))?;
        let content = chunk.unpack().map_err(damaged)?;
        self.hasher.update(&content);
        self.next += 1;
        if self.next == self.blob.chunks && hash.as_bytes() != self.hasher.finalize().as_bytes() {
            return Err(damaged("its hash is another"));
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

/// Reads a whole content that has at most `limit` bytes.
pub fn read_blob(store: &dyn Store, hash: BlobHash, limit: usize) -> Result<Vec<u8>> {
    let mut reader = BlobReader::open(store, hash)?;
    if reader.blob.bytes > limit as u64 {
        return Err(Error::Limit { what: "a content read into memory", limit: limit as u64 });
    }
    let mut content = std::mem::take(&mut reader.rest).into_inner();
    while reader.next < reader.blob.chunks {
        reader.advance()?;
        content.append(reader.rest.get_mut());
    }
    Ok(content)
}

/// Reads and verifies many contents at once: those of one chunk. Longer ones, and those that are not there, are left out.
pub fn read_blobs(store: &dyn Store, hashes: &[BlobHash]) -> Result<HashMap<BlobHash, Vec<u8>>> {
    let mut contents = HashMap::with_capacity(hashes.len());
    for (hash, chunk) in store.small_blobs(hashes)? {
        let damaged = |reason| Error::DamagedBlob { hash, reason };
        let content = chunk.unpack().map_err(damaged)?;
        if BlobHash::of(&content) != hash {
            return Err(damaged("its hash is another"));
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
        assert_eq!(Chunk::pack(&vec![0; CHUNK_BYTES + 1]).unwrap_err().code(), "limit");
    }
}
