//! One message of a conversation: a line of JSON, kept as it was written.
//!
//! Reading is lenient, so that messages of other tools load: a line must be an object with a role.
//! A new message is a [`Draft`] and is validated in full. Unknown fields stay where they are, with
//! the spelling of their values.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::json::{self, Json, JsonError};
use crate::{Error, InvalidId, MessageId};

/// Maximum length of a message, in bytes of its line.
pub const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Maximum length of a message in its file: with its id, time and former ids.
pub(crate) const LINE_BYTES_MAX: usize = MESSAGE_BYTES_MAX + 4096;

/// Role of the author of a message.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// System instructions.
    System,
    /// Instructions of the developer of an application.
    Developer,
    /// A person, or a program that acts for one.
    User,
    /// The model.
    Assistant,
    /// Result of a tool.
    Tool,
    /// A role that another tool wrote. Invalid for new messages.
    Other(Box<str>),
}

/// Roles of new messages.
pub const ROLES: [Role; 5] = [Role::System, Role::Developer, Role::User, Role::Assistant, Role::Tool];

impl Role {
    /// Name of the role in a message.
    pub fn as_str(&self) -> &str {
        match self {
            Role::System => "system",
            Role::Developer => "developer",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
            Role::Other(text) => text,
        }
    }

    fn read(text: &str) -> Role {
        text.parse().unwrap_or_else(|_| Role::Other(text.into()))
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Role {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl FromStr for Role {
    type Err = MessageError;

    /// Parses one of [`ROLES`].
    fn from_str(text: &str) -> Result<Role, MessageError> {
        let known = ROLES.into_iter().find(|role| role.as_str() == text);
        known.ok_or_else(|| MessageError::Role { role: text.chars().take(40).collect() })
    }
}

/// Error of validating a message.
#[derive(Debug, thiserror::Error)]
pub enum MessageError {
    /// The text is not JSON.
    #[error("the message is not JSON")]
    Json(#[from] JsonError),
    /// The JSON value is not an object.
    #[error("a message is a JSON object")]
    NotAnObject,
    /// A field is missing or has the wrong type.
    #[error("`{field}` of the message must be {expected}")]
    Field {
        /// Name of the field.
        field: &'static str,
        /// Expected type.
        expected: &'static str,
    },
    /// The role is unknown.
    #[error("`{role}` is not a role; use system, developer, user, assistant or tool")]
    Role {
        /// Role as given, shortened.
        role: String,
    },
    /// The id is not a ULID.
    #[error("the id of the message is invalid")]
    Id(#[from] InvalidId),
    /// The message is too long.
    #[error("the message has more than {MESSAGE_BYTES_MAX} bytes")]
    TooLong,
}

/// Content of a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Content {
    /// No content, as in a message that only calls tools.
    Nothing,
    /// Plain text.
    Text(String),
    /// A list of parts, as in the chat APIs; includes parts of unknown kinds.
    Parts(Vec<Json>),
}

impl Content {
    /// Joins the text of all parts with line breaks.
    pub fn text(&self) -> String {
        match self {
            Content::Nothing => String::new(),
            Content::Text(text) => text.clone(),
            Content::Parts(parts) => {
                let texts =
                    parts.iter().filter_map(|part| part.pointer("/text").unwrap_or(part.clone()).to_text());
                texts.collect::<Vec<_>>().join("\n")
            }
        }
    }
}

impl Json {
    /// Returns the text of a JSON string.
    pub fn to_text(&self) -> Option<String> {
        serde_json::from_str(self.as_str()).ok()
    }
}

/// Fields that this crate interprets.
#[derive(Deserialize)]
struct KnownFields<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    role: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_calls: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_call_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    time: Option<&'a RawValue>,
    #[serde(borrow, default)]
    metadata: Option<&'a RawValue>,
}

impl<'a> KnownFields<'a> {
    fn parse(line: &'a str) -> Result<Self, MessageError> {
        if !line.trim_start().starts_with('{') {
            Json::parse(line)?;
            return Err(MessageError::NotAnObject);
        }
        Ok(serde_json::from_str(line).map_err(JsonError::Syntax)?)
    }

    fn text(raw: Option<&'a RawValue>) -> Option<Cow<'a, str>> {
        #[derive(Deserialize)]
        struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
        serde_json::from_str(raw?.get()).ok().map(|Text(text)| text)
    }
}

impl JsonSchema for Role {
    fn schema_name() -> Cow<'static, str> {
        "Role".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

/// A message of a conversation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    line: Box<str>,
    id: Option<MessageId>,
    role: Role,
    time: Option<Timestamp>,
}

impl Message {
    /// Parses a line without its line break.
    pub fn read(line: &str) -> Result<Message, MessageError> {
        let known = KnownFields::parse(line)?;
        let role = KnownFields::text(known.role)
            .ok_or(MessageError::Field { field: "role", expected: "a string" })
            .map(|role| Role::read(&role))?;
        let id = KnownFields::text(known.id).and_then(|id| id.parse().ok());
        let time = KnownFields::text(known.time).and_then(|time| time.parse().ok());
        Ok(Message { line: line.trim().into(), id, role, time })
    }

    /// Returns the message if it is short enough to be read back from a file.
    pub(crate) fn of_valid_length(self) -> Result<Message, MessageError> {
        if self.line.len() > LINE_BYTES_MAX { Err(MessageError::TooLong) } else { Ok(self) }
    }

    /// Whole message as JSON, as it was written.
    pub fn as_json(&self) -> &str {
        &self.line
    }

    /// Id of the message. Messages of older tools have none until the context is converted.
    pub fn id(&self) -> Option<MessageId> {
        self.id
    }

    /// Role of the author.
    pub fn role(&self) -> &Role {
        &self.role
    }

    /// Time of the message.
    pub fn time(&self) -> Option<Timestamp> {
        self.time
    }

    /// Content of the message.
    pub fn content(&self) -> Content {
        let Some(raw) = self.known_fields().content else { return Content::Nothing };
        match raw.get().as_bytes() {
            [b'"', ..] => Content::Text(KnownFields::text(Some(raw)).unwrap_or_default().into_owned()),
            [b'[', ..] => {
                let parts: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
                Content::Parts(parts.into_iter().filter_map(|part| Json::parse(part.get()).ok()).collect())
            }
            _ => Content::Nothing,
        }
    }

    /// Name of the author within the role, or of the tool.
    pub fn name(&self) -> Option<String> {
        KnownFields::text(self.known_fields().name).map(Cow::into_owned)
    }

    /// Tool calls of the model.
    pub fn tool_calls(&self) -> Option<Json> {
        self.known_fields().tool_calls.and_then(|raw| Json::parse(raw.get()).ok())
    }

    /// Id of the tool call that this message answers.
    pub fn tool_call_id(&self) -> Option<String> {
        KnownFields::text(self.known_fields().tool_call_id).map(Cow::into_owned)
    }

    /// Metadata of the author.
    pub fn metadata(&self) -> Option<Json> {
        self.known_fields().metadata.and_then(|raw| Json::parse(raw.get()).ok())
    }

    /// Returns the value of any field.
    pub fn field(&self, name: &str) -> Option<Json> {
        let found = json::fields(&self.line)?.into_iter().rev().find(|(known, _)| known == name)?.1;
        Json::parse(found).ok()
    }

    /// Converts the message to the form of the chat APIs, without our own fields.
    pub fn to_chat(&self) -> Json {
        const OURS: [&str; 3] = ["id", "time", "metadata"];
        let all = json::fields(&self.line).unwrap_or_default().into_iter();
        let theirs =
            all.filter(|(name, _)| !OURS.contains(&&**name)).map(|(name, value)| (name, value.into()));
        Json::parse(&json::object(theirs)).expect("its fields were read")
    }

    /// Returns the message with an id greater than `last`. A message without such an id gets one
    /// with its own time, and keeps the former id as `source_id`.
    pub(crate) fn with_increasing_id(self, last: Option<MessageId>, now: Timestamp) -> Message {
        if self.id > last {
            return self;
        }
        let all = json::fields(&self.line).expect("a message is an object");
        let names =
            (1..).map(|count| if count == 1 { "source_id".to_owned() } else { format!("source_id_{count}") });
        let is_free = |name: &String| all.iter().all(|(known, _)| known != name);
        let free = names.into_iter().find(is_free).expect("there are more names than fields");
        let renamed = all.iter().map(|(name, value)| {
            let name = if name == "id" { Cow::Borrowed(&*free) } else { Cow::Borrowed(&**name) };
            (name, Cow::Borrowed(*value))
        });
        let id = MessageId::generate(last, self.time.or_else(|| self.legacy_time()).unwrap_or(now));
        let fields = [(Cow::Borrowed("id"), Cow::Owned(format!("\"{id}\"")))].into_iter().chain(renamed);
        let line = json::object(fields).into_boxed_str();
        Message { line, id: Some(id), ..self }
    }

    /// Time in the format of older tools; UTC if it has no offset.
    fn legacy_time(&self) -> Option<Timestamp> {
        let text = self.field("timestamp")?.to_text()?;
        let civil = || text.parse::<jiff::civil::DateTime>().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok();
        text.parse().ok().or_else(|| Some(civil()?.timestamp()))
    }

    fn known_fields(&self) -> KnownFields<'_> {
        KnownFields::parse(&self.line).expect("it was read before")
    }
}

/// Serialises the message as it was written.
impl JsonSchema for Message {
    fn schema_name() -> Cow<'static, str> {
        "Message".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "properties": { "id": { "type": "string" }, "role": generator.subschema_for::<Role>() },
            "required": ["role"],
        })
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        raw(&self.line).serialize(serializer)
    }
}

