//! Leases: who may write to something, for how long, and how a stale holder is told.
//!
//! The epoch is what protects: every write that carries one is refused when the lease has changed hands since. Expiry only says from
//! when on somebody else may take it. A holder whose lease has expired and that nobody replaced may go on.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::LEASE_MAX;
use crate::{ChangesetId, Epoch, Error, NodeId, Owner, PlanId, Result, Time};

/// What a lease can be on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(tag = "kind", content = "id", rename_all = "lowercase")]
pub enum Resource {
    /// A plan.
    Plan(PlanId),
    /// A node of a plan.
    Node(NodeId),
    /// A changeset.
    Changeset(ChangesetId),
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(id) => write!(f, "plan {id}"),
            Self::Node(id) => write!(f, "node {id}"),
            Self::Changeset(id) => write!(f, "changeset {id}"),
        }
    }
}

/// A lease that is held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// What it is on.
    pub resource: Resource,
    /// Who holds it.
    pub owner: Owner,
    /// How often it has changed hands.
    pub epoch: Epoch,
    /// From when on somebody else may take it, by the store's clock.
    pub expires_at: Time,
}

/// Who wants to hold a lease, and for how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holding {
    /// Who. The same owner that asks again keeps its epoch.
    pub owner: Owner,
    /// For how long from now. Zero is allowed: anybody may take it at once.
    pub duration: Duration,
}

/// Until when a lease is held that is asked for now.
pub(crate) fn expiry(now: Time, duration: Duration) -> Result<Time> {
    if duration > LEASE_MAX {
        return Err(Error::Limit { what: "a lease's seconds", limit: LEASE_MAX.as_secs() });
    }
    Ok(now.plus(duration))
}
