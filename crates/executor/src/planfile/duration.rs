//! Durations as people write them: `90s`, `1h30m`, `250ms`.

use std::time::Duration;

/// The longest duration that is taken.
const DAYS_MAX: u64 = 365;

/// As a regular expression, for the schema.
pub(super) const PATTERN: &str = "^([0-9]+(d|h|m|s|ms))+$";

/// Reads a duration; nothing when it is none, is zero, or is longer than a year.
pub(super) fn parse(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let digits = rest.find(|character: char| !character.is_ascii_digit())?;
        let count: u64 = rest[..digits].parse().ok()?;
        let unit = &rest[digits..];
        let unit = &unit[..unit.find(|character: char| character.is_ascii_digit()).unwrap_or(unit.len())];
        let millis = match unit {
            "d" => 86_400_000,
            "h" => 3_600_000,
            "m" => 60_000,
            "s" => 1_000,
            "ms" => 1,
            _ => return None,
        };
        total = total.checked_add(Duration::from_millis(count.checked_mul(millis)?))?;
        rest = &rest[digits + unit.len()..];
    }
    (!total.is_zero() && total <= Duration::from_secs(DAYS_MAX * 86_400)).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        let millis = |text| parse(text).map(|duration| duration.as_millis());
        assert_eq!(millis("90s"), Some(90_000));
        assert_eq!(millis("1h30m"), Some(5_400_000));
        assert_eq!(millis("1d"), Some(86_400_000));
        assert_eq!(millis("1s250ms"), Some(1_250));
        for none in ["", "0s", "5", "s", "5 s", "-5s", "5x", "1.5s", "366d", "99999999999999999999s"] {
            assert_eq!(parse(none), None, "{none}");
        }
        assert_eq!(parse(&format!("{}d", u64::MAX)), None);
    }
}
