//! Digest of the messages: finds changes that keep the length of the file.
//!
//! It is the XOR of one hash per message, the SHA-256 of its number (8 bytes, big-endian) and its
//! line. So an append and a rewind hash only the messages that they add or remove. It detects
//! accidents, not forgery: it has no key.

use sha2::{Digest as _, Sha256};

/// Digest of some messages of one conversation.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Digest([u8; 32]);

impl Digest {
    /// Adds the message with this number, counted from 0, or removes it if it was added before.
    pub(crate) fn toggle(&mut self, number: u64, line: &[u8]) {
        let hash = Sha256::new().chain_update(number.to_be_bytes()).chain_update(line).finalize();
        self.0.iter_mut().zip(hash).for_each(|(byte, other)| *byte ^= other);
    }

    pub(crate) fn encode(&self) -> String {
        filetx::hex(&self.0).to_string()
    }

    /// Parses a digest; `None` if it is invalid.
    pub(crate) fn decode(text: &str) -> Option<Digest> {
        let mut bytes = [0; 32];
        if text.len() != 2 * bytes.len() || !text.is_ascii() {
            return None;
        }
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
        }
        (Digest(bytes).encode() == text).then_some(Digest(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[&str]) -> Digest {
        let mut digest = Digest::default();
        (0..).zip(lines).for_each(|(number, line)| digest.toggle(number, line.as_bytes()));
        digest
    }

    #[test]
    fn digests_depend_on_content_and_order() {
        assert_eq!(of(&["a", "b"]), of(&["a", "b"]));
        assert_ne!(of(&["a", "b"]), of(&["a", "c"]));
        assert_ne!(of(&["a", "b"]), of(&["b", "a"]));
        assert_ne!(of(&["a", "a"]), of(&[]));
    }

    #[test]
    fn a_message_is_removed_by_toggling_it() {
        let mut digest = of(&["a", "b"]);
        digest.toggle(1, b"b");
        assert_eq!(digest, of(&["a"]));
    }

    #[test]
    fn digests_round_trip() {
        for digest in [of(&[]), of(&["a"])] {
            assert_eq!(Digest::decode(&digest.encode()), Some(digest));
        }
        for text in ["", "00", &"g".repeat(64), &"+f".repeat(32), &"ä".repeat(32), &"A".repeat(64)] {
            assert_eq!(Digest::decode(text), None, "{text}");
        }
    }
}
