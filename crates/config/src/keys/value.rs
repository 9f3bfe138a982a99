//! Values, and their forms in TOML, JSON and text.
//!
//! A secret value is shown as [`REDACTED`] unless the caller reveals it, and so is the password in
//! a URL. `types` parses values by the type of their key.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, Serializer};
use toml_edit::{Item, TableLike};

/// Text shown in place of a secret.
pub const REDACTED: &str = "[REDACTED]";

/// A value of configuration.
///
/// In JSON, durations, sizes, paths, dates and numbers that JSON cannot express are strings.
/// Deserialised, they stay strings, which are shown the same. Serialisation does not redact
/// secrets: see [`Value::redacted`].
#[derive(Clone, Deserialize, Debug)]
#[serde(untagged)]
pub enum Value {
    /// Text, or one of a list of choices.
    String(String),
    /// A boolean.
    Bool(bool),
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Float(f64),
    /// A duration.
    #[serde(skip_deserializing)]
    Duration(Duration),
    /// A number of bytes.
    #[serde(skip_deserializing)]
    Size(u64),
    /// A path as written, not resolved.
    #[serde(skip_deserializing)]
    Path(PathBuf),
    /// A date, a time or both, as in TOML; users' own keys only.
    #[serde(skip_deserializing)]
    DateTime(String),
    /// A list of values.
    List(Vec<Value>),
    /// Values by name.
    Table(BTreeMap<String, Value>),
}

/// Treatment of secrets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reveal {
    /// Show [`REDACTED`].
    No,
    /// Show the secret: the user asked for this key.
    Yes,
}

impl Value {
    /// Converts a TOML item, keeping its TOML type.
    pub(crate) fn from_item(item: &Item) -> Value {
        match item {
            Item::Value(value) => Self::from_toml(value),
            Item::ArrayOfTables(tables) => {
                Self::List(tables.iter().map(|table| Self::from_table(table)).collect())
            }
            Item::Table(table) => Self::from_table(table),
            Item::None => Self::Table(BTreeMap::new()),
        }
    }

    pub(crate) fn from_toml(value: &toml_edit::Value) -> Value {
        match value {
            toml_edit::Value::String(text) => Self::String(text.value().clone()),
            toml_edit::Value::Integer(number) => Self::Integer(*number.value()),
            toml_edit::Value::Float(number) => Self::Float(*number.value()),
            toml_edit::Value::Boolean(is_true) => Self::Bool(*is_true.value()),
            toml_edit::Value::Datetime(time) => Self::DateTime(time.value().to_string()),
            toml_edit::Value::Array(array) => Self::List(array.iter().map(Self::from_toml).collect()),
            toml_edit::Value::InlineTable(table) => Self::from_table(table),
        }
    }

    fn from_table(table: &dyn TableLike) -> Value {
        Self::Table(table.iter().map(|(name, item)| (name.to_owned(), Self::from_item(item))).collect())
    }

    /// Formats the value as TOML, on one line unless a string has line breaks.
    pub fn to_toml(&self) -> String {
        self.toml().to_string()
    }

    /// Converts the value to its TOML type: a duration becomes a string.
    pub(crate) fn to_toml_type(&self) -> Value {
        Self::from_toml(&self.toml())
    }

    fn toml(&self) -> toml_edit::Value {
        match self {
            Self::String(text) => text.as_str().into(),
            Self::Bool(is_true) => (*is_true).into(),
            Self::Integer(number) => (*number).into(),
            Self::Float(number) => (*number).into(),
            Self::DateTime(time) => match time.parse::<toml_edit::Datetime>() {
                Ok(time) => time.into(),
                Err(_) => time.as_str().into(),
            },
            Self::Duration(_) | Self::Size(_) | Self::Path(_) => self.to_string().into(),
            Self::List(values) => {
                toml_edit::Value::Array(values.iter().map(Self::toml).collect::<toml_edit::Array>())
            }
            Self::Table(values) => toml_edit::Value::InlineTable(
                values.iter().map(|(name, value)| (name.as_str(), value.toml())).collect(),
            ),
        }
    }

