//! The workload to explore, and its limits.

use std::sync::{Mutex, PoisonError};

use crate::sim::SimDisk;

/// A workload and its invariant.
pub struct Workload<'a, A> {
    /// The name, for messages.
    pub name: &'a str,
    /// Prepares an empty disk; its result is durable.
    pub setup: &'a dyn Fn(&SimDisk),
    /// Runs the workload. Errors are expected; it records acknowledgements as soon as it knows
    /// them.
    pub run: &'a dyn Fn(&SimDisk, &Acks<A>),
    /// Recovery: the first action of the next program.
    pub recover: &'a dyn Fn(&SimDisk) -> Result<(), String>,
    /// The invariant after recovery, given the acknowledgements.
    pub check: &'a dyn Fn(&SimDisk, &A) -> Result<(), String>,
}

/// The acknowledgements of a workload.
#[derive(Default)]
pub struct Acks<A>(Mutex<A>);

impl<A: Clone> Acks<A> {
    /// Records an acknowledgement.
    pub fn note(&self, change: impl FnOnce(&mut A)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Returns the acknowledgements so far.
    pub fn get(&self) -> A {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The limits of an exploration.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum number of power-cut states after one point of the workload.
    pub cuts_per_point: usize,
    /// Tells whether recovery is crashed, too.
    pub second_crash: SecondCrash,
    /// Maximum number of power-cut states after one point of a recovery.
    pub second_cuts_per_point: usize,
    /// Tells whether calls of the workload fail, besides crashing.
    pub faults: bool,
    /// Tells whether calls of recovery fail, where it is crashed.
    pub second_faults: bool,
    /// The seed for sampling.
    pub seed: u64,
    /// Number of failures after which to stop.
    pub failures_max: usize,
}

/// The recoveries to crash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SecondCrash {
    /// None.
    Off,
    /// Recoveries of one in this many states, chosen by fingerprint.
    OneIn(u32),
    /// All.
    Every,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            cuts_per_point: 1000,
            second_crash: SecondCrash::Every,
            second_cuts_per_point: 20,
            faults: true,
            second_faults: false,
            seed: 0,
            failures_max: 5,
        }
    }
}
