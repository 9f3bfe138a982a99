//! One message of a conversation: a line of JSON, kept as it was written.
//!
//! Reading is lenient, so that what other tools wrote loads: a line has to be an object with a role. A new message is a [`Draft`] and
//! is checked in full. Fields that are not known here stay where they are, value by value in their own spelling.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::json::{self, Json, NotJson};
use crate::{Error, MessageId, NotAnId};

/// The longest message, in bytes of its line.
pub const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Who speaks.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// Instructions that come first.
    System,
    /// Instructions of who builds on a model.
    Developer,
    /// A person, or who stands for one.
    User,
    /// The model.
    Assistant,
    /// What a tool answered.
    Tool,
    /// What another tool wrote here. Not for new messages.
    Other(Box<str>),
}

/// The roles of new messages.
pub const ROLES: [Role; 5] = [Role::System, Role::Developer, Role::User, Role::Assistant, Role::Tool];

impl Role {
    /// As it stands in a message.
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
    type Err = NotAMessage;

    /// One of [`ROLES`].
    fn from_str(text: &str) -> Result<Role, NotAMessage> {
        let known = ROLES.into_iter().find(|role| role.as_str() == text);
        known.ok_or_else(|| NotAMessage::Role { role: text.chars().take(40).collect() })
    }
}

/// Why something is not taken as a message.
#[derive(Debug, thiserror::Error)]
pub enum NotAMessage {
    /// It does not parse.
    #[error("the message is not JSON")]
    Json(#[from] NotJson),
    /// It is JSON of another kind.
    #[error("a message is a JSON object")]
    NotAnObject,
    /// A field is missing or of another kind.
    #[error("`{field}` of the message must be {expected}")]
    Field {
        /// Its name.
        field: &'static str,
        /// What it must be.
        expected: &'static str,
    },
    /// The role is unknown.
    #[error("`{role}` is not a role: use system, developer, user, assistant or tool")]
    Role {
        /// As it was given.
        role: String,
    },
    /// The id is not one of ours.
    #[error("the message has an id that cannot be kept")]
    Id(#[from] NotAnId),
    /// It is too long.
    #[error("the message has more than {MESSAGE_BYTES_MAX} bytes")]
    TooLong,
}

/// What a message says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Content {
    /// Nothing, as when a model only calls tools.
    Nothing,
    /// Text.
    Text(String),
    /// A list of parts, as the chat APIs have them; kinds of parts that are not known here are kept.
    Parts(Vec<Json>),
}

impl Content {
    /// All that is text, parts on lines of their own.
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
    /// The text of a JSON string.
    pub fn to_text(&self) -> Option<String> {
        serde_json::from_str(self.as_str()).ok()
    }
}

/// The fields that are known here.
#[derive(Deserialize)]
struct Known<'a> {
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

impl<'a> Known<'a> {
    fn of(line: &'a str) -> Result<Self, NotAMessage> {
        if !line.trim_start().starts_with('{') {
            Json::parse(line)?;
            return Err(NotAMessage::NotAnObject);
        }
        Ok(serde_json::from_str(line).map_err(NotJson::Syntax)?)
    }

    fn text(raw: Option<&'a RawValue>) -> Option<Cow<'a, str>> {
        #[derive(Deserialize)]
        struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
        serde_json::from_str(raw?.get()).ok().map(|Text(text)| text)
    }
}

/// A message that is in a conversation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    line: Box<str>,
    id: Option<MessageId>,
    role: Role,
    time: Option<Timestamp>,
}

impl Message {
    /// Reads a line. It has no line break in it.
    pub fn read(line: &str) -> Result<Message, NotAMessage> {
        let known = Known::of(line)?;
        let role = Known::text(known.role)
            .ok_or(NotAMessage::Field { field: "role", expected: "a string" })
            .map(|role| Role::read(&role))?;
        let id = Known::text(known.id).and_then(|id| id.parse().ok());
        let time = Known::text(known.time).and_then(|time| time.parse().ok());
        Ok(Message { line: line.trim().into(), id, role, time })
    }

    /// The whole message as JSON, as it was written.
    pub fn as_json(&self) -> &str {
        &self.line
    }

    /// Its id. Messages of older tools have none until the context is converted.
    pub fn id(&self) -> Option<MessageId> {
        self.id
    }

    /// Who speaks.
    pub fn role(&self) -> &Role {
        &self.role
    }

