//! All rows of a plan in PostgreSQL, with the end of its chain.

use super::engine::failure::{Attempt, Failure};
use super::engine::transaction::Transaction;
use super::{audit, changesets, nodes, plans};
use crate::audit::snapshot::sort;
use crate::{Inventory, PlanId, Resource};

pub(super) async fn read(transaction: &Transaction<'_>, plan: PlanId) -> Attempt<Inventory> {
    let mut inventory = Inventory::new(audit::head_of(transaction, plan).await?);
    let unreadable = &mut inventory.unreadable;
    let mut plans = Vec::new();
    sort(plans::row(transaction, plan).await?, is_unreadable, Resource::Plan, &mut plans, unreadable)?;
    inventory.plan = plans.pop();
    sort(
        nodes::rows_of(transaction, plan).await?,
        is_unreadable,
        Resource::Node,
        &mut inventory.nodes,
        unreadable,
    )?;
    let changesets = changesets::rows_of(transaction, plan).await?;
    sort(changesets, is_unreadable, Resource::Changeset, &mut inventory.changesets, unreadable)?;
    Ok(inventory)
}

fn is_unreadable(failure: &Failure) -> bool {
    matches!(failure, Failure::Unreadable(_))
}
