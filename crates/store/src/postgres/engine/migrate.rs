//! Migrations, under a lock of the table with the schema version.

use std::path::Path;

use super::failure::{EngineResult, Failure};
use super::transaction::Transaction;
use crate::Error;
use crate::postgres::columns::{get, params};

/// The migrations; the schema version of a store is the number of those applied. Released ones
/// never change.
pub(crate) const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001.sql"),
    include_str!("../migrations/0002.sql"),
    include_str!("../migrations/0003.sql"),
    include_str!("../migrations/0004.sql"),
    include_str!("../migrations/0005.sql"),
];

/// Returns whether the tables have the newest version. Refuses a newer one.
pub(crate) async fn is_current(
    transaction: &Transaction<'_>,
    migrations: &[&str],
    location: &Path,
) -> EngineResult<bool> {
    let supported = i64::try_from(migrations.len()).unwrap_or(i64::MAX);
    match version(transaction).await? {
        Some(found) if found > supported => Err(newer(location, found, supported).into()),
        found => Ok(found == Some(supported)),
    }
}

/// Applies the missing migrations, all or none. Does not touch tables of another program or a newer
/// version. Waits for locks as every call does, and for its own statements as long as the caller.
pub(crate) async fn migrate(
    transaction: &Transaction<'_>,
    migrations: &[&str],
    location: &Path,
) -> EngineResult<()> {
    let supported = i64::try_from(migrations.len()).unwrap_or(i64::MAX);
    let found = match version(transaction).await? {
        Some(version) if version == supported => return Ok(()),
        Some(version) => version,
        None => {
            begin(transaction, location).await?;
            0
        }
    };
    if found > supported {
        return Err(newer(location, found, supported).into());
    }
    // Readers of the version continue; other migrations wait here.
    transaction.batch("LOCK TABLE agents.versions IN EXCLUSIVE MODE").await?;
    transaction.batch("SET LOCAL statement_timeout = 0").await?;
    let found = version(transaction).await?.unwrap_or(0);
    if found > supported {
        return Err(newer(location, found, supported).into());
    }
    let behind = usize::try_from(found).unwrap_or(0);
    for sql in &migrations[behind..] {
        transaction.batch(sql).await?;
    }
    transaction.execute_one("UPDATE agents.versions SET version = $1", params![supported]).await
}

/// Returns the schema version; `None` if there is no store.
async fn version(transaction: &Transaction<'_>) -> EngineResult<Option<i64>> {
    let there = transaction.one("SELECT to_regclass('agents.versions') IS NOT NULL", &[]).await?;
    if !get::<bool>(&there, 0)? {
        return Ok(None);
    }
    let row = transaction.row("SELECT version FROM agents.versions", &[]).await?;
    Ok(Some(row.map(|row| get::<i64>(&row, 0)).transpose()?.unwrap_or(0)))
}

/// Creates the schema and the version table, if the schema is empty.
async fn begin(transaction: &Transaction<'_>, location: &Path) -> EngineResult<()> {
    let row = transaction
        .one(
            "SELECT to_regnamespace('agents') IS NOT NULL,
                    EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace('agents')),
                    EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace('agents') AND relname = 'versions')",
            &[],
        )
        .await?;
    if get::<bool>(&row, 2)? {
        // Another process created it since the check.
        return Err(Failure::LostRace);
    }
    if get::<bool>(&row, 1)? {
        let reason = "its schema `agents` belongs to another program";
        return Err(Error::NotAStore { path: location.to_owned(), reason }.into());
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

fn newer(location: &Path, found: i64, supported: i64) -> Error {
    let number = |version| u32::try_from(version).unwrap_or(u32::MAX);
    Error::NewerSchema { path: location.to_owned(), found: number(found), supported: number(supported) }
}