fn raw(json: &str) -> &RawValue {
    serde_json::from_str(json).expect("it was read as JSON before")
}

/// A message to append. The save adds an id and a time if they are missing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Draft {
    object: Json,
    id: Option<MessageId>,
    has_time: bool,
}

impl Draft {
    /// Creates a message of text.
    pub fn text(role: Role, text: &str) -> Draft {
        let fields = [("role", json::quoted(role.as_str())), ("content", json::quoted(text))];
        let fields = fields.map(|(name, value)| (name.into(), value.into()));
        let object = Json::from_compact(json::object(fields));
        Draft { object, id: None, has_time: false }
    }

    /// Parses a message with any fields from a JSON object. Validates all known fields.
    pub fn parse(text: &str) -> Result<Draft, MessageError> {
        if text.len() > MESSAGE_BYTES_MAX {
            return Err(MessageError::TooLong);
        }
        let object = Json::parse(text)?;
        let known = KnownFields::parse(object.as_str())?;
        let expect = |field, expected, holds: bool| match holds {
            true => Ok(()),
            false => Err(MessageError::Field { field, expected }),
        };
        let begins =
            |raw: Option<&RawValue>, with: &[char]| raw.is_none_or(|raw| raw.get().starts_with(with));
        let role = KnownFields::text(known.role)
            .ok_or(MessageError::Field { field: "role", expected: "a string" })?;
        role.parse::<Role>()?;
        expect("content", "a string, a list of parts or null", begins(known.content, &['"', '[']))?;
        if let Some(parts) = known.content.filter(|raw| raw.get().starts_with('[')) {
            let parts: Vec<&RawValue> = serde_json::from_str(parts.get()).map_err(JsonError::Syntax)?;
            let are_parts = parts.iter().all(|part| part.get().starts_with(['{', '"']));
            expect("content", "a list of objects or strings", are_parts)?;
        }
        let is_text = |raw: Option<&RawValue>| raw.is_none() || KnownFields::text(raw).is_some();
        expect("content", "text that is Unicode", !begins(known.content, &['"']) || is_text(known.content))?;
        expect("name", "a string", is_text(known.name))?;
        expect("tool_call_id", "a string", is_text(known.tool_call_id))?;
        expect("tool_calls", "a list", begins(known.tool_calls, &['[']))?;
        expect("metadata", "an object", begins(known.metadata, &['{']))?;
        let time = known
            .time
            .map(|raw| KnownFields::text(Some(raw)).and_then(|time| time.parse::<Timestamp>().ok()));
        expect("time", "a time as in RFC 3339", time != Some(None))?;
        expect("id", "a string", is_text(known.id))?;
        let id = KnownFields::text(known.id).map(|id| id.parse::<MessageId>()).transpose()?;
        Ok(Draft { id, has_time: time.is_some(), object })
    }

