//! `PlanExecutionContext`: where the actors of a plan start their changesets.

use std::path::Path;
use std::sync::Arc;

use store::{Actor, ChangesetId, Epoch, Holding, NewChangeset, NodeId, OpenChangesets, PathBytes, PlanId};

use crate::record::changeset::{Changeset, Terms};
use crate::roots::{Roots, canonical};
use crate::{Error, Plan, Plans, Result, State, Step, retry};

/// How often a start is tried while others keep ending the plan's last changesets.
const STARTS_MAX: usize = 100;

/// A plan that actors work on.
///
/// **Threads.** `Send + Sync`, and cheap to clone: one context is shared by as many threads as like. Starting a changeset sets nothing
/// ambient, neither for the thread nor for the context: the handle that comes back is the only way to record into it. So there is no
/// *last started* changeset that an entry could go to by mistake.
///
/// **Processes.** Any number of processes may have a context of the same plan.
///
/// **Failures.** A changeset that could not be started is not there, and the plan is as it was, or *running*.
#[derive(Clone, Debug)]
pub struct PlanExecutionContext {
    plans: Plans,
    plan: PlanId,
    roots: Arc<Roots>,
    epoch: Option<Epoch>,
}

impl PlanExecutionContext {
    pub(crate) fn new(plans: Plans, plan: &Plan) -> Self {
        let roots = Arc::new(Roots::new(plan.id, plan.roots.clone()));
        Self { plans, plan: plan.id, roots, epoch: None }
    }

    /// The same for whoever holds the lease on the plan: once it has changed hands, no changeset is started.
    #[must_use]
    pub fn fenced(self, epoch: Epoch) -> Self {
        Self { epoch: Some(epoch), ..self }
    }

    /// The plan.
    pub fn plan(&self) -> PlanId {
        self.plan
    }

    /// The plans that it is one of.
    pub fn plans(&self) -> &Plans {
        &self.plans
    }

    /// The folders that it changes.
    pub fn roots(&self) -> &[PathBytes] {
        self.roots.paths()
    }

    /// The root that a person means by a folder. Another folder than the plan's is refused.
    pub fn root(&self, folder: &Path) -> Result<PathBytes> {
        self.roots.choose(Some(&canonical(folder)?)).cloned()
    }

    /// Starts a changeset for an actor. When this returns it is durable with its plan, which is *running*: any process finds it.
    ///
    /// Any number of threads may start changesets at the same time, for the same actor too. A failure leaves none.
    pub fn start_changeset(&self, actor: &Actor) -> Result<Changeset> {
        self.start(actor, None, &Terms::default())
    }

    /// The same, for a node of the plan, and on other terms.
    pub fn start(&self, actor: &Actor, node: Option<NodeId>, terms: &Terms) -> Result<Changeset> {
        let new = NewChangeset {
            id: ChangesetId::new(),
            plan: self.plan,
            node,
            actor: actor.clone(),
            holding: Holding { owner: self.plans.owner().clone(), duration: terms.duration },
            plan_states: vec![State::Running.stored()],
            plan_epoch: self.epoch,
        };
        for _ in 0..STARTS_MAX {
            match retry(|| self.plans.store().start_changeset(&new)) {
                Ok(lease) => {
                    return Ok(Changeset::started(&self.plans, &new, lease, Arc::clone(&self.roots)));
                }
                // The usual case is one call. Only the first changeset, and one behind a plan that was settled, come here.
                Err(store::Error::WrongState { .. }) => self.run(actor)?,
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Unsettled { plan: self.plan })
    }

    /// Makes the plan *running*, whoever does it first.
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
