//! Leases in SQLite: three columns in the row of what they are on.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, params};
use serde_json::json;

use super::audit;
use super::changesets;
use super::columns::rows;
use super::engine::failure::Attempt;
use crate::audit::append::Note;
use crate::model::lease::expiry;
use crate::{
    ChangesetId, Epoch, Error, Holding, Lease, LeaseStore, NodeId, Owner, PlanId, Resource, Result,
    SqliteStore, Time,
};

impl LeaseStore for SqliteStore {
    fn acquire(&self, resource: Resource, holding: &Holding) -> Result<Lease> {
        let holding = holding.clone();
        self.engine
            .write("take a lease", 0, move |connection, now| acquire(connection, now, resource, &holding))
    }

    fn renew(&self, lease: &Lease, duration: Duration) -> Result<Lease> {
        let lease = lease.clone();
        self.engine.write("renew a lease", 0, move |connection, now| renew(connection, now, &lease, duration))
    }

    fn release(&self, lease: &Lease) -> Result<()> {
        let lease = lease.clone();
        self.engine.write("give a lease back", 0, move |connection, _| release(connection, &lease))
    }

    fn leases(&self, plan: PlanId) -> Result<Vec<Lease>> {
        self.engine.read("list leases", |connection, _| list(connection, plan))
    }
}

/// The row of a lease.
struct Row {
    plan: PlanId,
    owner: Option<Owner>,
    epoch: Epoch,
    expires_at: Option<Time>,
}

/// The table, its column that names the plan, what it is, and the id.
fn place(resource: Resource) -> (&'static str, &'static str, &'static str, [u8; 16]) {
    match resource {
        Resource::Plan(id) => ("plans", "id", "plan", id.to_bytes()),
        Resource::Node(id) => ("nodes", "plan", "node", id.to_bytes()),
        Resource::Changeset(id) => ("changesets", "plan", "changeset", id.to_bytes()),
    }
}

fn row(connection: &Connection, resource: Resource) -> Attempt<Row> {
    let (table, plan, what, id) = place(resource);
    let found = connection
        .prepare_cached(&format!("SELECT {plan}, owner, epoch, expires_at FROM {table} WHERE id = ?1"))?
        .query_row([id], |row| {
            Ok(Row { plan: row.get(0)?, owner: row.get(1)?, epoch: row.get(2)?, expires_at: row.get(3)? })
        })
        .optional()?;
    let name = || match resource {
        Resource::Plan(id) => id.to_string(),
        Resource::Node(id) => id.to_string(),
        Resource::Changeset(id) => id.to_string(),
    };
    found.ok_or_else(|| Error::not_found(what, name()).into())
}

/// The error for a write with an epoch that is past; `None` when it is not.
pub(super) fn stale(connection: &Connection, resource: Resource, given: Epoch) -> Attempt<Option<Error>> {
    let row = row(connection, resource)?;
    let stale = Error::Stale { resource, given, current: row.epoch, owner: row.owner };
    Ok(Some(stale).filter(|_| row.epoch != given))
}

pub(super) fn acquire(
    connection: &Connection,
    now: Time,
    resource: Resource,
    holding: &Holding,
) -> Attempt<Lease> {
    let expires_at = expiry(now, holding.duration)?;
    if let Resource::Changeset(id) = resource {
        changesets::require_open(connection, id)?;
    }
    let row = row(connection, resource)?;
    let mine = row.owner.as_ref() == Some(&holding.owner);
    if let (Some(owner), Some(held_until)) = (&row.owner, row.expires_at)
        && !mine
        && held_until > now
    {
        return Err(Error::Held { resource, owner: owner.clone(), expires_at: held_until }.into());
    }
    let epoch = if mine { row.epoch } else { Epoch(row.epoch.0 + 1) };
    let (table, _, what, id) = place(resource);
    connection
        .prepare_cached(&format!("UPDATE {table} SET owner = ?1, epoch = ?2, expires_at = ?3 WHERE id = ?4"))?
        .execute(params![holding.owner, epoch, expires_at, id])?;
    if let (Resource::Plan(plan), false) = (resource, mine) {
        // Whoever runs the plan now has the changesets of its nodes too: the one before can neither record nor seal.
        connection
            .prepare_cached(
                "UPDATE changesets SET owner = NULL, expires_at = NULL, epoch = epoch + 1
                 WHERE plan = ?1 AND node IS NOT NULL AND status = 'open'",
            )?
            .execute([plan])?;
    }
    if let Some(from) = row.owner.filter(|_| !mine) {
        let body =
            json!({"on": what, "resource": resource, "from": from, "to": holding.owner, "epoch": epoch});
        let who = holding.owner.as_str();
        audit::append(
            connection,
            now,
            Note { plan: row.plan, request: None, kind: "lease.taken-over", who, body },
        )?;
    }
    Ok(Lease { resource, owner: holding.owner.clone(), epoch, expires_at })
}

fn renew(connection: &Connection, now: Time, lease: &Lease, duration: Duration) -> Attempt<Lease> {
    let expires_at = expiry(now, duration)?;
    guarded(connection, lease, "expires_at = ?3", Some(expires_at))?;
    Ok(Lease { expires_at, ..lease.clone() })
}

/// The epoch grows, so that nothing more can be written with that of the lease. Giving back again changes nothing.
fn release(connection: &Connection, lease: &Lease) -> Attempt<()> {
    let released = row(connection, lease.resource)?;
    if released.owner.is_none() && released.epoch == Epoch(lease.epoch.0 + 1) {
        return Ok(());
    }
    guarded(connection, lease, "owner = NULL, expires_at = ?3, epoch = epoch + 1", None)
}

/// Changes the row of a lease that has not changed hands.
fn guarded(connection: &Connection, lease: &Lease, set: &str, expires_at: Option<Time>) -> Attempt<()> {
    let (table, _, _, id) = place(lease.resource);
    let changed = connection
        .prepare_cached(&format!("UPDATE {table} SET {set} WHERE id = ?1 AND epoch = ?2 AND owner = ?4"))?
        .execute(params![id, lease.epoch, expires_at, lease.owner])?;
    if changed == 1 {
        return Ok(());
    }
    let row = row(connection, lease.resource)?;
    Err(Error::Stale { resource: lease.resource, given: lease.epoch, current: row.epoch, owner: row.owner }
        .into())
}

fn list(connection: &Connection, plan: PlanId) -> Attempt<Vec<Lease>> {
    let mut leases = Vec::new();
    for of_kind in [
        held(connection, "plans", "id", plan, |id| Resource::Plan(PlanId::from_bytes(id))),
        held(connection, "nodes", "plan", plan, |id| Resource::Node(NodeId::from_bytes(id))),
        held(connection, "changesets", "plan", plan, |id| Resource::Changeset(ChangesetId::from_bytes(id))),
    ] {
        leases.extend(of_kind?);
    }
    Ok(leases)
}

/// The held leases of one table, whose column `column` names the plan.
fn held(
    connection: &Connection,
    table: &str,
    column: &str,
    plan: PlanId,
    resource: impl Fn([u8; 16]) -> Resource,
) -> Attempt<Vec<Lease>> {
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
