//! Plans in PostgreSQL.

use serde_json::json;
use tokio_postgres::Row;

use super::columns::{self, Json, page, params};
use super::engine::failure::EngineResult;
use super::engine::transaction::{Transaction, found};
use super::{audit, changesets, leases};
use crate::audit::append::{PendingRecord, detail_digest, recorded_version};
use crate::limits::{CANDIDATES_MAX, json_text};
use crate::model::id::{only, range_of_prefix};
use crate::{
    Error, NewPlan, OpenChangesets, Plan, PlanId, PlanQuery, PlanRemoval, PlanSelector, PlanSize, PlanStep,
    PlanStore, PostgresStore, Resource, Result, State, Version,
};

impl PlanStore for PostgresStore {
    fn create_plan(&self, plan: &NewPlan) -> Result<Plan> {
        self.engine.write("create a plan", async |transaction| create(transaction, plan).await)
    }

    fn plan(&self, id: PlanId) -> Result<Plan> {
        self.engine.read("read a plan", async |transaction| get(transaction, id).await)
    }

    fn find_plan(&self, selector: &PlanSelector) -> Result<Plan> {
        self.engine.read("find a plan", async |transaction| select(transaction, selector).await)
    }

    fn plans(&self, query: &PlanQuery) -> Result<Vec<Plan>> {
        self.engine.read("list plans", async |transaction| list(transaction, query).await)
    }

    fn step_plan(&self, step: &PlanStep) -> Result<Version> {
        self.engine.write("change a plan's state", async |transaction| change_state(transaction, step).await)
    }

    fn remove_plan(&self, removal: &PlanRemoval) -> Result<()> {
        self.engine.write("remove a plan", async |transaction| remove(transaction, removal).await)
    }
}

async fn create(transaction: &Transaction<'_>, new: &NewPlan) -> EngineResult<Plan> {
    if let Some(plan) = find(transaction, new.id).await? {
        return Ok(new.match_existing(plan)?);
    }
    new.check()?;
    // If the name is taken after this check, the insert fails and the transaction is retried.
    if let Some(name) = &new.name
        && by_name(transaction, name.as_str()).await?.is_some()
    {
        return Err(Error::NameTaken { name: name.clone() }.into());
    }
    let roots = serde_json::to_value(&new.roots).expect("paths serialize as JSON");
    let last = columns::get(&transaction.one("SELECT max(created_at) FROM plans", params![]).await?, 0)?;
    let created_at = transaction.now.after(last);
    transaction
        .execute_one(
            "INSERT INTO plans (id, name, state, version, undo_of, roots, detail, created_by, created_at, changed_by, changed_at)
             VALUES ($1, $2, $3, 1, $4, $5, $6, $7, $8, $7, $8)",
            params![
                new.id,
                new.name,
                new.state,
                new.undo_of,
                json_text(&roots)?,
                json_text(&new.detail)?,
                new.actor,
                created_at
            ],
        )
        .await?;
    let body = json!({
        "name": new.name, "state": new.state, "undo_of": new.undo_of, "roots": roots,
        "detail_digest": detail_digest(&new.detail)
    });
    let record =
        PendingRecord { plan: new.id, request: None, kind: "plan.created", actor: new.actor.as_str(), body };
    audit::append_at(transaction, created_at, record).await?;
    get(transaction, new.id).await
}

const SELECT: &str =
    "SELECT id, name, state, version, undo_of, roots, detail, created_by, created_at, changed_by, changed_at
    FROM plans";

fn plan(row: &Row) -> EngineResult<Plan> {
    Ok(Plan {
        id: columns::get(row, 0)?,
        name: columns::get(row, 1)?,
        state: columns::get(row, 2)?,
        version: columns::get(row, 3)?,
        undo_of: columns::get(row, 4)?,
        roots: columns::get::<Json<_>>(row, 5)?.0,
        detail: columns::get::<Json<_>>(row, 6)?.0,
        created_by: columns::get(row, 7)?,
        created_at: columns::get(row, 8)?,
        changed_by: columns::get(row, 9)?,
        changed_at: columns::get(row, 10)?,
    })
}

