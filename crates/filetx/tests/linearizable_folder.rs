//! Processes that read, modify and write through transactions of one own folder, and are killed at any moment: their history
//! must be that of one after another, and nothing acknowledged is lost.
//!
//! A transaction appends a line to a log and counts it. Before a process commits it notes what it is about to do, and afterwards
//! when that was done, in a file of its own; what a kill left without an answer may or may not have happened, and the log says
//! which. The control does the same without transactions and must be refused.
#![cfg(all(target_os = "linux", not(feature = "shuttle")))]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate cleveragents_filetx as filetx;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use filetx::{FolderOptions, OwnFolder, Snapshot, Wait};
use testkit::children::{role, send, start, wait_for_parent, with_kills};
use testkit::history::{self, CallLog, Count, Counter, Operation, check_operations, now_ns, overlaps};

const PROCESSES: usize = 4;
const KILLS: usize = 12;
/// How many histories the long form checks; one history gets slower to check as it gets longer.
const PROOF_HISTORIES: u64 = 20;
/// How many operations all processes do between two kills, at least.
const BETWEEN_KILLS: usize = 15;

#[test]
fn processes_that_are_killed_lose_nothing_and_see_one_order() {
    let mut operations = 0;
    let histories = if testkit::report::is_proof() { PROOF_HISTORIES } else { 1 };
    for seed in 0..histories {
        let (folder, history, lost) = run("transactions", KILLS, testkit::seed::from_env_or(7) + seed);
        assert_eq!(lost, Vec::<String>::new(), "acknowledged and not in the log");
        assert!(overlaps(&history), "the processes ran one after another, which shows nothing");
        assert!(check_operations(&history), "no order explains this");
        // The count is of the same commit as the log.
        let (log, count) = read(folder.path());
        assert_eq!(log.len() as u64, count);
        operations += history.len();
    }
    testkit::report::figure("killed processes in checked histories", histories * KILLS as u64);
    testkit::report::figure("operations in checked histories", operations);
}

#[test]
fn without_transactions_the_checker_objects() {
    let objects = |seed| {
        let (_folder, history, lost) = run("plain", 4, seed);
        !lost.is_empty() || !check_operations(&history)
    };
    assert!((0..10).any(objects), "the race is too tame to show anything");
}

/// What the other processes do, until they are killed. A plain test run passes here without a role.
#[test]
fn child() {
    let Some((role, folder)) = role() else { return };
    let mut random = fastrand::Rng::with_seed(u64::from(std::process::id()));
    let mut notebook = CallLog::open(&folder);
    let own = (role == "transactions").then(|| open(&folder));
    send("ready");
    wait_for_parent();
    loop {
        let appends = random.bool();
        notebook.record(if appends { "append" } else { "read" }, |id| match &own {
            Some(own) => with_transaction(own, &folder, appends.then_some(id)),
            None => plainly(&folder, appends.then_some(id)),
        });
        send("done");
    }
}

fn open(folder: &Path) -> OwnFolder {
    // A small journal, so that kills meet checkpoints too.
    let options = FolderOptions { journal_bytes: 8 * 1024, journal_bytes_max: 0, ..FolderOptions::default() };
    OwnFolder::open(&folder.join("root"), &folder.join("lock"), options).unwrap()
}

fn with_transaction(own: &OwnFolder, folder: &Path, append: Option<&str>) -> u64 {
    let Some(id) = append else {
        let snapshot =
            Snapshot::of_folder(&folder.join("root"), &folder.join("lock"), &Wait::default()).unwrap();
        let count = number(&snapshot.read("count").unwrap().unwrap_or_default());
        let log = snapshot.read("log").unwrap().unwrap_or_default();
        assert_eq!(lines(&log).len() as u64, count, "a reader saw a mixed set");
        return count;
    };
    let mut tx = own.begin().unwrap();
    let count = number(&tx.read("count").unwrap().unwrap_or_default());
    assert_eq!(lines(&tx.read("log").unwrap().unwrap_or_default()).len() as u64, count);
    tx.append("log", format!("{id}\n").as_bytes()).unwrap();
    tx.put("count", (count + 1).to_string().as_bytes()).unwrap();
    assert!(tx.commit().unwrap().pending.is_none());
    count
}

fn plainly(folder: &Path, append: Option<&str>) -> u64 {
    let path = |name: &str| folder.join("root").join(name);
    let count = number(&fs::read(path("count")).unwrap_or_default());
    if let Some(id) = append {
        let mut log = fs::read(path("log")).unwrap_or_default();
        log.extend(format!("{id}\n").as_bytes());
        // The slower, the more the others get in between.
        std::thread::yield_now();
        fs::write(path("log"), log).unwrap();
        fs::write(path("count"), (count + 1).to_string()).unwrap();
    }
    count
}

/// Runs processes and kills one after the other, each replaced by a new one. The history, and what was acknowledged and is gone.
fn run(role: &str, kills: usize, seed: u64) -> (tempfile::TempDir, Vec<Operation<Counter>>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("root")).unwrap();
    let begin = || {
        let mut process = start("child", role, folder.path());
        assert_eq!(process.receive(), "ready");
        process.notify();
        process
    };
    with_kills(PROCESSES, kills, BETWEEN_KILLS, &mut fastrand::Rng::with_seed(seed), begin);
    let end = now_ns();
    if role == "transactions" {
        // What a killed process left is finished.
        drop(open(folder.path()));
    }
    let (log, _) = read(folder.path());
    let (history, lost) = explain(folder.path(), &log, end);
    (folder, history, lost)
}

/// All that the processes noted. What has no answer happened if the log has it, at some time until the end.
fn explain(folder: &Path, log: &[String], end: i64) -> (Vec<Operation<Counter>>, Vec<String>) {
    let places: BTreeMap<&String, u64> = log.iter().zip(0..).collect();
    let mut operations = Vec::new();
    let mut lost = Vec::new();
    for noted in history::read(folder) {
        let appends = noted.what == "append";
        let place = places.get(&noted.id).copied();
        let found = match &noted.answer {
            Some((_, found)) => found.parse().ok(),
            None => place.filter(|_| appends),
        };
        // A read without an answer, and an append that did not happen, say nothing.
        if let Some(found) = found {
            let op = if appends { Count::Increment(found) } else { Count::Read(found) };
            operations.push(noted.operation(end, op));
        }
        if noted.answer.is_some() && appends && place.is_none() {
            lost.push(noted.id);
        }
    }
    (operations, lost)
}

fn read(folder: &Path) -> (Vec<String>, u64) {
    let bytes = |name: &str| fs::read(folder.join("root").join(name)).unwrap_or_default();
    (lines(&bytes("log")), number(&bytes("count")))
}

fn lines(log: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(log).lines().map(str::to_owned).collect()
}

fn number(text: &[u8]) -> u64 {
    String::from_utf8_lossy(text).parse().unwrap_or(0)
}
