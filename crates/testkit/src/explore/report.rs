//! The result of an exploration.

use std::fmt;

use crate::sim::{Fault, FaultDuration};

/// The extent of the exploration, and its failures.
#[derive(Default, Debug)]
pub struct Report {
    /// Distinct pairs of a disk before recovery and the acknowledgements before it. Inode numbers,
    /// boots and pending effects do not count.
    pub states: u64,
    /// Checked recoveries: like `states`, but distinguishing boots, pending effects and stages.
    pub checked: u64,
    /// Crashes and faults of the workload.
    pub points: u64,
    /// Crashes and faults of recoveries.
    pub second_points: u64,
    /// Violations.
    pub failures: Vec<Failure>,
}

/// A violation, and its history.
#[derive(Debug)]
pub struct Failure {
    /// The name of the workload.
    pub workload: String,
    /// The crash or fault of the workload.
    pub first: Trouble,
    /// The crash or fault of recovery, if any.
    pub second: Option<Trouble>,
    /// The kept and lost effects of each power cut.
    pub cuts: Vec<String>,
    /// The seed of the exploration.
    pub seed: u64,
    /// The message of the check.
    pub message: String,
    /// The calls of the workload and of each recovery.
    pub log: Vec<String>,
}

/// A crash or fault at a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trouble {
    /// The program died before this call.
    Crash {
        /// Counted from 0.
        call: u64,
    },
    /// This call failed.
    Fault {
        /// Counted from 0.
        call: u64,
        /// The error.
        fault: Fault,
        /// The duration of the error.
        lasts: FaultDuration,
    },
}

impl Report {
    /// Adds the result of another exploration. States are counted per workload.
    pub fn add(&mut self, other: Report) {
        self.states += other.states;
        self.checked += other.checked;
        self.points += other.points;
        self.second_points += other.second_points;
        self.failures.extend(other.failures);
    }

    /// Panics with all failures, if there are any.
    pub fn assert_clean(&self) {
        assert!(self.failures.is_empty(), "{self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { states, checked, points, second_points, failures } = self;
        write!(
            f,
            "{states} states ({checked} recoveries checked) from {points} points of the workload and "
        )?;
        writeln!(f, "{second_points} of recovery, {} failures", failures.len())?;
        failures.iter().try_for_each(|failure| write!(f, "\n{failure}"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.workload, self.message)?;
        writeln!(f, "  after {:?}, then {:?}, seed {}", self.first, self.second, self.seed)?;
        for (place, cut) in self.cuts.iter().enumerate() {
            writeln!(f, "  crash {}:", place + 1)?;
            cut.lines().try_for_each(|line| writeln!(f, "    {line}"))?;
        }
        writeln!(f, "  calls:")?;
        self.log.iter().try_for_each(|line| writeln!(f, "    {line}"))
    }
}
