//! JSON kept as text: values keep their spelling unless they change, so `1.10` stays `1.10`, and
//! fields keep their order.
//!
//! Only white space between tokens is dropped. Parsing into a tree of values and printing it would
//! lose the spelling of numbers.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Maximum nesting of arrays and objects.
pub const DEPTH_MAX: usize = 128;

/// One JSON value, without white space between its tokens.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Json(Arc<str>);

/// Error of parsing JSON.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    /// The syntax is invalid.
    #[error("it is not JSON")]
    Syntax(#[source] serde_json::Error),
    /// The nesting is too deep.
    #[error("it is nested deeper than {DEPTH_MAX}")]
    Depth,
    /// The text is not UTF-8.
    #[error("it is not UTF-8 text")]
    Utf8(#[source] std::str::Utf8Error),
}

impl JsonError {
    /// Line and column, counted from 1, if known.
    pub fn position(&self) -> Option<(usize, usize)> {
        match self {
            JsonError::Syntax(error) => Some((error.line(), error.column())),
            _ => None,
        }
    }
}

impl Json {
    /// Parses one JSON value.
    pub fn parse(text: &str) -> Result<Json, JsonError> {
        let raw: &RawValue = serde_json::from_str(text).map_err(JsonError::Syntax)?;
        let compact = compact(raw.get()).ok_or(JsonError::Depth)?;
        Ok(Json(compact.into()))
    }

    /// Parses one JSON value from the bytes of a file.
    pub fn parse_bytes(bytes: &[u8]) -> Result<Json, JsonError> {
        Json::parse(std::str::from_utf8(bytes).map_err(JsonError::Utf8)?)
    }

    /// Wraps a text that this crate built from JSON values, without white space.
    pub(crate) fn from_compact(text: String) -> Json {
        Json(text.into())
    }

    /// Returns `{}`.
    pub fn empty() -> Json {
        Json("{}".into())
    }

    /// Text of the value.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true if the value is an object.
    pub fn is_object(&self) -> bool {
        self.0.starts_with('{')
    }

    /// Formats the value on several lines, indented by two, like older tools.
    pub fn pretty(&self) -> String {
        pretty(&self.0)
    }

    /// Returns the value at a JSON Pointer (RFC 6901).
    pub fn pointer(&self, pointer: &str) -> Option<Json> {
        let mut at: &str = &self.0;
        let names = match pointer.strip_prefix('/') {
            None if pointer.is_empty() => return Some(self.clone()),
            None => return None,
            Some(names) => names.split('/'),
        };
        for name in names {
            let name = name.replace("~1", "/").replace("~0", "~");
            if at.starts_with('[') {
                let items: Vec<&RawValue> = serde_json::from_str(at).ok()?;
                let is_index = name == "0" || !name.starts_with(['0', '+']);
                at = items.get(name.parse::<usize>().ok().filter(|_| is_index)?)?.get();
            } else {
                at = fields(at)?.into_iter().rev().find(|(key, _)| *key == name)?.1;
            }
        }
        Some(Json(at.into()))
    }

    /// Applies a JSON Merge Patch (RFC 7396): `null` removes, objects are merged, everything else
    /// replaces.
    pub fn merged(&self, patch: &Json) -> Json {
        Json(merge(&self.0, &patch.0).into_owned().into())
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&serde_json::Value> for Json {
    fn from(value: &serde_json::Value) -> Json {
        Json(value.to_string().into())
    }
}

/// Returns the fields of an object in order; `None` if the text is not an object. Keeps duplicate
/// names.
pub(crate) fn fields(text: &str) -> Option<Vec<(Cow<'_, str>, &str)>> {
    struct Fields<'a>(Vec<(Cow<'a, str>, &'a str)>);
    impl<'de> Deserialize<'de> for Fields<'de> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Collect;
            impl<'de> Visitor<'de> for Collect {
                type Value = Fields<'de>;
                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str("an object")
                }
                fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                    let mut all = Vec::new();
                    while let Some((key, value)) = map.next_entry::<String, &RawValue>()? {
                        all.push((Cow::Owned(key), value.get()));
                    }
                    Ok(Fields(all))
                }
            }
            deserializer.deserialize_map(Collect)
        }
    }
    // Most values are not objects, and an error of the parser is costly.
    if !text.trim_start().starts_with('{') {
        return None;
    }
    serde_json::from_str::<Fields<'_>>(text).ok().map(|found| found.0)
}