    /// Formats the value for people. Redacts secrets and passwords in URLs unless revealed.
    pub fn show(&self, secret: bool, reveal: Reveal) -> String {
        self.redacted(secret, reveal).to_string()
    }

    /// Replaces secrets and passwords in URLs unless revealed; keeps the type.
    pub fn redacted(&self, secret: bool, reveal: Reveal) -> Value {
        match (secret, reveal) {
            (_, Reveal::Yes) => self.clone(),
            (true, Reveal::No) => Self::String(REDACTED.to_owned()),
            (false, Reveal::No) => self.clone().without_passwords(),
        }
    }

    fn without_passwords(self) -> Value {
        match self {
            Self::String(text) => Self::String(without_passwords(&text)),
            Self::List(values) => Self::List(values.into_iter().map(Self::without_passwords).collect()),
            Self::Table(values) => Self::Table(
                values.into_iter().map(|(name, value)| (name, value.without_passwords())).collect(),
            ),
            other => other,
        }
    }

    /// Type of the value, for messages.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::String(_) => "a string",
            Self::Bool(_) => "a boolean",
            Self::Integer(_) => "an integer",
            Self::Float(_) => "a float",
            Self::Duration(_) => "a duration",
            Self::Size(_) => "a size",
            Self::Path(_) => "a path",
            Self::DateTime(_) => "a date or time",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bool(is_true) => is_true.serialize(serializer),
            Self::Integer(number) => number.serialize(serializer),
            Self::Float(number) if number.is_finite() => number.serialize(serializer),
            Self::List(values) => values.serialize(serializer),
            Self::Table(values) => values.serialize(serializer),
            text => serializer.collect_str(text),
        }
    }
}

impl JsonSchema for Value {
    fn schema_name() -> Cow<'static, str> {
        "Value".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        serde_json::Value::json_schema(generator)
    }
}

impl PartialEq for Value {
    /// Compares floats by their bits, so that a value always equals itself.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::String(a), Self::String(b)) | (Self::DateTime(a), Self::DateTime(b)) => a == b,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a.total_cmp(b).is_eq(),
            (Self::Duration(a), Self::Duration(b)) => a == b,
            (Self::Size(a), Self::Size(b)) => a == b,
            (Self::Path(a), Self::Path(b)) => a == b,
            (Self::List(a), Self::List(b)) => a == b,
            (Self::Table(a), Self::Table(b)) => a == b,
            _ => false,
        }
    }
}

impl fmt::Display for Value {
    /// Formats a string as it is, any other value as TOML. Does not redact secrets: see
    /// [`Value::show`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::String(text) | Self::DateTime(text) => f.write_str(text),
            Self::Duration(duration) => write_duration(*duration, f),
            Self::Size(bytes) => write_size(*bytes, f),
            Self::Path(path) => path.display().fmt(f),
            other => f.write_str(&other.to_toml()),
        }
    }
}