    /// Parses messages as JSON objects, one a line; skips empty lines. The error has the number of
    /// the first invalid message.
    pub fn parse_lines(text: &str) -> Result<Vec<Draft>, Error> {
        let lines = (1..).zip(text.lines().filter(|line| !line.trim().is_empty()));
        let parse = |(number, line)| Draft::parse(line).map_err(|source| Error::Message { number, source });
        lines.map(parse).collect()
    }

    /// Fails if the message could not be read back.
    pub(crate) fn check_length(&self) -> Result<(), MessageError> {
        if self.len() > MESSAGE_BYTES_MAX { Err(MessageError::TooLong) } else { Ok(()) }
    }

    /// Length in bytes, without id and time.
    pub(crate) fn len(&self) -> usize {
        self.object.as_str().len()
    }

    /// Id of the draft, if it has one.
    pub fn id(&self) -> Option<MessageId> {
        self.id
    }

    /// Appends the line of the message, with missing fields in front. The draft is already valid.
    pub(crate) fn write(&self, id: MessageId, now: Timestamp, out: &mut String) {
        out.push('{');
        if self.id.is_none() {
            *out += &format!("\"id\":\"{id}\",");
        }
        if !self.has_time {
            *out += &format!("\"time\":\"{now}\",");
        }
        *out += self.object.as_str().strip_prefix('{').expect("a draft is an object");
    }
}

