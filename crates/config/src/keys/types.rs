//! Types of keys: parsing of text, conversion from TOML, valid values.

use std::fmt;
use std::time::Duration;

use super::value::{DURATION_UNITS, SIZE_UNITS};
use crate::Value;

/// Type of a key.
#[derive(Clone, PartialEq, Debug)]
pub enum Type {
    /// Any text.
    String,
    /// `true` or `false`.
    Bool,
    /// An integer from `min` to `max`.
    Integer {
        /// Smallest valid value.
        min: i64,
        /// Largest valid value.
        max: i64,
    },
    /// A finite number from `min` to `max`.
    Float {
        /// Smallest valid value.
        min: f64,
        /// Largest valid value.
        max: f64,
    },
    /// A duration such as `30s` or `1m30s`, at most `max`.
    Duration {
        /// Longest valid value.
        max: Duration,
    },
    /// A number of bytes such as `10MiB`, at most `max`.
    Size {
        /// Largest valid value.
        max: u64,
    },
    /// A path; not empty and without NUL.
    Path,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list of values of one type.
    List(Box<Type>),
    /// A table, typed by TOML.
    Table,
    /// Any value, typed by TOML: the type of users' own keys.
    Any,
}

/// Error of a value. The caller adds the key and redacts secrets.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum ValueError {
    /// The value is of another type.
    Type,
    /// The value is of the type, but not valid.
    Range,
}

impl Type {
    /// Parses a value from text: an argument or an environment variable.
    pub(crate) fn read_text(&self, text: &str) -> Result<Value, ValueError> {
        match self {
            Self::String => Ok(Value::String(text.to_owned())),
            Self::Bool => match text {
                "true" => Ok(Value::Bool(true)),
                "false" => Ok(Value::Bool(false)),
                _ => Err(ValueError::Type),
            },
            Self::Integer { .. } => self.check(Value::Integer(text.parse().map_err(|_| ValueError::Type)?)),
            Self::Float { .. } => self.check(Value::Float(text.parse().map_err(|_| ValueError::Type)?)),
            Self::Duration { .. } => {
                self.check(Value::Duration(parse_duration(text).ok_or(ValueError::Type)?))
            }
            Self::Size { .. } => self.check(Value::Size(size(text).ok_or(ValueError::Type)?)),
            Self::Path => self.check(Value::Path(text.into())),
            Self::Choice(_) => self.check(Value::String(text.to_owned())),
            Self::List(element) => {
                if text.trim_start().starts_with('[') {
                    return self.read_toml(&toml(text).ok_or(ValueError::Type)?);
                }
                let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
                Ok(Value::List(parts.map(|part| element.read_text(part)).collect::<Result<_, _>>()?))
            }
            Self::Table => self.read_toml(&toml(text).ok_or(ValueError::Type)?),
            // A text that begins like a list, a table or a quoted string must be one.
            Self::Any => match toml(text) {
                Some(value) => Ok(value),
                None if text.trim_start().starts_with(['[', '{', '"']) => Err(ValueError::Type),
                None => Ok(Value::String(text.to_owned())),
            },
        }
    }

    /// Converts a value from its TOML type.
    pub(crate) fn read_toml(&self, value: &Value) -> Result<Value, ValueError> {
        match (self, value) {
            (Self::Any, value)
            | (Self::String, value @ Value::String(_))
            | (Self::Bool, value @ Value::Bool(_))
            | (Self::Table, value @ Value::Table(_)) => Ok(value.clone()),
            (Self::Integer { .. }, Value::Integer(_)) | (Self::Float { .. }, Value::Float(_)) => {
                self.check(value.clone())
            }
            (Self::Float { .. }, Value::Integer(number)) => self.check(Value::Float(*number as f64)),
            (Self::Size { .. }, Value::Integer(bytes)) => {
                self.check(Value::Size(u64::try_from(*bytes).map_err(|_| ValueError::Range)?))
            }
            (
                Self::Duration { .. } | Self::Size { .. } | Self::Path | Self::Choice(_),
                Value::String(text),
            ) => self.read_text(text),
            (Self::List(element), Value::List(values)) => Ok(Value::List(
                values.iter().map(|value| element.read_toml(value)).collect::<Result<_, _>>()?,
            )),
            _ => Err(ValueError::Type),
        }
    }

