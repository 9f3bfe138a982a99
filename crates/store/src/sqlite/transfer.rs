//! Raw rows of SQLite, for copies.

use rusqlite::types::Value;
use rusqlite::{Connection, Params, Row as SqlRow, params, params_from_iter};

use super::columns::{Count, rows as all_rows};
use super::engine::failure::EngineResult;
use crate::transfer::{Cell, ENTRIES, ROWS_MAX, Row, Table, Transfer};
use crate::{Result, SqliteStore};

impl Transfer for SqliteStore {
    fn location(&self) -> String {
        format!("sqlite:{}", self.path().display())
    }

    fn schema_version(&self) -> Result<u32> {
        self.engine.read("read the schema version", |connection, _| schema_version(connection))
    }

    fn count(&self, table: &'static str) -> Result<u64> {
        self.engine.read("count rows", |connection, _| count(connection, table))
    }

    fn rows(&self, table: &'static Table, after: Option<&[Cell]>) -> Result<Vec<Row>> {
        self.engine.read("read rows to copy", |connection, _| rows(connection, table, after))
    }

    fn put_rows(&self, table: &'static Table, rows: &[Row]) -> Result<()> {
        let rows = rows.to_vec();
        self.engine.write("write rows of a copy", 0, move |connection, _| put_rows(connection, table, &rows))
    }
}

fn schema_version(connection: &Connection) -> EngineResult<u32> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

fn count(connection: &Connection, table: &str) -> EngineResult<u64> {
    Ok(connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, Count>(0))?.0)
}

fn rows(connection: &Connection, table: &Table, after: Option<&[Cell]>) -> EngineResult<Vec<Row>> {
    let (names, key) = (table.names(), table.names()[..table.key].join(", "));
    let marks = vec!["?"; table.key].join(", ");
    let behind = after.map_or_else(String::new, |_| format!("WHERE ({key}) > ({marks})"));
    let sql =
        format!("SELECT {} FROM {} {behind} ORDER BY {key} LIMIT {ROWS_MAX}", names.join(", "), table.name);
    let after = params_from_iter(after.unwrap_or_default().iter().map(value));
    read(connection, &sql, after, names.len())
}

fn read(connection: &Connection, sql: &str, after: impl Params, columns: usize) -> EngineResult<Vec<Row>> {
    let cells = |row: &SqlRow<'_>| (0..columns).map(|column| Ok(cell(row.get(column)?))).collect();
    all_rows(connection, sql, after, cells)
}

fn put_rows(connection: &Connection, table: &Table, rows: &[Row]) -> EngineResult<()> {
    let marks = vec!["?"; table.columns.len()].join(", ");
    let insert = format!("INSERT INTO {} ({}) VALUES ({marks})", table.name, table.names().join(", "));
    if table.name == ENTRIES.name {
        return put_entries(connection, &insert, rows);
    }
    let mut statement = connection.prepare_cached(&format!("{insert} {}", table.update()))?;
    for row in rows {
        statement.execute(params_from_iter(row.iter().map(value)))?;
    }
    Ok(())
}

/// Inserts entries after the last one that the changeset has.
fn put_entries(connection: &Connection, insert: &str, rows: &[Row]) -> EngineResult<()> {
    let mut last = connection.prepare_cached(
        "SELECT coalesce((SELECT sequence FROM entries WHERE entries.id = last_id), 0) FROM changesets WHERE id = ?1",
    )?;
    let mut keep = connection.prepare_cached(
        "UPDATE changesets SET first_id = CASE first_id WHEN 0 THEN ?2 ELSE first_id END, last_id = ?2 WHERE id = ?1",
    )?;
    let mut insert = connection.prepare_cached(insert)?;
    for row in rows {
        let id = value(&row[0]);
        let there: i64 = last.query_row([&id], |row| row.get(0))?;
        if matches!(row[1], Cell::Number(sequence) if sequence <= there) {
            continue;
        }
        insert.execute(params_from_iter(row.iter().map(value)))?;
        keep.execute(params![id, connection.last_insert_rowid()])?;
    }
    Ok(())
}

fn value(cell: &Cell) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Number(number) => Value::Integer(*number),
        Cell::Text(text) => Value::Text(text.clone()),
        Cell::Bytes(bytes) => Value::Blob(bytes.clone()),
    }
}

fn cell(value: Value) -> Cell {
    match value {
        Value::Null | Value::Real(_) => Cell::Null,
        Value::Integer(number) => Cell::Number(number),
        Value::Text(text) => Cell::Text(text),
        Value::Blob(bytes) => Cell::Bytes(bytes),
    }
}
