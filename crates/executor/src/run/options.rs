//! What a run is asked to do, and how it is told to stop.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use plan::Actor;

use super::Checked;
use crate::{Confine, Ignored, Merge};

/// What is to be run, and how. All of it is kept with the plan, so that a resumed run does the same.
#[derive(Clone, Debug)]
pub struct Options {
    /// The plan file, checked.
    pub plan: Checked,
    /// What the plan is called, over what the file says.
    pub name: Option<String>,
    /// How many nodes run at once, over what the file says.
    pub concurrency: Option<usize>,
    /// The same when neither this nor the file says anything.
    pub usual_concurrency: usize,
    /// Whether the first failure stops the others, over what the file says.
    pub fail_fast: Option<bool>,
    /// What is made of a path that several changed, over what the file says.
    pub merge: Option<Merge>,
    /// The same when neither this nor the file says anything.
    pub usual_merge: Merge,
    /// Whether actors are confined.
    pub confine: Confine,
    /// Folders that actors may write to beside their sandbox; each must be there.
    pub writable: Vec<PathBuf>,
    /// What becomes of files that git ignores.
    pub ignored: Ignored,
    /// How sandboxes are made: `copy`.
    pub strategy: String,
    /// Whether the actor has the terminal; for a plan of one node only.
    pub terminal: bool,
    /// Variables that actors do not get: our own secrets.
    pub hidden: Vec<OsString>,
    /// Who runs it.
    pub who: Actor,
}

/// Tells a run to stop. Clones are the same handle; any thread may use it.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<Flags>);

#[derive(Debug, Default)]
struct Flags {
    /// Ends all that is under way, whoever wants that.
    stop: AtomicBool,
    /// Does not wait for actors to end by themselves.
    kill: AtomicBool,
    /// Somebody outside of the run wants it to end.
    cancelled: AtomicBool,
}

impl Cancel {
    /// The first time, actors are asked to end, and what they changed is recorded; the second time they are killed.
    pub fn cancel(&self) {
        if self.0.cancelled.swap(true, Ordering::SeqCst) {
            self.0.kill.store(true, Ordering::SeqCst);
        }
        self.0.stop.store(true, Ordering::SeqCst);
    }

    /// As the first time, however often it was called.
    pub(crate) fn cancel_once(&self) {
        self.0.cancelled.store(true, Ordering::SeqCst);
        self.0.stop.store(true, Ordering::SeqCst);
    }

    /// Whether somebody cancelled the run.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::SeqCst)
    }

    /// Ends all that is under way, for a reason of the run's own.
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
