//! BLAKE3 hashes, with a type for each use.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{Error, Result, hex};

macro_rules! hash {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
        #[schemars(transparent)]
        pub struct $name(#[schemars(with = "String")] [u8; 32]);

        impl $name {
            /// Hashes bytes.
            pub fn of(bytes: &[u8]) -> Self {
                Self(blake3::hash(bytes).into())
            }

            /// Wraps 32 bytes.
            pub const fn from_bytes(bytes: [u8; 32]) -> Self {
                Self(bytes)
            }

            /// Returns the 32 bytes.
            pub const fn as_bytes(&self) -> &[u8; 32] {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&hex::encode(&self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({self})", stringify!($name))
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self> {
                hex::decode(text)
                    .and_then(|bytes| bytes.try_into().ok())
                    .map(Self)
                    .ok_or_else(|| Error::invalid_text("hash", text, "a hash has 64 hexadecimal digits"))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
            }
        }
    };
}

hash!(
    /// The hash of a blob's uncompressed bytes.
    BlobHash
);
hash!(
    /// The hash of an audit record and, through it, of all earlier records of its chain; likewise
    /// of the entries of a changeset.
    ChainHash
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_read_back() {
        let hash = BlobHash::of(b"abc");
        assert_eq!(hash.to_string().parse::<BlobHash>().unwrap(), hash);
        let json = serde_json::to_string(&hash).unwrap();
        assert_eq!(serde_json::from_str::<BlobHash>(&json).unwrap(), hash);
        assert!(format!("{hash:?}").starts_with("BlobHash(6437b3ac"));
        assert_eq!(BlobHash::from_bytes(*hash.as_bytes()), hash);
        assert_eq!("abc".parse::<ChainHash>().unwrap_err().code(), "invalid-text");
    }
}
