//! Nodes in SQLite.

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::json;

use super::audit;
use super::columns::{Json, rows};
use super::engine::failure::EngineResult;
use super::{leases, plans};
use crate::audit::append::{PendingRecord, detail_digest, recorded_version};
use crate::limits::{NODES_MAX, json_text};
use crate::{
    Actor, Error, NewNode, Node, NodeId, NodeStep, NodeStore, PlanId, Resource, Result, SqliteStore, Time,
    Version,
};

impl NodeStore for SqliteStore {
    fn create_nodes(&self, plan: PlanId, nodes: &[NewNode], actor: &Actor) -> Result<()> {
        let (nodes, actor) = (nodes.to_vec(), actor.clone());
        self.engine
            .write("create nodes", 0, move |connection, now| create(connection, now, plan, &nodes, &actor))
    }

    fn node(&self, id: NodeId) -> Result<Node> {
        self.engine.read("read a node", |connection, _| get(connection, id))
    }

    fn nodes(&self, plan: PlanId) -> Result<Vec<Node>> {
        self.engine.read("list nodes", |connection, _| list(connection, plan))
    }

    fn step_node(&self, step: &NodeStep) -> Result<Version> {
        let step = step.clone();
        self.engine
            .write("change a node's state", 0, move |connection, now| change_state(connection, now, &step))
    }
}

fn create(
    connection: &Connection,
    now: Time,
    plan: PlanId,
    nodes: &[NewNode],
    actor: &Actor,
) -> EngineResult<()> {
    if nodes.len() > NODES_MAX {
        return Err(Error::Limit { what: "nodes in one call", limit: NODES_MAX as u64 }.into());
    }
    plans::get(connection, plan)?;
    let mut made = Vec::new();
    for new in nodes {
        if let Some(node) = find(connection, new.id)? {
            if node.plan == plan && node.name == new.name {
                continue;
            }
            return Err(Error::IdReused { what: "node id", id: new.id.to_string() }.into());
        }
        let taken = connection
            .prepare_cached("SELECT 1 FROM nodes WHERE plan = ?1 AND name = ?2")?
            .exists(params![plan, new.name])?;
        if taken {
            return Err(Error::NameTaken { name: new.name.clone() }.into());
        }
        connection
            .prepare_cached(
                "INSERT INTO nodes (id, plan, name, state, version, detail, changed_by, changed_at)
                 VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6, ?7)",
            )?
            .execute(params![new.id, plan, new.name, new.state, json_text(&new.detail)?, actor, now])?;
        let digest = detail_digest(&new.detail);
        made.push(json!({"node": new.id, "name": new.name, "state": new.state, "detail_digest": digest}));
    }
    if made.is_empty() {
        return Ok(());
    }
    let body = json!({"nodes": made});
    let record = PendingRecord { plan, request: None, kind: "nodes.created", actor: actor.as_str(), body };
    audit::append(connection, now, record)
}

const SELECT: &str = "SELECT id, plan, name, state, version, detail, changed_by, changed_at FROM nodes";

fn node(row: &Row<'_>) -> rusqlite::Result<Node> {
    Ok(Node {
        id: row.get(0)?,
        plan: row.get(1)?,
        name: row.get(2)?,
        state: row.get(3)?,
        version: row.get(4)?,
        detail: row.get::<_, Json<_>>(5)?.0,
        changed_by: row.get(6)?,
        changed_at: row.get(7)?,
    })
}

fn find(connection: &Connection, id: NodeId) -> EngineResult<Option<Node>> {
    Ok(connection.prepare_cached(&format!("{SELECT} WHERE id = ?1"))?.query_row([id], node).optional()?)
}

pub(super) fn get(connection: &Connection, id: NodeId) -> EngineResult<Node> {
    find(connection, id)?.ok_or_else(|| Error::not_found("node", id).into())
}

fn list(connection: &Connection, plan: PlanId) -> EngineResult<Vec<Node>> {
    plans::get(connection, plan)?;
    rows(connection, &format!("{SELECT} WHERE plan = ?1 ORDER BY id"), [plan], node)
}

/// Returns the rows of a plan's nodes, readable or not, even if the plan is gone.
pub(super) fn rows_of(
    connection: &Connection,
    plan: PlanId,
) -> EngineResult<Vec<(NodeId, rusqlite::Result<Node>)>> {
    let sql = format!("{SELECT} WHERE plan = ?1 ORDER BY id");
    rows(connection, &sql, [plan], |row| Ok((row.get(0)?, node(row))))
}

fn change_state(connection: &Connection, now: Time, step: &NodeStep) -> EngineResult<Version> {
    let node = get(connection, step.node)?;
    let resource = Resource::Node(step.node);
    if let Some(answer) = audit::find_by_request(connection, step.request)? {
        let expected = ("node.step", resource, step.to.as_str());
        return Ok(recorded_version(&answer, node.plan, expected)
            .ok_or_else(|| Error::request_reused(step.request))?);
    }
    let changed = connection
        .prepare_cached(
            "UPDATE nodes SET state = ?1, version = version + 1, detail = coalesce(?2, detail), changed_by = ?3, changed_at = ?4
             WHERE id = ?5 AND state = ?6 AND version = ?7 AND (?8 IS NULL OR (SELECT epoch FROM plans WHERE id = nodes.plan) = ?8)",
        )?
        .execute(params![
            step.to,
            step.detail.as_ref().map(json_text).transpose()?,
            step.actor,
            now,
            step.node,
            step.from,
            step.version,
            step.epoch
        ])?;
    if changed == 0 {
        if let Some(given) = step.epoch
            && let Some(stale) = leases::stale(connection, Resource::Plan(node.plan), given)?
        {
            return Err(stale.into());
        }
        let by = node.changed_by.to_string();
        return Err(Error::Conflict { resource, state: node.state, version: node.version, by }.into());
    }
    let version = Version(step.version.0 + 1);
    let body = json!({
        "node": step.node, "name": node.name, "from": step.from, "to": step.to, "version": version, "note": step.note,
        "detail_digest": step.detail.as_ref().map(detail_digest)
    });
    let (request, actor) = (Some(step.request), step.actor.as_str());
    audit::append(
        connection,
        now,
        PendingRecord { plan: node.plan, request, kind: "node.step", actor, body },
    )?;
    Ok(version)
}
