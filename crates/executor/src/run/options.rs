//! Options of a run, and its cancellation.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use plan::Actor;

use super::CheckedPlanFile;
use crate::{Confine, Ignored, Merge};

/// Options of a run. All but the last two are stored with the plan, so that a resumed run uses the same.
#[derive(Clone, Debug)]
pub struct Options {
    /// The checked plan file.
    pub plan: CheckedPlanFile,
    /// Name of the plan; overrides that of the file.
    pub name: Option<String>,
    /// Maximum number of concurrent nodes; overrides that of the file.
    pub concurrency: Option<usize>,
    /// Concurrency if neither `concurrency` nor the file gives one.
    pub default_concurrency: usize,
    /// Stop all nodes after the first failure; overrides the file.
    pub fail_fast: Option<bool>,
    /// Merge strategy; overrides that of the file.
    pub merge: Option<Merge>,
    /// Merge strategy if neither `merge` nor the file gives one.
    pub default_merge: Merge,
    /// Confinement of the actors.
    pub confine: Confine,
    /// Existing folders outside the sandbox that actors may write to.
    pub allow_write: Vec<PathBuf>,
    /// Treatment of files that git ignores.
    pub ignored: Ignored,
    /// Sandbox strategy: `copy`.
    pub strategy: String,
    /// Give the terminal to the actor. Has an effect on plans of one node only.
    pub terminal: bool,
    /// The longest file that is copied or recorded, in bytes.
    pub file_bytes_max: u64,
    /// Environment variables that actors do not inherit, such as those that hold our secrets.
    pub env_denylist: Vec<OsString>,
    /// The person or program that starts the run.
    pub started_by: Actor,
}

/// Cancels a run. Clones share one state; any thread may use it.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<Flags>);

#[derive(Debug, Default)]
struct Flags {
    /// End all running nodes.
    stop: AtomicBool,
    /// Kill actors instead of waiting for them to end.
    kill: AtomicBool,
    /// The stop comes from outside the run.
    cancelled: AtomicBool,
}

impl Cancel {
    /// Asks actors to end and records their changes. The second call kills them.
    pub fn cancel(&self) {
        if self.0.cancelled.swap(true, Ordering::SeqCst) {
            self.0.kill.store(true, Ordering::SeqCst);
        }
        self.0.stop.store(true, Ordering::SeqCst);
    }

    /// Asks actors to end, and never kills them.
    pub(crate) fn cancel_gracefully(&self) {
        self.0.cancelled.store(true, Ordering::SeqCst);
        self.0.stop.store(true, Ordering::SeqCst);
    }

    /// Returns true if the run was cancelled from outside.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::SeqCst)
    }

    /// Ends all running nodes, for a reason inside the run.
    pub(crate) fn stop(&self) {
        self.0.stop.store(true, Ordering::SeqCst);
    }

    pub(crate) fn stop_flag(&self) -> &AtomicBool {
        &self.0.stop
    }

    pub(crate) fn kill_flag(&self) -> &AtomicBool {
        &self.0.kill
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.0.stop.load(Ordering::SeqCst)
    }
}
