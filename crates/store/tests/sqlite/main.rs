//! The SQLite engine: conformance, and its specifics.

#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "plays what damages the file")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate cleveragents_store as store;

mod conformance;
#[cfg(target_os = "linux")]
mod failing_disk;
mod files;
#[cfg(target_os = "linux")]
mod full_disk;
mod group_commit;
mod migrations;
mod processes;
mod properties;
mod record_cache;
mod tampering;

use std::path::Path;

use store::SqliteStore;

fn open(folder: &Path) -> SqliteStore {
    SqliteStore::open(&folder.join("state.db")).unwrap()
}

/// Opens the file behind the back of the store.
fn raw(folder: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open(folder.join("state.db")).unwrap()
}
