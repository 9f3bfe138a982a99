//! Hashes that distinguish states. They are wide enough to make collisions among millions of states
//! unlikely, but are not cryptographic.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

/// The fingerprint of a tree of files: equal for equal trees, whatever the inode numbers.
pub type Fingerprint = u128;

/// A set of fingerprints, which are already hashes.
pub(crate) type FingerprintSet = HashSet<Fingerprint, BuildHasherDefault<AsItIs>>;

/// Hashes two numbers to one; the order matters.
pub(crate) fn mix(a: u128, b: u128) -> u128 {
    let low = fold(a as u64 ^ 0x9e37_79b9_7f4a_7c15, b as u64 ^ 0xd6e8_feb8_6659_fd93);
    let high = fold((a >> 64) as u64 ^ 0xa076_1d64_78bd_642f, (b >> 64) as u64 ^ 0xe703_7ed1_a0b4_28db);
    let first = fold(low ^ high.rotate_left(32), 0x8ebc_6af0_9c88_c6e3);
    let second = fold(high ^ low.rotate_left(23) ^ 0x5899_65cc_7537_4cc3, 0x1d8e_4e27_c47d_124f);
    (u128::from(first) << 64) | u128::from(second)
}

/// Hashes bytes.
pub(crate) fn of_bytes(bytes: &[u8]) -> u128 {
    let hash = blake3::hash(bytes);
    let half: [u8; 16] = hash.as_bytes()[..16].try_into().expect("a hash has 32 bytes");
    u128::from_le_bytes(half)
}

fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

/// Uses a number as its own hash.
#[derive(Default)]
pub(crate) struct AsItIs(u64);

impl Hasher for AsItIs {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u128(&mut self, value: u128) {
        self.0 = value as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
