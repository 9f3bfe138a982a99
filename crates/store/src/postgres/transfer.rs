//! Raw rows of PostgreSQL, for copies.

use tokio_postgres::Row as SqlRow;
use tokio_postgres::types::Type;

use super::columns::{self, Parameter, get, parameter};
use super::engine::failure::EngineResult;
use super::engine::transaction::Transaction;
use crate::transfer::{Cell, ColumnType, ROWS_MAX, Row, Table, Transfer};
use crate::{PostgresStore, RequestId, Result, Time};

impl Transfer for PostgresStore {
    fn location(&self) -> String {
        self.engine.location().display().to_string()
    }

    fn schema_version(&self) -> Result<u32> {
        self.engine.read("read the schema version", async |transaction| schema_version(transaction).await)
    }

    fn count(&self, table: &'static str) -> Result<u64> {
        self.engine.read("count rows", async |transaction| count(transaction, table).await)
    }

    fn rows(&self, table: &'static Table, after: Option<&[Cell]>) -> Result<Vec<Row>> {
        self.engine.read("read rows to copy", async |transaction| rows(transaction, table, after).await)
    }

    fn put_rows(&self, table: &'static Table, rows: &[Row]) -> Result<()> {
        self.engine
            .write("write rows of a copy", async |transaction| put_rows(transaction, table, rows).await)
    }
}

async fn schema_version(transaction: &Transaction<'_>) -> EngineResult<u32> {
    let row = transaction.one("SELECT version FROM versions", &[]).await?;
    Ok(u32::try_from(columns::count(&row, 0)?).unwrap_or(u32::MAX))
}

async fn count(transaction: &Transaction<'_>, table: &str) -> EngineResult<u64> {
    let row = transaction.one(&format!("SELECT count(*) FROM {table}"), &[]).await?;
    columns::count(&row, 0)
}

async fn rows(
    transaction: &Transaction<'_>,
    table: &Table,
    after: Option<&[Cell]>,
) -> EngineResult<Vec<Row>> {
    let (names, key) = (table.names(), table.names()[..table.key].join(", "));
    let marks: Vec<String> = (1..=table.key).map(|number| format!("${number}")).collect();
    let behind = after.map_or_else(String::new, |_| format!("WHERE ({key}) > ({})", marks.join(", ")));
    let sql =
        format!("SELECT {} FROM {} {behind} ORDER BY {key} LIMIT {ROWS_MAX}", names.join(", "), table.name);
    let values: Vec<ColumnValue> =
        after.unwrap_or_default().iter().zip(table.columns).map(column_value).collect();
    let rows = transaction.rows(&sql, &parameters(&values)).await?;
    rows.iter().map(|row| cells(row, table)).collect()
}

async fn put_rows(transaction: &Transaction<'_>, table: &Table, rows: &[Row]) -> EngineResult<()> {
    let marks: Vec<String> = (1..=table.columns.len()).map(|number| format!("${number}")).collect();
    let names = table.names().join(", ");
    let sql =
        format!("INSERT INTO {} ({names}) VALUES ({}) {}", table.name, marks.join(", "), table.update());
    for row in rows {
        let values: Vec<ColumnValue> = row.iter().zip(table.columns).map(column_value).collect();
        transaction.execute(&sql, &parameters(&values)).await?;
    }
    Ok(())
}

/// A cell in the type of its column.
enum ColumnValue {
    Id(Option<RequestId>),
    Bytes(Option<Vec<u8>>),
    Text(Option<String>),
    Number(Option<i64>),
    Time(Option<Time>),
}

fn column_value((cell, (_, kind)): (&Cell, &(&str, ColumnType))) -> ColumnValue {
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
        ColumnType::Id => {
            ColumnValue::Id(bytes().and_then(|bytes| bytes.try_into().ok()).map(RequestId::from_bytes))
        }
        ColumnType::Bytes | ColumnType::FreeText => ColumnValue::Bytes(bytes()),
        ColumnType::Text => {
            ColumnValue::Text(bytes().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
        }
        ColumnType::Number => ColumnValue::Number(number()),
        ColumnType::Time => ColumnValue::Time(number().map(Time::from_micros)),
    }
}

fn parameters(values: &[ColumnValue]) -> Vec<Parameter<'_>> {
    fn parameter_of(value: &ColumnValue) -> Parameter<'_> {
        match value {
            ColumnValue::Id(id) => parameter(id),
            ColumnValue::Bytes(bytes) => (bytes, Type::BYTEA),
            ColumnValue::Text(text) => parameter(text),
            ColumnValue::Number(number) => parameter(number),
            ColumnValue::Time(time) => parameter(time),
        }
    }
    values.iter().map(parameter_of).collect()
}

fn cells(row: &SqlRow, table: &Table) -> EngineResult<Row> {
    let cell = |(column, (_, kind)): (usize, &(&str, ColumnType))| {
        Ok(match kind {
            ColumnType::Id => {
                get::<Option<RequestId>>(row, column)?.map(|id| Cell::Bytes(id.to_bytes().to_vec()))
            }
            ColumnType::Bytes => get::<Option<Vec<u8>>>(row, column)?.map(Cell::Bytes),
            ColumnType::FreeText => get::<Option<Vec<u8>>>(row, column)?
                .map(|bytes| Cell::Text(String::from_utf8_lossy(&bytes).into_owned())),
            ColumnType::Text => get::<Option<String>>(row, column)?.map(Cell::Text),
            ColumnType::Number => get::<Option<i64>>(row, column)?.map(Cell::Number),
            ColumnType::Time => get::<Option<Time>>(row, column)?.map(|time| Cell::Number(time.as_micros())),
        }
        .unwrap_or(Cell::Null))
    };
    table.columns.iter().enumerate().map(cell).collect()
}
