//! `agents config set` killed, or failed, at every system call of it: the file is the old one or the new one, the lock is free, and the
//! next set leaves nothing behind.
//!
//! Killing before a call that changes nothing leaves the same disk as killing before the next one that does, so of those only some are
//! tried; with `AGENTS_PROOF=1` all.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use testkit::folder::{copy, scratch};
use testkit::many_keys;
use testkit::notes::{figure, skipped};
use testkit::strace::{self, BEGIN, Call, Ended, Inject, told};

use crate::{names, program};

/// How many failures are told in full.
const FAILURES_SHOWN: usize = 5;

/// One set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Workload {
    /// In a file with comments.
    Existing,
    /// The first of a user, who has no home folder yet.
    FirstOfUser,
    /// The first in a project: its folder and what git is to ignore are made too.
    FirstInProject,
}

impl Workload {
    fn name(self) -> &'static str {
        match self {
            Self::Existing => "existing file",
            Self::FirstOfUser => "first of a user",
            Self::FirstInProject => "first in a project",
        }
    }

    fn scope(self) -> &'static str {
        if self == Self::FirstInProject { "project" } else { "global" }
    }

    /// The folder of the file, below the trial's own.
    fn folder(self) -> &'static str {
        if self == Self::FirstInProject { "@begin/.cleveragents" } else { "home" }
    }

    fn set_up(self, trial: &Path) {
        fs::create_dir_all(trial.join(BEGIN)).unwrap();
        if self == Self::Existing {
            fs::create_dir(trial.join("home")).unwrap();
            fs::write(trial.join("home/config.toml"), many_keys::text()).unwrap();
        }
    }

    /// What may be in the folder when nobody writes.
    fn quiet(self) -> &'static [&'static str] {
        match self {
            Self::FirstInProject => &[".config.toml.lock", ".gitignore", "config.toml"],
            _ => &[".config.toml.lock", "config.toml"],
        }
    }
}

/// Where a set is tried again and again.
struct Bench {
    workload: Workload,
    _scratch: TempDir,
    trial: PathBuf,
    start: PathBuf,
    old: Option<String>,
    new: Option<String>,
    calls: Vec<Call>,
    tried: usize,
    failures: Vec<String>,
}

impl Bench {
    fn new(workload: Workload) -> Self {
        let scratch = scratch();
        let (trial, start) = (scratch.path().join("trial"), scratch.path().join("start"));
        workload.set_up(&trial);
        copy(&trial, &start);
        let mut bench = Self {
            workload,
            trial,
            start,
            old: None,
            new: None,
            calls: Vec::new(),
            tried: 0,
            failures: Vec::new(),
            _scratch: scratch,
        };
        bench.old = bench.read();
        bench.calls = strace::calls(&bench.set("x.w.w"), &bench.start.with_file_name("log"));
        bench.new = bench.read();
        assert_ne!(bench.old, bench.new, "the set changes something");
        bench
    }

    fn set(&self, name: &str) -> Command {
        let project: &[&str] = match self.workload {
            Workload::FirstInProject => &["--project", "."],
            _ => &[],
        };
        let words = [&["config", "set", "--scope", self.workload.scope(), name, "1"], project].concat();
        program(&self.trial.join("home"), &self.trial.join(BEGIN), &words)
    }

    fn read(&self) -> Option<String> {
        fs::read_to_string(self.trial.join(self.workload.folder()).join("config.toml")).ok()
    }

    /// Tries one thing at one call, from the start.
    fn try_at(&mut self, call: &Call, what: Inject, check: fn(&Bench, &Call, &Ended) -> Result<(), String>) {
        copy(&self.start, &self.trial);
        let ended = strace::run(&self.set("x.w.w"), call, what);
        let result = check(self, call, &ended).and_then(|()| self.check_next());
        self.tried += 1;
        if let Err(reason) = result {
            self.failures.push(format!("{}: {reason}: {ended:?}", told(call, what)));
        }
    }

    fn killed(&self, _: &Call, ended: &Ended) -> Result<(), String> {
        let found = self.read();
        if !ended.killed {
            return Err("it was not killed".to_owned());
        }
        if found != self.new && (found != self.old || ended.output.contains("set x.w.w")) {
            return Err(format!("it left {found:?}"));
        }
        Ok(())
    }

