//! All rows of a plan in SQLite, with the end of its chain.

use rusqlite::Connection;

use super::engine::failure::{Attempt, is_unreadable};
use super::{audit, changesets, nodes, plans};
use crate::audit::snapshot::sort;
use crate::{Inventory, PlanId, Resource};

pub(super) fn read(connection: &Connection, plan: PlanId) -> Attempt<Inventory> {
    let mut inventory = Inventory::new(audit::head_of(connection, plan)?);
    let unreadable = &mut inventory.unreadable;
    let mut plans = Vec::new();
    sort(plans::row(connection, plan)?, is_unreadable, Resource::Plan, &mut plans, unreadable)?;
    inventory.plan = plans.pop();
    sort(nodes::rows_of(connection, plan)?, is_unreadable, Resource::Node, &mut inventory.nodes, unreadable)?;
    sort(
        changesets::rows_of(connection, plan)?,
        is_unreadable,
        Resource::Changeset,
        &mut inventory.changesets,
        unreadable,
    )?;
    Ok(inventory)
}
