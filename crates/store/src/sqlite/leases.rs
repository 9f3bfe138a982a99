//! Leases in SQLite: three columns in the row of the leased thing.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, params};
use serde_json::json;

use super::audit;
use super::changesets;
use super::columns::rows;
use super::engine::failure::EngineResult;
use crate::audit::append::PendingRecord;
use crate::model::lease::expiry;
use crate::{
    ChangesetId, Epoch, Error, Lease, LeaseRequest, LeaseStore, NodeId, Owner, PlanId, Resource, Result,
    SqliteStore, Time,
};

impl LeaseStore for SqliteStore {
    fn acquire(&self, resource: Resource, request: &LeaseRequest) -> Result<Lease> {
        let request = request.clone();
        self.engine
            .write("acquire a lease", 0, move |connection, now| acquire(connection, now, resource, &request))
    }

    fn renew(&self, lease: &Lease, duration: Duration) -> Result<Lease> {
        let lease = lease.clone();
        self.engine.write("renew a lease", 0, move |connection, now| renew(connection, now, &lease, duration))
    }

    fn release(&self, lease: &Lease) -> Result<()> {
        let lease = lease.clone();
        self.engine.write("release a lease", 0, move |connection, _| release(connection, &lease))
    }

    fn leases(&self, plan: PlanId) -> Result<Vec<Lease>> {
        self.engine.read("list leases", |connection, _| list(connection, plan))
    }
}

/// The row of a lease.
struct LeaseRow {
    plan: PlanId,
    owner: Option<Owner>,
    epoch: Epoch,
    expires_at: Option<Time>,
}

/// Returns the table, its column with the plan, the type of the resource, and the id.
fn lease_row_of(resource: Resource) -> (&'static str, &'static str, &'static str, [u8; 16]) {
    match resource {
        Resource::Plan(id) => ("plans", "id", "plan", id.to_bytes()),
        Resource::Node(id) => ("nodes", "plan", "node", id.to_bytes()),
        Resource::Changeset(id) => ("changesets", "plan", "changeset", id.to_bytes()),
    }
}

fn lease_row(connection: &Connection, resource: Resource) -> EngineResult<LeaseRow> {
    let (table, plan, what, id) = lease_row_of(resource);
    let found = connection
        .prepare_cached(&format!("SELECT {plan}, owner, epoch, expires_at FROM {table} WHERE id = ?1"))?
        .query_row([id], |row| {
            Ok(LeaseRow {
                plan: row.get(0)?,
                owner: row.get(1)?,
                epoch: row.get(2)?,
                expires_at: row.get(3)?,
            })
        })
        .optional()?;
    let name = || match resource {
        Resource::Plan(id) => id.to_string(),
        Resource::Node(id) => id.to_string(),
        Resource::Changeset(id) => id.to_string(),
    };
    found.ok_or_else(|| Error::not_found(what, name()).into())
}

/// Returns the error for a write with a stale epoch; `None` if the epoch is current.
pub(super) fn stale(
    connection: &Connection,
    resource: Resource,
    given: Epoch,
) -> EngineResult<Option<Error>> {
    let row = lease_row(connection, resource)?;
    let stale = Error::Stale { resource, given, current: row.epoch, owner: row.owner };
    Ok(Some(stale).filter(|_| row.epoch != given))
}

