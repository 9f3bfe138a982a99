//! Checks the whole file.

use rusqlite::Connection;

use super::columns::rows;
use super::engine::failure::EngineResult;
use crate::{Corruption, Result, SqliteStore, Store};

impl Store for SqliteStore {
    fn check(&self) -> Result<Vec<Corruption>> {
        self.engine.read("check the store", |connection, _| check(connection))
    }
}

/// Rules that no table constraint states. Each query returns the locations that break one.
const RULES: &[(&str, &str)] = &[
    (
        "its entries are not numbered from 1 to their count",
        "SELECT 'changeset ' || hex(id) FROM changesets LEFT JOIN
         (SELECT changeset, count(*) AS number, max(sequence) AS last FROM entries GROUP BY changeset) ON changeset = id
         WHERE coalesce(number, 0) <> entries OR coalesce(last, 0) <> entries",
    ),
    (
        "its blob is not in the store",
        "SELECT 'entry ' || sequence || ' of changeset ' || hex(changeset) FROM entries
         WHERE (before_blob IS NOT NULL AND before_blob NOT IN (SELECT hash FROM blobs))
            OR (after_blob IS NOT NULL AND after_blob NOT IN (SELECT hash FROM blobs))",
    ),
    (
        "it is outside the row range of its changeset, or the changeset does not exist",
        "SELECT 'entry ' || sequence || ' of changeset ' || hex(changeset) FROM entries
         LEFT JOIN changesets ON changesets.id = changeset WHERE (entries.id BETWEEN first_id AND last_id) IS NOT TRUE",
    ),
    (
        "it lacks chunks",
        "SELECT 'blob ' || lower(hex(hash)) FROM blobs WHERE upload IS NOT NULL AND (chunks, bytes) <>
         (SELECT count(*), coalesce(sum(blob_chunks.bytes), 0) FROM blob_chunks WHERE blob_chunks.upload = blobs.upload)",
    ),
    (
        "its chunks belong to no upload or blob",
        "SELECT DISTINCT 'upload ' || hex(upload) FROM blob_chunks
         WHERE upload NOT IN (SELECT id FROM uploads) AND upload NOT IN (SELECT upload FROM blobs WHERE upload IS NOT NULL)",
    ),
];

/// Corruptions that are listed of each kind.
const CORRUPTIONS_MAX: usize = 100;

fn check(connection: &Connection) -> EngineResult<Vec<Corruption>> {
    let mut corruptions = Vec::new();
    let found: Vec<String> =
        rows(connection, &format!("PRAGMA integrity_check({CORRUPTIONS_MAX})"), [], |row| row.get(0))?;
    let damage = found.into_iter().filter(|text| text != "ok");
    corruptions.extend(damage.map(|message| Corruption { location: "the file".to_owned(), message }));
    let references: Vec<String> = rows(connection, "PRAGMA foreign_key_check", [], |row| row.get(0))?;
    corruptions.extend(references.into_iter().take(CORRUPTIONS_MAX).map(|table| Corruption {
        location: format!("table {table}"),
        message: "a row refers to a missing row".to_owned(),
    }));
    for (message, sql) in RULES {
        let locations: Vec<String> =
            rows(connection, &format!("{sql} LIMIT {CORRUPTIONS_MAX}"), [], |row| row.get(0))?;
        corruptions.extend(
            locations.into_iter().map(|location| Corruption { location, message: (*message).to_owned() }),
        );
    }
    Ok(corruptions)
}
