//! Injections at a call: a crash, an error, a full disk, an external change.
//!
//! Calls that change something are numbered from 0, over all roots of a disk.

use std::io;
use std::sync::{Arc, MutexGuard};

use super::disk::{Inner, SimDisk};

/// The text of the error of every call after the simulated death of the program.
const CRASH: &str = "simulated crash";

/// An injected error.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// `EIO`, without effect. A sync that fails with it has dropped the pages.
    Io,
    /// `ENOSPC`, for calls that need space. A write stops after half of its bytes.
    NoSpace,
}

/// The duration of an injected error.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FaultDuration {
    /// One call.
    Once,
    /// This call and all later ones.
    Forever,
}

/// Tells whether this error is the simulated death of the program.
pub fn is_simulated_crash(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.to_string() == CRASH)
}

/// The planned injections, and the progress of the program.
#[derive(Clone, Default)]
pub(super) struct Plan {
    pub(super) calls: u64,
    pub(super) log: Vec<String>,
    crash_at: Option<u64>,
    crashed: bool,
    fault: Option<(u64, Fault, FaultDuration)>,
    fault_hits: u64,
    full: bool,
    hooks: Vec<(u64, Hook)>,
}

type Hook = Arc<dyn Fn(&SimDisk) + Send + Sync>;

/// A numbered call in progress: the disk is locked.
pub(super) struct Call<'a> {
    pub(super) inner: MutexGuard<'a, Inner>,
    pub(super) trouble: Option<Trouble>,
}

/// The injection that a call meets, if it applies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    Io,
    NoSpace,
    /// `NoSpace` without room for even half of a write.
    Full,
}

impl SimDisk {
    /// Makes call number `call` and all later ones fail without effect: the program is dead.
    pub fn crash_at(&self, call: u64) {
        self.lock().plan.crash_at = Some(call);
    }

    /// Tells whether the program has died.
    pub fn is_crashed(&self) -> bool {
        self.lock().plan.crashed
    }

    /// Makes call number `call` fail, if the fault applies to it (see [`SimDisk::fault_hits`]).
    pub fn fail_at(&self, call: u64, fault: Fault, lasts: FaultDuration) {
        self.lock().plan.fault = Some((call, fault, lasts));
    }

    /// Returns the number of calls that failed because of [`SimDisk::fail_at`] or
    /// [`SimDisk::full`].
    pub fn fault_hits(&self) -> u64 {
        self.lock().plan.fault_hits
    }

    /// Makes all calls fail that need space, from now on.
    pub fn full(&self) {
        self.lock().plan.full = true;
    }

    /// Removes planned crashes, faults and hooks, and provides space. A dead program stays dead.
    pub fn heal(&self) {
        let plan = &mut self.lock().plan;
        (plan.crash_at, plan.fault, plan.full) = (None, None, false);
        plan.hooks.clear();
    }

    /// Runs `hook` before call number `call`, whether or not that call succeeds. It may use the
    /// disk.
    pub fn on_call(&self, call: u64, hook: impl Fn(&SimDisk) + Send + Sync + 'static) {
        self.lock().plan.hooks.push((call, Arc::new(hook)));
    }

    /// Returns the number of calls that change something.
    pub fn calls(&self) -> u64 {
        self.lock().plan.calls
    }

    /// Describes these calls.
    pub fn log(&self) -> Vec<String> {
        self.lock().plan.log.clone()
    }

    /// Resets calls, log, plans and death: the next program starts.
    pub fn new_program(&self) {
        self.lock().plan = Plan::default();
    }

    /// Starts a call that changes something.
    pub(super) fn call(&self, text: impl FnOnce() -> String) -> io::Result<Call<'_>> {
        self.run_hooks();
        let mut inner = self.alive()?;
        let plan = &mut inner.plan;
        let number = plan.calls;
        if plan.crash_at.is_some_and(|at| number >= at) {
            plan.crashed = true;
            return Err(io::Error::other(CRASH));
        }
        plan.calls += 1;
        plan.log.push(text());
        let trouble = match plan.fault {
            Some((at, fault, lasts)) if number == at || (number > at && lasts == FaultDuration::Forever) => {
                Some(if fault == Fault::Io { Trouble::Io } else { Trouble::NoSpace })
            }
            _ if plan.full => Some(Trouble::Full),
            _ => None,
        };
        Ok(Call { inner, trouble })
    }

    /// Returns the disk, unless the program is dead.
    pub(super) fn alive(&self) -> io::Result<MutexGuard<'_, Inner>> {
        let inner = self.lock();
        if inner.plan.crashed { Err(io::Error::other(CRASH)) } else { Ok(inner) }
    }

    fn run_hooks(&self) {
        loop {
            let mut inner = self.lock();
            let number = inner.plan.calls;
            let Some(place) = inner.plan.hooks.iter().position(|(at, _)| *at == number) else { return };
            let (_, hook) = inner.plan.hooks.remove(place);
            drop(inner);
            hook(self);
        }
    }
}

impl Call<'_> {
    /// Fails if a due fault applies to this call.
    pub(super) fn refuse(&mut self, needs_space: bool) -> io::Result<()> {
        let code = match self.trouble {
            Some(Trouble::Io) => 5,
            Some(Trouble::NoSpace | Trouble::Full) if needs_space => 28,
            _ => return Ok(()),
        };
        let plan = &mut self.inner.plan;
        plan.fault_hits += 1;
        if let Some(last) = plan.log.last_mut() {
            last.push_str(if code == 5 { " !EIO" } else { " !ENOSPC" });
        }
        Err(io::Error::from_raw_os_error(code))
    }
}