pub(super) fn acquire(
    connection: &Connection,
    now: Time,
    resource: Resource,
    request: &LeaseRequest,
) -> EngineResult<Lease> {
    let expires_at = expiry(now, request.duration)?;
    if let Resource::Changeset(id) = resource {
        changesets::require_open(connection, id)?;
    }
    let row = lease_row(connection, resource)?;
    let is_holder = row.owner.as_ref() == Some(&request.owner);
    if let (Some(owner), Some(held_until)) = (&row.owner, row.expires_at)
        && !is_holder
        && held_until > now
    {
        return Err(Error::Held { resource, owner: owner.clone(), expires_at: held_until }.into());
    }
    let epoch = if is_holder { row.epoch } else { Epoch(row.epoch.0 + 1) };
    let (table, _, what, id) = lease_row_of(resource);
    connection
        .prepare_cached(&format!("UPDATE {table} SET owner = ?1, epoch = ?2, expires_at = ?3 WHERE id = ?4"))?
        .execute(params![request.owner, epoch, expires_at, id])?;
    if let (Resource::Plan(plan), false) = (resource, is_holder) {
        // The new runner of the plan also takes over the changesets of its nodes: the previous one
        // can neither record nor seal.
        connection
            .prepare_cached(
                "UPDATE changesets SET owner = NULL, expires_at = NULL, epoch = epoch + 1
                 WHERE plan = ?1 AND node IS NOT NULL AND status = 'open'",
            )?
            .execute([plan])?;
    }
    if let Some(from) = row.owner.filter(|_| !is_holder) {
        let body =
            json!({"on": what, "resource": resource, "from": from, "to": request.owner, "epoch": epoch});
        let actor = request.owner.as_str();
        audit::append(
            connection,
            now,
            PendingRecord { plan: row.plan, request: None, kind: "lease.taken-over", actor, body },
        )?;
    }
    Ok(Lease { resource, owner: request.owner.clone(), epoch, expires_at })
}

fn renew(connection: &Connection, now: Time, lease: &Lease, duration: Duration) -> EngineResult<Lease> {
    let expires_at = expiry(now, duration)?;
    update_current(connection, lease, "expires_at = ?3", Some(expires_at))?;
    Ok(Lease { expires_at, ..lease.clone() })
}

/// Increments the epoch, so that the lease permits no more writes. Repeating the call has no
/// further effect.
fn release(connection: &Connection, lease: &Lease) -> EngineResult<()> {
    let released = lease_row(connection, lease.resource)?;
    if released.owner.is_none() && released.epoch == Epoch(lease.epoch.0 + 1) {
        return Ok(());
    }
    update_current(connection, lease, "owner = NULL, expires_at = ?3, epoch = epoch + 1", None)
}

/// Updates the row of a lease that has not changed hands.
fn update_current(
    connection: &Connection,
    lease: &Lease,
    set: &str,
    expires_at: Option<Time>,
) -> EngineResult<()> {
    let (table, _, _, id) = lease_row_of(lease.resource);
    let changed = connection
        .prepare_cached(&format!("UPDATE {table} SET {set} WHERE id = ?1 AND epoch = ?2 AND owner = ?4"))?
        .execute(params![id, lease.epoch, expires_at, lease.owner])?;
    if changed == 1 {
        return Ok(());
    }
    let row = lease_row(connection, lease.resource)?;
    Err(Error::Stale { resource: lease.resource, given: lease.epoch, current: row.epoch, owner: row.owner }
        .into())
}

fn list(connection: &Connection, plan: PlanId) -> EngineResult<Vec<Lease>> {
    let mut leases = Vec::new();
    for of_kind in [
        held_leases(connection, "plans", "id", plan, |id| Resource::Plan(PlanId::from_bytes(id))),
        held_leases(connection, "nodes", "plan", plan, |id| Resource::Node(NodeId::from_bytes(id))),
        held_leases(connection, "changesets", "plan", plan, |id| {
            Resource::Changeset(ChangesetId::from_bytes(id))
        }),
    ] {
        leases.extend(of_kind?);
    }
    Ok(leases)
}

/// Returns the held leases of one table, whose column `column` has the plan.
fn held_leases(
    connection: &Connection,
    table: &str,
    column: &str,
    plan: PlanId,
    resource: impl Fn([u8; 16]) -> Resource,
) -> EngineResult<Vec<Lease>> {
    let sql = format!(
        "SELECT id, owner, epoch, expires_at FROM {table} WHERE {column} = ?1 AND owner IS NOT NULL ORDER BY id"
    );
    rows(connection, &sql, [plan], |row| {
        Ok(Lease {
            resource: resource(row.get(0)?),
            owner: row.get(1)?,
            epoch: row.get(2)?,
            expires_at: row.get(3)?,
        })
    })
}
