//! Results of runs and reports of nodes.

use std::path::PathBuf;

use plan::{Conflict, PlanId, State};
use schemars::JsonSchema;
use serde::Serialize;

use super::state::{NodeState, Outcome};

/// The result of a run.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Summary {
    /// The id of the plan.
    pub plan: PlanId,
    /// The name of the plan.
    pub name: Option<String>,
    /// The state of the plan: *ready*, *conflict* or *failed*; *cancelled* if the plan was cancelled
    /// during the run.
    pub state: State,
    /// All nodes, each after those that it needs.
    pub nodes: Vec<NodeReport>,
    /// Number of files that the nodes changed, combined.
    pub files_changed: usize,
    /// Number of added lines.
    pub added: u64,
    /// Number of removed lines.
    pub removed: u64,
    /// Changes of several nodes that do not merge.
    pub conflicts: Vec<Conflict>,
    /// Remarks about the sandboxes, such as excluded files.
    pub notes: Vec<String>,
    /// True if the run or its plan was cancelled.
    pub cancelled: bool,
}

impl Summary {
    /// The first failed node. Skipped and stopped nodes are not failures.
    pub fn first_failure(&self) -> Option<&NodeReport> {
        self.nodes.iter().find(|node| {
            !matches!(node.state, NodeState::Ended(Outcome::Succeeded | Outcome::Skipped | Outcome::Stopped))
        })
    }
}

/// The state of a node and of its last attempt.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct NodeReport {
    /// The name of the node.
    pub name: String,
    /// The names of the nodes that it needs.
    pub needs: Vec<String>,
    /// Its state.
    #[serde(serialize_with = "word")]
    #[schemars(with = "String", extend("enum" = NodeState::words()))]
    pub state: NodeState,
    /// Number of attempts so far.
    pub attempts: u32,
    /// The changeset of the last attempt.
    pub changeset: Option<String>,
    /// Exit code of its actor.
    pub code: Option<i32>,
    /// Signal that killed its actor.
    pub signal: Option<i32>,
    /// Duration of the last attempt.
    pub seconds: Option<f64>,
    /// Number of paths it changed.
    pub files_changed: usize,
    /// The cause, unless it succeeded.
    pub reason: Option<String>,
    /// The last lines of output, unless it succeeded.
    pub last_lines: Vec<String>,
    /// Remarks, such as files that were not recorded.
    pub notes: Vec<String>,
}

/// The output of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NodeOutput {
    /// The name of the node.
    pub node: String,
    /// The file. None for an actor that did not start or has the terminal, and after a prune of the plan.
    pub file: Option<PathBuf>,
    /// True if the node may print more.
    pub is_running: bool,
}

/// A run whose plan has not ended: running, or interrupted and resumable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnfinishedRun {
    /// The id of the plan.
    pub plan: PlanId,
    /// The name of the plan.
    pub name: Option<String>,
    /// The process that runs it; none if it was interrupted.
    pub owner: Option<String>,
}

fn word<S: serde::Serializer>(state: &NodeState, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(state.as_str())
}
