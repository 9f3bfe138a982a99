//! Setting and unsetting a key in the text of a document.
//!
//! Promises:
//! - Bytes outside of the changed key stay: comments, order, spacing, line ends, a missing newline
//!   at the end.
//! - Setting a new key and unsetting it restores the bytes.
//! - Every other key keeps its value: the result is always parsed and compared. If no candidate
//!   passes, the call fails.
//!
//! A new key goes into its existing table, after the last key. Without that table it becomes a
//! dotted key in the nearest enclosing table, or at the top of the file. No table header is ever
//! added, so none must be removed: an empty table stays. Unsetting removes the line of the key with
//! the comment on it; comments above it stay.

use std::ops::Range;

use toml_edit::{InlineTable, Item, Table, TableLike};

use super::document::{Document, Entry};
use crate::keys::dotted;
use crate::{Error, Key, Value};

/// One replacement in a text.
struct Splice {
    range: Range<usize>,
    replacement: String,
}

impl Document {
    /// Returns the document with `key` set to `value`.
    pub fn set(&self, key: &Key, value: &Value) -> Result<Document, Error> {
        let candidates = match self.find(key).map(|entry| entry.item) {
            Some(Item::Value(old))
                if old.is_inline_table() == matches!(value, Value::Table(_)) && !is_dotted(old) =>
            {
                vec![Splice { range: span(old), replacement: value.to_toml() }]
            }
            Some(item) => return Err(self.table_conflict(key, key.names().len(), item)),
            None => self.insertions(key, value)?,
        };
        self.first_valid(key, Some(value), candidates)
    }

    /// Returns the document without `key`, or `None` if it is not there.
    pub fn unset(&self, key: &Key) -> Result<Option<Document>, Error> {
        let Some(Entry { item, key_start }) = self.find(key) else { return Ok(None) };
        let value_end = match item {
            Item::Value(value) if !is_dotted(value) => span(value).end,
            _ => return Err(Error::IsTable { key: key.clone() }),
        };
        let candidate = match enclosing_inline(self.root(), key) {
            Some(inline) => remove_inline(self.text(), inline, value_end),
            None => remove_line(self.text(), key_start, value_end),
        };
        self.first_valid(key, None, vec![candidate]).map(Some)
    }

    /// Returns candidates for inserting a new key, best first.
    fn insertions(&self, key: &Key, value: &Value) -> Result<Vec<Splice>, Error> {
        let names = key.names();
        let root = self.root();
        let mut containers: Vec<Container<'_>> = vec![Container::Table(root)];
        let mut table: &dyn TableLike = root;
        for (index, name) in names.iter().enumerate() {
            let Some(item) = table.get(name) else { break };
            containers.push(match item {
                Item::Table(inner) if inner.is_dotted() => Container::Dotted(inner),
                Item::Table(inner) if inner.is_implicit() => Container::Implicit,
                Item::Table(inner) => Container::Table(inner),
                Item::Value(toml_edit::Value::InlineTable(inner)) if inner.is_dotted() => Container::Implicit,
                Item::Value(toml_edit::Value::InlineTable(inner)) => Container::Inline(inner),
                item => return Err(self.table_conflict(key, index + 1, item)),
            });
            table = item.as_table_like().expect("every other kind was sorted out above");
        }

        let mut candidates = Vec::new();
        for (depth, at) in containers.iter().enumerate().rev() {
            let entry = |names: &[String]| format!("{} = {}", dotted(names), value.to_toml());
            match at {
                Container::Implicit => {}
                Container::Inline(inline) => {
                    candidates.push(insert_inline(inline, entry(&names[depth..])));
                    // A key of an inline table has no other place.
                    break;
                }
                Container::Dotted(inner) => {
                    let is_body = |at: &Container<'_>| matches!(at, Container::Table(_));
                    let owner = containers[..depth].iter().rposition(is_body).unwrap_or_default();
                    candidates.extend(
                        last_entry(*inner)
                            .map(|last| insert_after(self.text(), last, entry(&names[owner..]))),
                    );
                }
                Container::Table(body) => {
                    let header = body.span().filter(|span| !span.is_empty());
                    let after = last_entry(*body).or_else(|| header.map(|span| span.start..span.end));
                    candidates.push(match after {
                        Some(after) => insert_after(self.text(), after, entry(&names[depth..])),
                        None => insert_at_top(self.text(), root, entry(names)),
                    });
                }
            }
        }
        Ok(candidates)
    }

