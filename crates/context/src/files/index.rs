//! `messages.index`: the offset of every 64th message, to find message n without reading all before
//! it.
//!
//! The file has lines of equal length, each `NUMBER OFFSET HASH`: the number of a message counted
//! from 0 (12 digits), the offset of its line in `messages.jsonl` (20 digits), and the first 16
//! hexadecimal digits of the SHA-256 of that line.
//!
//! The commit that writes the messages writes the index, one entry for 64 messages, so that a save
//! stays as small as its message. Readers verify an entry: it must have the right number, and a
//! line with its hash must begin at its offset. If it does not, or if the file is missing, readers
//! count from the start, and the next writer of an entry rebuilds the file.

use sha2::{Digest, Sha256};

/// Number of messages per entry.
pub(crate) const INTERVAL: u64 = 64;
/// Length of an entry.
pub(crate) const ENTRY_BYTES: u64 = 51;

/// Offset of one message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub(crate) number: u64,
    pub(crate) offset: u64,
    pub(crate) hash: [u8; 8],
}

impl Entry {
    pub(crate) fn new(number: u64, offset: u64, line: &[u8]) -> Entry {
        Entry { number, offset, hash: hash(line) }
    }

    /// Returns true if the entry was made for this line.
    pub(crate) fn matches(&self, line: &[u8]) -> bool {
        self.hash == hash(line)
    }

    pub(crate) fn encode(&self) -> String {
        let hash = u64::from_be_bytes(self.hash);
        format!("{:012} {:020} {hash:016x}\n", self.number, self.offset)
    }

    /// Parses an entry; `None` if it is invalid.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Entry> {
        let text = std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?;
        let mut parts = text.split(' ');
        let number = parts.next()?.parse().ok()?;
        let offset = parts.next()?.parse().ok()?;
        let hash = u64::from_str_radix(parts.next()?, 16).ok()?.to_be_bytes();
        let entry = Entry { number, offset, hash };
        (entry.encode().as_bytes() == bytes).then_some(entry)
    }
}

/// Returns true if this message, counted from 0, has an entry.
pub(crate) fn is_indexed(number: u64) -> bool {
    number.is_multiple_of(INTERVAL)
}

/// Length of the index of so many messages.
pub(crate) fn bytes_for(count: u64) -> u64 {
    count.div_ceil(INTERVAL) * ENTRY_BYTES
}

/// Offset of the entry for a message, or for the nearest indexed one before it.
pub(crate) fn entry_offset(number: u64) -> u64 {
    number / INTERVAL * ENTRY_BYTES
}

fn hash(line: &[u8]) -> [u8; 8] {
    let digest = Sha256::digest(line);
    std::array::from_fn(|at| digest[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_entries_round_trip() {
        for (number, offset) in [(0, 0), (64, 12_345), (999_999_999_936, u64::MAX)] {
            let entry = Entry::new(number, offset, b"{}");
            assert_eq!(entry.encode().len() as u64, ENTRY_BYTES);
            assert_eq!(Entry::decode(entry.encode().as_bytes()), Some(entry.clone()));
            assert!(entry.matches(b"{}") && !entry.matches(b"{} "));
        }
    }

    #[test]
    fn invalid_index_entries_are_rejected() {
        let good = Entry::new(64, 99, b"x").encode();
        for at in 0..good.len() {
            for byte in [b'\0', b' ', b'x', b'\n', 0xff] {
                let mut bytes = good.clone().into_bytes();
                if bytes[at] != byte {
                    bytes[at] = byte;
                    assert_eq!(Entry::decode(&bytes), None, "{at} {byte}");
                }
            }
        }
        assert_eq!(Entry::decode(b""), None);
        assert_eq!(Entry::decode(&good.as_bytes()[1..]), None);
    }

    #[test]
    fn index_lengths_and_offsets() {
        assert_eq!([0, 1, 64, 65].map(|count| bytes_for(count) / ENTRY_BYTES), [0, 1, 1, 2]);
        assert_eq!([0, 63, 64, 200].map(|number| entry_offset(number) / ENTRY_BYTES), [0, 0, 1, 3]);
        assert!(is_indexed(0) && !is_indexed(63) && is_indexed(64));
    }
}