/// Returns the row of a plan, if there is one, readable or not.
pub(super) async fn row(
    transaction: &Transaction<'_>,
    id: PlanId,
) -> EngineResult<Vec<(PlanId, EngineResult<Plan>)>> {
    let rows = transaction.rows(&format!("{SELECT} WHERE id = $1"), params![id]).await?;
    Ok(rows.iter().map(|row| (id, plan(row))).collect())
}

async fn find(transaction: &Transaction<'_>, id: PlanId) -> EngineResult<Option<Plan>> {
    let row = transaction.row(&format!("{SELECT} WHERE id = $1"), params![id]).await?;
    row.as_ref().map(plan).transpose()
}

async fn by_name(transaction: &Transaction<'_>, name: &str) -> EngineResult<Option<Plan>> {
    let row = transaction.row(&format!("{SELECT} WHERE name = $1"), params![name]).await?;
    row.as_ref().map(plan).transpose()
}

pub(super) async fn get(transaction: &Transaction<'_>, id: PlanId) -> EngineResult<Plan> {
    found(find(transaction, id).await?, || Error::not_found("plan", id))
}

/// Locks the state of a plan until the transaction ends, and returns it.
pub(super) async fn lock_state(transaction: &Transaction<'_>, id: PlanId) -> EngineResult<State> {
    let row = transaction.row("SELECT state FROM plans WHERE id = $1 FOR SHARE", params![id]).await?;
    columns::get(&found(row, || Error::not_found("plan", id))?, 0)
}

async fn select(transaction: &Transaction<'_>, selector: &PlanSelector) -> EngineResult<Plan> {
    let text = match selector {
        PlanSelector::Latest => {
            let sql = format!("{SELECT} WHERE undo_of IS NULL ORDER BY created_at DESC, id DESC LIMIT 1");
            let row = transaction.row(&sql, &[]).await?;
            return plan(&found(row, || Error::not_found("plan", "@latest"))?);
        }
        PlanSelector::Text(text) => text,
    };
    if let Ok(id) = text.parse() {
        return get(transaction, id).await;
    }
    // No name contains a zero byte, and PostgreSQL texts cannot.
    if !text.contains('\0')
        && let Some(plan) = by_name(transaction, text).await?
    {
        return Ok(plan);
    }
    let Some((first, last)) = range_of_prefix(text) else {
        return Err(Error::not_found("plan", text).into());
    };
    let sql = format!("{SELECT} WHERE id BETWEEN $1 AND $2 ORDER BY id LIMIT $3");
    let (first, last) = (PlanId::from_bytes(first), PlanId::from_bytes(last));
    let rows = transaction.rows(&sql, params![first, last, CANDIDATES_MAX as i64]).await?;
    let found = rows.iter().map(plan).collect::<EngineResult<Vec<_>>>()?;
    Ok(only("plan", text, found, |plan| plan.id)?)
}

async fn list(transaction: &Transaction<'_>, query: &PlanQuery) -> EngineResult<Vec<Plan>> {
    let after = match query.after {
        Some(id) => Some(get(transaction, id).await?.created_at),
        None => None,
    };
    let sql = format!(
        "{SELECT} WHERE ($1::timestamptz IS NULL OR (created_at, id) < ($1, $2)) AND ($3::text[] = '{{}}' OR state = ANY ($3))
           AND ($4::timestamptz IS NULL OR changed_at >= $4) ORDER BY created_at DESC, id DESC LIMIT $5"
    );
    let states: Vec<State> = query.states.clone();
    let since = query.changed_since;
    let rows = transaction.rows(&sql, params![after, query.after, states, since, page(query.limit)]).await?;
    rows.iter().map(plan).collect()
}

