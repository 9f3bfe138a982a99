//! Leases in PostgreSQL: three columns in the row of the leased thing.

use std::time::Duration;

use serde_json::json;
use tokio_postgres::Row;

use super::audit;
use super::columns::{get, params};
use super::engine::failure::EngineResult;
use super::engine::transaction::{Transaction, found};
use crate::audit::append::PendingRecord;
use crate::model::lease::expiry;
use crate::{
    ChangesetId, Epoch, Error, Lease, LeaseRequest, LeaseStore, NodeId, Owner, PlanId, PostgresStore,
    RequestId, Resource, Result, Status, Time,
};

impl LeaseStore for PostgresStore {
    fn acquire(&self, resource: Resource, request: &LeaseRequest) -> Result<Lease> {
        self.engine
            .write("acquire a lease", async |transaction| acquire(transaction, resource, request).await)
    }

    fn renew(&self, lease: &Lease, duration: Duration) -> Result<Lease> {
        self.engine.write("renew a lease", async |transaction| renew(transaction, lease, duration).await)
    }

    fn release(&self, lease: &Lease) -> Result<()> {
        self.engine.write("release a lease", async |transaction| release(transaction, lease).await)
    }

    fn leases(&self, plan: PlanId) -> Result<Vec<Lease>> {
        self.engine.read("list leases", async |transaction| list(transaction, plan).await)
    }
}

/// The row of a lease.
struct LeaseRow {
    plan: PlanId,
    owner: Option<Owner>,
    epoch: Epoch,
    expires_at: Option<Time>,
    /// `None` unless the resource is a changeset.
    status: Option<Status>,
}

/// Returns the table, its column with the plan, the type of the resource, and the id as a type that
/// maps to `uuid`.
fn lease_row_of(resource: Resource) -> (&'static str, &'static str, &'static str, RequestId) {
    let id = RequestId::from_bytes;
    match resource {
        Resource::Plan(plan) => ("plans", "id", "plan", id(plan.to_bytes())),
        Resource::Node(node) => ("nodes", "plan", "node", id(node.to_bytes())),
        Resource::Changeset(changeset) => ("changesets", "plan", "changeset", id(changeset.to_bytes())),
    }
}

/// Reads the row, with a locking clause.
async fn lease_row(transaction: &Transaction<'_>, resource: Resource, lock: &str) -> EngineResult<LeaseRow> {
    let (table, plan, what, id) = lease_row_of(resource);
    let status = if table == "changesets" { "status" } else { "NULL::text" };
    let sql = format!("SELECT {plan}, owner, epoch, expires_at, {status} FROM {table} WHERE id = $1 {lock}");
    let row = found(transaction.row(&sql, params![id]).await?, || Error::not_found(what, id))?;
    Ok(LeaseRow {
        plan: get(&row, 0)?,
        owner: get(&row, 1)?,
        epoch: get(&row, 2)?,
        expires_at: get(&row, 3)?,
        status: get(&row, 4)?,
    })
}

/// Returns the error for a write with a stale epoch; `None` if the epoch is current.
pub(super) async fn stale(
    transaction: &Transaction<'_>,
    resource: Resource,
    given: Epoch,
) -> EngineResult<Option<Error>> {
    let row = lease_row(transaction, resource, "").await?;
    let stale = Error::Stale { resource, given, current: row.epoch, owner: row.owner };
    Ok(Some(stale).filter(|_| row.epoch != given))
}

