//! Events of a run, for views and for JSON Lines.

use schemars::JsonSchema;
use serde::Serialize;
use store::JsonBytes;

use super::state::Outcome;
use crate::sandbox::Confinement;
use crate::{Graph, NodeIndex};

/// One event of a run.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The run starts, or is resumed.
    RunStarted {
        /// The id of the plan.
        plan: String,
        /// The name of the plan.
        name: Option<String>,
        /// All nodes, each after those that it needs.
        nodes: Vec<NodeInGraph>,
        /// Maximum number of concurrent nodes.
        concurrency: usize,
        /// Confinement of the actors.
        confinement: Confinement,
        /// The folders that the plan changes.
        roots: Vec<String>,
        /// Folders outside the sandbox that actors may write to.
        allow_write: Vec<String>,
    },
    /// An attempt of a node starts, with making its sandbox.
    NodeStarted {
        /// The name of the node.
        node: String,
        /// The number of the attempt, from 1.
        attempt: u32,
        /// The changeset that records its changes.
        changeset: String,
    },
    /// An actor printed a line. Not emitted for an actor that has the terminal.
    NodeOutput {
        /// The name of the node.
        node: String,
        /// The line without its end.
        #[serde(serialize_with = "JsonBytes::serialize_bytes")]
        #[schemars(with = "JsonBytes")]
        line: Vec<u8>,
    },
    /// The number of files changed by a running node differs from the last one emitted.
    NodeChanged {
        /// The name of the node.
        node: String,
        /// Files created or modified so far.
        files_changed: usize,
    },
    /// Running nodes changed the same file. Emitted again when another node joins them.
    Overlap {
        /// The path below its root.
        path: String,
        /// The names of the nodes.
        nodes: Vec<String>,
    },
    /// An attempt failed, and the node starts again.
    NodeRetried {
        /// The name of the node.
        node: String,
        /// The number of the failed attempt.
        attempt: u32,
        /// The cause of the failure.
        reason: String,
    },
    /// A node ended. Emitted once per node and run.
    NodeEnded {
        /// The name of the node.
        node: String,
        /// Its outcome.
        outcome: Outcome,
        /// Exit code of its actor.
        code: Option<i32>,
        /// Signal that killed its actor.
        signal: Option<i32>,
        /// Duration of the last attempt, including its sandbox.
        seconds: f64,
        /// Number of paths it changed.
        files_changed: usize,
        /// The cause, unless it succeeded.
        reason: Option<String>,
        /// The last lines of output, unless it succeeded.
        last_lines: Vec<String>,
    },
    /// A resumed run recovered a node that an earlier, dead process left.
    NodeRecovered {
        /// The name of the node.
        node: String,
        /// The action taken.
        action: RecoveryAction,
    },
    /// The run ended.
    RunEnded {
        /// The id of the plan.
        plan: String,
        /// The state of the plan.
        state: String,
        /// Number of nodes by outcome.
        counts: std::collections::BTreeMap<Outcome, usize>,
    },
}

/// Action of a resumed run on one of its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecoveryAction {
    /// Ended processes that the dead run left.
    ProcessesEnded,
    /// Queued a node that was running.
    Restarted,
    /// Queued a node that had not succeeded.
    Retried,
}

/// A node and its needs.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct NodeInGraph {
    /// The name of the node.
    pub name: String,
    /// The names of the nodes that it waits for.
    pub needs: Vec<String>,
}

impl NodeInGraph {
    /// All nodes of a graph, each after those that it needs.
    pub fn all(graph: &Graph) -> Vec<Self> {
        let name = |node: &NodeIndex| graph.name(*node).to_owned();
        let node = |node| Self { name: name(node), needs: graph.needs(*node).iter().map(name).collect() };
        graph.order().iter().map(node).collect()
    }
}
