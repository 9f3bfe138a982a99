//! The bench of a workload: kills and errors at its calls, and the checks afterwards.

use std::collections::HashSet;
use std::path::PathBuf;

use testkit::chain;
use testkit::folder::{Tree, copy, scratch, tree};
use testkit::report::is_proof;
use testkit::sim::Node;
use testkit::strace::{self, Call, Ended, Inject, describe, errors, points};

use crate::workload::{Outcome, Role, Work, Workload};

/// Stride over the errors in recovery. Not a multiple of four, so that all four kinds occur.
const SAMPLE_OF_ERRORS: usize = 7;
/// Maximum number of failures reported in full.
const FAILURES_SHOWN: usize = 5;

/// A workload with its folders.
pub(crate) struct Bench {
    workload: Workload,
    _scratch: tempfile::TempDir,
    /// The folder of the files. Always the same, because journals name their roots.
    home: PathBuf,
    /// The files before the commit.
    start: PathBuf,
    /// The files after a kill.
    crashed: PathBuf,
    log: PathBuf,
    old: Tree,
    new: Tree,
    commit: Vec<Call>,
    failures: Vec<String>,
    pub(crate) tried: usize,
}

/// The state that was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Which {
    Old,
    New,
}

/// True if a kill left a torn file. Recovery of an own folder may take it for an edit and preserve
/// it; otherwise it must preserve nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Torn {
    Nothing,
    Something,
}

impl Bench {
    pub(crate) fn new(workload: Workload) -> Self {
        let scratch = scratch();
        let inside = |name: &str| scratch.path().join(name);
        let (home, start, crashed, log) = (inside("home"), inside("start"), inside("crashed"), inside("log"));
        std::fs::create_dir(&start).unwrap();
        std::fs::create_dir(&home).unwrap();
        workload.set_up(&home);
        copy(&home, &start);
        let old = workload.raw(&home);
        let commit = strace::calls(&Role::command(workload, Work::Commit, &home), &log);
        let new = workload.raw(&home);
        assert_ne!(old, new, "the commit changes something: {commit:?}");
        Self {
            workload,
            _scratch: scratch,
            home,
            start,
            crashed,
            log,
            old,
            new,
            commit,
            failures: Vec::new(),
            tried: 0,
        }
    }

    /// Fails if any point failed.
    pub(crate) fn hold(self) {
        assert!(self.tried > 0, "nothing was tried");
        let shown: Vec<_> = self.failures.iter().take(FAILURES_SHOWN).map(String::as_str).collect();
        let (name, failed, tried) = (self.workload.name(), self.failures.len(), self.tried);
        assert!(failed == 0, "{name}: {failed} of {tried} failed\n{}", shown.join("\n"));
    }

    fn note(&mut self, what: &str, result: Result<(), String>) {
        self.tried += 1;
        if let Err(reason) = result {
            self.failures.push(format!("{what}: {reason}"));
        }
    }

    /// Runs the commit or recovery with a kill or error at one call.
    fn run(&self, work: Work, at: &Call, what: Inject) -> Ended {
        strace::run(&Role::command(self.workload, work, &self.home), at, what)
    }

    fn which(&self, tree: &Tree) -> Result<Which, String> {
        if *tree == self.old {
            Ok(Which::Old)
        } else if *tree == self.new {
            Ok(Which::New)
        } else {
            Err(format!("a mixed state: {tree:?}"))
        }
    }

    fn read(&self) -> Result<Which, String> {
        let tree = self.workload.read(&self.home).map_err(|error| format!("reading: {}", chain(&error)))?;
        self.which(&tree).map_err(|mixed| format!("a reader saw {mixed}"))
    }

    /// Reads, recovers, and checks that both find the same complete state.
    fn settle(&self, torn: Torn) -> Result<Which, String> {
        let seen = self.read()?;
        let kept =
            self.workload.recover(&self.home).map_err(|error| format!("recovering: {}", chain(&error)))?;
        if torn == Torn::Nothing && !kept.is_empty() {
            return Err(format!("without edits, recovery preserved {kept:?}"));
        }
        let left =
            self.which(&self.workload.raw(&self.home)).map_err(|mixed| format!("recovery left {mixed}"))?;
        if left != seen {
            return Err(format!("a reader saw {seen:?}, recovery left {left:?}"));
        }
        let mut strays = self.workload.strays(&self.home);
        strays.retain(|stray| torn == Torn::Nothing || !stray.contains("/kept"));
        if strays.is_empty() { Ok(left) } else { Err(format!("recovery left {strays:?}")) }
    }

    /// Returns true if a file is torn: neither its old nor its new content.
    fn torn(&self) -> Torn {
        let raw = self.workload.raw(&self.home);
        let is_half = |(path, node): (&String, &Node)| {
            [&self.old, &self.new].iter().all(|state| state.get(path) != Some(node))
        };
        if raw.iter().any(is_half) { Torn::Something } else { Torn::Nothing }
    }
}

/// Kills the commit at its calls.
pub(crate) fn kills_in_commit(bench: &mut Bench) {
    for call in points(&bench.commit) {
        copy(&bench.start, &bench.home);
        let ended = bench.run(Work::Commit, &call, Inject::Kill);
        let result = bench.killed(&ended, &call);
        bench.note(&describe(&call, Inject::Kill), result);
    }
}

/// Makes calls of the commit fail, once and for good.
pub(crate) fn errors_in_commit(bench: &mut Bench) {
    for (call, what) in errors(&bench.commit) {
        copy(&bench.start, &bench.home);
        let ended = bench.run(Work::Commit, &call, what);
        let result = bench.failed(&ended);
        bench.note(&describe(&call, what), result);
    }
}

