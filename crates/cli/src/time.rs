//! Times on the command line: one grammar for all options.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::error::{Error, Result};

/// Parses a time, a day, which begins at midnight UTC, or a duration before now.
pub(crate) fn parse(text: &str) -> Result<Timestamp> {
    let day = || Some(text.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp());
    let time = text.parse().ok().or_else(day).or_else(|| ago(text));
    time.ok_or_else(|| Error::InvalidValue {
        value: text.to_owned(),
        expected: "a time such as 2026-11-01, 2026-11-01T12:00:00Z or 1h (an hour ago)",
    })
}

/// Returns the time that was so long ago, such as `1h30m`.
pub(crate) fn ago(duration: &str) -> Option<Timestamp> {
    let duration = SignedDuration::try_from(api::parse_duration(duration)?).ok()?;
    Timestamp::now().checked_sub(duration).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_days_and_durations_are_parsed() {
        assert_eq!(parse("2026-11-16").unwrap().to_string(), "2026-11-16T00:00:00Z");
        assert_eq!(parse("2026-11-16T12:30:00+01:00").unwrap().to_string(), "2026-11-16T11:30:00Z");
        let (before, ago, after) = (Timestamp::now(), parse("1h30m").unwrap(), Timestamp::now());
        let age = SignedDuration::from_mins(90);
        assert!(before - age <= ago && ago <= after - age);
        for text in ["", "yesterday", "1", "-1h", "2026-13-01", "1h1h"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
