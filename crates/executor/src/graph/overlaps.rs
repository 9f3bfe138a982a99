//! Nodes that may run concurrently and change the same files.
//!
//! Only patterns with a common beginning are compared: a pattern is found by its leading names without
//! wildcards, so nodes that work in different folders cost nothing.

use std::collections::BTreeMap;

use plan::may_overlap;

use super::{Graph, NodeIndex};
use crate::{NodeSpec, PlanFile, Problem};

/// The most warnings about one plan. The last one counts the others.
pub(super) const WARNINGS_MAX: usize = 50;
/// The most pairs of patterns that are compared.
pub(super) const COMPARISONS_MAX: usize = 200_000;
/// Characters that make a name a pattern.
const WILDCARDS: [char; 5] = ['*', '?', '[', '{', '\\'];

/// The overlaps of a plan.
#[derive(Default)]
pub(super) struct Overlaps {
    pub warnings: Vec<Problem>,
    /// Pairs of nodes beyond the listed ones.
    more: usize,
    /// Compared pairs of patterns.
    pub comparisons: usize,
}

impl Overlaps {
    pub(super) fn of(graph: &Graph, plan: &PlanFile) -> Self {
        let ancestors = graph.ancestors();
        let comes_before = |one: usize, other: usize| ancestors[other][one / 64] >> (one % 64) & 1 == 1;
        let index = PrefixIndex::of(plan);
        let mut overlaps = Self::default();
        for (one, node) in plan.nodes.iter().enumerate() {
            for other in index.later(one, node) {
                if comes_before(one, other) || comes_before(other, one) {
                    continue;
                }
                if overlaps.comparisons >= COMPARISONS_MAX {
                    return overlaps.incomplete(node);
                }
                overlaps.compare(node, &plan.nodes[other]);
            }
        }
        overlaps.complete()
    }

    fn compare(&mut self, node: &NodeSpec, other: &NodeSpec) {
        let (paths, other_paths) = (node.paths.iter().flatten(), other.paths.iter().flatten());
        let pairs = paths.flat_map(|left| other_paths.clone().map(move |right| (left, right)));
        let overlap = pairs.inspect(|_| self.comparisons += 1).find(|(left, right)| may_overlap(left, right));
        let Some((left, right)) = overlap else { return };
        if self.warnings.len() == WARNINGS_MAX {
            self.more += 1;
            return;
        }
        let message = format!(
            "nodes `{}` and `{}` may run concurrently and change the same files: `{left}` and `{right}`",
            node.name, other.name
        );
        let hint = format!("let one need the other, or narrow `paths` of `{}`", other.name);
        self.warnings.push(Problem::new(other.position, message).hint(Some(hint)));
    }

    fn complete(mut self) -> Self {
        if self.more > 0
            && let Some(last) = self.warnings.last_mut()
        {
            last.message.push_str(&format!("; and {} more pairs like this", self.more));
        }
        self
    }

    /// Ends the comparison at a node.
    fn incomplete(self, node: &NodeSpec) -> Self {
        let mut overlaps = self.complete();
        let message = format!(
            "only {COMPARISONS_MAX} pairs of patterns were compared, up to node `{}`: others may overlap",
            node.name
        );
        overlaps.warnings.push(Problem::new(node.position, message));
        overlaps
    }
}

/// The nodes by root and by the leading names of their patterns, up to the first wildcard.
struct PrefixIndex<'a>(BTreeMap<(Option<&'a str>, Vec<&'a str>), Vec<NodeIndex>>);

impl<'a> PrefixIndex<'a> {
    fn of(plan: &'a PlanFile) -> Self {
        let mut index: BTreeMap<_, Vec<NodeIndex>> = BTreeMap::new();
        for (at, node) in plan.nodes.iter().enumerate() {
            for pattern in node.paths.iter().flatten() {
                index.entry((node.root.as_deref(), prefix(pattern))).or_default().push(at);
            }
        }
        Self(index)
    }

    /// The later nodes with a pattern that begins like one of this node, or the other way round.
    fn later(&self, one: NodeIndex, node: &'a NodeSpec) -> Vec<NodeIndex> {
        let root = node.root.as_deref();
        let mut later = Vec::new();
        for pattern in node.paths.iter().flatten() {
            let prefix = prefix(pattern);
            let shorter = (0..prefix.len()).filter_map(|end| self.0.get(&(root, prefix[..end].to_vec())));
            let longer = self.0.range((root, prefix.clone())..);
            let longer =
                longer.take_while(|((other, names), _)| *other == root && names.starts_with(&prefix));
            // Nodes are in the order of the file.
            let after = |nodes: &Vec<NodeIndex>| nodes[nodes.partition_point(|at| *at <= one)..].to_vec();
            later.extend(shorter.flat_map(after));
            later.extend(longer.flat_map(|(_, nodes)| after(nodes)));
        }
        later.sort_unstable();
        later.dedup();
        later
    }
}

fn prefix(pattern: &str) -> Vec<&str> {
    let names = pattern.trim_end_matches('/').split('/');
    names.take_while(|name| !name.contains(WILDCARDS)).collect()
}
