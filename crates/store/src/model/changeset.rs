//! Changesets.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::REASON_BYTES_MAX;
use crate::{Actor, ChainHash, ChangesetId, Epoch, Error, LeaseRequest, NodeId, PlanId, Result, State, Time};

/// A changeset to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewChangeset {
    /// Chosen by the caller: starting a changeset again with the same id returns the same lease.
    pub id: ChangesetId,
    /// The plan.
    pub plan: PlanId,
    /// The node that the changeset belongs to, if the plan is run.
    pub node: Option<NodeId>,
    /// The actor of every entry.
    pub actor: Actor,
    /// The lease to record with.
    pub lease: LeaseRequest,
    /// States of the plan in which the changeset may start; any state when empty.
    pub plan_states: Vec<State>,
    /// The epoch of the lease on the plan: the call is refused if the lease has changed hands.
    pub plan_epoch: Option<Epoch>,
}

/// The status of a changeset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Takes entries.
    Open,
    /// Complete; takes no more entries.
    Sealed,
    /// Given up. Its entries are kept, but are not part of the plan.
    Abandoned,
}

impl Status {
    /// Returns the stored word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Sealed => "sealed",
            Self::Abandoned => "abandoned",
        }
    }

    /// Returns the status of a changeset that is sealed, or abandoned for a reason, and the kind of
    /// the audit record.
    pub(crate) fn ending(reason: Option<&str>) -> Result<(Self, &'static str)> {
        match reason {
            None => Ok((Self::Sealed, "changeset.sealed")),
            Some(reason) if reason.len() <= REASON_BYTES_MAX => Ok((Self::Abandoned, "changeset.abandoned")),
            Some(_) => Err(Error::Limit { what: "bytes of a reason", limit: REASON_BYTES_MAX as u64 }),
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A stored changeset.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Changeset {
    /// The id.
    pub id: ChangesetId,
    /// The plan.
    pub plan: PlanId,
    /// The node that the changeset belongs to, if the plan is run.
    pub node: Option<NodeId>,
    /// The actor of every entry.
    pub actor: Actor,
    /// The status.
    pub status: Status,
    /// Number of entries. Their sequence numbers are 1 to this.
    pub entries: u64,
    /// The hash over all entries in order; see `ChangeEntry::digest`.
    pub digest: ChainHash,
    /// Start time by the store's clock; later than that of every changeset of the plan that was
    /// started before.
    pub started_at: Time,
    /// Time at which it was sealed or abandoned.
    pub ended_at: Option<Time>,
    /// Reason for which it was abandoned.
    pub reason: Option<String>,
}
