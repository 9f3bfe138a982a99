//! Scheduling: starts ready nodes up to the concurrency of the run, and handles their ends.

use std::sync::mpsc::{Sender, channel};

use super::context::RunContext;
use super::state::Outcome;
use crate::{Error, NodeIndex, Ready, Result};

/// Reports the end of a node's thread, also after a panic.
struct EndReport {
    node: NodeIndex,
    result: Option<Result<()>>,
    to: Sender<(NodeIndex, Option<Result<()>>)>,
}

impl EndReport {
    fn end(&mut self, result: Result<()>) {
        self.result = Some(result);
    }
}

impl Drop for EndReport {
    fn drop(&mut self) {
        drop(self.to.send((self.node, self.result.take())));
    }
}

impl RunContext<'_> {
    /// Runs all nodes that can run. On success every node has ended; on error no node is running.
    pub(crate) fn schedule(&self) -> Result<()> {
        let graph = &self.checked.graph;
        let mut ready = Ready::new(graph);
        let failure = std::thread::scope(|scope| {
            let (to, ends) = channel();
            let (mut running, mut failure) = (0, None);
            loop {
                while running < self.record.settings.concurrency && !self.cancel.is_stopping() {
                    let Some(node) = ready.take() else { break };
                    if self.node(node).is_done(self.spec(node)) {
                        ready.done(graph, node);
                        continue;
                    }
                    running += 1;
                    let mut report = EndReport { node, result: None, to: to.clone() };
                    scope.spawn(move || report.end(self.run_node(node)));
                }
                if running == 0 {
                    return failure;
                }
                let (node, result) = ends.recv().expect("this thread holds a sender");
                running -= 1;
                let handled = result.unwrap_or(Ok(())).and_then(|()| self.node_ended(&mut ready, node));
                if let Err(error) = handled {
                    failure.get_or_insert(error);
                    self.cancel.stop();
                }
            }
        });
        match failure {
            Some(error) => Err(error),
            None => self.end_remaining(),
        }
    }

    /// Releases the nodes that need an ended node, or skips them.
    fn node_ended(&self, ready: &mut Ready, node: NodeIndex) -> Result<()> {
        let (graph, spec) = (&self.checked.graph, self.spec(node));
        if self.node(node).is_done(spec) {
            ready.done(graph, node);
            return Ok(());
        }
        let outcome = self.node(node).state.outcome();
        let is_failure = !matches!(outcome, Some(Outcome::Cancelled | Outcome::Stopped));
        // A stopping run ends its other nodes for the reason of the stop.
        if is_failure && !self.cancel.is_stopping() {
            if self.record.fail_fast {
                self.cancel.stop();
                return Ok(());
            }
            let reason = format!("{} {}", spec.name, outcome.map_or("failed", Outcome::phrase));
            for dependent in ready.failed(graph, node) {
                self.end_unstarted(dependent, Outcome::Skipped, &reason)?;
            }
        }
        Ok(())
    }

    /// Ends all nodes that have not ended: waiting ones, and running ones of a cancelled plan.
    pub(crate) fn end_remaining(&self) -> Result<()> {
        for node in self.checked.graph.order().to_vec() {
            if self.node(node).state.outcome().is_none() {
                let (outcome, reason) = match self.cancel.is_cancelled() {
                    true => (Outcome::Cancelled, "the run was cancelled"),
                    false => (Outcome::Stopped, "another node failed"),
                };
                self.end_unstarted(node, outcome, reason)?;
            }
        }
        Ok(())
    }
}

/// Returns true if an error says that another process has changed the plan or its nodes.
pub(crate) fn is_superseded(error: &Error) -> bool {
    matches!(
        error,
        Error::Plan(
            plan::Error::IllegalStep { .. }
                | plan::Error::Store(
                    store::Error::Conflict { .. } | store::Error::Stale { .. } | store::Error::Closed { .. }
                )
        )
    )
}
