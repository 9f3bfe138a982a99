//! Nodes in SQLite.

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::json;

use super::audit;
use super::columns::{Json, rows};
use super::engine::failure::Attempt;
use super::{leases, plans};
use crate::audit::append::{Note, version_of};
use crate::limits::{NODES_MAX, json_text};
use crate::{
    Actor, Error, NewNode, Node, NodeId, NodeStep, NodeStore, PlanId, Resource, Result, SqliteStore, Time,
    Version,
};

impl NodeStore for SqliteStore {
    fn create_nodes(&self, plan: PlanId, nodes: &[NewNode], who: &Actor) -> Result<()> {
        let (nodes, who) = (nodes.to_vec(), who.clone());
        self.engine.write("make nodes", 0, move |connection, now| create(connection, now, plan, &nodes, &who))
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
            .write("change a node's state", 0, move |connection, now| take_step(connection, now, &step))
    }
}

fn create(connection: &Connection, now: Time, plan: PlanId, nodes: &[NewNode], who: &Actor) -> Attempt<()> {
    if nodes.len() > NODES_MAX {
        return Err(Error::Limit { what: "the nodes of one call", limit: NODES_MAX as u64 }.into());
    }
    plans::get(connection, plan)?;
    let mut made = Vec::new();
    for new in nodes {
        if let Some(node) = find(connection, new.id)? {
            if node.plan == plan && node.name == new.name {
                continue;
            }
            return Err(Error::Reused { what: "node id", id: new.id.to_string() }.into());
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
            .execute(params![new.id, plan, new.name, new.state, json_text(&new.detail)?, who, now])?;
        made.push(json!({"node": new.id, "name": new.name, "state": new.state}));
    }
    if made.is_empty() {
        return Ok(());
    }
    let body = json!({"nodes": made});
    let note = Note { plan, request: None, kind: "nodes.created", who: who.as_str(), body };
    audit::append(connection, now, note)
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

fn find(connection: &Connection, id: NodeId) -> Attempt<Option<Node>> {
    Ok(connection.prepare_cached(&format!("{SELECT} WHERE id = ?1"))?.query_row([id], node).optional()?)
}

pub(super) fn get(connection: &Connection, id: NodeId) -> Attempt<Node> {
    find(connection, id)?.ok_or_else(|| Error::not_found("node", id).into())
}

fn list(connection: &Connection, plan: PlanId) -> Attempt<Vec<Node>> {
    plans::get(connection, plan)?;
    rows(connection, &format!("{SELECT} WHERE plan = ?1 ORDER BY id"), [plan], node)
}

/// The same, readable or not, also when the plan is gone.
pub(super) fn rows_of(
    connection: &Connection,
    plan: PlanId,
) -> Attempt<Vec<(NodeId, rusqlite::Result<Node>)>> {
    let sql = format!("{SELECT} WHERE plan = ?1 ORDER BY id");
    rows(connection, &sql, [plan], |row| Ok((row.get(0)?, node(row))))
}

fn take_step(connection: &Connection, now: Time, step: &NodeStep) -> Attempt<Version> {
    let node = get(connection, step.node)?;
    let resource = Resource::Node(step.node);
    if let Some(answer) = audit::answer(connection, step.request)? {
        let expected = ("node.step", resource, step.to.as_str());
        return Ok(
            version_of(&answer, node.plan, expected).ok_or_else(|| Error::request_reused(step.request))?
        );
    }
    let changed = connection
        .prepare_cached(
            "UPDATE nodes SET state = ?1, version = version + 1, detail = coalesce(?2, detail), changed_by = ?3, changed_at = ?4
             WHERE id = ?5 AND state = ?6 AND version = ?7 AND (?8 IS NULL OR (SELECT epoch FROM plans WHERE id = nodes.plan) = ?8)",
        )?
        .execute(params![
            step.to,
            step.detail.as_ref().map(json_text).transpose()?,
            step.who,
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
        "node": step.node, "name": node.name, "from": step.from, "to": step.to, "version": version, "note": step.note
    });
    let (request, who) = (Some(step.request), step.who.as_str());
    audit::append(connection, now, Note { plan: node.plan, request, kind: "node.step", who, body })?;
    Ok(version)
}
