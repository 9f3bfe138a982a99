//! Ids of messages: ULIDs that increase from message to message.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use ulid::Ulid;

/// Id of a message. Ids increase within a context, so sorting by id gives the order of the
/// conversation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Deserialize, Debug)]
#[serde(try_from = "String")]
pub struct MessageId(#[schemars(with = "String")] Ulid);

/// The text is not a ULID.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{text}` is not a ULID, which has 26 letters and digits")]
pub struct InvalidId {
    text: String,
}

impl MessageId {
    /// Creates an id greater than `last`, with the given time if possible. `random` is 80 random
    /// bits.
    pub fn after(last: Option<MessageId>, now: Timestamp, random: u128) -> MessageId {
        let fresh = Ulid::from_parts(now.as_millisecond().max(0) as u64, random);
        match last {
            // The clock was set back, or the millisecond is the same: take the successor of `last`.
            Some(MessageId(last)) if fresh <= last => MessageId(Ulid(last.0.saturating_add(1))),
            _ => MessageId(fresh),
        }
    }

    /// Creates an id with random bits of the system.
    pub(crate) fn generate(last: Option<MessageId>, now: Timestamp) -> MessageId {
        MessageId::after(last, now, fastrand::u128(..))
    }

    /// Time at which the id was created, according to its bits.
    pub fn time(self) -> Option<Timestamp> {
        Timestamp::from_millisecond(self.0.timestamp_ms() as i64).ok()
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for MessageId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<MessageId, InvalidId> {
        let known = Ulid::from_string(text).ok().filter(|id| id.to_string() == text);
        known.map(MessageId).ok_or_else(|| InvalidId { text: text.chars().take(40).collect() })
    }
}

impl TryFrom<String> for MessageId {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<MessageId, InvalidId> {
        text.parse()
    }
}

impl Serialize for MessageId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_increase_even_if_the_clock_goes_back() {
        let time = |ms| Timestamp::from_millisecond(ms).unwrap();
        let first = MessageId::after(None, time(1_000), u128::MAX);
        let second = MessageId::after(Some(first), time(1_000), 5);
        let third = MessageId::after(Some(second), time(10), 5);
        let fourth = MessageId::after(Some(third), time(5_000), 5);
        assert!(first < second && second < third && third < fourth);
        assert_eq!(first.time(), Some(time(1_000)));
        // All random bits were set, so the time had to advance.
        assert_eq!(second.time(), Some(time(1_001)));
        assert_eq!(fourth.time(), Some(time(5_000)));
        assert_ne!(MessageId::generate(None, time(0)), MessageId::generate(None, time(0)));
    }

    #[test]
    fn only_canonical_ids_are_accepted() {
        let text = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
        assert_eq!(text.parse::<MessageId>().unwrap().to_string(), text);
        for other in [
            "01arz3ndektsv4rrffq69g5fav",
            "01ARZ3NDEKTSV4RRFFQ69G5FA",
            "msg_1",
            "",
            "ZZZZZZZZZZZZZZZZZZZZZZZZZZ",
        ] {
            assert!(other.parse::<MessageId>().is_err(), "{other}");
        }
        assert_eq!(
            "msg_1".parse::<MessageId>().unwrap_err().to_string(),
            "`msg_1` is not a ULID, which has 26 letters and digits"
        );
    }
}