async fn change_state(transaction: &Transaction<'_>, step: &PlanStep) -> EngineResult<Version> {
    let changed = transaction
        .execute(
            "UPDATE plans SET state = $1, version = version + 1, detail = coalesce($2, detail), changed_by = $3, changed_at = $4
             WHERE id = $5 AND state = $6 AND version = $7 AND ($8::bigint IS NULL OR epoch = $8)
               AND NOT EXISTS (SELECT FROM audit WHERE request = $9)",
            params![
                step.to,
                step.detail.as_ref().map(json_text).transpose()?,
                step.actor,
                transaction.now,
                step.plan,
                step.from,
                step.version,
                step.epoch,
                step.request
            ],
        )
        .await?;
    if changed == 0 {
        return repeat_or_refuse(transaction, step).await;
    }
    match step.open {
        OpenChangesets::Leave => {}
        OpenChangesets::Refuse => changesets::require_closed(transaction, step.plan).await?,
        OpenChangesets::Abandon => {
            changesets::abandon_all(transaction, step.plan, &step.actor, step.to.as_str()).await?;
        }
    }
    let version = Version(step.version.0 + 1);
    let body = json!({
        "plan": step.plan, "from": step.from, "to": step.to, "version": version, "note": step.note,
        "detail_digest": step.detail.as_ref().map(detail_digest)
    });
    let (request, actor) = (Some(step.request), step.actor.as_str());
    let record = PendingRecord { plan: step.plan, request, kind: step.kind.as_str(), actor, body };
    audit::append(transaction, record).await?;
    Ok(version)
}

/// Returns the version that an earlier call of the step led to, or the reason for which it changed
/// nothing.
async fn repeat_or_refuse(transaction: &Transaction<'_>, step: &PlanStep) -> EngineResult<Version> {
    let resource = Resource::Plan(step.plan);
    if let Some(answer) = audit::find_by_request(transaction, step.request).await? {
        let expected = (step.kind.as_str(), resource, step.to.as_str());
        let version = recorded_version(&answer, step.plan, expected);
        return Ok(version.ok_or_else(|| Error::request_reused(step.request))?);
    }
    let plan = get(transaction, step.plan).await?;
    if let Some(given) = step.epoch
        && let Some(stale) = leases::stale(transaction, resource, given).await?
    {
        return Err(stale.into());
    }
    let by = plan.changed_by.to_string();
    Err(Error::Conflict { resource, state: plan.state, version: plan.version, by }.into())
}

async fn remove(transaction: &Transaction<'_>, removal: &PlanRemoval) -> EngineResult<()> {
    let PlanRemoval { plan: id, request, version, ref actor, .. } = *removal;
    let sql = format!("{SELECT} WHERE id = $1 FOR UPDATE");
    let row = transaction.row(&sql, params![id]).await?;
    if let Some(answer) = audit::find_by_request(transaction, request).await? {
        let same = answer.plan == id && answer.kind == "plan.removed";
        return if same { Ok(()) } else { Err(Error::request_reused(request).into()) };
    }
    let plan = plan(&found(row, || Error::not_found("plan", id))?)?;
    if plan.version != version {
        let (resource, by) = (Resource::Plan(id), plan.changed_by.to_string());
        return Err(Error::Conflict { resource, state: plan.state, version: plan.version, by }.into());
    }
    // A concurrent recording has committed, or finds its changeset removed.
    let changesets = "SELECT entries FROM changesets WHERE plan = $1 ORDER BY id FOR UPDATE";
    let held = transaction.rows(changesets, params![id]).await?;
    removal.check(PlanSize::of(
        held.iter().map(|row| columns::count(row, 0)).collect::<EngineResult<Vec<u64>>>()?,
    ))?;
    let entries = "DELETE FROM entries WHERE changeset IN (SELECT id FROM changesets WHERE plan = $1)";
    let removed = transaction.execute(entries, params![id]).await?;
    for sql in [
        "DELETE FROM changesets WHERE plan = $1",
        "DELETE FROM nodes WHERE plan = $1",
        "DELETE FROM plans WHERE id = $1",
    ] {
        transaction.execute(sql, params![id]).await?;
    }
    let body = json!({"name": plan.name, "state": plan.state, "version": version, "entries": removed});
    let record =
        PendingRecord { plan: id, request: Some(request), kind: "plan.removed", actor: actor.as_str(), body };
    audit::append(transaction, record).await
}
