//! Changesets in PostgreSQL.

use std::collections::HashMap;

use futures_util::future::join;
use serde_json::json;
use tokio_postgres::Row;

use super::columns::{self, count, params};
use super::engine::failure::{EngineResult, Failure};
use super::engine::transaction::{Transaction, found};
use super::entries::NO_ENTRIES;
use super::{audit, leases, nodes, plans};
use crate::audit::append::PendingRecord;
use crate::limits::CANDIDATES_MAX;
use crate::model::id::{only, range_of_prefix};
use crate::model::lease::expiry;
use crate::{
    Actor, ChainHash, Changeset, ChangesetId, ChangesetStore, Epoch, Error, Lease, NewChangeset, Owner,
    PlanId, PostgresStore, Resource, Result, Status, Time,
};

impl ChangesetStore for PostgresStore {
    fn start_changeset(&self, changeset: &NewChangeset) -> Result<Lease> {
        self.engine.write("start a changeset", async |transaction| start(transaction, changeset).await)
    }

    fn changeset(&self, id: ChangesetId) -> Result<Changeset> {
        self.engine.read("read a changeset", async |transaction| get(transaction, id).await)
    }

    fn find_changeset(&self, text: &str) -> Result<Changeset> {
        self.engine.read("find a changeset", async |transaction| select(transaction, text).await)
    }

    fn changesets(&self, plan: PlanId) -> Result<Vec<Changeset>> {
        self.engine.read("list changesets", async |transaction| list(transaction, plan).await)
    }

    fn seal(&self, changeset: ChangesetId, epoch: Epoch) -> Result<Changeset> {
        self.engine
            .write("seal a changeset", async |transaction| end(transaction, changeset, epoch, None).await)
    }

    fn abandon(&self, changeset: ChangesetId, epoch: Epoch, reason: &str) -> Result<Changeset> {
        self.engine.write("abandon a changeset", async |transaction| {
            end(transaction, changeset, epoch, Some(reason)).await
        })
    }
}

async fn start(transaction: &Transaction<'_>, new: &NewChangeset) -> EngineResult<Lease> {
    if let Some(changeset) = find(transaction, new.id).await? {
        let same = changeset.plan == new.plan && changeset.node == new.node && changeset.actor == new.actor;
        if !same {
            return Err(Error::IdReused { what: "changeset id", id: new.id.to_string() }.into());
        }
        // A repeated call: its owner keeps the lease, any other owner is refused.
        return leases::acquire(transaction, Resource::Changeset(new.id), &new.lease).await;
    }
    // The plan cannot change its state until the transaction ends.
    let state = plans::lock_state(transaction, new.plan).await?;
    if !new.plan_states.is_empty() && !new.plan_states.contains(&state) {
        return Err(Error::WrongState { plan: new.plan, state }.into());
    }
    if let Some(given) = new.plan_epoch
        && let Some(stale) = leases::stale(transaction, Resource::Plan(new.plan), given).await?
    {
        return Err(stale.into());
    }
    if let Some(id) = new.node
        && nodes::get(transaction, id).await?.plan != new.plan
    {
        return Err(Error::not_found("node of this plan", id).into());
    }
    let (epoch, expires_at) = (Epoch(1), expiry(transaction.now, new.lease.duration)?);
    // Lock the head of the chain now rather than on append: no other changeset can start until
    // then.
    let (held, last) = join(audit::lock_head(transaction, new.plan), last_start(transaction, new.plan)).await;
    held?;
    let started_at = transaction.now.after(last?);
    transaction
        .execute_one(
            "INSERT INTO changesets (id, plan, node, actor, status, digest, started_at, owner, epoch, expires_at)
             VALUES ($1, $2, $3, $4, 'open', $5, $6, $7, $8, $9)",
            params![
                new.id,
                new.plan,
                new.node,
                new.actor,
                NO_ENTRIES,
                started_at,
                new.lease.owner,
                epoch,
                expires_at
            ],
        )
        .await?;
    let body = json!({"changeset": new.id, "node": new.node, "owner": new.lease.owner});
    let actor = new.actor.as_str();
    let record = PendingRecord { plan: new.plan, request: None, kind: "changeset.started", actor, body };
    audit::append_at(transaction, started_at, record).await?;
    Ok(Lease { resource: Resource::Changeset(new.id), owner: new.lease.owner.clone(), epoch, expires_at })
}

