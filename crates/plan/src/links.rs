//! What nodes say about changesets: which one of a node's counts, and from whose changes it started.
//!
//! A node may have been started several times, with a changeset each time. Whoever runs it keeps in the node's detail, under `counts`, the id of
//! the one that counts, once there is one; and under `builds_on` the ids of those whose changes its actor found in front of it.

use std::collections::HashMap;

use serde::Deserialize;
use store::{Changeset, ChangesetId, NodeId, PlanId};

use crate::{Error, Plans, Result};

/// The links of a plan's nodes.
#[derive(Debug, Default)]
pub(crate) struct Links(HashMap<NodeId, Link>);

/// What is read of a node's detail; everything else in it is for others.
#[derive(Debug, Default, Deserialize)]
struct Link {
    #[serde(default)]
    counts: Option<ChangesetId>,
    #[serde(default)]
    builds_on: Vec<ChangesetId>,
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
    pub(crate) fn builds_on(&self, changeset: &Changeset) -> Vec<ChangesetId> {
        let link = changeset.node.and_then(|node| self.0.get(&node));
        link.map(|link| link.builds_on.clone()).unwrap_or_default()
    }
}
