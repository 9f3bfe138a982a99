//! The usual way to change a configuration file, as a control: what must hold for ours must fail for this.

use std::fs;
use std::path::Path;

use toml_edit::{DocumentMut, Item, Table};

/// Sets a key by reading the file, changing it in memory and writing it back: no lock, no rename, no sync. A file that cannot be read or
/// parsed counts as empty.
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
    // The slower, the more the others get in between.
    std::thread::yield_now();
    // A write that fails is part of the trial.
    let _ = fs::write(file, document.to_string());
}