/// Returns the time of the last start or end of a plan's changesets.
async fn last_start(transaction: &Transaction<'_>, plan: PlanId) -> EngineResult<Option<Time>> {
    let sql = "SELECT greatest((SELECT max(started_at) FROM changesets WHERE plan = $1),
                               (SELECT at FROM audit WHERE plan = $1 ORDER BY sequence DESC LIMIT 1))";
    columns::get(&transaction.one(sql, params![plan]).await?, 0)
}

const SELECT: &str =
    "SELECT id, plan, node, actor, status, entries, started_at, ended_at, reason, digest FROM changesets";

fn changeset(row: &Row) -> EngineResult<Changeset> {
    let reason: Option<Vec<u8>> = columns::get(row, 8)?;
    Ok(Changeset {
        id: columns::get(row, 0)?,
        plan: columns::get(row, 1)?,
        node: columns::get(row, 2)?,
        actor: columns::get(row, 3)?,
        status: columns::get(row, 4)?,
        entries: count(row, 5)?,
        started_at: columns::get(row, 6)?,
        ended_at: columns::get(row, 7)?,
        reason: reason.map(|reason| String::from_utf8_lossy(&reason).into_owned()),
        digest: columns::get(row, 9)?,
    })
}

async fn find(transaction: &Transaction<'_>, id: ChangesetId) -> EngineResult<Option<Changeset>> {
    let row = transaction.row(&format!("{SELECT} WHERE id = $1"), params![id]).await?;
    row.as_ref().map(changeset).transpose()
}

pub(super) async fn get(transaction: &Transaction<'_>, id: ChangesetId) -> EngineResult<Changeset> {
    found(find(transaction, id).await?, || Error::not_found("changeset", id))
}

/// Finds a changeset by its id or a prefix of it.
async fn select(transaction: &Transaction<'_>, text: &str) -> EngineResult<Changeset> {
    if let Ok(id) = text.parse() {
        return get(transaction, id).await;
    }
    let Some((first, last)) = range_of_prefix(text) else {
        return Err(Error::not_found("changeset", text).into());
    };
    let sql = format!("{SELECT} WHERE id BETWEEN $1 AND $2 ORDER BY id LIMIT $3");
    let (first, last) = (ChangesetId::from_bytes(first), ChangesetId::from_bytes(last));
    let rows = transaction.rows(&sql, params![first, last, CANDIDATES_MAX as i64]).await?;
    let found = rows.iter().map(changeset).collect::<EngineResult<Vec<_>>>()?;
    Ok(only("changeset", text, found, |changeset| changeset.id)?)
}

async fn list(transaction: &Transaction<'_>, plan: PlanId) -> EngineResult<Vec<Changeset>> {
    plans::get(transaction, plan).await?;
    rows_of(transaction, plan).await?.into_iter().map(|(_, changeset)| changeset).collect()
}

/// Returns the rows of a plan's changesets, readable or not, even if the plan is gone.
pub(super) async fn rows_of(
    transaction: &Transaction<'_>,
    plan: PlanId,
) -> EngineResult<Vec<(ChangesetId, EngineResult<Changeset>)>> {
    let sql = format!("{SELECT} WHERE plan = $1 ORDER BY started_at, id");
    let rows = transaction.rows(&sql, params![plan]).await?;
    rows.iter().map(|row| Ok((columns::get(row, 0)?, changeset(row)))).collect()
}

/// Refuses while the plan has open changesets.
pub(super) async fn require_closed(transaction: &Transaction<'_>, plan: PlanId) -> EngineResult<()> {
    let sql = "SELECT id FROM changesets WHERE plan = $1 AND status = 'open' ORDER BY id";
    let open = transaction.rows(sql, params![plan]).await?;
    match open.first() {
        None => Ok(()),
        Some(first) => {
            let (count, first) = (open.len() as u64, columns::get(first, 0)?);
            Err(Error::ChangesetsOpen { plan, count, first }.into())
        }
    }
}

/// Abandons all open changesets of a plan that changes its state, and refuses their holders from
/// then on.
pub(super) async fn abandon_all(
    transaction: &Transaction<'_>,
    plan: PlanId,
    actor: &Actor,
    state: &str,
) -> EngineResult<()> {
    let reason = format!("the plan became {state}");
    // Lock in the same order as recordings.
    let open = transaction
        .rows(
            "SELECT id, entries, digest FROM changesets WHERE plan = $1 AND status = 'open' ORDER BY id FOR UPDATE",
            params![plan],
        )
        .await?;
    for row in &open {
        let id: ChangesetId = columns::get(row, 0)?;
        transaction
            .execute_one(
                "UPDATE changesets SET status = 'abandoned', ended_at = $1, reason = $2, epoch = epoch + 1, owner = NULL, expires_at = NULL
                 WHERE id = $3 AND status = 'open'",
                params![transaction.now, reason.as_bytes(), id],
            )
            .await?;
        let (entries, digest) = (count(row, 1)?, columns::get::<ChainHash>(row, 2)?);
        let body = json!({"changeset": id, "entries": entries, "digest": digest, "reason": reason});
        let record =
            PendingRecord { plan, request: None, kind: "changeset.abandoned", actor: actor.as_str(), body };
        audit::append(transaction, record).await?;
    }
    Ok(())
}