pub(super) async fn acquire(
    transaction: &Transaction<'_>,
    resource: Resource,
    request: &LeaseRequest,
) -> EngineResult<Lease> {
    let now = transaction.now;
    let expires_at = expiry(now, request.duration)?;
    let row = lease_row(transaction, resource, "FOR NO KEY UPDATE").await?;
    if let (Resource::Changeset(changeset), Some(status @ (Status::Sealed | Status::Abandoned))) =
        (resource, row.status)
    {
        return Err(Error::Closed { changeset, status }.into());
    }
    let is_holder = row.owner.as_ref() == Some(&request.owner);
    if let (Some(owner), Some(held_until)) = (&row.owner, row.expires_at)
        && !is_holder
        && held_until > now
    {
        return Err(Error::Held { resource, owner: owner.clone(), expires_at: held_until }.into());
    }
    let epoch = if is_holder { row.epoch } else { Epoch(row.epoch.0 + 1) };
    let (table, _, what, id) = lease_row_of(resource);
    let sql =
        format!("UPDATE {table} SET owner = $1, epoch = $2, expires_at = $3 WHERE id = $4 AND epoch = $5");
    transaction.execute_one(&sql, params![request.owner, epoch, expires_at, id, row.epoch]).await?;
    if let (Resource::Plan(plan), false) = (resource, is_holder) {
        // The new runner of the plan also takes over the changesets of its nodes: the previous one
        // can neither record nor seal.
        let sql = "UPDATE changesets SET owner = NULL, expires_at = NULL, epoch = epoch + 1
                   WHERE plan = $1 AND node IS NOT NULL AND status = 'open'";
        transaction.execute(sql, params![plan]).await?;
    }
    if let Some(from) = row.owner.filter(|_| !is_holder) {
        let body =
            json!({"on": what, "resource": resource, "from": from, "to": request.owner, "epoch": epoch});
        let actor = request.owner.as_str();
        let record = PendingRecord { plan: row.plan, request: None, kind: "lease.taken-over", actor, body };
        audit::append(transaction, record).await?;
    }
    Ok(Lease { resource, owner: request.owner.clone(), epoch, expires_at })
}

async fn renew(transaction: &Transaction<'_>, lease: &Lease, duration: Duration) -> EngineResult<Lease> {
    let expires_at = expiry(transaction.now, duration)?;
    update_current(transaction, lease, "expires_at = $3", Some(expires_at)).await?;
    Ok(Lease { expires_at, ..lease.clone() })
}

/// Increments the epoch, so that the lease permits no more writes. Repeating the call has no
/// further effect.
async fn release(transaction: &Transaction<'_>, lease: &Lease) -> EngineResult<()> {
    let released = lease_row(transaction, lease.resource, "FOR NO KEY UPDATE").await?;
    if released.owner.is_none() && released.epoch == Epoch(lease.epoch.0 + 1) {
        return Ok(());
    }
    update_current(transaction, lease, "owner = NULL, expires_at = $3, epoch = epoch + 1", None).await
}

/// Updates the row of a lease that has not changed hands.
async fn update_current(
    transaction: &Transaction<'_>,
    lease: &Lease,
    set: &str,
    expires_at: Option<Time>,
) -> EngineResult<()> {
    let (table, _, _, id) = lease_row_of(lease.resource);
    let sql = format!("UPDATE {table} SET {set} WHERE id = $1 AND epoch = $2 AND owner = $4");
    if transaction.execute(&sql, params![id, lease.epoch, expires_at, lease.owner]).await? == 1 {
        return Ok(());
    }
    let row = lease_row(transaction, lease.resource, "").await?;
    let (resource, given) = (lease.resource, lease.epoch);
    Err(Error::Stale { resource, given, current: row.epoch, owner: row.owner }.into())
}

async fn list(transaction: &Transaction<'_>, plan: PlanId) -> EngineResult<Vec<Lease>> {
    let rows = transaction
        .rows(
            "SELECT 1, id, owner, epoch, expires_at FROM plans WHERE id = $1 AND owner IS NOT NULL
             UNION ALL SELECT 2, id, owner, epoch, expires_at FROM nodes WHERE plan = $1 AND owner IS NOT NULL
             UNION ALL SELECT 3, id, owner, epoch, expires_at FROM changesets WHERE plan = $1 AND owner IS NOT NULL
             ORDER BY 1, 2",
            params![plan],
        )
        .await?;
    let lease = |row: &Row| {
        let bytes = get::<RequestId>(row, 1)?.to_bytes();
        let resource = match get::<i32>(row, 0)? {
            1 => Resource::Plan(PlanId::from_bytes(bytes)),
            2 => Resource::Node(NodeId::from_bytes(bytes)),
            _ => Resource::Changeset(ChangesetId::from_bytes(bytes)),
        };
        Ok(Lease { resource, owner: get(row, 2)?, epoch: get(row, 3)?, expires_at: get(row, 4)? })
    };
    rows.iter().map(lease).collect()
}
