//! `Runs`: starting, resuming and looking at runs. What is done on the way is in the modules beside this one.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use plan::{Actor, PlanId, Plans};

use super::{Cancel, Event, NodeReport, Options, Output, Summary, Unfinished};
use crate::{Error, Result};

/// What is told while a run is under way, from any of its threads.
pub type OnEvent<'a> = &'a (dyn Fn(Event) + Sync);

/// The runs of a store.
///
/// **Threads and processes.** Cheap to clone. Any number of runs of different plans may be under way; of one plan one.
///
/// **Failures.** A run that fails leaves a plan that [`resume`](Self::resume) goes on with, or none.
#[derive(Clone, Debug)]
pub struct Runs {
    plans: Plans,
    folder: PathBuf,
}

impl Runs {
    /// Over plans. Sandboxes and output are kept below `folder`, which is private, one folder for each plan.
    pub fn new(plans: Plans, folder: &Path) -> Self {
        Self { plans, folder: folder.to_owned() }
    }

    /// Makes a plan and runs it to its end. Running the same again makes another plan.
    pub fn start(&self, options: &Options, cancel: &Cancel, on_event: OnEvent<'_>) -> Result<Summary> {
        let _ = (options, cancel, on_event);
        Err(Error::NotHere)
    }

    /// Goes on with a plan whose run was cut off, or in which nodes failed. `hidden` is as in [`Options`].
    pub fn resume(
        &self,
        plan: PlanId,
        who: &Actor,
        hidden: &[OsString],
        cancel: &Cancel,
        on_event: OnEvent<'_>,
    ) -> Result<Summary> {
        let _ = (plan, who, hidden, cancel, on_event);
        Err(Error::NotHere)
    }

    /// The nodes of a plan, in an order in which each comes after those it needs; none for a plan that is not run.
    pub fn nodes(&self, plan: PlanId) -> Result<Vec<NodeReport>> {
        let _ = plan;
        Err(Error::NotHere)
    }

    /// Where the output of a node is.
    pub fn output(&self, plan: PlanId, node: &str) -> Result<Output> {
        let _ = (plan, node);
        Err(Error::NotHere)
    }

    /// Runs that were cut off, or are under way elsewhere.
    pub fn unfinished(&self) -> Result<Vec<Unfinished>> {
        Err(Error::NotHere)
    }

    /// Removes the sandboxes and outputs of a plan; of one that has none it is fine.
    pub fn remove_files(&self, plan: PlanId) -> Result<()> {
        let _ = (plan, &self.plans, &self.folder);
        Err(Error::NotHere)
    }
}
