//! Whether two documents say the same, apart from one key.
//!
//! Every change is checked by this, so it makes nothing on the heap for a key that is as it was.

use toml_edit::{Item, Table, TableLike};

use crate::Value;

/// Whether every value of either is in the other, apart from what is at and below `path`. A table without values counts as nothing.
pub(crate) fn same_apart_from(a: &dyn TableLike, b: &dyn TableLike, path: &[String]) -> bool {
    covers(a, b, Some(path)) && covers(b, a, Some(path))
}

/// Whether every value of `part` is in `whole`, apart from what is at and below `path`.
fn covers(whole: &dyn TableLike, part: &dyn TableLike, path: Option<&[String]>) -> bool {
    // Most of the time both have the same keys in the same order: then nothing is looked up.
    let counts = |name: &str| !matches!(path, Some([last]) if last == name);
    let mut beside = whole.iter().filter(|(name, _)| counts(name)).peekable();
    part.iter().filter(|(name, _)| counts(name)).all(|(name, item)| {
        let path = match path {
            Some([first, rest @ ..]) if first == name => Some(rest),
            _ => None,
        };
        let other = match beside.next_if(|(other, _)| *other == name) {
            Some((_, other)) => Some(other),
            None => whole.get(name),
        };
        match (item.as_table_like(), other) {
            (Some(inner), Some(other)) => {
                other.as_table_like().is_some_and(|other| covers(other, inner, path))
            }
            (Some(inner), None) => covers(&Table::new(), inner, path),
            (None, Some(other)) => same_item(item, other),
            (None, None) => false,
        }
    })
}

fn same_item(a: &Item, b: &Item) -> bool {
    use toml_edit::Value::{Boolean, Datetime, Float, Integer, String};
    match (a, b) {
        (Item::Value(String(a)), Item::Value(String(b))) => a.value() == b.value(),
        (Item::Value(Integer(a)), Item::Value(Integer(b))) => a.value() == b.value(),
        (Item::Value(Boolean(a)), Item::Value(Boolean(b))) => a.value() == b.value(),
        (Item::Value(Datetime(a)), Item::Value(Datetime(b))) => a.value() == b.value(),
        (Item::Value(Float(a)), Item::Value(Float(b))) => a.value().total_cmp(b.value()).is_eq(),
        // Lists, and tables in lists.
        _ => Value::from_item(a) == Value::from_item(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(a: &str, b: &str, path: &str, expected: bool) {
        let parse = |text: &'static str| toml_edit::Document::parse(text).unwrap();
        let (a, b) = (parse(a.to_owned().leak()), parse(b.to_owned().leak()));
        let path: Vec<String> = path.split('.').map(str::to_owned).collect();
        assert_eq!(same_apart_from(a.as_table(), b.as_table(), &path), expected);
        assert_eq!(same_apart_from(b.as_table(), a.as_table(), &path), expected, "the other way round");
    }

    #[test]
    fn one_key_may_differ() {
        check("a.b = 1\nc = 2", "a.b = 9\nc = 2", "a.b", true);
        check("a.b = 1\nc = 2", "c = 2", "a.b", true);
        check("[a.b]\nd = 1\n[c]", "", "a.b", true);
        check("a = 1", "a = { b = 1 }", "a", true);
    }

    #[test]
    fn another_key_may_not() {
        check("a = 1\nb = 2", "a = 1", "a", false);
        check("a = 1\nb = 2", "a = 1\nb = 3", "a", false);
        check("a = 1\nb = 2", "a = 1\nb = '2'", "a", false);
        check("a = 1\nb.c = 2", "a = 1", "a", false);
        check("a = 1\nb = 2", "a = 1\nb = { }", "a", false);
        check("a.b = 1\nb = 1", "a.b = 1", "a.b", false);
    }

    #[test]
    fn values_of_every_type_are_compared() {
        for (value, other) in [
            ("'s'", "'t'"),
            ("1", "2"),
            ("nan", "inf"),
            ("true", "false"),
            ("07:30:00", "07:31:00"),
            ("[1, { a = 1 }]", "[1, { a = 2 }]"),
        ] {
            check(&format!("a = {value}"), &format!("a = {value} # same"), "b", true);
            check(&format!("a = {value}"), &format!("a = {other}"), "b", false);
        }
        check("[[a]]\nb = 1", "a = [{ b = 1 }]", "x", true);
    }
}