/// Kills the recovery at its calls, from one crash for each step of the commit.
pub(crate) fn kills_in_recovery(bench: &mut Bench) {
    bench.each_crash(|bench, Crash { description: crash, recovery, seen, torn }| {
        for call in points(recovery) {
            copy(&bench.crashed, &bench.home);
            let ended = bench.run(Work::Recover, &call, Inject::Kill);
            let result = if ended.killed {
                bench.still(*seen, *torn)
            } else {
                Err(format!("it was not killed: {ended:?}"))
            };
            bench.note(&format!("{crash}, then {}", describe(&call, Inject::Kill)), result);
        }
    });
}

/// Makes calls of the recovery fail, from one crash for each step of the commit.
pub(crate) fn errors_in_recovery(bench: &mut Bench) {
    bench.each_crash(|bench, Crash { description: crash, recovery, seen, torn }| {
        for (call, what) in
            errors(recovery).into_iter().step_by(if is_proof() { 1 } else { SAMPLE_OF_ERRORS })
        {
            copy(&bench.crashed, &bench.home);
            let ended = bench.run(Work::Recover, &call, what);
            let result = match ended.code.and_then(Outcome::of_code) {
                Some(Outcome::Ok | Outcome::Aborted) => bench.still(*seen, *torn),
                _ => Err(format!("it ended badly: {ended:?}")),
            };
            bench.note(&format!("{crash}, then {}", describe(&call, what)), result);
        }
    });
}

impl Bench {
    fn killed(&self, ended: &Ended, call: &Call) -> Result<(), String> {
        if !ended.killed {
            return Err(format!("it was not killed at {call:?}: {ended:?}"));
        }
        let left = self.settle(self.torn())?;
        if ended.output.contains("@acknowledged") && left == Which::Old {
            return Err("it was acknowledged, and is gone".to_owned());
        }
        Ok(())
    }

    fn failed(&self, ended: &Ended) -> Result<(), String> {
        let Some(outcome) = ended.code.and_then(Outcome::of_code) else {
            return Err(format!("it ended badly: {ended:?}"));
        };
        // The reported outcome holds at once, not only after recovery.
        match outcome {
            Outcome::Ok => self.expect(self.which(&self.workload.raw(&self.home)), Which::New, outcome)?,
            Outcome::Aborted if self.workload == Workload::OneFile => {}
            Outcome::Aborted => {
                self.expect(self.which(&self.workload.raw(&self.home)), Which::Old, outcome)?
            }
            Outcome::Pending => self.expect(self.read(), Which::New, outcome)?,
            Outcome::Unknown => {}
        }
        let left = self.settle(self.torn()).map_err(|reason| format!("it said {outcome:?}; {reason}"))?;
        match outcome {
            Outcome::Ok | Outcome::Pending => self.expect(Ok(left), Which::New, outcome),
            Outcome::Aborted => self.expect(Ok(left), Which::Old, outcome),
            Outcome::Unknown => Ok(()),
        }
    }

    fn expect(&self, found: Result<Which, String>, expected: Which, outcome: Outcome) -> Result<(), String> {
        match found {
            Ok(found) if found == expected => Ok(()),
            found => Err(format!("it said {outcome:?}, and left {found:?}")),
        }
    }

    /// Calls `each` with one crash per step of the commit, the calls of its recovery and the state
    /// that a reader saw.
    fn each_crash(&mut self, mut each: impl FnMut(&mut Self, &Crash)) {
        let mut steps = HashSet::new();
        let mut known = HashSet::new();
        let changing: Vec<Call> = self.commit.iter().filter(|call| call.changes()).cloned().collect();
        // Leftovers of a kill before the first sync are removed.
        let first = changing.iter().position(|call| call.name.ends_with("sync")).unwrap_or(0);
        let chosen = changing.into_iter().skip(if is_proof() { 0 } else { first });
        for call in chosen.filter(|call| is_proof() || steps.insert(call.step())) {
            copy(&self.start, &self.home);
            assert!(self.run(Work::Commit, &call, Inject::Kill).killed, "{call:?}");
            copy(&self.home, &self.crashed);
            // Two kills may leave the same disk, such as those before and after a sync.
            if !known.insert(without_numbers(tree(&self.home))) {
                continue;
            }
            let crash = describe(&call, Inject::Kill);
            match self.read() {
                Ok(seen) => {
                    let command = Role::command(self.workload, Work::Recover, &self.home);
                    let torn = self.torn();
                    let recovery = strace::calls(&command, &self.log);
                    each(self, &Crash { description: crash, recovery, seen, torn });
                }
                Err(reason) => self.note(&crash, Err(reason)),
            }
        }
    }

    /// After an interrupted recovery, the next one reaches the state that a reader saw before.
    fn still(&self, seen: Which, torn: Torn) -> Result<(), String> {
        let torn = if torn == Torn::Nothing { self.torn() } else { torn };
        let left = self.settle(torn)?;
        if left != seen {
            return Err(format!("a reader saw {seen:?} before, recovery left {left:?}"));
        }
        Ok(())
    }
}

/// The state after a kill of the commit.
struct Crash {
    description: String,
    /// The calls of its recovery.
    recovery: Vec<Call>,
    /// The state that a reader saw.
    seen: Which,
    torn: Torn,
}

/// The names and kinds of a tree, with random numbers normalised.
fn without_numbers(tree: Tree) -> Vec<String> {
    let plain = |text: &str| text.replace(|c: char| c.is_ascii_hexdigit(), "0");
    tree.iter().map(|(path, node)| format!("{} {node:?}", plain(path))).collect()
}