/// Builds an object with these fields.
pub(crate) fn object<'a>(fields: impl IntoIterator<Item = (Cow<'a, str>, Cow<'a, str>)>) -> String {
    let mut out = String::from("{");
    for (name, value) in fields {
        if out.len() > 1 {
            out.push(',');
        }
        out.push_str(&quoted(&name));
        out.push(':');
        out.push_str(&value);
    }
    out.push('}');
    out
}

/// Quotes a text as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text is a JSON string")
}

fn merge<'a>(target: &'a str, patch: &'a str) -> Cow<'a, str> {
    let Some(changes) = fields(patch) else { return patch.into() };
    let mut merged: Vec<(Cow<'a, str>, Cow<'a, str>)> =
        fields(target).unwrap_or_default().into_iter().map(|(name, value)| (name, value.into())).collect();
    for (name, change) in changes {
        // The last of several equal names counts.
        let before = merged.iter().rposition(|(known, _)| *known == name);
        match (before, change) {
            (_, "null") => merged.retain(|(known, _)| *known != name),
            (Some(at), change) => merged[at].1 = merge(&merged[at].1, change).into_owned().into(),
            (None, change) => merged.push((name, merge("null", change))),
        }
    }
    object(merged).into()
}

/// Removes white space between the tokens of valid JSON; `None` if it is nested too deep.
pub(crate) fn compact(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut depth = 0_usize;
    for token in (Tokens { text, at: 0 }) {
        match token {
            "{" | "[" if depth == DEPTH_MAX => return None,
            "{" | "[" => depth += 1,
            "}" | "]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        out.push_str(token);
    }
    Some(out)
}

fn pretty(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut depth = 0_usize;
    let mut tokens = Tokens { text, at: 0 }.peekable();
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        (0..depth).for_each(|_| out.push_str("  "));
    };
    while let Some(token) = tokens.next() {
        match token {
            "{" | "[" => {
                out.push_str(token);
                if let Some(&end) = tokens.peek().filter(|next| matches!(**next, "}" | "]")) {
                    out.push_str(end);
                    tokens.next();
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            "}" | "]" => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push_str(token);
            }
            "," => {
                out.push(',');
                line(&mut out, depth);
            }
            ":" => out.push_str(": "),
            token => out.push_str(token),
        }
    }
    out
}

/// Tokens of valid JSON.
struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        let start = self.at;
        match bytes.get(start)? {
            b'{' | b'}' | b'[' | b']' | b',' | b':' => self.at += 1,
            b'"' => {
                self.at += 1;
                while let Some(found) = memchr::memchr2(b'"', b'\\', &bytes[self.at..]) {
                    let is_end = bytes[self.at + found] == b'"';
                    // An escaped quote does not end the string.
                    self.at = (self.at + found + if is_end { 1 } else { 2 }).min(bytes.len());
                    if is_end {
                        break;
                    }
                }
            }
            _ => {
                let ends = |byte: &u8| matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b':' | b'"');
                while bytes.get(self.at).is_some_and(|byte| !ends(byte) && !byte.is_ascii_whitespace()) {
                    self.at += 1;
                }
            }
        }
        self.text.get(start..self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        Json::parse(text).unwrap()
    }

    #[test]
    fn values_keep_their_spelling() {
        for text in [
            "1.10",
            "-0.0e+00",
            "123456789012345678901234567890",
            r#""\u00e9\/ \" \\ é""#,
            "null",
            r#"{"b":1.10,"a":[],"b":2}"#,
        ] {
            assert_eq!(json(&format!(" {text}\n")).as_str(), text);
        }
        assert_eq!(json("{ \"a b\" : [ 1 , \"c , d\" ] }").as_str(), r#"{"a b":[1,"c , d"]}"#);
    }

    #[test]
    fn invalid_json_is_rejected_with_its_position() {
        assert_eq!(Json::parse("{\n  \"a\": x}").unwrap_err().position(), Some((2, 8)));
        assert!(Json::parse("{} {}").is_err());
        assert!(matches!(Json::parse_bytes(b"\"\xff\""), Err(JsonError::Utf8(_))));
        let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(Json::parse(&deep(DEPTH_MAX)).is_ok());
        let error = Json::parse(&deep(DEPTH_MAX + 1)).unwrap_err();
        assert!(matches!(error, JsonError::Depth) && error.position().is_none());
    }

    #[test]
    fn pretty_matches_the_format_of_older_tools() {
        let text = r#"{"a":[1,{"b":"x, y: {"}],"c":{},"d":[]}"#;
        let expected = "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"x, y: {\"\n    }\n  ],\n  \"c\": {},\n  \"d\": []\n}";
        assert_eq!(json(text).pretty(), expected);
        assert_eq!(json(expected).as_str(), text);
    }

    #[test]
    fn a_merge_patch_changes_only_named_fields() {
        // The table of RFC 7396, appendix A.
        for (target, patch, expected) in [
            (r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"b":"c"}"#, r#"{"a":"b","b":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"a":null}"#, "{}"),
            (r#"{"a":"b","b":"c"}"#, r#"{"a":null}"#, r#"{"b":"c"}"#),
            (r#"{"a":["b"]}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"c"}"#, r#"{"a":["b"]}"#, r#"{"a":["b"]}"#),
            (r#"{"a":{"b":"c"}}"#, r#"{"a":{"b":"d","c":null}}"#, r#"{"a":{"b":"d"}}"#),
            (r#"{"a":[{"b":"c"}]}"#, r#"{"a":[1]}"#, r#"{"a":[1]}"#),
            (r#"["a","b"]"#, r#"["c","d"]"#, r#"["c","d"]"#),
            (r#"{"a":"b"}"#, r#"["c"]"#, r#"["c"]"#),
            (r#"{"a":"foo"}"#, "null", "null"),
            (r#"{"a":"foo"}"#, r#""bar""#, r#""bar""#),
            (r#"{"e":null}"#, r#"{"a":1}"#, r#"{"e":null,"a":1}"#),
            ("[1,2]", r#"{"a":"b","c":null}"#, r#"{"a":"b"}"#),
            ("{}", r#"{"a":{"bb":{"ccc":null}}}"#, r#"{"a":{"bb":{}}}"#),
            // Fields that the patch does not name keep their spelling.
            (r#"{"x":1.10,"y":{"z":1e2}}"#, r#"{"y":{"w":0.50}}"#, r#"{"x":1.10,"y":{"z":1e2,"w":0.50}}"#),
        ] {
            assert_eq!(json(target).merged(&json(patch)).as_str(), expected);
        }
    }

    #[test]
    fn pointers_lead_to_values() {
        let value = json(r#"{"a":[1.10,{"b/c":true}],"":0,"~":"t","é":2}"#);
        for (pointer, expected) in [
            ("/a/0", Some("1.10")),
            ("/a/1/b~1c", Some("true")),
            ("/", Some("0")),
            ("/~0", Some("\"t\"")),
            ("/é", Some("2")),
            ("/a/2", None),
            ("/a/00", None),
            ("/a/+1", None),
            ("/x", None),
            ("/a/0/x", None),
            ("a", None),
        ] {
            assert_eq!(value.pointer(pointer).as_ref().map(Json::as_str), expected, "{pointer}");
        }
        assert_eq!(value.pointer(""), Some(value.clone()));
    }

    #[test]
    fn serde_values_are_converted() {
        assert_eq!(Json::from(&serde_json::json!({"a": "é\n"})).to_string(), r#"{"a":"é\n"}"#);
        assert!(Json::empty().is_object() && !json("[]").is_object());
    }
}
