//! Layout of older tools: messages as one JSON array.

use serde_json::value::RawValue;

use crate::error::Damage;
use crate::model::json;
use crate::{Json, JsonError, Message};

/// Parses the messages of an array, each to one line.
pub(crate) fn messages(bytes: &[u8]) -> Result<Vec<Message>, Damage> {
    if bytes.is_empty() {
        return Ok(Vec::new());
    }
    let text = std::str::from_utf8(bytes).map_err(JsonError::Utf8)?;
    if !text.trim_start().starts_with('[') {
        Json::parse(text)?;
        return Err(Damage::WrongType { expected: "a list of messages" });
    }
    let all: Vec<&RawValue> = serde_json::from_str(text).map_err(JsonError::Syntax)?;
    all.into_iter()
        .map(|raw| Ok(Message::read(&json::compact(raw.get()).ok_or(JsonError::Depth)?)?))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legacy_arrays_are_parsed() {
        let text = "[\n  {\n    \"role\": \"user\",\n    \"content\": \"a\\nb\",\n    \"n\": 1.10\n  },\n  {\"role\":\"tool\"}\n]";
        let messages = messages(text.as_bytes()).unwrap();
        let lines: Vec<&str> = messages.iter().map(Message::as_json).collect();
        assert_eq!(lines, [r#"{"role":"user","content":"a\nb","n":1.10}"#, r#"{"role":"tool"}"#]);
        assert_eq!(super::messages(b"").unwrap(), []);
        assert_eq!(super::messages(b" [] ").unwrap(), []);
    }

    #[test]
    fn other_legacy_content_is_rejected() {
        assert!(matches!(messages(b"{}"), Err(Damage::WrongType { .. })));
        assert!(matches!(messages(b"[1]"), Err(Damage::Message(_))));
        assert!(matches!(messages(b"[{\"role\":\"user\"}"), Err(Damage::Json(_))));
        assert!(matches!(messages(b"x"), Err(Damage::Json(_))));
        assert!(matches!(messages(b"\xff"), Err(Damage::Json(_))));
    }
}