    /// When it was said.
    pub fn time(&self) -> Option<Timestamp> {
        self.time
    }

    /// What it says.
    pub fn content(&self) -> Content {
        let Some(raw) = self.known().content else { return Content::Nothing };
        match raw.get().as_bytes() {
            [b'"', ..] => Content::Text(Known::text(Some(raw)).unwrap_or_default().into_owned()),
            [b'[', ..] => {
                let parts: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
                Content::Parts(parts.into_iter().filter_map(|part| Json::parse(part.get()).ok()).collect())
            }
            _ => Content::Nothing,
        }
    }

    /// Which of those that have this role speaks, or which tool.
    pub fn name(&self) -> Option<String> {
        Known::text(self.known().name).map(Cow::into_owned)
    }

    /// The tools that the model calls.
    pub fn tool_calls(&self) -> Option<Json> {
        self.known().tool_calls.and_then(|raw| Json::parse(raw.get()).ok())
    }

    /// The call that this answers.
    pub fn tool_call_id(&self) -> Option<String> {
        Known::text(self.known().tool_call_id).map(Cow::into_owned)
    }

    /// What its writer noted about it.
    pub fn metadata(&self) -> Option<Json> {
        self.known().metadata.and_then(|raw| Json::parse(raw.get()).ok())
    }

    /// Any field.
    pub fn field(&self, name: &str) -> Option<Json> {
        let found = json::fields(&self.line)?.into_iter().rev().find(|(known, _)| known == name)?.1;
        Json::parse(found).ok()
    }

    /// The message as the chat APIs take it: without what is ours.
    pub fn to_chat(&self) -> Json {
        const OURS: [&str; 3] = ["id", "time", "metadata"];
        let all = json::fields(&self.line).unwrap_or_default().into_iter();
        let theirs =
            all.filter(|(name, _)| !OURS.contains(&&**name)).map(|(name, value)| (name, value.into()));
        Json::parse(&json::object(theirs)).expect("its fields were read")
    }

    /// This message with an id greater than `last`. One that has no such id gets one of its time, and keeps what it called `id` as
    /// `source_id`.
    pub(crate) fn rising(self, last: Option<MessageId>, now: Timestamp) -> Message {
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
        let id = MessageId::fresh(last, self.time.or_else(|| self.old_time()).unwrap_or(now));
        let fields = [(Cow::Borrowed("id"), Cow::Owned(format!("\"{id}\"")))].into_iter().chain(renamed);
        let line = json::object(fields).into_boxed_str();
        Message { line, id: Some(id), ..self }
    }

    /// When an older tool says that it was said; without an offset it is taken as UTC.
    fn old_time(&self) -> Option<Timestamp> {
        let text = self.field("timestamp")?.to_text()?;
        let civil = || text.parse::<jiff::civil::DateTime>().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok();
        text.parse().ok().or_else(|| Some(civil()?.timestamp()))
    }

    fn known(&self) -> Known<'_> {
        Known::of(&self.line).expect("it was read before")
    }
}

/// As it was written.
impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        raw(&self.line).serialize(serializer)
    }
}

fn raw(json: &str) -> &RawValue {
    serde_json::from_str(json).expect("it was read as JSON before")
}

/// A message to be appended. It gets its id and its time when it is saved, unless it has them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Draft {
    object: Json,
    id: Option<MessageId>,
    has_time: bool,
}

impl Draft {
    /// A message of text.
    pub fn text(role: Role, text: &str) -> Draft {
        let fields = [("role", json::quoted(role.as_str())), ("content", json::quoted(text))];
        let fields = fields.map(|(name, value)| (name.into(), value.into()));
        let object = Json::made(json::object(fields));
        Draft { object, id: None, has_time: false }
    }

