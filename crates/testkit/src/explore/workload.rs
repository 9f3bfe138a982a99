//! What to explore, and how far.

use std::sync::{Mutex, PoisonError};

use crate::sim::SimDisk;

/// What is tried, and what must hold whatever happens to it.
pub struct Workload<'a, A> {
    /// For messages.
    pub name: &'a str,
    /// Prepares an empty disk; all of it is made durable afterwards.
    pub setup: &'a dyn Fn(&SimDisk),
    /// Does the work. Errors are to be expected; it notes what was acknowledged as soon as it knows.
    pub run: &'a dyn Fn(&SimDisk, &Acks<A>),
    /// What the next program does first.
    pub recover: &'a dyn Fn(&SimDisk) -> Result<(), String>,
    /// What must hold after recovery, given what was acknowledged.
    pub check: &'a dyn Fn(&SimDisk, &A) -> Result<(), String>,
}

/// Where a workload notes what was acknowledged to it.
#[derive(Default)]
pub struct Acks<A>(Mutex<A>);

impl<A: Clone> Acks<A> {
    /// Notes something.
    pub fn note(&self, change: impl FnOnce(&mut A)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// What was noted so far.
    pub fn get(&self) -> A {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most power cut states after one point of the workload.
    pub cuts_per_point: usize,
    /// Whether recovery is crashed too.
    pub second_crash: SecondCrash,
    /// The most power cut states after one point of a recovery.
    pub second_cuts_per_point: usize,
    /// Whether calls of the workload fail, besides crashing.
    pub faults: bool,
    /// Whether calls of recovery fail, where it is crashed.
    pub second_faults: bool,
    /// For everything that is sampled.
    pub seed: u64,
    /// How many failures are enough.
    pub failures_max: usize,
}

/// Which recoveries are crashed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SecondCrash {
    /// None.
    Off,
    /// Those of one in so many of the states found, chosen by what they look like.
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
