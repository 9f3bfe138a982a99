//! What came out.

use std::fmt;

use crate::sim::{Fault, FaultDuration};

/// How much was explored and what failed.
#[derive(Default, Debug)]
pub struct Report {
    /// Different pairs of a disk that recovery started from and what was acknowledged before. Inode numbers, boots and what
    /// is pending do not make a difference here.
    pub states: u64,
    /// How many recoveries were checked: as `states`, but boots, pending effects and the stage do make a difference.
    pub checked: u64,
    /// Crashes and faults of the workload.
    pub points: u64,
    /// Crashes and faults of a recovery.
    pub second_points: u64,
    /// What did not hold.
    pub failures: Vec<Failure>,
}

/// Something that did not hold, and how it came to that.
#[derive(Debug)]
pub struct Failure {
    /// The workload's name.
    pub workload: String,
    /// What happened to the workload.
    pub first: Trouble,
    /// What happened to recovery, if anything did.
    pub second: Option<Trouble>,
    /// What the power cuts kept and lost, one text for each crash.
    pub cuts: Vec<String>,
    /// The seed of the exploration.
    pub seed: u64,
    /// What did not hold.
    pub message: String,
    /// The calls of the workload and those of each recovery.
    pub log: Vec<String>,
}

/// What happened at which call.
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
        /// The error it gave.
        fault: Fault,
        /// And for how long.
        lasts: FaultDuration,
    },
}

impl Report {
    /// Adds what another exploration found. States are counted for each workload on its own.
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
