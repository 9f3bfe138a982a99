//! Which nodes may start: counters of what each still waits for.

use std::collections::VecDeque;

use crate::{Graph, NodeIndex};

/// How far the nodes of a graph are. Pure: whoever runs them says what happened.
#[derive(Clone, Debug)]
pub struct Ready {
    /// How many needs of a node are not done.
    waiting: Vec<usize>,
    ready: VecDeque<NodeIndex>,
    /// Neither done nor given up.
    open: usize,
    given_up: Vec<bool>,
}

impl Ready {
    /// Nothing is done yet.
    pub fn new(graph: &Graph) -> Self {
        let waiting: Vec<_> = (0..graph.len()).map(|node| graph.needs(node).len()).collect();
        let ready = graph.order().iter().copied().filter(|node| waiting[*node] == 0).collect();
        Self { waiting, ready, open: graph.len(), given_up: vec![false; graph.len()] }
    }

    /// The next node that may start, first come first served. It is handed out once.
    pub fn take(&mut self) -> Option<NodeIndex> {
        self.ready.pop_front()
    }

    /// A node that was taken is done, so others may have become ready.
    pub fn done(&mut self, graph: &Graph, node: NodeIndex) {
        self.open -= 1;
        for next in graph.needed_by(node) {
            self.waiting[*next] -= 1;
            if self.waiting[*next] == 0 && !self.given_up[*next] {
                self.ready.push_back(*next);
            }
        }
    }

    /// A node that was taken failed: all that wait for it, directly or not, are given up and returned, each once.
    pub fn failed(&mut self, graph: &Graph, node: NodeIndex) -> Vec<NodeIndex> {
        self.open -= 1;
        let mut given_up = Vec::new();
        let mut behind = vec![node];
        while let Some(node) = behind.pop() {
            for next in graph.needed_by(node) {
                if !std::mem::replace(&mut self.given_up[*next], true) {
                    self.open -= 1;
                    given_up.push(*next);
                    behind.push(*next);
                }
            }
        }
        given_up.sort_unstable();
        given_up
    }

    /// Whether every node is done or given up.
    pub fn is_finished(&self) -> bool {
        self.open == 0
    }
}
