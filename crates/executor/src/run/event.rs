//! What happens while a run is under way, as it happens: for views and for JSON Lines.

use serde::Serialize;

use super::state::Outcome;
use crate::{Graph, NodeIndex};

/// One thing that happened. Those about a node name it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The run begins, or goes on.
    RunStarted {
        /// The plan's id.
        plan: String,
        /// Its name.
        name: Option<String>,
        /// All nodes, in an order in which each comes after those it needs.
        nodes: Vec<NodeInGraph>,
        /// How many run at once.
        concurrency: usize,
        /// How actors are confined: `fully`, `partly` or `not`.
        confinement: String,
        /// The folders that the plan changes.
        roots: Vec<String>,
        /// Folders that actors may write to beside their sandbox.
        writable: Vec<String>,
    },
    /// A node's sandbox is about to be made, and then its actor is started.
    NodeStarted {
        /// The node.
        node: String,
        /// Which attempt, from 1.
        attempt: u32,
        /// Where its changes are recorded.
        changeset: String,
    },
    /// A node's actor printed a line. Not sent for an actor that has the terminal.
    NodeOutput {
        /// The node.
        node: String,
        /// Without the line end; what is no text is replaced.
        line: String,
    },
    /// How many files a running node has touched so far, told when that has changed.
    NodeTouched {
        /// The node.
        node: String,
        /// How many.
        files: usize,
    },
    /// Nodes that run at the same time have touched the same file. Told once for a path and a number of nodes.
    Overlap {
        /// The path below its root.
        path: String,
        /// The nodes.
        nodes: Vec<String>,
    },
    /// A node's attempt failed, and it is started again.
    NodeRetried {
        /// The node.
        node: String,
        /// The attempt that failed.
        attempt: u32,
        /// Why.
        reason: String,
    },
    /// A node is done, one way or another. Sent once for a node of a run.
    NodeEnded {
        /// The node.
        node: String,
        /// How it ended.
        outcome: Outcome,
        /// The code that its actor exited with.
        code: Option<i32>,
        /// The signal that ended its actor.
        signal: Option<i32>,
        /// How long it took, with its sandbox.
        seconds: f64,
        /// How many paths it changed.
        files: usize,
        /// Why it did not succeed, in a sentence.
        reason: Option<String>,
        /// What its actor printed last, of one that did not succeed.
        last_lines: Vec<String>,
    },
    /// Something that an earlier, dead run of the plan left was put in order.
    Recovered {
        /// The node.
        node: String,
        /// What was done, in a sentence.
        what: String,
    },
    /// The run is over.
    RunEnded {
        /// The plan's id.
        plan: String,
        /// The plan's state now.
        state: String,
        /// How many nodes ended in which way.
        counts: std::collections::BTreeMap<Outcome, usize>,
    },
}

/// A node and what comes before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NodeInGraph {
    /// Its name.
    pub name: String,
    /// The nodes that it waits for.
    pub needs: Vec<String>,
}

impl NodeInGraph {
    /// The nodes of a graph, each after those that it needs.
    pub fn all(graph: &Graph) -> Vec<Self> {
        let name = |node: &NodeIndex| graph.name(*node).to_owned();
        let node = |node| Self { name: name(node), needs: graph.needs(*node).iter().map(name).collect() };
        graph.order().iter().map(node).collect()
    }
}
