//! The audit trail in PostgreSQL.

use tokio_postgres::Row;

use super::columns::{count, get, integer, page, params};
use super::engine::failure::Attempt;
use super::engine::transaction::Transaction;
use super::snapshot;
use crate::GENESIS;
use crate::audit::append::Note;
use crate::{
    AuditQuery, AuditRecord, AuditStore, Body, ChainHash, Head, Inventory, PlanId, PostgresStore, RequestId,
    Result, Time,
};

impl AuditStore for PostgresStore {
    fn audit(&self, query: &AuditQuery) -> Result<Vec<AuditRecord>> {
        self.engine.read("read the audit trail", async |transaction| list(transaction, query).await)
    }

    fn audit_heads(&self, after: Option<PlanId>) -> Result<Vec<Head>> {
        self.engine.read("read the audit trail", async |transaction| heads(transaction, after).await)
    }

    fn audit_strays(&self) -> Result<Vec<(PlanId, u64)>> {
        self.engine.read("read the audit trail", async |transaction| strays(transaction).await)
    }

    fn inventory(&self, plan: PlanId) -> Result<Inventory> {
        self.engine.read("read all of a plan", async |transaction| snapshot::read(transaction, plan).await)
    }
}

/// Appends a record, in the transaction of the change that it is about. The head is locked, so that who appends next waits; chains are per
/// plan, so plans do not wait for each other.
pub(super) async fn append(transaction: &Transaction<'_>, note: Note<'_>) -> Attempt<()> {
    append_at(transaction, transaction.now, note).await
}

/// The same, with the time of what it is about.
pub(super) async fn append_at(transaction: &Transaction<'_>, at: Time, note: Note<'_>) -> Attempt<()> {
    let head = hold(transaction, note.plan).await?;
    let record = note.behind(head.unwrap_or((0, GENESIS)), at)?;
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
                record.who,
                record.body.0,
                record.previous,
                hash
            ],
        )
        .await?;
    match head {
        // Two that begin one chain: the second is refused here, and begins anew behind the first.
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

/// Locks the head of a chain, and gives it if there is one.
pub(super) async fn hold(transaction: &Transaction<'_>, plan: PlanId) -> Attempt<Option<(u64, ChainHash)>> {
    let sql = "SELECT sequence, hash FROM audit_heads WHERE plan = $1 FOR UPDATE";
    let row = transaction.row(sql, params![plan]).await?;
    row.map(|row| Ok((count(&row, 0)?, get(&row, 1)?))).transpose()
}

/// The record that answered a request before.
pub(super) async fn answer(
    transaction: &Transaction<'_>,
    request: RequestId,
) -> Attempt<Option<AuditRecord>> {
    let row = transaction.row(&format!("{SELECT} WHERE request = $1"), params![request]).await?;
    row.as_ref().map(record).transpose()
}

const SELECT: &str = "SELECT plan, sequence, at, request, kind, who, body, previous, hash FROM audit";

async fn list(transaction: &Transaction<'_>, query: &AuditQuery) -> Attempt<Vec<AuditRecord>> {
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

async fn heads(transaction: &Transaction<'_>, after: Option<PlanId>) -> Attempt<Vec<Head>> {
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

/// The head of one chain.
pub(super) async fn head_of(transaction: &Transaction<'_>, plan: PlanId) -> Attempt<Head> {
    let sql = "SELECT plan, sequence, hash FROM audit_heads WHERE plan = $1";
    let row = transaction.row(sql, params![plan]).await?;
    row.as_ref().map_or(Ok(Head { plan, sequence: 0, hash: GENESIS }), head)
}

/// Records that are in no chain.
async fn strays(transaction: &Transaction<'_>) -> Attempt<Vec<(PlanId, u64)>> {
    let sql = "SELECT plan, sequence FROM audit WHERE sequence < 1 LIMIT $1";
    let rows = transaction.rows(sql, params![page(None)]).await?;
    rows.iter().map(|row| Ok((get(row, 0)?, number(row, 1)?))).collect()
}

fn head(row: &Row) -> Attempt<Head> {
    Ok(Head { plan: get(row, 0)?, sequence: number(row, 1)?, hash: hash(row, 2)? })
}

/// A sequence number; 0 for one that is none.
fn number(row: &Row, column: usize) -> Attempt<u64> {
    Ok(u64::try_from(get::<i64>(row, column)?).unwrap_or(0))
}

/// What was tampered with must be readable, or it could not be located.
fn hash(row: &Row, column: usize) -> Attempt<ChainHash> {
    let bytes: Option<&[u8]> = get(row, column)?;
    Ok(bytes.and_then(|bytes| bytes.try_into().ok()).map_or(GENESIS, ChainHash::from_bytes))
}

fn record(row: &Row) -> Attempt<AuditRecord> {
    Ok(AuditRecord {
        plan: get(row, 0)?,
        sequence: number(row, 1)?,
        at: get(row, 2)?,
        request: get(row, 3)?,
        kind: get(row, 4)?,
        who: get(row, 5)?,
        body: Body(get(row, 6)?),
        previous: hash(row, 7)?,
        hash: hash(row, 8)?,
    })
}
