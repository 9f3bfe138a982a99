//! Plans in SQLite.

use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};
use serde_json::{Value, json};

use super::audit;
use super::columns::{Json, page, rows};
use super::engine::failure::EngineResult;
use super::{changesets, entries};
use crate::audit::append::{PendingRecord, detail_digest, recorded_version};
use crate::limits::{CANDIDATES_MAX, json_text};
use crate::model::id::{only, range_of_prefix};
use crate::{
    Error, NewPlan, OpenChangesets, Plan, PlanId, PlanQuery, PlanRemoval, PlanSelector, PlanSize, PlanStep,
    PlanStore, Resource, Result, SqliteStore, Time, Version,
};

impl PlanStore for SqliteStore {
    fn create_plan(&self, plan: &NewPlan) -> Result<Plan> {
        let plan = plan.clone();
        self.engine.write("create a plan", 0, move |connection, now| create(connection, now, &plan))
    }

    fn plan(&self, id: PlanId) -> Result<Plan> {
        self.engine.read("read a plan", |connection, _| get(connection, id))
    }

    fn find_plan(&self, selector: &PlanSelector) -> Result<Plan> {
        self.engine.read("find a plan", |connection, _| select(connection, selector))
    }

    fn plans(&self, query: &PlanQuery) -> Result<Vec<Plan>> {
        self.engine.read("list plans", |connection, _| list(connection, query))
    }

    fn step_plan(&self, step: &PlanStep) -> Result<Version> {
        let step = step.clone();
        self.engine
            .write("change a plan's state", 0, move |connection, now| change_state(connection, now, &step))
    }

    fn remove_plan(&self, removal: &PlanRemoval) -> Result<()> {
        let removal = removal.clone();
        self.engine.write("remove a plan", 0, move |connection, now| remove(connection, now, &removal))
    }
}

fn create(connection: &Connection, now: Time, new: &NewPlan) -> EngineResult<Plan> {
    if let Some(plan) = find(connection, new.id)? {
        return Ok(new.match_existing(plan)?);
    }
    new.check()?;
    if let Some(name) = &new.name
        && by_name(connection, name.as_str())?.is_some()
    {
        return Err(Error::NameTaken { name: name.clone() }.into());
    }
    let roots = serde_json::to_value(&new.roots).expect("paths serialize as JSON");
    let last =
        connection.prepare_cached("SELECT max(created_at) FROM plans")?.query_row([], |row| row.get(0))?;
    let now = now.after(last);
    connection
        .prepare_cached(
            "INSERT INTO plans (id, name, state, version, undo_of, roots, detail, created_by, created_at, changed_by, changed_at)
             VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6, ?7, ?8, ?7, ?8)",
        )?
        .execute(params![
            new.id,
            new.name,
            new.state,
            new.undo_of,
            json_text(&roots)?,
            json_text(&new.detail)?,
            new.actor,
            now
        ])?;
    let body = json!({
        "name": new.name, "state": new.state, "undo_of": new.undo_of, "roots": roots,
        "detail_digest": detail_digest(&new.detail)
    });
    let record =
        PendingRecord { plan: new.id, request: None, kind: "plan.created", actor: new.actor.as_str(), body };
    audit::append(connection, now, record)?;
    get(connection, new.id)
}

const SELECT: &str =
    "SELECT id, name, state, version, undo_of, roots, detail, created_by, created_at, changed_by, changed_at
    FROM plans";

fn plan(row: &Row<'_>) -> rusqlite::Result<Plan> {
    Ok(Plan {
        id: row.get(0)?,
        name: row.get(1)?,
        state: row.get(2)?,
        version: row.get(3)?,
        undo_of: row.get(4)?,
        roots: row.get::<_, Json<_>>(5)?.0,
        detail: row.get::<_, Json<Value>>(6)?.0,
        created_by: row.get(7)?,
        created_at: row.get(8)?,
        changed_by: row.get(9)?,
        changed_at: row.get(10)?,
    })
}

/// Returns the row of a plan, if there is one, readable or not.
pub(super) fn row(
    connection: &Connection,
    id: PlanId,
) -> EngineResult<Vec<(PlanId, rusqlite::Result<Plan>)>> {
    rows(connection, &format!("{SELECT} WHERE id = ?1"), [id], |row| Ok((id, plan(row))))
}

fn find(connection: &Connection, id: PlanId) -> EngineResult<Option<Plan>> {
    Ok(connection.prepare_cached(&format!("{SELECT} WHERE id = ?1"))?.query_row([id], plan).optional()?)
}

fn by_name(connection: &Connection, name: &str) -> EngineResult<Option<Plan>> {
    Ok(connection.prepare_cached(&format!("{SELECT} WHERE name = ?1"))?.query_row([name], plan).optional()?)
}

pub(super) fn get(connection: &Connection, id: PlanId) -> EngineResult<Plan> {
    find(connection, id)?.ok_or_else(|| Error::not_found("plan", id).into())
}

