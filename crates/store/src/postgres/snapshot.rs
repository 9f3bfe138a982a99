//! Reads all rows of a plan from PostgreSQL, with the head of its chain.

use super::engine::failure::{EngineResult, Failure};
use super::engine::transaction::Transaction;
use super::{audit, changesets, nodes, plans};
use crate::audit::snapshot::partition;
use crate::{PlanId, PlanSnapshot, Resource};

pub(super) async fn read(transaction: &Transaction<'_>, plan: PlanId) -> EngineResult<PlanSnapshot> {
    let mut snapshot = PlanSnapshot::new(audit::head_of(transaction, plan).await?);
    let unreadable = &mut snapshot.unreadable;
    let mut plans = Vec::new();
    partition(plans::row(transaction, plan).await?, is_unreadable, Resource::Plan, &mut plans, unreadable)?;
    snapshot.plan = plans.pop();
    partition(
        nodes::rows_of(transaction, plan).await?,
        is_unreadable,
        Resource::Node,
        &mut snapshot.nodes,
        unreadable,
    )?;
    let changesets = changesets::rows_of(transaction, plan).await?;
    partition(changesets, is_unreadable, Resource::Changeset, &mut snapshot.changesets, unreadable)?;
    Ok(snapshot)
}

fn is_unreadable(failure: &Failure) -> bool {
    matches!(failure, Failure::Unreadable(_))
}
