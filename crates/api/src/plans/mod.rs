//! Plans: create, review, apply, undo and prune.
//!
//! [`Plans::open`] finds a plan, and finishes and reports interrupted applies in its roots. Other calls take the plan
//! that it returns.

pub(crate) mod changesets;
pub(crate) mod report;
mod review;
mod root_path;

use std::path::{Path, PathBuf};
use std::time::Duration;

pub use plan::{
    Actor, Attribution, Change, ChangeKind, Conflict, Event as PlanEvent, FileDiff, FileSide, Plan,
    PlanExecutionContext, Purpose, Recovery, Selection, plural, write_patch,
};
use plan::{ApplyRequest, Event, Force, Host, PruneReport, State, Strategy, UndoRequest};
use store::{Name, PlanSelector};

pub use changesets::{Edit, NewEntry};
pub use report::{
    Applied, ChangesetDetail, Cleaning, Closed, FileState as FileOutcome, PlanDetail, RecordedEntry,
    conflict_line, special_mode,
};
pub use review::{Difference, Resolution};
pub use store::{ChangeEntry, Changeset, Operation, PathBytes};

use crate::admin::stores::StoreLocation;
use crate::files::open;
use crate::{Agents, Error, Kind, Problem, RunSettings, Wait};

/// Similarity from which a name is suggested, 0 to 1.
const ALIKE_MIN: f64 = 0.6;
/// Actor of a call whose user is unknown.
const UNKNOWN_ACTOR: &str = "unknown";

/// Plans of one user. Thread and process safe, as [`plan::Plans`] is.
#[derive(Debug)]
pub struct Plans {
    pub(crate) agents: Agents,
    pub(crate) inner: plan::Plans,
    pub(crate) who: Actor,
    pub(crate) strategy: Strategy,
}

/// An opened plan.
#[derive(Debug)]
pub struct Opened {
    /// The plan.
    pub plan: Plan,
    /// Interrupted applies in its roots that opening finished.
    pub recovered: Vec<Recovery>,
    /// Reason why an interrupted apply could not be finished.
    pub problem: Option<Problem>,
}

/// Options of an apply.
#[derive(Clone, Default, Debug)]
pub struct ApplyOptions {
    /// Actors, changesets and paths to apply.
    pub selection: Selection,
    /// Merge text files that changed since the plan was recorded.
    pub merge_drift: bool,
    /// Report what would happen, and write nothing.
    pub dry_run: bool,
}

impl Agents {
    /// Opens the plans. Creates the store if there is none.
    pub fn plans(&self) -> Result<Plans, Error> {
        self.plans_of(&self.store_location()?)
    }

    /// Opens the plans if there is a store; creates none.
    pub fn known_plans(&self) -> Result<Option<Plans>, Error> {
        let location = self.store_location()?;
        // Other errors come from opening the store.
        let is_missing = matches!(&location, StoreLocation::File(file)
            if std::fs::symlink_metadata(file).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound));
        if is_missing { Ok(None) } else { self.plans_of(&location).map(Some) }
    }

    fn plans_of(&self, location: &StoreLocation) -> Result<Plans, Error> {
        let strategy = match self.settings().plan_merge()?.as_str() {
            "fail-on-conflict" => Strategy::FailOnConflict,
            "last-wins" => Strategy::LastWins,
            _ => Strategy::ThreeWay,
        };
        let store = self.open_store(location)?;
        let who = self.user().and_then(|user| Actor::parse(user).ok());
        let who = who.unwrap_or_else(|| Actor::parse(UNKNOWN_ACTOR).expect("a word is a name"));
        Ok(Plans { agents: self.clone(), inner: plan::Plans::open(store), who, strategy })
    }
}

