//! The audit trail in SQLite.

use rusqlite::types::{FromSql, FromSqlResult, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::columns::{Count, integer, page, rows};
use super::engine::failure::EngineResult;
use super::snapshot;
use crate::GENESIS;
use crate::audit::append::PendingRecord;
use crate::{
    AuditQuery, AuditRecord, AuditStore, Body, ChainHash, Head, PlanId, PlanSnapshot, RequestId, Result,
    SqliteStore, Time,
};

impl AuditStore for SqliteStore {
    fn audit(&self, query: &AuditQuery) -> Result<Vec<AuditRecord>> {
        self.engine.read("read the audit trail", |connection, _| list(connection, query))
    }

    fn audit_heads(&self, after: Option<PlanId>) -> Result<Vec<Head>> {
        self.engine.read("read the audit trail", |connection, _| heads(connection, after))
    }

    fn orphan_records(&self) -> Result<Vec<(PlanId, u64)>> {
        self.engine.read("read the audit trail", |connection, _| orphans(connection))
    }

    fn plan_snapshot(&self, plan: PlanId) -> Result<PlanSnapshot> {
        self.engine.read("read the rows of a plan", |connection, _| snapshot::read(connection, plan))
    }
}

/// Appends a record, in the transaction of the change that it describes.
pub(super) fn append(connection: &Connection, at: Time, record: PendingRecord<'_>) -> EngineResult<()> {
    let head = connection
        .prepare_cached("SELECT sequence, hash FROM audit_heads WHERE plan = ?1")?
        .query_row([record.plan], |row| Ok((row.get::<_, Count>(0)?.0, row.get(1)?)))
        .optional()?;
    let record = record.chain_onto(head.unwrap_or((0, GENESIS)), at)?;
    connection
        .prepare_cached(
            "INSERT INTO audit (plan, sequence, at, request, kind, who, body, previous, hash)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute(params![
            record.plan,
            integer(record.sequence),
            record.at,
            record.request,
            record.kind,
            record.actor,
            record.body.0,
            record.previous,
            record.hash
        ])?;
    connection
        .prepare_cached(
            "INSERT INTO audit_heads (plan, sequence, hash) VALUES (?1, ?2, ?3)
             ON CONFLICT (plan) DO UPDATE SET sequence = excluded.sequence, hash = excluded.hash",
        )?
        .execute(params![record.plan, integer(record.sequence), record.hash])?;
    Ok(())
}

/// Returns the record of an earlier call with this request.
pub(super) fn find_by_request(
    connection: &Connection,
    request: RequestId,
) -> EngineResult<Option<AuditRecord>> {
    let found = connection
        .prepare_cached(&format!("{SELECT} WHERE request = ?1"))?
        .query_row([request], record)
        .optional()?;
    Ok(found)
}

/// Matches records that belong to no chain.
const ORPHAN: &str = "(length(plan) <> 16 OR sequence < 1)";

const SELECT: &str = "SELECT plan, sequence, at, request, kind, who, body, previous, hash FROM audit";

fn list(connection: &Connection, query: &AuditQuery) -> EngineResult<Vec<AuditRecord>> {
    let (plan, sequence) = query.after.map_or((None, 0), |(plan, sequence)| (Some(plan), sequence));
    let since = query.since.map_or(i64::MIN, Time::as_micros);
    match query.plan {
        Some(only) => rows(
            connection,
            &format!("{SELECT} WHERE plan = ?1 AND sequence > ?2 AND at >= ?3 ORDER BY sequence LIMIT ?4"),
            params![only, integer(sequence), since, page(query.limit)],
            record,
        ),
        None => rows(
            connection,
            &format!(
                "{SELECT} WHERE (plan, sequence) > (coalesce(?1, x''), ?2) AND at >= ?3 AND NOT {ORPHAN}
                 ORDER BY plan, sequence LIMIT ?4"
            ),
            params![plan, integer(sequence), since, page(query.limit)],
            record,
        ),
    }
}

fn heads(connection: &Connection, after: Option<PlanId>) -> EngineResult<Vec<Head>> {
    rows(
        connection,
        "SELECT known.plan, coalesce(sequence, 0), hash
         FROM (SELECT plan FROM audit WHERE plan > ?1 UNION SELECT plan FROM audit_heads WHERE plan > ?1
               UNION SELECT id FROM plans WHERE id > ?1) AS known
         LEFT JOIN audit_heads ON audit_heads.plan = known.plan WHERE length(known.plan) = 16
         ORDER BY known.plan LIMIT ?2",
        params![after.map_or(Vec::new(), |plan| plan.to_bytes().to_vec()), page(None)],
        head,
    )
}

/// Returns the head of one chain.
pub(super) fn head_of(connection: &Connection, plan: PlanId) -> EngineResult<Head> {
    let found = connection
        .prepare_cached("SELECT plan, sequence, hash FROM audit_heads WHERE plan = ?1")?
        .query_row([plan], head)
        .optional()?;
    Ok(found.unwrap_or(Head { plan, sequence: 0, hash: GENESIS }))
}

/// Lists records and heads that belong to no chain. An invalid id is cut or padded to 16 bytes.
fn orphans(connection: &Connection) -> EngineResult<Vec<(PlanId, u64)>> {
    rows(
        connection,
        &format!(
            "SELECT plan, sequence FROM audit WHERE {ORPHAN}
             UNION SELECT plan, sequence FROM audit_heads WHERE length(plan) <> 16 LIMIT ?1"
        ),
        [page(None)],
        |row| {
            let (found, mut id) = (row.get::<_, Bytes>(0)?.0, [0; 16]);
            let length = found.len().min(id.len());
            id[..length].copy_from_slice(&found[..length]);
            Ok((PlanId::from_bytes(id), number(row, 1)?))
        },
    )
}

fn head(row: &Row<'_>) -> rusqlite::Result<Head> {
    let hash = row.get::<_, Option<Bytes>>(2)?.map_or(GENESIS, |bytes| bytes.hash());
    Ok(Head { plan: row.get(0)?, sequence: number(row, 1)?, hash })
}

/// Returns a sequence number; 0 for an invalid one.
fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(u64::try_from(row.get::<_, i64>(column)?).unwrap_or(0))
}

/// Bytes of any length: altered rows must be readable to be reported.
struct Bytes(Vec<u8>);

impl Bytes {
    fn hash(self) -> ChainHash {
        ChainHash::from_bytes(self.0.try_into().unwrap_or([0; 32]))
    }

    fn request(self) -> RequestId {
        RequestId::from_bytes(self.0.try_into().unwrap_or([0; 16]))
    }
}

impl FromSql for Bytes {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_bytes().map(|bytes| Self(bytes.to_vec()))
    }
}

fn record(row: &Row<'_>) -> rusqlite::Result<AuditRecord> {
    let text = |index| row.get::<_, Bytes>(index).map(|bytes| String::from_utf8_lossy(&bytes.0).into_owned());
    Ok(AuditRecord {
        plan: row.get(0)?,
        sequence: number(row, 1)?,
        at: row.get(2)?,
        request: row.get::<_, Option<Bytes>>(3)?.map(Bytes::request),
        kind: text(4)?,
        actor: text(5)?,
        body: Body(text(6)?),
        previous: row.get::<_, Bytes>(7)?.hash(),
        hash: row.get::<_, Bytes>(8)?.hash(),
    })
}
