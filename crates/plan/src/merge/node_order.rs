//! Order of the changesets of nodes: which changeset of a node is accepted, and which changesets it
//! builds on.
//!
//! A node may have been started several times, each time with its own changeset. The executor keeps
//! [`NodeChangesets`] in the node's detail.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use store::{Changeset, ChangesetId, NodeId, PlanId};

use crate::{Error, Plans, Result};

/// Changesets by node of a plan.
#[derive(Debug, Default)]
pub(crate) struct NodeOrder(HashMap<NodeId, NodeChangesets>);

/// Part of a node's detail that says how its changesets are combined. The rest of the detail
/// belongs to the executor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeChangesets {
    /// Changeset of the attempt that succeeded; no other of the node is combined.
    #[serde(default, rename = "counts")]
    pub accepted_changeset: Option<ChangesetId>,
    /// Changesets that the last attempt started from.
    #[serde(default)]
    pub builds_on: Vec<ChangesetId>,
    /// Name of the copy of the roots that the last attempt started from.
    #[serde(default)]
    pub base: Option<String>,
}

impl Plans {
    pub(crate) fn node_order(&self, plan: PlanId) -> Result<NodeOrder> {
        let nodes = self.store().nodes(plan)?.into_iter();
        let read = |node: store::Node| {
            let detail = serde_json::from_value(node.detail);
            Ok((node.id, detail.map_err(|source| Error::Detail { plan, source })?))
        };
        Ok(NodeOrder(nodes.map(read).collect::<Result<_>>()?))
    }
}

impl NodeOrder {
    /// Returns true if a changeset is the accepted one of its node, or has no node.
    pub(crate) fn accepts(&self, changeset: &Changeset) -> bool {
        let accepted = |node| self.0.get(&node).and_then(|node| node.accepted_changeset);
        changeset.node.is_none_or(|node| accepted(node) == Some(changeset.id))
    }

    /// Changesets that a changeset started from.
    pub(crate) fn builds_on(&self, changeset: &Changeset) -> &[ChangesetId] {
        let node = changeset.node.and_then(|node| self.0.get(&node));
        node.map(|node| &*node.builds_on).unwrap_or_default()
    }

    /// Sorts the accepted changesets, given in the order in which they were started, so that the
    /// order does not depend on which node was faster: nodes in the order of the plan, each after
    /// those that it builds on. A changeset without a node, and one that started from another base,
    /// stays behind all that were started before it.
    pub(crate) fn sort(&self, changesets: Vec<Changeset>) -> Vec<Changeset> {
        let mut levels: HashMap<ChangesetId, usize> = HashMap::new();
        let (mut section, mut last, mut placed) = (0, None, Vec::with_capacity(changesets.len()));
        for changeset in changesets.into_iter().filter(|changeset| self.accepts(changeset)) {
            let below = self.builds_on(&changeset).iter().filter_map(|below| levels.get(below)).max();
            let level = below.map_or(0, |below| below + 1);
            levels.insert(changeset.id, level);
            let base = changeset.node.map(|node| self.0.get(&node).and_then(|node| node.base.as_deref()));
            section += usize::from(base.is_none() || last != Some(base));
            last = Some(base);
            placed.push(((section, level, changeset.node), changeset));
        }
        placed.sort_by_key(|(position, _)| *position);
        placed.into_iter().map(|(_, changeset)| changeset).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::{Actor, ChainHash, Status, Time};

    #[test]
    fn order_does_not_depend_on_which_node_was_faster() {
        let nodes: [NodeId; 4] = std::array::from_fn(|_| NodeId::new());
        let ids: [ChangesetId; 6] = std::array::from_fn(|_| ChangesetId::new());
        let changeset = |id: usize, node: Option<usize>| changeset(ids[id], node.map(|node| nodes[node]));
        let node = |accepted: usize, builds_on: &[usize], base: &str| NodeChangesets {
            accepted_changeset: Some(ids[accepted]),
            builds_on: builds_on.iter().map(|id| ids[*id]).collect(),
            base: Some(base.to_owned()),
        };
        // The second node needs the third. A person resolves something before the fourth runs.
        let mut order = NodeOrder(HashMap::from([
            (nodes[0], node(0, &[], "one")),
            (nodes[1], node(1, &[2], "one")),
            (nodes[2], node(2, &[], "one")),
            (nodes[3], node(3, &[0, 1, 2, 4], "one")),
        ]));
        let not_accepted = changeset(5, Some(0));
        for started in [[0, 2, 1], [2, 0, 1], [2, 1, 0]] {
            let mut changesets = vec![not_accepted.clone()];
            changesets.extend(started.map(|id| changeset(id, Some(id))));
            changesets.extend([changeset(4, None), changeset(3, Some(3))]);
            let ordered: Vec<_> = order.sort(changesets).iter().map(|one| one.id).collect();
            assert_eq!(ordered, [0, 2, 1, 4, 3].map(|id| ids[id]), "{started:?}");
        }
        // The base was copied again before the first node ran.
        order.0.insert(nodes[0], node(0, &[], "two"));
        let ordered = order.sort([2, 1, 0].map(|id| changeset(id, Some(id))).to_vec());
        assert_eq!(ordered.iter().map(|one| one.id).collect::<Vec<_>>(), [2, 1, 0].map(|id| ids[id]));
    }

    fn changeset(id: ChangesetId, node: Option<NodeId>) -> Changeset {
        Changeset {
            id,
            plan: PlanId::new(),
            node,
            actor: Actor::parse("coder").unwrap(),
            status: Status::Sealed,
            entries: 0,
            digest: ChainHash::of(b""),
            started_at: Time::now(),
            ended_at: None,
            reason: None,
        }
    }
}
