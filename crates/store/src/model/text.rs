//! Short texts that are validated once, when they are parsed (actors, owners, names, states, audit
//! kinds), and paths, which are bytes.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use ulid::Ulid;

use crate::limits::{PATH_BYTES_MAX, TEXT_BYTES_MAX, WORD_BYTES_MAX};
use crate::{Error, Result};

macro_rules! text {
    ($(#[$doc:meta])* $name:ident, $what:literal, $rule:path) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Validates a text.
            pub fn parse(text: impl Into<String>) -> Result<Self> {
                let text = text.into();
                match $rule(&text) {
                    Ok(()) => Ok(Self(text)),
                    Err(reason) => Err(Error::invalid_text($what, text, reason)),
                }
            }

            /// Returns the text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self> {
                Self::parse(text)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::parse(String::deserialize(deserializer)?).map_err(de::Error::custom)
            }
        }
    };
}

text!(
    /// The name of an actor: an agent, a script or a person.
    Actor,
    "actor",
    line
);
text!(
    /// The holder of a lease. No two holders share a text: it names the machine and the process,
    /// and has a random part.
    Owner,
    "owner",
    line
);
text!(
    /// The tool that made a change.
    Tool,
    "tool",
    line
);
text!(
    /// The name of a plan or node.
    Name,
    "name",
    name
);
text!(
    /// The state of a plan or node. The layer above defines the states and their order.
    State,
    "state",
    word
);
text!(
    /// The kind of an audit record: words separated by dots.
    AuditKind,
    "kind",
    dotted
);

fn line(text: &str) -> Result<(), &'static str> {
    match text {
        "" => Err("it is empty"),
        _ if text.len() > TEXT_BYTES_MAX => Err("it has more than 200 bytes"),
        _ if text.chars().any(char::is_control) => Err("it has control characters"),
        _ if text.trim() != text => Err("it begins or ends with a space"),
        _ => Ok(()),
    }
}

fn name(text: &str) -> Result<(), &'static str> {
    line(text)?;
    match text {
        _ if text.starts_with('@') => Err("names that begin with `@` are reserved, like @latest"),
        _ if Ulid::from_string(text).is_ok() => Err("it looks like an id"),
        _ => Ok(()),
    }
}

fn word(text: &str) -> Result<(), &'static str> {
    spelled(text, |character| character.is_ascii_lowercase() || character == '-')
}

fn dotted(text: &str) -> Result<(), &'static str> {
    spelled(text, |character| character.is_ascii_lowercase() || character == '-' || character == '.')
}

fn spelled(text: &str, allowed: impl Fn(char) -> bool) -> Result<(), &'static str> {
    match text {
        "" => Err("it is empty"),
        _ if text.len() > WORD_BYTES_MAX => Err("it has more than 40 bytes"),
        _ if !text.chars().all(allowed) => Err("only lowercase letters and dashes are allowed"),
        _ => Ok(()),
    }
}

/// A path in the bytes of the file system, which need not be UTF-8. Its stored JSON is a text, or
/// `{"hex": "…"}` where it is not UTF-8; output has [`JsonBytes`](crate::JsonBytes).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(transparent)]
pub struct PathBytes(#[schemars(with = "PathJson")] Vec<u8>);

impl PathBytes {
    /// Checks the length, and that there is no zero byte. `filetx` checks that a path stays below
    /// its root.
    pub fn parse(bytes: impl Into<Vec<u8>>) -> Result<Self> {
        let bytes = bytes.into();
        let reason = match bytes.as_slice() {
            [] => "it is empty",
            _ if bytes.len() > PATH_BYTES_MAX => "it has more than 4096 bytes",
            _ if bytes.contains(&0) => "it has a zero byte",
            _ => return Ok(Self(bytes)),
        };
        Err(Error::invalid_text("path", String::from_utf8_lossy(&bytes), reason))
    }

    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the JSON that the canonical form of an entry contains.
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("paths serialize as JSON")
    }

    /// Returns a text for people: `\xff` stands for a byte that is not UTF-8.
    pub fn show(&self) -> Cow<'_, str> {
        if let Ok(text) = str::from_utf8(&self.0) {
            return text.into();
        }
        let mut shown = String::with_capacity(self.0.len() + 8);
        for chunk in self.0.utf8_chunks() {
            shown.push_str(chunk.valid());
            shown.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
        }
        shown.into()
    }
}

impl AsRef<[u8]> for PathBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for PathBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.show())
    }
}

#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(untagged)]
enum PathJson {
    Text(String),
    Hex {
        hex: String,
    },
    /// The form of output.
    Base64 {
        base64: String,
    },
}

impl Serialize for PathBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => PathJson::Hex { hex: crate::hex::encode(&self.0) }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for PathBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = match PathJson::deserialize(deserializer)? {
            PathJson::Text(text) => text.into_bytes(),
            PathJson::Hex { hex } => crate::hex::decode(&hex)
                .ok_or_else(|| de::Error::custom("a path is not valid hexadecimal"))?,
            PathJson::Base64 { base64 } => BASE64_STANDARD.decode(base64).map_err(de::Error::custom)?,
        };
        Self::parse(bytes).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: FromStr<Err = Error>>(good: &[&str], bad: &[&str]) {
        for text in good {
            assert!(text.parse::<T>().is_ok(), "{text:?}");
        }
        for text in bad {
            assert!(text.parse::<T>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn texts_are_checked_where_they_come_in() {
        let long = "x".repeat(TEXT_BYTES_MAX + 1);
        check::<Actor>(&["coder", "Ana B.", "é"], &["", "a\nb", " a", &long]);
        check::<Name>(&["fix login"], &["@latest", "01ARZ3NDEKTSV4RRFFQ69G5FAV", ""]);
        check::<State>(&["ready", "not-yet"], &["", "Ready", "a.b", &long]);
        check::<AuditKind>(&["plan.created"], &["", "Plan", "a b"]);
    }

    #[test]
    fn texts_read_back_and_are_checked_again() {
        let actor: Actor = "coder".parse().unwrap();
        assert_eq!(serde_json::from_str::<Actor>("\"coder\"").unwrap(), actor);
        assert_eq!(serde_json::to_string(&actor).unwrap(), "\"coder\"");
        assert!(serde_json::from_str::<Actor>("\"\"").is_err());
    }

    #[test]
    fn a_path_is_bytes() {
        for bytes in [b"a/b".to_vec(), vec![0xff, b'/', 0xfe], b"new\nline".to_vec()] {
            let path = PathBytes::parse(bytes.clone()).unwrap();
            let json = serde_json::to_string(&path).unwrap();
            assert_eq!(serde_json::from_str::<PathBytes>(&json).unwrap().as_bytes(), bytes);
        }
        assert_eq!(format!("{:?}", PathBytes::parse("a").unwrap()), "\"a\"");
        assert_eq!(PathBytes::parse(&b"a\xff\xc3\xa9"[..]).unwrap().show(), "a\\xff\u{e9}");
        assert!(serde_json::from_str::<PathBytes>("{\"hex\":\"0g\"}").is_err());
        for bad in [Vec::new(), b"a\0b".to_vec(), vec![b'x'; PATH_BYTES_MAX + 1]] {
            assert!(PathBytes::parse(bad).is_err());
        }
    }
}