    /// A message with any fields, as a JSON object. All fields that are known are checked.
    pub fn parse(text: &str) -> Result<Draft, NotAMessage> {
        if text.len() > MESSAGE_BYTES_MAX {
            return Err(NotAMessage::TooLong);
        }
        let object = Json::parse(text)?;
        let known = Known::of(object.as_str())?;
        let expect = |field, expected, holds: bool| match holds {
            true => Ok(()),
            false => Err(NotAMessage::Field { field, expected }),
        };
        let begins =
            |raw: Option<&RawValue>, with: &[char]| raw.is_none_or(|raw| raw.get().starts_with(with));
        let role =
            Known::text(known.role).ok_or(NotAMessage::Field { field: "role", expected: "a string" })?;
        role.parse::<Role>()?;
        expect("content", "a string, a list of parts or null", begins(known.content, &['"', '[']))?;
        if let Some(parts) = known.content.filter(|raw| raw.get().starts_with('[')) {
            let parts: Vec<&RawValue> = serde_json::from_str(parts.get()).map_err(NotJson::Syntax)?;
            let are_parts = parts.iter().all(|part| part.get().starts_with(['{', '"']));
            expect("content", "a list of objects or strings", are_parts)?;
        }
        let is_text = |raw: Option<&RawValue>| raw.is_none() || Known::text(raw).is_some();
        expect("content", "text that is Unicode", !begins(known.content, &['"']) || is_text(known.content))?;
        expect("name", "a string", is_text(known.name))?;
        expect("tool_call_id", "a string", is_text(known.tool_call_id))?;
        expect("tool_calls", "a list", begins(known.tool_calls, &['[']))?;
        expect("metadata", "an object", begins(known.metadata, &['{']))?;
        let time =
            known.time.map(|raw| Known::text(Some(raw)).and_then(|time| time.parse::<Timestamp>().ok()));
        expect("time", "a time as in RFC 3339", time != Some(None))?;
        expect("id", "a string", is_text(known.id))?;
        let id = Known::text(known.id).map(|id| id.parse::<MessageId>()).transpose()?;
        Ok(Draft { id, has_time: time.is_some(), object })
    }

    /// Messages as JSON objects, one a line; empty lines are skipped. Fails with the number of the first that is none.
    pub fn parse_lines(text: &str) -> Result<Vec<Draft>, Error> {
        let lines = (1..).zip(text.lines().filter(|line| !line.trim().is_empty()));
        let parse = |(number, line)| Draft::parse(line).map_err(|source| Error::Message { number, source });
        lines.map(parse).collect()
    }

    /// Its length in bytes, before id and time.
    pub(crate) fn len(&self) -> usize {
        self.object.as_str().len()
    }

    /// The id that it brings.
    pub fn id(&self) -> Option<MessageId> {
        self.id
    }

    /// Adds the line of the message, with what was missing in front. It was checked when it was made.
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

/// From JSON text only: numbers keep their spelling.
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
    fn a_message_of_text_gets_id_and_time() {
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
    fn parts_are_kept_whatever_their_kind() {
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
    fn a_draft_is_checked_in_full() {
        for (text, expected) in [
            ("x", "the message is not JSON"),
            ("[]", "a message is a JSON object"),
            ("{}", "`role` of the message must be a string"),
            (r#"{"role":1}"#, "`role` of the message must be a string"),
            (r#"{"role":"x"}"#, "`x` is not a role: use system, developer, user, assistant or tool"),
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
            (r#"{"role":"user","id":"msg_1"}"#, "the message has an id that cannot be kept"),
            (r#"{"role":"user","role":"tool"}"#, "the message is not JSON"),
        ] {
            assert_eq!(Draft::parse(text).unwrap_err().to_string(), expected, "{text}");
        }
        let long = format!(r#"{{"role":"user","content":"{}"}}"#, "x".repeat(MESSAGE_BYTES_MAX));
        assert!(matches!(Draft::parse(&long), Err(NotAMessage::TooLong)));
    }

    #[test]
    fn reading_takes_what_other_tools_wrote() {
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
    fn a_message_without_a_rising_id_gets_one_of_its_time() {
        let read = |text: &str| Message::read(text).unwrap();
        let now = Timestamp::UNIX_EPOCH;
        let message = read(r#"{"role":"user","id":7,"timestamp":"2025-01-01T10:00:00.250","n":1.10}"#);
        let given = message.rising(None, now);
        assert_eq!(given.id().unwrap().time(), Some("2025-01-01T10:00:00.25Z".parse().unwrap()));
        let rest = r#","role":"user","source_id":7,"timestamp":"2025-01-01T10:00:00.250","n":1.10}"#;
        assert!(given.as_json().ends_with(rest));
        assert_eq!(Message::read(given.as_json()).unwrap(), given);
        assert_eq!(given.clone().rising(None, now), given);
        let again = given.clone().rising(given.id(), now);
        assert!(again.id() > given.id());
        assert_eq!(again.field("source_id_2").unwrap().to_text(), Some(given.id().unwrap().to_string()));
        assert_eq!(read(r#"{"role":"user"}"#).rising(None, now).id().unwrap().time(), Some(now));
    }
}