impl Serialize for Draft {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        raw(self.object.as_str()).serialize(serializer)
    }
}

/// Supports JSON text only, so that numbers keep their spelling.
impl<'de> Deserialize<'de> for Draft {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Draft, D::Error> {
        let object = Box::<RawValue>::deserialize(deserializer)?;
        Draft::parse(object.get()).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

    fn finish(draft: &Draft) -> Message {
        let id = draft.id().unwrap_or(ID.parse().unwrap());
        let mut line = String::new();
        draft.write(id, "2026-11-15T12:00:00Z".parse().unwrap(), &mut line);
        Message::read(&line).unwrap()
    }

    #[test]
    fn drafts_keep_their_spelling_in_json() {
        let drafts = Draft::parse_lines("{\"role\":\"user\",\"n\":1.10}\n\n{\"role\":\"tool\"}\n").unwrap();
        let json = serde_json::to_string(&drafts).unwrap();
        assert!(json.contains("1.10"), "{json}");
        assert_eq!(serde_json::from_str::<Vec<Draft>>(&json).unwrap(), drafts);
        assert!(serde_json::from_str::<Draft>("{\"role\":\"nobody\"}").is_err());
        let error = Draft::parse_lines("{\"role\":\"user\"}\n{").unwrap_err();
        assert_eq!(error.to_string(), "message 2 cannot be appended");
    }

    #[test]
    fn a_text_message_gets_id_and_time() {
        let message = finish(&Draft::text(Role::User, "hello\n\"you\""));
        assert_eq!(
            message.as_json(),
            format!(
                r#"{{"id":"{ID}","time":"2026-11-15T12:00:00Z","role":"user","content":"hello\n\"you\""}}"#
            )
        );
        assert_eq!(message.content(), Content::Text("hello\n\"you\"".to_owned()));
        assert_eq!((message.id(), message.role()), (Some(ID.parse().unwrap()), &Role::User));
        assert_eq!(message.time(), Some("2026-11-15T12:00:00Z".parse().unwrap()));
    }

