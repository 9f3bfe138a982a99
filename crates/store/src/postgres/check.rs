//! Checks all tables. The files of the server are left to its own tools, such as `pg_amcheck`.

use super::columns::get;
use super::engine::failure::EngineResult;
use super::engine::transaction::Transaction;
use crate::{Corruption, PostgresStore, Result, Store};

impl Store for PostgresStore {
    fn check(&self) -> Result<Vec<Corruption>> {
        self.engine.read("check the store", async |transaction| check(transaction).await)
    }
}

/// Rules that no table constraint states. Each query returns the locations that break one.
const RULES: &[(&str, &str)] = &[
    (
        "its entries are not numbered from 1 to their count",
        "SELECT 'changeset ' || id FROM changesets LEFT JOIN
         (SELECT changeset, count(*) AS number, max(sequence) AS last FROM entries GROUP BY changeset) AS counted
         ON changeset = id WHERE coalesce(number, 0) <> entries OR coalesce(last, 0) <> entries",
    ),
    (
        "its blob is not in the store",
        "SELECT 'entry ' || sequence || ' of changeset ' || changeset FROM entries
         WHERE (before_blob IS NOT NULL AND NOT EXISTS (SELECT FROM blobs WHERE hash = before_blob))
            OR (after_blob IS NOT NULL AND NOT EXISTS (SELECT FROM blobs WHERE hash = after_blob))",
    ),
    (
        "its changeset does not exist",
        "SELECT 'entry ' || sequence || ' of changeset ' || changeset FROM entries
         WHERE NOT EXISTS (SELECT FROM changesets WHERE id = changeset)",
    ),
    (
        "it lacks chunks",
        "SELECT 'blob ' || encode(hash, 'hex') FROM blobs WHERE upload IS NOT NULL AND (chunks, bytes) <>
         (SELECT count(*), coalesce(sum(blob_chunks.bytes), 0)::bigint FROM blob_chunks WHERE blob_chunks.upload = blobs.upload)",
    ),
    (
        "its chunks belong to no upload or blob",
        "SELECT DISTINCT 'upload ' || upload FROM blob_chunks
         WHERE NOT EXISTS (SELECT FROM uploads WHERE id = blob_chunks.upload)
           AND NOT EXISTS (SELECT FROM blobs WHERE blobs.upload = blob_chunks.upload)",
    ),
];

/// Corruptions that are listed of each kind.
const CORRUPTIONS_MAX: usize = 100;

async fn check(transaction: &Transaction<'_>) -> EngineResult<Vec<Corruption>> {
    let mut corruptions = Vec::new();
    for (message, sql) in RULES {
        for row in transaction.rows(&format!("{sql} LIMIT {CORRUPTIONS_MAX}"), &[]).await? {
            corruptions.push(Corruption { location: get(&row, 0)?, message: (*message).to_owned() });
        }
    }
    Ok(corruptions)
}
