//! What can go wrong at a call: a crash, an error, a full disk, a person who edits in between.
//!
//! Every call that changes something is numbered, from 0, over all roots of a disk.

use std::io;
use std::sync::{Arc, MutexGuard};

use super::disk::{Inner, SimDisk};

/// The text of the error that every call gives once the simulated program is dead.
const CRASH: &str = "simulated crash";

/// The error that a call gives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// An input/output error (`EIO`). Nothing happens; a sync that fails so has given up the pages.
    Io,
    /// No space (`ENOSPC`), for calls that need some. A write stops after half of its bytes.
    NoSpace,
}

/// How long an error stays.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FaultDuration {
    /// For one call.
    Once,
    /// From that call on.
    Forever,
}

/// Whether this error is the simulated end of the program.
pub fn is_simulated_crash(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.to_string() == CRASH)
}

/// What is planned to go wrong, and how far the program got.
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

/// A numbered call that is under way: the disk is locked.
pub(super) struct Call<'a> {
    pub(super) inner: MutexGuard<'a, Inner>,
    pub(super) trouble: Option<Trouble>,
}

/// What a call is to meet, if it applies to it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    Io,
    NoSpace,
    /// As `NoSpace`, without room for even half of a write.
    Full,
}

impl SimDisk {
    /// The call number `call` and all later ones fail, and nothing of them happens: the program is dead.
    pub fn crash_at(&self, call: u64) {
        self.lock().plan.crash_at = Some(call);
    }

    /// Whether the program has died.
    pub fn is_crashed(&self) -> bool {
        self.lock().plan.crashed
    }

    /// The call number `call` fails; nothing happens when that fault does not apply to it (see [`SimDisk::fault_hits`]).
    pub fn fail_at(&self, call: u64, fault: Fault, lasts: FaultDuration) {
        self.lock().plan.fault = Some((call, fault, lasts));
    }

    /// How many calls failed because of [`SimDisk::fail_at`] or [`SimDisk::full`].
    pub fn fault_hits(&self) -> u64 {
        self.lock().plan.fault_hits
    }

    /// From now on every call that needs space fails.
    pub fn full(&self) {
        self.lock().plan.full = true;
    }

    /// No planned crash, fault or hook any more, and space again. A program that died stays dead.
    pub fn heal(&self) {
        let plan = &mut self.lock().plan;
        (plan.crash_at, plan.fault, plan.full) = (None, None, false);
        plan.hooks.clear();
    }

    /// Runs `hook` just before the call number `call`, whether or not that call succeeds. It may use the disk.
    pub fn on_call(&self, call: u64, hook: impl Fn(&SimDisk) + Send + Sync + 'static) {
        self.lock().plan.hooks.push((call, Arc::new(hook)));
    }

    /// How many calls that change something there were.
    pub fn calls(&self) -> u64 {
        self.lock().plan.calls
    }

    /// Those calls, in words.
    pub fn log(&self) -> Vec<String> {
        self.lock().plan.log.clone()
    }

    /// Forgets calls, log, plans and a death: the next program starts.
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

    /// The disk, unless the program is dead.
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
    /// Fails if a fault is due that applies to this call.
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
