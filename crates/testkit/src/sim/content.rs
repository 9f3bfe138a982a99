//! The bytes of a file, in sectors that states share, so that copying a disk copies no bytes.

use std::ops::Range;
use std::sync::Arc;

use super::hash;

/// The unit that a power cut keeps or loses.
pub const SECTOR_BYTES: usize = 512;

/// The bytes of a file. `None` is a sector of zeros, and bytes past the end are zeros, so that
/// equal files compare equal.
#[derive(Clone, Default)]
pub(super) struct Content {
    len: u64,
    sectors: Vec<Sector>,
    /// The sum of the fingerprints of all sectors.
    digest: u128,
}

/// One sector.
pub(super) type Sector = Option<Arc<Bytes>>;

/// The bytes of a sector that is not all zeros, and their hash.
pub(super) struct Bytes {
    hash: u128,
    bytes: [u8; SECTOR_BYTES],
}

impl Content {
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Returns a number that distinguishes contents.
    pub(super) fn fingerprint(&self) -> u128 {
        hash::mix(self.digest, u128::from(self.len))
    }

    /// Returns the sector at `index`; zeros past the end.
    pub(super) fn sector(&self, index: usize) -> &Sector {
        self.sectors.get(index).unwrap_or(&None)
    }

    /// Returns the number of sectors for the length.
    pub(super) fn sector_count(&self) -> usize {
        self.sectors.len()
    }

    pub(super) fn read(&self, buffer: &mut [u8], offset: u64) -> usize {
        let available = self.len.saturating_sub(offset).min(buffer.len() as u64) as usize;
        for (index, within, part) in parts(offset, available) {
            match self.sector(index) {
                Some(sector) => buffer[part].copy_from_slice(&sector.bytes[within]),
                None => buffer[part].fill(0),
            }
        }
        available
    }

    pub(super) fn to_vec(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.len as usize];
        self.read(&mut bytes, 0);
        bytes
    }

    /// Writes, and grows as needed. Returns the sectors that may have changed.
    pub(super) fn write(&mut self, bytes: &[u8], offset: u64) -> Range<usize> {
        if bytes.is_empty() {
            return 0..0;
        }
        let count_before = self.sector_count();
        let end = offset + bytes.len() as u64;
        if end > self.len {
            self.set_len(end);
        }
        for (index, within, part) in parts(offset, bytes.len()) {
            let mut whole = self.bytes(index);
            whole[within].copy_from_slice(&bytes[part]);
            self.put(index, sector_of(&whole));
        }
        let first = (offset / SECTOR_BYTES as u64) as usize;
        first.min(count_before)..sectors_for(end)
    }

    /// Truncates, or extends with zeros. Returns the remaining sectors that may have changed.
    pub(super) fn set_len(&mut self, len: u64) -> Range<usize> {
        let count_before = self.sector_count();
        let count = sectors_for(len);
        for index in count..count_before {
            self.put(index, None);
        }
        self.sectors.resize(count, None);
        let cuts = len < self.len;
        self.len = len;
        if cuts && count > 0 {
            let last = self.sectors[count - 1].clone();
            self.set_sector(count - 1, last);
            return count - 1..count;
        }
        count_before.min(count)..count
    }

    /// Replaces a sector of the file; bytes past the end of the file stay zero.
    pub(super) fn set_sector(&mut self, index: usize, sector: Sector) {
        let end = (self.len - (index * SECTOR_BYTES) as u64).min(SECTOR_BYTES as u64) as usize;
        match &sector {
            Some(old) if old.bytes[end..].iter().any(|byte| *byte != 0) => {
                let mut whole = old.bytes;
                whole[end..].fill(0);
                self.put(index, sector_of(&whole));
            }
            _ => self.put(index, sector),
        }
    }

    fn bytes(&self, index: usize) -> [u8; SECTOR_BYTES] {
        self.sector(index).as_ref().map_or([0; SECTOR_BYTES], |sector| sector.bytes)
    }

    fn put(&mut self, index: usize, sector: Sector) {
        let adds =
            |sector: &Sector| sector.as_ref().map_or(0, |sector| hash::mix(index as u128, sector.hash));
        let old = &mut self.sectors[index];
        self.digest = self.digest.wrapping_sub(adds(old)).wrapping_add(adds(&sector));
        *old = sector;
    }
}

/// Tells whether two sectors have the same bytes.
pub(super) fn same(a: &Sector, b: &Sector) -> bool {
    a.as_ref().map(|sector| sector.hash) == b.as_ref().map(|sector| sector.hash)
}

/// Returns a number that distinguishes sectors.
pub(super) fn fingerprint(sector: &Sector) -> u128 {
    sector.as_ref().map_or(0, |sector| sector.hash)
}

fn sector_of(bytes: &[u8; SECTOR_BYTES]) -> Sector {
    if bytes.iter().all(|byte| *byte == 0) {
        return None;
    }
    Some(Arc::new(Bytes { hash: hash::of_bytes(bytes), bytes: *bytes }))
}

fn sectors_for(len: u64) -> usize {
    len.div_ceil(SECTOR_BYTES as u64) as usize
}

/// Splits a range of a file at sector boundaries: the sector, its bytes, and the bytes of the
/// buffer.
fn parts(offset: u64, len: usize) -> impl Iterator<Item = (usize, Range<usize>, Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done == len {
            return None;
        }
        let at = offset + done as u64;
        let start = (at % SECTOR_BYTES as u64) as usize;
        let count = (SECTOR_BYTES - start).min(len - done);
        let part = done..done + count;
        done += count;
        Some(((at / SECTOR_BYTES as u64) as usize, start..start + count, part))
    })
}
