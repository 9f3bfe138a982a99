//! Points in time, to the microsecond: the precision of both engines.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::Error;

/// A point in time. Its text and JSON are RFC 3339 in UTC with six decimal places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(transparent)]
pub struct Time(#[schemars(with = "String")] i64);

impl Time {
    /// Reads the clock of this machine.
    pub fn now() -> Self {
        Self(Timestamp::now().as_microsecond())
    }

    /// Converts microseconds since 1970. Clamps to the years 1 to 9999, which are all that RFC 3339
    /// has.
    pub fn from_micros(micros: i64) -> Self {
        let last = 253_402_207_200_000_000;
        Self(micros.clamp(-62_135_596_800_000_000, last))
    }

    /// Returns microseconds since 1970.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Returns this time, or the first one after `last` if the clock went back: times of things that
    /// are made one after the other keep their order.
    #[must_use]
    pub(crate) fn after(self, last: Option<Self>) -> Self {
        last.map_or(self, |last| self.max(last.plus(Duration::from_micros(1))))
    }

    /// Adds a duration.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        let micros = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        Self::from_micros(self.0.saturating_add(micros))
    }

    /// Subtracts a duration.
    #[must_use]
    pub fn minus(self, duration: Duration) -> Self {
        let micros = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        Self::from_micros(self.0.saturating_sub(micros))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let timestamp = Timestamp::from_microsecond(self.0).map_err(|_| fmt::Error)?;
        write!(f, "{timestamp:.6}")
    }
}

impl FromStr for Time {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        text.parse::<Timestamp>()
            .map(|timestamp| Self::from_micros(timestamp.as_microsecond()))
            .map_err(|_| Error::invalid_text("time", text, "write it like 2026-01-31T09:30:00Z"))
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rfc_3339_in_utc_with_six_digits() {
        let time: Time = "2026-01-31T09:30:00+01:00".parse().unwrap();
        assert_eq!(time.to_string(), "2026-01-31T08:30:00.000000Z");
        assert_eq!(time.plus(Duration::from_micros(5)).to_string(), "2026-01-31T08:30:00.000005Z");
        assert_eq!(time.plus(Duration::from_secs(1)).minus(Duration::from_secs(1)), time);
        let json = serde_json::to_string(&time).unwrap();
        assert_eq!(serde_json::from_str::<Time>(&json).unwrap(), time);
        assert!(serde_json::from_str::<Time>("\"noon\"").is_err());
        assert!(Time::now() > time);
    }

    #[test]
    fn no_time_lies_outside_of_what_can_be_shown() {
        for time in [Time::from_micros(i64::MAX), Time::from_micros(i64::MIN)] {
            assert_eq!(time.to_string().parse::<Time>().unwrap(), time);
        }
        assert_eq!(Time::now().plus(Duration::MAX), Time::from_micros(i64::MAX));
        assert_eq!(Time::now().minus(Duration::MAX), Time::from_micros(i64::MIN));
    }
}
