//! Plans and their nodes.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::limits::ROOTS_MAX;
use crate::{
    Actor, AuditKind, Epoch, Error, Name, NodeId, PathBytes, PlanId, RequestId, Result, State, Time, Version,
};

/// A plan to create.
#[derive(Clone, Debug, PartialEq)]
pub struct NewPlan {
    /// Chosen by the caller: creating a plan again with the same id returns the existing one.
    pub id: PlanId,
    /// Unique among plans.
    pub name: Option<Name>,
    /// The initial state.
    pub state: State,
    /// The plan that this one undoes.
    pub undo_of: Option<PlanId>,
    /// The folders that the plan may change.
    pub roots: Vec<PathBytes>,
    /// Free for the layer above.
    pub detail: Value,
    /// The creator.
    pub actor: Actor,
}

impl NewPlan {
    /// Refuses values beyond a limit.
    pub(crate) fn check(&self) -> Result<()> {
        if self.roots.len() > ROOTS_MAX {
            return Err(Error::Limit { what: "roots of a plan", limit: ROOTS_MAX as u64 });
        }
        Ok(())
    }

    /// Answers a repeated creation: returns the existing plan if this request created it.
    pub(crate) fn match_existing(&self, existing: Plan) -> Result<Plan> {
        let is_same = existing.name == self.name
            && existing.undo_of == self.undo_of
            && existing.roots == self.roots
            && existing.created_by == self.actor;
        let reused = || Error::IdReused { what: "plan id", id: self.id.to_string() };
        if is_same { Ok(existing) } else { Err(reused()) }
    }
}

/// A stored plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The id.
    pub id: PlanId,
    /// Unique among plans.
    pub name: Option<Name>,
    /// The state.
    pub state: State,
    /// Number of changes, from 1.
    pub version: Version,
    /// The plan that this one undoes.
    pub undo_of: Option<PlanId>,
    /// The folders that the plan may change.
    pub roots: Vec<PathBytes>,
    /// Free for the layer above.
    pub detail: Value,
    /// The creator.
    pub created_by: Actor,
    /// Time of creation, by the store's clock.
    pub created_at: Time,
    /// The actor of the last change.
    pub changed_by: Actor,
    /// Time of the last change, by the store's clock.
    pub changed_at: Time,
}

/// A plan as people name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanSelector {
    /// `@latest`: the newest plan that is not an undo.
    Latest,
    /// An id, a name, or a prefix of one id; tried in this order.
    Text(String),
}

/// Names the newest plan.
const LATEST: &str = "@latest";

impl From<&str> for PlanSelector {
    fn from(text: &str) -> Self {
        if text == LATEST { Self::Latest } else { Self::Text(text.to_owned()) }
    }
}

impl From<PlanId> for PlanSelector {
    fn from(id: PlanId) -> Self {
        Self::Text(id.to_string())
    }
}

impl From<&PlanSelector> for PlanSelector {
    fn from(selector: &PlanSelector) -> Self {
        selector.clone()
    }
}

impl fmt::Display for PlanSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Latest => LATEST,
            Self::Text(text) => text,
        })
    }
}

/// Selects plans to list, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanQuery {
    /// Plans in one of these states; in any state when empty.
    pub states: Vec<State>,
    /// Plans that changed at this time or later, by the store's clock.
    pub changed_since: Option<Time>,
    /// Plans after this one, the last of the previous page.
    pub after: Option<PlanId>,
    /// Page size, at most [`PAGE_MAX`](crate::limits::PAGE_MAX), which is the default.
    pub limit: Option<usize>,
}

/// Handling of a plan's open changesets when the plan changes its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenChangesets {
    /// Leave them open.
    Leave,
    /// Refuse the step while there are any.
    Refuse,
    /// Abandon them in the same transaction, and refuse their holders from then on.
    Abandon,
}

/// A change of a plan's state.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanStep {
    /// The plan.
    pub plan: PlanId,
    /// Idempotency key: repeating the call has no further effect.
    pub request: RequestId,
    /// The state that the caller has seen.
    pub from: State,
    /// The version that the caller has seen.
    pub version: Version,
    /// The new state.
    pub to: State,
    /// The epoch of a lease on the plan: the step is refused if the lease has changed hands.
    pub epoch: Option<Epoch>,
    /// Handling of open changesets.
    pub open: OpenChangesets,
    /// The new detail; `None` keeps it.
    pub detail: Option<Value>,
    /// The kind of the audit record.
    pub kind: AuditKind,
    /// The actor of the audit record.
    pub actor: Actor,
    /// Further data of the audit record.
    pub note: Value,
}

/// The removal of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanRemoval {
    /// The plan.
    pub plan: PlanId,
    /// Idempotency key: repeating the call has no further effect.
    pub request: RequestId,
    /// The version that the caller has seen.
    pub version: Version,
    /// The size that the caller has seen; `None` removes a plan of any size. New changesets and
    /// entries do not change the version.
    pub size: Option<PlanSize>,
    /// The actor of the audit record.
    pub actor: Actor,
}

/// The size of a plan. Both numbers only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanSize {
    /// Number of changesets.
    pub changesets: u64,
    /// Number of entries in all changesets.
    pub entries: u64,
}

impl PlanSize {
    /// Sums the number of entries of each changeset.
    pub fn of(entries: impl IntoIterator<Item = u64>) -> Self {
        let add =
            |held: Self, entries| Self { changesets: held.changesets + 1, entries: held.entries + entries };
        entries.into_iter().fold(Self::default(), add)
    }
}

impl PlanRemoval {
    /// Refuses if the plan's size differs from the one that the caller has seen.
    pub(crate) fn check(&self, size: PlanSize) -> Result<()> {
        match self.size {
            Some(seen) if seen != size => Err(Error::PlanChanged { plan: self.plan }),
            _ => Ok(()),
        }
    }
}

/// A node to create.
#[derive(Clone, Debug, PartialEq)]
pub struct NewNode {
    /// Chosen by the caller: creating a node again with the same id has no further effect.
    pub id: NodeId,
    /// Unique within the plan.
    pub name: Name,
    /// The initial state.
    pub state: State,
    /// Free for the layer above.
    pub detail: Value,
}

/// A stored node: one actor of a plan's run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// The id.
    pub id: NodeId,
    /// The plan.
    pub plan: PlanId,
    /// Unique within the plan.
    pub name: Name,
    /// The state.
    pub state: State,
    /// Number of changes, from 1.
    pub version: Version,
    /// Free for the layer above.
    pub detail: Value,
    /// The actor of the last change.
    pub changed_by: Actor,
    /// Time of the last change, by the store's clock.
    pub changed_at: Time,
}

/// A change of a node's state.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeStep {
    /// The node.
    pub node: NodeId,
    /// Idempotency key: repeating the call has no further effect.
    pub request: RequestId,
    /// The state that the caller has seen.
    pub from: State,
    /// The version that the caller has seen.
    pub version: Version,
    /// The new state.
    pub to: State,
    /// The epoch of the lease on the node's plan: the step is refused if the lease has changed
    /// hands.
    pub epoch: Option<Epoch>,
    /// The new detail; `None` keeps it.
    pub detail: Option<Value>,
    /// The actor of the audit record.
    pub actor: Actor,
    /// Further data of the audit record.
    pub note: Value,
}
