//! A store as a whole: how much is in it, and copying all of it into another, of another engine perhaps.
//!
//! Rows are copied as they are, with ids, times, epochs and audit, in pages. Each page is compared with what is there, and what is missing
//! or otherwise is written: a copy that was cut off goes on where it was when it is asked for again. Contents are read and verified on the way.
//!
//! Nobody may write to either store meanwhile: what the source has at the end is compared with what the copy has.

use std::collections::{HashMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::{BlobHash, BlobReader, Error, Head, PlanId, Result, Store, checkpoint, put_blob, verify};

/// Rows of one page.
pub(crate) const ROWS_MAX: usize = 500;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The 16 bytes of an id.
    Id,
    /// Bytes.
    Bytes,
    /// A text.
    Text,
    /// A text that PostgreSQL keeps as bytes.
    FreeText,
    /// A number.
    Number,
    /// A time, in microseconds since 1970.
    Time,
}

/// One value of a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Cell {
    /// None.
    Null,
    /// A number, or a time.
    Number(i64),
    /// A text.
    Text(String),
    /// An id, or bytes.
    Bytes(Vec<u8>),
}

/// A table that both engines have.
#[derive(Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its columns. The first are the key.
    pub columns: &'static [(&'static str, Kind)],
    /// How many of them are.
    pub key: usize,
}

/// In the order in which rows refer to each other. Contents are copied by themselves.
pub const TABLES: &[Table] = &[
    Table {
        name: "plans",
        columns: &[
            ("id", Kind::Id),
            ("name", Kind::Text),
            ("state", Kind::Text),
            ("version", Kind::Number),
            ("undo_of", Kind::Id),
            ("roots", Kind::Text),
            ("detail", Kind::Text),
            ("created_by", Kind::Text),
            ("created_at", Kind::Time),
            ("changed_by", Kind::Text),
            ("changed_at", Kind::Time),
            ("owner", Kind::Text),
            ("epoch", Kind::Number),
            ("expires_at", Kind::Time),
        ],
        key: 1,
    },
    Table {
        name: "nodes",
        columns: &[
            ("id", Kind::Id),
            ("plan", Kind::Id),
            ("name", Kind::Text),
            ("state", Kind::Text),
            ("version", Kind::Number),
            ("detail", Kind::Text),
            ("changed_by", Kind::Text),
            ("changed_at", Kind::Time),
            ("owner", Kind::Text),
            ("epoch", Kind::Number),
            ("expires_at", Kind::Time),
        ],
        key: 1,
    },
    Table {
        name: "changesets",
        columns: &[
            ("id", Kind::Id),
            ("plan", Kind::Id),
            ("node", Kind::Id),
            ("actor", Kind::Text),
            ("status", Kind::Text),
            ("entries", Kind::Number),
            ("digest", Kind::Bytes),
            ("started_at", Kind::Time),
            ("ended_at", Kind::Time),
            ("reason", Kind::FreeText),
            ("owner", Kind::Text),
            ("epoch", Kind::Number),
            ("expires_at", Kind::Time),
        ],
        key: 1,
    },
    ENTRIES,
    Table {
        name: "audit",
        columns: &[
            ("plan", Kind::Id),
            ("sequence", Kind::Number),
            ("at", Kind::Time),
            ("request", Kind::Id),
            ("kind", Kind::Text),
            ("who", Kind::Text),
            ("body", Kind::Text),
            ("previous", Kind::Bytes),
            ("hash", Kind::Bytes),
        ],
        key: 2,
    },
    Table {
        name: "audit_heads",
        columns: &[("plan", Kind::Id), ("sequence", Kind::Number), ("hash", Kind::Bytes)],
        key: 1,
    },
];

/// Of a changeset one after the other.
pub(crate) const ENTRIES: Table = Table {
    name: "entries",
    columns: &[
        ("changeset", Kind::Id),
        ("sequence", Kind::Number),
        ("request", Kind::Id),
        ("at", Kind::Time),
        ("before_blob", Kind::Bytes),
        ("after_blob", Kind::Bytes),
        ("form", Kind::Text),
    ],
    key: 2,
};

