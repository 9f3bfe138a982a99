//! `agents plan apply` of twelve files in two roots, killed or failed at its system calls. After the next command that names the plan, all
//! files of both roots are old or all are new, and an acknowledged apply is complete.
//!
//! An edit that a person makes between the crash and that command is never lost.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;

use tempfile::TempDir;
use testkit::folder::{copy, scratch};
use testkit::report::{figure, is_proof, skipped};
use testkit::strace::{self, BEGIN, Call, Ended, Inject, describe};

use crate::program;

const FILES: usize = 6;
const ROOTS: [&str; 2] = ["app", "site"];
/// Number of kills, and of errors, outside of the proof.
const TRIED_MAX: usize = 120;
/// Number of failures that are printed in full.
const FAILURES_SHOWN: usize = 5;
/// An edit of a person between a crash and the next command.
const EDIT: &str = "a person's edit\n";

/// Content of the files of both roots; `None` for a missing file.
type Files = Vec<Option<String>>;

struct Bench {
    _scratch: TempDir,
    trial: PathBuf,
    start: PathBuf,
    old: Files,
    new: Files,
    calls: Vec<Call>,
    tried: usize,
    recovered: usize,
    failures: Vec<String>,
}

/// Two files of each root are created, two changed, and two deleted.
fn path(root: usize, index: usize) -> String {
    format!("{}/file-{index}.txt", ROOTS[root])
}

impl Bench {
    fn new() -> Self {
        let scratch = scratch();
        let (trial, start) = (scratch.path().join("trial"), scratch.path().join("start"));
        let mut bench = Self {
            trial,
            start,
            old: Files::new(),
            new: Files::new(),
            calls: Vec::new(),
            tried: 0,
            recovered: 0,
            failures: Vec::new(),
            _scratch: scratch,
        };
        bench.set_up();
        copy(&bench.trial, &bench.start);
        bench.old = bench.files();
        let all =
            strace::calls(&bench.command(&["plan", "apply", "work"]), &bench.start.with_file_name("log"));
        bench.new = bench.files();
        assert!(bench.new.iter().zip(&bench.old).all(|(new, old)| new != old), "each file is changed");
        bench.calls = all;
        bench
    }

    fn set_up(&self) {
        fs::create_dir_all(self.trial.join(BEGIN)).unwrap();
        for (root, folder) in ROOTS.iter().enumerate() {
            fs::create_dir_all(self.trial.join(folder)).unwrap();
            for index in 0..4 {
                fs::write(self.trial.join(path(root, index)), format!("old {index}\n")).unwrap();
            }
        }
        let roots = ROOTS.map(|root| self.trial.join(root).display().to_string());
        self.done(&["plan", "create", "--name", "work", "--root", &roots[0], "--root", &roots[1]]);
        let changeset = self.done(&["changeset", "start", "work", "--actor", "coder"]);
        let changeset = changeset.trim();
        let content = self.trial.join("content");
        for (root, folder) in roots.iter().enumerate() {
            for index in 0..FILES {
                fs::write(&content, format!("new {index} of {root}\n")).unwrap();
                let name = format!("file-{index}.txt");
                let record = ["changeset", "record", changeset, "--root", folder, "--path", &name];
                let content = content.display().to_string();
                let what: &[&str] = if index < 2 { &["--delete"] } else { &["--content", &content] };
                self.done(&[&record[..], what].concat());
            }
        }
        self.done(&["changeset", "seal", changeset]);
    }

