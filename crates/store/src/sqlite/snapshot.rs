//! Reads all rows of a plan from SQLite, with the head of its chain.

use rusqlite::Connection;

use super::engine::failure::{EngineResult, is_unreadable};
use super::{audit, changesets, nodes, plans};
use crate::audit::snapshot::partition;
use crate::{PlanId, PlanSnapshot, Resource};

pub(super) fn read(connection: &Connection, plan: PlanId) -> EngineResult<PlanSnapshot> {
    let mut snapshot = PlanSnapshot::new(audit::head_of(connection, plan)?);
    let unreadable = &mut snapshot.unreadable;
    let mut plans = Vec::new();
    partition(plans::row(connection, plan)?, is_unreadable, Resource::Plan, &mut plans, unreadable)?;
    snapshot.plan = plans.pop();
    partition(
        nodes::rows_of(connection, plan)?,
        is_unreadable,
        Resource::Node,
        &mut snapshot.nodes,
        unreadable,
    )?;
    partition(
        changesets::rows_of(connection, plan)?,
        is_unreadable,
        Resource::Changeset,
        &mut snapshot.changesets,
        unreadable,
    )?;
    Ok(snapshot)
}
