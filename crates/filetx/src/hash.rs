//! Content hashes: BLAKE3, 32 bytes.

use std::fmt;

use crate::disk::StoredFile;
use std::io;

/// Length of one read of a file, in bytes.
pub(crate) const CHUNK_BYTES: usize = 128 * 1024;

/// A BLAKE3 hash of content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// Hashes `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// Hashes an open file from `start` up to `end` or the end of the file.
    pub fn of_file(file: &dyn StoredFile, start: u64, end: u64) -> io::Result<Self> {
        let mut hasher = blake3::Hasher::new();
        let mut buffer = vec![0; CHUNK_BYTES.min(end.saturating_sub(start) as usize)];
        let mut offset = start;
        while offset < end {
            let wanted = buffer.len().min((end - offset) as usize);
            let len = file.read_at(&mut buffer[..wanted], offset)?;
            if len == 0 {
                break;
            }
            hasher.update(&buffer[..len]);
            offset += len as u64;
        }
        Ok(Self(*hasher.finalize().as_bytes()))
    }

    /// Hashes up to `bytes` bytes of a reader.
    pub fn of_reader(reader: &mut dyn io::Read, bytes: u64) -> io::Result<Self> {
        let mut hasher = blake3::Hasher::new();
        let mut buffer = vec![0; CHUNK_BYTES.min(bytes as usize)];
        let mut left = bytes;
        while left > 0 {
            let wanted = buffer.len().min(left as usize);
            match reader.read(&mut buffer[..wanted])? {
                0 => break,
                len => {
                    hasher.update(&buffer[..len]);
                    left -= len as u64;
                }
            }
        }
        Ok(Self(*hasher.finalize().as_bytes()))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", hex(&self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", hex(&self.0[..4]))
    }
}

/// Formats bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> impl fmt::Display {
    fmt::from_fn(move |f| bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}")))
}
