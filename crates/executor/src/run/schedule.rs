//! Which node runs when: as many at once as are wanted, the others in line.

use std::sync::mpsc::{Sender, channel};

use super::context::Engine;
use super::state::Outcome;
use crate::{Error, NodeIndex, Ready, Result};

/// Tells that a node's thread is over, however it ended.
struct Over {
    node: NodeIndex,
    ended: Option<Result<()>>,
    to: Sender<(NodeIndex, Option<Result<()>>)>,
}

impl Over {
    fn end(&mut self, ended: Result<()>) {
        self.ended = Some(ended);
    }
}

impl Drop for Over {
    fn drop(&mut self) {
        drop(self.to.send((self.node, self.ended.take())));
    }
}

impl Engine<'_> {
    /// Runs all nodes that can be run. Every node has ended when this returns without an error; with one, what was under way has.
    pub(crate) fn drive(&self) -> Result<()> {
        let graph = &self.checked.graph;
        let mut ready = Ready::new(graph);
        let failure = std::thread::scope(|scope| {
            let (to, over) = channel();
            let (mut running, mut failure) = (0, None);
            loop {
                while running < self.run.terms.concurrency && !self.cancel.is_stopping() {
                    let Some(node) = ready.take() else { break };
                    if self.node(node).is_done(self.spec(node)) {
                        ready.done(graph, node);
                        continue;
                    }
                    running += 1;
                    let mut thread = Over { node, ended: None, to: to.clone() };
                    scope.spawn(move || thread.end(self.run_node(node)));
                }
                if running == 0 {
                    return failure;
                }
                let (node, ended) = over.recv().expect("this end has a sender too");
                running -= 1;
                let settled = ended.unwrap_or(Ok(())).and_then(|()| self.settle(&mut ready, node));
                if let Err(error) = settled {
                    failure.get_or_insert(error);
                    self.cancel.stop();
                }
            }
        });
        match failure {
            Some(error) => Err(error),
            None => self.give_up_the_rest(),
        }
    }

    /// What the end of a node means for the others.
    fn settle(&self, ready: &mut Ready, node: NodeIndex) -> Result<()> {
        let (graph, spec) = (&self.checked.graph, self.spec(node));
        if self.node(node).is_done(spec) {
            ready.done(graph, node);
            return Ok(());
        }
        let is_failure =
            !matches!(self.node(node).state.outcome(), Some(Outcome::Cancelled | Outcome::Stopped));
        // When everything ends, what is left ends for the same reason.
        if is_failure && !self.cancel.is_stopping() {
            if self.run.fail_fast {
                self.cancel.stop();
                return Ok(());
            }
            let reason = format!("`{}`, which it needs, did not succeed", spec.name);
            for behind in ready.failed(graph, node) {
                self.give_up(behind, Outcome::Skipped, &reason)?;
            }
        }
        Ok(())
    }

    /// Ends what has not ended: what waits, and what was under way when the plan was given up.
    pub(crate) fn give_up_the_rest(&self) -> Result<()> {
        for node in self.checked.graph.order().to_vec() {
            if self.node(node).state.outcome().is_none() {
                let (outcome, reason) = match self.cancel.is_cancelled() {
                    true => (Outcome::Cancelled, "the run was cancelled"),
                    false => (Outcome::Stopped, "another node failed"),
                };
                self.give_up(node, outcome, reason)?;
            }
        }
        Ok(())
    }
}

/// Whether an error says that somebody else has changed what this run thought was its own.
pub(crate) fn is_taken(error: &Error) -> bool {
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
