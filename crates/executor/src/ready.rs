//! The nodes that may start, by counters of unfinished needs.

use std::collections::VecDeque;

use crate::{Graph, NodeIndex};

/// The progress of a graph. Pure: the caller reports the ends of nodes.
#[derive(Clone, Debug)]
pub struct Ready {
    /// Number of unfinished needs of each node.
    unfinished_needs: Vec<usize>,
    ready: VecDeque<NodeIndex>,
    /// Number of nodes that are neither done, failed nor skipped.
    open: usize,
    skipped: Vec<bool>,
}

impl Ready {
    /// The start of a graph.
    pub fn new(graph: &Graph) -> Self {
        let unfinished_needs: Vec<_> = (0..graph.len()).map(|node| graph.needs(node).len()).collect();
        let ready = graph.order().iter().copied().filter(|node| unfinished_needs[*node] == 0).collect();
        Self { unfinished_needs, ready, open: graph.len(), skipped: vec![false; graph.len()] }
    }

    /// Takes the next node that may start, in order of readiness.
    pub fn take(&mut self) -> Option<NodeIndex> {
        self.ready.pop_front()
    }

    /// Marks a taken node as done, which may make others ready.
    pub fn done(&mut self, graph: &Graph, node: NodeIndex) {
        self.open -= 1;
        for next in graph.needed_by(node) {
            self.unfinished_needs[*next] -= 1;
            if self.unfinished_needs[*next] == 0 && !self.skipped[*next] {
                self.ready.push_back(*next);
            }
        }
    }

    /// Marks a taken node as failed. Returns the nodes that depend on it, directly or not, and were not
    /// skipped before.
    pub fn failed(&mut self, graph: &Graph, node: NodeIndex) -> Vec<NodeIndex> {
        self.open -= 1;
        let mut skipped = Vec::new();
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            for next in graph.needed_by(node) {
                if !std::mem::replace(&mut self.skipped[*next], true) {
                    self.open -= 1;
                    skipped.push(*next);
                    open.push(*next);
                }
            }
        }
        skipped.sort_unstable();
        skipped
    }

    /// Returns true if every node is done, failed or skipped.
    pub fn is_finished(&self) -> bool {
        self.open == 0
    }
}
