//! Repeats one command of the program, and kills it or makes it fail at each of its system calls.
//!
//! A kill before a call that changes nothing leaves the same disk as a kill before the next call that changes something, so only some of
//! these are tried; with `AGENTS_PROOF=1` all.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use testkit::folder::{copy, scratch};
use testkit::report::{figure, is_proof, skipped};
use testkit::strace::{self, Call, Ended, Inject, describe};

/// Number of failures that are printed in full.
const FAILURES_SHOWN: usize = 5;
/// One of this many kills may come too late: on a busy machine, the number of some calls varies.
const LATE: usize = 4;

/// A command and its subject.
pub(crate) trait Workload: Copy {
    /// The state of its subject.
    type State: PartialEq + Debug;

    /// Name in figures.
    fn name(self) -> &'static str;

    /// Creates the state before the command.
    fn set_up(self, trial: &Path);

    /// The command.
    fn command(self, trial: &Path) -> Command;

    /// Reads the state. A mixture of old and new, or an unreadable state, is an error.
    fn read(self, trial: &Path) -> Result<Self::State, String>;

    /// Checks that the next command does not wait, keeps the state, and removes leftovers.
    fn check_next(self, trial: &Path) -> Result<(), String>;

    /// Every n-th error is tried; with `AGENTS_PROOF=1` all.
    fn sample_of_errors(self) -> usize {
        1
    }
}

/// A folder in which a command is repeated.
pub(crate) struct Bench<W: Workload> {
    workload: W,
    _scratch: TempDir,
    pub(crate) trial: PathBuf,
    pub(crate) start: PathBuf,
    old: W::State,
    new: W::State,
    pub(crate) calls: Vec<Call>,
    tried: usize,
    late: usize,
    failures: Vec<String>,
}

impl<W: Workload> Bench<W> {
    /// Returns `None`, and reports a skip, if programs cannot be traced here.
    pub(crate) fn new(workload: W) -> Option<Self> {
        if let Some(reason) = strace::unusable() {
            skipped("proof::kill", &reason);
            return None;
        }
        let scratch = scratch();
        let (trial, start) = (scratch.path().join("trial"), scratch.path().join("start"));
        workload.set_up(&trial);
        copy(&trial, &start);
        let old = workload.read(&trial).unwrap();
        let calls = strace::calls(&workload.command(&trial), &scratch.path().join("log"));
        let new = workload.read(&trial).unwrap();
        assert_ne!(old, new, "the command changes something");
        Some(Self {
            workload,
            trial,
            start,
            old,
            new,
            calls,
            tried: 0,
            late: 0,
            failures: Vec::new(),
            _scratch: scratch,
        })
    }

    /// Kills the command at every call.
    pub(crate) fn kills(&mut self) {
        for call in strace::points(&self.calls) {
            self.try_at(&call, Inject::Kill);
        }
    }

    /// Makes every call fail.
    pub(crate) fn errors(&mut self) {
        let step = if is_proof() { 1 } else { self.workload.sample_of_errors() };
        for (call, what) in strace::errors(&self.calls).into_iter().step_by(step) {
            self.try_at(&call, what);
        }
    }

    /// Runs the command from the start, with one kill or error at one call.
    fn try_at(&mut self, call: &Call, what: Inject) {
        copy(&self.start, &self.trial);
        let ended = strace::run(&self.workload.command(&self.trial), call, what);
        let found = self.workload.read(&self.trial);
        let held = match found {
            Err(reason) => Err(reason),
            Ok(found) if what == Inject::Kill => self.killed(&found, &ended),
            Ok(found) => self.failed(&found, call, &ended),
        };
        self.tried += 1;
        if let Err(reason) = held.and_then(|()| self.workload.check_next(&self.trial)) {
            self.failures.push(format!("{}: {reason}: {ended:?}", describe(call, what)));
        }
    }

    /// Checks that the state is old or new, and new if the command was acknowledged.
    fn killed(&mut self, found: &W::State, ended: &Ended) -> Result<(), String> {
        self.late += usize::from(!ended.killed);
        let is_acknowledged = !ended.output.is_empty() || ended.code == Some(0);
        match *found == self.new || *found == self.old && !is_acknowledged {
            true => Ok(()),
            false => Err(format!("it left {found:?}")),
        }
    }

    /// Checks that the exit code matches the state.
    fn failed(&self, found: &W::State, call: &Call, ended: &Ended) -> Result<(), String> {
        let (is_old, is_new) = (*found == self.old, *found == self.new);
        let held = match ended.code {
            Some(0) => is_new,
            // The command succeeded, but could not print that.
            Some(1) if call.name == "write" => is_new,
            Some(1 | 3) => is_old,
            Some(6) => is_old || is_new,
            _ => false,
        };
        if held { Ok(()) } else { Err(format!("it left {found:?}")) }
    }

    fn hold(self) {
        let (name, failed, tried, late) = (self.workload.name(), self.failures.len(), self.tried, self.late);
        assert!(tried > 0, "nothing was tried");
        let shown: Vec<_> = self.failures.iter().take(FAILURES_SHOWN).map(String::as_str).collect();
        assert!(failed == 0, "{name}: {failed} of {tried} failed\n{}", shown.join("\n"));
        assert!(late * LATE <= tried, "{name}: {late} of {tried} kills came too late");
    }
}

/// Runs a proof of a workload, and reports the number of points.
pub(crate) fn prove<W: Workload>(workload: W, what: &str, proof: fn(&mut Bench<W>)) {
    let Some(mut bench) = Bench::new(workload) else { return };
    proof(&mut bench);
    figure(&format!("{what} of {}", workload.name()), bench.tried);
    bench.hold();
}

/// Defines the tests of some workloads.
macro_rules! proofs {
    ($($module:ident $workload:ident),*) => {$(
        mod $module {
            use super::*;

            #[test]
            fn a_kill_leaves_the_old_or_the_new() {
                prove(Workload::$workload, "kill points", Bench::kills);
            }

            #[test]
            fn the_exit_code_of_an_error_says_what_it_left() {
                prove(Workload::$workload, "errors", Bench::errors);
            }
        }
    )*};
}
pub(crate) use proofs;
