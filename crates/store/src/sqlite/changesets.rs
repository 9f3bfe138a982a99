//! Changesets in SQLite.

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::json;

use super::audit;
use super::columns::{Count, integer, rows};
use super::engine::failure::EngineResult;
use super::leases;
use super::{nodes, plans};
use crate::audit::append::PendingRecord;
use crate::limits::CANDIDATES_MAX;
use crate::model::id::{only, range_of_prefix};
use crate::model::lease::expiry;
use crate::{
    Actor, ChainHash, Changeset, ChangesetId, ChangesetStore, Epoch, Error, Lease, NewChangeset, PlanId,
    Resource, Result, SqliteStore, Status, Time,
};

impl ChangesetStore for SqliteStore {
    fn start_changeset(&self, changeset: &NewChangeset) -> Result<Lease> {
        let changeset = changeset.clone();
        self.engine.write("start a changeset", 0, move |connection, now| start(connection, now, &changeset))
    }

    fn changeset(&self, id: ChangesetId) -> Result<Changeset> {
        self.engine.read("read a changeset", |connection, _| get(connection, id))
    }

    fn find_changeset(&self, text: &str) -> Result<Changeset> {
        self.engine.read("find a changeset", |connection, _| select(connection, text))
    }

    fn changesets(&self, plan: PlanId) -> Result<Vec<Changeset>> {
        self.engine.read("list changesets", |connection, _| list(connection, plan))
    }

    fn seal(&self, changeset: ChangesetId, epoch: Epoch) -> Result<Changeset> {
        self.engine
            .write("seal a changeset", 0, move |connection, now| end(connection, now, changeset, epoch, None))
    }

    fn abandon(&self, changeset: ChangesetId, epoch: Epoch, reason: &str) -> Result<Changeset> {
        let reason = reason.to_owned();
        self.engine.write("abandon a changeset", 0, move |connection, now| {
            end(connection, now, changeset, epoch, Some(&reason))
        })
    }
}

fn start(connection: &Connection, now: Time, new: &NewChangeset) -> EngineResult<Lease> {
    if let Some(changeset) = find(connection, new.id)? {
        let same = changeset.plan == new.plan && changeset.node == new.node && changeset.actor == new.actor;
        if !same {
            return Err(Error::IdReused { what: "changeset id", id: new.id.to_string() }.into());
        }
        // A repeated call: its owner keeps the lease, any other owner is refused.
        return leases::acquire(connection, now, Resource::Changeset(new.id), &new.lease);
    }
    let plan = plans::get(connection, new.plan)?;
    if !new.plan_states.is_empty() && !new.plan_states.contains(&plan.state) {
        return Err(Error::WrongState { plan: new.plan, state: plan.state }.into());
    }
    if let Some(given) = new.plan_epoch
        && let Some(stale) = leases::stale(connection, Resource::Plan(new.plan), given)?
    {
        return Err(stale.into());
    }
    if let Some(id) = new.node
        && nodes::get(connection, id)?.plan != new.plan
    {
        return Err(Error::not_found("node of this plan", id).into());
    }
    let (epoch, expires_at) = (Epoch(1), expiry(now, new.lease.duration)?);
    // After the start and the end of the changesets before it.
    let last = connection
        .prepare_cached(
            "SELECT max(
               coalesce((SELECT max(started_at) FROM changesets WHERE plan = ?1), 0),
               coalesce((SELECT at FROM audit WHERE plan = ?1 ORDER BY sequence DESC LIMIT 1), 0))",
        )?
        .query_row([new.plan], |row| row.get(0))?;
    let started_at = now.after(Some(last));
    connection
        .prepare_cached(
            "INSERT INTO changesets (id, plan, node, actor, status, started_at, owner, epoch, expires_at)
             VALUES (?1, ?2, ?3, ?4, 'open', ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            new.id,
            new.plan,
            new.node,
            new.actor,
            started_at,
            new.lease.owner,
            epoch,
            expires_at
        ])?;
    let body = json!({"changeset": new.id, "node": new.node, "owner": new.lease.owner});
    let record = PendingRecord {
        plan: new.plan,
        request: None,
        kind: "changeset.started",
        actor: new.actor.as_str(),
        body,
    };
    audit::append(connection, started_at, record)?;
    Ok(Lease { resource: Resource::Changeset(new.id), owner: new.lease.owner.clone(), epoch, expires_at })
}

