//! Reads the whole file and lists what is wrong with it.

use rusqlite::Connection;

use super::columns::rows;
use super::engine::failure::Attempt;
use crate::{Problem, Result, SqliteStore, Store};

impl Store for SqliteStore {
    fn check(&self) -> Result<Vec<Problem>> {
        self.engine.read("check the store", |connection, _| check(connection))
    }
}

/// Rules that no constraint of a table states. Each query gives the places where one is broken.
const RULES: &[(&str, &str)] = &[
    (
        "its entries are not numbered from 1 to their count",
        "SELECT 'changeset ' || hex(id) FROM changesets LEFT JOIN
         (SELECT changeset, count(*) AS number, max(sequence) AS last FROM entries GROUP BY changeset) ON changeset = id
         WHERE coalesce(number, 0) <> entries OR coalesce(last, 0) <> entries",
    ),
    (
        "its content is not in the store",
        "SELECT 'entry ' || sequence || ' of changeset ' || hex(changeset) FROM entries
         WHERE (before_blob IS NOT NULL AND before_blob NOT IN (SELECT hash FROM blobs))
            OR (after_blob IS NOT NULL AND after_blob NOT IN (SELECT hash FROM blobs))",
    ),
    (
        "it is not between the first and the last of its changeset, or there is no such changeset",
        "SELECT 'entry ' || sequence || ' of changeset ' || hex(changeset) FROM entries
         LEFT JOIN changesets ON changesets.id = changeset WHERE (entries.id BETWEEN first_id AND last_id) IS NOT TRUE",
    ),
    (
        "chunks of it are missing",
        "SELECT 'content ' || lower(hex(hash)) FROM blobs WHERE upload IS NOT NULL AND (chunks, bytes) <>
         (SELECT count(*), coalesce(sum(blob_chunks.bytes), 0) FROM blob_chunks WHERE blob_chunks.upload = blobs.upload)",
    ),
    (
        "its chunks belong to nothing",
        "SELECT DISTINCT 'upload ' || hex(upload) FROM blob_chunks
         WHERE upload NOT IN (SELECT id FROM uploads) AND upload NOT IN (SELECT upload FROM blobs WHERE upload IS NOT NULL)",
    ),
];

/// Problems that are listed of one kind.
const PROBLEMS_MAX: usize = 100;

fn check(connection: &Connection) -> Attempt<Vec<Problem>> {
    let mut problems = Vec::new();
    let found: Vec<String> =
        rows(connection, &format!("PRAGMA integrity_check({PROBLEMS_MAX})"), [], |row| row.get(0))?;
    let damage = found.into_iter().filter(|text| text != "ok");
    problems.extend(damage.map(|text| Problem { place: "the file".to_owned(), text }));
    let references: Vec<String> = rows(connection, "PRAGMA foreign_key_check", [], |row| row.get(0))?;
    problems.extend(references.into_iter().take(PROBLEMS_MAX).map(|table| Problem {
        place: format!("table {table}"),
        text: "a row refers to one that is not there".to_owned(),
    }));
    for (text, sql) in RULES {
        let places: Vec<String> =
            rows(connection, &format!("{sql} LIMIT {PROBLEMS_MAX}"), [], |row| row.get(0))?;
        problems.extend(places.into_iter().map(|place| Problem { place, text: (*text).to_owned() }));
    }
    Ok(problems)
}
