//! `metadata.json`: revision, counts and times of a context. Keeps the fields of other tools.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::json::{self, Json};
use crate::error::Damage;
use crate::files::digest::Digest;
use crate::{MessageId, Revision};

/// Newest format that this program supports.
pub(crate) const FORMAT: u64 = 1;

/// Metadata of a context, as of one commit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Metadata {
    /// All fields as in the file.
    all: Json,
    /// Identity of the context, independent of its name; `None` if an older tool wrote it.
    pub(crate) context_id: Option<MessageId>,
    pub(crate) format: u64,
    pub(crate) revision: Revision,
    /// Revision that last removed or replaced messages: earlier reads are outdated.
    pub(crate) rewritten: Revision,
    /// `None` if not recorded; then the messages are counted.
    pub(crate) message_count: Option<u64>,
    /// Length of `messages.jsonl` after the commit.
    pub(crate) messages_bytes: Option<u64>,
    /// Greatest id so far.
    pub(crate) last_id: Option<MessageId>,
    /// Digest of the messages; `None` if the last commit was made by a version without digests.
    pub(crate) digest: Option<Digest>,
}

impl Metadata {
    /// Creates the metadata of a new context.
    pub(crate) fn new(id: MessageId, now: Timestamp) -> Metadata {
        let text = format!(r#"{{"context_id":"{id}","created_at":"{now}"}}"#);
        Metadata::read(Json::parse(&text).expect("it was just made")).expect("it is an object")
    }

    /// Parses metadata. Rejects an invalid revision, which would let stale writers pass.
    pub(crate) fn read(all: Json) -> Result<Metadata, Damage> {
        if !all.is_object() {
            return Err(Damage::WrongType { expected: "a JSON object" });
        }
        let revision = |name: &str| match all.pointer(name) {
            None => Ok(Revision(0)),
            Some(value) => {
                let found = value.as_str().parse().ok().filter(|found| *found <= Revision::MAX);
                found.ok_or(Damage::WrongType { expected: "a revision: an integer below 2^53" })
            }
        };
        let (last, rewritten) = (revision("/revision")?, revision("/rewritten")?);
        if rewritten > last {
            return Err(Damage::WrongType { expected: "no `rewritten` after its `revision`" });
        }
        let number = |name: &str| all.pointer(name).and_then(|value| value.as_str().parse::<u64>().ok());
        let id = |name: &str| all.pointer(name)?.to_text()?.parse().ok();
        // A version without digests keeps the field and increments the revision.
        let is_current = revision("/messages_digest/revision").is_ok_and(|of| of == last);
        let digest = all.pointer("/messages_digest/hash").and_then(|hash| Digest::decode(&hash.to_text()?));
        Ok(Metadata {
            context_id: id("/context_id"),
            format: number("/format").unwrap_or(0),
            revision: last,
            rewritten,
            message_count: number("/message_count"),
            messages_bytes: number("/messages_bytes"),
            last_id: id("/last_id"),
            digest: digest.filter(|_| is_current),
            all,
        })
    }

    /// Number of the last commit.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Revision that last removed or replaced messages.
    pub fn rewritten(&self) -> Revision {
        self.rewritten
    }

    /// Number of messages.
    pub fn message_count(&self) -> u64 {
        self.message_count.unwrap_or(0)
    }

    /// Time of creation, if known.
    pub fn created_at(&self) -> Option<Timestamp> {
        self.time("/created_at")
    }

    /// Time of the last change, if known.
    pub fn last_updated(&self) -> Option<Timestamp> {
        self.time("/last_updated")
    }

    /// All fields of `metadata.json`, those of other tools included.
    pub fn as_json(&self) -> &Json {
        &self.all
    }

    /// Parses a time. Those of older tools have no offset; they count as UTC.
    fn time(&self, name: &str) -> Option<Timestamp> {
        let text = self.all.pointer(name)?.to_text()?;
        let civil = || text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok();
        text.parse().ok().or_else(|| Some(civil()?.timestamp()))
    }

    /// Returns the metadata after a commit at this time, with all known fields written into `all`.
    pub(crate) fn stamp(mut self, now: Timestamp) -> Metadata {
        let text = |value: &dyn std::fmt::Display| format!("\"{value}\"");
        let mut changes: Vec<(&str, String)> = vec![("format", FORMAT.to_string())];
        changes.extend(self.context_id.map(|id| ("context_id", text(&id))));
        if self.all.pointer("/created_at").is_none() {
            changes.push(("created_at", text(&now)));
        }
        changes.push(("last_updated", text(&now)));
        changes.push(("message_count", self.message_count().to_string()));
        changes.extend(self.messages_bytes.map(|bytes| ("messages_bytes", bytes.to_string())));
        changes.extend(self.last_id.map(|id| ("last_id", text(&id))));
        changes.push(("revision", self.revision.to_string()));
        changes.push(("rewritten", self.rewritten.to_string()));
        let digest = self
            .digest
            .map(|digest| format!("{{\"revision\":{},\"hash\":\"{}\"}}", self.revision, digest.encode()));
        changes.push(("messages_digest", digest.unwrap_or_else(|| "null".to_owned())));
        let changes = changes.into_iter().map(|(name, value)| (Cow::Borrowed(name), Cow::Owned(value)));
        self.all = self.all.merged(&Json::from_compact(json::object(changes)));
        self.format = FORMAT;
        self
    }

    /// Copies the fields of other tools and the time of creation from another context.
    pub(crate) fn inherit(&mut self, other: &Metadata) {
        const OURS: [&str; 9] = [
            "context_id",
            "format",
            "last_updated",
            "message_count",
            "messages_bytes",
            "messages_digest",
            "last_id",
            "revision",
            "rewritten",
        ];
        let all = json::fields(other.all.as_str()).unwrap_or_default().into_iter();
        let theirs =
            all.filter(|(name, _)| !OURS.contains(&&**name)).map(|(name, value)| (name, value.into()));
        let patch = Json::parse(&json::object(theirs)).expect("its fields were read");
        self.all = self.all.merged(&patch);
    }

    /// Formats the content of the file.
    pub(crate) fn to_file(&self) -> Vec<u8> {
        (self.all.pretty() + "\n").into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Metadata {
        Metadata::read(Json::parse(text).unwrap()).unwrap()
    }

    #[test]
    fn stamped_metadata_round_trip() {
        let now: Timestamp = "2026-11-15T12:00:00Z".parse().unwrap();
        let id = MessageId::after(None, now, 1);
        let mut metadata = Metadata::new(id, now);
        metadata.revision = Revision(7);
        metadata.rewritten = Revision(3);
        metadata.message_count = Some(2);
        metadata.messages_bytes = Some(99);
        metadata.last_id = Some(id);
        metadata.digest = Some(Digest::default());
        let metadata = metadata.stamp(now);
        let again = Metadata::read(Json::parse_bytes(&metadata.to_file()).unwrap()).unwrap();
        assert_eq!(again, metadata);
        assert_eq!(again.created_at(), Some(now));
        assert_eq!(again.last_updated(), Some(now));
    }

    #[test]
    fn fields_of_other_tools_stay() {
        let metadata =
            read(r#"{"owner":"ada","message_count":5,"created_at":"2025-01-01T10:00:00.5","v":1.10}"#);
        assert_eq!(metadata.message_count(), 5);
        assert_eq!(metadata.created_at(), Some("2025-01-01T10:00:00.5Z".parse().unwrap()));
        let stamp = metadata.stamp("2026-11-15T12:00:00Z".parse().unwrap());
        for part in ["\"owner\":\"ada\"", "\"v\":1.10", "\"created_at\":\"2025-01-01T10:00:00.5\""] {
            assert!(stamp.as_json().as_str().contains(part), "{part}");
        }
    }

    #[test]
    fn a_digest_of_another_revision_is_none() {
        let hash = Digest::default().encode();
        let text = |revision| {
            format!(r#"{{"revision":7,"messages_digest":{{"revision":{revision},"hash":"{hash}"}}}}"#)
        };
        assert_eq!(read(&text(7)).digest, Some(Digest::default()));
        assert_eq!(read(&text(6)).digest, None);
        assert_eq!(read(r#"{"revision":7,"messages_digest":"x"}"#).digest, None);
        let now = "2026-11-15T12:00:00Z".parse().unwrap();
        assert!(!read(&text(6)).stamp(now).as_json().as_str().contains("messages_digest"));
    }

    #[test]
    fn missing_or_invalid_fields_are_none() {
        let metadata = read(r#"{"message_count":"many","created_at":7,"last_updated":"x"}"#);
        assert_eq!((metadata.message_count, metadata.revision()), (None, Revision(0)));
        assert_eq!((metadata.created_at(), metadata.last_updated()), (None, None));
        assert!(Metadata::read(Json::parse("[]").unwrap()).is_err());
    }

    #[test]
    fn an_invalid_revision_is_damage() {
        assert_eq!(read(r#"{"revision":9007199254740991}"#).revision(), Revision::MAX);
        for text in [
            r#"{"revision":-1}"#,
            r#"{"revision":1.5}"#,
            r#"{"revision":"7"}"#,
            r#"{"revision":null}"#,
            r#"{"revision":9007199254740992}"#,
            r#"{"revision":18446744073709551615}"#,
            r#"{"revision":99999999999999999999999}"#,
            r#"{"revision":3,"rewritten":[]}"#,
            r#"{"revision":3,"rewritten":4}"#,
        ] {
            let read = Metadata::read(Json::parse(text).unwrap());
            assert!(matches!(read, Err(Damage::WrongType { .. })), "{text}: {read:?}");
        }
    }
}
