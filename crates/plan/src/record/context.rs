//! `PlanExecutionContext`: starts changesets for the actors of a plan.

use std::path::Path;
use std::sync::Arc;

use store::{
    Actor, ChangesetId, Epoch, LeaseRequest, NewChangeset, NodeId, OpenChangesets, PathBytes, PlanId,
};

use crate::record::changeset::{Changeset, LeaseOptions};
use crate::roots::{Roots, canonical};
use crate::{Error, Plan, Plans, Result, State, Step, retry};

/// Attempts to start a changeset while other processes keep ending the last changesets of the plan.
const STARTS_MAX: usize = 100;

/// A plan that actors work on.
///
/// **Threads.** `Send + Sync`, and cheap to clone. Any number of threads share one context.
/// Starting a changeset sets no ambient state, neither in the thread nor in the context: only the
/// returned handle records into it. No entry can go to the changeset that was started last by
/// mistake.
///
/// **Processes.** Any number of processes may have a context of the same plan.
///
/// **Failures.** A failed start leaves no changeset, and the plan unchanged or *running*.
#[derive(Clone, Debug)]
pub struct PlanExecutionContext {
    plans: Plans,
    plan: PlanId,
    roots: Arc<Roots>,
    epoch: Option<Epoch>,
}

impl PlanExecutionContext {
    pub(crate) fn new(plans: Plans, plan: &Plan) -> Self {
        let roots = Arc::new(Roots::new(&plans, plan));
        Self { plans, plan: plan.id, roots, epoch: None }
    }

    /// Fences the context with the epoch of a lease on the plan: once another process takes the
    /// lease, no changeset is started.
    #[must_use]
    pub fn fenced(self, epoch: Epoch) -> Self {
        Self { epoch: Some(epoch), ..self }
    }

    /// The id of the plan.
    pub fn plan(&self) -> PlanId {
        self.plan
    }

    /// The plans of the store.
    pub fn plans(&self) -> &Plans {
        &self.plans
    }

    /// The roots of the plan.
    pub fn roots(&self) -> &[PathBytes] {
        self.roots.paths()
    }

    /// Returns the root at a folder. A folder that is not a root of the plan is
    /// [`Error::ForeignRoot`].
    pub fn root(&self, folder: &Path) -> Result<PathBytes> {
        self.roots.choose(Some(&canonical(folder)?)).cloned()
    }

    /// Starts a changeset for an actor. When this returns, the changeset is durable and its plan is
    /// *running*.
    ///
    /// Any number of threads may start changesets at the same time, for the same actor too.
    pub fn start_changeset(&self, actor: &Actor) -> Result<Changeset> {
        self.start(actor, None, &LeaseOptions::default())
    }

    /// Starts a changeset for a node of the plan, with lease options.
    pub fn start(&self, actor: &Actor, node: Option<NodeId>, options: &LeaseOptions) -> Result<Changeset> {
        let new = NewChangeset {
            id: ChangesetId::new(),
            plan: self.plan,
            node,
            actor: actor.clone(),
            lease: LeaseRequest { owner: self.plans.owner().clone(), duration: options.duration },
            plan_states: vec![State::Running.stored()],
            plan_epoch: self.epoch,
        };
        for _ in 0..STARTS_MAX {
            match retry(|| self.plans.store().start_changeset(&new)) {
                Ok(lease) => {
                    return Ok(Changeset::started(&self.plans, &new, lease, Arc::clone(&self.roots)));
                }
                // Only the first changeset of a plan, and one after `mark_ready`, take this path.
                Err(store::Error::WrongState { .. }) => self.run(actor)?,
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Contended { plan: self.plan })
    }

    /// Makes the plan *running*. A concurrent step to *running* is a success.
    fn run(&self, actor: &Actor) -> Result<()> {
        let plan = self.plans.get(self.plan)?;
        if plan.state == State::Running {
            return Ok(());
        }
        let step = Step { epoch: self.epoch, ..Step::to(State::Running, actor).open(OpenChangesets::Leave) };
        match self.plans.step(&plan, &step) {
            Ok(_) | Err(Error::Store(store::Error::Conflict { .. })) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
