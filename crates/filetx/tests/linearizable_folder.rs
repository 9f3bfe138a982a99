//! Processes read, modify and write one own folder in transactions and are killed at random. Their
//! history must be linearizable, and no acknowledged commit may be lost.
//!
//! A transaction appends a line to a log and counts it. A process logs each operation before and
//! after its commit in its own file. An operation that a kill left without an answer may have
//! happened: the log tells. The control runs without transactions and must fail.
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
/// Number of histories in the long form. Checking one history takes longer the longer it is.
const PROOF_HISTORIES: u64 = 20;
/// Minimum number of operations between two kills.
const BETWEEN_KILLS: usize = 15;

#[test]
fn killed_processes_lose_nothing_and_see_one_order() {
    let mut operations = 0;
    let histories = if testkit::report::is_proof() { PROOF_HISTORIES } else { 1 };
    for seed in 0..histories {
        let (folder, history, lost) = run("transactions", KILLS, testkit::seed::from_env_or(7) + seed);
        assert_eq!(lost, Vec::<String>::new(), "acknowledged and not in the log");
        assert!(overlaps(&history), "the processes ran one after another, which shows nothing");
        assert!(check_operations(&history), "no order explains this");
        // Count and log are of the same commit.
        let (log, count) = read(folder.path());
        assert_eq!(log.len() as u64, count);
        operations += history.len();
    }
    testkit::report::figure("killed processes in checked histories", histories * KILLS as u64);
    testkit::report::figure("operations in checked histories", operations);
}

#[test]
fn without_transactions_the_checker_fails() {
    let objects = |seed| {
        let (_folder, history, lost) = run("plain", 4, seed);
        !lost.is_empty() || !check_operations(&history)
    };
    assert!((0..10).any(objects), "the race is too tame to show anything");
}

/// The other processes, which run until they are killed. A plain test run has no role.
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
    // A small journal, so that kills also hit checkpoints.
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
        // A slow operation gives other processes more chances to interfere.
        std::thread::yield_now();
        fs::write(path("log"), log).unwrap();
        fs::write(path("count"), (count + 1).to_string()).unwrap();
    }
    count
}

/// Runs processes, kills one after the other and replaces it. Returns the history and the lost
/// acknowledged operations.
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
        // Recovers the state that a killed process left.
        drop(open(folder.path()));
    }
    let (log, _) = read(folder.path());
    let (history, lost) = explain(folder.path(), &log, end);
    (folder, history, lost)
}

/// The logs of all processes. An operation without an answer happened, at any time until the end,
/// if the log has it.
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
        // A read without an answer and an append that did not happen are not part of the history.
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