/// Units of durations in nanoseconds, longest first.
pub(crate) const DURATION_UNITS: &[(&str, u128)] = &[
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// Units of sizes in bytes, largest first.
pub(crate) const SIZE_UNITS: &[(&str, u64)] = &[
    ("TiB", 1 << 40),
    ("TB", 1_000_000_000_000),
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("kB", 1_000),
    ("B", 1),
];

fn write_duration(duration: Duration, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut rest = duration.as_nanos();
    if rest == 0 {
        return f.write_str("0s");
    }
    for (unit, nanoseconds) in DURATION_UNITS {
        let count = rest / nanoseconds;
        rest %= nanoseconds;
        if count > 0 {
            write!(f, "{count}{unit}")?;
        }
    }
    Ok(())
}

fn write_size(bytes: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let whole = SIZE_UNITS.iter().find(|(_, size)| bytes >= *size && bytes.is_multiple_of(*size));
    let (unit, size) = whole.unwrap_or(&("B", 1));
    write!(f, "{}{unit}", bytes / size)
}

/// Replaces passwords in URLs: between `://name:` and the last `@`, and in the option `password`. A
/// password may hold any character, so more than the password may be replaced.
pub(crate) fn without_passwords(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(scheme) = rest.find("://") {
        let (before, after) = rest.split_at(scheme + "://".len());
        shown.push_str(before);
        // Up to the next URL, or the end of this one.
        let end = after.find(['"', ' ']).unwrap_or(after.len());
        let end = after.find("://").map_or(end, |next| end.min(next));
        let (url, behind) = after.split_at(end);
        // First, because the value of the option may hold an `@`.
        let url = without_password_option(url);
        match url.rsplit_once('@').and_then(|(user, host)| Some((user.split_once(':')?.0, host))) {
            Some((user, host)) => shown.extend([user, ":", REDACTED, "@", host]),
            None => shown.push_str(&url),
        }
        rest = behind;
    }
    shown + rest
}

fn without_password_option(url: &str) -> String {
    const OPTION: &str = "password=";
    let Some(start) = url.to_ascii_lowercase().find(OPTION).map(|at| at + OPTION.len()) else {
        return url.to_owned();
    };
    let (before, value) = url.split_at(start);
    let after = value.find('&').map_or("", |end| &value[end..]);
    format!("{before}{REDACTED}{}", without_password_option(after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: Value, shown: &str, toml: &str) {
        assert_eq!(value.to_string(), shown);
        assert_eq!(value.to_toml(), toml);
    }

    #[test]
    fn values_are_shown_and_written() {
        check(Value::String("a \"b\"".into()), "a \"b\"", "'a \"b\"'");
        check(Value::Bool(true), "true", "true");
        check(Value::Integer(-3), "-3", "-3");
        check(Value::Float(1.0), "1.0", "1.0");
        check(Value::Path("/a b".into()), "/a b", "\"/a b\"");
        check(Value::DateTime("2026-11-15".into()), "2026-11-15", "2026-11-15");
        check(Value::DateTime("no date".into()), "no date", "\"no date\"");
        check(Value::List(vec![Value::Integer(1), Value::String("b".into())]), "[1, \"b\"]", "[1, \"b\"]");
        let table =
            BTreeMap::from([("a".to_owned(), Value::Size(1)), ("b c".to_owned(), Value::Bool(false))]);
        check(Value::Table(table), "{ a = \"1B\", \"b c\" = false }", "{ a = \"1B\", \"b c\" = false }");
    }

    #[test]
    fn durations_and_sizes_use_whole_units() {
        let duration = |ms| Value::Duration(Duration::from_millis(ms)).to_string();
        assert_eq!(duration(0), "0s");
        assert_eq!(duration(30_000), "30s");
        assert_eq!(duration(90_500), "1m30s500ms");
        assert_eq!(duration(2 * 86_400_000), "2d");
        let size = |bytes| Value::Size(bytes).to_string();
        assert_eq!(size(0), "0B");
        assert_eq!(size(1023), "1023B");
        assert_eq!(size(10 << 20), "10MiB");
        assert_eq!(size(10_000_000), "10MB");
    }

    #[test]
    fn values_are_json() {
        let values = vec![
            Value::Bool(true),
            Value::Integer(1),
            Value::Float(0.5),
            Value::Float(f64::INFINITY),
            Value::Size(1),
            Value::Table(BTreeMap::from([("a".to_owned(), Value::String("b".into()))])),
        ];
        let expected = serde_json::json!([true, 1, 0.5, "inf", "1B", { "a": "b" }]);
        let json = serde_json::to_value(Value::List(values)).unwrap();
        assert_eq!(json, expected);
        let read: Value = serde_json::from_value(json).unwrap();
        assert_eq!(read.to_string(), "[true, 1, 0.5, \"inf\", \"1B\", { a = \"b\" }]");
    }

    #[test]
    fn secrets_are_redacted_unless_revealed() {
        let token = Value::String("hunter2".into());
        assert_eq!(token.show(true, Reveal::No), REDACTED);
        assert_eq!(token.show(true, Reveal::Yes), "hunter2");
        assert_eq!(token.show(false, Reveal::No), "hunter2");
    }

    #[test]
    fn passwords_in_urls_are_redacted() {
        let shown = |text: &str| Value::String(text.into()).show(false, Reveal::No);
        assert_eq!(shown("postgres://me:p@ss@host:5432/db"), "postgres://me:[REDACTED]@host:5432/db");
        assert_eq!(shown("postgres://me@host/db and x"), "postgres://me@host/db and x");
        assert_eq!(shown("a://b:c@d,e://f:g@h"), "a://b:[REDACTED]@d,e://f:[REDACTED]@h");
        assert_eq!(Value::String("postgres://me:p@h".into()).show(false, Reveal::Yes), "postgres://me:p@h");
        for (url, expected) in [
            (
                "postgres://me@h/d?password=p&sslmode=disable",
                "postgres://me@h/d?password=[REDACTED]&sslmode=disable",
            ),
            (
                "postgres://h/d?PassWord=p&password=q",
                "postgres://h/d?PassWord=[REDACTED]&password=[REDACTED]",
            ),
            ("postgres://h:5432/d?password=p@q", "postgres://h:5432/d?password=[REDACTED]"),
            ("postgres://me:p/w@h/d", "postgres://me:[REDACTED]@h/d"),
            ("postgres://me:p?w#,x@h/d", "postgres://me:[REDACTED]@h/d"),
            ("postgres://me:p@w@h,i:5433/d", "postgres://me:[REDACTED]@h,i:5433/d"),
            ("postgres://me@one:5432,two:5432/d", "postgres://me@one:5432,two:5432/d"),
            ("https://h/a@b", "https://h/a@b"),
        ] {
            assert_eq!(shown(url), expected);
        }
    }

    #[test]
    fn values_of_different_types_are_not_equal() {
        let values = [
            Value::String("1".into()),
            Value::DateTime("1".into()),
            Value::Bool(true),
            Value::Integer(1),
            Value::Float(f64::NAN),
            Value::Duration(Duration::from_secs(1)),
            Value::Size(1),
            Value::Path("1".into()),
            Value::List(vec![]),
            Value::Table(BTreeMap::new()),
        ];
        let mut names = std::collections::BTreeSet::new();
        for (i, a) in values.iter().enumerate() {
            names.insert(a.type_name());
            for (j, b) in values.iter().enumerate() {
                assert_eq!(a == b, i == j, "{a:?} {b:?}");
            }
        }
        assert_eq!(names.len(), values.len());
    }

    #[test]
    fn toml_items_keep_their_types() {
        let text = "[[a]]\nb = 2026-11-15T00:00:00Z\nc = [1, {d = inf}]\n";
        let document = toml_edit::Document::parse(text).unwrap();
        let c = Value::List(vec![
            Value::Integer(1),
            Value::Table(BTreeMap::from([("d".into(), Value::Float(f64::INFINITY))])),
        ]);
        let table = BTreeMap::from([
            ("b".to_owned(), Value::DateTime("2026-11-15T00:00:00Z".into())),
            ("c".to_owned(), c),
        ]);
        let expected = Value::Table(BTreeMap::from([("a".into(), Value::List(vec![Value::Table(table)]))]));
        assert_eq!(Value::from_item(document.as_item()), expected);
        assert_eq!(Value::from_item(&Item::None), Value::Table(BTreeMap::new()));
    }
}
