//! One TOML file: its bytes, its values, and the line of each key.
//!
//! A document is never printed from its parsed form: `splice` changes the text itself. Everything
//! else stays byte for byte, line ends and a byte order mark included.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use toml_edit::{Item, TableLike, TomlError};

use crate::keys::without_passwords;
use crate::{Error, Key, REDACTED, Registry, SyntaxError, Value};

/// Maximum size of a file, for reading and writing.
pub const FILE_BYTES_MAX: u64 = 10 * 1024 * 1024;

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A parsed TOML file.
pub struct Document {
    file: PathBuf,
    has_bom: bool,
    /// Text without the byte order mark, parsed with positions.
    tree: toml_edit::Document<String>,
    /// Offsets of line ends, computed on demand: a write needs none, a list needs all.
    line_ends: OnceLock<Vec<usize>>,
}

/// A key in a document.
pub(crate) struct Entry<'a> {
    pub(crate) item: &'a Item,
    /// Offset of the last name of the key.
    pub(crate) key_start: usize,
}

impl Document {
    /// Parses the content of a file. Errors name `file`, and redact lines of secret keys of the
    /// registry.
    pub fn parse(file: &Path, bytes: &[u8], registry: &Registry) -> Result<Document, Error> {
        if bytes.len() as u64 > FILE_BYTES_MAX {
            return Err(Error::TooLarge { file: file.to_owned(), limit: FILE_BYTES_MAX });
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let offset = error.valid_up_to();
            let line = 1 + bytes[..offset].iter().filter(|byte| **byte == b'\n').count();
            Error::NotUtf8 { file: file.to_owned(), offset, line }
        })?;
        let (has_bom, text) = match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let shift = if has_bom { BYTE_ORDER_MARK.len() } else { 0 };
        let syntax_error_at = |at: usize, message: &str| {
            Error::Parse(Box::new(syntax_error(file, text, shift, (at, message), registry)))
        };
        // The parser would accept a second one.
        if text.starts_with(BYTE_ORDER_MARK) {
            return Err(syntax_error_at(0, "a byte order mark that is not at the start"));
        }
        Self::from_text(file, has_bom, text.to_owned())
            .map_err(|error| syntax_error_at(error.span().unwrap_or_default().start, error.message()))
    }

    /// Parses another text of the same file.
    pub(crate) fn with_text(&self, text: String) -> Result<Document, TomlError> {
        Self::from_text(&self.file, self.has_bom, text)
    }

    fn from_text(file: &Path, has_bom: bool, text: String) -> Result<Document, TomlError> {
        let tree = toml_edit::Document::parse(text)?;
        Ok(Self { file: file.to_owned(), has_bom, tree, line_ends: OnceLock::new() })
    }

    /// Path of the file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns the whole content.
    pub fn to_bytes(&self) -> Vec<u8> {
        [self.bom().as_bytes(), self.text().as_bytes()].concat()
    }

    /// Returns true if the document has these bytes.
    pub(crate) fn has_bytes(&self, bytes: &[u8]) -> bool {
        bytes.strip_prefix(self.bom().as_bytes()) == Some(self.text().as_bytes())
    }

    /// Keys of all values, sorted, each with its line. A table in any form is not a value.
    pub fn keys(&self) -> Vec<(Key, usize)> {
        self.entries().into_iter().map(|(key, entry)| (key, self.line(entry.key_start))).collect()
    }

    /// All values by key, with their TOML types. Skips tables without values.
    pub(crate) fn values(&self) -> BTreeMap<Key, Value> {
        self.entries().into_iter().map(|(key, entry)| (key, entry.value())).collect()
    }

    /// Finds a key, be it a value or a table.
    pub(crate) fn find(&self, key: &Key) -> Option<Entry<'_>> {
        let mut table: &dyn TableLike = self.root();
        let (last, outer) = key.names().split_last()?;
        for name in outer {
            table = table.get(name)?.as_table_like()?;
        }
        Entry::get(table, last)
    }

    fn entries(&self) -> BTreeMap<Key, Entry<'_>> {
        let mut entries = BTreeMap::new();
        collect(self.root(), &mut Vec::new(), &mut entries);
        entries
    }

    pub(crate) fn root(&self) -> &toml_edit::Table {
        self.tree.as_table()
    }

    /// Returns the byte order mark, if the file has one.
    fn bom(&self) -> &'static str {
        if self.has_bom { BYTE_ORDER_MARK } else { "" }
    }

    pub(crate) fn text(&self) -> &str {
        self.tree.raw()
    }

    /// Returns the line of an offset, counted from 1.
    pub(crate) fn line(&self, offset: usize) -> usize {
        let ends = self.line_ends.get_or_init(|| {
            let newlines = self.text().bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            newlines.map(|(at, _)| at).collect()
        });
        1 + ends.partition_point(|end| *end < offset)
    }
}