    /// Applies the first candidate that sets the key and leaves every other key as it was.
    fn first_valid(
        &self,
        key: &Key,
        value: Option<&Value>,
        candidates: Vec<Splice>,
    ) -> Result<Document, Error> {
        let others = |document: &Document| {
            let mut values = document.values();
            values.retain(|other, _| !other.is_within(key));
            values
        };
        let (before, expected) = (others(self), value.map(Value::to_toml_type));
        for Splice { range, replacement } in candidates {
            let mut text = self.text().to_owned();
            text.replace_range(range, &replacement);
            let Ok(changed) = self.with_text(text) else { continue };
            if changed.find(key).map(|entry| entry.value()) == expected && others(&changed) == before {
                return Ok(changed);
            }
        }
        Err(Error::CannotInsertKey { key: key.clone(), file: self.file().to_owned(), scope: None })
    }

    /// Returns the error for a key whose first `count` names have the wrong kind.
    fn table_conflict(&self, key: &Key, count: usize, item: &Item) -> Error {
        let other = Key::from_names(key.names()[..count].iter().map(String::as_str));
        let line = self.find(&other).map_or(1, |entry| self.line(entry.key_start));
        let actual = match item {
            Item::Table(_) | Item::None => "a table",
            Item::ArrayOfTables(_) => "a list of tables",
            Item::Value(value) if value.is_inline_table() => "a table",
            Item::Value(_) => "a value",
        };
        Error::TableAndValue {
            key: key.clone(),
            other,
            actual,
            file: self.file().to_owned(),
            line,
            scope: None,
        }
    }
}

fn span(value: &toml_edit::Value) -> Range<usize> {
    value.span().expect("what was parsed has a span")
}

/// Returns true if the value is a table that dotted keys in an inline table create.
fn is_dotted(value: &toml_edit::Value) -> bool {
    value.as_inline_table().is_some_and(InlineTable::is_dotted)
}

/// Returns the innermost inline table with braces that contains a key.
fn enclosing_inline<'a>(root: &'a Table, key: &Key) -> Option<&'a InlineTable> {
    let (mut innermost, mut table): (_, &dyn TableLike) = (None, root);
    for name in &key.names()[..key.names().len() - 1] {
        let item = table.get(name)?;
        innermost = item.as_inline_table().filter(|inline| !inline.is_dotted()).or(innermost);
        table = item.as_table_like()?;
    }
    innermost
}

