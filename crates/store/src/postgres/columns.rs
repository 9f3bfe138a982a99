//! Conversions between the types of the store and PostgreSQL columns.

use std::error::Error as StdError;
use std::sync::Arc;

use bytes::{BufMut, BytesMut};
use serde::de::DeserializeOwned;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use super::engine::failure::{EngineResult, Failure};
use crate::limits::PAGE_MAX;
use crate::{
    Actor, BlobHash, ChainHash, ChangesetId, Codec, Epoch, Name, NodeId, Owner, PlanId, RequestId, State,
    Status, Time, UploadId, Version,
};

/// A value with a static PostgreSQL type, so that statements need not be prepared.
pub(super) trait Column: ToSql + Sync {
    /// Returns the type.
    fn kind() -> Type;
    /// Returns the type of its arrays.
    fn array() -> Type;
}

/// A value and its type.
pub(super) type Parameter<'a> = (&'a (dyn ToSql + Sync), Type);

pub(super) fn parameter<T: Column>(value: &T) -> Parameter<'_> {
    (value, T::kind())
}

/// The parameters of a statement.
macro_rules! params {
    ($($value:expr),* $(,)?) => { &[$($crate::postgres::columns::parameter(&$value)),*] };
}
pub(super) use params;

macro_rules! plain {
    ($($name:ty: $kind:ident, $array:ident);* $(;)?) => { $(
        impl Column for $name {
            fn kind() -> Type {
                Type::$kind
            }

            fn array() -> Type {
                Type::$array
            }
        }
    )* };
}

plain! {
    i64: INT8, INT8_ARRAY;
    String: TEXT, TEXT_ARRAY;
    &str: TEXT, TEXT_ARRAY;
    &[u8]: BYTEA, BYTEA_ARRAY;
    PlanId: UUID, UUID_ARRAY;
    NodeId: UUID, UUID_ARRAY;
    ChangesetId: UUID, UUID_ARRAY;
    RequestId: UUID, UUID_ARRAY;
    UploadId: UUID, UUID_ARRAY;
    BlobHash: BYTEA, BYTEA_ARRAY;
    ChainHash: BYTEA, BYTEA_ARRAY;
    Actor: TEXT, TEXT_ARRAY;
    Owner: TEXT, TEXT_ARRAY;
    Name: TEXT, TEXT_ARRAY;
    State: TEXT, TEXT_ARRAY;
    Status: TEXT, TEXT_ARRAY;
    Version: INT8, INT8_ARRAY;
    Epoch: INT8, INT8_ARRAY;
    Time: TIMESTAMPTZ, TIMESTAMPTZ_ARRAY;
    Codec: INT2, INT2_ARRAY;
    Count: INT8, INT8_ARRAY;
}

impl<T: Column> Column for Option<T> {
    fn kind() -> Type {
        T::kind()
    }

    fn array() -> Type {
        T::array()
    }
}

impl<T: Column> Column for Vec<T> {
    fn kind() -> Type {
        T::array()
    }

    fn array() -> Type {
        T::array()
    }
}

type Cause = Box<dyn StdError + Sync + Send>;

/// Implements the conversions of a type.
macro_rules! column {
    ($name:ident: $kind:ident, |$value:ident, $out:ident| $write:expr, |$raw:ident| $read:expr) => {
        impl ToSql for $name {
            fn to_sql(&self, _: &Type, $out: &mut BytesMut) -> Result<IsNull, Cause> {
                let $value = self;
                $write;
                Ok(IsNull::No)
            }

            fn accepts(kind: &Type) -> bool {
                *kind == Type::$kind
            }

            to_sql_checked!();
        }

        impl<'a> FromSql<'a> for $name {
            fn from_sql(_: &Type, $raw: &'a [u8]) -> Result<Self, Cause> {
                $read
            }

            fn accepts(kind: &Type) -> bool {
                *kind == Type::$kind
            }
        }
    };
}

macro_rules! columns {
    (id: $($name:ident),*) => { $(
        column!($name: UUID, |value, out| out.put_slice(&value.to_bytes()), |raw| Ok(Self::from_bytes(raw.try_into()?)));
    )* };
    (hash: $($name:ident),*) => { $(
        column!($name: BYTEA, |value, out| out.put_slice(value.as_bytes()), |raw| Ok(Self::from_bytes(raw.try_into()?)));
    )* };
    (text: $($name:ident),*) => { $(
        column!($name: TEXT, |value, out| out.put_slice(value.as_str().as_bytes()), |raw| Ok(Self::parse(std::str::from_utf8(raw)?)?));
    )* };
    (number: $($name:ident),*) => { $(
        column!($name: INT8, |value, out| out.put_i64(integer(value.0)), |raw| Ok(Self(i64::from_be_bytes(raw.try_into()?).try_into()?)));
    )* };
}

columns!(id: PlanId, NodeId, ChangesetId, RequestId, UploadId);
columns!(hash: BlobHash, ChainHash);
columns!(text: Actor, Owner, Name, State);
columns!(number: Version, Epoch, Count);

/// A column without negative numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Count(pub(super) u64);

/// Microseconds from 1970 to 2000, the epoch of PostgreSQL.
const EPOCH_MICROS: i64 = 946_684_800_000_000;

column!(Time: TIMESTAMPTZ, |value, out| out.put_i64(value.as_micros() - EPOCH_MICROS), |raw| {
    Ok(Self::from_micros(i64::from_be_bytes(raw.try_into()?).saturating_add(EPOCH_MICROS)))
});

column!(Status: TEXT, |value, out| out.put_slice(value.as_str().as_bytes()), |raw| match raw {
    b"open" => Ok(Self::Open),
    b"sealed" => Ok(Self::Sealed),
    b"abandoned" => Ok(Self::Abandoned),
    _ => Err("not a changeset status".into()),
});

column!(Codec: INT2, |value, out| out.put_i16(i16::from(*value == Self::Zstd)), |raw| match raw {
    [0, 0] => Ok(Self::Plain),
    [0, 1] => Ok(Self::Zstd),
    _ => Err("not a codec".into()),
});

/// A column of JSON text.
pub(super) struct Json<T>(pub(super) T);

impl<'a, T: DeserializeOwned> FromSql<'a> for Json<T> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Cause> {
        Ok(Self(serde_json::from_slice(raw)?))
    }

    fn accepts(kind: &Type) -> bool {
        *kind == Type::TEXT
    }
}

/// Converts a number for a column, clamped to `i64::MAX`.
pub(super) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns the number of rows of a page.
pub(super) fn page(limit: Option<usize>) -> i64 {
    integer(limit.unwrap_or(PAGE_MAX).min(PAGE_MAX) as u64)
}

/// Reads a column.
pub(super) fn get<'a, T: FromSql<'a>>(row: &'a Row, column: usize) -> EngineResult<T> {
    row.try_get(column).map_err(|error| Failure::Unreadable(Arc::new(error)))
}

/// Reads a column without negative numbers.
pub(super) fn count(row: &Row, column: usize) -> EngineResult<u64> {
    Ok(get::<Count>(row, column)?.0)
}
