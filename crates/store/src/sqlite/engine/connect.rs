//! Connections to the store's file, and bringing its tables up to date.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::failure::Attempt;
use super::{busy, db_file};
use crate::Error;
use crate::sqlite::columns::integer;

/// The steps from nothing to the newest tables; the version of a store is how many of them it has behind it. Never changed, only added to.
pub(crate) const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001.sql"),
    include_str!("../migrations/0002.sql"),
    include_str!("../migrations/0003.sql"),
    include_str!("../migrations/0004.sql"),
];

/// `agst`: tells our files from those of other programs.
const APPLICATION_ID: i32 = 0x6167_7374;
const STATEMENTS_KEPT: usize = 96;
/// What is left of the -wal file after a checkpoint.
const WAL_BYTES_KEPT: i64 = 64 << 20;
/// Pages of 4 KiB in the -wal file that bring about a checkpoint, which takes two syncs.
const WAL_PAGES: i64 = 4000;
/// What the writer keeps in memory of the file: contents are found by hashes, which are anywhere.
const WRITER_CACHE_KIB: i64 = 16 << 10;

/// Opens a connection to a file that exists, and the files beside it.
fn connect(path: &Path) -> Attempt<Connection> {
    Ok(busy::retry(|| open(path))?)
}

fn open(path: &Path) -> rusqlite::Result<Connection> {
    // No URI: a path with a question mark is a path.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    busy::install(&mut connection)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // One sync of the -wal file for every commit: what was acknowledged survives a power cut.
    connection.pragma_update(None, "synchronous", "FULL")?;
    // Without these macOS would leave it in the drive's cache.
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "checkpoint_fullfsync", true)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // The first look at the file opens those beside it.
    connection.pragma_query_value(None, "schema_version", |_| Ok(()))?;
    Ok(connection)
}

/// Opens a connection that writes.
pub(crate) fn connect_writer(path: &Path) -> Attempt<Connection> {
    let connection = connect(path)?;
    connection.query_row(&format!("PRAGMA journal_size_limit = {WAL_BYTES_KEPT}"), [], |_| Ok(()))?;
    connection.query_row(&format!("PRAGMA wal_autocheckpoint = {WAL_PAGES}"), [], |_| Ok(()))?;
    connection.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
    Ok(connection)
}

/// Opens a connection that cannot write.
pub(crate) fn connect_reader(path: &Path) -> Attempt<Connection> {
    let connection = connect(path)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// Brings the tables up to date. A file that is not ours, or of a newer program, is not touched.
pub(crate) fn migrate(path: &Path, migrations: &[&str]) -> Attempt<()> {
    let mut connection = connect(path)?;
    // Until it is known whose file this is, closing it must not move what its -wal file holds.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    let version = version(&connection, path, migrations.len())?;
    if version == migrations.len() {
        return Ok(());
    }
    if version == 0 {
        db_file::sync_folders(path)?;
    }
    // SQLite does not wait for this one by itself.
    busy::retry(|| connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())))?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Somebody else may have done it meanwhile.
    let version = self::version(&transaction, path, migrations.len())?;
    for sql in &migrations[version..] {
        transaction.execute_batch(sql)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", integer(migrations.len() as u64))?;
    transaction.commit()?;
    Ok(())
}

/// The version of the store; 0 of an empty file.
fn version(connection: &Connection, path: &Path, known: usize) -> Attempt<usize> {
    // In one statement, so of one state: somebody else may be making the tables just now.
    let (application, version, tables): (i32, i32, i64) = connection.query_row(
        "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version),
                (SELECT count(*) FROM sqlite_schema)",
        [],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    let not_a_store = |reason| Error::NotAStore { path: path.to_owned(), reason };
    match (application, usize::try_from(version)) {
        (0, Ok(0)) if tables == 0 => Ok(0),
        (APPLICATION_ID, Ok(version)) if version > known => Err(Error::NewerSchema {
            path: path.to_owned(),
            found: u32::try_from(version).unwrap_or(u32::MAX),
            known: u32::try_from(known).unwrap_or(u32::MAX),
        }
        .into()),
        (APPLICATION_ID, Ok(version)) => Ok(version),
        _ => Err(not_a_store("it is an SQLite database of another program").into()),
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
    fn each_step_is_taken_once_and_what_is_there_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = db_file::prepare(&folder.path().join("deep/er/state.db")).unwrap();
        migrate(&path, &TWO[..1]).unwrap();
        migrate(&path, TWO).unwrap();
        migrate(&path, TWO).unwrap();
        assert_eq!(count(&path, "SELECT sum(x + y) FROM a"), 3);
    }

    #[test]
    fn a_step_that_fails_leaves_the_version_before_it() {
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
    fn a_newer_store_is_refused_and_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        let path = db_file::prepare(&folder.path().join("state.db")).unwrap();
        migrate(&path, TWO).unwrap();
        let before = std::fs::read(&path).unwrap();
        let failure = migrate(&path, &TWO[..1]).unwrap_err();
        let error = failure.into_error(&path, "open", Duration::ZERO);
        assert_eq!(error.code(), "store-newer");
        assert!(error.to_string().ends_with("has schema version 2; this program knows version 1"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
}