const SELECT: &str =
    "SELECT id, plan, node, actor, status, entries, started_at, ended_at, reason, digest FROM changesets";

fn changeset(row: &Row<'_>) -> rusqlite::Result<Changeset> {
    Ok(Changeset {
        id: row.get(0)?,
        plan: row.get(1)?,
        node: row.get(2)?,
        actor: row.get(3)?,
        status: row.get(4)?,
        entries: row.get::<_, Count>(5)?.0,
        started_at: row.get(6)?,
        ended_at: row.get(7)?,
        reason: row.get(8)?,
        digest: row.get(9)?,
    })
}

fn find(connection: &Connection, id: ChangesetId) -> EngineResult<Option<Changeset>> {
    Ok(connection
        .prepare_cached(&format!("{SELECT} WHERE id = ?1"))?
        .query_row([id], changeset)
        .optional()?)
}

fn get(connection: &Connection, id: ChangesetId) -> EngineResult<Changeset> {
    find(connection, id)?.ok_or_else(|| Error::not_found("changeset", id).into())
}

/// Finds a changeset by its id or a prefix of it.
fn select(connection: &Connection, text: &str) -> EngineResult<Changeset> {
    if let Ok(id) = text.parse() {
        return get(connection, id);
    }
    let Some((first, last)) = range_of_prefix(text) else {
        return Err(Error::not_found("changeset", text).into());
    };
    let sql = format!("{SELECT} WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3");
    let found = rows(connection, &sql, params![first, last, CANDIDATES_MAX as i64], changeset)?;
    Ok(only("changeset", text, found, |changeset| changeset.id)?)
}

pub(super) fn list(connection: &Connection, plan: PlanId) -> EngineResult<Vec<Changeset>> {
    plans::get(connection, plan)?;
    rows(connection, &format!("{SELECT} {OF_PLAN}"), [plan], changeset)
}

const OF_PLAN: &str = "WHERE plan = ?1 ORDER BY started_at, id";

/// Returns the rows of a plan's changesets, readable or not, even if the plan is gone.
pub(super) fn rows_of(
    connection: &Connection,
    plan: PlanId,
) -> EngineResult<Vec<(ChangesetId, rusqlite::Result<Changeset>)>> {
    rows(connection, &format!("{SELECT} {OF_PLAN}"), [plan], |row| Ok((row.get(0)?, changeset(row))))
}

pub(super) fn require_open(connection: &Connection, id: ChangesetId) -> EngineResult<()> {
    match get(connection, id)?.status {
        Status::Open => Ok(()),
        status => Err(Error::Closed { changeset: id, status }.into()),
    }
}

/// Returns the reason for which a guarded statement changed nothing: the changeset does not exist,
/// is closed, or its lease has changed hands.
fn refusal(connection: &Connection, id: ChangesetId, given: Epoch) -> EngineResult<Error> {
    require_open(connection, id)?;
    let stale = leases::stale(connection, Resource::Changeset(id), given)?;
    Ok(stale.expect("an open changeset with this epoch is not refused"))
}

/// Refuses while the plan has open changesets.
pub(super) fn require_closed(connection: &Connection, plan: PlanId) -> EngineResult<()> {
    let (count, first): (i64, Option<ChangesetId>) = connection
        .prepare_cached("SELECT count(*), min(id) FROM changesets WHERE plan = ?1 AND status = 'open'")?
        .query_row([plan], |row| Ok((row.get(0)?, row.get(1)?)))?;
    match first {
        None => Ok(()),
        Some(first) => Err(Error::ChangesetsOpen { plan, count: count.unsigned_abs(), first }.into()),
    }
}

