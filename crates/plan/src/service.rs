//! `Plans`: making, finding and stepping plans. The one place of this crate that decides what is asked of the store about them.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use store::{
    Actor, ChangeEntry, ChangesetId, Kind, Name, NewPlan, OpenChangesets, Owner, PathBytes, PlanId,
    PlanQuery, PlanSelector, PlanStep, Store, Time, limits::PAGE_MAX,
};

use crate::record::changeset::reopen;
use crate::roots::{canonical, system_path};
use crate::timeline::{Event, timeline};
use crate::{
    Changeset, Detail, Error, Plan, PlanExecutionContext, Purpose, Result, State, Step, Terms, retry,
};

/// The plans of a store.
///
/// **Threads and processes.** Cheap to clone; any number of threads and processes use one store at the same time. Every change of a plan
/// is one compare-and-set in the store: of two that try, one wins, and the other's error names the winner.
///
/// **Failures.** A call that fails changed nothing, unless [`Error::outcome`] says that it is not known; such calls have been asked again
/// with the same request id a few times before they give up. What a call returns was read back from the store.
#[derive(Clone, Debug)]
pub struct Plans {
    store: Arc<dyn Store>,
    owner: Owner,
}

impl Plans {
    /// Over a store. Leases are held in the name of this process and something drawn at random.
    pub fn open(store: Arc<dyn Store>) -> Self {
        Self { store, owner: crate::process_identity::process_owner() }
    }

    /// The same, holding leases in another name.
    #[must_use]
    pub fn with_owner(self, owner: Owner) -> Self {
        Self { owner, ..self }
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// In whose name leases are held.
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// Makes a plan that changes these folders, which must be there. It is *queued*, and durable when this returns.
    pub fn create(&self, name: Option<Name>, roots: &[&Path], who: &Actor) -> Result<Plan> {
        self.create_for(Purpose::Work, name, roots, who)
    }

    /// Makes a plan for a purpose. One that undoes another is not what `@latest` means.
    pub fn create_for(
        &self,
        purpose: Purpose,
        name: Option<Name>,
        roots: &[&Path],
        who: &Actor,
    ) -> Result<Plan> {
        self.create_with(purpose, name, roots, &Detail::default(), who)
    }

    /// The same, with something that is kept with it.
    pub fn create_with(
        &self,
        purpose: Purpose,
        name: Option<Name>,
        roots: &[&Path],
        detail: &Detail,
        who: &Actor,
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
            who: who.clone(),
        };
        Plan::from_stored(retry(|| self.store.create_plan(&plan))?)
    }

    /// The plan with this id.
    pub fn get(&self, id: PlanId) -> Result<Plan> {
        Plan::from_stored(self.store.plan(id)?)
    }

    /// The plan that a person means: by id, name, the beginning of one id, or `@latest`, the newest that is not an undo.
    pub fn find(&self, selector: impl Into<PlanSelector>) -> Result<Plan> {
        Plan::from_stored(self.store.find_plan(&selector.into())?)
    }

    /// Plans, newest first: those in one of these states, or all when none is given; at most `limit`, or all.
    pub fn list(&self, states: &[State], limit: Option<usize>) -> Result<Vec<Plan>> {
        self.listed(states, None, limit.unwrap_or(usize::MAX))
    }

