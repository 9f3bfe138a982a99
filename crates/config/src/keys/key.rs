//! Dotted keys: `core.format`, `x."a.b".c`.
//!
//! A [`Key`] is a list of names. Its text follows TOML: a name that is not bare is quoted.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Error;

/// Maximum length of a key in bytes of its text.
pub const KEY_BYTES_MAX: usize = 1024;
/// Maximum number of names in a key. The TOML parser stops at 80 nested tables.
pub const KEY_NAMES_MAX: usize = 32;

/// A dotted key with at least one name. Serialised as its text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Key(Vec<String>);

impl Key {
    /// Parses a dotted key.
    pub fn parse(text: &str) -> Result<Key, Error> {
        let invalid = |reason| Error::InvalidKey { key: shortened(text), reason };
        if text.trim().is_empty() {
            return Err(invalid("it is empty"));
        }
        if text.len() > KEY_BYTES_MAX {
            return Err(invalid("it is longer than 1024 bytes"));
        }
        if text.contains(['\n', '\r']) {
            return Err(invalid("it has a line break"));
        }
        if is_plain(text) && text.split('.').count() <= KEY_NAMES_MAX {
            return Ok(Self::from_names(text.split('.')));
        }
        let names = toml_edit::Key::parse(text)
            .map_err(|_| invalid("its names are letters, digits, `_`, `-`, or quoted, with dots between"))?;
        if names.len() > KEY_NAMES_MAX {
            return Err(invalid("it has more than 32 names"));
        }
        Ok(Self(names.iter().map(|name| name.get().to_owned()).collect()))
    }

    /// Builds a key of valid names, at least one.
    pub(crate) fn from_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Key {
        Self(names.into_iter().map(str::to_owned).collect())
    }

    /// Names, outermost first.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// First name.
    pub fn section(&self) -> &str {
        &self.0[0]
    }

    /// Returns true if this is `prefix` or a key below it. Compares whole names.
    pub fn is_within(&self, prefix: &Key) -> bool {
        self.0.starts_with(&prefix.0)
    }

    /// Environment variable of this key: `CLEVERAGENTS_<SECTION>_<KEY>`.
    pub fn variable(&self) -> String {
        let name = self.0.join("_").to_uppercase().replace(['.', '-'], "_");
        format!("CLEVERAGENTS_{name}")
    }
}

/// Returns true if all names are bare, as nearly always: such a key needs no parser.
fn is_plain(text: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    };
    text.split('.').all(is_name)
}

/// Joins names with dots, quoted as in TOML.
pub(crate) fn dotted(names: &[String]) -> String {
    let quoted = names.iter().map(|name| toml_edit::Key::new(name).display_repr().into_owned());
    quoted.collect::<Vec<_>>().join(".")
}

impl FromStr for Key {
    type Err = Error;

    fn from_str(text: &str) -> Result<Key, Error> {
        Self::parse(text)
    }
}

impl TryFrom<String> for Key {
    type Error = Error;

    fn try_from(text: String) -> Result<Key, Error> {
        Self::parse(&text)
    }
}

impl From<Key> for String {
    fn from(key: Key) -> String {
        key.to_string()
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&dotted(&self.0))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

/// Limits the text in messages: users may paste megabytes.
fn shortened(text: &str) -> String {
    const SHOWN_MAX: usize = 80;
    if text.chars().count() <= SHOWN_MAX {
        return text.to_owned();
    }
    text.chars().take(SHOWN_MAX).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        let key = Key::parse(text).ok().map(|key| key.to_string());
        assert_eq!(key.as_deref(), expected, "{text:?}");
    }

    #[test]
    fn keys_are_dotted_names() {
        check("core.format", Some("core.format"));
        check("x", Some("x"));
        check("x.\"a.b\".c", Some("x.\"a.b\".c"));
        check("x.'plain'", Some("x.plain"));
        check("x.\"ä\"", Some("x.\"ä\""));
        check("x.\"\"", Some("x.\"\""));
        check("x-1._y", Some("x-1._y"));
    }

    #[test]
    fn invalid_keys_are_rejected() {
        for text in ["", "  ", ".", "a.", ".a", "a..b", "a b", "a=1", "ä", "a\n.b", "\"a", "a.\"b\nc\""] {
            check(text, None);
        }
        check(&"a".repeat(KEY_BYTES_MAX), Some(&"a".repeat(KEY_BYTES_MAX)));
        check(&"a".repeat(KEY_BYTES_MAX + 1), None);
        check(&vec!["a"; KEY_NAMES_MAX + 1].join("."), None);
    }

    #[test]
    fn a_long_key_is_shortened_in_the_message() {
        let message = Key::parse(&"=".repeat(5000)).unwrap_err().to_string();
        assert!(message.len() < 300, "{message}");
    }

    #[test]
    fn dots_and_dashes_become_underscores() {
        assert_eq!(Key::parse("core.lock-timeout").unwrap().variable(), "CLEVERAGENTS_CORE_LOCK_TIMEOUT");
        assert_eq!(format!("{:?}", Key::parse("a.b").unwrap()), "`a.b`");
    }
}
