//! Bytes in JSON output. Stored records keep the form of [`PathBytes`](crate::PathBytes).

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// Bytes as JSON output has them: a text, or `{"base64": "…"}` where they are not UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(untagged)]
pub enum JsonBytes {
    /// UTF-8.
    Text(String),
    /// Other bytes.
    Base64 {
        /// The standard alphabet, with padding.
        base64: String,
    },
}

impl JsonBytes {
    /// Converts bytes.
    pub fn of(bytes: &[u8]) -> Self {
        match str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Base64 { base64: BASE64_STANDARD.encode(bytes) },
        }
    }

    /// Serializes a field of bytes: `#[serde(serialize_with = "JsonBytes::serialize_bytes")]`.
    pub fn serialize_bytes<S: Serializer>(
        bytes: &impl AsRef<[u8]>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        Self::of(bytes.as_ref()).serialize(serializer)
    }

    /// Serializes an optional field of bytes.
    pub fn serialize_option<S: Serializer>(
        bytes: &Option<impl AsRef<[u8]>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        bytes.as_ref().map(|bytes| Self::of(bytes.as_ref())).serialize(serializer)
    }

    /// Serializes a list of bytes.
    pub fn serialize_list<S: Serializer>(
        list: &[impl AsRef<[u8]>],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(list.iter().map(|bytes| Self::of(bytes.as_ref())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_a_text_or_base64() {
        let json = |bytes: &[u8]| serde_json::to_string(&JsonBytes::of(bytes)).unwrap();
        assert_eq!(json("é\n".as_bytes()), "\"é\\n\"");
        assert_eq!(json(b"a\xff"), "{\"base64\":\"Yf8=\"}");
    }
}
