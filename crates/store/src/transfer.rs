//! Copies a whole store into another, perhaps of the other engine, and counts its rows.
//!
//! Rows are copied unchanged, with ids, times, epochs and audit, page by page. Each page is
//! compared with the target, and only missing or different rows are written, so that an interrupted
//! copy continues when it is repeated. Blobs are verified on the way.
//!
//! Neither store may be written to during the copy. At the end the two are compared.

use std::collections::{HashMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::{BlobHash, BlobReader, Error, Head, PlanId, Result, Store, checkpoint, put_blob, verify};

/// Rows of one page.
pub(crate) const ROWS_MAX: usize = 500;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// A 16-byte id.
    Id,
    /// Bytes.
    Bytes,
    /// UTF-8 text.
    Text,
    /// UTF-8 text that PostgreSQL stores as bytes.
    FreeText,
    /// A 64-bit integer.
    Number,
    /// Microseconds since 1970.
    Time,
}

/// A value in a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Cell {
    /// SQL `NULL`.
    Null,
    /// An integer or a time.
    Number(i64),
    /// UTF-8 text.
    Text(String),
    /// An id or bytes.
    Bytes(Vec<u8>),
}

/// A table that both engines have.
#[derive(Debug)]
pub struct Table {
    /// The name.
    pub name: &'static str,
    /// The columns. The key comes first.
    pub columns: &'static [(&'static str, ColumnType)],
    /// Number of key columns.
    pub key: usize,
}

/// All tables but those of blobs, referenced tables first.
pub const TABLES: &[Table] = &[
    Table {
        name: "plans",
        columns: &[
            ("id", ColumnType::Id),
            ("name", ColumnType::Text),
            ("state", ColumnType::Text),
            ("version", ColumnType::Number),
            ("undo_of", ColumnType::Id),
            ("roots", ColumnType::Text),
            ("detail", ColumnType::Text),
            ("created_by", ColumnType::Text),
            ("created_at", ColumnType::Time),
            ("changed_by", ColumnType::Text),
            ("changed_at", ColumnType::Time),
            ("owner", ColumnType::Text),
            ("epoch", ColumnType::Number),
            ("expires_at", ColumnType::Time),
        ],
        key: 1,
    },
    Table {
        name: "nodes",
        columns: &[
            ("id", ColumnType::Id),
            ("plan", ColumnType::Id),
            ("name", ColumnType::Text),
            ("state", ColumnType::Text),
            ("version", ColumnType::Number),
            ("detail", ColumnType::Text),
            ("changed_by", ColumnType::Text),
            ("changed_at", ColumnType::Time),
            ("owner", ColumnType::Text),
            ("epoch", ColumnType::Number),
            ("expires_at", ColumnType::Time),
        ],
        key: 1,
    },
    Table {
        name: "changesets",
        columns: &[
            ("id", ColumnType::Id),
            ("plan", ColumnType::Id),
            ("node", ColumnType::Id),
            ("actor", ColumnType::Text),
            ("status", ColumnType::Text),
            ("entries", ColumnType::Number),
            ("digest", ColumnType::Bytes),
            ("started_at", ColumnType::Time),
            ("ended_at", ColumnType::Time),
            ("reason", ColumnType::FreeText),
            ("owner", ColumnType::Text),
            ("epoch", ColumnType::Number),
            ("expires_at", ColumnType::Time),
        ],
        key: 1,
    },
    ENTRIES,
    Table {
        name: "audit",
        columns: &[
            ("plan", ColumnType::Id),
            ("sequence", ColumnType::Number),
            ("at", ColumnType::Time),
            ("request", ColumnType::Id),
            ("kind", ColumnType::Text),
            ("who", ColumnType::Text),
            ("body", ColumnType::Text),
            ("previous", ColumnType::Bytes),
            ("hash", ColumnType::Bytes),
        ],
        key: 2,
    },
    Table {
        name: "audit_heads",
        columns: &[("plan", ColumnType::Id), ("sequence", ColumnType::Number), ("hash", ColumnType::Bytes)],
        key: 1,
    },
];

/// Entries, by changeset and sequence number.
pub(crate) const ENTRIES: Table = Table {
    name: "entries",
    columns: &[
        ("changeset", ColumnType::Id),
        ("sequence", ColumnType::Number),
        ("request", ColumnType::Id),
        ("at", ColumnType::Time),
        ("before_blob", ColumnType::Bytes),
        ("after_blob", ColumnType::Bytes),
        ("form", ColumnType::Text),
    ],
    key: 2,
};

