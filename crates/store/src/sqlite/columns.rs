//! Conversions between the types of the store and SQLite columns.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::de::DeserializeOwned;

use super::engine::failure::EngineResult;
use crate::limits::PAGE_MAX;
use crate::{
    Actor, BlobHash, ChainHash, ChangesetId, Codec, ContentKind, Epoch, Name, NodeId, Owner, PathBytes,
    PlanId, RequestId, State, Status, Time, Tool, UploadId, Version,
};

macro_rules! id_column {
    ($($name:ident),*) => { $(
        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(self.to_bytes().to_vec().into())
            }
        }

        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                <[u8; 16]>::column_result(value).map(Self::from_bytes)
            }
        }
    )* };
}

macro_rules! hash_column {
    ($($name:ident),*) => { $(
        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(self.as_bytes().as_slice().into())
            }
        }

        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                <[u8; 32]>::column_result(value).map(Self::from_bytes)
            }
        }
    )* };
}

macro_rules! text_column {
    ($($name:ident),*) => { $(
        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(self.as_str().into())
            }
        }

        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                Self::parse(value.as_str()?).map_err(FromSqlError::other)
            }
        }
    )* };
}

macro_rules! number_column {
    ($($name:ident),*) => { $(
        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(integer(self.0).into())
            }
        }

        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                unsigned(value).map(Self)
            }
        }
    )* };
}

id_column!(PlanId, NodeId, ChangesetId, RequestId, UploadId);
hash_column!(BlobHash, ChainHash);
text_column!(Actor, Owner, Name, State, Tool);
number_column!(Version, Epoch);

impl ToSql for Time {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.as_micros().into())
    }
}

impl FromSql for Time {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_i64().map(Self::from_micros)
    }
}

impl ToSql for PathBytes {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.as_bytes().into())
    }
}

impl FromSql for PathBytes {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::parse(value.as_blob()?).map_err(FromSqlError::other)
    }
}

/// Stores an enum as words.
macro_rules! word_column {
    ($name:ident: $($word:literal => $value:path),*) => {
        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(match self { $($value => $word),* }.into())
            }
        }

        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                match value.as_str()? {
                    $($word => Ok($value),)*
                    _ => Err(FromSqlError::InvalidType),
                }
            }
        }
    };
}

word_column!(Status: "open" => Status::Open, "sealed" => Status::Sealed, "abandoned" => Status::Abandoned);
word_column!(ContentKind: "file" => ContentKind::File, "symlink" => ContentKind::Symlink);

impl ToSql for Codec {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Plain => 0_i64.into(),
            Self::Zstd => 1_i64.into(),
        })
    }
}

impl FromSql for Codec {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value.as_i64()? {
            0 => Ok(Self::Plain),
            1 => Ok(Self::Zstd),
            other => Err(FromSqlError::OutOfRange(other)),
        }
    }
}

/// Converts a number for a column, clamped to `i64::MAX`.
pub(super) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(value: ValueRef<'_>) -> FromSqlResult<u64> {
    let number = value.as_i64()?;
    u64::try_from(number).map_err(|_| FromSqlError::OutOfRange(number))
}

/// A column without negative numbers.
pub(super) struct Count(pub(super) u64);

impl FromSql for Count {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        unsigned(value).map(Self)
    }
}

/// A column of JSON text.
pub(super) struct Json<T>(pub(super) T);

impl<T: DeserializeOwned> FromSql for Json<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?).map(Self).map_err(FromSqlError::other)
    }
}

/// Returns the number of rows of a page.
pub(super) fn page(limit: Option<usize>) -> i64 {
    integer(limit.unwrap_or(PAGE_MAX).min(PAGE_MAX) as u64)
}

/// Returns all rows of a query.
pub(super) fn rows<T>(
    connection: &rusqlite::Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
    row: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> EngineResult<Vec<T>> {
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(parameters, row)?.collect::<rusqlite::Result<Vec<T>>>()?;
    Ok(rows)
}