    /// The same of those that were changed at a time or later.
    pub(crate) fn listed(
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
            let whole = found.len() == PAGE_MAX;
            for plan in found {
                plans.push(Plan::from_stored(plan)?);
            }
            if !whole || plans.len() == limit {
                return Ok(plans);
            }
        }
    }

    /// Takes a plan to another state, if the table allows it and nobody has changed the plan since it was read.
    ///
    /// A step that the table does not allow is refused before the store is asked, with the steps that are allowed. When this returns the
    /// step is durable with its audit record, and the plan is what was read back ([pln-swallow], [pln-twice], [pln-illegal]).
    pub fn step(&self, plan: &Plan, step: &Step) -> Result<Plan> {
        let (state, to) = (plan.state, step.to);
        if !state.allows(to) {
            return Err(Error::IllegalStep { plan: plan.id, state, to, allowed: state.next() });
        }
        self.take(plan, step)
    }

    /// Changes only what is kept with a plan, in whatever state it is, if nobody has changed the plan since it was read.
    pub(crate) fn annotate(&self, plan: &Plan, step: &Step) -> Result<Plan> {
        self.take(plan, &Step { to: plan.state, ..step.clone() })
    }

    fn take(&self, plan: &Plan, step: &Step) -> Result<Plan> {
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
            who: step.who.clone(),
            note: step.note.clone(),
        };
        retry(|| self.store.step_plan(&stored))?;
        self.get(plan.id)
    }

    /// Gives a plan up. Open changesets are abandoned in the same step, and their holders are refused from then on; what was recorded is
    /// kept.
    pub fn cancel(&self, plan: &Plan, who: &Actor, reason: &str) -> Result<Plan> {
        let step = Step::to(State::Cancelled, who)
            .kind(Kind::parse("plan.cancelled").expect("words with a dot"))
            .note(json!({ "reason": reason }))
            .open(OpenChangesets::Abandon);
        self.step(plan, &step)
    }

    /// Makes a running plan *ready* when all its changesets are closed. Gives the plan as it is then; it stays running when one is open.
    ///
    /// Asked by many at once, one step is taken.
    pub fn settle(&self, id: PlanId, who: &Actor) -> Result<Plan> {
        let plan = self.get(id)?;
        if plan.state != State::Running {
            return Ok(plan);
        }
        match self.step(&plan, &Step::to(State::Ready, who).open(OpenChangesets::Refuse)) {
            Err(Error::Store(store::Error::StillOpen { .. } | store::Error::Conflict { .. })) => self.get(id),
            stepped => stepped,
        }
    }

    /// A plan, unless it was removed.
    pub(crate) fn get_if_there(&self, id: PlanId) -> Result<Option<Plan>> {
        match self.get(id) {
            Err(Error::Store(store::Error::NotFound { .. })) => Ok(None),
            plan => plan.map(Some),
        }
    }

    /// Everything that happened to a plan, from its audit chain, in order.
    pub fn timeline(&self, id: PlanId) -> Result<Vec<Event>> {
        timeline(self.store.as_ref(), id)
    }

    /// The context in which a plan's actors record.
    pub fn context(&self, id: PlanId) -> Result<PlanExecutionContext> {
        let plan = self.get(id)?;
        Ok(PlanExecutionContext::new(self.clone(), &plan))
    }

    /// Takes a changeset over, to go on recording into it: in another process, or after the one that had it ended. See [`Changeset`].
    ///
    /// Its entries are read once, so that later changes build on them. Whoever reopens what it holds already gets the same epoch and a handle
    /// that does not see what the other one records from then on: within a process, clone the handle instead. A failure leaves the
    /// changeset as it was, or leased to the caller.
    pub fn reopen(&self, id: ChangesetId, terms: &Terms) -> Result<Changeset> {
        reopen(self, id, terms)
    }

    /// A changeset, as it is now.
    pub fn changeset(&self, id: ChangesetId) -> Result<store::Changeset> {
        Ok(self.store.changeset(id)?)
    }

    /// The changeset that a person means: by its id, or the beginning of one.
    pub fn find_changeset(&self, text: &str) -> Result<store::Changeset> {
        Ok(self.store.find_changeset(text)?)
    }

    /// The changesets of a plan, in the order in which they were started.
    pub fn changesets(&self, plan: PlanId) -> Result<Vec<store::Changeset>> {
        Ok(self.store.changesets(plan)?)
    }

    /// Those of actors: without what applies wrote down.
    pub fn changesets_of_actors(&self, plan: PlanId) -> Result<Vec<store::Changeset>> {
        let mut theirs = Vec::new();
        for changeset in self.changesets(plan)? {
            if !self.is_written_down(&changeset)? {
                theirs.push(changeset);
            }
        }
        Ok(theirs)
    }

    /// All entries of a changeset, in order.
    pub fn entries(&self, changeset: ChangesetId) -> Result<Vec<ChangeEntry>> {
        all_entries(self.store.as_ref(), changeset)
    }
}

/// All entries of a changeset, in order.
pub(crate) fn all_entries(store: &dyn Store, changeset: ChangesetId) -> Result<Vec<ChangeEntry>> {
    let mut entries = Vec::new();
    loop {
        let page = store.entries(changeset, entries.len() as u64, PAGE_MAX)?;
        let whole = page.len() == PAGE_MAX;
        entries.extend(page);
        if !whole {
            return Ok(entries);
        }
    }
}

/// The roots, each once. One inside another would give a file two names.
fn distinct(roots: &[&Path]) -> Result<Vec<PathBytes>> {
    let mut paths: Vec<PathBytes> = Vec::with_capacity(roots.len());
    for root in roots {
        let path = canonical(root)?;
        if paths.contains(&path) {
            continue;
        }
        let (own, mut others) = (system_path(&path), paths.iter().map(system_path));
        if let Some(other) = others.find(|other| own.starts_with(other) || other.starts_with(&own)) {
            let reason = format!("one of it and `{}` is inside the other", other.display());
            return Err(Error::BadRoot { root: (*root).to_owned(), reason });
        }
        paths.push(path);
    }
    Ok(paths)
}
