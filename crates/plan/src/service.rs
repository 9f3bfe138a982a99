//! `Plans`: creates, finds and steps plans.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use store::{
    Actor, AuditKind, ChangeEntry, ChangesetId, Name, NewPlan, OpenChangesets, Owner, PathBytes, PlanId,
    PlanQuery, PlanSelector, PlanStep, Store, Time, limits::PAGE_MAX,
};

use crate::record::changeset::reopen;
use crate::roots::{canonical, system_path};
use crate::timeline::{Event, timeline};
use crate::{
    Changeset, Detail, Error, LeaseOptions, Plan, PlanExecutionContext, Purpose, Result, State, Step, retry,
};

/// The plans of a store.
///
/// **Threads and processes.** Cheap to clone. Any number of threads and processes use one store at
/// the same time. Every change of a plan is one compare-and-set in the store: one of two concurrent
/// changes wins, and the error of the other names the winner.
///
/// **Failures.** A failed call changes nothing, unless [`Error::outcome`] is unknown; such a call
/// was repeated with the same request id before it failed. Returned plans are read from the store
/// after the change.
#[derive(Clone, Debug)]
pub struct Plans {
    store: Arc<dyn Store>,
    owner: Owner,
}

impl Plans {
    /// Opens the plans of a store. The owner of leases is this process with a random id.
    pub fn open(store: Arc<dyn Store>) -> Self {
        Self { store, owner: crate::process_identity::process_owner() }
    }

