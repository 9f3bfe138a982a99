//! The graph of a plan: what is checked before anything runs, in which order nodes run, how it is drawn.
//!
//! Checked: needs that no node has, a node that needs one twice, cycles (named in full), nodes that can never run because they wait for a
//! cycle, roots that are not declared or not there. A warning, not an error: nodes that may run at the same time and whose `writes`
//! overlap.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};
use std::path::Path;

use plan::may_overlap;

use crate::problem::suggestion;
use crate::{NodeSpec, PlanFile, Problem};

/// The most warnings about one plan; the last then tells how many there are.
const WARNINGS_MAX: usize = 50;

/// A node by its place in [`PlanFile::nodes`].
pub type NodeIndex = usize;

/// What depends on what, without cycles.
#[derive(Clone, Debug)]
pub struct Graph {
    names: Vec<String>,
    needs: Vec<Vec<NodeIndex>>,
    needed_by: Vec<Vec<NodeIndex>>,
    order: Vec<NodeIndex>,
}

impl Graph {
    /// The graph of a plan, or all that is wrong with it. Reads nothing from disk; for roots see [`root_problems`].
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
                            need.place,
                            format!("node `{}` needs `{}`, which is no node", node.name, need.name),
                        )
                        .hint(hint)
                    }
                    Some(found) if needs[at].contains(found) => {
                        Problem::new(need.place, format!("node `{}` needs `{}` twice", node.name, need.name))
                    }
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
        graph.order = graph.sorted();
        problems.extend(graph.cycle_problems(nodes));
        problems.sort();
        if problems.is_empty() { Ok(graph) } else { Err(problems) }
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// A node's name.
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

    /// An order in which every node comes after those it needs, otherwise that of the file.
    pub fn order(&self) -> &[NodeIndex] {
        &self.order
    }

    /// The nodes that can be ordered; those in a cycle, and behind one, are missing.
    fn sorted(&self) -> Vec<NodeIndex> {
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

    /// One problem for each cycle that shares no node with another reported one, and one for each node that waits for a cycle.
    fn cycle_problems(&self, nodes: &[NodeSpec]) -> Vec<Problem> {
        let sorted: BTreeSet<NodeIndex> = self.order.iter().copied().collect();
        let open: BTreeSet<NodeIndex> = (0..self.len()).filter(|node| !sorted.contains(node)).collect();
        let mut problems = Vec::new();
        let mut seen = BTreeSet::new();
        while let Some(start) = open.iter().find(|node| !seen.contains(*node)).copied() {
            // Every open node needs an open one, so going from need to need comes around.
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
            // What led there, or to a cycle that was seen before, only waits for it.
            for node in &path {
                let what = format!("node `{}` can never run: it waits for a cycle", self.names[*node]);
                problems.push(Problem::new(nodes[*node].place, what));
            }
            seen.extend(path);
            if let Some(cycle) = cycle {
                let names: Vec<_> =
                    cycle.iter().chain(&cycle[..1]).map(|node| format!("`{}`", self.names[*node])).collect();
                let what = format!("nodes need each other in a cycle: {}", names.join(" needs "));
                problems.push(Problem::new(nodes[cycle[0]].place, what));
                seen.extend(cycle);
            }
        }
        problems
    }

    /// For every node the set of nodes that come before it, as bits.
    fn before(&self) -> Vec<Vec<u64>> {
        let words = self.len().div_ceil(64);
        let mut before = vec![vec![0u64; words]; self.len()];
        for node in &self.order {
            let mut mine = std::mem::take(&mut before[*node]);
            for need in &self.needs[*node] {
                mine[need / 64] |= 1 << (need % 64);
                mine.iter_mut().zip(&before[*need]).for_each(|(mine, theirs)| *mine |= theirs);
            }
            before[*node] = mine;
        }
        before
    }

    /// Nodes that may run at the same time, work on one root, and say that they write paths that overlap.
    pub fn overlaps(&self, plan: &PlanFile) -> Vec<Problem> {
        let before = self.before();
        let comes_before = |one: usize, other: usize| before[other][one / 64] >> (one % 64) & 1 == 1;
        let writing: Vec<_> = plan
            .nodes
            .iter()
            .enumerate()
            .filter_map(|(at, node)| Some((at, node, node.writes.as_ref()?)))
            .collect();
        let mut warnings = Vec::new();
        let mut more = 0;
        for (position, (one, node, writes)) in writing.iter().enumerate() {
            for (other, other_node, other_writes) in &writing[position + 1..] {
                if node.root != other_node.root || comes_before(*one, *other) || comes_before(*other, *one) {
                    continue;
                }
                let pairs =
                    writes.iter().flat_map(|left| other_writes.iter().map(move |right| (left, right)));
                let Some((left, right)) = pairs.into_iter().find(|(left, right)| may_overlap(left, right))
                else {
                    continue;
                };
                if warnings.len() == WARNINGS_MAX {
                    more += 1;
                    continue;
                }
                let what = format!(
                    "nodes `{}` and `{}` may run at the same time and write the same files: `{left}` and `{right}`",
                    node.name, other_node.name
                );
                let hint = format!("let one need the other, or narrow `writes` of `{}`", other_node.name);
                warnings.push(Problem::new(other_node.place, what).hint(Some(hint)));
            }
        }
        if more > 0
            && let Some(last) = warnings.last_mut()
        {
            last.what.push_str(&format!("; and {more} more pairs like this"));
        }
        warnings
    }

    /// One line per node, in order: its name and what it waits for.
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

    /// As a Mermaid flowchart.
    pub fn to_mermaid(&self) -> String {
        let mut chart = "flowchart TD\n".to_owned();
        for node in &self.order {
            // Numbers for ids: a name such as `end` means something to Mermaid.
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

/// Roots that nodes name and nobody declared, nodes that do not say which of several they mean, and folders that are not there. `from` is
/// the folder that relative paths start in.
pub fn root_problems(plan: &PlanFile, from: &Path) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, root) in &plan.roots {
        let folder = from.join(&root.path);
        if !folder.is_dir() {
            let what = format!("root `{name}`: `{}` is not a folder", folder.display());
            problems.push(Problem::new(root.place, what));
        }
    }
    for node in &plan.nodes {
        let what = match &node.root {
            Some(root) if plan.roots.contains_key(root) => continue,
            None if plan.roots.len() <= 1 => continue,
            Some(root) => {
                let hint = suggestion(root, plan.roots.keys().map(String::as_str));
                let what = format!("node `{}` works on root `{root}`, which is not declared", node.name);
                problems.push(Problem::new(node.place, what).hint(hint));
                continue;
            }
            None => {
                format!("node `{}` does not say which of {} roots it works on", node.name, plan.roots.len())
            }
        };
        problems.push(Problem::new(node.place, what).hint(Some("give it a `root`".to_owned())));
    }
    problems.sort();
    problems
}

#[cfg(test)]
mod tests;