impl Plans {
    /// Creates a plan with these roots. Default: the project, else the git repository of the current folder.
    pub fn create(&self, name: Option<&str>, roots: &[PathBuf]) -> Result<Opened, Error> {
        let name = name.map(Name::parse).transpose().map_err(plan::Error::from)?;
        let roots: Vec<PathBuf> = match roots {
            [] => vec![self.agents.default_root()?],
            roots => roots.iter().map(|root| self.agents.absolute(root)).collect(),
        };
        let roots: Vec<&Path> = roots.iter().map(PathBuf::as_path).collect();
        let plan = self.inner.create(name, &roots, &self.who)?;
        self.recover(plan)
    }

    /// Opens a plan for recording: actors start their changesets in it.
    pub fn context(&self, plan: &Plan) -> Result<PlanExecutionContext, Error> {
        Ok(self.inner.context(plan.id)?)
    }

    /// Lists plans, newest first: those in one of these states, or all.
    pub fn list(&self, states: &[String], limit: Option<usize>) -> Result<Vec<Plan>, Error> {
        let states = states.iter().map(|state| state.parse::<State>()).collect::<Result<Vec<_>, _>>()?;
        Ok(self.inner.list(&states, limit)?)
    }

    /// Describes a plan with its changesets.
    pub fn show(&self, plan: &Plan) -> Result<PlanDetail, Error> {
        let changesets = self.inner.changesets_of_actors(plan.id)?;
        Ok(PlanDetail { plan: plan.clone(), changesets, run: RunSettings::of(&plan.detail) })
    }

    /// Applies a plan, or a selection of it, to all roots: all files or none.
    #[track_caller]
    pub fn apply(&self, plan: &Plan, options: &ApplyOptions) -> Result<Applied, Error> {
        let request = ApplyRequest {
            actor: self.who.clone(),
            selection: options.selection.clone(),
            strategy: self.strategy_of(plan),
            merge_drift: options.merge_drift,
            dry_run: options.dry_run,
        };
        self.make_project_folders(plan, options.dry_run)?;
        let report = self.inner.apply(&self.host(), plan, &request)?;
        self.clean_sandboxes(&report.plan)?;
        Ok(Applied::of(report))
    }

    /// Undoes a plan, or a selection of it.
    #[track_caller]
    pub fn undo(&self, plan: &Plan, selection: &Selection, dry_run: bool) -> Result<Applied, Error> {
        let request = UndoRequest { actor: self.who.clone(), selection: selection.clone(), dry_run };
        self.make_project_folders(plan, dry_run)?;
        let report = self.inner.undo(&self.host(), plan, &request)?;
        Ok(Applied::of(report))
    }

    /// Cancels a plan. Keeps its records.
    pub fn cancel(&self, plan: &Plan, reason: &str) -> Result<Plan, Error> {
        let cancelled = self.inner.cancel(plan, &self.who, reason)?;
        self.runs()?.cancel_nodes(plan.id, &self.who)?;
        Ok(cancelled)
    }

    /// Timeline of a plan.
    pub fn log(&self, plan: &Plan) -> Result<Vec<Event>, Error> {
        Ok(self.inner.timeline(plan.id)?)
    }

    /// Removes finished plans, or the named one. Keeps a plan with unapplied changes unless it is named and forced.
    pub fn clean(&self, plan: Option<&Plan>, force: bool, dry_run: bool) -> Result<Cleaning, Error> {
        let runs = self.runs()?;
        let Some(plan) = plan else {
            let plans = self.inner.prune(&self.who, dry_run, |plan| runs.remove_files(plan))?;
            return Ok(Cleaning { plans, dry_run });
        };
        let force = if force { Force::Yes } else { Force::No };
        let idle = runs.check_idle(plan.id).map_err(Error::from);
        let checked = idle.and_then(|()| Ok(self.inner.check_removal(plan, force, &self.who)?));
        let mut plans = PruneReport::default();
        match checked {
            Err(error) if dry_run && matches!(error.kind(), Kind::Conflict | Kind::Busy) => {
                plans.kept.push(plan.clone())
            }
            Err(error) => return Err(error),
            Ok(()) => {
                if !dry_run {
                    self.inner.remove(plan, force, &self.who)?;
                    runs.remove_files(plan.id)?;
                }
                plans.removed.push(plan.clone());
            }
        }
        Ok(Cleaning { plans, dry_run })
    }

