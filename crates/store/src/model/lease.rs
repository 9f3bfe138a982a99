//! Leases with fencing tokens.
//!
//! The epoch is the fencing token: a write that carries an epoch is refused once the lease has
//! changed hands. Expiry only says from when on another owner may take the lease. A holder whose
//! lease has expired, but was not taken, may continue.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::LEASE_MAX;
use crate::{ChangesetId, Epoch, Error, NodeId, Owner, PlanId, Result, Time};

/// A thing that can be leased.
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

/// A lease and its holder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The leased thing.
    pub resource: Resource,
    /// The holder.
    pub owner: Owner,
    /// The fencing token: number of times the lease has changed hands.
    pub epoch: Epoch,
    /// Time from which another owner may take the lease, by the store's clock.
    pub expires_at: Time,
}

/// A request for a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseRequest {
    /// The owner to be. An owner that already holds the lease keeps its epoch.
    pub owner: Owner,
    /// Duration from now. With zero, any owner may take the lease at once.
    pub duration: Duration,
}

/// Computes the expiry of a lease that is granted now.
pub(crate) fn expiry(now: Time, duration: Duration) -> Result<Time> {
    if duration > LEASE_MAX {
        return Err(Error::Limit { what: "seconds of a lease", limit: LEASE_MAX.as_secs() });
    }
    Ok(now.plus(duration))
}