impl<'a> Entry<'a> {
    pub(crate) fn get(table: &'a dyn TableLike, name: &str) -> Option<Entry<'a>> {
        let (key, item) = table.get_key_value(name)?;
        Some(Entry { item, key_start: key.span().unwrap_or_default().start })
    }

    /// Returns the value with its TOML type.
    pub(crate) fn value(&self) -> Value {
        Value::from_item(self.item)
    }
}

fn collect<'a>(table: &'a dyn TableLike, names: &mut Vec<&'a str>, entries: &mut BTreeMap<Key, Entry<'a>>) {
    for (name, item) in table.iter() {
        names.push(name);
        match item.as_table_like() {
            Some(inner) => collect(inner, names, entries),
            None => {
                let entry =
                    Entry::get(table, name).map(|entry| (Key::from_names(names.iter().copied()), entry));
                entries.extend(entry);
            }
        }
        names.pop();
    }
}

impl fmt::Debug for Document {
    /// Omits the content, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Document of `{}`", self.file.display())
    }
}

/// Locates an error in bytes, lines and characters; redacts the line of a secret.
fn syntax_error(
    file: &Path,
    text: &str,
    shift: usize,
    (at, message): (usize, &str),
    registry: &Registry,
) -> SyntaxError {
    // At the end of the file there is no character to point at; inside of a character, point at its
    // start.
    let location = text.floor_char_boundary(at.min(text.len()));
    let line_start = text[..location].rfind('\n').map_or(0, |newline| newline + 1);
    let line_text = text[line_start..].lines().next().unwrap_or_default();
    SyntaxError {
        file: file.to_owned(),
        offset: shift + location,
        line: 1 + text[..line_start].matches('\n').count(),
        column: 1 + text[line_start..location].chars().count(),
        source_line: redacted_line(&text[..line_start], line_text, &registry.secret_names()),
        message: message.trim().replace('\n', "; "),
        scope: None,
    }
}

