//! Names of contexts. A name becomes a folder and a lock file, so it is validated before any I/O.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Error;

/// Maximum length of a name in bytes: with prefix and suffix it is a valid file name everywhere.
pub const NAME_BYTES_MAX: usize = 128;

/// Device names of Windows, with any extension.
const DEVICES: &[&str] = &["con", "prn", "aux", "nul"];
/// Device names of Windows that end with a digit.
const NUMBERED_DEVICES: &[&str] = &["com", "lpt"];

/// Name of a context: letters, digits, `-`, `_` and `.`; no dot at either end; a valid file name on
/// every system.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize, Debug)]
#[serde(try_from = "String")]
pub struct Name(String);

impl Name {
    /// Validates a name. Does no I/O.
    pub fn new(text: &str) -> Result<Name, Error> {
        match problem(text) {
            None => Ok(Name(text.to_owned())),
            Some(reason) => Err(Error::InvalidName { name: shown(text), reason }),
        }
    }

    /// Text of the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Name {
    type Err = Error;

    fn from_str(text: &str) -> Result<Name, Error> {
        Name::new(text)
    }
}

impl TryFrom<String> for Name {
    type Error = Error;

    fn try_from(text: String) -> Result<Name, Error> {
        Name::new(&text)
    }
}

fn problem(text: &str) -> Option<&'static str> {
    // Combining marks are not letters, so only one of two spellings of an accented letter is valid.
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let stem = text.split('.').next().unwrap_or_default().to_lowercase();
    let is_numbered = |device: &&str| {
        stem.strip_prefix(*device)
            .is_some_and(|rest| rest.len() == 1 && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    if text.is_empty() {
        Some("it is empty")
    } else if text.len() > NAME_BYTES_MAX {
        Some("it is longer than 128 bytes")
    } else if !text.chars().all(is_plain) {
        Some("it may have letters, digits, `-`, `_` and `.` only")
    } else if text.starts_with('.') || text.ends_with('.') {
        Some("it begins or ends with a dot")
    } else if text.starts_with('-') {
        Some("it begins with a dash, like an option")
    } else if DEVICES.contains(&&*stem) || NUMBERED_DEVICES.iter().any(is_numbered) {
        Some("it is a device name on some systems")
    } else {
        None
    }
}

/// Shortens an invalid name and escapes control characters.
fn shown(text: &str) -> String {
    let cut: String = text.chars().take(60).collect();
    let dots = if cut.len() < text.len() { "…" } else { "" };
    format!("{}{dots}", cut.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, reason: Option<&str>) {
        let found = match Name::new(text) {
            Ok(name) => {
                assert_eq!(name.as_str(), text);
                None
            }
            Err(Error::InvalidName { reason, .. }) => Some(reason),
            Err(error) => panic!("{error}"),
        };
        assert_eq!(found, reason, "{text:?}");
    }

    #[test]
    fn plain_names_are_valid() {
        for name in
            ["chat", "Chat-2", "a", "review_2026.11", "日本語", "é", "console", "com10", "comx", "lpt"]
        {
            check(name, None);
        }
        check(&"n".repeat(NAME_BYTES_MAX), None);
    }

    #[test]
    fn unsafe_names_are_rejected() {
        let plain = Some("it may have letters, digits, `-`, `_` and `.` only");
        for name in ["../x", "a/b", "a\\b", "a b", "a\nb", "a\0b", "c:", "a*", "e\u{301}", "a\u{202e}b"] {
            check(name, plain);
        }
        check("", Some("it is empty"));
        check(&"n".repeat(300), Some("it is longer than 128 bytes"));
        check("..", Some("it begins or ends with a dot"));
        check(".locks", Some("it begins or ends with a dot"));
        check("a.", Some("it begins or ends with a dot"));
        check("-rf", Some("it begins with a dash, like an option"));
        for name in ["con", "NUL", "Aux.txt", "com1", "LPT9.log"] {
            check(name, Some("it is a device name on some systems"));
        }
    }

    #[test]
    fn names_are_validated_on_deserialisation() {
        let name: Name = serde_json::from_str("\"chat\"").unwrap();
        assert_eq!(serde_json::to_string(&name).unwrap(), "\"chat\"");
        assert!(serde_json::from_str::<Name>("\"../x\"").is_err());
    }

    #[test]
    fn an_invalid_name_is_shortened_and_escaped() {
        let long = "x/".repeat(200);
        let error = Name::new(&long).unwrap_err().to_string();
        assert!(error.len() < 200, "{error}");
        let error = Name::new("a\u{1b}[2J").unwrap_err().to_string();
        assert!(error.contains("a\\u{1b}[2J"), "{error}");
    }
}
