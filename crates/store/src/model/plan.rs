//! Plans and their nodes, as data.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::limits::ROOTS_MAX;
use crate::{
    Actor, Epoch, Error, Kind, Name, NodeId, PathBytes, PlanId, RequestId, Result, State, Time, Version,
};

/// A plan to make.
#[derive(Clone, Debug, PartialEq)]
pub struct NewPlan {
    /// Made by the caller, so that asking again makes no second plan.
    pub id: PlanId,
    /// Unique among plans.
    pub name: Option<Name>,
    /// Its first state.
    pub state: State,
    /// The plan that this one undoes.
    pub undo_of: Option<PlanId>,
    /// The folders that it changes.
    pub roots: Vec<PathBytes>,
    /// Whatever the layer above keeps with it.
    pub detail: Value,
    /// Who makes it.
    pub who: Actor,
}

impl NewPlan {
    /// Refuses what passes a limit.
    pub(crate) fn check(&self) -> Result<()> {
        if self.roots.len() > ROOTS_MAX {
            return Err(Error::Limit { what: "the roots of a plan", limit: ROOTS_MAX as u64 });
        }
        Ok(())
    }

    /// The answer to asking again: the plan that has this id, if it was made by this wish.
    pub(crate) fn again(&self, made: Plan) -> Result<Plan> {
        let is_same = made.name == self.name
            && made.undo_of == self.undo_of
            && made.roots == self.roots
            && made.created_by == self.who;
        let reused = || Error::Reused { what: "plan id", id: self.id.to_string() };
        if is_same { Ok(made) } else { Err(reused()) }
    }
}

/// A plan as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Its id.
    pub id: PlanId,
    /// Its name.
    pub name: Option<Name>,
    /// Its state.
    pub state: State,
    /// How often it has changed.
    pub version: Version,
    /// The plan that this one undoes.
    pub undo_of: Option<PlanId>,
    /// The folders that it changes.
    pub roots: Vec<PathBytes>,
    /// Whatever the layer above keeps with it.
    pub detail: Value,
    /// Who made it.
    pub created_by: Actor,
    /// When, by the store's clock.
    pub created_at: Time,
    /// Who changed it last.
    pub changed_by: Actor,
    /// When, by the store's clock.
    pub changed_at: Time,
}

/// How people name a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanSelector {
    /// `@latest`: the newest that is not an undo.
    Latest,
    /// An id, a name, or the beginning of one id; looked for in this order.
    Text(String),
}

/// The selector for the newest plan.
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

/// Which plans to list: newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanQuery {
    /// Only those in one of these states; all when empty.
    pub states: Vec<State>,
    /// Only those that were changed at this time or later, by the store's clock.
    pub changed_since: Option<Time>,
    /// Only those behind this one in the list, which was the last of the page before.
    pub after: Option<PlanId>,
    /// How many, up to [`PAGE_MAX`](crate::limits::PAGE_MAX); that many when not given.
    pub limit: Option<usize>,
}

/// What is to happen to the open changesets of a plan that changes its state, in the same step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenChangesets {
    /// They stay open.
    Leave,
    /// The step is refused while there are any.
    Refuse,
    /// They are abandoned, and their holders are refused from then on.
    Abandon,
}

/// One step of a plan from a state to another.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanStep {
    /// The plan.
    pub plan: PlanId,
    /// The wish. It happens once, however often it is asked for.
    pub request: RequestId,
    /// The state that the caller saw.
    pub from: State,
    /// The version that the caller saw.
    pub version: Version,
    /// The state to enter.
    pub to: State,
    /// The epoch of a lease on the plan, which must not have changed hands.
    pub epoch: Option<Epoch>,
    /// What happens to open changesets.
    pub open: OpenChangesets,
    /// New detail, if it changes.
    pub detail: Option<Value>,
    /// What the audit record is called.
    pub kind: Kind,
    /// Who.
    pub who: Actor,
    /// What else the audit record says.
    pub note: Value,
}

/// A plan to remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanRemoval {
    /// The plan.
    pub plan: PlanId,
    /// The wish. It happens once, however often it is asked for.
    pub request: RequestId,
    /// The version that the caller saw.
    pub version: Version,
    /// How much the caller saw in it, when nothing else may go: starting changesets and recording do not change the version.
    pub held: Option<Held>,
    /// Who.
    pub who: Actor,
}

/// How much a plan holds. Both only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Its changesets.
    pub changesets: u64,
    /// The entries of all of them.
    pub entries: u64,
}

impl Held {
    /// By the entries of each changeset.
    pub fn of(entries: impl IntoIterator<Item = u64>) -> Self {
        let add =
            |held: Self, entries| Self { changesets: held.changesets + 1, entries: held.entries + entries };
        entries.into_iter().fold(Self::default(), add)
    }
}

impl PlanRemoval {
    /// Refuses when the plan holds something else than what was seen.
    pub(crate) fn check(&self, holds: Held) -> Result<()> {
        match self.held {
            Some(seen) if seen != holds => Err(Error::Grown { plan: self.plan }),
            _ => Ok(()),
        }
    }
}

/// A node to make.
#[derive(Clone, Debug, PartialEq)]
pub struct NewNode {
    /// Made by the caller, so that asking again makes no second node.
    pub id: NodeId,
    /// Unique in its plan.
    pub name: Name,
    /// Its first state.
    pub state: State,
    /// Whatever the layer above keeps with it.
    pub detail: Value,
}

/// A node as it is stored: one piece of a plan's work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Its id.
    pub id: NodeId,
    /// Its plan.
    pub plan: PlanId,
    /// Its name.
    pub name: Name,
    /// Its state.
    pub state: State,
    /// How often it has changed.
    pub version: Version,
    /// Whatever the layer above keeps with it.
    pub detail: Value,
    /// Who changed it last.
    pub changed_by: Actor,
    /// When, by the store's clock.
    pub changed_at: Time,
}

/// One step of a node from a state to another.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeStep {
    /// The node.
    pub node: NodeId,
    /// The wish. It happens once, however often it is asked for.
    pub request: RequestId,
    /// The state that the caller saw.
    pub from: State,
    /// The version that the caller saw.
    pub version: Version,
    /// The state to enter.
    pub to: State,
    /// The epoch of the lease on the node's plan, which must not have changed hands.
    pub epoch: Option<Epoch>,
    /// New detail, if it changes.
    pub detail: Option<Value>,
    /// Who.
    pub who: Actor,
    /// What else the audit record says.
    pub note: Value,
}
