//! The unsafe way to change a configuration file, as a control: it must fail where ours holds.

use std::fs;
use std::path::Path;

use toml_edit::{DocumentMut, Item, Table};

/// Sets a key by reading the file, changing it in memory and writing it back, without lock, rename
/// or sync. Treats an unreadable file as empty.
pub fn set(file: &Path, key: &str, value: i64) {
    let text = fs::read_to_string(file).unwrap_or_default();
    let mut document: DocumentMut = text.parse().unwrap_or_default();
    let mut names: Vec<&str> = key.split('.').collect();
    let last = names.pop().expect("a split has a part");
    let mut table: &mut Table = document.as_table_mut();
    for name in names {
        let inner = table.entry(name).or_insert(Item::Table(Table::new()));
        table = inner.as_table_mut().expect("tests use a table there");
    }
    table.insert(last, toml_edit::value(value));
    // Widen the race.
    std::thread::yield_now();
    // A failed write is part of the experiment.
    let _ = fs::write(file, document.to_string());
}
