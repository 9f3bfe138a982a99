//! Connections to the store's file, and migrations.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::failure::EngineResult;
use super::{busy, db_file};
use crate::Error;
use crate::sqlite::columns::integer;

/// The migrations; the schema version of a store is the number of those applied. Released ones
/// never change.
pub(crate) const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001.sql"),
    include_str!("../migrations/0002.sql"),
    include_str!("../migrations/0003.sql"),
    include_str!("../migrations/0004.sql"),
];

/// `agst`: distinguishes our files from those of other programs.
const APPLICATION_ID: i32 = 0x6167_7374;
const STATEMENTS_KEPT: usize = 96;
/// Size to which a checkpoint truncates the -wal file.
const WAL_BYTES_KEPT: i64 = 64 << 20;
/// Pages of 4 KiB in the -wal file that trigger a checkpoint, which takes two syncs.
const WAL_PAGES: i64 = 4000;
/// Page cache of the writer: blobs are looked up by hash, all over the file.
const WRITER_CACHE_KIB: i64 = 16 << 10;

/// Opens a connection to an existing file.
fn connect(path: &Path) -> EngineResult<Connection> {
    Ok(busy::retry(|| open(path))?)
}

fn open(path: &Path) -> rusqlite::Result<Connection> {
    // Not a URI: a path may contain a question mark.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    busy::install(&mut connection)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // One sync of the -wal file per commit: an acknowledged write survives a power cut.
    connection.pragma_update(None, "synchronous", "FULL")?;
    // Without these, macOS would leave it in the drive's cache.
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "checkpoint_fullfsync", true)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // The first read opens the -wal and -shm files.
    connection.pragma_query_value(None, "schema_version", |_| Ok(()))?;
    Ok(connection)
}

/// Opens the connection of the writer.
pub(crate) fn connect_writer(path: &Path) -> EngineResult<Connection> {
    let connection = connect(path)?;
    connection.query_row(&format!("PRAGMA journal_size_limit = {WAL_BYTES_KEPT}"), [], |_| Ok(()))?;
    connection.query_row(&format!("PRAGMA wal_autocheckpoint = {WAL_PAGES}"), [], |_| Ok(()))?;
    connection.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
    Ok(connection)
}

/// Opens a read-only connection.
pub(crate) fn connect_reader(path: &Path) -> EngineResult<Connection> {
    let connection = connect(path)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// Applies the missing migrations. Does not touch a file of another program or a newer version.
pub(crate) fn migrate(path: &Path, migrations: &[&str]) -> EngineResult<()> {
    let mut connection = connect(path)?;
    // Closing a file of another program must not checkpoint its -wal file.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    let version = version(&connection, path, migrations.len())?;
    if version == migrations.len() {
        return Ok(());
    }
    if version == 0 {
        db_file::sync_folders(path)?;
    }
    // SQLite's busy handler does not cover this pragma.
    busy::retry(|| connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())))?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have migrated in between.
    let version = self::version(&transaction, path, migrations.len())?;
    for sql in &migrations[version..] {
        transaction.execute_batch(sql)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", integer(migrations.len() as u64))?;
    transaction.commit()?;
    Ok(())
}

/// Returns the schema version of the store; 0 for an empty file.
fn version(connection: &Connection, path: &Path, supported: usize) -> EngineResult<usize> {
    // One statement, so one snapshot: another process may be migrating right now.
    let (application, version, tables): (i32, i32, i64) = connection.query_row(
        "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version),
                (SELECT count(*) FROM sqlite_schema)",
        [],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    let not_a_store = |reason| Error::NotAStore { path: path.to_owned(), reason };
    match (application, usize::try_from(version)) {
        (0, Ok(0)) if tables == 0 => Ok(0),
        (APPLICATION_ID, Ok(version)) if version > supported => Err(Error::NewerSchema {
            path: path.to_owned(),
            found: u32::try_from(version).unwrap_or(u32::MAX),
            supported: u32::try_from(supported).unwrap_or(u32::MAX),
        }
        .into()),
        (APPLICATION_ID, Ok(version)) => Ok(version),
        _ => Err(not_a_store("it is the database of another program").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const TWO: &[&str] = &[
        "CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (1);",
        "ALTER TABLE a ADD COLUMN y INTEGER DEFAULT 2;",
    ];

    fn count(path: &Path, sql: &str) -> i64 {
        connect(path).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn each_migration_is_applied_once_and_keeps_the_data() {
        let folder = tempfile::tempdir().unwrap();
        let path = db_file::prepare(&folder.path().join("deep/er/state.db")).unwrap();
        migrate(&path, &TWO[..1]).unwrap();
        migrate(&path, TWO).unwrap();
        migrate(&path, TWO).unwrap();
        assert_eq!(count(&path, "SELECT sum(x + y) FROM a"), 3);
    }

    #[test]
    fn a_failed_migration_leaves_the_previous_version() {
        let folder = tempfile::tempdir().unwrap();
        let path = db_file::prepare(&folder.path().join("state.db")).unwrap();
        migrate(&path, &TWO[..1]).unwrap();
        assert!(
            migrate(&path, &[TWO[0], "CREATE TABLE b (x INTEGER); CREATE TABLE a (x INTEGER);"]).is_err()
        );
        assert_eq!(count(&path, "SELECT count(*) FROM sqlite_schema"), 1);
        assert_eq!(count(&path, "PRAGMA user_version"), 1);
        migrate(&path, TWO).unwrap();
    }

    #[test]
    fn a_newer_store_is_refused_untouched() {
        let folder = tempfile::tempdir().unwrap();
        let path = db_file::prepare(&folder.path().join("state.db")).unwrap();
        migrate(&path, TWO).unwrap();
        let before = std::fs::read(&path).unwrap();
        let failure = migrate(&path, &TWO[..1]).unwrap_err();
        let error = failure.into_error(&path, "open", Duration::ZERO);
        assert_eq!(error.code(), "store-newer");
        assert!(
            error.to_string().ends_with("has schema version 2; this program supports version 1"),
            "{error}"
        );
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
}
