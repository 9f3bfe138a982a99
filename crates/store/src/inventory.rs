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
