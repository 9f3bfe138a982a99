//! What nodes say about changesets: which one of a node's counts, and from whose changes it started.
//!
//! A node may have been started several times, with a changeset each time. Whoever runs it keeps [`NodeLinks`] in the node's detail.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use store::{Changeset, ChangesetId, NodeId, PlanId};

use crate::{Error, Plans, Result};

/// The links of a plan's nodes.
#[derive(Debug, Default)]
pub(crate) struct Links(HashMap<NodeId, NodeLinks>);

/// The part of a node's detail that says how its changesets are combined. Everything else in a detail is for whoever runs the node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeLinks {
    /// The changeset whose changes count: that of the attempt that succeeded.
    #[serde(default)]
    pub counts: Option<ChangesetId>,
    /// The changesets whose changes the last attempt started from.
    #[serde(default)]
    pub builds_on: Vec<ChangesetId>,
    /// The copy of the roots that the last attempt started from, by name.
    #[serde(default)]
    pub base: Option<String>,
}

impl Plans {
    pub(crate) fn links(&self, plan: PlanId) -> Result<Links> {
        let nodes = self.store().nodes(plan)?.into_iter();
        let link = |node: store::Node| {
            let link =
                serde_json::from_value(node.detail).map_err(|source| Error::Detail { plan, source })?;
            Ok((node.id, link))
        };
        Ok(Links(nodes.map(link).collect::<Result<_>>()?))
    }
}

impl Links {
    /// Whether a changeset is the one of its node that counts; one without a node always does.
    pub(crate) fn counts(&self, changeset: &Changeset) -> bool {
        changeset
            .node
            .is_none_or(|node| self.0.get(&node).is_some_and(|link| link.counts == Some(changeset.id)))
    }

    /// From whose changes it started.
    pub(crate) fn builds_on(&self, changeset: &Changeset) -> &[ChangesetId] {
        let link = changeset.node.and_then(|node| self.0.get(&node));
        link.map(|link| &*link.builds_on).unwrap_or_default()
    }

    /// Those that count, which come in the order in which they were started, in one that does not depend on who was faster: nodes as the plan has them, each
    /// behind those that it builds on. What one made with all before it in view stays behind it: one without a node, and those that started from another
    /// base than the ones before.
    pub(crate) fn in_order(&self, changesets: Vec<Changeset>) -> Vec<Changeset> {
        let mut levels: HashMap<ChangesetId, usize> = HashMap::new();
        let (mut part, mut last, mut placed) = (0, None, Vec::with_capacity(changesets.len()));
        for changeset in changesets.into_iter().filter(|changeset| self.counts(changeset)) {
            let below = self.builds_on(&changeset).iter().filter_map(|below| levels.get(below)).max();
            let level = below.map_or(0, |below| below + 1);
            levels.insert(changeset.id, level);
            let host = changeset.node.map(|node| self.0.get(&node).and_then(|link| link.base.as_deref()));
            part += usize::from(host.is_none() || last != Some(host));
            last = Some(host);
            placed.push(((part, level, changeset.node), changeset));
        }
        placed.sort_by_key(|(place, _)| *place);
        placed.into_iter().map(|(_, changeset)| changeset).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::{Actor, ChainHash, Status, Time};

    #[test]
    fn who_was_faster_does_not_matter() {
        let nodes: [NodeId; 4] = std::array::from_fn(|_| NodeId::new());
        let ids: [ChangesetId; 6] = std::array::from_fn(|_| ChangesetId::new());
        let changeset = |id: usize, node: Option<usize>| changeset(ids[id], node.map(|node| nodes[node]));
        let link = |counts: usize, builds_on: &[usize], base: &str| NodeLinks {
            counts: Some(ids[counts]),
            builds_on: builds_on.iter().map(|id| ids[*id]).collect(),
            base: Some(base.to_owned()),
        };
        // The second node needs the third. A person resolves something before the fourth runs.
        let mut links = Links(HashMap::from([
            (nodes[0], link(0, &[], "one")),
            (nodes[1], link(1, &[2], "one")),
            (nodes[2], link(2, &[], "one")),
            (nodes[3], link(3, &[0, 1, 2, 4], "one")),
        ]));
        let not_counted = changeset(5, Some(0));
        for started in [[0, 2, 1], [2, 0, 1], [2, 1, 0]] {
            let mut changesets = vec![not_counted.clone()];
            changesets.extend(started.map(|id| changeset(id, Some(id))));
            changesets.extend([changeset(4, None), changeset(3, Some(3))]);
            let ordered: Vec<_> = links.in_order(changesets).iter().map(|one| one.id).collect();
            assert_eq!(ordered, [0, 2, 1, 4, 3].map(|id| ids[id]), "{started:?}");
        }
        // The base was made anew before the first node ran.
        links.0.insert(nodes[0], link(0, &[], "two"));
        let ordered = links.in_order([2, 1, 0].map(|id| changeset(id, Some(id))).to_vec());
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