/// A table that may take a new key.
enum Container<'a> {
    /// Table below a header, or the top of the file.
    Table(&'a Table),
    /// Table that dotted keys create.
    Dotted(&'a Table),
    /// Inline table.
    Inline(&'a InlineTable),
    /// Table that headers of inner tables create, or dotted keys in an inline table.
    Implicit,
}

/// Returns the range from the start of the last key to the end of its value. Ignores keys below
/// other headers.
fn last_entry(table: &dyn TableLike) -> Option<Range<usize>> {
    entries(table).into_iter().max_by_key(|entry| entry.end)
}

/// Returns the range of every key in a table: from its last name to the end of its value.
fn entries(table: &dyn TableLike) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (name, item) in table.iter() {
        let inner: Option<&dyn TableLike> = match item {
            Item::Table(inner) if inner.is_dotted() => Some(inner),
            Item::Value(toml_edit::Value::InlineTable(inner)) if inner.is_dotted() => Some(inner),
            _ => None,
        };
        match (inner, item) {
            (Some(inner), _) => found.extend(entries(inner)),
            (None, Item::Value(value)) => {
                found.extend(Entry::get(table, name).map(|entry| entry.key_start..span(value).end));
            }
            _ => {}
        }
    }
    found
}

/// Inserts a line after the one on which `after` ends, indented like the one on which it begins.
fn insert_after(text: &str, after: Range<usize>, entry: String) -> Splice {
    let line = &text[line_start(text, after.start)..];
    let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
    match text[after.end..].find('\n') {
        Some(newline) => {
            let at = after.end + newline + 1;
            let line_end = if text[..at].ends_with("\r\n") { "\r\n" } else { "\n" };
            Splice { range: at..at, replacement: format!("{indent}{entry}{line_end}") }
        }
        None => Splice {
            range: text.len()..text.len(),
            replacement: format!("{}{indent}{entry}", first_line_end(text)),
        },
    }
}

/// Inserts a line into a file without keys at its top: before the first header and its comment, or
/// at the end.
fn insert_at_top(text: &str, root: &Table, entry: String) -> Splice {
    let line_end = first_line_end(text);
    let Some(header) = first_header(root) else {
        let at = text.len();
        return match text.is_empty() || text.ends_with('\n') {
            true => Splice { range: at..at, replacement: format!("{entry}{line_end}") },
            false => Splice { range: at..at, replacement: format!("{line_end}{entry}") },
        };
    };
    let mut at = line_start(text, header);
    while at > 0 {
        let above = line_start(text, at - 1);
        if !text[above..at].trim_start().starts_with('#') {
            break;
        }
        at = above;
    }
    Splice { range: at..at, replacement: format!("{entry}{line_end}") }
}

/// Returns the offset of the first header.
fn first_header(table: &Table) -> Option<usize> {
    let own = table.span().filter(|span| !span.is_empty() && !table.is_implicit() && !table.is_dotted());
    let below = table.iter().filter_map(|(_, item)| match item {
        Item::Table(inner) => first_header(inner),
        Item::ArrayOfTables(tables) => tables.iter().filter_map(first_header).min(),
        _ => None,
    });
    own.map(|span| span.start).into_iter().chain(below).min()
}

/// Inserts after the last entry, or after the opening brace.
fn insert_inline(inline: &InlineTable, entry: String) -> Splice {
    match last_entry(inline) {
        Some(last) => Splice { range: last.end..last.end, replacement: format!(", {entry}") },
        None => {
            let at = inline.span().expect("what was parsed has a span").start + 1;
            Splice { range: at..at, replacement: entry }
        }
    }
}

/// Removes the whole line; without a newline at its end, the newline before it.
fn remove_line(text: &str, key_start: usize, value_end: usize) -> Splice {
    let start = line_start(text, key_start);
    let range = match text[value_end..].find('\n') {
        Some(newline) => start..value_end + newline + 1,
        None => {
            let before = text[..start].strip_suffix('\n').unwrap_or_default();
            before.strip_suffix('\r').unwrap_or(before).len()..text.len()
        }
    };
    Splice { range, replacement: String::new() }
}

/// Removes an entry of an inline table and one comma.
fn remove_inline(text: &str, inline: &InlineTable, value_end: usize) -> Splice {
    let mut all = entries(inline);
    all.sort_unstable_by_key(|entry| entry.end);
    let index = all.iter().position(|entry| entry.end == value_end).expect("the entry was found");
    let before = index.checked_sub(1).map(|before| all[before].end);
    let key_start = all[index].start;
    let comma_end = |from: usize| {
        let rest = text[from..].trim_start();
        rest.starts_with(',').then(|| text.len() - rest.len() + 1)
    };
    let range = match before {
        // Keep a comment between the two entries, and the comma before it.
        Some(before) if text[before..key_start].contains('#') => {
            line_start(text, key_start)..comma_end(value_end).unwrap_or(value_end)
        }
        Some(before) => before..value_end,
        None => {
            let opening = inline.span().expect("what was parsed has a span").start + 1;
            let start = text.len() - text[opening..].trim_start().len();
            let end = comma_end(value_end).map(|comma| {
                let rest = &text[comma..];
                let is_last = all.len() == 1;
                if is_last { comma } else { text.len() - rest.trim_start_matches([' ', '\t']).len() }
            });
            start..end.unwrap_or(value_end)
        }
    };
    Splice { range, replacement: String::new() }
}

fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind('\n').map_or(0, |newline| newline + 1)
}