    /// Returns a value of this type if it is valid.
    fn check(&self, value: Value) -> Result<Value, ValueError> {
        let allowed = match (self, &value) {
            (Self::Integer { min, max }, Value::Integer(number)) => (min..=max).contains(&number),
            (Self::Float { min, max }, Value::Float(number)) => (min..=max).contains(&number),
            (Self::Duration { max }, Value::Duration(duration)) => duration <= max,
            (Self::Size { max }, Value::Size(bytes)) => bytes <= max,
            (Self::Path, Value::Path(path)) => {
                !path.as_os_str().is_empty() && !path.as_os_str().as_encoded_bytes().contains(&0)
            }
            (Self::Choice(words), Value::String(word)) => words.contains(&word.as_str()),
            _ => true,
        };
        if allowed { Ok(value) } else { Err(ValueError::Range) }
    }

    /// Name of the type, one word.
    pub fn name(&self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Bool => "bool",
            Self::Integer { .. } => "integer",
            Self::Float { .. } => "float",
            Self::Duration { .. } => "duration",
            Self::Size { .. } => "size",
            Self::Path => "path",
            Self::Choice(_) => "choice",
            Self::List(_) => "list",
            Self::Table => "table",
            Self::Any => "any",
        }
    }
}

impl fmt::Display for Type {
    /// Describes the valid values, for messages and `explain`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::String => f.write_str("a string"),
            Self::Bool => f.write_str("`true` or `false`"),
            Self::Integer { min, max } => write!(f, "an integer from {min} to {max}"),
            Self::Float { min, max } => write!(f, "a number from {min} to {max}"),
            Self::Duration { max } => {
                write!(f, "a duration such as `30s`, at most {}", Value::Duration(*max))
            }
            Self::Size { max } => write!(f, "a size such as `10MiB`, at most {}", Value::Size(*max)),
            Self::Path => f.write_str("a path"),
            Self::Choice(words) => {
                let words: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
                write!(f, "one of {}", words.join(", "))
            }
            Self::List(element) => write!(f, "a list, each {element}"),
            Self::Table => f.write_str("a table"),
            Self::Any => f.write_str("any TOML value"),
        }
    }
}

/// Parses text as a TOML value.
fn toml(text: &str) -> Option<Value> {
    Some(Value::from_toml(&text.parse::<toml_edit::Value>().ok()?))
}

/// Regular expression of durations, for JSON Schemas.
pub const DURATION_PATTERN: &str = "^(0|([0-9]+(d|h|m|s|ms|us|ns))+)$";

/// Parses a duration such as `1m30s`: counts with units, each unit shorter than the one before. `0`
/// needs no unit.
pub fn parse_duration(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let (mut rest, mut units, mut total) = (text, DURATION_UNITS, 0_u128);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let (count, behind) = rest.split_at(digits);
        let unit_len = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(unit_len);
        let index = units.iter().position(|(name, _)| *name == unit)?;
        total = total.checked_add(u128::from(count.parse::<u64>().ok()?).checked_mul(units[index].1)?)?;
        (rest, units) = (behind, &units[index + 1..]);
    }
    let seconds = u64::try_from(total / 1_000_000_000).ok()?;
    (!text.is_empty()).then(|| Duration::new(seconds, (total % 1_000_000_000) as u32))
}