    fn command(&self, words: &[&str]) -> Command {
        program(&self.trial.join("home"), &self.trial.join(BEGIN), words)
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// Runs a command that must succeed, and returns its output.
    fn done(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn files(&self) -> Files {
        let read = |root, index| fs::read_to_string(self.trial.join(path(root, index))).ok();
        (0..ROOTS.len()).flat_map(|root| (0..FILES).map(move |index| read(root, index))).collect()
    }

    /// Restores the folder under test as it was before the apply, at the same path: ids and paths in the store stay valid.
    fn reset(&self) {
        copy(&self.start, &self.trial);
    }

    fn try_at(&mut self, call: &Call, what: Inject) {
        self.reset();
        let ended = strace::run(&self.command(&["plan", "apply", "work"]), call, what);
        let result = match what {
            Inject::Kill if !ended.killed => Err("it was not killed".to_owned()),
            _ => self.check_next(&ended),
        };
        self.tried += 1;
        if let Err(reason) = result {
            self.failures.push(format!("{}: {reason}: {ended:?}", describe(call, what)));
        }
    }

    /// Checks that the next command that names the plan finishes the apply and reports it, and that the state of the plan matches the files.
    fn check_next(&mut self, ended: &Ended) -> Result<(), String> {
        let shown = self.run(&["plan", "show", "work", "--format", "json"]);
        if !shown.status.success() {
            return Err(format!("the next command failed: {shown:?}"));
        }
        let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
        let state = shown["data"]["state"].as_str().unwrap_or_default().to_owned();
        let is_told = shown["messages"].as_array().is_some_and(|messages| !messages.is_empty());
        self.recovered += usize::from(is_told);
        let files = self.files();
        let acknowledged = ended.code == Some(0) || ended.complaint.contains("applied 12 files");
        match state.as_str() {
            "applied" if files == self.new => {}
            "ready" if files == self.old && !acknowledged => {}
            _ => return Err(format!("the plan is {state}, and the files are {files:?}")),
        }
        if is_told && shown["messages"][0]["code"] != "recovered" {
            return Err(format!("it said something else: {shown}"));
        }
        // The next transaction is not blocked.
        if state == "ready" {
            self.done(&["plan", "apply", "work"]);
        }
        self.done(&["plan", "undo", "work"]);
        let verified = self.run(&["audit", "verify"]);
        match verified.status.success() && self.files() == self.old {
            true => Ok(()),
            false => Err(format!("after all: {verified:?}, {:?}", self.files())),
        }
    }

    fn hold(self, what: &str) {
        assert!(self.tried > 0, "nothing was tried");
        figure(&format!("{what} of `agents plan apply` of 12 files over 2 folders"), self.tried);
        figure(&format!("of these finished by the next command, {what}"), self.recovered);
        let shown: Vec<_> = self.failures.iter().take(FAILURES_SHOWN).map(String::as_str).collect();
        let (failed, tried) = (self.failures.len(), self.tried);
        assert!(failed == 0, "{failed} of {tried} failed\n{}", shown.join("\n"));
    }
}

/// All points in the proof, otherwise some, evenly spread.
fn some<T: Clone>(all: &[T]) -> Vec<T> {
    let step = if is_proof() { 1 } else { all.len().div_ceil(TRIED_MAX).max(1) };
    all.iter().step_by(step).cloned().collect()
}

#[test]
fn a_kill_leaves_all_or_nothing_for_whoever_comes_next() {
    if let Some(reason) = strace::unusable() {
        return skipped("proof::apply", &reason);
    }
    let mut bench = Bench::new();
    for call in some(&strace::points(&bench.calls)) {
        bench.try_at(&call, Inject::Kill);
    }
    assert!(bench.recovered > 0, "some kill came in the middle");
    bench.hold("kills");
}

#[test]
fn an_error_leaves_all_or_nothing_for_whoever_comes_next() {
    if let Some(reason) = strace::unusable() {
        return skipped("proof::apply", &reason);
    }
    let mut bench = Bench::new();
    for (call, what) in some(&strace::errors(&bench.calls)) {
        bench.try_at(&call, what);
    }
    bench.hold("errors");
}

#[test]
fn an_edit_between_a_kill_and_the_next_command_stays() {
    if let Some(reason) = strace::unusable() {
        return skipped("proof::apply", &reason);
    }
    let bench = Bench::new();
    let points = strace::points(&bench.calls);
    let changing: Vec<Call> = points.into_iter().filter(Call::changes).collect();
    let step = if is_proof() { 1 } else { changing.len().div_ceil(TRIED_MAX / 4).max(1) };
    let mut tried = 0;
    for (n, call) in changing.iter().step_by(step).enumerate() {
        bench.reset();
        let ended = strace::run(&bench.command(&["plan", "apply", "work"]), call, Inject::Kill);
        let edited: &Path = &bench.trial.join(path(n % 2, 2 + n % 4));
        fs::write(edited, EDIT).unwrap();
        let next = bench.run(&["plan", "show", "work"]);
        let found = fs::read_to_string(edited).unwrap();
        assert!(
            next.status.success() && found == EDIT,
            "{}: {found:?} {next:?} {ended:?}",
            describe(call, Inject::Kill)
        );
        // An apply of the remaining changes does not overwrite it either.
        bench.run(&["plan", "apply", "work"]);
        assert_eq!(fs::read_to_string(edited).unwrap(), EDIT, "{}", describe(call, Inject::Kill));
        tried += 1;
    }
    figure("edits between a kill and the next command, all kept", tried);
}

/// [chg-race] with processes: all record at once, each into its own changeset.
#[test]
fn sixteen_processes_record_into_one_store() {
    const PROCESSES: usize = 16;
    let each = if is_proof() { 50 } else { 5 };
    let folder = scratch();
    let (home, root) = (folder.path().join("home"), folder.path().join("root"));
    fs::create_dir(&root).unwrap();
    let run = |words: &[&str]| {
        let output = program(&home, &root, words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    run(&["plan", "create", "--name", "work", "--root", "."]);
    let run = &run;
    let content = folder.path().join("content");
    fs::write(&content, "same\n").unwrap();
    let content = &content.display().to_string();
    thread::scope(|scope| {
        for process in 0..PROCESSES {
            scope.spawn(move || {
                let actor = format!("actor-{process}");
                let id = run(&["changeset", "start", "work", "--actor", &actor]);
                for n in 0..each {
                    let path = format!("{actor}/{n}.txt");
                    run(&["changeset", "record", id.trim(), "--path", &path, "--content", content]);
                }
                run(&["changeset", "seal", id.trim()]);
            });
        }
    });
    let shown: serde_json::Value =
        serde_json::from_str(&run(&["plan", "show", "work", "--format", "json"])).unwrap();
    assert_eq!(shown["data"]["state"], "ready", "the last one to seal made it so");
    let changesets = shown["data"]["changesets"].as_array().unwrap();
    assert_eq!(changesets.len(), PROCESSES);
    for changeset in changesets {
        let id = changeset["id"].as_str().unwrap();
        let found: serde_json::Value =
            serde_json::from_str(&run(&["changeset", "show", id, "--format", "json"])).unwrap();
        let entries = found["data"]["changes"].as_array().unwrap();
        let actor = changeset["actor"].as_str().unwrap();
        assert_eq!(entries.len(), each, "{actor}");
        for (n, entry) in entries.iter().enumerate() {
            assert_eq!(entry["sequence"], n + 1, "{actor}");
            assert!(
                entry["path"].as_str().unwrap().starts_with(&format!("{actor}/")),
                "{entry} is not {actor}'s"
            );
        }
    }
    run(&["audit", "verify"]);
    figure(
        "records of 16 processes by `agents changeset record`, each in its own changeset",
        PROCESSES * each,
    );
}
