//! What there is of a plan: its rows, as its audit chain has to tell of them.

use crate::{Changeset, Head, Node, Plan, Resource};

/// All rows of a plan and the end of its chain, from one state of the store.
#[derive(Clone, Debug, PartialEq)]
pub struct Inventory {
    /// The end of its chain; sequence 0 when there is none.
    pub head: Head,
    /// The plan, while it is there.
    pub plan: Option<Plan>,
    /// Its nodes, in the order of their ids.
    pub nodes: Vec<Node>,
    /// Its changesets, in the order in which they were started.
    pub changesets: Vec<Changeset>,
    /// What has a row that is none this program writes.
    pub unreadable: Vec<Resource>,
}

impl Inventory {
    pub(crate) fn new(head: Head) -> Self {
        Self { head, plan: None, nodes: Vec::new(), changesets: Vec::new(), unreadable: Vec::new() }
    }
}

/// Keeps the rows that can be read, and names the rest. Any other failure ends it.
pub(crate) fn sort<I, T, E>(
    rows: Vec<(I, Result<T, E>)>,
    is_unreadable: impl Fn(&E) -> bool,
    resource: impl Fn(I) -> Resource,
    kept: &mut Vec<T>,
    unreadable: &mut Vec<Resource>,
) -> Result<(), E> {
    for (id, row) in rows {
        match row {
            Err(error) if is_unreadable(&error) => unreadable.push(resource(id)),
            row => kept.push(row?),
        }
    }
    Ok(())
}