/// Returns the line end that the file uses.
fn first_line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(newline) if text[..newline].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Registry;

    fn parse(text: &str) -> Document {
        Document::parse(Path::new("f.toml"), text.as_bytes(), &Registry::standard()).unwrap()
    }

    fn text(document: &Document) -> String {
        String::from_utf8(document.to_bytes()).unwrap()
    }

    fn key(text: &str) -> Key {
        Key::parse(text).unwrap()
    }

    /// Checks that setting a new key gives `expected`, and that unsetting it restores `before`.
    fn check_new(before: &str, name: &str, expected: &str) {
        let set = parse(before).set(&key(name), &Value::Integer(9)).unwrap();
        assert_eq!(text(&set), expected);
        let unset = set.unset(&key(name)).unwrap().unwrap();
        assert_eq!(text(&unset), before, "after unset");
    }

    fn check_set(before: &str, name: &str, value: &str, expected: &str) {
        let value = Value::from_toml(&value.parse().unwrap());
        assert_eq!(text(&parse(before).set(&key(name), &value).unwrap()), expected);
    }

    fn check_unset(before: &str, name: &str, expected: &str) {
        assert_eq!(text(&parse(before).unset(&key(name)).unwrap().unwrap()), expected);
    }

    fn check_rejected(before: &str, name: &str, expected: &str) {
        let error = parse(before).set(&key(name), &Value::Integer(9)).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn a_new_key_goes_into_its_table() {
        check_new("[a]\nb = 1 # one\n\n[c]\n", "a.d", "[a]\nb = 1 # one\nd = 9\n\n[c]\n");
        check_new("[a]\n\n# note\n[c]\n", "a.d", "[a]\nd = 9\n\n# note\n[c]\n");
        check_new("[a] # note\n", "a.d", "[a] # note\nd = 9\n");
        check_new("[a]\n  b = 1\n", "a.d.e", "[a]\n  b = 1\n  d.e = 9\n");
        check_new("[a]\nb = \"\"\"\nx\n\"\"\" # c\n", "a.d", "[a]\nb = \"\"\"\nx\n\"\"\" # c\nd = 9\n");
        check_new("[a.b]\nc = 1\n[a]\nd = 1\n", "a.e", "[a.b]\nc = 1\n[a]\nd = 1\ne = 9\n");
    }

    #[test]
    fn a_new_key_goes_beside_its_dotted_siblings() {
        check_new("a.b = 1\nc.d = 2\n", "a.e", "a.b = 1\na.e = 9\nc.d = 2\n");
        check_new("[t]\na.b = 1\nc.d = 2\n", "t.a.e", "[t]\na.b = 1\na.e = 9\nc.d = 2\n");
        check_new("a.b = 1\nc = 2\na.d = 3\n", "a.e", "a.b = 1\nc = 2\na.d = 3\na.e = 9\n");
    }

    #[test]
    fn a_new_key_without_a_table_is_dotted_at_the_top() {
        check_new("", "a.b", "a.b = 9\n");
        check_new("\u{feff}", "a.b", "\u{feff}a.b = 9\n");
        check_new("# note", "a.b", "# note\na.b = 9");
        check_new("# note\n", "a.b", "# note\na.b = 9\n");
        check_new("x = 1 # one\n\n[c]\n", "a.b", "x = 1 # one\na.b = 9\n\n[c]\n");
        check_new("# file\n\n# c\n[c]\nd = 1\n", "a.b", "# file\n\na.b = 9\n# c\n[c]\nd = 1\n");
        check_new("# c\n[c]", "a.b", "a.b = 9\n# c\n[c]");
        check_new("[[c]]\nd = 1\n[[c]]\n", "a.b", "a.b = 9\n[[c]]\nd = 1\n[[c]]\n");
        check_new("[a.b.c]\nd = 1\n", "a.b.e", "a.b.e = 9\n[a.b.c]\nd = 1\n");
        check_new("\n\n  [a.b]\n", "a.c", "\n\na.c = 9\n  [a.b]\n");
    }

    #[test]
    fn line_ends_are_preserved() {
        check_new("a = 1", "b", "a = 1\nb = 9");
        check_new("a = 1\r\n", "b", "a = 1\r\nb = 9\r\n");
        check_new("a = 1\r\n\r\n[c]\r\nd = 1", "c.e", "a = 1\r\n\r\n[c]\r\nd = 1\r\ne = 9");
        check_new("# c\r\n[c]\r\n", "b", "b = 9\r\n# c\r\n[c]\r\n");
        check_new("a = 1\nb = 2\r\nc = 3\n", "d", "a = 1\nb = 2\r\nc = 3\nd = 9\n");
        check_new("[c] # d", "c.e", "[c] # d\ne = 9");
    }

    #[test]
    fn inline_tables_are_extended() {
        check_new("a = {}\n", "a.b", "a = {b = 9}\n");
        check_new("a = { }\n", "a.b", "a = {b = 9 }\n");
        check_new("a = { b = 1 } # c\n", "a.d", "a = { b = 1, d = 9 } # c\n");
        check_new("a = { b = 1, }\n", "a.d.e", "a = { b = 1, d.e = 9, }\n");
        check_new("a = { b.c = 1 }\n", "a.b.d", "a = { b.c = 1, b.d = 9 }\n");
        check_new("a = {\n  b = 1, # c\n}\n", "a.d", "a = {\n  b = 1, d = 9, # c\n}\n");
        check_new("a = { b = { c = 1 }, d = 2 }\n", "a.b.e", "a = { b = { c = 1, e = 9 }, d = 2 }\n");
    }

    #[test]
    fn a_value_is_replaced_in_place() {
        check_set("a=1# c\nb = 2\n", "a", "\"x\"", "a=\"x\"# c\nb = 2\n");
        check_set("a = [\n  1, # one\n  2,\n] # list\n", "a", "[3]", "a = [3] # list\n");
        check_set("a = { b = 1 } # c\n", "a.b", "2", "a = { b = 2 } # c\n");
        check_set("a = { b = 1 } # c\n", "a", "{ c = 2 }", "a = { c = 2 } # c\n");
        check_set("\"a b\" . 'c.d' = 1\n", "\"a b\".\"c.d\"", "2", "\"a b\" . 'c.d' = 2\n");
    }

    #[test]
    fn strings_of_every_kind_round_trip() {
        for text in
            ["", "a\nb", "a\r\nb", "\"", "'''\"\"\"", "\\", "\u{7f}\u{0}", "ä\u{2028}", "\n", "#", "\t"]
        {
            let value = Value::String(text.to_owned());
            let set = parse("[x] # c\r\n").set(&key("x.a"), &value).unwrap();
            assert_eq!(set.find(&key("x.a")).unwrap().value(), value);
        }
    }

    #[test]
    fn unset_removes_the_line_and_its_comment() {
        check_unset("# above\na = 1 # beside\n# below\n", "a", "# above\n# below\n");
        check_unset("a = 1\nb = 2", "b", "a = 1");
        check_unset("a = 1\r\nb = 2", "b", "a = 1");
        check_unset("b = 2", "b", "");
        check_unset("a = { b = 1, c = 2 }\n", "a.b", "a = { c = 2 }\n");
        check_unset("a = { b = 1, c = 2 }\n", "a.c", "a = { b = 1 }\n");
        check_unset("a = { b = 1, c = 2, d = 3 }\n", "a.c", "a = { b = 1, d = 3 }\n");
        check_unset("a = { b = 1, }\n", "a.b", "a = {  }\n");
        check_unset("a = {\n  b = 1, # b\n  c = 2, # c\n}\n", "a.c", "a = {\n  b = 1, # b\n # c\n}\n");
        check_unset("a = { b = 1, c = '#' }\n", "a.c", "a = { b = 1 }\n");
        check_unset("a = { b = 1 }\n", "a", "");
        assert!(parse("a = 1\n").unset(&key("b")).unwrap().is_none());
    }

    #[test]
    fn a_table_cannot_be_unset() {
        for text in ["[a]\nb = 1\n", "a.b = 1\n", "[[a]]\n", "[a.b]\n"] {
            assert!(matches!(parse(text).unset(&key("a")), Err(Error::IsTable { .. })), "{text}");
        }
        assert!(matches!(parse("a = { b.c = 1 }").unset(&key("a.b")), Err(Error::IsTable { .. })));
    }

    #[test]
    fn a_key_cannot_be_a_table_and_a_value() {
        check_rejected("\na = 1\n", "a.b", "cannot set `a.b`: `a` is a value in `f.toml`, line 2");
        check_rejected("[a.b]\n", "a.b", "cannot set `a.b`: `a.b` is a table in `f.toml`, line 1");
        check_rejected("a.b = 1\n", "a", "cannot set `a`: `a` is a table in `f.toml`, line 1");
        check_rejected("a = {}\n", "a", "cannot set `a`: `a` is a table in `f.toml`, line 1");
        check_rejected("[[a]]\n", "a", "cannot set `a`: `a` is a list of tables in `f.toml`, line 1");
        check_rejected("[[a]]\n", "a.b", "cannot set `a.b`: `a` is a list of tables in `f.toml`, line 1");
        let value = Value::Table([("b".to_owned(), Value::Integer(1))].into());
        for (before, name) in [("a = 1", "a"), ("a = { b.c = 1 }", "a.b"), ("a.b = 1", "a"), ("[a]", "a")] {
            let error = parse(before).set(&key(name), &value).unwrap_err();
            assert!(matches!(error, Error::TableAndValue { .. }), "{before}: {error}");
        }
    }

    #[test]
    fn an_implicit_table_is_extended_by_dotted_keys() {
        check_new("[a.b.c]\nd = 1\n[a]\n", "a.b.e", "[a.b.c]\nd = 1\n[a]\nb.e = 9\n");
        check_new("[a]\nb.c = 1\n[a.b.d.e]\n", "a.b.d.f", "[a]\nb.c = 1\nb.d.f = 9\n[a.b.d.e]\n");
    }

    /// Checks whether `after` is accepted as `before` with `name` set to `value`, or unset.
    fn check_accepted(before: &str, after: &str, name: &str, value: Option<i64>, expected: bool) {
        let candidate = Splice { range: 0..before.len(), replacement: after.to_owned() };
        let value = value.map(Value::Integer);
        let taken = parse(before).first_valid(&key(name), value.as_ref(), vec![candidate]);
        assert_eq!(taken.is_ok(), expected, "{before:?} to {after:?}");
    }

    #[test]
    fn a_change_of_another_key_is_rejected() {
        check_accepted("a = 1\nb = 2", "a = 9\nb = 2", "a", Some(9), true);
        check_accepted("a.b = 1\nc = 2", "c = 2", "a.b", None, true);
        check_accepted("a.b = 1\n[c]", "", "a.b", None, true);
        for after in ["a = 9", "a = 9\nb = 3", "a = 9\nb = '2'", "a = 9\nb = {}", "a = 9\nb = 2\nc = 3"] {
            check_accepted("a = 1\nb = 2", after, "a", Some(9), false);
        }
        check_accepted("a.b = 1\nb = 1", "", "a.b", None, false);
        check_accepted("a = 1", "a = 8", "a", Some(9), false);
        check_accepted("a = 1", "a = 9", "a", None, false);
    }

    #[test]
    fn other_values_of_every_type_are_compared() {
        for (value, other) in [
            ("'s'", "'t'"),
            ("1", "2"),
            ("nan", "inf"),
            ("0.0", "-0.0"),
            ("true", "false"),
            ("07:30:00", "07:31:00"),
            ("[1, { a = 1 }]", "[1, { a = 2 }]"),
        ] {
            let with = |b: &str| format!("a = 9\nb = {b}");
            check_accepted(&with(value), &format!("{} # same", with(value)), "a", Some(9), true);
            check_accepted(&with(value), &with(other), "a", Some(9), false);
        }
        check_accepted("[[b]]\nc = 1", "a = 9\nb = [{ c = 1 }]", "a", Some(9), true);
    }

    #[test]
    fn without_a_valid_candidate_nothing_changes() {
        let document = parse("a = 1\nb = 2\n");
        let candidate =
            |range: Range<usize>, replacement: &str| Splice { range, replacement: replacement.to_owned() };
        // The first does not parse, the second removes another key, the third is valid.
        let candidates =
            || vec![candidate(0..6, "= = "), candidate(6..12, "c = 9\n"), candidate(6..6, "c = 9\n")];
        let changed = document.first_valid(&key("c"), Some(&Value::Integer(9)), candidates()).unwrap();
        assert_eq!(text(&changed), "a = 1\nc = 9\nb = 2\n");
        let error = document.first_valid(&key("c"), Some(&Value::Integer(8)), candidates()).unwrap_err();
        assert!(matches!(error, Error::CannotInsertKey { .. }));
    }
}