    #[test]
    fn unknown_fields_and_spellings_survive() {
        let text = format!(
            "{{ \"role\": \"assistant\", \"content\": null, \"score\": 1.10,\n \"id\": \"{ID}\", \"tool_calls\": [{{\"id\":\"c1\"}}], \"time\": \"2026-01-02T03:04:05.060+01:00\", \"x\": {{\"é\":[1e5]}} }}"
        );
        let message = finish(&Draft::parse(&text).unwrap());
        assert_eq!(message.as_json(), json::compact(&text).unwrap());
        assert_eq!(message.field("score").unwrap().as_str(), "1.10");
        assert_eq!(message.field("x").unwrap().as_str(), r#"{"é":[1e5]}"#);
        assert_eq!(message.field("nothing"), None);
        assert_eq!(message.content(), Content::Nothing);
        assert_eq!(message.tool_calls().unwrap().as_str(), r#"[{"id":"c1"}]"#);
        assert_eq!(Message::read(message.as_json()).unwrap(), message);
    }

    #[test]
    fn parts_of_unknown_kinds_are_kept() {
        let text = r#"{"role":"user","content":[{"type":"text","text":"look"},{"type":"hologram","v":1.0},"and"],"name":"ada","tool_call_id":"c","metadata":{"a":1}}"#;
        let message = finish(&Draft::parse(text).unwrap());
        let Content::Parts(parts) = message.content() else { panic!("parts") };
        assert_eq!(parts[1].as_str(), r#"{"type":"hologram","v":1.0}"#);
        assert_eq!(message.content().text(), "look\nand");
        assert_eq!(message.name().as_deref(), Some("ada"));
        assert_eq!(message.tool_call_id().as_deref(), Some("c"));
        assert_eq!(message.metadata().unwrap().as_str(), r#"{"a":1}"#);
        assert_eq!(Content::Nothing.text(), "");
    }

    #[test]
    fn a_draft_is_validated_in_full() {
        for (text, expected) in [
            ("x", "the message is not JSON"),
            ("[]", "a message is a JSON object"),
            ("{}", "`role` of the message must be a string"),
            (r#"{"role":1}"#, "`role` of the message must be a string"),
            (r#"{"role":"x"}"#, "`x` is not a role; use system, developer, user, assistant or tool"),
            (
                r#"{"role":"user","content":1}"#,
                "`content` of the message must be a string, a list of parts or null",
            ),
            (
                r#"{"role":"user","content":[1]}"#,
                "`content` of the message must be a list of objects or strings",
            ),
            (
                r#"{"role":"user","content":"\ud800"}"#,
                "`content` of the message must be text that is Unicode",
            ),
            (r#"{"role":"user","name":[]}"#, "`name` of the message must be a string"),
            (r#"{"role":"user","tool_call_id":{}}"#, "`tool_call_id` of the message must be a string"),
            (r#"{"role":"user","tool_calls":{}}"#, "`tool_calls` of the message must be a list"),
            (r#"{"role":"user","metadata":[]}"#, "`metadata` of the message must be an object"),
            (r#"{"role":"user","time":"yesterday"}"#, "`time` of the message must be a time as in RFC 3339"),
            (r#"{"role":"user","id":7}"#, "`id` of the message must be a string"),
            (r#"{"role":"user","id":"msg_1"}"#, "the id of the message is invalid"),
            (r#"{"role":"user","role":"tool"}"#, "the message is not JSON"),
        ] {
            assert_eq!(Draft::parse(text).unwrap_err().to_string(), expected, "{text}");
        }
        let long = format!(r#"{{"role":"user","content":"{}"}}"#, "x".repeat(MESSAGE_BYTES_MAX));
        assert!(matches!(Draft::parse(&long), Err(MessageError::TooLong)));
    }

    #[test]
    fn reading_accepts_messages_of_other_tools() {
        let message =
            Message::read(r#"{"role":"function","content":"42","timestamp":"2025-01-01T10:00:00"}"#).unwrap();
        assert_eq!(message.role(), &Role::Other("function".into()));
        assert_eq!(message.role().to_string(), "function");
        assert_eq!((message.id(), message.time()), (None, None));
        assert_eq!(Message::read(r#"{"role":"user","content":7}"#).unwrap().content(), Content::Nothing);
        assert!(Message::read(r#"{"content":"x"}"#).is_err());
        assert!(Message::read("7").is_err());
        for role in ROLES {
            assert_eq!(Message::read(&format!(r#"{{"role":"{role}"}}"#)).unwrap().role(), &role);
        }
    }

    #[test]
    fn a_message_without_an_increasing_id_gets_one_of_its_time() {
        let read = |text: &str| Message::read(text).unwrap();
        let now = Timestamp::UNIX_EPOCH;
        let message = read(r#"{"role":"user","id":7,"timestamp":"2025-01-01T10:00:00.250","n":1.10}"#);
        let given = message.with_increasing_id(None, now);
        assert_eq!(given.id().unwrap().time(), Some("2025-01-01T10:00:00.25Z".parse().unwrap()));
        let rest = r#","role":"user","source_id":7,"timestamp":"2025-01-01T10:00:00.250","n":1.10}"#;
        assert!(given.as_json().ends_with(rest));
        assert_eq!(Message::read(given.as_json()).unwrap(), given);
        assert_eq!(given.clone().with_increasing_id(None, now), given);
        let again = given.clone().with_increasing_id(given.id(), now);
        assert!(again.id() > given.id());
        assert_eq!(again.field("source_id_2").unwrap().to_text(), Some(given.id().unwrap().to_string()));
        assert_eq!(read(r#"{"role":"user"}"#).with_increasing_id(None, now).id().unwrap().time(), Some(now));
    }
}