fn select(connection: &Connection, selector: &PlanSelector) -> EngineResult<Plan> {
    let text = match selector {
        PlanSelector::Latest => {
            let sql = format!("{SELECT} WHERE undo_of IS NULL ORDER BY created_at DESC, id DESC LIMIT 1");
            let latest = connection.prepare_cached(&sql)?.query_row([], plan).optional()?;
            return latest.ok_or_else(|| Error::not_found("plan", "@latest").into());
        }
        PlanSelector::Text(text) => text,
    };
    if let Ok(id) = text.parse() {
        return get(connection, id);
    }
    if let Some(plan) = by_name(connection, text)? {
        return Ok(plan);
    }
    let Some((first, last)) = range_of_prefix(text) else {
        return Err(Error::not_found("plan", text).into());
    };
    let sql = format!("{SELECT} WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3");
    let found = rows(connection, &sql, params![first, last, CANDIDATES_MAX as i64], plan)?;
    Ok(only("plan", text, found, |plan| plan.id)?)
}

fn list(connection: &Connection, query: &PlanQuery) -> EngineResult<Vec<Plan>> {
    let after = match query.after {
        Some(id) => get(connection, id)?.created_at,
        None => Time::from_micros(i64::MAX),
    };
    let marks = vec!["?"; query.states.len()].join(", ");
    let states = if query.states.is_empty() { String::new() } else { format!("AND state IN ({marks})") };
    let sql = format!(
        "{SELECT} WHERE (created_at, id) < (?, ?) AND changed_at >= ? {states} ORDER BY created_at DESC, id DESC LIMIT ?"
    );
    let id = query.after.map_or([0xff; 16], PlanId::to_bytes);
    let since = query.changed_since.map_or(i64::MIN, Time::as_micros);
    let mut parameters =
        vec![SqlValue::from(after.as_micros()), SqlValue::from(id.to_vec()), SqlValue::from(since)];
    parameters.extend(query.states.iter().map(|state| SqlValue::from(state.as_str().to_owned())));
    parameters.push(SqlValue::from(page(query.limit)));
    rows(connection, &sql, params_from_iter(parameters), plan)
}

fn change_state(connection: &Connection, now: Time, step: &PlanStep) -> EngineResult<Version> {
    if let Some(answer) = audit::find_by_request(connection, step.request)? {
        let expected = (step.kind.as_str(), Resource::Plan(step.plan), step.to.as_str());
        return Ok(recorded_version(&answer, step.plan, expected)
            .ok_or_else(|| Error::request_reused(step.request))?);
    }
    let changed = connection
        .prepare_cached(
            "UPDATE plans SET state = ?1, version = version + 1, detail = coalesce(?2, detail), changed_by = ?3, changed_at = ?4
             WHERE id = ?5 AND state = ?6 AND version = ?7 AND (?8 IS NULL OR epoch = ?8)",
        )?
        .execute(params![
            step.to,
            step.detail.as_ref().map(json_text).transpose()?,
            step.actor,
            now,
            step.plan,
            step.from,
            step.version,
            step.epoch
        ])?;
    if changed == 0 {
        return Err(refusal(connection, step)?.into());
    }
    match step.open {
        OpenChangesets::Leave => {}
        OpenChangesets::Refuse => changesets::require_closed(connection, step.plan)?,
        OpenChangesets::Abandon => {
            changesets::abandon_all(connection, now, step.plan, &step.actor, step.to.as_str())?;
        }
    }
    let version = Version(step.version.0 + 1);
    let body = json!({
        "plan": step.plan, "from": step.from, "to": step.to, "version": version, "note": step.note,
        "detail_digest": step.detail.as_ref().map(detail_digest)
    });
    let record = PendingRecord {
        plan: step.plan,
        request: Some(step.request),
        kind: step.kind.as_str(),
        actor: step.actor.as_str(),
        body,
    };
    audit::append(connection, now, record)?;
    Ok(version)
}

/// Returns the reason for which a step changed nothing.
fn refusal(connection: &Connection, step: &PlanStep) -> EngineResult<Error> {
    let plan = get(connection, step.plan)?;
    let resource = Resource::Plan(step.plan);
    if let Some(given) = step.epoch
        && let Some(stale) = super::leases::stale(connection, resource, given)?
    {
        return Ok(stale);
    }
    Ok(Error::Conflict {
        resource,
        state: plan.state,
        version: plan.version,
        by: plan.changed_by.to_string(),
    })
}

fn remove(connection: &Connection, now: Time, removal: &PlanRemoval) -> EngineResult<()> {
    let PlanRemoval { plan: id, request, version, ref actor, .. } = *removal;
    if let Some(answer) = audit::find_by_request(connection, request)? {
        let same = answer.plan == id && answer.kind == "plan.removed";
        return if same { Ok(()) } else { Err(Error::request_reused(request).into()) };
    }
    let plan = get(connection, id)?;
    if plan.version != version {
        let by = plan.changed_by.to_string();
        let resource = Resource::Plan(id);
        return Err(Error::Conflict { resource, state: plan.state, version: plan.version, by }.into());
    }
    let changesets = changesets::list(connection, id)?;
    removal.check(PlanSize::of(changesets.iter().map(|changeset| changeset.entries)))?;
    let mut removed = 0;
    for changeset in changesets {
        removed += entries::remove(connection, changeset.id)?;
    }
    for sql in [
        "DELETE FROM changesets WHERE plan = ?1",
        "DELETE FROM nodes WHERE plan = ?1",
        "DELETE FROM plans WHERE id = ?1",
    ] {
        connection.prepare_cached(sql)?.execute([id])?;
    }
    let body = json!({"name": plan.name, "state": plan.state, "version": version, "entries": removed});
    let record =
        PendingRecord { plan: id, request: Some(request), kind: "plan.removed", actor: actor.as_str(), body };
    audit::append(connection, now, record)
}