impl Table {
    /// Returns the column names.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.columns.iter().map(|(name, _)| *name).collect()
    }

    /// Returns the clause that updates an existing row.
    pub(crate) fn update(&self) -> String {
        let set: Vec<String> =
            self.names()[self.key..].iter().map(|name| format!("{name} = excluded.{name}")).collect();
        format!("ON CONFLICT ({}) DO UPDATE SET {}", self.names()[..self.key].join(", "), set.join(", "))
    }
}

/// A row, in the order of its table's columns.
pub type Row = Vec<Cell>;

/// A store whose rows can be read and written unchanged.
pub trait Transfer: Store {
    /// Returns the path or URL, without a password.
    fn location(&self) -> String;

    /// Returns the version of the schema.
    fn schema_version(&self) -> Result<u32>;

    /// Counts the rows of a table, `blobs` included.
    fn count(&self, table: &'static str) -> Result<u64>;

    /// Lists rows after a key, in the order of keys.
    fn rows(&self, table: &'static Table, after: Option<&[Cell]>) -> Result<Vec<Row>>;

    /// Inserts or updates rows.
    fn put_rows(&self, table: &'static Table, rows: &[Row]) -> Result<()>;
}

/// Number of rows in a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct RowCounts {
    /// Plans.
    pub plans: u64,
    /// Nodes of plans.
    pub nodes: u64,
    /// Changesets.
    pub changesets: u64,
    /// Their entries.
    pub entries: u64,
    /// Blobs.
    pub blobs: u64,
    /// Audit records.
    pub records: u64,
}

impl RowCounts {
    /// Counts the rows of a store.
    pub fn of(store: &dyn Transfer) -> Result<Self> {
        Ok(Self {
            plans: store.count("plans")?,
            nodes: store.count("nodes")?,
            changesets: store.count("changesets")?,
            entries: store.count("entries")?,
            blobs: store.count("blobs")?,
            records: store.count("audit")?,
        })
    }
}

/// Copies a store into one that is empty or holds an interrupted copy of it. Then compares the row
/// counts and chain heads of both, and verifies the chains and tables of the copy.
pub fn copy(from: &dyn Transfer, to: &dyn Transfer) -> Result<RowCounts> {
    let refuse = |reason| Error::NotACopy { from: from.location(), to: to.location(), reason };
    let heads = |store: &dyn Store| -> Result<HashMap<PlanId, Head>> {
        Ok(checkpoint(store)?.into_iter().map(|head| (head.plan, head)).collect())
    };
    let before = heads(from)?;
    for (plan, head) in heads(to)? {
        // A chain that is longer in the target belongs to another store.
        let source = before.get(&plan);
        if source.is_none_or(|source| source.sequence < head.sequence) {
            return Err(refuse("it has other plans"));
        }
    }
    copy_blobs(from, to)?;
    for table in TABLES {
        let mut after: Option<Row> = None;
        loop {
            let rows = from.rows(table, after.as_deref())?;
            let Some(last) = rows.last() else { break };
            let next = Some(last[..table.key].to_vec());
            // A page of the target that begins after the same key has all rows that it shares with
            // this page.
            let there: HashSet<Row> = to.rows(table, after.as_deref())?.into_iter().collect();
            let missing: Vec<Row> = rows.into_iter().filter(|row| !there.contains(row)).collect();
            if !missing.is_empty() {
                to.put_rows(table, &missing)?;
            }
            after = next;
        }
    }
    let counts = RowCounts::of(to)?;
    if counts != RowCounts::of(from)? || heads(from)? != heads(to)? {
        return Err(refuse("one of them was written to during the copy, or it has other rows"));
    }
    if !verify(to, &[])?.findings.is_empty() || !to.check()?.is_empty() {
        return Err(refuse("the audit trail or the rows of the copy are damaged"));
    }
    Ok(counts)
}

fn copy_blobs(from: &dyn Transfer, to: &dyn Transfer) -> Result<()> {
    let mut after = None;
    loop {
        let hashes = from.blob_hashes(after)?;
        let Some(last) = hashes.last().copied() else { return Ok(()) };
        let there: HashSet<BlobHash> = to.blob_hashes(after)?.into_iter().collect();
        for hash in hashes.into_iter().filter(|hash| !there.contains(hash)) {
            put_blob(to, &mut BlobReader::open(from, hash)?)?;
        }
        after = Some(last);
    }
}
