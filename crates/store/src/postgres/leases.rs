//! Leases in PostgreSQL: three columns in the row of what they are on.

use std::time::Duration;

use serde_json::json;
use tokio_postgres::Row;

use super::audit;
use super::columns::{get, params};
use super::engine::failure::Attempt;
use super::engine::transaction::{Transaction, found};
use crate::audit::append::Note;
use crate::model::lease::expiry;
use crate::{
    ChangesetId, Epoch, Error, Holding, Lease, LeaseStore, NodeId, Owner, PlanId, PostgresStore, RequestId,
    Resource, Result, Status, Time,
};

impl LeaseStore for PostgresStore {
    fn acquire(&self, resource: Resource, holding: &Holding) -> Result<Lease> {
        self.engine.write("take a lease", async |transaction| acquire(transaction, resource, holding).await)
    }

    fn renew(&self, lease: &Lease, duration: Duration) -> Result<Lease> {
        self.engine.write("renew a lease", async |transaction| renew(transaction, lease, duration).await)
    }

    fn release(&self, lease: &Lease) -> Result<()> {
        self.engine.write("give a lease back", async |transaction| release(transaction, lease).await)
    }

    fn leases(&self, plan: PlanId) -> Result<Vec<Lease>> {
        self.engine.read("list leases", async |transaction| list(transaction, plan).await)
    }
}

/// The row of a lease.
struct Held {
    plan: PlanId,
    owner: Option<Owner>,
    epoch: Epoch,
    expires_at: Option<Time>,
    /// Of a changeset.
    status: Option<Status>,
}

/// The table, its column that names the plan, what it is, and the id, in a type that is an id for the server.
fn place(resource: Resource) -> (&'static str, &'static str, &'static str, RequestId) {
    let id = RequestId::from_bytes;
    match resource {
        Resource::Plan(plan) => ("plans", "id", "plan", id(plan.to_bytes())),
        Resource::Node(node) => ("nodes", "plan", "node", id(node.to_bytes())),
        Resource::Changeset(changeset) => ("changesets", "plan", "changeset", id(changeset.to_bytes())),
    }
}

/// Reads the row; with `lock` it stays as it is until the transaction ends.
async fn held(transaction: &Transaction<'_>, resource: Resource, lock: &str) -> Attempt<Held> {
    let (table, plan, what, id) = place(resource);
    let status = if table == "changesets" { "status" } else { "NULL::text" };
    let sql = format!("SELECT {plan}, owner, epoch, expires_at, {status} FROM {table} WHERE id = $1 {lock}");
    let row = found(transaction.row(&sql, params![id]).await?, || Error::not_found(what, id))?;
    Ok(Held {
        plan: get(&row, 0)?,
        owner: get(&row, 1)?,
        epoch: get(&row, 2)?,
        expires_at: get(&row, 3)?,
        status: get(&row, 4)?,
    })
}

/// The error for a write with an epoch that is past; `None` when it is not.
pub(super) async fn stale(
    transaction: &Transaction<'_>,
    resource: Resource,
    given: Epoch,
) -> Attempt<Option<Error>> {
    let held = held(transaction, resource, "").await?;
    let stale = Error::Stale { resource, given, current: held.epoch, owner: held.owner };
    Ok(Some(stale).filter(|_| held.epoch != given))
}

pub(super) async fn acquire(
    transaction: &Transaction<'_>,
    resource: Resource,
    holding: &Holding,
) -> Attempt<Lease> {
    let now = transaction.now;
    let expires_at = expiry(now, holding.duration)?;
    let held = held(transaction, resource, "FOR NO KEY UPDATE").await?;
    if let (Resource::Changeset(changeset), Some(status @ (Status::Sealed | Status::Abandoned))) =
        (resource, held.status)
    {
        return Err(Error::Closed { changeset, status }.into());
    }
    let mine = held.owner.as_ref() == Some(&holding.owner);
    if let (Some(owner), Some(held_until)) = (&held.owner, held.expires_at)
        && !mine
        && held_until > now
    {
        return Err(Error::Held { resource, owner: owner.clone(), expires_at: held_until }.into());
    }
    let epoch = if mine { held.epoch } else { Epoch(held.epoch.0 + 1) };
    let (table, _, what, id) = place(resource);
    let sql =
        format!("UPDATE {table} SET owner = $1, epoch = $2, expires_at = $3 WHERE id = $4 AND epoch = $5");
    transaction.execute_one(&sql, params![holding.owner, epoch, expires_at, id, held.epoch]).await?;
    if let (Resource::Plan(plan), false) = (resource, mine) {
        // Whoever runs the plan now has the changesets of its nodes too: the one before can neither record nor seal.
        let sql = "UPDATE changesets SET owner = NULL, expires_at = NULL, epoch = epoch + 1
                   WHERE plan = $1 AND node IS NOT NULL AND status = 'open'";
        transaction.execute(sql, params![plan]).await?;
    }
    if let Some(from) = held.owner.filter(|_| !mine) {
        let body =
            json!({"on": what, "resource": resource, "from": from, "to": holding.owner, "epoch": epoch});
        let who = holding.owner.as_str();
        let note = Note { plan: held.plan, request: None, kind: "lease.taken-over", who, body };
        audit::append(transaction, note).await?;
    }
    Ok(Lease { resource, owner: holding.owner.clone(), epoch, expires_at })
}

async fn renew(transaction: &Transaction<'_>, lease: &Lease, duration: Duration) -> Attempt<Lease> {
    let expires_at = expiry(transaction.now, duration)?;
    guarded(transaction, lease, "expires_at = $3", Some(expires_at)).await?;
    Ok(Lease { expires_at, ..lease.clone() })
}

/// The epoch grows, so that nothing more can be written with that of the lease. Giving back again changes nothing.
async fn release(transaction: &Transaction<'_>, lease: &Lease) -> Attempt<()> {
    let released = held(transaction, lease.resource, "FOR NO KEY UPDATE").await?;
    if released.owner.is_none() && released.epoch == Epoch(lease.epoch.0 + 1) {
        return Ok(());
    }
    guarded(transaction, lease, "owner = NULL, expires_at = $3, epoch = epoch + 1", None).await
}

/// Changes the row of a lease that has not changed hands.
async fn guarded(
    transaction: &Transaction<'_>,
    lease: &Lease,
    set: &str,
    expires_at: Option<Time>,
) -> Attempt<()> {
    let (table, _, _, id) = place(lease.resource);
    let sql = format!("UPDATE {table} SET {set} WHERE id = $1 AND epoch = $2 AND owner = $4");
    if transaction.execute(&sql, params![id, lease.epoch, expires_at, lease.owner]).await? == 1 {
        return Ok(());
    }
    let held = held(transaction, lease.resource, "").await?;
    let (resource, given) = (lease.resource, lease.epoch);
    Err(Error::Stale { resource, given, current: held.epoch, owner: held.owner }.into())
}

async fn list(transaction: &Transaction<'_>, plan: PlanId) -> Attempt<Vec<Lease>> {
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