/// Abandons all open changesets of a plan that changes its state, and refuses their holders from
/// then on.
pub(super) fn abandon_all(
    connection: &Connection,
    now: Time,
    plan: PlanId,
    actor: &Actor,
    state: &str,
) -> EngineResult<()> {
    let reason = format!("the plan became {state}");
    let open = rows(
        connection,
        "UPDATE changesets SET status = 'abandoned', ended_at = ?1, reason = ?2, epoch = epoch + 1, owner = NULL, expires_at = NULL
         WHERE plan = ?3 AND status = 'open' RETURNING id, entries, digest",
        params![now, reason, plan],
        |row| Ok((row.get::<_, ChangesetId>(0)?, row.get::<_, Count>(1)?.0, row.get::<_, ChainHash>(2)?)),
    )?;
    for (id, entries, digest) in open {
        let body = json!({"changeset": id, "entries": entries, "digest": digest, "reason": reason});
        let record =
            PendingRecord { plan, request: None, kind: "changeset.abandoned", actor: actor.as_str(), body };
        audit::append(connection, now, record)?;
    }
    Ok(())
}

/// Seals a changeset, or abandons it for a reason.
fn end(
    connection: &Connection,
    now: Time,
    id: ChangesetId,
    epoch: Epoch,
    reason: Option<&str>,
) -> EngineResult<Changeset> {
    let (status, kind) = Status::ending(reason)?;
    let ended = connection
        .prepare_cached(
            "UPDATE changesets SET status = ?1, ended_at = ?2, reason = ?3, owner = NULL, expires_at = NULL
             WHERE id = ?4 AND epoch = ?5 AND status = 'open'",
        )?
        .execute(params![status, now, reason, id, epoch])?;
    let changeset = get(connection, id)?;
    if ended == 0 {
        let stale = leases::stale(connection, Resource::Changeset(id), epoch)?;
        // A repeated call with the same epoch.
        return if changeset.status == status && stale.is_none() {
            Ok(changeset)
        } else {
            Err(refusal(connection, id, epoch)?.into())
        };
    }
    let body =
        json!({"changeset": id, "entries": changeset.entries, "digest": changeset.digest, "reason": reason});
    let record =
        PendingRecord { plan: changeset.plan, request: None, kind, actor: changeset.actor.as_str(), body };
    audit::append(connection, now, record)?;
    Ok(changeset)
}

/// The state of a changeset that recording checks and advances.
pub(super) struct AppendState {
    pub(super) actor: Actor,
    pub(super) status: Status,
    pub(super) epoch: Epoch,
    pub(super) entries: u64,
    pub(super) digest: ChainHash,
    /// Row ids of the first and the last entry; 0 while there is none.
    pub(super) ids: (i64, i64),
}

pub(super) fn append_state(connection: &Connection, id: ChangesetId) -> EngineResult<AppendState> {
    let found = connection
        .prepare_cached(
            "SELECT actor, status, epoch, entries, digest, first_id, last_id FROM changesets WHERE id = ?1",
        )?
        .query_row([id], |row| {
            Ok(AppendState {
                actor: row.get(0)?,
                status: row.get(1)?,
                epoch: row.get(2)?,
                entries: row.get::<_, Count>(3)?.0,
                digest: row.get(4)?,
                ids: (row.get(5)?, row.get(6)?),
            })
        })
        .optional()?;
    found.ok_or_else(|| Error::not_found("changeset", id).into())
}

/// Stores the advanced state, in the transaction that inserts the entries.
pub(super) fn advance(connection: &Connection, id: ChangesetId, target: &AppendState) -> EngineResult<()> {
    connection
        .prepare_cached(
            "UPDATE changesets SET entries = ?2, digest = ?3, first_id = ?4, last_id = ?5 WHERE id = ?1",
        )?
        .execute(params![id, integer(target.entries), target.digest, target.ids.0, target.ids.1])?;
    Ok(())
}