/// Seals a changeset, or abandons it for a reason.
async fn end(
    transaction: &Transaction<'_>,
    id: ChangesetId,
    epoch: Epoch,
    reason: Option<&str>,
) -> EngineResult<Changeset> {
    let (status, kind) = Status::ending(reason)?;
    let ended = transaction
        .execute(
            "UPDATE changesets SET status = $1, ended_at = $2, reason = $3, owner = NULL, expires_at = NULL
             WHERE id = $4 AND epoch = $5 AND status = 'open'",
            params![status, transaction.now, reason.map(str::as_bytes), id, epoch],
        )
        .await?;
    let changeset = get(transaction, id).await?;
    if ended == 0 {
        let stale = leases::stale(transaction, Resource::Changeset(id), epoch).await?;
        return match changeset.status {
            // A repeated call with the same epoch.
            found if found == status && stale.is_none() => Ok(changeset),
            Status::Open => Err(stale.map_or(Failure::LostRace, Failure::Refused)),
            status => Err(Error::Closed { changeset: id, status }.into()),
        };
    }
    let body =
        json!({"changeset": id, "entries": changeset.entries, "digest": changeset.digest, "reason": reason});
    let record =
        PendingRecord { plan: changeset.plan, request: None, kind, actor: changeset.actor.as_str(), body };
    audit::append(transaction, record).await?;
    Ok(changeset)
}

/// The state of a changeset that recording checks and advances.
#[derive(Clone)]
pub(super) struct AppendState {
    pub(super) actor: Actor,
    pub(super) status: Status,
    pub(super) epoch: Epoch,
    pub(super) owner: Option<Owner>,
    pub(super) entries: u64,
    pub(super) digest: ChainHash,
    /// Entries were recorded in this transaction.
    pub(super) advanced: bool,
}

/// Locks changesets, in the order of their ids, and returns their states.
pub(super) async fn lock_append_states(
    transaction: &Transaction<'_>,
    ids: &Vec<ChangesetId>,
) -> EngineResult<HashMap<ChangesetId, AppendState>> {
    let sql = "SELECT id, actor, status, epoch, owner, entries, digest FROM changesets
               WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE";
    let rows = transaction.rows(sql, params![*ids]).await?;
    let target = |row: &Row| {
        let target = AppendState {
            actor: columns::get(row, 1)?,
            status: columns::get(row, 2)?,
            epoch: columns::get(row, 3)?,
            owner: columns::get(row, 4)?,
            entries: count(row, 5)?,
            digest: columns::get(row, 6)?,
            advanced: false,
        };
        Ok((columns::get(row, 0)?, target))
    };
    rows.iter().map(target).collect()
}

/// Stores the advanced states, in the transaction that inserts the entries.
pub(super) async fn advance(
    transaction: &Transaction<'_>,
    targets: &HashMap<ChangesetId, AppendState>,
) -> EngineResult<()> {
    let advanced = || targets.iter().filter(|(_, target)| target.advanced);
    let ids: Vec<ChangesetId> = advanced().map(|(id, _)| *id).collect();
    if ids.is_empty() {
        return Ok(());
    }
    let epochs: Vec<Epoch> = advanced().map(|(_, target)| target.epoch).collect();
    let entries: Vec<i64> = advanced().map(|(_, target)| columns::integer(target.entries)).collect();
    let digests: Vec<ChainHash> = advanced().map(|(_, target)| target.digest).collect();
    let changed = transaction
        .execute(
            "UPDATE changesets SET entries = new.entries, digest = new.digest
             FROM unnest($1, $2, $3, $4) AS new (id, epoch, entries, digest)
             WHERE changesets.id = new.id AND changesets.epoch = new.epoch AND status = 'open'",
            params![ids, epochs, entries, digests],
        )
        .await?;
    if changed == ids.len() as u64 { Ok(()) } else { Err(Failure::LostRace) }
}
