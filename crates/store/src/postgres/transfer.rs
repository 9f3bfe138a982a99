//! Rows of PostgreSQL as they are, for copies.

use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::columns::{self, Parameter, get, parameter};
use super::engine::failure::Attempt;
use super::engine::transaction::Transaction;
use crate::transfer::{Cell, Cells, Kind, ROWS_MAX, Table, Transfer};
use crate::{PostgresStore, RequestId, Result, Time};

impl Transfer for PostgresStore {
    fn place(&self) -> String {
        self.engine.place().display().to_string()
    }

    fn schema_version(&self) -> Result<u32> {
        self.engine.read("read its version", async |transaction| schema_version(transaction).await)
    }

    fn count(&self, table: &'static str) -> Result<u64> {
        self.engine.read("count", async |transaction| count(transaction, table).await)
    }

    fn rows(&self, table: &'static Table, after: Option<&[Cell]>) -> Result<Vec<Cells>> {
        self.engine.read("read rows to copy", async |transaction| rows(transaction, table, after).await)
    }

    fn put_rows(&self, table: &'static Table, rows: &[Cells]) -> Result<()> {
        self.engine
            .write("write rows of a copy", async |transaction| put_rows(transaction, table, rows).await)
    }
}

async fn schema_version(transaction: &Transaction<'_>) -> Attempt<u32> {
    let row = transaction.one("SELECT version FROM versions", &[]).await?;
    Ok(u32::try_from(columns::count(&row, 0)?).unwrap_or(u32::MAX))
}

async fn count(transaction: &Transaction<'_>, table: &str) -> Attempt<u64> {
    let row = transaction.one(&format!("SELECT count(*) FROM {table}"), &[]).await?;
    columns::count(&row, 0)
}

async fn rows(transaction: &Transaction<'_>, table: &Table, after: Option<&[Cell]>) -> Attempt<Vec<Cells>> {
    let (names, key) = (table.names(), table.names()[..table.key].join(", "));
    let marks: Vec<String> = (1..=table.key).map(|number| format!("${number}")).collect();
    let behind = after.map_or_else(String::new, |_| format!("WHERE ({key}) > ({})", marks.join(", ")));
    let sql =
        format!("SELECT {} FROM {} {behind} ORDER BY {key} LIMIT {ROWS_MAX}", names.join(", "), table.name);
    let kept: Vec<Kept> = after.unwrap_or_default().iter().zip(table.columns).map(kept).collect();
    let rows = transaction.rows(&sql, &parameters(&kept)).await?;
    rows.iter().map(|row| cells(row, table)).collect()
}

async fn put_rows(transaction: &Transaction<'_>, table: &Table, rows: &[Cells]) -> Attempt<()> {
    let marks: Vec<String> = (1..=table.columns.len()).map(|number| format!("${number}")).collect();
    let names = table.names().join(", ");
    let sql =
        format!("INSERT INTO {} ({names}) VALUES ({}) {}", table.name, marks.join(", "), table.update());
    for row in rows {
        let kept: Vec<Kept> = row.iter().zip(table.columns).map(kept).collect();
        transaction.execute(&sql, &parameters(&kept)).await?;
    }
    Ok(())
}

/// A cell in the type of its column.
enum Kept {
    Id(Option<RequestId>),
    Bytes(Option<Vec<u8>>),
    Text(Option<String>),
    Number(Option<i64>),
    Time(Option<Time>),
}

fn kept((cell, (_, kind)): (&Cell, &(&str, Kind))) -> Kept {
    let bytes = || match cell {
        Cell::Bytes(bytes) => Some(bytes.clone()),
        Cell::Text(text) => Some(text.clone().into_bytes()),
        _ => None,
    };
    let number = || match cell {
        Cell::Number(number) => Some(*number),
        _ => None,
    };
    match kind {
        Kind::Id => Kept::Id(bytes().and_then(|bytes| bytes.try_into().ok()).map(RequestId::from_bytes)),
        Kind::Bytes | Kind::FreeText => Kept::Bytes(bytes()),
        Kind::Text => Kept::Text(bytes().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())),
        Kind::Number => Kept::Number(number()),
        Kind::Time => Kept::Time(number().map(Time::from_micros)),
    }
}

fn parameters(kept: &[Kept]) -> Vec<Parameter<'_>> {
    fn parameter_of(kept: &Kept) -> Parameter<'_> {
        match kept {
            Kept::Id(id) => parameter(id),
            Kept::Bytes(bytes) => (bytes, Type::BYTEA),
            Kept::Text(text) => parameter(text),
            Kept::Number(number) => parameter(number),
            Kept::Time(time) => parameter(time),
        }
    }
    kept.iter().map(parameter_of).collect()
}

fn cells(row: &Row, table: &Table) -> Attempt<Cells> {
    let cell = |(column, (_, kind)): (usize, &(&str, Kind))| {
        Ok(match kind {
            Kind::Id => get::<Option<RequestId>>(row, column)?.map(|id| Cell::Bytes(id.to_bytes().to_vec())),
            Kind::Bytes => get::<Option<Vec<u8>>>(row, column)?.map(Cell::Bytes),
            Kind::FreeText => get::<Option<Vec<u8>>>(row, column)?
                .map(|bytes| Cell::Text(String::from_utf8_lossy(&bytes).into_owned())),
            Kind::Text => get::<Option<String>>(row, column)?.map(Cell::Text),
            Kind::Number => get::<Option<i64>>(row, column)?.map(Cell::Number),
            Kind::Time => get::<Option<Time>>(row, column)?.map(|time| Cell::Number(time.as_micros())),
        }
        .unwrap_or(Cell::Null))
    };
    table.columns.iter().enumerate().map(cell).collect()
}
