//! What a run came to, and what is known of its nodes at any time.

use std::path::PathBuf;

use plan::{Conflict, PlanId, State};
use serde::Serialize;

use super::state::{NodeState, Outcome};

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The plan.
    pub plan: PlanId,
    /// Its name.
    pub name: Option<String>,
    /// Its state: *ready*, *conflict* or *failed*; *cancelled* when somebody gave the plan up meanwhile.
    pub state: State,
    /// All nodes, in an order in which each comes after those it needs.
    pub nodes: Vec<NodeReport>,
    /// How many files the nodes changed, combined.
    pub files: usize,
    /// Lines that come.
    pub added: u64,
    /// Lines that go.
    pub removed: u64,
    /// Where the nodes' changes do not go together.
    pub conflicts: Vec<Conflict>,
    /// What is not as one might expect about the folders: what was left out of the sandboxes.
    pub notes: Vec<String>,
    /// Whether somebody cancelled it.
    pub cancelled: bool,
}

impl Summary {
    /// The first node, in their order, that did not succeed.
    pub fn first_failure(&self) -> Option<&NodeReport> {
        self.nodes.iter().find(|node| {
            !matches!(node.state, NodeState::Ended(Outcome::Succeeded | Outcome::Skipped | Outcome::Stopped))
        })
    }
}

/// What is known of a node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeReport {
    /// Its name.
    pub name: String,
    /// The nodes that it needs.
    pub needs: Vec<String>,
    /// Where it stands.
    #[serde(serialize_with = "word")]
    pub state: NodeState,
    /// How often it was started.
    pub attempts: u32,
    /// The changeset of the last attempt.
    pub changeset: Option<String>,
    /// The code that its actor exited with.
    pub code: Option<i32>,
    /// The signal that ended its actor.
    pub signal: Option<i32>,
    /// How long the last attempt took.
    pub seconds: Option<f64>,
    /// How many paths it changed.
    pub files: usize,
    /// Why it did not succeed, in a sentence.
    pub reason: Option<String>,
    /// What its actor printed last, of one that did not succeed.
    pub last_lines: Vec<String>,
    /// What is not as one might expect: files that were left out, writing that was not confined.
    pub notes: Vec<String>,
}

/// Where a node's output is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Output {
    /// The node.
    pub node: String,
    /// The file, if its actor was started and did not have the terminal; gone when the plan was cleaned.
    pub file: Option<PathBuf>,
    /// Whether more may come.
    pub is_running: bool,
}

/// A run that ended before its plan did: it can be resumed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unfinished {
    /// The plan.
    pub plan: PlanId,
    /// Its name.
    pub name: Option<String>,
    /// Who runs it now, if somebody does.
    pub held_by: Option<String>,
}

fn word<S: serde::Serializer>(state: &NodeState, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(state.as_str())
}
