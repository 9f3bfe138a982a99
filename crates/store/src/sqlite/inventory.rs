//! All rows of a plan in SQLite, with the end of its chain.

use rusqlite::Connection;

use super::failure::{Attempt, is_unreadable};
use super::{audit, changesets, nodes, plans};
use crate::{Inventory, PlanId, Resource};

pub(super) fn read(connection: &Connection, plan: PlanId) -> Attempt<Inventory> {
    let mut inventory = Inventory::new(audit::head_of(connection, plan)?);
    let unreadable = &mut inventory.unreadable;
    let mut plans = Vec::new();
    sort(plans::row(connection, plan)?, Resource::Plan, &mut plans, unreadable)?;
    inventory.plan = plans.pop();
    sort(nodes::rows_of(connection, plan)?, Resource::Node, &mut inventory.nodes, unreadable)?;
    sort(changesets::rows_of(connection, plan)?, Resource::Changeset, &mut inventory.changesets, unreadable)?;
    Ok(inventory)
}

/// Keeps what can be read, and names the rest.
fn sort<I, T>(
    rows: Vec<(I, rusqlite::Result<T>)>,
    resource: impl Fn(I) -> Resource,
    kept: &mut Vec<T>,
    unreadable: &mut Vec<Resource>,
) -> Attempt<()> {
    for (id, row) in rows {
        match row {
            Err(error) if is_unreadable(&error) => unreadable.push(resource(id)),
            row => kept.push(row?),
        }
    }
    Ok(())
}
