//! Numbers, times and paths as people read them.

use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};

/// `1 file`, `20,311 files`.
pub(crate) fn plural(number: usize, unit: &str) -> String {
    if number == 1 { format!("1 {unit}") } else { format!("{} {unit}s", grouped(number as u64)) }
}

/// `20,311`: digits in groups of three.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `512 B`, `185 MB`, `1.2 GB`: two digits at least, in powers of 1000.
pub(crate) fn bytes(number: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    if number < 1000 {
        return format!("{number} B");
    }
    let (mut value, mut unit) = (number as f64 / 1000.0, 0);
    while value >= 999.5 && unit + 1 < UNITS.len() {
        (value, unit) = (value / 1000.0, unit + 1);
    }
    if value < 9.95 { format!("{value:.1} {}", UNITS[unit]) } else { format!("{value:.0} {}", UNITS[unit]) }
}

/// The age of a time in its largest unit: `42s`, `19m`, `3h`, `16d`.
pub(crate) fn age(time: &str) -> String {
    time.parse().map_or_else(|_| time.to_owned(), |time| age_at(time, Timestamp::now()))
}

fn age_at(time: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(time).max(SignedDuration::ZERO).as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// A path below the user's home folder begins with `~`.
pub(crate) fn path(path: &str) -> String {
    below_home(path, std::env::home_dir())
}

/// `~/app and ~/site`.
pub(crate) fn paths(paths: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    paths.into_iter().map(|one| path(one.as_ref())).collect::<Vec<_>>().join(" and ")
}

fn below_home(path: &str, home: Option<PathBuf>) -> String {
    let below = home.filter(|home| home.components().count() > 1);
    match below.and_then(|home| Path::new(path).strip_prefix(home).ok().map(Path::to_owned)) {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_units_and_separators() {
        assert_eq!([0, 1, 2].map(|number| plural(number, "file")), ["0 files", "1 file", "2 files"]);
        assert_eq!(
            [0, 999, 1_000, 20_311, 1_234_567].map(grouped),
            ["0", "999", "1,000", "20,311", "1,234,567"]
        );
        assert_eq!(
            [0, 999, 1_000, 9_949, 9_950, 185_000_000, 999_500_000, 1_200_000_000].map(bytes),
            ["0 B", "999 B", "1.0 kB", "9.9 kB", "10 kB", "185 MB", "1.0 GB", "1.2 GB"]
        );
    }

    #[test]
    fn ages_have_one_unit() {
        let now: Timestamp = "2026-11-18T09:31:00Z".parse().unwrap();
        for (time, expected) in [
            ("2026-11-18T09:31:00Z", "0s"),
            ("2026-11-18T09:12:00Z", "19m"),
            ("2026-11-18T06:31:00Z", "3h"),
            ("2026-11-02T09:31:00Z", "16d"),
            ("2027-01-01T00:00:00Z", "0s"),
        ] {
            assert_eq!(age_at(time.parse().unwrap(), now), expected, "{time}");
        }
        assert_eq!(age("soon"), "soon");
    }

    #[test]
    fn paths_below_home_are_short() {
        let home = || Some("/users/ana".into());
        for (path, expected) in [
            ("/users/ana/shop", "~/shop"),
            ("/users/ana", "~"),
            ("/users/anabel", "/users/anabel"),
            ("a/b", "a/b"),
        ] {
            assert_eq!(below_home(path, home()), expected);
        }
        assert_eq!(below_home("/srv/shop", Some("/".into())), "/srv/shop");
        assert_eq!(below_home("/srv/shop", None), "/srv/shop");
    }
}
