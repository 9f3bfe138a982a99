//! The audit trail in PostgreSQL.

use tokio_postgres::Row;

use super::columns::{count, get, integer, page, params};
use super::engine::failure::EngineResult;
use super::engine::transaction::Transaction;
use super::snapshot;
use crate::GENESIS;
use crate::audit::append::PendingRecord;
use crate::{
    AuditQuery, AuditRecord, AuditStore, Body, ChainHash, Head, PlanId, PlanSnapshot, PostgresStore,
    RequestId, Result, Time,
};

impl AuditStore for PostgresStore {
    fn audit(&self, query: &AuditQuery) -> Result<Vec<AuditRecord>> {
        self.engine.read("read the audit trail", async |transaction| list(transaction, query).await)
    }

    fn audit_heads(&self, after: Option<PlanId>) -> Result<Vec<Head>> {
        self.engine.read("read the audit trail", async |transaction| heads(transaction, after).await)
    }

    fn orphan_records(&self) -> Result<Vec<(PlanId, u64)>> {
        self.engine.read("read the audit trail", async |transaction| orphans(transaction).await)
    }

    fn plan_snapshot(&self, plan: PlanId) -> Result<PlanSnapshot> {
        self.engine
            .read("read the rows of a plan", async |transaction| snapshot::read(transaction, plan).await)
    }
}

/// Appends a record, in the transaction of the change that it describes. Locks the head, so that
/// appends to one chain are serialized; chains of other plans are not affected.
pub(super) async fn append(transaction: &Transaction<'_>, record: PendingRecord<'_>) -> EngineResult<()> {
    append_at(transaction, transaction.now, record).await
}

/// Appends a record with this time.
pub(super) async fn append_at(
    transaction: &Transaction<'_>,
    at: Time,
    record: PendingRecord<'_>,
) -> EngineResult<()> {
    let head = lock_head(transaction, record.plan).await?;
    let record = record.chain_onto(head.unwrap_or((0, GENESIS)), at)?;
    let (sequence, hash) = (integer(record.sequence), record.hash);
    transaction
        .execute_one(
            "INSERT INTO audit (plan, sequence, at, request, kind, who, body, previous, hash)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            params![
                record.plan,
                sequence,
                record.at,
                record.request,
                record.kind,
                record.actor,
                record.body.0,
                record.previous,
                hash
            ],
        )
        .await?;
    match head {
        // Of two transactions that start a chain, the second fails here and is retried.
        None => {
            let sql = "INSERT INTO audit_heads (plan, sequence, hash) VALUES ($1, $2, $3)";
            transaction.execute_one(sql, params![record.plan, sequence, hash]).await
        }
        Some((before, _)) => {
            let sql = "UPDATE audit_heads SET sequence = $2, hash = $3 WHERE plan = $1 AND sequence = $4";
            transaction.execute_one(sql, params![record.plan, sequence, hash, integer(before)]).await
        }
    }
}

/// Locks the head of a chain, and returns it if there is one.
pub(super) async fn lock_head(
    transaction: &Transaction<'_>,
    plan: PlanId,
) -> EngineResult<Option<(u64, ChainHash)>> {
    let sql = "SELECT sequence, hash FROM audit_heads WHERE plan = $1 FOR UPDATE";
    let row = transaction.row(sql, params![plan]).await?;
    row.map(|row| Ok((count(&row, 0)?, get(&row, 1)?))).transpose()
}

/// Returns the record of an earlier call with this request.
pub(super) async fn find_by_request(
    transaction: &Transaction<'_>,
    request: RequestId,
) -> EngineResult<Option<AuditRecord>> {
    let row = transaction.row(&format!("{SELECT} WHERE request = $1"), params![request]).await?;
    row.as_ref().map(record).transpose()
}

const SELECT: &str = "SELECT plan, sequence, at, request, kind, who, body, previous, hash FROM audit";

async fn list(transaction: &Transaction<'_>, query: &AuditQuery) -> EngineResult<Vec<AuditRecord>> {
    let (after, sequence) = query.after.map_or((None, 0), |(plan, sequence)| (Some(plan), sequence));
    let (sequence, limit) = (integer(sequence), page(query.limit));
    let since = query.since.unwrap_or(Time::from_micros(i64::MIN));
    let rows = match query.plan {
        Some(only) => {
            let sql =
                format!("{SELECT} WHERE plan = $1 AND sequence > $2 AND at >= $3 ORDER BY sequence LIMIT $4");
            transaction.rows(&sql, params![only, sequence, since, limit]).await?
        }
        None => {
            let sql = format!(
                "{SELECT} WHERE ($1::uuid IS NULL OR (plan, sequence) > ($1, $2)) AND at >= $3 AND sequence > 0
                 ORDER BY plan, sequence LIMIT $4"
            );
            transaction.rows(&sql, params![after, sequence, since, limit]).await?
        }
    };
    rows.iter().map(record).collect()
}

async fn heads(transaction: &Transaction<'_>, after: Option<PlanId>) -> EngineResult<Vec<Head>> {
    let rows = transaction
        .rows(
            "SELECT known.plan, coalesce(sequence, 0), hash
             FROM (SELECT plan FROM audit UNION SELECT plan FROM audit_heads UNION SELECT id FROM plans) AS known
             LEFT JOIN audit_heads ON audit_heads.plan = known.plan
             WHERE $1::uuid IS NULL OR known.plan > $1 ORDER BY known.plan LIMIT $2",
            params![after, page(None)],
        )
        .await?;
    rows.iter().map(head).collect()
}

/// Returns the head of one chain.
pub(super) async fn head_of(transaction: &Transaction<'_>, plan: PlanId) -> EngineResult<Head> {
    let sql = "SELECT plan, sequence, hash FROM audit_heads WHERE plan = $1";
    let row = transaction.row(sql, params![plan]).await?;
    row.as_ref().map_or(Ok(Head { plan, sequence: 0, hash: GENESIS }), head)
}

/// Lists records that belong to no chain.
async fn orphans(transaction: &Transaction<'_>) -> EngineResult<Vec<(PlanId, u64)>> {
    let sql = "SELECT plan, sequence FROM audit WHERE sequence < 1 LIMIT $1";
    let rows = transaction.rows(sql, params![page(None)]).await?;
    rows.iter().map(|row| Ok((get(row, 0)?, number(row, 1)?))).collect()
}

fn head(row: &Row) -> EngineResult<Head> {
    Ok(Head { plan: get(row, 0)?, sequence: number(row, 1)?, hash: hash(row, 2)? })
}

/// Returns a sequence number; 0 for an invalid one.
fn number(row: &Row, column: usize) -> EngineResult<u64> {
    Ok(u64::try_from(get::<i64>(row, column)?).unwrap_or(0))
}

/// Reads a hash; zeros for an invalid one, since altered rows must be readable to be reported.
fn hash(row: &Row, column: usize) -> EngineResult<ChainHash> {
    let bytes: Option<&[u8]> = get(row, column)?;
    Ok(bytes.and_then(|bytes| bytes.try_into().ok()).map_or(GENESIS, ChainHash::from_bytes))
}

fn record(row: &Row) -> EngineResult<AuditRecord> {
    Ok(AuditRecord {
        plan: get(row, 0)?,
        sequence: number(row, 1)?,
        at: get(row, 2)?,
        request: get(row, 3)?,
        kind: get(row, 4)?,
        actor: get(row, 5)?,
        body: Body(get(row, 6)?),
        previous: hash(row, 7)?,
        hash: hash(row, 8)?,
    })
}
