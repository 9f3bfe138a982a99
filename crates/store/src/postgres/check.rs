//! Reads all tables and lists what is wrong in them. The server's own files are for its own tools (`pg_amcheck`).

use super::columns::get;
use super::engine::failure::Attempt;
use super::engine::transaction::Transaction;
use crate::{PostgresStore, Problem, Result, Store};

impl Store for PostgresStore {
    fn check(&self) -> Result<Vec<Problem>> {
        self.engine.read("check the store", async |transaction| check(transaction).await)
    }
}

/// Rules that no constraint of a table states. Each query gives the places where one is broken.
const RULES: &[(&str, &str)] = &[
    (
        "its entries are not numbered from 1 to their count",
        "SELECT 'changeset ' || id FROM changesets LEFT JOIN
         (SELECT changeset, count(*) AS number, max(sequence) AS last FROM entries GROUP BY changeset) AS counted
         ON changeset = id WHERE coalesce(number, 0) <> entries OR coalesce(last, 0) <> entries",
    ),
    (
        "its content is not in the store",
        "SELECT 'entry ' || sequence || ' of changeset ' || changeset FROM entries
         WHERE (before_blob IS NOT NULL AND NOT EXISTS (SELECT FROM blobs WHERE hash = before_blob))
            OR (after_blob IS NOT NULL AND NOT EXISTS (SELECT FROM blobs WHERE hash = after_blob))",
    ),
    (
        "there is no such changeset",
        "SELECT 'entry ' || sequence || ' of changeset ' || changeset FROM entries
         WHERE NOT EXISTS (SELECT FROM changesets WHERE id = changeset)",
    ),
    (
        "chunks of it are missing",
        "SELECT 'content ' || encode(hash, 'hex') FROM blobs WHERE upload IS NOT NULL AND (chunks, bytes) <>
         (SELECT count(*), coalesce(sum(blob_chunks.bytes), 0)::bigint FROM blob_chunks WHERE blob_chunks.upload = blobs.upload)",
    ),
    (
        "its chunks belong to nothing",
        "SELECT DISTINCT 'upload ' || upload FROM blob_chunks
         WHERE NOT EXISTS (SELECT FROM uploads WHERE id = blob_chunks.upload)
           AND NOT EXISTS (SELECT FROM blobs WHERE blobs.upload = blob_chunks.upload)",
    ),
];

/// Problems that are listed of one kind.
const PROBLEMS_MAX: usize = 100;

async fn check(transaction: &Transaction<'_>) -> Attempt<Vec<Problem>> {
    let mut problems = Vec::new();
    for (text, sql) in RULES {
        for row in transaction.rows(&format!("{sql} LIMIT {PROBLEMS_MAX}"), &[]).await? {
            problems.push(Problem { place: get(&row, 0)?, text: (*text).to_owned() });
        }
    }
    Ok(problems)
}
