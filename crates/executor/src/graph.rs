//! The graph of a plan: checks before a run, order of nodes, drawing.
//!
//! Errors: needs that are not nodes, repeated needs, cycles (listed in full), nodes that wait for a
//! cycle, roots that are not declared or do not exist. Warning: nodes that may run concurrently with
//! overlapping `paths`.

mod overlaps;

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};
use std::path::Path;

use crate::problem::suggestion;
use crate::{NodeSpec, PlanFile, Problem};
use overlaps::Overlaps;

/// The index of a node in [`PlanFile::nodes`].
pub type NodeIndex = usize;

/// The dependencies of a plan's nodes, without cycles.
#[derive(Clone, Debug)]
pub struct Graph {
    names: Vec<String>,
    needs: Vec<Vec<NodeIndex>>,
    needed_by: Vec<Vec<NodeIndex>>,
    order: Vec<NodeIndex>,
}

impl Graph {
    /// Builds the graph of a plan, or returns all its problems. Reads no disk; for roots see
    /// [`root_problems`].
    pub fn of(plan: &PlanFile) -> Result<Graph, Vec<Problem>> {
        let nodes = &plan.nodes;
        let index: HashMap<&str, NodeIndex> =
            nodes.iter().enumerate().map(|(index, node)| (node.name.as_str(), index)).collect();
        let mut problems = Vec::new();
        let mut needs = vec![Vec::new(); nodes.len()];
        for (at, node) in nodes.iter().enumerate() {
            for need in &node.needs {
                let problem = match index.get(need.name.as_str()) {
                    None => {
                        let hint = suggestion(&need.name, nodes.iter().map(|node| node.name.as_str()));
                        Problem::new(
                            need.position,
                            format!("node `{}` needs `{}`, which is not a node", node.name, need.name),
                        )
                        .hint(hint)
                    }
                    Some(found) if needs[at].contains(found) => Problem::new(
                        need.position,
                        format!("node `{}` needs `{}` twice", node.name, need.name),
                    ),
                    Some(found) => {
                        needs[at].push(*found);
                        continue;
                    }
                };
                problems.push(problem);
            }
        }
        let mut needed_by = vec![Vec::new(); nodes.len()];
        for (at, needs) in needs.iter().enumerate() {
            needs.iter().for_each(|need| needed_by[*need].push(at));
        }
        let names = nodes.iter().map(|node| node.name.clone()).collect();
        let mut graph = Graph { names, needs, needed_by, order: Vec::new() };
        graph.order = graph.topological_order();
        problems.extend(graph.cycle_problems(nodes));
        problems.sort();
        if problems.is_empty() { Ok(graph) } else { Err(problems) }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns true if there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The name of a node.
    pub fn name(&self, node: NodeIndex) -> &str {
        &self.names[node]
    }

    /// The nodes that a node waits for.
    pub fn needs(&self, node: NodeIndex) -> &[NodeIndex] {
        &self.needs[node]
    }

    /// The nodes that wait for a node.
    pub fn needed_by(&self, node: NodeIndex) -> &[NodeIndex] {
        &self.needed_by[node]
    }

    /// The nodes, each after those that it needs; otherwise in the order of the file.
    pub fn order(&self) -> &[NodeIndex] {
        &self.order
    }

    /// The nodes in topological order, without those in a cycle or behind one.
    fn topological_order(&self) -> Vec<NodeIndex> {
        let mut waiting: Vec<usize> = self.needs.iter().map(Vec::len).collect();
        let mut ready: BinaryHeap<_> =
            (0..self.len()).filter(|node| waiting[*node] == 0).map(Reverse).collect();
        let mut order = Vec::with_capacity(self.len());
        while let Some(Reverse(node)) = ready.pop() {
            order.push(node);
            for next in &self.needed_by[node] {
                waiting[*next] -= 1;
                if waiting[*next] == 0 {
                    ready.push(Reverse(*next));
                }
            }
        }
        order
    }

    /// One problem per cycle, without cycles that share a node with a reported one, and one per node that
    /// waits for a cycle.
    fn cycle_problems(&self, nodes: &[NodeSpec]) -> Vec<Problem> {
        let sorted: BTreeSet<NodeIndex> = self.order.iter().copied().collect();
        let open: BTreeSet<NodeIndex> = (0..self.len()).filter(|node| !sorted.contains(node)).collect();
        let mut problems = Vec::new();
        let mut seen = BTreeSet::new();
        while let Some(start) = open.iter().find(|node| !seen.contains(*node)).copied() {
            // Every open node needs an open one, so a walk along needs closes a cycle.
            let mut path = vec![start];
            let cycle = loop {
                let last = path[path.len() - 1];
                let next = self.needs[last].iter().find(|need| open.contains(need) && !seen.contains(*need));
                match next {
                    None => break None,
                    Some(next) => match path.iter().position(|node| node == next) {
                        Some(first) => break Some(path.split_off(first)),
                        None => path.push(*next),
                    },
                }
            };
            // Nodes before the cycle, or before one seen earlier, only wait for it.
            for node in &path {
                let message = format!("node `{}` can never run: it waits for a cycle", self.names[*node]);
                problems.push(Problem::new(nodes[*node].position, message));
            }
            seen.extend(path);
            if let Some(cycle) = cycle {
                let names: Vec<_> = cycle.iter().chain(&cycle[..1]).map(|node| self.name(*node)).collect();
                let message = format!("cycle: {}", names.join(" -> "));
                problems.push(Problem::new(nodes[cycle[0]].position, message));
                seen.extend(cycle);
            }
        }
        problems
    }

    /// The set of ancestors of every node, as bits.
    fn ancestors(&self) -> Vec<Vec<u64>> {
        let words = self.len().div_ceil(64);
        let mut ancestors = vec![vec![0u64; words]; self.len()];
        for node in &self.order {
            let mut mine = std::mem::take(&mut ancestors[*node]);
            for need in &self.needs[*node] {
                mine[need / 64] |= 1 << (need % 64);
                mine.iter_mut().zip(&ancestors[*need]).for_each(|(mine, theirs)| *mine |= theirs);
            }
            ancestors[*node] = mine;
        }
        ancestors
    }

    /// Warns of nodes that may run concurrently, on one root, with overlapping `paths`.
    pub fn overlap_warnings(&self, plan: &PlanFile) -> Vec<Problem> {
        Overlaps::of(self, plan).warnings
    }

    /// One line per node, in order: its name and its needs.
    pub fn to_text(&self) -> String {
        let width = self.names.iter().map(String::len).max().unwrap_or(0);
        let line = |node: &NodeIndex| {
            let needs: Vec<_> = self.needs[*node].iter().map(|need| self.name(*need)).collect();
            match needs.as_slice() {
                [] => format!("{}\n", self.names[*node]),
                needs => format!("{:width$}  after {}\n", self.names[*node], needs.join(", ")),
            }
        };
        self.order.iter().map(line).collect()
    }

    /// The graph as a Mermaid flowchart.
    pub fn to_mermaid(&self) -> String {
        let mut chart = "flowchart TD\n".to_owned();
        for node in &self.order {
            // Numbers for ids: a name such as `end` is a keyword of Mermaid.
            chart.push_str(&format!("    n{node}[\"{}\"]\n", self.names[*node]));
        }
        for node in &self.order {
            for need in &self.needs[*node] {
                chart.push_str(&format!("    n{need} --> n{node}\n"));
            }
        }
        chart
    }
}

/// Finds undeclared roots, nodes that do not choose one of several roots, and folders that do not exist.
/// Relative paths start at `from`.
pub fn root_problems(plan: &PlanFile, from: &Path) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, root) in &plan.roots {
        let folder = from.join(&root.path);
        if !folder.is_dir() {
            let message = format!("root `{name}`: `{}` is not a folder", folder.display());
            problems.push(Problem::new(root.position, message));
        }
    }
    for node in &plan.nodes {
        let message = match &node.root {
            Some(root) if plan.roots.contains_key(root) => continue,
            None if plan.roots.len() <= 1 => continue,
            Some(root) => {
                let hint = suggestion(root, plan.roots.keys().map(String::as_str));
                let message = format!("node `{}` uses root `{root}`, which is not declared", node.name);
                problems.push(Problem::new(node.position, message).hint(hint));
                continue;
            }
            None => {
                format!("node `{}` does not choose one of {} roots", node.name, plan.roots.len())
            }
        };
        problems.push(Problem::new(node.position, message).hint(Some("give it a `root`".to_owned())));
    }
    problems.sort();
    problems
}

#[cfg(test)]
mod tests;
