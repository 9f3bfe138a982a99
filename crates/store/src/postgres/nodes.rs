//! Nodes in PostgreSQL.

use serde_json::json;
use tokio_postgres::Row;

use super::columns::{self, Json, params};
use super::engine::failure::EngineResult;
use super::engine::transaction::{Transaction, found};
use super::{audit, leases, plans};
use crate::audit::append::{PendingRecord, detail_digest, recorded_version};
use crate::limits::{NODES_MAX, json_text};
use crate::{
    Actor, Error, NewNode, Node, NodeId, NodeStep, NodeStore, PlanId, PostgresStore, Resource, Result,
    Version,
};

impl NodeStore for PostgresStore {
    fn create_nodes(&self, plan: PlanId, nodes: &[NewNode], actor: &Actor) -> Result<()> {
        self.engine.write("create nodes", async |transaction| create(transaction, plan, nodes, actor).await)
    }

    fn node(&self, id: NodeId) -> Result<Node> {
        self.engine.read("read a node", async |transaction| get(transaction, id).await)
    }

    fn nodes(&self, plan: PlanId) -> Result<Vec<Node>> {
        self.engine.read("list nodes", async |transaction| list(transaction, plan).await)
    }

    fn step_node(&self, step: &NodeStep) -> Result<Version> {
        self.engine.write("change a node's state", async |transaction| change_state(transaction, step).await)
    }
}

async fn create(
    transaction: &Transaction<'_>,
    plan: PlanId,
    nodes: &[NewNode],
    actor: &Actor,
) -> EngineResult<()> {
    if nodes.len() > NODES_MAX {
        return Err(Error::Limit { what: "nodes in one call", limit: NODES_MAX as u64 }.into());
    }
    plans::lock_state(transaction, plan).await?;
    let mut made = Vec::new();
    for new in nodes {
        if let Some(node) = find(transaction, new.id).await? {
            if node.plan == plan && node.name == new.name {
                continue;
            }
            return Err(Error::IdReused { what: "node id", id: new.id.to_string() }.into());
        }
        let named = "SELECT FROM nodes WHERE plan = $1 AND name = $2";
        if transaction.row(named, params![plan, new.name]).await?.is_some() {
            return Err(Error::NameTaken { name: new.name.clone() }.into());
        }
        transaction
            .execute_one(
                "INSERT INTO nodes (id, plan, name, state, version, detail, changed_by, changed_at)
                 VALUES ($1, $2, $3, $4, 1, $5, $6, $7)",
                params![new.id, plan, new.name, new.state, json_text(&new.detail)?, *actor, transaction.now],
            )
            .await?;
        let digest = detail_digest(&new.detail);
        made.push(json!({"node": new.id, "name": new.name, "state": new.state, "detail_digest": digest}));
    }
    if made.is_empty() {
        return Ok(());
    }
    let body = json!({"nodes": made});
    let record = PendingRecord { plan, request: None, kind: "nodes.created", actor: actor.as_str(), body };
    audit::append(transaction, record).await
}

const SELECT: &str = "SELECT id, plan, name, state, version, detail, changed_by, changed_at FROM nodes";

fn node(row: &Row) -> EngineResult<Node> {
    Ok(Node {
        id: columns::get(row, 0)?,
        plan: columns::get(row, 1)?,
        name: columns::get(row, 2)?,
        state: columns::get(row, 3)?,
        version: columns::get(row, 4)?,
        detail: columns::get::<Json<_>>(row, 5)?.0,
        changed_by: columns::get(row, 6)?,
        changed_at: columns::get(row, 7)?,
    })
}

async fn find(transaction: &Transaction<'_>, id: NodeId) -> EngineResult<Option<Node>> {
    let row = transaction.row(&format!("{SELECT} WHERE id = $1"), params![id]).await?;
    row.as_ref().map(node).transpose()
}

pub(super) async fn get(transaction: &Transaction<'_>, id: NodeId) -> EngineResult<Node> {
    found(find(transaction, id).await?, || Error::not_found("node", id))
}

async fn list(transaction: &Transaction<'_>, plan: PlanId) -> EngineResult<Vec<Node>> {
    plans::get(transaction, plan).await?;
    let sql = format!("{SELECT} WHERE plan = $1 ORDER BY id");
    transaction.rows(&sql, params![plan]).await?.iter().map(node).collect()
}

/// Returns the rows of a plan's nodes, readable or not, even if the plan is gone.
pub(super) async fn rows_of(
    transaction: &Transaction<'_>,
    plan: PlanId,
) -> EngineResult<Vec<(NodeId, EngineResult<Node>)>> {
    let rows = transaction.rows(&format!("{SELECT} WHERE plan = $1 ORDER BY id"), params![plan]).await?;
    rows.iter().map(|row| Ok((columns::get(row, 0)?, node(row)))).collect()
}

async fn change_state(transaction: &Transaction<'_>, step: &NodeStep) -> EngineResult<Version> {
    if step.epoch.is_some() {
        // The plan's lease cannot change hands until the transaction ends.
        plans::lock_state(transaction, get(transaction, step.node).await?.plan).await?;
    }
    let changed = transaction
        .execute(
            "UPDATE nodes SET state = $1, version = version + 1, detail = coalesce($2, detail), changed_by = $3, changed_at = $4
             WHERE id = $5 AND state = $6 AND version = $7 AND ($8::bigint IS NULL OR (SELECT epoch FROM plans WHERE id = nodes.plan) = $8)
               AND NOT EXISTS (SELECT FROM audit WHERE request = $9)",
            params![
                step.to,
                step.detail.as_ref().map(json_text).transpose()?,
                step.actor,
                transaction.now,
                step.node,
                step.from,
                step.version,
                step.epoch,
                step.request
            ],
        )
        .await?;
    let node = get(transaction, step.node).await?;
    if changed == 0 {
        return repeat_or_refuse(transaction, step, node).await;
    }
    let version = Version(step.version.0 + 1);
    let body = json!({
        "node": step.node, "name": node.name, "from": step.from, "to": step.to, "version": version, "note": step.note,
        "detail_digest": step.detail.as_ref().map(detail_digest)
    });
    let (request, actor) = (Some(step.request), step.actor.as_str());
    let record = PendingRecord { plan: node.plan, request, kind: "node.step", actor, body };
    audit::append(transaction, record).await?;
    Ok(version)
}

/// Returns the version that an earlier call of the step led to, or the reason for which it changed
/// nothing.
async fn repeat_or_refuse(
    transaction: &Transaction<'_>,
    step: &NodeStep,
    node: Node,
) -> EngineResult<Version> {
    let resource = Resource::Node(step.node);
    if let Some(answer) = audit::find_by_request(transaction, step.request).await? {
        let version = recorded_version(&answer, node.plan, ("node.step", resource, step.to.as_str()));
        return Ok(version.ok_or_else(|| Error::request_reused(step.request))?);
    }
    if let Some(given) = step.epoch
        && let Some(stale) = leases::stale(transaction, Resource::Plan(node.plan), given).await?
    {
        return Err(stale.into());
    }
    let by = node.changed_by.to_string();
    Err(Error::Conflict { resource, state: node.state, version: node.version, by }.into())
}