    /// Its exit code says what it left.
    fn failed(&self, call: &Call, ended: &Ended) -> Result<(), String> {
        let found = self.read();
        let held = match ended.code {
            Some(0) => found == self.new,
            // It did what it was asked to and could not say so.
            Some(1) if call.name == "write" => found == self.new,
            Some(1 | 3) => found == self.old,
            Some(6) => found == self.old || found == self.new,
            _ => false,
        };
        if held { Ok(()) } else { Err(format!("it left {found:?}")) }
    }

    /// The next set waits for nobody, keeps what is there and sweeps away what the last one left.
    fn check_next(&self) -> Result<(), String> {
        let before = self.read();
        let next = self.set("x.w.w-next").output().unwrap();
        if !next.status.success() {
            return Err(format!("the next set failed: {next:?}"));
        }
        let after = self.read().unwrap_or_default();
        let kept = before.unwrap_or_default().lines().all(|line| after.lines().any(|other| other == line));
        let left = names(&self.trial.join(self.workload.folder()));
        match kept && after.contains("w-next = 1") && left == self.workload.quiet() {
            true => Ok(()),
            false => Err(format!("the next set left {left:?} and {after:?}")),
        }
    }

    fn hold(self) {
        assert!(self.tried > 0, "nothing was tried");
        let shown: Vec<_> = self.failures.iter().take(FAILURES_SHOWN).map(String::as_str).collect();
        let (name, failed, tried) = (self.workload.name(), self.failures.len(), self.tried);
        assert!(failed == 0, "{name}: {failed} of {tried} failed\n{}", shown.join("\n"));
    }
}

fn prove(workload: Workload, what: &str, proof: fn(&mut Bench)) {
    if let Some(reason) = strace::unusable() {
        skipped("proof::kill", &reason);
        return;
    }
    let mut bench = Bench::new(workload);
    proof(&mut bench);
    figure(&format!("{what} of `agents config set`, {}", workload.name()), bench.tried);
    bench.hold();
}

fn kills(bench: &mut Bench) {
    for call in strace::points(&bench.calls) {
        bench.try_at(&call, Inject::Kill, Bench::killed);
    }
}

fn errors(bench: &mut Bench) {
    for (call, what) in strace::errors(&bench.calls) {
        bench.try_at(&call, what, Bench::failed);
    }
}

macro_rules! proofs {
    ($($module:ident $workload:ident),*) => {$(
        mod $module {
            use super::*;

            #[test]
            fn a_kill_leaves_the_old_file_or_the_new_one() {
                prove(Workload::$workload, "kill points", kills);
            }

            #[test]
            fn the_exit_code_of_an_error_says_what_it_left() {
                prove(Workload::$workload, "errors", errors);
            }
        }
    )*};
}

proofs!(existing Existing, first_of_user FirstOfUser, first_in_project FirstInProject);

#[test]
fn a_set_syncs_the_new_file_and_its_folder_and_nothing_else() {
    if let Some(reason) = strace::unusable() {
        skipped("proof::kill", &reason);
        return;
    }
    let bench = Bench::new(Workload::Existing);
    let syncs = bench.calls.iter().filter(|call| call.name.contains("sync"));
    let steps: Vec<_> = syncs.map(Call::step).collect();
    assert_eq!(steps.len(), 2, "{steps:?}");
    assert!(steps[0].contains("config.toml") && steps[1].ends_with("home"), "{steps:?}");
}

/// A set that was killed may have made the folder and not synced its name; no kill can show that, only a power cut much later.
#[test]
fn a_folder_that_a_killed_set_made_is_made_durable_by_the_next() {
    if let Some(reason) = strace::unusable() {
        skipped("proof::kill", &reason);
        return;
    }
    for (workload, around) in [(Workload::FirstOfUser, "trial"), (Workload::FirstInProject, "trial/@begin")] {
        let mut bench = Bench::new(workload);
        copy(&bench.start, &bench.trial);
        fs::create_dir(bench.trial.join(workload.folder())).unwrap();
        bench.calls = strace::calls(&bench.set("x.w.w"), &bench.start.with_file_name("log"));
        let around = format!("<{}>", bench.trial.with_file_name(around).display());
        let syncs = bench.calls.iter().filter(|call| call.name == "fsync");
        let synced: Vec<_> = syncs.map(|call| call.arguments.as_str()).collect();
        assert!(synced.first().is_some_and(|first| first.contains(&around)), "{synced:?}");
    }
}