    /// Removes unreferenced blobs; in a dry run, counts them.
    pub fn collect(&self, dry_run: bool) -> Result<store::GcStats, Error> {
        use store::{GcMode, GcOptions, limits::GRACE};
        let mode = if dry_run { GcMode::DryRun } else { GcMode::Remove };
        let collected = self.inner.store().collect_garbage(&GcOptions { mode, grace: GRACE });
        Ok(collected.map_err(plan::Error::from)?)
    }

    /// Finds a plan and finishes interrupted applies in its roots. Does not wait for an apply in progress.
    pub fn open(&self, plan: impl Into<PlanSelector>) -> Result<Opened, Error> {
        self.recover(self.look_up(plan)?)
    }

    /// Finds a plan without writing.
    pub fn look_up(&self, selector: impl Into<PlanSelector>) -> Result<Plan, Error> {
        let selector = selector.into();
        let error = match self.inner.find(&selector) {
            Ok(plan) => return Ok(plan),
            Err(error) => error,
        };
        if !matches!(error, plan::Error::Store(store::Error::NotFound { .. })) {
            return Err(error.into());
        }
        let text = selector.to_string();
        let plans = self.inner.list(&[], None)?;
        let names = plans.iter().filter_map(|plan| plan.name.as_ref().map(ToString::to_string));
        let alike = names.map(|name| (strsim::jaro_winkler(&name, &text), name));
        let nearest = alike.filter(|(alike, _)| *alike >= ALIKE_MIN).max_by(|a, b| a.0.total_cmp(&b.0));
        Err(Error::UnknownPlan { name: text, nearest: nearest.map(|(_, name)| name) })
    }

    /// Finishes interrupted applies in the roots of a plan, and records the result of an interrupted undo.
    fn recover(&self, plan: Plan) -> Result<Opened, Error> {
        let wait = Wait { timeout: Duration::ZERO, ..self.agents.wait() };
        let recovered = self.inner.recover(&Host::local(wait), &plan.roots);
        let reconciled = self.inner.reconcile_undos(plan.clone(), &self.who);
        match reconciled.and_then(|plan| Ok((plan, recovered?))) {
            Ok((reconciled, recovered)) => {
                let plan = if recovered.is_empty() { reconciled } else { self.inner.get(plan.id)? };
                Ok(Opened { plan, recovered, problem: None })
            }
            Err(error) => {
                let error = Error::from(error);
                // Another process is applying.
                let problem = Some(&error).filter(|error| error.kind() != Kind::Busy);
                let problem = problem.map(|error| self.agents.problem(error));
                Ok(Opened { plan, recovered: Vec::new(), problem })
            }
        }
    }

    /// Creates `.cleveragents` in the roots, with a `.gitignore`: an apply keeps its files there.
    #[track_caller]
    fn make_project_folders(&self, plan: &Plan, dry_run: bool) -> Result<(), Error> {
        let mut roots = plan.roots.iter().map(plan::system_path).filter(|root| !dry_run && root.is_dir());
        roots.try_for_each(|root| Ok(config::create_project_folder(&root, &self.agents.wait())?))
    }

    pub(crate) fn host(&self) -> Host {
        Host::local(self.agents.wait())
    }

    /// Stores the content of a file of the caller.
    pub(crate) fn piece(&self, file: &Path, mode: u32) -> Result<plan::ContentInput, Error> {
        let mut reader = open(&self.agents.absolute(file))?;
        Ok(plan::ContentInput::from_reader(self.inner.store().as_ref(), mode, &mut reader)?)
    }
}

/// Parses the name of an actor.
pub fn actor(text: &str) -> Result<Actor, Error> {
    Ok(Actor::parse(text).map_err(plan::Error::from)?)
}