/// Returns the line; only its key if its value is secret, and nothing of it if a secret value began
/// on an earlier line.
fn redacted_line(before: &str, line: &str, secrets: &[&str]) -> String {
    let key_of = |line: &str| -> Option<String> {
        let (key, value) = line.split_once('=')?;
        let last = key.rsplit(['.', '{', ',']).next()?.trim().trim_matches(['"', '\'']);
        let is_key = !last.is_empty() && !value.starts_with('=');
        is_key.then(|| last.to_owned())
    };
    let is_secret = |line: &str| secrets.iter().any(|secret| key_of(line).as_deref() == Some(*secret));
    // Inside an inline table, or several keys on a broken line.
    let names_one = secrets.iter().any(|secret| line.contains(secret));
    if names_one && let Some((key, _)) = line.split_once('=') {
        return format!("{key}= {REDACTED}");
    }
    // The value may have begun on an earlier line.
    let began = before.lines().rev().find(|line| key_of(line).is_some());
    if names_one || (key_of(line).is_none() && began.is_some_and(is_secret)) {
        return REDACTED.to_owned();
    }
    without_passwords(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(bytes: impl AsRef<[u8]>) -> Result<Document, Error> {
        Document::parse(Path::new("f.toml"), bytes.as_ref(), &Registry::standard())
    }

    /// Checks line, column, offset and shown line of the syntax error.
    fn check(bytes: &str, line: usize, column: usize, offset: usize, shown: &str) {
        let Err(Error::Parse(found)) = parse(bytes) else { panic!("{bytes:?} parses") };
        let SyntaxError { line: l, column: c, offset: o, source_line, .. } = *found;
        assert_eq!((l, c, o, source_line.as_str()), (line, column, offset, shown), "{bytes:?}");
    }

    #[test]
    fn syntax_errors_have_positions() {
        check("a = 1\nb = = 2\n", 2, 5, 10, "b = = 2");
        check("a = 1\r\nb = = 2\r\n", 2, 5, 11, "b = = 2");
        check("\u{feff}a = = 1", 1, 5, 7, "a = = 1");
        check("\u{feff}\u{feff}a = 1", 1, 1, 3, "\u{feff}a = 1");
        check("ä = 1", 1, 1, 0, "ä = 1");
        check("\"ä\" = \"ö\" x", 1, 11, 12, "\"ä\" = \"ö\" x");
        check("a = 1\na = 2\n", 2, 1, 6, "a = 2");
        check("[a]\n[a]\n", 2, 2, 5, "[a]");
        check("a = ", 1, 5, 4, "a = ");
        check("a = {b = 1", 1, 11, 10, "a = {b = 1");
    }

    #[test]
    fn the_line_of_a_secret_is_redacted() {
        check("[server]\ntoken = \"hunter2\nurl = 1\n", 2, 17, 25, "token = [REDACTED]");
        check("server.token = hunter2\n", 1, 16, 15, "server.token = [REDACTED]");
        check("server = { url = \"u\", token = hunter2 }\n", 1, 31, 30, "server = [REDACTED]");
        check("server.token = \"\"\"\nhunter2\\q\n\"\"\"\n", 2, 9, 27, "[REDACTED]");
        check("server.token = \"\"\"\na\n\"\"\"\nurl = = 1", 4, 7, 31, "url = = 1");
        check("token hunter2", 1, 7, 6, "[REDACTED]");
        check("url = \"a://b:hunter2@c", 1, 23, 22, "url = \"a://b:[REDACTED]@c");
    }

    #[test]
    fn a_non_utf8_file_is_an_error() {
        let error = parse(b"a = 1\nb = \"\xff\"\n").unwrap_err();
        assert!(matches!(error, Error::NotUtf8 { offset: 11, line: 2, .. }), "{error:?}");
    }

    #[test]
    fn a_file_over_the_limit_is_an_error() {
        let mut text = "#".repeat(FILE_BYTES_MAX as usize);
        assert!(parse(&text).is_ok());
        text.push('#');
        assert!(matches!(parse(&text), Err(Error::TooLarge { limit: FILE_BYTES_MAX, .. })));
    }

    #[test]
    fn keys_have_lines() {
        let document = parse("\u{feff}a.b = 1\n\n[c]\nd = {\n  e = 1,\n}\n[[f]]\ng = 1\n").unwrap();
        let keys: Vec<_> = document.keys().into_iter().map(|(key, line)| format!("{key}:{line}")).collect();
        assert_eq!(keys, ["a.b:1", "c.d.e:5", "f:7"]);
        let find = |key| document.find(&Key::parse(key).unwrap()).map(|entry| document.line(entry.key_start));
        assert_eq!(find("c.d.e"), Some(5));
        assert_eq!(find("c"), Some(3));
        assert_eq!(find("c.x"), None);
        assert_eq!(find("a.b.c"), None);
        assert_eq!(document.file(), Path::new("f.toml"));
    }

    #[test]
    fn parsing_preserves_every_byte() {
        for text in
            ["", "\u{feff}", "\u{feff}a=1\r\nb  =  2 # c\n\n\n", "[a]\n  b.c=1\n\n[d]", "# only a comment"]
        {
            let document = parse(text).unwrap();
            assert_eq!(document.to_bytes(), text.as_bytes());
            assert!(document.has_bytes(text.as_bytes()) && !document.has_bytes(b"a = 2"));
        }
    }
}
