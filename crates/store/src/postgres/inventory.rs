//! All rows of a plan in PostgreSQL, with the end of its chain.

use super::failure::{Attempt, Failure};
use super::transaction::Transaction;
use super::{audit, changesets, nodes, plans};
use crate::{Inventory, PlanId, Resource};

pub(super) async fn read(transaction: &Transaction<'_>, plan: PlanId) -> Attempt<Inventory> {
    let mut inventory = Inventory::new(audit::head_of(transaction, plan).await?);
    let unreadable = &mut inventory.unreadable;
    let mut plans = Vec::new();
    sort(plans::row(transaction, plan).await?, Resource::Plan, &mut plans, unreadable)?;
    inventory.plan = plans.pop();
    sort(nodes::rows_of(transaction, plan).await?, Resource::Node, &mut inventory.nodes, unreadable)?;
    let changesets = changesets::rows_of(transaction, plan).await?;
    sort(changesets, Resource::Changeset, &mut inventory.changesets, unreadable)?;
    Ok(inventory)
}

/// Keeps what can be read, and names the rest.
fn sort<I, T>(
    rows: Vec<(I, Attempt<T>)>,
    resource: impl Fn(I) -> Resource,
    kept: &mut Vec<T>,
    unreadable: &mut Vec<Resource>,
) -> Attempt<()> {
    for (id, row) in rows {
        match row {
            Err(Failure::Unreadable(_)) => unreadable.push(resource(id)),
            row => kept.push(row?),
        }
    }
    Ok(())
}