    /// Sets the owner of leases.
    #[must_use]
    pub fn with_owner(self, owner: Owner) -> Self {
        Self { owner, ..self }
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The owner of leases.
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// Creates a plan over these roots, which must exist. The plan is *queued*, and durable when
    /// this returns.
    pub fn create(&self, name: Option<Name>, roots: &[&Path], actor: &Actor) -> Result<Plan> {
        self.create_for(Purpose::Work, name, roots, actor)
    }

    /// Creates a plan for a purpose. `@latest` does not select undo plans.
    pub fn create_for(
        &self,
        purpose: Purpose,
        name: Option<Name>,
        roots: &[&Path],
        actor: &Actor,
    ) -> Result<Plan> {
        self.create_with(purpose, name, roots, &Detail::default(), actor)
    }

    /// Creates a plan with a detail.
    pub fn create_with(
        &self,
        purpose: Purpose,
        name: Option<Name>,
        roots: &[&Path],
        detail: &Detail,
        actor: &Actor,
    ) -> Result<Plan> {
        let paths = distinct(roots)?;
        let undo_of = match purpose {
            Purpose::Work => None,
            Purpose::Undo { of } => Some(of),
        };
        let plan = NewPlan {
            id: PlanId::new(),
            name,
            state: State::Queued.stored(),
            undo_of,
            roots: paths,
            detail: detail.to_json(),
            actor: actor.clone(),
        };
        Plan::from_stored(retry(|| self.store.create_plan(&plan))?)
    }

    /// Reads a plan by id.
    pub fn get(&self, id: PlanId) -> Result<Plan> {
        Plan::from_stored(self.store.plan(id)?)
    }

    /// Finds a plan by id, name, unique prefix of an id, or `@latest`: the newest plan that is not
    /// an undo.
    pub fn find(&self, selector: impl Into<PlanSelector>) -> Result<Plan> {
        Plan::from_stored(self.store.find_plan(&selector.into())?)
    }

    /// Lists plans, newest first: those in one of `states`, or all if it is empty; at most `limit`.
    pub fn list(&self, states: &[State], limit: Option<usize>) -> Result<Vec<Plan>> {
        self.list_since(states, None, limit.unwrap_or(usize::MAX))
    }

    /// Lists plans that changed at `changed_since` or later.
    pub(crate) fn list_since(
        &self,
        states: &[State],
        changed_since: Option<Time>,
        limit: usize,
    ) -> Result<Vec<Plan>> {
        let states: Vec<store::State> = states.iter().map(|state| state.stored()).collect();
        let mut plans: Vec<Plan> = Vec::new();
        loop {
            let page = (limit - plans.len()).min(PAGE_MAX);
            let after = plans.last().map(|plan| plan.id);
            let query = PlanQuery { states: states.clone(), changed_since, after, limit: Some(page) };
            let found = self.store.plans(&query)?;
            let is_full_page = found.len() == PAGE_MAX;
            for plan in found {
                plans.push(Plan::from_stored(plan)?);
            }
            if !is_full_page || plans.len() == limit {
                return Ok(plans);
            }
        }
    }

    /// Takes a plan to another state, if the table allows it and the plan has not changed since it
    /// was read.
    ///
    /// A step that the table does not allow is [`Error::IllegalStep`], which names the allowed
    /// states. When this returns, the step is durable with its audit record ([pln-swallow],
    /// [pln-twice], [pln-illegal]).
    pub fn step(&self, plan: &Plan, step: &Step) -> Result<Plan> {
        let (state, to) = (plan.state, step.to);
        if !state.allows(to) {
            return Err(Error::IllegalStep { plan: plan.id, state, to, allowed: state.next() });
        }
        self.store_step(plan, step)
    }

    /// Changes only the detail of a plan, in any state, if the plan has not changed since it was
    /// read.
    pub(crate) fn annotate(&self, plan: &Plan, step: &Step) -> Result<Plan> {
        self.store_step(plan, &Step { to: plan.state, ..step.clone() })
    }

    fn store_step(&self, plan: &Plan, step: &Step) -> Result<Plan> {
        let stored = PlanStep {
            plan: plan.id,
            request: step.request,
            from: plan.state.stored(),
            version: plan.version,
            to: step.to.stored(),
            epoch: step.epoch,
            open: step.open,
            detail: step.detail.as_ref().map(Detail::to_json),
            kind: step.kind.clone(),
            actor: step.actor.clone(),
            note: step.note.clone(),
        };
        retry(|| self.store.step_plan(&stored))?;
        self.get(plan.id)
    }

    /// Cancels a plan. Open changesets are abandoned in the same step, and later calls of their
    /// holders fail. Recorded changes are kept.
    pub fn cancel(&self, plan: &Plan, actor: &Actor, reason: &str) -> Result<Plan> {
        let step = Step::to(State::Cancelled, actor)
            .kind(AuditKind::parse("plan.cancelled").expect("a valid kind"))
            .note(json!({ "reason": reason }))
            .open(OpenChangesets::Abandon);
        self.step(plan, &step)
    }

    /// Makes a running plan *ready* if all its changesets are closed, and returns the plan.
    /// Concurrent calls take one step.
    pub fn mark_ready(&self, id: PlanId, actor: &Actor) -> Result<Plan> {
        let plan = self.get(id)?;
        if plan.state != State::Running {
            return Ok(plan);
        }
        match self.step(&plan, &Step::to(State::Ready, actor).open(OpenChangesets::Refuse)) {
            Err(Error::Store(store::Error::ChangesetsOpen { .. } | store::Error::Conflict { .. })) => {
                self.get(id)
            }
            stepped => stepped,
        }
    }

    /// Reads a plan; `None` if it was removed.
    pub(crate) fn try_get(&self, id: PlanId) -> Result<Option<Plan>> {
        match self.get(id) {
            Err(Error::Store(store::Error::NotFound { .. })) => Ok(None),
            plan => plan.map(Some),
        }
    }

    /// Reads the events of a plan from its audit chain, in order.
    pub fn timeline(&self, id: PlanId) -> Result<Vec<Event>> {
        timeline(self.store.as_ref(), id)
    }

    /// Returns the context in which actors start changesets.
    pub fn context(&self, id: PlanId) -> Result<PlanExecutionContext> {
        let plan = self.get(id)?;
        Ok(PlanExecutionContext::new(self.clone(), &plan))
    }

    /// Takes over an open changeset, to continue recording in another process or after its holder
    /// ended. See [`Changeset`].
    ///
    /// An owner that reopens its own changeset gets the same epoch and a handle that does not see
    /// later records of the other handle: within a process, clone the handle instead. A failure
    /// leaves the changeset unchanged, or leased to the caller.
    pub fn reopen(&self, id: ChangesetId, options: &LeaseOptions) -> Result<Changeset> {
        reopen(self, id, options)
    }

    /// Reads a changeset.
    pub fn changeset(&self, id: ChangesetId) -> Result<store::Changeset> {
        Ok(self.store.changeset(id)?)
    }

    /// Finds a changeset by id, or unique prefix of an id.
    pub fn find_changeset(&self, text: &str) -> Result<store::Changeset> {
        Ok(self.store.find_changeset(text)?)
    }

    /// Lists the changesets of a plan, in the order in which they were started.
    pub fn changesets(&self, plan: PlanId) -> Result<Vec<store::Changeset>> {
        Ok(self.store.changesets(plan)?)
    }

    /// Lists the changesets of actors, without the target logs of applies.
    pub fn changesets_of_actors(&self, plan: PlanId) -> Result<Vec<store::Changeset>> {
        let mut changesets = Vec::new();
        for changeset in self.changesets(plan)? {
            if !self.is_target_log(&changeset)? {
                changesets.push(changeset);
            }
        }
        Ok(changesets)
    }

    /// Reads all entries of a changeset, in order.
    pub fn entries(&self, changeset: ChangesetId) -> Result<Vec<ChangeEntry>> {
        all_entries(self.store.as_ref(), changeset)
    }
}

/// Reads all entries of a changeset, in order.
pub(crate) fn all_entries(store: &dyn Store, changeset: ChangesetId) -> Result<Vec<ChangeEntry>> {
    let mut entries = Vec::new();
    loop {
        let page = store.entries(changeset, entries.len() as u64, PAGE_MAX)?;
        let is_full_page = page.len() == PAGE_MAX;
        entries.extend(page);
        if !is_full_page {
            return Ok(entries);
        }
    }
}

/// Removes duplicate roots. A root inside another one is an error: its files would have two paths.
fn distinct(roots: &[&Path]) -> Result<Vec<PathBytes>> {
    let mut paths: Vec<PathBytes> = Vec::with_capacity(roots.len());
    for root in roots {
        let path = canonical(root)?;
        if paths.contains(&path) {
            continue;
        }
        let (this, mut others) = (system_path(&path), paths.iter().map(system_path));
        if let Some(other) = others.find(|other| this.starts_with(other) || other.starts_with(&this)) {
            let reason = format!("it overlaps with `{}`", other.display());
            return Err(Error::BadRoot { root: (*root).to_owned(), reason });
        }
        paths.push(path);
    }
    Ok(paths)
}
