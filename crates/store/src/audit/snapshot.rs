//! The rows of a plan, to compare with what its audit chain records.

use crate::{Changeset, Head, Node, Plan, Resource};

/// All rows of a plan and the head of its chain, read in one transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanSnapshot {
    /// The head of its chain; sequence 0 when the chain is empty.
    pub head: Head,
    /// The plan, unless it was removed.
    pub plan: Option<Plan>,
    /// Its nodes, by id.
    pub nodes: Vec<Node>,
    /// Its changesets, in the order in which they were started.
    pub changesets: Vec<Changeset>,
    /// Rows with values that this program does not write.
    pub unreadable: Vec<Resource>,
}

impl PlanSnapshot {
    pub(crate) fn new(head: Head) -> Self {
        Self { head, plan: None, nodes: Vec::new(), changesets: Vec::new(), unreadable: Vec::new() }
    }
}

/// Adds the readable rows to `readable` and the ids of the others to `unreadable`. Any other failure
/// is returned.
pub(crate) fn partition<I, T, E>(
    rows: Vec<(I, Result<T, E>)>,
    is_unreadable: impl Fn(&E) -> bool,
    resource: impl Fn(I) -> Resource,
    readable: &mut Vec<T>,
    unreadable: &mut Vec<Resource>,
) -> Result<(), E> {
    for (id, row) in rows {
        match row {
            Err(error) if is_unreadable(&error) => unreadable.push(resource(id)),
            row => readable.push(row?),
        }
    }
    Ok(())
}
