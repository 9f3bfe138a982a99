//! The end of a run: the next state of its plan, and the summary.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use filetx::error_chain;
use plan::{Combined, OverlaySource, Selection, State, Step, StoredBlobs};
use serde_json::json;
use store::{AuditKind, OpenChangesets};

use super::context::RunContext;
use super::schedule::is_superseded;
use super::state::Outcome;
use super::{Event, Summary};
use crate::{Error, Result};

impl RunContext<'_> {
    /// Fails the plan for a reason that is not a node's, and returns that reason.
    pub(super) fn fail(&self, error: Error) -> Result<Summary> {
        self.end_plan(State::Failed, Some(error_chain(&error)))?;
        Err(error)
    }

    /// Steps the plan by the outcomes of its nodes.
    pub(super) fn conclude(&self) -> Result<Summary> {
        let open_outcome = |node| {
            let tracked = self.node(node);
            tracked.state.outcome().filter(|_| !tracked.is_done(self.spec(node)))
        };
        let open: Vec<Outcome> = (0..self.nodes.len()).filter_map(open_outcome).collect();
        let combined = self.combined()?;
        let conflicts = combined.conflicts().count();
        let count = |outcome| open.iter().filter(|other| **other == outcome).count();
        let failed = open.len() - count(Outcome::Skipped) - count(Outcome::Stopped);
        let (state, error) = if self.cancel.is_cancelled() {
            // The plan is not cancelled: finished nodes stay finished, and the others can be resumed.
            (State::Failed, Some("the run was cancelled".to_owned()))
        } else if failed > count(Outcome::Conflict) {
            (State::Failed, Some(self.first_failure()))
        } else if failed > 0 || conflicts > 0 {
            (State::Conflict, Some("actors changed the same lines".to_owned()))
        } else {
            (State::Ready, None)
        };
        self.end_plan(state, error)?;
        self.summarize(&combined)
    }

    /// Handles an error caused by another process that took the run over or cancelled the plan.
    pub(super) fn superseded(&self, error: Error) -> Result<Summary> {
        match self.plans.get(self.plan)?.state {
            State::Cancelled => {
                self.cancel.cancel_gracefully();
                self.end_remaining()?;
                self.summarize(&self.combined()?)
            }
            _ if is_superseded(&error) || matches!(error, Error::LeaseLost { .. }) => Err(self.lease_lost()),
            _ => Err(error),
        }
    }

    fn first_failure(&self) -> String {
        let order = self.checked.graph.order();
        let failure = order.iter().find_map(|node| {
            let tracked = self.node(*node);
            let is_failure = !tracked.is_done(self.spec(*node))
                && !matches!(tracked.state.outcome(), Some(Outcome::Skipped | Outcome::Stopped));
            let reason = tracked.record.reason.clone().unwrap_or_default();
            is_failure.then(|| format!("node `{}`: {reason}", self.spec(*node).name))
        });
        failure.unwrap_or_default()
    }

    fn end_plan(&self, to: State, error: Option<String>) -> Result<()> {
        let plan = self.plans.get(self.plan)?;
        if plan.state != State::Running {
            // Another process cancelled it.
            return Ok(());
        }
        let mut detail = plan.detail.clone();
        detail.error.clone_from(&error);
        let (kind, open) = match to {
            State::Conflict => ("plan.conflict", OpenChangesets::Refuse),
            State::Failed => ("plan.failed", OpenChangesets::Leave),
            _ => ("plan.step", OpenChangesets::Refuse),
        };
        let step = Step::to(to, &self.started_by)
            .kind(AuditKind::parse(kind).expect("words with a dot"))
            .note(json!({ "error": error }))
            .detail(detail)
            .open(open)
            .epoch(self.lease.epoch());
        self.plans.step(&plan, &step)?;
        Ok(())
    }

    fn combined(&self) -> Result<Combined> {
        Ok(self.plans.combine(self.plan, &Selection::default(), self.record.merge)?)
    }

    /// Makes the summary, and emits the end of the run.
    fn summarize(&self, combined: &Combined) -> Result<Summary> {
        let plan = self.plans.get(self.plan)?;
        let stored = StoredBlobs(self.store());
        let contents = OverlaySource { overlay: &combined.unstored, base: &stored };
        let shown = combined.diff_entries();
        let (mut added, mut removed) = (0, 0);
        for shown in &shown {
            for file in plan::diffs(shown, &contents)? {
                added += file.added;
                removed += file.removed;
            }
        }
        let nodes = self.checked.graph.order().iter().map(|node| self.node(*node).report());
        let summary = Summary {
            plan: plan.id,
            name: plan.name.as_ref().map(ToString::to_string),
            state: plan.state,
            nodes: nodes.collect(),
            files_changed: shown.len(),
            added,
            removed,
            conflicts: combined.conflicts().cloned().collect(),
            notes: self.notes.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            cancelled: self.cancel.is_cancelled() || plan.state == State::Cancelled,
        };
        self.emit_run_ended(&summary);
        Ok(summary)
    }

    fn emit_run_ended(&self, summary: &Summary) {
        let mut counts = BTreeMap::new();
        for outcome in summary.nodes.iter().filter_map(|node| node.state.outcome()) {
            *counts.entry(outcome).or_insert(0) += 1;
        }
        let state = summary.state.as_str().to_owned();
        self.emit(Event::RunEnded { plan: self.plan.to_string(), state, counts });
    }
}