impl Table {
    /// The names of its columns.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.columns.iter().map(|(name, _)| *name).collect()
    }

    /// What brings a row up to date that is there.
    pub(crate) fn update(&self) -> String {
        let set: Vec<String> =
            self.names()[self.key..].iter().map(|name| format!("{name} = excluded.{name}")).collect();
        format!("ON CONFLICT ({}) DO UPDATE SET {}", self.names()[..self.key].join(", "), set.join(", "))
    }
}

/// A row.
pub type Cells = Vec<Cell>;

/// A store whose rows can be read and written as they are.
pub trait Transfer: Store {
    /// Where it is, without a password.
    fn place(&self) -> String;

    /// The version of its tables.
    fn schema_version(&self) -> Result<u32>;

    /// How many rows a table has; also of `blobs`.
    fn count(&self, table: &'static str) -> Result<u64>;

    /// Rows behind a key, in the order of their keys.
    fn rows(&self, table: &'static Table, after: Option<&[Cell]>) -> Result<Vec<Cells>>;

    /// Writes rows; those that are there are brought up to date.
    fn put_rows(&self, table: &'static Table, rows: &[Cells]) -> Result<()>;
}

/// How much is in a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Counts {
    /// Plans.
    pub plans: u64,
    /// Nodes of plans.
    pub nodes: u64,
    /// Changesets.
    pub changesets: u64,
    /// Their entries.
    pub entries: u64,
    /// Contents.
    pub contents: u64,
    /// Records of the audit trail.
    pub records: u64,
}

impl Counts {
    /// Of a store.
    pub fn of(store: &dyn Transfer) -> Result<Self> {
        Ok(Self {
            plans: store.count("plans")?,
            nodes: store.count("nodes")?,
            changesets: store.count("changesets")?,
            entries: store.count("entries")?,
            contents: store.count("blobs")?,
            records: store.count("audit")?,
        })
    }
}

/// Copies all of a store into another that is empty, or was filled by a copy of the same that was cut off. Compares both at the end: how much
/// there is, and the ends of all audit chains; and verifies the chains of the copy.
pub fn copy(from: &dyn Transfer, to: &dyn Transfer) -> Result<Counts> {
    let refuse = |reason| Error::NotACopy { from: from.place(), to: to.place(), reason };
    let heads = |store: &dyn Store| -> Result<HashMap<PlanId, Head>> {
        Ok(checkpoint(store)?.into_iter().map(|head| (head.plan, head)).collect())
    };
    let before = heads(from)?;
    for (plan, head) in heads(to)? {
        // A chain that grows in both of them is that of two stores.
        let known = before.get(&plan);
        if known.is_none_or(|known| known.sequence < head.sequence) {
            return Err(refuse("it has plans of its own"));
        }
    }
    copy_contents(from, to)?;
    for table in TABLES {
        let mut after: Option<Cells> = None;
        loop {
            let rows = from.rows(table, after.as_deref())?;
            let Some(last) = rows.last() else { break };
            let next = Some(last[..table.key].to_vec());
            // As far as it is a copy, a page of it that begins behind the same key has all that it has of this one.
            let there: HashSet<Cells> = to.rows(table, after.as_deref())?.into_iter().collect();
            let missing: Vec<Cells> = rows.into_iter().filter(|row| !there.contains(row)).collect();
            if !missing.is_empty() {
                to.put_rows(table, &missing)?;
            }
            after = next;
        }
    }
    let counts = Counts::of(to)?;
    if counts != Counts::of(from)? || heads(from)? != heads(to)? {
        return Err(refuse("somebody wrote meanwhile, or it had rows of its own"));
    }
    if !verify(to, &[])?.findings.is_empty() || !to.check()?.is_empty() {
        return Err(refuse("the audit trail or the rows of the copy are not sound"));
    }
    Ok(counts)
}

fn copy_contents(from: &dyn Transfer, to: &dyn Transfer) -> Result<()> {
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