/// Parses a size: `10MiB`, `10 MB`, `512`.
fn size(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (count, unit) = text.split_at(digits);
    let unit = match unit.trim_start() {
        "" => "B",
        "KB" => "kB",
        unit => unit,
    };
    let (_, bytes) = SIZE_UNITS.iter().find(|(name, _)| *name == unit)?;
    count.parse::<u64>().ok()?.checked_mul(*bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &[&str] = &["one", "two"];

    fn all() -> Vec<Type> {
        vec![
            Type::String,
            Type::Bool,
            Type::Integer { min: 1, max: 9 },
            Type::Float { min: 0.0, max: 1.0 },
            Type::Duration { max: Duration::from_secs(3600) },
            Type::Size { max: 1 << 20 },
            Type::Path,
            Type::Choice(TWO),
            Type::List(Box::new(Type::Integer { min: 1, max: 9 })),
            Type::Table,
            Type::Any,
        ]
    }

    /// Checks the value that `text` becomes, as TOML, by name of the type.
    fn check(name: &str, text: &str, expected: Result<&str, ValueError>) {
        let value_type = all().into_iter().find(|value_type| value_type.name() == name).unwrap();
        let found = value_type.read_text(text).map(|value| value.to_toml());
        assert_eq!(
            found.as_deref().map_err(Clone::clone),
            expected.as_ref().map(|toml| *toml).map_err(Clone::clone)
        );
        if let Ok(value) = value_type.read_text(text) {
            let written = toml(&value.to_toml()).unwrap();
            assert_eq!(value_type.read_toml(&written), Ok(value), "what is written reads back");
        }
    }

    #[test]
    fn text_is_parsed_by_type() {
        check("string", "true", Ok("\"true\""));
        check("string", "", Ok("\"\""));
        check("bool", "true", Ok("true"));
        check("bool", "false", Ok("false"));
        check("bool", "yes", Err(ValueError::Type));
        check("integer", "9", Ok("9"));
        check("integer", "10", Err(ValueError::Range));
        check("integer", "1.0", Err(ValueError::Type));
        check("integer", "99999999999999999999", Err(ValueError::Type));
        check("float", "0.5", Ok("0.5"));
        check("float", "1", Ok("1.0"));
        check("float", "NaN", Err(ValueError::Range));
        check("float", "x", Err(ValueError::Type));
        check("path", "a/b", Ok("\"a/b\""));
        check("path", "", Err(ValueError::Range));
        check("path", "a\0", Err(ValueError::Range));
        check("choice", "two", Ok("\"two\""));
        check("choice", "Two", Err(ValueError::Range));
        check("any", "[1", Err(ValueError::Type));
        check("any", "{a = 1", Err(ValueError::Type));
        check("any", "\"a", Err(ValueError::Type));
        check("any", "'[1'", Ok("\"[1\""));
        check("any", "a [1", Ok("\"a [1\""));
        check("list", "1, 2,3", Ok("[1, 2, 3]"));
        check("list", "[1, 2]", Ok("[1, 2]"));
        check("list", "", Ok("[]"));
        check("list", "1,x", Err(ValueError::Type));
        check("list", "[1, 20]", Err(ValueError::Range));
        check("list", "[1", Err(ValueError::Type));
        check("table", "{ a = 1 }", Ok("{ a = 1 }"));
        check("table", "1", Err(ValueError::Type));
        check("table", "x", Err(ValueError::Type));
        check("any", "1", Ok("1"));
        check("any", "one two", Ok("\"one two\""));
        check("any", "[1, 'a']", Ok("[1, \"a\"]"));
    }

    #[test]
    fn durations_have_units() {
        check("duration", "30s", Ok("\"30s\""));
        check("duration", "1m30s", Ok("\"1m30s\""));
        check("duration", "90s", Ok("\"1m30s\""));
        check("duration", "0", Ok("\"0s\""));
        check("duration", "5us7ns", Ok("\"5us7ns\""));
        check("duration", "1h", Ok("\"1h\""));
        check("duration", "2h", Err(ValueError::Range));
        check("duration", "1d", Err(ValueError::Range));
        for text in [
            "",
            "30",
            "s",
            "1s1m",
            "1s1s",
            "-1s",
            "1.5s",
            "1 s",
            "99999999999999999999s",
            "1w",
            "18446744073709551615d",
        ] {
            check("duration", text, Err(ValueError::Type));
        }
    }

    #[test]
    fn sizes_have_units_or_are_bytes() {
        check("size", "512", Ok("\"512B\""));
        check("size", "1KiB", Ok("\"1KiB\""));
        check("size", "10 KB", Ok("\"10kB\""));
        check("size", "1MiB", Ok("\"1MiB\""));
        check("size", "2MB", Err(ValueError::Range));
        for text in ["", "MB", "-1", "1.5MB", "1 XB", "99999999TiB"] {
            check("size", text, Err(ValueError::Type));
        }
    }

    #[test]
    fn toml_is_converted_by_type() {
        let read = |value_type: Type, text: &str| {
            value_type.read_toml(&toml(text).unwrap()).map(|value| value.to_toml())
        };
        assert_eq!(read(Type::Float { min: 0.0, max: 2.0 }, "1"), Ok("1.0".to_owned()));
        assert_eq!(read(Type::Size { max: 9 }, "8"), Ok("\"8B\"".to_owned()));
        assert_eq!(read(Type::Size { max: 9 }, "-8"), Err(ValueError::Range));
        assert_eq!(read(Type::Integer { min: 0, max: 9 }, "\"8\""), Err(ValueError::Type));
        assert_eq!(read(Type::Duration { max: Duration::MAX }, "30"), Err(ValueError::Type));
        assert_eq!(read(Type::Any, "07:32:00"), Ok("07:32:00".to_owned()));
    }

    #[test]
    fn types_describe_valid_values() {
        let said: Vec<_> = all().iter().map(Type::to_string).collect();
        assert_eq!(
            said.join("\n"),
            "a string\n`true` or `false`\nan integer from 1 to 9\na number from 0 to 1\n\
             a duration such as `30s`, at most 1h\na size such as `10MiB`, at most 1MiB\na path\none of `one`, `two`\n\
             a list, each an integer from 1 to 9\na table\nany TOML value"
        );
    }
}
