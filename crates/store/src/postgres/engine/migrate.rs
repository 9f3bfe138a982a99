//! Bringing the tables up to date, under a lock of the table that says which version they have.

use std::path::Path;

use super::failure::{Attempt, Failure};
use super::transaction::Transaction;
use crate::Error;
use crate::postgres::columns::{get, params};

/// The steps from nothing to the newest tables; the version of a store is how many of them it has behind it. Never changed, only added to.
pub(crate) const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001.sql"),
    include_str!("../migrations/0002.sql"),
    include_str!("../migrations/0003.sql"),
    include_str!("../migrations/0004.sql"),
    include_str!("../migrations/0005.sql"),
];

/// Brings the tables up to date, all of it or nothing. What is not ours, or of a newer program, is not touched.
pub(crate) async fn migrate(transaction: &Transaction<'_>, migrations: &[&str], place: &Path) -> Attempt<()> {
    let known = i64::try_from(migrations.len()).unwrap_or(i64::MAX);
    let found = match version(transaction).await? {
        Some(version) if version == known => return Ok(()),
        Some(version) => version,
        None => {
            begin(transaction, place).await?;
            0
        }
    };
    if found > known {
        return Err(newer(place, found, known).into());
    }
    // Readers of the version go on; whoever else migrates waits here.
    transaction.batch("LOCK TABLE agents.versions IN EXCLUSIVE MODE").await?;
    let found = version(transaction).await?.unwrap_or(0);
    if found > known {
        return Err(newer(place, found, known).into());
    }
    let behind = usize::try_from(found).unwrap_or(0);
    for sql in &migrations[behind..] {
        transaction.batch(sql).await?;
    }
    transaction.execute_one("UPDATE agents.versions SET version = $1", params![known]).await
}

/// The version of the store; nothing when there is no store.
async fn version(transaction: &Transaction<'_>) -> Attempt<Option<i64>> {
    let there = transaction.one("SELECT to_regclass('agents.versions') IS NOT NULL", &[]).await?;
    if !get::<bool>(&there, 0)? {
        return Ok(None);
    }
    let row = transaction.row("SELECT version FROM agents.versions", &[]).await?;
    Ok(Some(row.map(|row| get::<i64>(&row, 0)).transpose()?.unwrap_or(0)))
}

/// Makes the schema and the table of the version, where there is nothing.
async fn begin(transaction: &Transaction<'_>, place: &Path) -> Attempt<()> {
    let row = transaction
        .one(
            "SELECT to_regnamespace('agents') IS NOT NULL,
                    EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace('agents')),
                    EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace('agents') AND relname = 'versions')",
            &[],
        )
        .await?;
    if get::<bool>(&row, 2)? {
        // Somebody else made it since this was looked for.
        return Err(Failure::Again);
    }
    if get::<bool>(&row, 1)? {
        let reason = "its schema `agents` is of another program";
        return Err(Error::NotAStore { path: place.to_owned(), reason }.into());
    }
    if !get::<bool>(&row, 0)? {
        transaction.batch("CREATE SCHEMA agents").await?;
    }
    transaction
        .batch(
            "CREATE TABLE agents.versions (version bigint NOT NULL); INSERT INTO agents.versions VALUES (0)",
        )
        .await
}

fn newer(place: &Path, found: i64, known: i64) -> Error {
    let number = |version| u32::try_from(version).unwrap_or(u32::MAX);
    Error::NewerSchema { path: place.to_owned(), found: number(found), known: number(known) }
}
